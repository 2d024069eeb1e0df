//! A film: the events that a recorder has kept, as plain data.

use std::fmt::{self, Write as _};
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use framestep::Phase;
use serde::{Deserialize, Serialize};

use crate::filter::Filter;
use crate::findings::Known;
use crate::fold;
use crate::lanes::{Bar, Lane, Lanes, Stopped};
use crate::record::{Kind, NONE, Record, WaitKind};
use crate::state::State;
use crate::tables::{Names, Origin, Place, Places, Script, Tables};
use crate::tape::{Dropped, Tape};
use crate::text;

/// The events that a [`Recorder`](crate::Recorder) has kept. A film is a copy, and does
/// not change.
///
/// A film is plain data. It can be cut, filtered, sent to another thread, drawn,
/// compared, and stored in a file in any format that serde supports.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
/// use framestep_timeline::{Filter, Recorder};
///
/// let mut executor = Executor::new();
/// let recorder = Recorder::new();
/// recorder.watch(&executor);
/// executor.script("lamp").start(wait_frames(3));
/// executor.script("door").start(wait_seconds(1));
/// executor.run_frames(4, 0.25);
///
/// let film = recorder.film().only(&Filter::new().name("door")).frames(2..=4);
/// assert_eq!(film.diagram().to_string(), "\
/// frame 2 3 4
/// door  - - *
/// ");
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Film {
    pub(crate) base: State,
    pub(crate) records: Vec<Record>,
    pub(crate) tables: Tables,
    /// The ids of the scripts as text, by number.
    labels: Vec<String>,
    /// By the number of the script.
    pub(crate) shown: Vec<bool>,
    pub(crate) dropped: Dropped,
    pub(crate) is_timed: bool,
    /// Whether the recorder has left out scripts.
    pub(crate) is_filtered: bool,
    /// Of a part of a film: the film.
    pub(crate) whole: Option<Arc<Whole>>,
    /// Whether it is a part of a film from a file that does not have what came after it.
    pub(crate) continues: bool,
    hash: u64,
}

/// A film of which others are parts. What a part says about waits that are not over is taken
/// from here.
pub(crate) struct Whole {
    pub(crate) film: Film,
    pub(crate) known: OnceLock<Known>,
}

/// How many waits of a script are listed.
const LAST_WAITS: usize = 5;

impl Film {
    pub(crate) fn new(tape: &Tape, labels: Vec<String>, filter: &Filter, is_timed: bool) -> Self {
        let mut film = Film {
            base: tape.base.clone(),
            records: tape.records.iter().copied().collect(),
            tables: tape.tables.clone(),
            labels,
            shown: vec![true; tape.tables.scripts.len()],
            dropped: tape.dropped,
            is_timed,
            is_filtered: !filter.chooses_all(),
            whole: None,
            continues: false,
            hash: tape.hash,
        };
        film.shown[0] = false;
        film.only(filter)
    }

    /// The film with only the scripts that the filter chooses.
    #[must_use]
    pub fn only(mut self, filter: &Filter) -> Self {
        if !filter.chooses_all() {
            for (shown, script) in self.shown.iter_mut().zip(&self.tables.scripts) {
                let names = &self.tables.names;
                *shown &= filter.chooses(names.get(script.name), names.get(script.owner));
            }
        }
        self
    }

    /// The film with only the busiest scripts: those with the most polls and waits.
    #[must_use]
    pub fn busiest(mut self, scripts: usize) -> Self {
        let busy = self.activity();
        let mut order: Vec<usize> = (0..busy.len()).filter(|&at| self.shown[at]).collect();
        order.sort_by_key(|&at| (std::cmp::Reverse(busy[at]), self.tables.scripts[at].serial));
        for &at in order.iter().skip(scripts) {
            self.shown[at] = false;
        }
        self
    }

    /// How often each script was polled and began to wait.
    pub(crate) fn activity(&self) -> Vec<u64> {
        let mut busy = vec![0; self.tables.scripts.len()];
        for record in &self.records {
            if matches!(record.kind, Kind::Resumed | Kind::WaitBegan) {
                busy[record.script as usize] += 1;
            }
        }
        busy
    }

    /// Some frames of the film.
    ///
    /// The part knows the rest: it says of no script that it waits to the end if the wait ends
    /// after the part. A file does not contain the rest, so a part from a file has no findings
    /// about waits that it does not see the end of.
    #[must_use]
    pub fn frames(mut self, frames: RangeInclusive<u64>) -> Self {
        let (base, records) = self.cut(&frames);
        if self.whole.is_none() {
            let film = Film {
                base: std::mem::take(&mut self.base),
                records: std::mem::take(&mut self.records),
                tables: self.tables.clone(),
                labels: self.labels.clone(),
                shown: Vec::new(),
                whole: None,
                ..self
            };
            let known = OnceLock::new();
            self.whole = Some(Arc::new(Whole { film, known }));
        }
        (self.base, self.records) = (base, records);
        self
    }

    /// The state before some frames, and their records.
    fn cut(&self, frames: &RangeInclusive<u64>) -> (State, Vec<Record>) {
        let mut frame = self.base.frame;
        let (mut from, mut to) = (0, self.records.len());
        for (at, record) in self.records.iter().enumerate() {
            if record.kind == Kind::FrameBegan {
                frame = record.frame();
                if frame > *frames.end() {
                    to = at;
                    break;
                }
                if frame <= *frames.start() {
                    from = at;
                }
            }
        }
        if frame < *frames.start() {
            from = to;
        }
        let mut base = self.base.clone();
        for record in &self.records[..from] {
            base.apply(record);
        }
        (base, self.records[from.min(to)..to].to_vec())
    }

    /// The same as `frames` of a clone, without a copy of all records.
    pub(crate) fn part(&self, frames: RangeInclusive<u64>) -> Film {
        let Some(whole) = &self.whole else {
            return self.clone().frames(frames);
        };
        let (base, records) = self.cut(&frames);
        Film {
            base,
            records,
            tables: self.tables.clone(),
            labels: self.labels.clone(),
            shown: self.shown.clone(),
            whole: Some(whole.clone()),
            ..*self
        }
    }

    /// The first and the last frame. `None` if the film is empty.
    pub fn range(&self) -> Option<RangeInclusive<u64>> {
        let mut frames = self
            .records
            .iter()
            .filter(|record| record.kind == Kind::FrameBegan);
        let first = frames.next();
        let last = frames.next_back().or(first).map(Record::frame);
        if self.has_part_of_a_frame() {
            return Some(self.base.frame..=last.unwrap_or(self.base.frame));
        }
        Some(first?.frame()..=last?)
    }

    /// Whether it begins inside a frame, or in frame 0, which has no beginning.
    pub(crate) fn has_part_of_a_frame(&self) -> bool {
        let is_from_the_start = self.base.frame == 0 && self.dropped.events == 0;
        match self.records.first() {
            // A recorder that watched before frame 1 has recorded frame 0.
            Some(first) if first.kind == Kind::FrameBegan => {
                is_from_the_start && first.frame() <= 1
            }
            Some(_) => true,
            None => is_from_the_start,
        }
    }

    /// How many events it has, of all scripts.
    pub fn events(&self) -> usize {
        self.records.len()
    }

    /// How many scripts it shows.
    pub fn scripts(&self) -> usize {
        self.lanes().lanes.len()
    }

    /// The frames and events that the recorder had dropped when the film was taken.
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// The hash of the whole run, up to the moment when the film was taken. See
    /// [`Recorder::hash`](crate::Recorder::hash).
    pub fn hash(&self) -> u64 {
        fold::finish(self.hash)
    }

    pub(crate) fn lanes(&self) -> Lanes {
        Lanes::of(self)
    }

    pub(crate) fn is_shown(&self, script: u32) -> bool {
        self.shown.get(script as usize).copied().unwrap_or(false)
    }

    pub(crate) fn script(&self, script: u32) -> &Script {
        &self.tables.scripts[script as usize]
    }

    /// Its id as text: `12v3`.
    pub(crate) fn label(&self, script: u32) -> &str {
        &self.labels[script as usize]
    }

    /// The name to show: without hidden characters and modules.
    pub(crate) fn name(&self, script: u32) -> String {
        if script == NONE {
            return "the host".to_owned();
        }
        let known = self.script(script);
        let name = text::visible(&text::without_path(self.tables.names.get(known.name)));
        if name.is_empty() {
            format!("script {}", self.label(script))
        } else {
            name
        }
    }

    pub(crate) fn text(&self, name: u32) -> String {
        let text = text::visible(self.tables.names.get(name));
        match self.tables.twin(name) {
            Some(twin) => format!("{text} #{twin}"),
            None => text,
        }
    }

    /// Where a signal, a watch or a semaphore got their name, by which script, and when.
    pub(crate) fn origin(&self, name: u32) -> Option<String> {
        let origin = self.tables.sources.get(&name)?;
        let mut words = format!("named at {}", self.place(origin.place)?);
        if let Some(by) = &origin.by {
            let _ = write!(words, " by {by}");
        }
        if let Some(frame) = origin.frame {
            let _ = write!(words, " in frame {frame}");
        }
        Some(words)
    }

    /// The frame in which the recording began, if that was not the first of the executor.
    pub(crate) fn begins_late(&self) -> Option<u64> {
        let is_cut = self.base.frame > 0 || self.dropped.events > 0;
        let mut records = self.records.iter();
        let first = records.find(|record| record.kind == Kind::FrameBegan)?;
        (!is_cut && first.frame() > 1).then(|| first.frame())
    }

    /// Whether the recording went on after its last frame, and a file of it would not tell how.
    fn lacks_the_end(&self) -> bool {
        let last = |film: &Film| film.range().map(|range| *range.end());
        let whole = self.whole.as_ref();
        self.continues || whole.is_some_and(|whole| last(&whole.film) > last(self))
    }

    /// Where a script waits or has waited. A line of a dependency comes after the first of
    /// `others` that is a line of the program, or else after that which started the script.
    pub(crate) fn line_of(
        &self,
        script: u32,
        place: u32,
        others: impl IntoIterator<Item = u32>,
    ) -> Option<String> {
        let words = self.place(place)?;
        let own = self.own_line(script, place, others);
        match self.place(own).filter(|_| own != place) {
            Some(own) => Some(format!("{own}, in {words}")),
            None => Some(words),
        }
    }

    /// The place, if it is a line of the program. Otherwise the first of `others` that is one, or
    /// that which started the script.
    pub(crate) fn own_line(
        &self,
        script: u32,
        place: u32,
        others: impl IntoIterator<Item = u32>,
    ) -> u32 {
        let started = self.script(script).place;
        let all = std::iter::once(place).chain(others).chain([started]);
        let own = all.into_iter().find(|it| self.tables.places.is_own(*it));
        own.unwrap_or(place)
    }

    /// How a script was stopped: `by boss (3v1) after src/boss.rs:7:12`.
    pub(crate) fn stopped_words(&self, script: u32, stopped: &Stopped) -> String {
        let mut words = format!("by {}", self.name_and_id(stopped.by));
        if let Some(after) = self.place(stopped.after) {
            let _ = write!(words, " after {after}");
        }
        if let Some(owner) = self.owner(script).filter(|_| stopped.empties_owner) {
            let _ = write!(words, "; no script of its owner {owner} is left");
        }
        words
    }

    pub(crate) fn owner(&self, script: u32) -> Option<String> {
        let owner = self.script(script).owner;
        (owner != NONE).then(|| self.text(owner))
    }

    /// `boss (3v1)`.
    pub(crate) fn name_and_id(&self, script: u32) -> String {
        match self.label(script) {
            "" => self.name(script),
            label => format!("{} ({label})", self.name(script)),
        }
    }

    pub(crate) fn place(&self, place: u32) -> Option<String> {
        self.tables
            .places
            .get(place)
            .map(|place| text::visible(&place.to_string()))
    }

    /// What a script waits for, as [`framestep::inspect::Wait`] prints it.
    ///
    /// With a reading of the game clock, the text of a timer has the time left.
    pub(crate) fn wait(&self, wait: &Record, now: Option<u64>) -> String {
        let mut words = match wait.wait_kind() {
            WaitKind::Frame => "the next frame".to_owned(),
            WaitKind::Run => return format!("the next {}", crate::record::phase_word(wait.phase)),
            WaitKind::Condition => "a condition".to_owned(),
            WaitKind::Frames => text::counted(wait.value, "frame"),
            WaitKind::Steps => text::counted(wait.value, "step"),
            WaitKind::Timer => {
                let until = text::seconds(wait.value);
                match (crate::record::clock_word(wait.other), now) {
                    (Some(clock), _) => format!("until {until} of {clock}"),
                    (None, None) => format!("until {until}"),
                    (None, Some(now)) => {
                        let left = text::seconds(wait.value.saturating_sub(now));
                        format!("{left}, until {until}")
                    }
                }
            }
            WaitKind::Join => format!("the end of {}", self.name_and_id(wait.other)),
            WaitKind::Signal => format!("signal {}", self.text(wait.other)),
            WaitKind::Watch => format!("watch {}", self.text(wait.other)),
            WaitKind::Permit => format!("a permit of {}", self.text(wait.other)),
            WaitKind::Wake => "a wake".to_owned(),
            WaitKind::Never => "nothing (never resumes)".to_owned(),
            WaitKind::Other => self.text(wait.other),
        };
        if wait.phase != 0 && !crate::record::is_update(wait.phase) {
            words.push_str(", in ");
            words.push_str(&crate::record::phase_word(wait.phase));
        }
        words
    }

    fn permits(&self, record: &Record) -> String {
        let permits = text::counted(record.value, "permit");
        format!("{permits} of {}", self.text(record.other))
    }

    /// `for signal lever`, `until 3s`.
    pub(crate) fn for_wait(&self, wait: &Record) -> String {
        let what = self.wait(wait, None);
        if what.starts_with("until ") {
            what
        } else {
            format!("for {what}")
        }
    }

    /// What a script has waited for lately, the latest last: a line for each wait.
    pub(crate) fn last_waits(&self, lane: &Lane) -> Vec<String> {
        let waits = lane
            .waits
            .iter()
            .filter(|bar| bar.wait.wait_kind() != WaitKind::Wake);
        let mut lines: Vec<String> = Vec::new();
        let mut last: Option<&Bar> = None;
        let mut more = 0;
        for bar in waits.rev() {
            if last.is_some_and(|last| last.wait.is_same_wait(&bar.wait)) {
                more += 1;
                continue;
            }
            if let Some(line) = lines.last_mut().filter(|_| more > 0) {
                let _ = write!(line, ", and {} before it", text::counted(more, "such wait"));
            }
            if lines.len() == LAST_WAITS {
                more = 0;
                break;
            }
            more = 0;
            last = Some(bar);
            let mut line = format!("frame {}: {}", bar.since, self.for_wait(&bar.wait));
            if let Some(place) = self.line_of(lane.script, bar.wait.place(), lane.places()) {
                let _ = write!(line, " at {place}");
            }
            lines.push(line);
        }
        if let Some(line) = lines.last_mut().filter(|_| more > 0) {
            let _ = write!(line, ", and {} before it", text::counted(more, "such wait"));
        }
        lines.reverse();
        lines
    }

    /// What happened, in words.
    pub(crate) fn event(&self, record: &Record) -> String {
        let by = |name: u32| {
            if name == NONE {
                String::new()
            } else {
                format!(" by {}", self.text(name))
            }
        };
        match record.kind {
            Kind::FrameBegan => {
                format!(
                    "frame {} begins at {}",
                    record.frame(),
                    text::seconds(record.value)
                )
            }
            Kind::PhaseBegan => format!("{} begins", crate::record::phase_word(record.phase)),
            Kind::PhaseEnded => format!("{} ends", crate::record::phase_word(record.phase)),
            Kind::Spawned => {
                let [name, owner] = record.names().map(|name| self.text(name));
                let of = if owner.is_empty() {
                    owner
                } else {
                    format!(" of {owner}")
                };
                let by = match record.other {
                    NONE => String::new(),
                    parent => format!(" by {}", self.name_and_id(parent)),
                };
                format!("spawned{by}{of} as {}", text::without_path(&name))
            }
            Kind::Named => format!("named {}", self.text(record.other)),
            Kind::Resumed => format!("resumed{}", by(record.other)),
            Kind::Suspended => "suspended".to_owned(),
            Kind::Ended => match record.outcome() {
                framestep::task::Outcome::Finished => "finished",
                framestep::task::Outcome::Stopped => "stopped",
                framestep::task::Outcome::Panicked => "panicked",
            }
            .to_owned(),
            Kind::WaitBegan => format!("waits {}", self.for_wait(record)),
            Kind::WaitEnded => format!("no longer waits {}", self.for_wait(record)),
            Kind::Woken => {
                let through = match record.place {
                    NONE => String::new(),
                    name => format!(" through {}", self.text(name)),
                };
                format!("woken by {}{through}", self.name_and_id(record.other))
            }
            Kind::Paused => "paused".to_owned(),
            Kind::Unpaused => "resumed from a pause".to_owned(),
            Kind::Emitted => match record.place {
                NONE => format!("emits {}", self.text(record.other)),
                value => format!("emits {}: {}", self.text(record.other), self.text(value)),
            },
            Kind::Acquired => format!("gets {}", self.permits(record)),
            Kind::Released => format!("drops {}", self.permits(record)),
            Kind::Marked => format!("mark {}", self.text(record.other)),
            Kind::Valued => format!(
                "sees {}: {}",
                self.text(record.other),
                self.text(record.place)
            ),
            Kind::Hidden => "hidden by the filter".to_owned(),
        }
    }
}

impl fmt::Debug for Film {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Film")
            .field("events", &self.records.len())
            .field("dropped", &self.dropped)
            .field("hash", &self.hash())
            .finish_non_exhaustive()
    }
}

/// Equal films show the same events of the same scripts. The times of a stopwatch do not
/// count.
impl PartialEq for Film {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.difference(other).is_none()
    }
}

/// A film in a file.
#[derive(Serialize, Deserialize)]
struct Parts {
    framestep_timeline: Format,
    hash: u64,
    is_timed: bool,
    dropped: Dropped,
    names: Vec<String>,
    places: Vec<Place>,
    scripts: Vec<Script>,
    labels: Vec<String>,
    hidden: Vec<u32>,
    base: State,
    records: Vec<Record>,
    #[serde(default)]
    sources: Vec<Origin>,
    #[serde(default)]
    is_filtered: bool,
    #[serde(default)]
    continues: bool,
}

/// The version of a file. It is read first, so that nothing else of another version is.
#[derive(Serialize)]
struct Format(u32);

impl<'de> Deserialize<'de> for Format {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names_fields = deserializer.is_human_readable();
        let format = u32::deserialize(deserializer)?;
        match format {
            FORMAT => Ok(Format(format)),
            FORMAT_BEFORE if names_fields => Ok(Format(format)),
            FORMAT_BEFORE => Err(serde::de::Error::custom(format!(
                "this film has format {FORMAT_BEFORE}, which this version of framestep_timeline \
                 only reads from files with the names of fields, such as JSON; it writes format \
                 {FORMAT}"
            ))),
            format => Err(serde::de::Error::custom(format!(
                "this film has format {format}; this version of framestep_timeline reads format \
                 {FORMAT}"
            ))),
        }
    }
}

/// The version of the file format. The numbers of phases in a file depend on how many there are.
#[expect(clippy::cast_possible_truncation, reason = "a handful of phases")]
const FORMAT: u32 = 100 + Phase::NAMED.len() as u32;

/// The version before signals, watches and semaphores had an identity.
#[expect(clippy::cast_possible_truncation, reason = "a handful of phases")]
const FORMAT_BEFORE: u32 = 1 + Phase::NAMED.len() as u32;

impl From<Film> for Parts {
    fn from(film: Film) -> Self {
        let hidden = film
            .shown
            .iter()
            .zip(0..)
            .skip(1)
            .filter(|(shown, _)| !**shown);
        Parts {
            framestep_timeline: Format(FORMAT),
            continues: film.lacks_the_end(),
            sources: film.tables.sources.into_values().collect(),
            is_filtered: film.is_filtered,
            hash: film.hash,
            is_timed: film.is_timed,
            dropped: film.dropped,
            names: film
                .tables
                .names
                .texts()
                .iter()
                .map(ToString::to_string)
                .collect(),
            places: film.tables.places.all().to_vec(),
            hidden: hidden.map(|(_, number)| number).collect(),
            scripts: film.tables.scripts,
            labels: film.labels,
            base: film.base,
            records: film.records,
        }
    }
}

impl TryFrom<Parts> for Film {
    type Error = String;

    fn try_from(parts: Parts) -> Result<Self, String> {
        parts.check()?;
        let mut shown = vec![true; parts.scripts.len()];
        shown[0] = false;
        for hidden in parts.hidden {
            shown[hidden as usize] = false;
        }
        let names = Names::from_texts(&parts.names);
        let sources = parts.sources.into_iter();
        let sources = sources.map(|origin| (origin.number, origin));
        Ok(Film {
            base: parts.base,
            records: parts.records,
            tables: Tables::from_parts(
                names,
                Places::from_places(parts.places),
                parts.scripts,
                sources.collect(),
            ),
            labels: parts.labels,
            shown,
            dropped: parts.dropped,
            is_timed: parts.is_timed,
            is_filtered: parts.is_filtered,
            whole: None,
            continues: parts.continues,
            hash: parts.hash,
        })
    }
}

impl Parts {
    /// Checks a film from a file, which can contain anything. Afterwards, all numbers are
    /// valid.
    fn check(&self) -> Result<(), String> {
        let limits = [self.scripts.len(), self.names.len(), self.places.len()];
        if limits.contains(&0) || self.labels.len() != self.scripts.len() {
            return Err("the film has no tables: is the file complete?".to_owned());
        }
        let check = |what: &str, at: usize, which: usize, number: u32| {
            if (number as usize) < limits[which] {
                return Ok(());
            }
            let table = ["script", "name", "place"][which];
            Err(format!(
                "{what} {at} refers to {table} {number}, and there are {}",
                limits[which]
            ))
        };
        let record = |what: &str, at: usize, record: &Record| {
            check(what, at, 0, record.script)?;
            check(what, at, 0, record.other_script().unwrap_or(NONE))?;
            check(what, at, 1, record.names()[0])?;
            check(what, at, 1, record.names()[1])?;
            check(what, at, 2, record.place())
        };
        for (at, script) in self.scripts.iter().enumerate() {
            check("script", at, 1, script.name)?;
            check("script", at, 1, script.owner)?;
            check("script", at, 0, script.parent)?;
            check("script", at, 2, script.place)?;
        }
        for (at, event) in self.records.iter().enumerate() {
            record("event", at, event)?;
        }
        for (at, live) in self.base.live.iter().enumerate() {
            check("state", at, 0, live.paused.map_or(NONE, |(_, by)| by))?;
            for open in &live.waits {
                record("state", at, &open.record)?;
            }
        }
        if self.base.live.len() > self.scripts.len() {
            return Err("the film has states of more scripts than it has scripts".to_owned());
        }
        for (at, origin) in self.sources.iter().enumerate() {
            check("source", at, 1, origin.number)?;
            check("source", at, 1, origin.base)?;
            check("source", at, 2, origin.place)?;
        }
        for (at, held) in self.base.held.iter().enumerate() {
            check("permit", at, 0, held.script)?;
            check("permit", at, 1, held.name)?;
            check("permit", at, 2, held.place)?;
        }
        for (at, emitted) in self.base.emitted.iter().enumerate() {
            check("emission", at, 0, emitted.script)?;
            check("emission", at, 1, emitted.name)?;
            check("emission", at, 1, emitted.value)?;
        }
        for &running in &self.base.running {
            check("state", 0, 0, running)?;
        }
        for &hidden in &self.hidden {
            check("hidden script", 0, 0, hidden)?;
        }
        Ok(())
    }
}
