//! A room, as the log has it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use framestep_durable::{RequestId, Runtime};
use framestep_rooms::{Player, Room as _};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::said::Beat;
use super::shard::Entry;
use crate::game::Input;
use crate::node::TICKS;
use crate::scripts::Purchase;
use crate::state::Arena;

/// Inputs of a player to a room in a second: the limit of the servers.
pub(super) const RATE: u64 = 60;
/// Of a player who has sent less, so many at once.
const AT_ONCE: u64 = RATE * 10;

#[derive(Deserialize)]
pub(super) struct Answer {
    pub(super) opened: u64,
    pub(super) number: u64,
    #[serde(rename = "answer")]
    pub(super) content: Vec<u8>,
}

#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Sender {
    /// The numbers of each session.
    pub(super) used: HashMap<u64, HashSet<u64>>,
    pub(super) frame: u64,
    pub(super) budget: u64,
    /// How often each input was applied.
    pub(super) applied: HashMap<u64, u32>,
}

pub(super) struct Live {
    pub(super) runtime: Runtime,
    pub(super) arena: Arena,
    /// Questions to the outside, by number.
    pub(super) asked: BTreeMap<u64, RequestId<Purchase>>,
}

pub(super) struct OneRoom {
    pub(super) opened: u64,
    pub(super) senders: HashMap<Player, Sender>,
    /// `None` after a panic.
    pub(super) live: Option<Live>,
}

impl OneRoom {
    /// Calls `f`. A panic breaks the room.
    pub(super) fn with<T>(&mut self, f: impl FnOnce(&mut Live) -> T) -> Option<T> {
        let live = self.live.as_mut()?;
        if let Ok(value) = catch_unwind(AssertUnwindSafe(|| f(live))) {
            return Some(value);
        }
        self.live = None;
        None
    }

    pub(super) fn input(&mut self, player: Player, entry: &Entry, frame: u64, beat: &mut Beat) {
        #[derive(Deserialize)]
        struct Text<'a> {
            s: u64,
            n: u64,
            a: u64,
            #[serde(borrow)]
            i: &'a RawValue,
        }
        if self.live.is_none() {
            return;
        }
        let (session, number, after, input) = match &entry.body[..] {
            [2, rest @ ..] if rest.len() >= 24 => {
                let word = |from: usize| {
                    u64::from_le_bytes(rest[from..from + 8].try_into().unwrap_or_default())
                };
                (word(0), word(8), word(16), &rest[24..])
            }
            body => match serde_json::from_slice::<Text<'_>>(body) {
                Ok(text) => (text.s, text.n, text.a, text.i.get().as_bytes()),
                Err(_) => return,
            },
        };
        let sender = self
            .senders
            .entry(player.clone())
            .or_insert_with(|| Sender {
                budget: AT_ONCE * 1_000,
                frame,
                ..Sender::default()
            });
        let earned = (frame - sender.frame) * RATE * 1_000 / u64::from(TICKS);
        sender.budget = (sender.budget + earned).min(AT_ONCE * 1_000);
        sender.frame = frame;
        if sender.budget < 1_000 {
            return;
        }
        // It was made for a room before this one, or names what is not before it.
        if after < self.opened || after >= entry.seq {
            return;
        }
        if number == 0 || !sender.used.entry(session).or_default().insert(number) {
            beat.again += 1;
            return;
        }
        sender.budget -= 1_000;
        let Ok(input) = serde_json::from_slice::<Input>(input) else {
            return;
        };
        *sender.applied.entry(input.id).or_default() += 1;
        beat.inputs += 1;
        self.with(|live| live.arena.input(&live.runtime, player, input));
    }

    pub(super) fn answer(&mut self, answer: &Answer) {
        if answer.opened != self.opened {
            return;
        }
        self.with(|live| {
            for (id, _) in live.runtime.requests::<Purchase>() {
                live.asked.insert(id.number(), id);
            }
            let id = live.asked.remove(&answer.number);
            if let (Some(id), Ok(is_paid)) = (id, postcard::from_bytes(&answer.content)) {
                live.runtime.answer(id, &is_paid);
            }
        });
    }

    pub(super) fn sum(&mut self) -> u64 {
        self.with(|live| {
            live.runtime
                .save_state()
                .map_or(0, |save| save.checksum_with(&live.arena))
        })
        .unwrap_or(0)
    }
}
