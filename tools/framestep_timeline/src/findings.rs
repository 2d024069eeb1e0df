//! What a reader of a film looks for first: scripts that are stuck, or that take too long.

use std::collections::HashMap;
use std::fmt::{self, Write as _};

use framestep::Outcome;

use crate::film::Film;
use crate::lanes::{Bar, Lane, Lanes, Pause, Poll};
use crate::record::{NONE, WaitKind};
use crate::text;

/// A shorter wait or pause is nothing special.
const MANY_FRAMES: u64 = 10;
/// More polls of one script in a frame are suspicious.
const MANY_POLLS: usize = 20;
/// A poll that takes longer holds up the frame: a quarter of a frame at 60 a second.
const LONG_POLL: u64 = 4_000_000;
/// A single long poll may be the fault of other programs, unless it takes a whole frame.
const WHOLE_FRAME: u64 = 16_000_000;
/// More findings of one kind are only counted.
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
    /// Scripts wait for each other's end.
    Cycle,
    /// A script waits for nothing, and never resumes.
    Never,
    /// Several polls of a script took four milliseconds or longer, or one took sixteen.
    /// Needs a [stopwatch](crate::Recorder::stopwatch).
    LongPoll,
    /// A script was polled more than twenty times in one frame.
    ManyPolls,
    /// A script was paused ten frames before the end of the film or earlier, and still is.
    Paused,
    /// A script waits for a signal that has not been emitted for ten frames or longer.
    NoSignal,
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
        let lanes = self.lanes();
        let mut findings = Finder {
            film: self,
            lanes: &lanes,
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
}

impl Finder<'_> {
    fn find(&self) -> Vec<Finding> {
        let mut findings = self.cycles();
        for lane in &self.lanes.lanes {
            findings.extend(self.panic(lane));
            findings.extend(self.long_poll(lane));
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
        let place = self.film.place(if place == NONE {
            self.film.script(lane.script).place
        } else {
            place
        });
        let at = place
            .as_ref()
            .map_or(String::new(), |place| format!(" ({place})"));
        Finding {
            kind,
            frame,
            text: format!("{script} {text}{at}"),
            script,
            place,
        }
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
        let text = format!("panicked in frame {frame}");
        Some(self.finding(FindingKind::Panicked, lane, frame, place, &text))
    }

    fn long_poll(&self, lane: &Lane) -> Option<Finding> {
        let own = |poll: &Poll| {
            let took = poll.stamps.1.saturating_sub(poll.stamps.0);
            took.saturating_sub(poll.inner)
        };
        let longest = lane.polls.iter().max_by_key(|poll| own(poll))?;
        let long = lane
            .polls
            .iter()
            .filter(|poll| own(poll) >= LONG_POLL)
            .count();
        if !self.film.is_timed || (long < 2 && own(longest) < WHOLE_FRAME) {
            return None;
        }
        let frame = self.frame(longest.from.column);
        let text = format!(
            "took {} in one poll, in frame {frame}; {} of its {} took 4 ms or longer",
            text::about(own(longest)),
            text::count(long as u64),
            text::counted(lane.polls.len() as u64, "poll"),
        );
        Some(self.finding(FindingKind::LongPoll, lane, frame, longest.place, &text))
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
            "was polled {} times in frame {frame}",
            text::count(most.len() as u64)
        );
        Some(self.finding(FindingKind::ManyPolls, lane, frame, place, &text))
    }

    fn pause(&self, lane: &Lane, pause: &Pause) -> Option<Finding> {
        if self.last_frame().saturating_sub(pause.since) < MANY_FRAMES {
            return None;
        }
        let open = lane.waits.iter().find(|bar| bar.to.is_none());
        let place = open.map_or(NONE, |bar| bar.wait.place());
        let by = self.film.name_and_id(pause.by);
        let text = format!(
            "is paused since frame {}, by {by}, and nobody has resumed it",
            pause.since
        );
        Some(self.finding(FindingKind::Paused, lane, pause.since, place, &text))
    }

    fn stuck(&self, lane: &Lane) -> Option<Finding> {
        let bar = only_wait(lane)?;
        let (wait, since) = (&bar.wait, bar.since);
        let what = self.film.wait(wait, None);
        let kind = wait.wait_kind();
        if kind == WaitKind::Never {
            let text = format!("never resumes: since frame {since} it waits for nothing");
            return Some(self.finding(FindingKind::Never, lane, since, wait.place(), &text));
        }
        if self.last_frame().saturating_sub(since) < MANY_FRAMES {
            return None;
        }
        let text = format!("waits for {what} since frame {since}");
        let (kind, text) = match kind {
            WaitKind::Signal => {
                let emits = self
                    .lanes
                    .emits
                    .iter()
                    .filter(|emit| emit.name == wait.other);
                let before = emits.clone().rfind(|emit| emit.at < bar.from);
                if emits.clone().any(|emit| emit.at >= bar.from) {
                    return None;
                }
                let last = before.map_or("nobody has emitted it since".to_owned(), |emit| {
                    format!(
                        "it was emitted for the last time before that, in frame {}",
                        self.frame(emit.at.column)
                    )
                });
                (FindingKind::NoSignal, format!("{text}, and {last}"))
            }
            WaitKind::Watch | WaitKind::Permit | WaitKind::Wake => (FindingKind::LongWait, text),
            _ => return None,
        };
        Some(self.finding(kind, lane, since, wait.place(), &text))
    }

    fn cycles(&self) -> Vec<Finding> {
        let mut next: HashMap<u32, (u32, &Bar, &Lane)> = HashMap::new();
        for lane in self.lanes.lanes.iter().filter(|lane| lane.ended.is_none()) {
            if let Some(bar) = only_wait(lane) {
                if bar.wait.wait_kind() == WaitKind::Join {
                    next.insert(lane.script, (bar.wait.other, bar, lane));
                }
            }
        }
        let mut done: HashMap<u32, u32> = HashMap::new();
        let mut findings = Vec::new();
        for lane in &self.lanes.lanes {
            let mut script = lane.script;
            // Each walk has its own mark: a walk that meets its own has found a cycle.
            while !done.contains_key(&script) && next.contains_key(&script) {
                done.insert(script, lane.script);
                script = next[&script].0;
            }
            if done.get(&script) == Some(&lane.script) && next.contains_key(&script) {
                findings.push(self.cycle(script, &next));
                done.insert(script, NONE);
            }
        }
        findings
    }

    fn cycle(&self, first: u32, next: &HashMap<u32, (u32, &Bar, &Lane)>) -> Finding {
        let (mut others, mut since) = (Vec::new(), 0);
        let mut script = first;
        loop {
            let (joined, bar, _) = next[&script];
            since = since.max(bar.since);
            others.push(match self.film.place(bar.wait.place()) {
                Some(place) if script != first => {
                    format!("{} ({place})", self.film.name_and_id(script))
                }
                _ => self.film.name_and_id(script),
            });
            script = joined;
            if script == first {
                break;
            }
        }
        others.remove(0);
        others.push(self.film.name(first));
        let others = others.join(", which waits for the end of ");
        let text = format!("waits for the end of {others}: a cycle since frame {since}");
        let (_, bar, lane) = next[&first];
        self.finding(FindingKind::Cycle, lane, since, bar.wait.place(), &text)
    }
}

/// The wait of a script that waits for nothing else. (A waker that it may have given away
/// does not count.)
fn only_wait(lane: &Lane) -> Option<&Bar> {
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
