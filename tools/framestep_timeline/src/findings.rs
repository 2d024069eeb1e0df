//! Findings: scripts that are stuck, or that take too long.

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Write as _};

use framestep::Outcome;

use crate::film::Film;
use crate::lanes::{Bar, Emit, Lane, Lanes, Pause};
use crate::record::{NONE, WaitKind};
use crate::text;

/// Shorter waits and pauses are not reported.
const MANY_FRAMES: u64 = 10;
/// More polls of one script in a frame are suspicious.
const MANY_POLLS: usize = 20;
/// A single long poll may be the fault of other programs, unless it takes a whole frame.
const WHOLE_FRAME: u64 = 16_000_000;
/// The most emissions of other signals that a finding names.
const MOST_EMISSIONS: usize = 2;
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
    /// Scripts wait for each other's end.
    Cycle,
    /// A script waits for nothing, so it never resumes.
    Never,
    /// Several polls of a script took four milliseconds or longer, or one took sixteen.
    /// Needs a [stopwatch](crate::Recorder::stopwatch).
    LongPoll,
    /// A script was polled more than twenty times in one frame.
    ManyPolls,
    /// A script has been paused for the last ten frames of the film or longer.
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

    fn long_poll(&self, lane: &Lane) -> Option<Finding> {
        let longest = lane.polls.iter().max_by_key(|poll| poll.took())?;
        let long = lane.polls.iter().filter(|poll| poll.is_long()).count();
        if !self.film.is_timed || (long < 2 && longest.took() < WHOLE_FRAME) {
            return None;
        }
        let frame = self.frame(longest.from.column);
        let (place, after) = if longest.place == NONE {
            (self.film.script(lane.script).place, "its start")
        } else {
            (longest.place, "the .await")
        };
        let after = self
            .film
            .place(place)
            .map_or(String::new(), |place| format!(", after {after} at {place}"));
        let text = format!(
            "took {} in one poll, in frame {frame}{after}; {} of its {} took 4 ms or longer",
            text::about(longest.took()),
            text::count(long as u64),
            text::counted(lane.polls.len() as u64, "poll"),
        );
        Some(self.finding(FindingKind::LongPoll, lane, frame, place, &text))
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
        let mut lanes = self.lanes.lanes.iter();
        let lane = lanes.find(|lane| lane.script == pause.by);
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

    fn stuck(&self, lane: &Lane) -> Option<Finding> {
        let bar = only_wait(lane)?;
        let (wait, since) = (&bar.wait, bar.since);
        let what = self.film.wait(wait, None);
        let line = self.line(lane, wait.place());
        let kind = wait.wait_kind();
        if kind == WaitKind::Never {
            let text = format!("never resumes: since frame {since} it waits for nothing{line}");
            return Some(self.finding(FindingKind::Never, lane, since, wait.place(), &text));
        }
        if self.last_frame().saturating_sub(since) < MANY_FRAMES {
            return None;
        }
        let text = format!("waits for {what} since frame {since}");
        let (kind, text) = match kind {
            WaitKind::Signal => {
                let mut emits = self.lanes.emits.iter();
                let emits = emits.by_ref().filter(|emit| emit.name == wait.other);
                let last = emits.last();
                if last.is_some_and(|emit| emit.at >= bar.from) {
                    return None;
                }
                let last = match last {
                    None => "nobody has emitted it since".to_owned(),
                    Some(emit) => format!(
                        "it was emitted for the last time before that, in frame {}",
                        self.frame(emit.at.column)
                    ),
                };
                let others = self.other_emissions(wait.other);
                let text = format!("{text}, and {last}{line}{others}");
                (FindingKind::NoSignal, text)
            }
            WaitKind::Watch | WaitKind::Permit | WaitKind::Wake => {
                (FindingKind::LongWait, format!("{text}{line}"))
            }
            _ => return None,
        };
        Some(self.finding(kind, lane, since, wait.place(), &text))
    }

    /// What was emitted instead: signals with similar names; if there are none, signals
    /// that no script waits for.
    fn other_emissions(&self, wanted: u32) -> String {
        let mut last: HashMap<u32, &Emit> = HashMap::new();
        for emit in &self.lanes.emits {
            last.insert(emit.name, emit);
        }
        let mut others: Vec<&Emit> = last.into_values().collect();
        others.sort_by_key(|emit| (emit.at, emit.name));
        let wanted = self.film.text(wanted);
        let is_similar = |emit: &&Emit| text::is_similar(&wanted, &self.film.text(emit.name));
        let mut instead = "";
        if others.iter().any(is_similar) {
            others.retain(is_similar);
        } else {
            let waits = self.lanes.lanes.iter().flat_map(|lane| &lane.waits);
            let awaited: HashSet<u32> = waits.map(|bar| bar.wait.names()[0]).collect();
            others.retain(|emit| !awaited.contains(&emit.name));
            instead = ", for which no script waits";
        }
        let list: Vec<String> = others
            .iter()
            .rev()
            .take(MOST_EMISSIONS)
            .map(|emit| {
                let after = self.film.place(emit.after);
                format!(
                    "{} emitted {} in frame {}{}",
                    self.film.name_and_id(emit.source),
                    self.film.text(emit.name),
                    self.frame(emit.at.column),
                    after.map_or(String::new(), |after| format!(" after {after}")),
                )
            })
            .collect();
        if list.is_empty() {
            return String::new();
        }
        format!("; {}{instead}", list.join(", "))
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
            // Each walk has its own mark. A walk that meets its own mark has found a
            // cycle.
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

    /// Each line comes after the script that waits there.
    fn cycle(&self, first: u32, next: &HashMap<u32, (u32, &Bar, &Lane)>) -> Finding {
        let (mut text, mut since) = (String::new(), 0);
        let mut script = first;
        loop {
            let (joined, bar, _) = next[&script];
            since = since.max(bar.since);
            let at = self.film.place(bar.wait.place());
            let at = at.map_or(String::new(), |place| format!(" at {place}"));
            let which = if script == first { "" } else { ", which " };
            let other = match joined {
                joined if joined == first => self.film.name(joined),
                joined => self.film.name_and_id(joined),
            };
            let _ = write!(text, "{which}waits{at} for the end of {other}");
            script = joined;
            if script == first {
                break;
            }
        }
        let (_, bar, lane) = next[&first];
        Finding {
            kind: FindingKind::Cycle,
            frame: since,
            text: format!(
                "{} {text}: a cycle since frame {since}",
                self.film.name_and_id(first)
            ),
            script: self.film.name_and_id(lane.script),
            place: self.film.place(bar.wait.place()),
        }
    }
}

/// The only wait of a script. (A waker that it may have passed on does not count.)
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
