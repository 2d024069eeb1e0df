//! What a save state holds.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::{Content, Mark, Marked, Says, Topic};
use crate::events::{Listed, PromiseEntry, Settled, Stream};
use crate::ids::{Birth, ClockId, Owned, OwnerId, ScriptId};
use crate::journal::site::Needed;
use crate::journal::{Marks, Sites};
use crate::places::Tables;
use crate::replay::{RestoreError, Stored};
use crate::script::aligned::{Hold, Holders};
use crate::script::{Effects, EndedImage, GuardImage, KeptImage, SlotImage, WaitImage};

/// The state of a runtime between two runs.
///
/// [`Runtime::save_state`](crate::Runtime::save_state) takes one, and
/// [`Runtime::rollback`](crate::Runtime::rollback) goes back to it. It shares the journals
/// with the runtime, so it is cheap to take, to keep and to clone.
///
/// It can be serialised with serde, in any format, beside the game's own state.
/// [`to_bytes`](SaveState::to_bytes) turns it into a file with a version and a checksum.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct SaveState {
    pub(crate) build: String,
    /// The length of fixed steps, and that of the longest frame.
    pub(crate) settings: [Duration; 2],
    /// The sites that the journals and the waits name.
    pub(crate) sites: Sites,
    /// The executor's clocks and the runtime's.
    pub(crate) clocks: Vec<u64>,
    /// What each clock of the runtime follows.
    pub(crate) clock_parents: Vec<ClockId>,
    /// The guards of these clocks that scripts have taken.
    pub(crate) guards: Vec<GuardImage>,
    pub(crate) owners: Vec<OwnerImage>,
    /// The statements of the scripts, in a file.
    pub(crate) tables: Tables,
    pub(crate) scripts: Vec<KeptImage>,
    /// Those of them that have been requested to stop.
    pub(crate) asked: Vec<ScriptId>,
    /// The requests to stop with a time that are not over.
    pub(crate) stops: Vec<StopImage>,
    /// The waits of framestep in all slots, in order.
    pub(crate) waits: Vec<u64>,
    /// The lists of the executor.
    pub(crate) lists: Vec<u64>,
    #[serde(with = "beside")]
    pub(crate) ended: Vec<EndedImage>,
    /// How many scripts have ended.
    pub(crate) ends: u64,
    /// The signals for which scripts wait.
    pub(crate) signals: Vec<(Topic, Vec<Listed>)>,
    pub(crate) streams: Vec<(Owned, Stream)>,
    pub(crate) values: Vec<(Topic, Option<Content>, Vec<Listed>)>,
    /// What compact values say of themselves, in a file.
    pub(crate) marks: Marks,
    /// What the values in lists and waits, and the results, say of themselves, in a file.
    pub(crate) stored_marks: Marks,
    pub(crate) permits: Vec<SemaphoreImage>,
    pub(crate) promises: Vec<(Owned, PromiseEntry)>,
    pub(crate) next_script: u64,
    pub(crate) next_request: u64,
    pub(crate) next_owner: u64,
    pub(crate) next_guard: u64,
    pub(crate) last_ticket: u64,
    /// How many runs of phases there have been in the present frame.
    pub(crate) runs: u64,
    /// The latest effects, if they are [hashed](crate::RuntimeBuilder::hash_effects).
    pub(crate) effects: Effects,
    /// Whether states and values are described, and so is the world beside it.
    pub(crate) is_described: bool,
    /// Whether a runtime of this process has taken it. What was read may be damaged.
    #[serde(skip)]
    pub(crate) is_taken: bool,
}

impl SaveState {
    pub(crate) fn stored(&self) -> Stored<'_> {
        Stored {
            streams: &self.streams,
            values: &self.values,
            promises: &self.promises,
            ended: &self.ended,
            holders: self,
        }
    }

    /// The same with a table of only those sites that it needs. `None` if one is missing. With `adds`, also with
    /// what files have besides: what was read from one has it.
    fn with_needed_sites(mut self, adds: bool) -> Option<Self> {
        let mut needed = Needed::of(&self.sites);
        let mut tables = Tables::default();
        for script in &mut self.scripts {
            let script = &mut **script;
            if adds {
                script.add_what_files_have(&self.sites, &mut tables);
            }
            script.journal = script.journal.map_sites(|site| needed.number(site))?;
            for wait in &mut script.waits {
                wait.named.site = needed.number(wait.named.site)?.id;
            }
        }
        let sites = needed.into_sites();
        if adds && self.marks.is_empty() {
            for (topic, value, _) in &self.values {
                // Of the calls in the file: what earlier ones have said is not there after a load, and a game that
                // was loaded has the same file.
                let mark = sites.stored(topic.as_ref());
                self.marks.push(match (mark, value) {
                    (Some(mark), Some(Content::Compact(value))) => mark.mark(value.get()),
                    _ => Mark::NONE,
                });
            }
        }
        if adds {
            let mut marks = Marks::default();
            self.each_stored()
                .for_each(|stored| marks.push(stored.mark()));
            self.stored_marks = marks;
        }
        (self.sites, self.tables) = (sites, tables);
        Some(self)
    }

    /// The values that are stored outside of journals and of the table of values: results, events, questions,
    /// answers, and what promises were resolved with.
    pub(crate) fn each_stored(&self) -> impl Iterator<Item = &Marked> {
        let results = self.ended.iter();
        let results = results.filter_map(|ended| ended.result.as_ref().ok());
        let streams = self.streams.iter();
        let events = streams.flat_map(|(_, stream)| {
            let given = stream.given.iter().map(|given| &given.value);
            given.chain(&stream.events)
        });
        let promises = self.promises.iter();
        let promised = promises.filter_map(|(_, promise)| match promise.settled.as_ref()? {
            Settled::Resolved(value) => Some(value),
            Settled::Cancelled => None,
        });
        let waits = self.scripts.iter().flat_map(|script| &script.waits);
        let awaited = waits.flat_map(|wait| {
            let (event, question) = match &wait.slot {
                SlotImage::Signal { given, .. } => (given.value(), None),
                SlotImage::Request(question) => (None, Some(question)),
                _ => (None, None),
            };
            let asked = question.map(|question| &question.content);
            let answer = question.and_then(|question| question.answer.as_ref());
            event.into_iter().chain(asked).chain(answer)
        });
        results.chain(events).chain(promised).chain(awaited)
    }

    /// The values that the code of the replayed scripts reads as something else, and that no registry knows.
    pub(crate) fn misread_values(&self, sites: &Sites) -> Option<RestoreError> {
        let values = self.values.iter().enumerate();
        values.into_iter().find_map(|(at, (topic, value, _))| {
            let (Some(Content::Compact(value)), Some(mark)) = (value, sites.stored(topic.as_ref()))
            else {
                return None;
            };
            (!mark.can_read(value.get(), self.marks.get(at))).then(|| RestoreError::OtherValue {
                name: topic.to_string(),
                type_name: mark.type_name().to_owned(),
                why: "a script reads it as another type than it had, or its fields have other names or another \
                      order"
                    .to_owned(),
            })
        })
    }

    /// Whether the numbers of scripts, owners, questions and waits fit together, and no counter is
    /// about to overflow.
    pub(crate) fn has_consistent_numbers(&self) -> bool {
        let next = [
            self.next_script,
            self.next_request,
            self.next_owner,
            self.next_guard,
            self.last_ticket,
            self.ends,
        ];
        let far_from_overflow = |&count: &u64| count < u64::MAX / 2;
        let slots = || self.scripts.iter().flat_map(|script| &script.waits);
        let is_given = |wait: &WaitImage| match &wait.slot {
            SlotImage::Request(request) => request.id < self.next_request,
            SlotImage::Signal { ticket, .. }
            | SlotImage::Value { ticket, .. }
            | SlotImage::Stop { ticket } => *ticket <= self.last_ticket,
            SlotImage::Next { ticket, stream, .. } => {
                *ticket <= self.last_ticket && stream.1 <= self.last_ticket
            }
            SlotImage::Permit {
                ticket, granted, ..
            } => *ticket <= self.last_ticket && *granted <= Some(self.last_ticket),
            SlotImage::Promise(number) => *number <= self.last_ticket,
            _ => true,
        };
        let are_lengths = self.settings.iter().all(|length| !length.is_zero());
        let is_fixed = u64::try_from(self.settings[0].as_nanos()).is_ok();
        are_lengths
            && is_fixed
            && next.iter().all(far_from_overflow)
            && self.scripts.is_sorted_by(|a, b| a.id < b.id)
            && self.scripts.iter().all(|it| it.id.0 < self.next_script)
            && self.ended.iter().all(|it| it.id.0 < self.next_script)
            && self.ended.iter().all(|it| it.order <= self.ends)
            && self.guards.is_sorted_by(|a, b| a.number < b.number)
            && self.guards.iter().all(|it| it.number < self.next_guard)
            && self.owners.iter().all(|it| it.id.0 < self.next_owner)
            && self.owners.is_sorted_by(|a, b| a.id < b.id)
            && self.owners.iter().all(|it| it.parent < Some(it.id))
            && self
                .scripts
                .iter()
                .all(|it| it.has_begun_if_it_has_done_something())
            && slots().all(is_given)
            && self.scripts.iter().all(|it| it.has_sorted_waits())
            && self.asked.is_sorted_by(|a, b| a < b)
            && self.asked.iter().all(|&id| self.has_script(id))
            && self.stops.is_sorted_by(|a, b| a.id < b.id)
            && self.stops.iter().all(|it| self.is_possible(it))
            && self.has_consistent_events()
    }

    /// Whether the number of a request is of nothing else, and its owner is there.
    fn is_possible(&self, stop: &StopImage) -> bool {
        let is_given = stop.id.0 < self.next_script && !self.has_script(stop.id);
        let mut ended = self.ended.iter();
        is_given
            && ended.all(|ended| ended.id != stop.id)
            && self.owners.iter().any(|owner| owner.id == stop.owner)
    }

    /// How many permits a wait needs. `None` if it is no wait for permits.
    fn wanted(&self, listed: &Listed) -> Option<u64> {
        let mut scripts = self.scripts.iter();
        let script = scripts.find(|script| script.id == listed.script)?;
        script.waits.iter().find_map(|wait| match wait.slot {
            SlotImage::Permit { wanted, .. } if wait.named.number == listed.wait => Some(wanted),
            _ => None,
        })
    }

    fn has_script(&self, id: ScriptId) -> bool {
        let found = self.scripts.binary_search_by_key(&id, |image| image.id);
        found.is_ok()
    }

    /// The same for signals, values, permits and promises: each is there once, its waits are in
    /// order, and what scripts have belongs to scripts that are alive.
    fn has_consistent_events(&self) -> bool {
        let is_ordered = |waits: &[Listed]| {
            let is_given = |listed: &Listed| listed.ticket <= self.last_ticket;
            waits.is_sorted_by(|a, b| a.ticket < b.ticket) && waits.iter().all(is_given)
        };
        let is_owned =
            |&(script, number): &Owned| self.has_script(script) && number <= self.last_ticket;
        let held = || {
            let all = self.permits.iter().flat_map(|permits| &permits.held);
            all.map(|(permit, _)| permit)
        };
        let are_permits_given = |permits: &SemaphoreImage| {
            let mut counts = permits.held.iter().map(|&(_, count)| count);
            let Some(held) = counts.try_fold(0, u64::checked_add) else {
                return false;
            };
            let wanted = permits.waits.first().map(|first| self.wanted(first));
            // The first wait needs more than there are.
            wanted.is_none_or(|wanted| {
                let with_it = wanted.and_then(|wanted| held.checked_add(wanted));
                with_it.is_none_or(|held| held > permits.count)
            })
        };
        self.signals.is_sorted_by(|a, b| a.0 < b.0)
            && self.signals.iter().all(|(_, waits)| is_ordered(waits))
            && self.streams.is_sorted_by(|a, b| a.0 < b.0)
            && self.streams.iter().all(|(id, _)| is_owned(id))
            && self.values.is_sorted_by(|a, b| a.0 < b.0)
            && self.values.iter().all(|(_, _, waits)| is_ordered(waits))
            && self.permits.is_sorted_by(|a, b| a.topic < b.topic)
            && self.permits.iter().all(|it| is_ordered(&it.waits))
            && self.permits.iter().all(are_permits_given)
            && held().all(is_owned)
            && held().collect::<BTreeSet<_>>().len() == held().count()
            && self.promises.is_sorted_by(|a, b| a.0 < b.0)
            && self.promises.iter().all(|(id, _)| is_owned(id))
    }
}

impl Holders for SaveState {
    fn is_held(&self, script: ScriptId, hold: Hold) -> bool {
        match hold {
            Hold::Guard(number) => {
                let mut guards = self.guards.iter();
                guards.any(|guard| (guard.script, guard.number) == (script, number))
            }
            Hold::Permit(number) => {
                let mut held = self.permits.iter().flat_map(|permits| &permits.held);
                held.any(|(permit, _)| *permit == (script, number))
            }
            Hold::Stream(number) => self.streams.iter().any(|(id, _)| *id == (script, number)),
            Hold::Promise(number) => self.promises.iter().any(|(id, _)| *id == (script, number)),
        }
    }
}

impl Serialize for SaveState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let needed = self.clone().with_needed_sites(true);
        let needed = needed.expect("its sites are in its table");
        SaveState::serialize(&needed, serializer)
    }
}

impl<'de> Deserialize<'de> for SaveState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut read = SaveState::deserialize(deserializer)?;
        for script in &mut read.scripts {
            let table = read.tables.get(script.table);
            script.statements =
                table.ok_or_else(|| D::Error::custom("a script has no such table"))?;
        }
        for (number, stored) in read.each_stored().enumerate() {
            stored.set_says(Says::Had(read.stored_marks.get(number)));
        }
        let needed = read.with_needed_sites(false);
        needed.ok_or_else(|| D::Error::custom("an entry or a wait has no such site"))
    }
}

/// A request to stop with a time. The executor's lists have its deadline.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StopImage {
    pub(crate) id: ScriptId,
    #[serde(skip)]
    pub(crate) birth: Birth,
    pub(crate) owner: OwnerId,
    /// How many scripts it has stopped.
    pub(crate) left: u64,
    /// The line of the call.
    pub(crate) line: String,
}

impl StopImage {
    /// What two builds have in common.
    pub(crate) fn without_line(&self) -> (ScriptId, OwnerId, u64) {
        (self.id, self.owner, self.left)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OwnerImage {
    pub(crate) id: OwnerId,
    pub(crate) parent: Option<OwnerId>,
    pub(crate) clock: Option<ClockId>,
    pub(crate) name: Option<String>,
    pub(crate) is_paused: bool,
    pub(crate) is_active: bool,
    /// Whether a script of it has read the latest request to stop.
    pub(crate) is_heard: bool,
}

/// Permits, the scripts that have one, and the waits for one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SemaphoreImage {
    pub(crate) topic: Topic,
    pub(crate) count: u64,
    pub(crate) is_set: bool,
    /// Who has how many.
    pub(crate) held: Vec<(Owned, u64)>,
    pub(crate) waits: Vec<Listed>,
}

/// Results of scripts in a save state, each with the line that has stopped the script.
mod beside {
    use serde::{Deserialize, Deserializer, Serializer};

    use super::EndedImage;
    use crate::script::join_error::JoinError;

    pub(super) fn serialize<S: Serializer>(
        ended: &[EndedImage],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(ended.iter().map(|image| {
            let line = image.result.as_ref().err().and_then(JoinError::stopped_at);
            (image, line)
        }))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<EndedImage>, D::Error> {
        let ended = Vec::<(EndedImage, Option<String>)>::deserialize(deserializer)?;
        let with_line = |(image, line): (EndedImage, Option<String>)| EndedImage {
            result: image
                .result
                .map_err(|error| error.with_line(line.as_deref())),
            ..image
        };
        Ok(ended.into_iter().map(with_line).collect())
    }
}
