//! What rooms have to say to the operator: collected while frames are computed, and said by the node
//! that has ticked them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::entry::Player;
use crate::event::ServerEvent;

/// How often what has no effect is said, for each reason.
const PAUSE: Duration = Duration::from_secs(1);
/// How many events a frame of a shard may have.
const MOST_EVENTS: usize = 50;
/// Of how many frames news are kept.
const MOST_FRAMES: usize = 4;
/// How many characters of a text are shown that may come from a player.
const MOST_SHOWN: usize = 200;

/// Why a part of the log has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Reason {
    NoRoom,
    Broken,
    Unreadable,
    TooLong,
    TooMany,
    TooOld,
    NotOpened,
    Kicked,
    WrongShard,
}

/// How often something had no effect, and the first one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    count: u64,
    room: Arc<str>,
    /// Whose input it was.
    player: Option<Player>,
    why: String,
}

impl Tally {
    fn event(&self, reason: Reason) -> ServerEvent {
        let (count, room, why) = (self.count, self.room.clone(), self.why.clone());
        match self.player.clone().filter(|_| reason != Reason::NotOpened) {
            Some(player) => ServerEvent::InputsRefused {
                count,
                player,
                room,
                why,
            },
            None => ServerEvent::RoomsNotOpened { count, room, why },
        }
    }
}

/// Text that may come from a player, for a line.
pub(crate) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(MOST_SHOWN).flat_map(escaped).collect();
    if text.chars().nth(MOST_SHOWN).is_some() {
        shown.push_str("..");
    }
    shown
}

fn escaped(char: char) -> impl Iterator<Item = char> {
    let is_plain = !char.is_control();
    let plain = is_plain.then_some(char).into_iter();
    plain.chain(
        (!is_plain)
            .then(|| char.escape_default())
            .into_iter()
            .flatten(),
    )
}

/// Why there is no room of a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Absence {
    /// There is none.
    None,
    /// It was over.
    Over,
    /// Something has ended it that should not have.
    Broken,
    /// It was not opened.
    Refused(String),
}

/// What the frame of a shard has to say.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct News {
    frame: u64,
    /// What has happened to rooms.
    pub(crate) events: Vec<(Arc<str>, ServerEvent)>,
    pub(crate) refused: Refusals,
}

/// The news of the frames that nobody has asked for yet.
#[derive(Debug, Default)]
pub(crate) struct AllNews(Vec<News>);

impl AllNews {
    /// The news of a frame, which may be added to.
    pub(crate) fn of(&mut self, frame: u64) -> &mut News {
        if self.0.last().is_none_or(|last| last.frame != frame) {
            // A replay asks for none.
            if self.0.len() == MOST_FRAMES {
                self.0.remove(0);
            }
            self.0.push(News {
                frame,
                ..News::default()
            });
        }
        self.0.last_mut().expect("it was added")
    }

    /// Takes the news of a frame. Those of earlier frames, which nobody has asked for, are dropped.
    pub(crate) fn take(&mut self, frame: u64) -> Option<News> {
        if self.0.is_empty() {
            return None;
        }
        let later = self.0.iter().position(|news| news.frame > frame);
        let later = self.0.split_off(later.unwrap_or(self.0.len()));
        let last = std::mem::replace(&mut self.0, later).pop();
        last.filter(|news| news.frame == frame)
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

impl News {
    pub(crate) fn add(&mut self, room: &str, event: ServerEvent) {
        if self.events.len() < MOST_EVENTS {
            self.events.push((room.into(), event));
        }
    }
}

/// What had no effect, by its reason.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Refusals(BTreeMap<Reason, Tally>);

impl Refusals {
    pub(crate) fn add(
        &mut self,
        reason: Reason,
        room: &Arc<str>,
        player: Option<&Player>,
        why: &str,
    ) {
        let first = || Tally {
            count: 0,
            room: room.clone(),
            player: player.cloned(),
            why: shown(why),
        };
        self.0.entry(reason).or_insert_with(first).count += 1;
    }

    fn add_all(&mut self, others: Refusals) {
        for (reason, other) in others.0 {
            match self.0.entry(reason) {
                std::collections::btree_map::Entry::Vacant(entry) => {
                    entry.insert(other);
                }
                std::collections::btree_map::Entry::Occupied(mut entry) => {
                    entry.get_mut().count += other.count;
                }
            }
        }
    }
}

/// Says what had no effect: for each reason, one line in a second.
#[derive(Debug, Default)]
pub(crate) struct Slowly {
    waiting: Refusals,
    said: BTreeMap<Reason, Duration>,
}

impl Slowly {
    pub(crate) fn add(&mut self, refused: Refusals) {
        self.waiting.add_all(refused);
    }

    /// The events that are due.
    pub(crate) fn due(&mut self, now: Duration) -> Vec<ServerEvent> {
        let mut events = Vec::new();
        self.waiting.0.retain(|reason, tally| {
            let is_due = self
                .said
                .get(reason)
                .is_none_or(|said| now >= *said + PAUSE);
            if is_due {
                self.said.insert(*reason, now);
                events.push(tally.event(*reason));
            }
            !is_due
        });
        events
    }
}

/// Rooms that differ between nodes, by the frames in which that was seen.
#[derive(Debug, Default)]
pub(crate) struct Differences {
    /// For each turn: the last frame that differed, and the rooms whose turn it was.
    last: BTreeMap<u64, (u64, Vec<String>)>,
}

impl Differences {
    /// A frame differs. Returns whether that is to be said: it was equal for `pause` frames before.
    pub(crate) fn add(&mut self, turn: u64, frame: u64, rooms: Vec<String>, pause: u64) -> bool {
        let before = self.last.insert(turn, (frame, rooms));
        // After it has loaded a save, a node computes the same frames once more.
        before.is_none_or(|(before, _)| frame > before + pause)
    }

    /// The rooms of which one differed in the last `pause` frames.
    pub(crate) fn rooms(&self, frame: u64, pause: u64) -> Vec<String> {
        let lately = self.last.values().filter(|(at, _)| at + pause >= frame);
        lately.flat_map(|(_, rooms)| rooms.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(times: u64) -> Refusals {
        let mut refused = Refusals::default();
        for time in 0..times {
            let player = Player::new(&format!("p{time}")).unwrap();
            refused.add(Reason::TooMany, &"lot-3".into(), Some(&player), "too many");
        }
        refused
    }

    fn due(slowly: &mut Slowly, now: Duration) -> Vec<String> {
        slowly.due(now).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_has_no_effect_is_said_at_once_and_then_once_a_second_with_its_number() {
        let mut slowly = Slowly::default();
        let at = Duration::from_millis;
        slowly.add(refused(1));
        let one = "an input of p0 to room lot-3 has no effect: too many";
        assert_eq!(due(&mut slowly, at(0)), [one]);
        for frame in 1..20 {
            slowly.add(refused(2));
            assert_eq!(due(&mut slowly, at(frame * 50)), [""; 0]);
        }
        let many = "38 inputs have no effect, the first of p0 to room lot-3: too many";
        assert_eq!(due(&mut slowly, at(1_000)), [many]);
        assert_eq!(due(&mut slowly, at(3_000)), [""; 0]);
        let mut other = Refusals::default();
        other.add(Reason::NotOpened, &"b".into(), None, "line\nbreak");
        slowly.add(other);
        assert_eq!(
            due(&mut slowly, at(3_000)),
            ["room b is not opened: line\\nbreak"]
        );
    }

    #[test]
    fn news_are_taken_by_frame() {
        let mut all = AllNews::default();
        all.of(3).add("a", ServerEvent::RoomClosed);
        all.of(3).add("b", ServerEvent::RoomClosed);
        all.of(4).add("a", ServerEvent::RoomClosed);
        assert_eq!(all.take(2), None);
        assert_eq!(all.take(3).unwrap().events.len(), 2);
        assert_eq!(all.take(5), None);
        assert_eq!(all.take(4), None); // it was dropped with those before 5
    }

    #[test]
    fn a_difference_is_said_again_after_it_was_equal() {
        let mut differences = Differences::default();
        let rooms = |name: &str| vec![name.to_owned()];
        assert!(differences.add(0, 100, rooms("a"), 300));
        assert!(!differences.add(0, 104, rooms("a"), 300));
        assert!(!differences.add(0, 60, rooms("a"), 300)); // once more from a save
        assert!(differences.add(1, 105, rooms("b"), 300));
        assert_eq!(differences.rooms(200, 300), ["a", "b"]);
        assert!(differences.add(0, 504, rooms("c"), 300));
        assert_eq!(differences.rooms(504, 300), ["c"]);
    }
}
