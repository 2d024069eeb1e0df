//! Findings: scripts that are stuck, or that take too long.

mod clocks;
mod cycle;
mod events;
mod missed;
mod passed;
mod permits;
mod race;
mod slow;
mod stops;

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Write as _};
use std::ops::RangeInclusive;
use std::sync::Arc;

use framestep::task::Outcome;

use crate::film::Film;
use crate::lanes::{Bar, Lane, Lanes, Pause};
use crate::record::{NONE, WaitKind};
use crate::text;

/// Shorter waits and pauses are not reported.
pub(crate) const MANY_FRAMES: u64 = 10;
/// More polls of one script in a frame are suspicious.
const MANY_POLLS: usize = 20;
/// More findings of the same kind are only counted.
const MOST_OF_A_KIND: usize = 3;

/// Something in a film that may be a bug.
///
/// It prints as a sentence with the script, the frame and the line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The frame in which it began.
    pub frame: u64,
    /// The name and id of the script.
    pub script: String,
    /// The line of code.
    pub place: Option<String>,
    text: String,
}

/// What a [`Finding`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FindingKind {
    /// A script panicked.
    Panicked,
    /// Scripts wait for each other: for an end, for permits that another one holds, or for a
    /// signal or a watch that only another one has emitted.
    Cycle,
    /// Scripts wait for a signal or a watch, and another one of that name is emitted.
    OtherSource,
    /// A signal is emitted while nobody waits for it, and a script begins to wait for it soon
    /// after. It was several times, or the script never gets one.
    MissedEvent,
    /// The script that took permits has ended, and they were not given back. Others have waited
    /// for such permits since.
    LostPermits,
    /// A script waits for a watch, and that was set more often since than in its earlier waits
    /// there: the value may have passed that for which it waits.
    PassedValue,
    /// A script was stopped with the last scripts of its owner. It had replaced one of another
    /// owner.
    StoppedWithOwner,
    /// A script waits for nothing, so it never resumes.
    Never,
    /// Several polls of a script took four milliseconds or longer, or one took sixteen.
    /// Needs a [stopwatch](crate::Recorder::stopwatch).
    LongPoll,
    /// Some polls of a script took at least a millisecond, and twenty times as long as most of
    /// its polls. Needs a [stopwatch](crate::Recorder::stopwatch).
    Outliers,
    /// A script was polled more than twenty times in one frame.
    ManyPolls,
    /// A script has been paused for the last ten frames of the film or longer.
    Paused,
    /// A script waits for a signal that has not been emitted for ten frames or longer.
    NoSignal,
    /// A script has left a race, and the event of a branch that had lost came soon after, to
    /// nobody.
    LostBranch,
    /// A script has waited for a watch, a permit or a wake for ten frames or longer.
    LongWait,
    /// A script waits on another clock than usual, and the waits of that line are not equally
    /// long on the game clock.
    OtherClock,
}

impl Film {
    /// Looks for scripts that are stuck or take too long. The most serious come first.
    ///
    /// These are hints: a script may wait for a signal on purpose.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    /// use framestep_timeline::Recorder;
    ///
    /// let mut executor = Executor::new();
    /// let recorder = Recorder::new();
    /// recorder.watch(&executor);
    /// let lever = Signal::<()>::new().named("lever");
    /// let waiting = lever.clone();
    /// executor.script("gate").start(async move { waiting.wait().await });
    /// executor.run_frames(30, 0.25);
    ///
    /// let findings = recorder.film().findings();
    /// assert!(findings[0].to_string().starts_with(
    ///     "gate (0v1) waits for signal lever since frame 0, and nobody has emitted it since"
    /// ));
    /// ```
    pub fn findings(&self) -> Vec<Finding> {
        let lanes = Lanes::of_all(self);
        let finder = Finder::new(self, &lanes);
        let mut found = finder.of_polls();
        match &self.whole {
            Some(whole) => {
                let known = whole.known.get_or_init(|| Known::of(&whole.film));
                let found_in = self.range();
                let is_here = |it: &&Found| found_in.as_ref().is_some_and(|here| it.is_in(here));
                found.extend(known.found.iter().filter(is_here).cloned());
            }
            None => found.extend(finder.of_events()),
        }
        found.retain(|found| found.scripts.iter().any(|script| self.is_shown(*script)));
        let mut findings: Vec<Finding> = found.into_iter().map(|found| found.finding).collect();
        findings.sort_by_key(|finding| (finding.kind, finding.frame));
        let mut seen: HashMap<FindingKind, usize> = HashMap::new();
        for finding in &findings {
            *seen.entry(finding.kind).or_default() += 1;
        }
        let mut shown: HashMap<FindingKind, usize> = HashMap::new();
        findings.retain_mut(|finding| {
            let number = shown.entry(finding.kind).or_default();
            *number += 1;
            let more = seen[&finding.kind].saturating_sub(MOST_OF_A_KIND);
            if *number == MOST_OF_A_KIND && more > 0 {
                let more = text::count(more as u64);
                let _ = write!(finding.text, " (and {more} more like this)");
            }
            *number <= MOST_OF_A_KIND
        });
        findings
    }
}

/// A finding, and what decides whether a part of a film has it.
#[derive(Clone, Debug)]
struct Found {
    finding: Finding,
    /// It is not told if none of them is shown.
    scripts: Vec<u32>,
    /// The last frame in which it can be seen: the last of all, unless it is over.
    until: u64,
}

impl Found {
    /// It is over in this frame.
    fn until(mut self, frame: u64) -> Self {
        self.until = frame;
        self
    }

    /// It is about these scripts as well.
    fn with(mut self, scripts: impl IntoIterator<Item = u32>) -> Self {
        self.scripts.extend(scripts);
        self
    }

    fn is_in(&self, frames: &RangeInclusive<u64>) -> bool {
        self.finding.frame <= *frames.end() && self.until >= *frames.start()
    }
}

/// What the parts of a film have to know of the whole one.
#[derive(Debug)]
pub(crate) struct Known {
    found: Vec<Found>,
    rest: Arc<Rest>,
}

impl Known {
    fn of(film: &Film) -> Known {
        let lanes = Lanes::of_all(film);
        Known {
            found: Finder::new(film, &lanes).of_events(),
            rest: Arc::new(Rest::of(film, &lanes)),
        }
    }
}

/// What the picture of a part has to know of the whole film.
#[derive(Debug)]
pub(crate) struct Rest {
    /// The scripts that wait to the end, for long, for what something else must do; and the first
    /// frames of these waits.
    endless: HashSet<(u32, u64)>,
    /// Of scripts whose timers are on several clocks: the usual one.
    clocks: HashMap<u32, u32>,
}

impl Rest {
    fn of(film: &Film, lanes: &Lanes) -> Rest {
        let last = lanes.columns.last().map_or(0, |column| column.frame);
        let is_long = |bar: &&Bar| {
            bar.wait.wait_kind().has_cause() && last.saturating_sub(bar.since) >= MANY_FRAMES
        };
        let live = lanes.lanes.iter().filter(|lane| lane.ended.is_none());
        let endless = live.filter_map(|lane| {
            let bar = only_wait(lane).filter(is_long)?;
            Some((lane.script, bar.since))
        });
        let clocks = lanes.lanes.iter();
        let clocks = clocks.filter_map(|lane| Some((lane.script, lane.clock?)));
        Rest {
            endless: endless.filter(|_| !film.continues).collect(),
            clocks: clocks.collect(),
        }
    }

    /// Whether a wait lasts to the end of the recording.
    pub(crate) fn is_endless(&self, lane: &Lane, bar: &Bar) -> bool {
        bar.to.is_none() && self.endless.contains(&(lane.script, bar.since))
    }

    /// Whether a wait is on another clock than most of the script's timers.
    pub(crate) fn is_on_other_clock(&self, lane: &Lane, bar: &Bar) -> bool {
        let usual = self.clocks.get(&lane.script);
        usual.is_some_and(|usual| bar.is_not_on(*usual))
    }
}

impl Film {
    pub(crate) fn rest(&self, lanes: &Lanes) -> Arc<Rest> {
        match &self.whole {
            Some(whole) => {
                let known = whole.known.get_or_init(|| Known::of(&whole.film));
                known.rest.clone()
            }
            None => Arc::new(Rest::of(self, lanes)),
        }
    }
}

struct Finder<'a> {
    film: &'a Film,
    lanes: &'a Lanes,
    /// The position of the lane of each script.
    by_script: HashMap<u32, usize>,
}

impl<'a> Finder<'a> {
    fn new(film: &'a Film, lanes: &'a Lanes) -> Self {
        let scripts = lanes.lanes.iter().map(|lane| lane.script);
        Finder {
            film,
            lanes,
            by_script: scripts.zip(0..).collect(),
        }
    }
}

impl Finder<'_> {
    /// Findings for which the frames themselves suffice.
    fn of_polls(&self) -> Vec<Found> {
        let mut found = Vec::new();
        for lane in &self.lanes.lanes {
            found.extend(self.panic(lane));
            found.extend(self.long_poll(lane).or_else(|| self.outliers(lane)));
            found.extend(self.many_polls(lane));
        }
        found
    }

    /// Findings that depend on what comes later.
    fn of_events(&self) -> Vec<Found> {
        let missed = self.missed();
        let mut found: Vec<Found> = missed
            .iter()
            .filter_map(|it| self.missed_event(it))
            .collect();
        let told = missed::told(&missed);
        found.extend(self.stopped_with_owner());
        for lane in &self.lanes.lanes {
            found.extend(self.lost_branch(lane, &told));
            found.extend(self.other_clock(lane));
        }
        // Nobody knows whether a wait at the end of such a film is long.
        if self.film.continues {
            return found;
        }
        found.extend(self.lost_permits());
        found.extend(self.cycles());
        found.extend(self.other_sources());
        let (passed, waits) = self.passed_values();
        found.extend(passed);
        for lane in self.lanes.lanes.iter().filter(|lane| lane.ended.is_none()) {
            match lane.pauses.last().filter(|pause| pause.to.is_none()) {
                Some(pause) => found.extend(self.pause(lane, pause)),
                None => found.extend(self.stuck(lane).filter(|found| {
                    let wait = (lane.script, found.finding.frame);
                    !told.waits.contains(&wait) && !waits.contains(&wait)
                })),
            }
        }
        found
    }

    fn finding(&self, kind: FindingKind, lane: &Lane, frame: u64, place: u32, text: &str) -> Found {
        self.found(kind, lane.script, frame, self.known(lane, place), text)
    }

    /// A finding about a script that may have no lane.
    fn found(&self, kind: FindingKind, script: u32, frame: u64, place: u32, text: &str) -> Found {
        let scripts = vec![script];
        let script = self.film.name_and_id(script);
        Found {
            finding: Finding {
                kind,
                frame,
                text: format!("{script} {text}"),
                script,
                place: self.film.place(place),
            },
            scripts,
            until: u64::MAX,
        }
    }

    /// The place, if it is a line of the program. Otherwise another of the script.
    fn known(&self, lane: &Lane, place: u32) -> u32 {
        match place {
            NONE => self.film.script(lane.script).place,
            place => self.film.own_line(lane.script, place, lane.places()),
        }
    }

    /// ` (file:line:column)`, if that is known.
    fn line(&self, lane: &Lane, place: u32) -> String {
        let known = match place {
            NONE => self.film.script(lane.script).place,
            place => place,
        };
        let line = self.film.line_of(lane.script, known, lane.places());
        line.map_or(String::new(), |line| format!(" ({line})"))
    }

    /// The lane of a script.
    fn lane(&self, script: u32) -> Option<&Lane> {
        self.by_script.get(&script).map(|at| &self.lanes.lanes[*at])
    }

    fn frame(&self, column: usize) -> u64 {
        self.lanes.columns[column].frame
    }

    /// ` after file:line:column`, if that is known.
    fn after_words(&self, place: u32) -> String {
        let place = self.film.place(place);
        place.map_or(String::new(), |place| format!(" after {place}"))
    }

    /// Whether the source for which a script waited has ended the wait.
    fn was_served(lane: &Lane, bar: &Bar) -> bool {
        let poll = bar.to.and_then(|to| lane.poll_at(to));
        poll.is_some_and(|poll| poll.by == bar.wait.other)
    }

    /// How many frames a wait took, or has taken so far.
    fn length(&self, bar: &Bar) -> u64 {
        let to = bar.to.map_or(self.last_frame(), |to| self.frame(to.column));
        to.saturating_sub(bar.since)
    }

    fn last_frame(&self) -> u64 {
        self.lanes.columns.last().map_or(0, |column| column.frame)
    }

    fn panic(&self, lane: &Lane) -> Option<Found> {
        let (at, _) = lane
            .ended
            .filter(|(_, outcome)| *outcome == Outcome::Panicked)?;
        let frame = self.frame(at.column);
        let place = lane.polls.last().map_or(NONE, |poll| poll.place);
        let text = format!("panicked in frame {frame}{}", self.line(lane, place));
        Some(self.finding(FindingKind::Panicked, lane, frame, place, &text))
    }

    fn many_polls(&self, lane: &Lane) -> Option<Found> {
        let frames = lane.polls.chunk_by(|a, b| a.from.column == b.from.column);
        let most = frames.max_by_key(|polls| polls.len())?;
        let steps = |column: usize| self.lanes.columns[column].runs.len();
        if most.len() <= MANY_POLLS.max(steps(most[0].from.column)) {
            return None;
        }
        let frame = self.frame(most[0].from.column);
        let place = most.last().map_or(NONE, |poll| poll.place);
        let text = format!(
            "was polled {} times in frame {frame}{}",
            text::count(most.len() as u64),
            self.line(lane, place)
        );
        Some(self.finding(FindingKind::ManyPolls, lane, frame, place, &text))
    }

    fn pause(&self, lane: &Lane, pause: &Pause) -> Option<Found> {
        if self.last_frame().saturating_sub(pause.since) < MANY_FRAMES {
            return None;
        }
        let open = lane.waits.iter().find(|bar| bar.to.is_none());
        let place = open.map_or(NONE, |bar| bar.wait.place());
        let text = format!(
            "has been paused since frame {}, by {}; nobody has resumed {}{}",
            pause.since,
            self.pauser(pause),
            self.film.name(lane.script),
            self.film.place(place).map_or(String::new(), |place| {
                format!(", which waits at {place}")
            })
        );
        Some(self.finding(FindingKind::Paused, lane, pause.since, place, &text))
    }

    /// Which script has paused another, after which line, and whether it has ended since.
    fn pauser(&self, pause: &Pause) -> String {
        let mut text = self.film.name_and_id(pause.by);
        if let Some(after) = self.film.place(pause.after) {
            let _ = write!(text, " after {after}");
        }
        let lane = self.lane(pause.by);
        if let Some((at, outcome)) = lane.and_then(|lane| lane.ended) {
            let how = match outcome {
                Outcome::Finished => "has finished",
                Outcome::Stopped => "was stopped",
                Outcome::Panicked => "panicked",
            };
            let _ = write!(text, ", which {how} in frame {}", self.frame(at.column));
        }
        text
    }
}

/// The only wait of a script. (A waker that it may have passed on does not count.)
pub(crate) fn only_wait(lane: &Lane) -> Option<&Bar> {
    let mut open = lane.waits.iter().filter(|bar| bar.to.is_none());
    let is_wake = |bar: &&Bar| bar.wait.wait_kind() == WaitKind::Wake;
    let mut others = open.clone().filter(|bar| !is_wake(bar));
    match (others.next(), others.next()) {
        (Some(only), None) => Some(only),
        (None, None) => open.next(),
        _ => None,
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}
