//! What is in a log: entries of players, of the outside, and ticks.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use framestep_durable::StableHash;

/// The longest name of a room or a player.
const LONGEST_NAME: usize = 64;

/// Whether `name` can name a room, a player or a node: 1 to 64 characters of `A-Z a-z 0-9 - _`. Names
/// are parts of subjects in NATS, and of permissions there.
pub fn is_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// A player: a name of letters, digits, `-` and `_`.
///
/// It comes from the subject of the message, which the permissions of NATS restrict, and not from
/// what the player has written into it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Player(Arc<str>);

impl Player {
    /// A player with this name. `None` if it is not [a name](is_name).
    pub fn new(name: &str) -> Option<Self> {
        is_name(name).then(|| Player(name.into()))
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What an entry of a log is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Topic {
    /// The end of a frame: what is between two ticks belongs to the frame of the second one.
    Tick,
    /// Opens a room.
    Open(Arc<str>),
    /// An input of a player to a room.
    Input(Arc<str>, Player),
    /// The answer to a question that a script of a room has asked the outside.
    Answer(Arc<str>),
    /// A player watches a room, or does not any more.
    Presence(Arc<str>, Player),
    /// The operator closes a room.
    Close(Arc<str>),
    /// The operator removes a player from a room.
    Kick(Arc<str>, Player),
}

impl Topic {
    /// The room that the entry is for. `None` for a tick.
    pub fn room(&self) -> Option<&str> {
        match self {
            Topic::Tick => None,
            Topic::Open(room)
            | Topic::Input(room, _)
            | Topic::Answer(room)
            | Topic::Presence(room, _)
            | Topic::Close(room)
            | Topic::Kick(room, _) => Some(room),
        }
    }

    /// The end of the entry's subject: `tick`, `open.ROOM`, `room.ROOM.PLAYER`, `answer.ROOM`,
    /// `presence.ROOM.PLAYER`, `close.ROOM` or `kick.ROOM.PLAYER`.
    pub fn to_subject(&self) -> String {
        match self {
            Topic::Tick => "tick".to_owned(),
            Topic::Open(room) => format!("open.{room}"),
            Topic::Input(room, player) => format!("room.{room}.{player}"),
            Topic::Answer(room) => format!("answer.{room}"),
            Topic::Presence(room, player) => format!("presence.{room}.{player}"),
            Topic::Close(room) => format!("close.{room}"),
            Topic::Kick(room, player) => format!("kick.{room}.{player}"),
        }
    }

    /// Reads what [`to_subject`](Self::to_subject) has written. `None` if it is something else.
    pub fn of_subject(subject: &str) -> Option<Self> {
        let mut parts = subject.split('.');
        let kind = parts.next()?;
        let mut name = || {
            parts
                .next()
                .filter(|name| is_name(name))
                .map(Arc::<str>::from)
        };
        let topic = match kind {
            "tick" => Topic::Tick,
            "open" => Topic::Open(name()?),
            "room" => Topic::Input(name()?, Player(name()?)),
            "answer" => Topic::Answer(name()?),
            "presence" => Topic::Presence(name()?, Player(name()?)),
            "close" => Topic::Close(name()?),
            "kick" => Topic::Kick(name()?, Player(name()?)),
            _ => return None,
        };
        parts.next().is_none().then_some(topic)
    }
}

/// An entry of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its place: entries of a log are numbered from 1, without gaps.
    pub seq: u64,
    /// What it is about. `None` of a subject that this version does not know: it counts, and has no
    /// effect.
    pub topic: Option<Topic>,
    /// Its content.
    pub body: Arc<[u8]>,
}

impl Entry {
    pub(crate) fn is_tick(&self) -> bool {
        self.topic == Some(Topic::Tick)
    }

    /// Whether it has no content: a client asks for a place in the log, which is the answer.
    pub(crate) fn asks_for_place(&self) -> bool {
        self.body.is_empty() && matches!(self.topic, Some(Topic::Open(_) | Topic::Input(..)))
    }

    /// Adds it to the hash of a chain.
    fn add_to(&self, hash: &mut StableHash) {
        hash.add(self.seq);
        if let Some(topic) = &self.topic {
            hash.add_bytes(topic.to_subject().as_bytes());
        }
        hash.add_bytes(&self.body);
    }
}

/// The name of a build in ticks and saves.
pub(crate) type Build = u64;

/// The place of a build among all builds: a higher one runs the shards. It only rises.
pub(crate) type Generation = u64;

/// The body of a tick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tick {
    /// The version of these bytes, [`Tick::FORMAT`].
    pub(crate) format: u8,
    pub(crate) frame: u64,
    /// The node, and which of its starts.
    pub(crate) by: Arc<str>,
    pub(crate) build: Build,
    /// The generation of the build, as the node knows.
    pub(crate) generation: Generation,
    /// The hash of all that is in the log up to the tick before.
    pub(crate) before: u64,
    /// The hash of the state before this frame.
    pub(crate) state: u64,
    /// Whether the next frame may be of another build: the state after this one is saved.
    pub(crate) hands_over: bool,
    /// How many rooms of the shard are not run any more, as the node knows.
    pub(crate) out: u32,
    /// If there is no room in the state before this frame, and nothing else but this: the last entry in which one
    /// may have ended.
    pub(crate) empty: Option<u64>,
}

impl Tick {
    pub(crate) const FORMAT: u8 = 5;

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("a tick serialises")
    }

    pub(crate) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (tick, rest) = postcard::take_from_bytes::<Tick>(bytes).ok()?;
        (tick.format == Tick::FORMAT && rest.is_empty()).then_some(tick)
    }

    /// The tick of an entry. `None` if it is something else, or cannot be read.
    pub(crate) fn of(entry: &Entry) -> Option<Self> {
        let tick = entry.is_tick().then(|| Tick::of_bytes(&entry.body));
        tick.flatten()
    }
}

/// A place in a log, after a tick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Position {
    /// The entry of the tick. 0 before the first one.
    pub(crate) seq: u64,
    /// The hash of all entries up to it.
    pub(crate) chain: u64,
    pub(crate) frame: u64,
    pub(crate) by: Arc<str>,
    pub(crate) build: Build,
    pub(crate) generation: Generation,
    pub(crate) hands_over: bool,
    /// If there is no room in the state after the tick, and nothing that could have opened one: the last entry in
    /// which one may have ended. That is the same state for every build.
    pub(crate) empty: Option<u64>,
    /// The entry and the chain of the tick before.
    pub(crate) since: (u64, u64),
}

impl Position {
    pub(crate) fn start() -> Self {
        Position {
            seq: 0,
            chain: 0,
            frame: 0,
            by: "".into(),
            build: 0,
            generation: 0,
            hands_over: false,
            empty: Some(0),
            since: (0, 0),
        }
    }

    /// The place after a tick whose state is lost: without rooms, so that any build may begin there.
    pub(crate) fn again(entry: &Entry, tick: &Tick, random: u64) -> Self {
        let since = (entry.seq - 1, random);
        Position {
            seq: entry.seq,
            chain: chain(random, std::slice::from_ref(entry)),
            frame: tick.frame,
            hands_over: true,
            empty: Some(entry.seq),
            since,
            ..Position::start()
        }
    }

    /// Whether `tick` may be the next one. Every node, and every later reader of the log, must answer
    /// the same: a tick that may not be the next one is void.
    pub(crate) fn accepts(&self, tick: &Tick) -> bool {
        tick.before == self.chain
            && tick.frame == self.frame + 1
            && self.lets(tick.build, tick.generation)
    }

    /// Whether a build may go on after this place: the same one, one of a later generation if the
    /// place was handed over, or any one where there is no room.
    ///
    /// An earlier build would drop what it does not know of the state.
    pub(crate) fn lets(&self, build: Build, generation: Generation) -> bool {
        let is_free = self.is_empty() || self.hands_over && self.is_before(build, generation);
        build == self.build || is_free
    }

    /// Whether every build has the same state there.
    pub(crate) fn is_empty(&self) -> bool {
        self.empty.is_some()
    }

    /// Whether a build is of a later generation than that of this place.
    pub(crate) fn is_before(&self, build: Build, generation: Generation) -> bool {
        (self.generation, self.build) < (generation, build)
    }

    /// The place after the tick, which is the last one of the entries since this place.
    pub(crate) fn after(&self, tick: &Tick, entries: &[Entry]) -> Self {
        Position {
            seq: entries.last().map_or(self.seq, |entry| entry.seq),
            chain: chain(self.chain, entries),
            frame: tick.frame,
            by: tick.by.clone(),
            build: tick.build,
            // Nodes of one build may learn its generation one after the other.
            generation: if tick.build == self.build {
                tick.generation.max(self.generation)
            } else {
                tick.generation
            },
            hands_over: tick.hands_over,
            empty: tick.empty.filter(|_| entries.iter().all(Entry::is_tick)),
            since: (self.seq, self.chain),
        }
    }

    /// Whether these are the entries of the last frame. Then all before them is the same as well,
    /// because the tick at their end has the hash of it.
    ///
    /// The tick alone does not say so: of the same tick that is appended again to a log that was cut
    /// back, the entries before it may be others.
    pub(crate) fn is_after(&self, entries: &[Entry]) -> bool {
        chain(self.since.1, entries) == self.chain
    }
}

fn chain(before: u64, entries: &[Entry]) -> u64 {
    let mut hash = StableHash::new();
    hash.add(before);
    for entry in entries {
        entry.add_to(&mut hash);
    }
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_read_as_it_was_written_and_nothing_else_is() {
        let player = Player::new("alice").unwrap();
        for topic in [
            Topic::Tick,
            Topic::Open("arena-17".into()),
            Topic::Input("arena-17".into(), player.clone()),
            Topic::Presence("arena-17".into(), player.clone()),
            Topic::Kick("arena-17".into(), player),
            Topic::Close("arena-17".into()),
            Topic::Answer("a_b".into()),
        ] {
            assert_eq!(Topic::of_subject(&topic.to_subject()), Some(topic));
        }
        for wrong in [
            "",
            "tick.a",
            "open",
            "open.",
            "room.a",
            "room.a.b.c",
            "room.a.*",
            "open.a b",
            "x.a",
        ] {
            assert_eq!(Topic::of_subject(wrong), None, "{wrong}");
        }
        assert_eq!(Player::new("a.b"), None);
        assert_eq!(Player::new(&"a".repeat(65)), None);
    }

    #[test]
    fn a_tick_that_was_cut_or_has_more_is_not_one() {
        let tick = Tick {
            format: Tick::FORMAT,
            frame: 7,
            by: "a".into(),
            build: 1,
            generation: 1,
            before: 2,
            state: 3,
            hands_over: false,
            out: 0,
            empty: None,
        };
        let mut bytes = tick.to_bytes();
        assert_eq!(Tick::of_bytes(&bytes), Some(tick));
        assert_eq!(Tick::of_bytes(&bytes[..bytes.len() - 1]), None);
        bytes.push(0);
        assert_eq!(Tick::of_bytes(&bytes), None);
    }

    #[test]
    fn a_place_depends_on_each_entry_before_it() {
        let tick = Tick {
            format: Tick::FORMAT,
            frame: 1,
            by: "a".into(),
            build: 1,
            generation: 1,
            before: 0,
            state: 3,
            hands_over: false,
            out: 0,
            empty: None,
        };
        let entry = |seq, topic: Topic, body: &[u8]| Entry {
            seq,
            topic: Some(topic),
            body: body.into(),
        };
        let start = Position::start();
        let end = || entry(2, Topic::Tick, &tick.to_bytes());
        let open = |room: &str, body: &[u8]| entry(1, Topic::Open(room.into()), body);
        let place = |first: Entry| start.after(&tick, &[first, end()]);
        let a = place(open("a", b"x"));
        assert!(a.chain != place(open("b", b"x")).chain && a.chain != place(open("a", b"y")).chain);
        assert!(a.is_after(&[open("a", b"x"), end()]));
        assert!(!a.is_after(&[open("b", b"x"), end()]) && !a.is_after(&[end()]));
        assert!(start.accepts(&tick) && !a.accepts(&tick));
    }

    #[test]
    fn a_place_that_was_handed_over_goes_on_with_a_later_build_and_never_with_an_earlier_one() {
        let at = Position {
            build: 7,
            generation: 2,
            empty: None,
            ..Position::start()
        };
        assert!(at.lets(7, 1) && !at.lets(6, 3) && !at.lets(8, 1));
        let handed_over = Position {
            hands_over: true,
            ..at.clone()
        };
        assert!(handed_over.lets(7, 2) && handed_over.lets(6, 3) && !handed_over.lets(8, 1));
        let empty = Position {
            empty: Some(3),
            ..at
        };
        assert!(empty.lets(8, 1));
    }
}
