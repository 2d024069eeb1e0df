//! A shard, as the log has it: ticks are compared, entries applied.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use framestep_durable::{Runtime, SaveState};
use framestep_rooms::{Player, Room as _};
use serde::{Deserialize, Serialize};

use super::room::{Answer, Live, OneRoom, Sender};
use super::said::{Beat, GAPS, Move};
use super::sum::Sum;
use crate::game::BUILD;
use crate::node::TICKS;
use crate::state::Arena;

/// Longer gaps are reported one by one.
pub(super) const LONG: Duration = Duration::from_millis(100);

/// An entry of a shard's log.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) seq: u64,
    /// The end of the subject.
    pub(super) subject: String,
    pub(super) body: Vec<u8>,
    /// Nanoseconds since 1970, by the clock of the log.
    pub(super) at: i128,
}

#[derive(Deserialize)]
pub(super) struct Tick {
    pub(super) format: u8,
    pub(super) frame: u64,
    pub(super) by: String,
    pub(super) build: u64,
    pub(super) generation: u64,
    pub(super) before: u64,
    pub(super) state: u64,
    pub(super) hands_over: bool,
    #[serde(rename = "out")]
    pub(super) _out: u32,
    pub(super) empty: Option<u64>,
}

/// A shard that one oracle passes to that of another build.
#[derive(Serialize, Deserialize)]
pub(super) struct Baton {
    pub(super) rooms: Vec<PassedRoom>,
    pub(super) seq: u64,
    pub(super) frame: u64,
    pub(super) chain: u64,
    pub(super) build: u64,
    pub(super) generation: u64,
    pub(super) by: String,
    pub(super) at: i128,
}

/// A room of it: name, entry that opened it, players, save.
pub(super) type PassedRoom = (String, u64, HashMap<Player, Sender>, Option<Vec<u8>>);

/// A shard, as the log has it.
pub(super) struct Shard {
    pub(super) number: u32,
    pub(super) step: Duration,
    pub(super) rooms: BTreeMap<String, OneRoom>,
    pub(super) queue: Vec<Entry>,
    pub(super) read: u64,
    /// The last tick: its entry, frame, chain, build with its generation, whether it hands over, whether
    /// there is no room, node, time.
    pub(super) seq: u64,
    pub(super) frame: u64,
    pub(super) chain: u64,
    pub(super) build: u64,
    pub(super) generation: u64,
    pub(super) hands_over: bool,
    pub(super) is_empty: bool,
    pub(super) by: String,
    pub(super) at: i128,
}

impl Shard {
    pub(super) fn new(number: u32) -> Self {
        Shard {
            number,
            step: Duration::from_nanos(1_000_000_000 / u64::from(TICKS)),
            rooms: BTreeMap::new(),
            queue: Vec::new(),
            read: 0,
            seq: 0,
            frame: 0,
            chain: 0,
            build: 0,
            generation: 0,
            hands_over: false,
            is_empty: true,
            by: String::new(),
            at: 0,
        }
    }

    /// The hash of the rooms that are compared after this frame, every fourth, and how many they are.
    pub(super) fn sum(&mut self) -> (u64, u64) {
        let mut sum = Sum::new();
        sum.add(self.frame);
        let mut count = 0;
        for (name, room) in &mut self.rooms {
            if (room.opened + self.frame).is_multiple_of(4) {
                sum.add_bytes(name.as_bytes());
                sum.add(room.opened);
                sum.add(room.sum());
                count += 1;
            }
        }
        (sum.end(), count)
    }

    /// The shard up to the last tick, for the oracle of another build.
    pub(super) fn to_baton(&self) -> Result<Baton, String> {
        let room = |(name, room): (&String, &OneRoom)| {
            let live = room.live.as_ref().map(|live| {
                let save = live.runtime.save_state();
                save.map(|save| save.to_bytes_with(&live.arena))
            });
            let live = live.transpose().map_err(|error| error.to_string())?;
            Ok((name.clone(), room.opened, room.senders.clone(), live))
        };
        Ok(Baton {
            rooms: self.rooms.iter().map(room).collect::<Result<_, String>>()?,
            seq: self.seq,
            frame: self.frame,
            chain: self.chain,
            build: self.build,
            generation: self.generation,
            by: self.by.clone(),
            at: self.at,
        })
    }

    pub(super) fn of_baton(number: u32, baton: Baton) -> Result<Self, String> {
        let mut shard = Shard {
            read: baton.seq,
            seq: baton.seq,
            frame: baton.frame,
            chain: baton.chain,
            build: baton.build,
            generation: baton.generation,
            hands_over: true,
            by: baton.by,
            at: baton.at,
            ..Shard::new(number)
        };
        for (name, opened, senders, live) in baton.rooms {
            let live = live.map(|bytes| {
                let (save, arena) = SaveState::from_bytes_with::<Arena>(&bytes)
                    .map_err(|error| error.to_string())?;
                let mut runtime = Runtime::new(Arena::registry());
                let restored = runtime.restore(&save, Arena::CHANGED);
                restored.map_err(|error| error.to_string())?;
                Ok::<Live, String>(Live {
                    runtime,
                    arena,
                    asked: BTreeMap::new(),
                })
            });
            let room = OneRoom {
                opened,
                senders,
                live: live.transpose()?,
            };
            shard.rooms.insert(name, room);
        }
        Ok(shard)
    }

    /// Reads an entry. Returns the build that goes on, if it is another one.
    pub(super) fn read(&mut self, entry: Entry, seen: &mut Seen) -> Option<u8> {
        self.read = entry.seq;
        let is_tick = entry.subject == "tick";
        let tick = match postcard::take_from_bytes::<Tick>(&entry.body) {
            Ok((tick, [])) => Some(tick),
            _ => None,
        };
        self.queue.push(entry);
        if !is_tick {
            return None;
        }
        let accepts = |tick: &Tick| {
            let is_later = (tick.generation, tick.build) > (self.generation, self.build);
            tick.format == 5
                && tick.before == self.chain
                && tick.frame == self.frame + 1
                && (self.hands_over && is_later || self.is_empty || tick.build == self.build)
        };
        let Some(tick) = tick.filter(accepts) else {
            seen.beat.void += 1;
            return None;
        };
        let build = seen.builds.iter().position(|build| *build == tick.build);
        let build = build.map_or(0, |at| u8::try_from(at + 1).unwrap_or(0));
        if build != BUILD {
            return Some(build);
        }
        self.compare(&tick, seen);
        let entries = std::mem::take(&mut self.queue);
        let mut chain = Sum::new();
        chain.add(self.chain);
        for entry in &entries {
            chain.add(entry.seq);
            chain.add_bytes(entry.subject.as_bytes());
            chain.add_bytes(&entry.body);
        }
        self.chain = chain.end();
        self.frame = tick.frame;
        for entry in &entries {
            self.apply(entry, seen);
        }
        let step = self.step;
        for room in self.rooms.values_mut() {
            room.with(|live| live.runtime.run_frame_with(&mut live.arena, step));
        }
        self.measure(&tick, entries.last(), seen);
        seen.note(self, &tick);
        let opens_none = entries.iter().all(|entry| entry.subject == "tick");
        self.is_empty = tick.empty.is_some() && opens_none;
        // Nodes of one build learn its generation one after the other.
        let known = if tick.build == self.build {
            self.generation
        } else {
            0
        };
        self.generation = known.max(tick.generation);
        (self.build, self.hands_over, self.by) = (tick.build, tick.hands_over, tick.by);
        None
    }

    /// Compares the state before the frame of a tick with that of its node.
    pub(super) fn compare(&mut self, tick: &Tick, seen: &mut Seen) {
        let (sum, rooms) = self.sum();
        if self.seq > 0 && sum != tick.state {
            seen.beat.different += 1;
            seen.wrong(format!(
                "shard {}: after frame {}, {} had {:016x}, and the log says {sum:016x}",
                self.number, self.frame, tick.by, tick.state
            ));
        }
        seen.beat.frames += 1;
        seen.beat.room_frames += rooms;
    }

    pub(super) fn apply(&mut self, entry: &Entry, seen: &mut Seen) {
        let mut parts = entry.subject.split('.');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some("open"), Some(name), None, None) if !self.rooms.contains_key(name) => {
                #[derive(Deserialize)]
                struct Open {
                    kind: String,
                    args: u64,
                }
                let open = serde_json::from_slice::<Open>(&entry.body);
                let Some(open) = open.ok().filter(|open| open.kind == Arena::NAME) else {
                    return;
                };
                let runtime = Runtime::new(Arena::registry());
                let arena = Arena::open(&runtime, open.args);
                let live = Some(Live {
                    runtime,
                    arena,
                    asked: BTreeMap::new(),
                });
                let room = OneRoom {
                    opened: entry.seq,
                    senders: HashMap::new(),
                    live,
                };
                self.rooms.insert(name.to_owned(), room);
            }
            (Some("room"), Some(name), Some(player), None) => {
                if let (Some(room), Some(player)) = (self.rooms.get_mut(name), Player::new(player))
                {
                    room.input(player, entry, self.frame, &mut seen.beat);
                }
            }
            (Some("answer"), Some(name), None, None) => {
                let answer = postcard::from_bytes::<Answer>(&entry.body);
                if let (Some(room), Ok(answer)) = (self.rooms.get_mut(name), answer) {
                    room.answer(&answer);
                }
            }
            _ => {}
        }
    }

    pub(super) fn measure(&mut self, tick: &Tick, entry: Option<&Entry>, seen: &mut Seen) {
        let Some(entry) = entry else {
            return;
        };
        self.seq = entry.seq;
        let before = std::mem::replace(&mut self.at, entry.at);
        if before == 0 {
            return;
        }
        let gap = Duration::from_nanos(u64::try_from(entry.at - before).unwrap_or(0));
        let column = GAPS
            .iter()
            .position(|limit| gap < Duration::from_millis(*limit))
            .unwrap_or(GAPS.len());
        seen.beat.gaps[column] += 1;
        if gap > LONG || tick.by != self.by {
            seen.beat.moves.push(Move {
                shard: self.number,
                from: node_of(&self.by).to_owned(),
                to: node_of(&tick.by).to_owned(),
                frame: tick.frame,
                gap: gap.as_secs_f64() * 1e3,
                at: u64::try_from(entry.at / 1_000_000).unwrap_or(0),
            });
        }
    }
}

/// The name of a node, without its start.
pub(super) fn node_of(by: &str) -> &str {
    by.split('.').next().unwrap_or(by)
}

/// What the oracle has seen.
pub(super) struct Seen {
    pub(super) beat: Beat,
    pub(super) wrong: Vec<String>,
    /// The builds, by number.
    pub(super) builds: Vec<u64>,
}

impl Seen {
    pub(super) fn wrong(&mut self, text: String) {
        if self.wrong.len() < 20 {
            self.wrong.push(text);
        }
    }

    pub(super) fn note(&mut self, shard: &Shard, tick: &Tick) {
        let at = shard.number as usize;
        node_of(&tick.by).clone_into(&mut self.beat.owners[at]);
        self.beat.last[at] = tick.frame;
        self.beat.builds[at] = BUILD;
        self.beat.seqs[at] = shard.seq;
        if self.beat.rooms[at].len() != shard.rooms.len() {
            self.beat.rooms[at] = shard.rooms.keys().cloned().collect();
        }
    }
}
