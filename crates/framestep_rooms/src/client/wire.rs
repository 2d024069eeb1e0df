//! The messages to watchers.

use crate::entry::Player;
use crate::news::Absence;

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

/// A view with its frame and the entry that has opened the room: `{"f":7,"o":9,"v":..}`, or the numbers in 8
/// bytes each before the view.
pub(crate) fn close_view(opened: u64, frame: u64, view: &[u8]) -> Vec<u8> {
    // What `Format::write` has written in JSON never begins with a control character.
    if view.first().is_some_and(|first| *first >= b' ') {
        let mut body = format!("{{\"f\":{frame},\"o\":{opened},\"v\":").into_bytes();
        body.extend_from_slice(view);
        body.push(b'}');
        return body;
    }
    let mut body = vec![BINARY];
    body.extend_from_slice(&frame.to_le_bytes());
    body.extend_from_slice(&opened.to_le_bytes());
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
    /// The entry that has opened the room, its frame, and the view.
    View((u64, u64), &'a [u8]),
    End(u64, Absence),
}

/// Reads what [`close_view`] or [`close_end`] has written. `None` if it is something else.
pub(super) fn open_view(body: &[u8]) -> Option<Shown<'_>> {
    #[derive(serde::Deserialize)]
    struct Text<'a> {
        f: u64,
        o: u64,
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
        let (opened, view) = rest.split_first_chunk()?;
        let at = (u64::from_le_bytes(*opened), u64::from_le_bytes(*frame));
        return Some(Shown::View(at, view));
    }
    if body.starts_with(END) {
        let text: End = serde_json::from_slice(body).ok()?;
        return Some(Shown::End(text.at, text.end));
    }
    let text: Text<'_> = serde_json::from_slice(body).ok()?;
    Some(Shown::View((text.o, text.f), text.v.get().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::room::Format;

    #[test]
    fn views_and_ends_are_read_as_they_were_written() {
        for format in [Format::Json, Format::Postcard] {
            let view = close_view(9, 7, &format.write(&(1_u32, "two")).unwrap());
            let Some(Shown::View((9, 7), view)) = open_view(&view) else {
                panic!("{view:?}");
            };
            assert_eq!(Format::read(view), Ok((1_u32, "two".to_owned())));
            let nothing = close_view(9, 7, &format.write(&()).unwrap());
            let Some(Shown::View((9, 7), nothing)) = open_view(&nothing) else {
                panic!("{nothing:?}");
            };
            assert_eq!(Format::read(nothing), Ok(()));
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
