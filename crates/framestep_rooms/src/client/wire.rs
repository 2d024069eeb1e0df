//! The messages to watchers.

use crate::entry::Player;
use crate::news::Absence;
use crate::shard;

/// The mark of a view that is not in JSON.
const BINARY: u8 = 2;
/// What a message begins with that says why there is no view.
const END: &[u8] = br#"{"end":"#;

/// The channel of a room: of what all do or see there, or of a player.
pub(crate) fn channel(kind: &str, shard: u32, room: &str, player: Option<&Player>) -> String {
    match player {
        Some(player) => format!("{kind}.{shard}.{room}.{player}"),
        None => format!("{kind}.{shard}.{room}"),
    }
}

/// A view with its frame, the entry that has opened the room, and the last entry that counts in it:
/// `{"f":7,"o":9,"a":12,"v":..}`, or the numbers in 8 bytes each before the view.
pub(crate) fn close_view(shown: &shard::Shown, last_entry: u64) -> Vec<u8> {
    let shard::Shown {
        opened,
        frame,
        view,
    } = shown;
    // What `Format::write` has written in JSON never begins with a control character.
    if view.first().is_some_and(|first| *first >= b' ') {
        let mut body =
            format!("{{\"f\":{frame},\"o\":{opened},\"a\":{last_entry},\"v\":").into_bytes();
        body.extend_from_slice(view);
        body.push(b'}');
        return body;
    }
    let mut body = vec![BINARY];
    for number in [*frame, *opened, last_entry] {
        body.extend_from_slice(&number.to_le_bytes());
    }
    body.extend_from_slice(view);
    body
}

/// Why there is no such room after an entry: `{"end":"over","at":7}`.
pub(crate) fn close_end(at: u64, why: &Absence) -> Vec<u8> {
    #[derive(serde::Serialize)]
    struct Text<'a> {
        end: &'a Absence,
        at: u64,
    }
    serde_json::to_vec(&Text { end: why, at }).unwrap_or_default()
}

/// What is shown of a room.
#[derive(Debug, PartialEq)]
pub(super) enum Shown<'a> {
    View(ShownView<'a>),
    End(u64, Absence),
}

/// A view as it was sent.
#[derive(Debug, PartialEq)]
pub(super) struct ShownView<'a> {
    /// The entry that has opened the room, and its frame.
    pub(super) at: (u64, u64),
    /// The last entry that counts in it.
    pub(super) last_entry: u64,
    pub(super) view: &'a [u8],
}

/// Reads what [`close_view`] or [`close_end`] has written. `None` if it is something else.
pub(super) fn open_view(body: &[u8]) -> Option<Shown<'_>> {
    #[derive(serde::Deserialize)]
    struct Text<'a> {
        f: u64,
        o: u64,
        a: u64,
        #[serde(borrow)]
        v: &'a serde_json::value::RawValue,
    }
    #[derive(serde::Deserialize)]
    struct End {
        end: Absence,
        at: u64,
    }
    if let Some(rest) = body.strip_prefix(&[BINARY]) {
        let (frame, rest) = rest.split_first_chunk()?;
        let (opened, rest) = rest.split_first_chunk()?;
        let (last_entry, view) = rest.split_first_chunk()?;
        return Some(Shown::View(ShownView {
            at: (u64::from_le_bytes(*opened), u64::from_le_bytes(*frame)),
            last_entry: u64::from_le_bytes(*last_entry),
            view,
        }));
    }
    if body.starts_with(END) {
        let text: End = serde_json::from_slice(body).ok()?;
        return Some(Shown::End(text.at, text.end));
    }
    let text: Text<'_> = serde_json::from_slice(body).ok()?;
    Some(Shown::View(ShownView {
        at: (text.o, text.f),
        last_entry: text.a,
        view: text.v.get().as_bytes(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::Format;

    #[test]
    fn views_and_ends_are_read_as_they_were_written() {
        let close = |view| {
            let shown = shard::Shown {
                opened: 9,
                frame: 7,
                view,
            };
            close_view(&shown, 12)
        };
        for format in [Format::Json, Format::Postcard] {
            let view = close(format.write(&(1_u32, "two")).unwrap());
            let Some(Shown::View(shown)) = open_view(&view) else {
                panic!("{view:?}");
            };
            assert_eq!((shown.at, shown.last_entry), ((9, 7), 12));
            assert_eq!(Format::read(shown.view), Ok((1_u32, "two".to_owned())));
            let nothing = close(format.write(&()).unwrap());
            let Some(Shown::View(shown)) = open_view(&nothing) else {
                panic!("{nothing:?}");
            };
            assert_eq!(Format::read(shown.view), Ok(()));
        }
        let refused = Absence::Refused("a \"reason\"".to_owned());
        for why in [Absence::None, Absence::Over, Absence::Broken, refused] {
            let end = close_end(9, &why);
            assert_eq!(open_view(&end), Some(Shown::End(9, why)));
        }
        assert_eq!(close_end(9, &Absence::Over), br#"{"end":"over","at":9}"#);
        let answer = br#"{"stream":"LOG_7","seq":9}"#;
        for wrong in [
            &b""[..],
            b"{}",
            b"{\"f\":1}",
            b"\x02abc",
            b"\x07",
            b"8",
            answer,
        ] {
            assert_eq!(open_view(wrong), None);
        }
    }
}
