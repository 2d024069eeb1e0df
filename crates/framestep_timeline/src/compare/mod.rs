//! The first event in which two runs differ.

mod next;

use std::fmt;

use crate::film::Film;
use crate::record::{Kind, NONE, Record, phase_word};
use crate::state::State;

use next::Next;

/// The first difference between two runs.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
/// use framestep_timeline::{Film, Recorder};
///
/// fn run(length: f64) -> Film {
///     let mut executor = Executor::new();
///     let recorder = Recorder::new();
///     recorder.watch(&executor);
///     executor.script("door").start(wait_seconds(length));
///     executor.run_frames(4, 0.25);
///     recorder.film()
/// }
///
/// assert!(run(0.5).difference(&run(0.5)).is_none());
/// let difference = run(0.5).difference(&run(0.75)).unwrap();
/// assert_eq!(difference.frame, 0);
/// assert_eq!(difference.script.as_deref(), Some("door (0v1)"));
/// assert_eq!(difference.left.as_deref(), Some("waits until 500ms"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The frame.
    pub frame: u64,
    /// The phase of the run under way, in words.
    pub phase: String,
    /// The name and the id of the script. `None` if the frames themselves differ.
    pub script: Option<String>,
    /// The line of code at which the script waits, or was started, if it is known. If the
    /// lines of the two runs differ, it is the line of the first run, unless that run has
    /// ended.
    pub place: Option<String>,
    /// What happened in the first run. `None` if it had ended.
    pub left: Option<String>,
    /// What happened in the second run instead. `None` if it had ended.
    pub right: Option<String>,
    /// The line of code of [`left`](Difference::left). For an event without a line, such
    /// as an end, it is the line of the wait before it.
    pub left_place: Option<String>,
    /// The line of code of [`right`](Difference::right).
    pub right_place: Option<String>,
    /// What the script waits for next in the first run, with the lines, from the difference on:
    /// five waits at most.
    pub left_next: Vec<String>,
    /// What it waits for next in the second run.
    pub right_next: Vec<String>,
    /// What the difference looks like: a guess, from the waits that follow it.
    pub looks_like: Option<String>,
    /// Whether the events are at these lines. Otherwise, they are after them.
    are_there: [bool; 2],
}

/// Reads a film event by event.
pub(crate) struct Side<'a> {
    film: &'a Film,
    pub(crate) records: std::slice::Iter<'a, Record>,
    pub(crate) state: State,
    /// Where each script waited last.
    places: Vec<u32>,
}

impl Film {
    /// The first event in which two films differ: the frame, the script and the line.
    /// `None` if they are equal.
    ///
    /// It compares the events of all shown scripts, from the first frame that is complete
    /// in both films. The times of a stopwatch do not count.
    pub fn difference(&self, other: &Film) -> Option<Difference> {
        self.compare(other, false)
    }

    /// The same for a run that has not come as far yet.
    pub(crate) fn difference_so_far(&self, shorter: &Film) -> Option<Difference> {
        self.compare(shorter, true)
    }

    fn compare(&self, other: &Film, may_be_shorter: bool) -> Option<Difference> {
        let from = self.first_frame()?.max(other.first_frame()?);
        let mut left = Side::new(self, from);
        let mut right = Side::new(other, from);
        loop {
            let (here, there) = (left.next(), right.next());
            if let (Some(here), Some(there)) = (here, there) {
                if self.is_same(here, other, there) {
                    left.read(here);
                    right.read(there);
                    continue;
                }
            }
            if there.is_none() && (here.is_none() || may_be_shorter) {
                return None;
            }
            let next = [
                Next::of(self, here, there, &left),
                Next::of(other, there, here, &right),
            ];
            return Some(Difference::of((&left, here), (&right, there), &next));
        }
    }

    /// The first frame that is complete. An empty film has none.
    fn first_frame(&self) -> Option<u64> {
        let is_from_the_start = self.base.frame == 0 && self.dropped.events == 0;
        if is_from_the_start && self.base.live.is_empty() && self.has_part_of_a_frame() {
            return Some(0);
        }
        let mut frames = self
            .records
            .iter()
            .filter(|record| record.kind == Kind::FrameBegan);
        frames.next().map(Record::frame)
    }

    /// Whether two events of two films are equal.
    fn is_same<'a>(&'a self, here: &Record, other: &'a Film, there: &Record) -> bool {
        let label = |film: &'a Film, script: u32| film.label(script);
        if (here.kind, here.detail, here.phase) != (there.kind, there.detail, there.phase)
            || label(self, here.script) != label(other, there.script)
            || self.tables.places.get(here.place()) != other.tables.places.get(there.place())
        {
            return false;
        }
        let text = |film: &'a Film, name: u32| {
            let twin = film.tables.sources.get(&name).map(|origin| origin.twin);
            (film.tables.names.get(name), twin)
        };
        if here.names().map(|name| text(self, name)) != there.names().map(|name| text(other, name))
        {
            return false;
        }
        match (here.other_script(), there.other_script()) {
            (Some(a), Some(b)) => label(self, a) == label(other, b),
            (None, None) => {
                let is_name = here.names()[0] != NONE;
                (is_name || here.kind == Kind::FrameBegan || here.other == there.other)
                    && (here.value_is_free() || here.value == there.value)
                    && (here.kind != Kind::FrameBegan || here.frame() == there.frame())
            }
            _ => false,
        }
    }
}

impl<'a> Side<'a> {
    fn new(film: &'a Film, from: u64) -> Self {
        let mut state = film.base.clone();
        let is_begin = |record: &Record| record.kind == Kind::FrameBegan && record.frame() >= from;
        let skip = if from == 0 {
            0
        } else {
            film.records
                .iter()
                .position(is_begin)
                .unwrap_or(film.records.len())
        };
        let mut places = vec![NONE; film.tables.scripts.len()];
        for (place, live) in places.iter_mut().zip(&film.base.live) {
            *place = live.waits.first().map_or(NONE, |open| open.record.place());
        }
        for record in &film.records[..skip] {
            state.apply(record);
        }
        Side {
            film,
            records: film.records[skip..].iter(),
            state,
            places,
        }
    }

    fn next(&mut self) -> Option<&'a Record> {
        let film = self.film;
        self.records
            .find(|record| record.script == NONE || film.is_shown(record.script))
    }

    fn read(&mut self, record: &Record) {
        self.state.apply(record);
        if record.place() != NONE {
            self.places[record.script as usize] = record.place;
        }
    }
}

impl Difference {
    /// The hashes differ, but the differing events have been dropped.
    pub(crate) fn unseen(frame: u64) -> Self {
        Difference {
            frame,
            phase: "a part that is not kept any more".to_owned(),
            script: None,
            place: None,
            left: None,
            right: None,
            left_place: None,
            right_place: None,
            left_next: Vec::new(),
            right_next: Vec::new(),
            looks_like: None,
            are_there: [false; 2],
        }
    }

    fn of(
        left: (&Side<'_>, Option<&Record>),
        right: (&Side<'_>, Option<&Record>),
        next: &[Next; 2],
    ) -> Self {
        // A run that continues says more than one that has ended.
        let (side, record) = match left {
            (side, Some(record)) => (side, record),
            _ => (right.0, right.1.expect("one of the runs continues")),
        };
        let film = side.film;
        let tell = |(side, other): (&Side<'_>, Option<&Record>)| {
            let other = other?;
            let words = side.film.event(other);
            let is_other = other.script != record.script
                || side.film.label(other.script) != film.label(record.script);
            Some(match other.script {
                NONE => words,
                script if is_other => format!("{}: {words}", side.film.name_and_id(script)),
                _ => words,
            })
        };
        let place = |(side, record): (&Side<'_>, Option<&Record>)| {
            let (film, record) = (side.film, record?);
            let waited = || film.place(side.places[record.script as usize]);
            let started = || film.place(film.script(record.script).place);
            let known = film.place(record.place());
            known.or_else(waited).or_else(started)
        };
        Difference {
            frame: match record.kind {
                Kind::FrameBegan => record.frame(),
                _ => side.state.frame,
            },
            phase: phase_word(side.state.phase),
            script: (record.script != NONE).then(|| film.name_and_id(record.script)),
            place: place((side, Some(record))),
            left: tell(left),
            right: tell(right),
            left_next: next[0].words(),
            right_next: next[1].words(),
            looks_like: next::looks_like(&next[0], &next[1]).map(str::to_owned),
            left_place: place(left),
            right_place: place(right),
            are_there: [left, right]
                .map(|(_, record)| record.is_some_and(|record| record.place() != NONE)),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the runs differ in frame {}, in {}",
            self.frame, self.phase
        )?;
        if let Some(script) = &self.script {
            write!(f, ": {script}")?;
        }
        let places = [&self.left_place, &self.right_place];
        let [left, right] = places;
        let have_one = left == right || left.is_none() || right.is_none();
        if let Some(place) = self.place.as_ref().filter(|_| have_one) {
            write!(f, " at {place}")?;
        }
        let runs = [("first run: ", &self.left), ("second run:", &self.right)];
        for (at, (run, event)) in runs.into_iter().enumerate() {
            let event = event.as_deref().unwrap_or("nothing more");
            write!(f, "\n  {run} {event}")?;
            if let Some(place) = places[at].as_ref().filter(|_| !have_one) {
                let word = if self.are_there[at] { "at" } else { "after" };
                write!(f, " {word} {place}")?;
            }
        }
        // One wait is the difference itself.
        if self.left_next.len().max(self.right_next.len()) > 1 {
            for (run, next) in [
                ("first run: ", &self.left_next),
                ("second run:", &self.right_next),
            ] {
                let next = next.join("; ");
                let next = if next.is_empty() { "nothing" } else { &next };
                write!(f, "\n  next waits, {run} {next}")?;
            }
        }
        if let Some(looks_like) = &self.looks_like {
            write!(f, "\n  it looks like {looks_like}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Difference {}
