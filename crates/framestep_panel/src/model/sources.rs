//! What is known about signals, watches and semaphores: who has emitted them, who holds them, and
//! what they were. All of it up to a frame, because the panel goes back in time.

use std::collections::{HashMap, VecDeque};
use std::panic::Location;
use std::sync::Arc;

use framestep::inspect::{Source, SourceKind};
use framestep::task::CoroutineId;

use super::listener::Actor;
use super::text::{clean, place};

/// How many emissions and values of each are kept.
const KEPT: usize = 128;
/// How many signals, watches and semaphores are kept. The one that was heard of least lately is
/// forgotten.
const MOST: usize = 4_096;

#[derive(Debug, Default)]
pub(crate) struct Sources {
    known: HashMap<Source, Known>,
    /// The permits that scripts may hold.
    held: Vec<Source>,
    heard: u64,
}

#[derive(Debug)]
struct Known {
    /// The latest emissions, the latest last.
    emitted: VecDeque<Emission>,
    /// How many emissions have been forgotten.
    earlier: u64,
    holders: Vec<Holder>,
    values: VecDeque<(u64, Arc<str>)>,
    /// When it was last heard of.
    heard: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Emission {
    pub(crate) frame: u64,
    pub(crate) by: Option<Actor>,
    /// Whether anybody listened, or it is the new value of a watch.
    pub(crate) is_heard: bool,
}

/// Permits that a script has taken, and when they were given back. The script may have ended.
#[derive(Clone, Debug)]
pub(crate) struct Holder {
    pub(crate) by: Option<Actor>,
    pub(crate) frame: u64,
    pub(crate) at: &'static Location<'static>,
    count: usize,
    until: Option<u64>,
    has_ended: bool,
}

/// The emissions of one source, up to a frame.
#[derive(Clone, Debug)]
pub(crate) struct Emissions<'a> {
    pub(crate) count: u64,
    pub(crate) last: &'a Emission,
}

impl Sources {
    fn known(&mut self, source: &Source) -> &mut Known {
        self.heard += 1;
        let heard = self.heard;
        if self.known.len() >= MOST && !self.known.contains_key(source) {
            let oldest = self.known.iter().min_by_key(|(_, known)| known.heard);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.known.remove(&oldest);
            }
        }
        let known = self.known.entry(source.clone()).or_insert_with(|| Known {
            emitted: VecDeque::new(),
            earlier: 0,
            holders: Vec::new(),
            values: VecDeque::new(),
            heard,
        });
        known.heard = heard;
        known
    }

    pub(crate) fn emit(
        &mut self,
        source: &Source,
        frame: u64,
        by: Option<Actor>,
        (listeners, value): (usize, Option<&Arc<str>>),
    ) {
        let known = self.known(source);
        if known.emitted.len() == KEPT {
            known.emitted.pop_front();
            known.earlier += 1;
        }
        let is_heard = listeners > 0 || source.kind() != SourceKind::Signal;
        known.emitted.push_back(Emission {
            frame,
            by,
            is_heard,
        });
        if let Some(value) = value {
            known.see(frame, value.clone());
        }
    }

    /// A wait for it begins: it may show its value.
    pub(crate) fn see(&mut self, source: &Source, frame: u64) {
        if let Some(value) = source.value() {
            self.known(source).see(frame, value);
        }
    }

    pub(crate) fn acquire(
        &mut self,
        source: &Source,
        count: usize,
        (frame, by): (u64, Option<Actor>),
        at: &'static Location<'static>,
    ) {
        if !self.held.contains(source) {
            self.held.push(source.clone());
        }
        let known = self.known(source);
        if known.holders.len() >= 2 * KEPT {
            known.holders.retain(|holder| holder.until.is_none());
        }
        if known.holders.len() >= 2 * KEPT {
            known.holders.remove(0);
        }
        known.holders.push(Holder {
            by,
            frame,
            at,
            count,
            until: None,
            has_ended: false,
        });
    }

    /// Most often the script that drops permits has got them; otherwise somebody has got them from
    /// their taker, who has ended; otherwise they are those that have been held longest.
    pub(crate) fn release(
        &mut self,
        source: &Source,
        count: usize,
        frame: u64,
        by: Option<CoroutineId>,
    ) {
        let holders = &mut self.known(source).holders;
        let is_open = |holder: &Holder| holder.until.is_none() && holder.count == count;
        let own = holders
            .iter()
            .rposition(|it| is_open(it) && it.by.as_ref().map(|by| by.id) == by);
        let left = holders.iter().position(|it| is_open(it) && it.has_ended);
        let open = || holders.iter().position(is_open);
        if let Some(at) = own.or(left).or_else(open) {
            holders[at].until = Some(frame);
        }
    }

    /// A script has ended. What it has dropped is known before; it may have passed on the rest.
    #[expect(
        clippy::mutable_key_type,
        reason = "the number of a source does not change once it has one"
    )]
    pub(crate) fn end(&mut self, id: CoroutineId) {
        let known = &mut self.known;
        self.held.retain(|source| {
            let Some(known) = known.get_mut(source) else {
                return false;
            };
            for holder in &mut known.holders {
                if holder.until.is_none() && holder.by.as_ref().is_some_and(|by| by.id == id) {
                    holder.has_ended = true;
                }
            }
            known.holders.iter().any(|holder| holder.until.is_none())
        });
    }

    fn get(&self, source: &Source) -> Option<&Known> {
        self.known.get(source)
    }

    /// The emissions up to a frame. `None` if there were none, or if they are forgotten.
    pub(crate) fn emissions(&self, source: &Source, frame: u64) -> Option<Emissions<'_>> {
        let known = self.get(source)?;
        let until = known.emitted.partition_point(|it| it.frame <= frame);
        let last = known.emitted.get(until.checked_sub(1)?)?;
        let count = known.earlier + until as u64;
        Some(Emissions { count, last })
    }

    /// Whether emissions may have been forgotten that were before a frame.
    pub(crate) fn has_forgotten(&self, source: &Source, frame: u64) -> bool {
        self.get(source).is_some_and(|known| {
            known.earlier > 0 && known.emitted.front().is_none_or(|it| it.frame > frame)
        })
    }

    /// The last emission of another source of the same kind and name, in these frames.
    pub(crate) fn twin(
        &self,
        source: &Source,
        since: u64,
        frame: u64,
    ) -> Option<(&Source, Emissions<'_>)> {
        let is_twin = |other: &&Source| {
            (other.kind(), other.name()) == (source.kind(), source.name()) && *other != source
        };
        let emitted = self.known.keys().filter(is_twin).filter_map(|twin| {
            let emissions = self.emissions(twin, frame)?;
            (emissions.last.frame >= since).then_some((twin, emissions))
        });
        emitted.max_by_key(|(source, emissions)| (emissions.last.frame, source.number()))
    }

    /// The only live script that has emitted it, up to a frame. `None` if several or the host
    /// have.
    pub(crate) fn only_emitter(
        &self,
        source: &Source,
        frame: u64,
        is_live: impl Fn(CoroutineId) -> bool,
    ) -> Option<CoroutineId> {
        let known = self.get(source).filter(|known| known.earlier == 0)?;
        let emitted = known.emitted.iter().take_while(|it| it.frame <= frame);
        let by = emitted.map(|it| it.by.as_ref().map(|by| by.id));
        let mut by = by.filter(|by| by.is_none_or(&is_live));
        let first = by.next()??;
        by.all(|other| other == Some(first)).then_some(first)
    }

    /// The scripts that held permits in a frame.
    pub(crate) fn holders(&self, source: &Source, frame: u64) -> Vec<&Holder> {
        let holders = self.get(source).map_or(&[][..], |known| &known.holders);
        let holds = |holder: &&Holder| {
            holder.frame <= frame && holder.until.is_none_or(|until| until > frame)
        };
        holders.iter().filter(holds).collect()
    }

    /// The value of a watch in a frame, if it shows it.
    pub(crate) fn value(&self, source: &Source, frame: u64) -> Option<Arc<str>> {
        let values = &self.get(source)?.values;
        let until = values.partition_point(|(seen, _)| *seen <= frame);
        values
            .get(until.checked_sub(1)?)
            .map(|(_, value)| value.clone())
    }
}

impl Known {
    fn see(&mut self, frame: u64, value: Arc<str>) {
        if self.values.back().is_some_and(|(_, last)| *last == value) {
            return;
        }
        if self.values.len() == KEPT {
            self.values.pop_front();
        }
        self.values.push_back((frame, value));
    }
}

/// Where a source got its name: ` named at hall.rs:12`.
pub(crate) fn origin(source: &Source) -> String {
    let at = source.named_at();
    at.map_or(String::new(), |at| format!(" named at {}", place(at)))
}

/// Its name in one line.
pub(crate) fn name(source: &Source) -> String {
    clean(source.name())
}
