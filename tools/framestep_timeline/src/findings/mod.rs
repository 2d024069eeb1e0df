//! Findings: scripts that are stuck, or that take too long.

mod cycle;
mod events;
mod race;
mod slow;

use std::collections::HashMap;
use std::fmt::{self, Write as _};

use framestep::Outcome;

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
        let mut findings = Finder {
            film: self,
            lanes: &lanes,
            by_script: lanes
                .lanes
                .iter()
                .map(|lane| lane.script)
                .zip(0..)
                .collect(),
        }
        .find();
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

struct Finder<'a> {
    film: &'a Film,
    lanes: &'a Lanes,
    /// The position of the lane of each script.
    by_script: HashMap<u32, usize>,
}

impl Finder<'_> {
    fn find(&self) -> Vec<Finding> {
        let mut findings = self.cycles();
        let shown = |lane: &&Lane| self.film.is_shown(lane.script);
        findings.extend(self.other_sources());
        for lane in self.lanes.lanes.iter().filter(shown) {
            findings.extend(self.panic(lane));
            findings.extend(self.long_poll(lane).or_else(|| self.outliers(lane)));
            findings.extend(self.lost_branch(lane));
            findings.extend(self.many_polls(lane));
            if lane.ended.is_some() {
                continue;
            }
            match lane.pauses.last().filter(|pause| pause.to.is_none()) {
                Some(pause) => findings.extend(self.pause(lane, pause)),
                None => findings.extend(self.stuck(lane)),
            }
        }
        findings
    }

    fn finding(
        &self,
        kind: FindingKind,
        lane: &Lane,
        frame: u64,
        place: u32,
        text: &str,
    ) -> Finding {
        let script = self.film.name_and_id(lane.script);
        Finding {
            kind,
            frame,
            text: format!("{script} {text}"),
            script,
            place: self.film.place(self.known(lane, place)),
        }
    }

    /// The place, or else the line that started the script.
    fn known(&self, lane: &Lane, place: u32) -> u32 {
        if place == NONE {
            self.film.script(lane.script).place
        } else {
            place
        }
    }

    /// ` (file:line:column)`, if that is known.
    fn line(&self, lane: &Lane, place: u32) -> String {
        let place = self.film.place(self.known(lane, place));
        place.map_or(String::new(), |place| format!(" ({place})"))
    }

    /// The lane of a script.
    fn lane(&self, script: u32) -> Option<&Lane> {
        self.by_script.get(&script).map(|at| &self.lanes.lanes[*at])
    }

    fn frame(&self, column: usize) -> u64 {
        self.lanes.columns[column].frame
    }

    fn last_frame(&self) -> u64 {
        self.lanes.columns.last().map_or(0, |column| column.frame)
    }

    fn panic(&self, lane: &Lane) -> Option<Finding> {
        let (at, _) = lane
            .ended
            .filter(|(_, outcome)| *outcome == Outcome::Panicked)?;
        let frame = self.frame(at.column);
        let place = lane.polls.last().map_or(NONE, |poll| poll.place);
        let text = format!("panicked in frame {frame}{}", self.line(lane, place));
        Some(self.finding(FindingKind::Panicked, lane, frame, place, &text))
    }

    fn many_polls(&self, lane: &Lane) -> Option<Finding> {
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

    fn pause(&self, lane: &Lane, pause: &Pause) -> Option<Finding> {
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
