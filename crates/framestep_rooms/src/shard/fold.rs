//! The state of a shard: computed frame by frame, saved, loaded.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use framestep_durable::StableHash;
use serde::{Deserialize, Serialize};

use super::apply::broken;
use super::endings::Endings;
use super::slot::{Sender, Slot, State, text_of};
use super::{Absent, Closed, FORGETS, OUT, Refused, Shard};
use crate::entry::{Entry, Player, Topic};
use crate::role::Fold;

#[derive(Serialize, Deserialize)]
struct SavedSlot {
    name: Arc<str>,
    kind: Arc<str>,
    opened: u64,
    frame: u64,
    log: u64,
    since: u64,
    senders: BTreeMap<Player, Sender>,
    kicked: BTreeSet<Player>,
    panics: u64,
    state: Result<Vec<u8>, String>,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    frame: u64,
    refused: Refused,
    closed: Closed,
    endings: Endings,
    slots: Vec<SavedSlot>,
}

impl Fold for Shard {
    fn load(&mut self, state: Option<&[u8]>) -> Result<(), String> {
        self.unload();
        let Some(state) = state else {
            return Ok(());
        };
        let saved: Saved = postcard::from_bytes(state).map_err(|error| error.to_string())?;
        let frame_of_save = saved.frame;
        self.closed = saved.closed;
        self.endings = saved.endings;
        let mut rooms = BTreeMap::new();
        for saved in saved.slots {
            if let Some(before) = &mut self.before {
                before(frame_of_save, &saved.name);
            }
            let is_out = self.is_out(&saved.name, frame_of_save);
            let kind = self.kind(&saved.kind);
            let kind = kind
                .ok_or_else(|| {
                format!(
                    "this server has no rooms of the kind `{}`: the log is that of another game, or a \
                     `.room::<..>()` is missing",
                    saved.kind
                )
            })?;
            let state = match saved.state {
                Ok(_) if is_out => State::Broken(OUT.into()),
                Ok(bytes) => {
                    let restored = catch_unwind(AssertUnwindSafe(|| (kind.restore)(&bytes)));
                    let restored =
                        restored.unwrap_or_else(|panic| Err(text_of(&*panic).to_string()));
                    State::Live(restored.map_err(|why| format!("room {}: {why}", saved.name))?)
                }
                Err(why) => State::Broken(why.into()),
            };
            let slot = Slot {
                frame: saved.frame,
                log: saved.log,
                since: saved.since,
                senders: saved.senders,
                kicked: saved.kicked,
                panics: saved.panics,
                ..Slot::new(saved.kind, saved.opened, state)
            };
            rooms.insert(saved.name, slot);
        }
        self.rooms = rooms;
        self.frame = saved.frame;
        self.refused = saved.refused;
        Ok(())
    }

    fn load_empty(&mut self, frame: u64, ended: u64) {
        self.unload();
        self.frame = frame;
        self.endings = Endings::before(ended);
    }

    fn empty(&self) -> Option<u64> {
        // What was closed is not the same for every build.
        let is_empty = self.rooms.is_empty() && self.closed.is_empty();
        self.endings.only_last().filter(|_| is_empty)
    }

    fn unload(&mut self) {
        let rooms = std::mem::take(&mut self.rooms);
        for (_, mut slot) in rooms {
            slot.state.break_it("".into());
        }
        self.frame = 0;
        self.closed.clear();
        self.endings = Endings::default();
        self.refused = Refused::default();
        self.last_entry = 0;
        self.news.clear();
        self.absent = Absent::default();
        self.over.clear();
    }

    fn frame(&mut self, frame: u64, entries: &[Entry]) {
        self.frame = frame;
        self.over.clear();
        if let Some(last) = entries.last() {
            self.last_entry = last.seq;
            // The tick, which names the hash of all before it and a random number of its node.
            self.log = StableHash::digest(&last.body);
        }
        for entry in entries {
            if let (Some(before), Some(room)) =
                (&mut self.before, entry.topic.as_ref().and_then(Topic::room))
            {
                before(frame, room);
            }
            self.apply(entry);
        }
        let mut over = Vec::new();
        let names: Vec<Arc<str>> = self.taken_out.keys().cloned().collect();
        let out: BTreeSet<Arc<str>> = names
            .into_iter()
            .filter(|name| self.is_out(name, frame))
            .collect();
        let forgets = frame.is_multiple_of(FORGETS);
        for (name, slot) in &mut self.rooms {
            if forgets {
                slot.forget(frame, self.ticks_per_second);
            }
            if out.contains(name) {
                if let State::Live(_) = slot.state {
                    slot.state.break_it(OUT.into());
                    slot.hash = None;
                }
                continue;
            }
            if let Some(before) = &mut self.before {
                before(frame, name);
            }
            let step = self.step;
            let was_live = matches!(slot.state, State::Live(_));
            let is_over = slot.state.with(|live| {
                live.frame(step);
                live.is_over()
            });
            match (is_over, &slot.state) {
                (Some(_), _) => slot.frame += 1,
                (None, State::Broken(why)) if was_live => {
                    let event = broken("its frame has panicked", why);
                    self.news.of(frame).add(name, event);
                }
                _ => {}
            }
            slot.hash = None;
            slot.report(&mut self.news, frame, name);
            if is_over == Some(true) {
                over.push(name.clone());
            }
        }
        for name in over {
            self.end(&name, self.last_entry);
        }
        if self.rooms.is_empty() {
            self.endings.forget(frame, self.ticks_per_second);
        }
    }

    fn hash(&mut self) -> u64 {
        let mut hash = StableHash::new();
        hash.add(self.frame);
        for (name, slot) in &mut self.rooms {
            if !slot.is_in_turn(self.frame) {
                continue;
            }
            hash.add_bytes(name.as_bytes());
            hash.add(slot.opened);
            hash.add(slot.hash(&mut self.news, self.frame, name));
        }
        hash.finish()
    }

    fn out(&self) -> u32 {
        let frames = self.taken_out.values().map(BTreeSet::len).sum::<usize>();
        u32::try_from(frames).unwrap_or(u32::MAX)
    }

    fn save(&mut self) -> Result<Vec<u8>, String> {
        let mut slots = Vec::new();
        for (name, slot) in &self.rooms {
            let state = match &slot.state {
                State::Live(live) => {
                    let saved = catch_unwind(AssertUnwindSafe(|| live.save()));
                    let saved = saved.unwrap_or_else(|panic| Err(text_of(&*panic).to_string()));
                    Ok(saved.map_err(|why| format!("room {name}: {why}"))?)
                }
                State::Broken(why) => Err(why.to_string()),
            };
            slots.push(SavedSlot {
                name: name.clone(),
                kind: slot.kind.clone(),
                opened: slot.opened,
                frame: slot.frame,
                log: slot.log,
                since: slot.since,
                senders: slot.senders.clone(),
                kicked: slot.kicked.clone(),
                panics: slot.panics,
                state,
            });
        }
        let saved = Saved {
            frame: self.frame,
            refused: self.refused,
            closed: self.closed.clone(),
            endings: self.endings.clone(),
            slots,
        };
        postcard::to_stdvec(&saved).map_err(|error| error.to_string())
    }
}
