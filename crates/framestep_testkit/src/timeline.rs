//! Two ways to record when things happen: a timing diagram and an event log.
//!
//! [`Timeline`] steps an executor and draws one row per coroutine, one column
//! per frame. [`Log`] keeps a flat trace for tests about order.

use std::cell::RefCell;
use std::fmt::{Display, Write as _};
use std::rc::Rc;
use std::time::Duration;

use framestep::Executor;
use framestep::prelude::*;
use framestep::task::CoroutineId;

/// A length that no test reaches: turns off the clamp on long frames.
pub const UNLIMITED: u64 = 1_000_000_000;

/// The phases for which timing diagrams have a row. A diagram is drawn by hand; what it shows
/// for these, the random programs of `proofs` find in all phases.
pub const DRAWN: [Phase; 5] = [
    Phase::EarlyUpdate,
    Phase::FixedUpdate,
    Phase::Update,
    Phase::LateUpdate,
    Phase::EndOfFrame,
];

/// An executor whose game clock takes frames of any length.
pub fn unclamped() -> Executor {
    Executor::builder().max_delta(UNLIMITED).build()
}

/// The same, with a fixed step for each quarter of a second.
pub fn in_quarters() -> Executor {
    let builder = Executor::builder().max_delta(UNLIMITED);
    builder.fixed_delta(0.25).build()
}

type FrameFn = Box<dyn FnMut(&mut Executor, f64)>;

/// Steps coroutines frame by frame and compares their marks with a drawing.
///
/// A cell holds a letter for each [`Mark::hit`] of that frame: the first one of the phase in
/// which it happened, except `*` for Update or host code, and `Z` for `EndOfFrame`. `-` is a
/// coroutine that waited through the frame, blank a coroutine that has ended or has not begun.
pub struct Timeline {
    executor: Executor,
    dt: f64,
    rows: Vec<Row>,
    step: FrameFn,
    /// The game clock at the end of each frame that has been drawn.
    times: Vec<Duration>,
}

struct Row {
    name: String,
    hits: Rc<RefCell<String>>,
    cells: Vec<String>,
    is_finished: Box<dyn Fn() -> bool>,
}

/// A coroutine's pencil: draws into its row of the [`Timeline`].
#[derive(Clone)]
pub struct Mark(Rc<RefCell<String>>);

impl Mark {
    pub fn hit(&self) {
        self.0.borrow_mut().push(match time().phase {
            None | Some(Phase::Update) => '*',
            Some(Phase::EndOfFrame) => 'Z',
            Some(phase) => phase.to_string().remove(0),
        });
    }
}

impl Timeline {
    /// Frames of `dt` seconds on an executor without a clamp.
    pub fn with_dt(dt: f64) -> Self {
        Self::with_executor(unclamped(), dt)
    }

    /// One fixed step a frame, so that fixed time equals game time.
    pub fn with_a_fixed_step_each(dt: f64) -> Self {
        let builder = Executor::builder().max_delta(UNLIMITED);
        Self::with_executor(builder.fixed_delta(dt).build(), dt)
    }

    pub fn with_executor(executor: Executor, dt: f64) -> Self {
        Timeline {
            executor,
            dt,
            rows: Vec::new(),
            step: Box::new(Executor::run_frame),
            times: Vec::new(),
        }
    }

    /// Replaces `run_frame` by a host's own idea of a frame.
    pub fn frames_are(&mut self, step: impl FnMut(&mut Executor, f64) + 'static) {
        self.step = Box::new(step);
    }

    /// Starts a coroutine now, with its own row.
    pub fn row<F>(&mut self, name: &str, script: impl FnOnce(Mark) -> F) -> CoroutineId
    where
        F: Future<Output = ()> + 'static,
    {
        let executor = self.executor.handle();
        self.add_row(name, |mark| executor.start(script(mark)))
    }

    /// The same, of an owner.
    pub fn row_on<F>(
        &mut self,
        owner: &Owner,
        name: &str,
        script: impl FnOnce(Mark) -> F,
    ) -> CoroutineId
    where
        F: Future<Output = ()> + 'static,
    {
        self.add_row(name, |mark| owner.start(script(mark)))
    }

    fn add_row(&mut self, name: &str, start: impl FnOnce(Mark) -> Coroutine<()>) -> CoroutineId {
        let hits = Rc::new(RefCell::new(String::new()));
        let handle = start(Mark(hits.clone()));
        let id = handle.id();
        self.rows.push(Row {
            name: name.to_owned(),
            hits,
            cells: vec![String::new(); self.times.len()],
            is_finished: Box::new(move || handle.is_finished()),
        });
        id
    }

    /// For acts of the host between two frames.
    pub fn executor(&mut self) -> &mut Executor {
        &mut self.executor
    }

    /// Steps up to the end of `frame`; a later diagram shows it.
    pub fn run_to(&mut self, frame: u64) {
        while self.times.len() as u64 <= frame {
            self.draw_frame();
        }
    }

    /// Steps up to the last frame of `diagram` and compares with it.
    #[track_caller]
    pub fn check(&mut self, diagram: &str) {
        let expected = Diagram::parse(diagram);
        let last = *expected.frames.last().expect("a diagram has frames");
        self.run_to(last);
        let actual = self.draw(&expected);
        assert!(
            actual == expected,
            "the timeline differs\n{}",
            side_by_side(&expected.render(), &actual.render())
        );
    }

    fn draw_frame(&mut self) {
        let frame = self.times.len() as u64;
        if frame > 0 {
            (self.step)(&mut self.executor, self.dt);
        }
        assert_eq!(self.executor.time().frame, frame, "a step is one frame");
        self.times.push(self.executor.time().elapsed);
        for row in &mut self.rows {
            let hits = std::mem::take(&mut *row.hits.borrow_mut());
            row.cells
                .push(match (hits.is_empty(), (row.is_finished)()) {
                    (false, _) => hits,
                    (true, false) => "-".to_owned(),
                    (true, true) => String::new(),
                });
        }
    }

    fn draw(&self, like: &Diagram) -> Diagram {
        let pick = |cells: &Vec<String>| {
            let cells = like.frames.iter().map(|&f| &cells[index(f)]);
            cells.cloned().collect()
        };
        Diagram {
            frames: like.frames.clone(),
            times: like.times.as_ref().map(|expected| {
                let pairs = like.frames.iter().zip(expected);
                pairs
                    .map(|(&frame, cell)| {
                        let decimals = cell.split_once('.').map_or(0, |(_, d)| d.len());
                        format!("{:.decimals$}", self.times[index(frame)].as_secs_f64())
                    })
                    .collect()
            }),
            rows: self
                .rows
                .iter()
                .map(|row| (row.name.clone(), pick(&row.cells)))
                .collect(),
        }
    }
}

fn index(frame: u64) -> usize {
    usize::try_from(frame).expect("a short test")
}

#[derive(PartialEq)]
struct Diagram {
    frames: Vec<u64>,
    times: Option<Vec<String>>,
    rows: Vec<(String, Vec<String>)>,
}

impl Diagram {
    #[track_caller]
    fn parse(text: &str) -> Diagram {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let header = words(lines.next().expect("a diagram has a header"));
        assert_eq!(header[0].1, "frame", "the first row counts the frames");
        let columns: Vec<usize> = header[1..].iter().map(|&(at, _)| at).collect();
        let frames = header[1..]
            .iter()
            .map(|(_, word)| word.parse().expect("a frame number"))
            .collect();
        let mut diagram = Diagram {
            frames,
            times: None,
            rows: Vec::new(),
        };
        for line in lines {
            let words = words(line);
            let mut cells = vec![String::new(); columns.len()];
            for &(at, word) in &words[1..] {
                let column = columns.iter().position(|&column| column == at);
                let column = column.unwrap_or_else(|| panic!("`{word}` is under no frame: {line}"));
                word.clone_into(&mut cells[column]);
            }
            if words[0].1 == "time" {
                diagram.times = Some(cells);
            } else {
                diagram.rows.push((words[0].1.to_owned(), cells));
            }
        }
        diagram
    }

    fn render(&self) -> String {
        let frames: Vec<String> = self.frames.iter().map(u64::to_string).collect();
        let mut table = vec![("frame", &frames)];
        table.extend(self.times.iter().map(|times| ("time", times)));
        table.extend(self.rows.iter().map(|(name, cells)| (name.as_str(), cells)));
        let widest = |column: usize| table.iter().map(|(_, cells)| cells[column].len()).max();
        let widths: Vec<usize> = (0..frames.len()).map(|c| widest(c).unwrap_or(0)).collect();
        let names = table.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let mut text = String::new();
        for (name, cells) in table {
            let _ = write!(text, "{name:names$}");
            for (cell, width) in cells.iter().zip(&widths) {
                let _ = write!(text, " {cell:width$}");
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        text
    }
}

/// The words of a line with the character each begins at.
fn words(line: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut from = 0;
    for word in line.split(' ') {
        if !word.is_empty() {
            words.push((from, word));
        }
        from += word.len() + 1;
    }
    words
}

fn side_by_side(expected: &str, actual: &str) -> String {
    let width = expected.lines().map(str::len).max().unwrap_or(0).max(8);
    let (mut left, mut right) = (expected.lines(), actual.lines());
    let mut text = format!("  {:width$} | actual\n", "expected");
    loop {
        let (l, r) = (left.next(), right.next());
        if l.is_none() && r.is_none() {
            return text;
        }
        let (l, r) = (l.unwrap_or(""), r.unwrap_or(""));
        let differs = if l == r { ' ' } else { '!' };
        let _ = writeln!(text, "{differs} {l:width$} | {r}");
    }
}

/// A trace shared by the coroutines of a test.
#[derive(Clone, Default)]
pub struct Log(Rc<RefCell<Vec<String>>>);

impl Log {
    pub fn new() -> Self {
        Log::default()
    }

    /// Records `text` with the current frame and phase: `F2: text` in Update
    /// and in host code of frame 0, `F2.LateUpdate: text` in other phases,
    /// `F2.host: text` outside a run.
    pub fn say(&self, text: impl Display) {
        let now = time();
        let frame = now.frame;
        self.note(match now.phase {
            None if frame == 0 => format!("F{frame}: {text}"),
            None => format!("F{frame}.host: {text}"),
            Some(Phase::Update) => format!("F{frame}: {text}"),
            Some(phase) => format!("F{frame}.{phase:?}: {text}"),
        });
    }

    /// Records `text` alone: for destructors and for host code.
    pub fn note(&self, text: impl Display) {
        self.0.borrow_mut().push(text.to_string());
    }

    /// A guard that records `text` when it is dropped.
    pub fn on_drop(&self, text: impl Display) -> NoteOnDrop {
        NoteOnDrop(self.clone(), text.to_string())
    }

    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.borrow_mut())
    }

    /// Compares everything recorded since the last check.
    #[track_caller]
    pub fn check(&self, expected: &[&str]) {
        let actual = self.take();
        assert!(
            actual == expected,
            "the trace differs\n{}",
            side_by_side(&expected.join("\n"), &actual.join("\n"))
        );
    }
}

pub struct NoteOnDrop(Log, String);

impl Drop for NoteOnDrop {
    fn drop(&mut self) {
        self.0.note(&self.1);
    }
}

/// The harness itself must be able to fail.
#[cfg(test)]
mod harness {
    use super::*;

    fn two_frames() -> Timeline {
        let mut timeline = Timeline::with_dt(0.25);
        timeline.row("a", |mark| async move {
            mark.hit();
            end_of_frame().await;
            mark.hit();
        });
        timeline
    }

    #[test]
    fn a_diagram_shows_phases_waiting_and_the_end() {
        two_frames().check(
            "
            frame 0    1    2
            time  0.00 0.25 0.50
            a     *    Z
            ",
        );
    }

    #[test]
    fn a_diagram_may_be_continued() {
        let mut timeline = two_frames();
        timeline.check("frame 0 1\na     * Z");
        timeline.row("b", |mark| async move { mark.hit() });
        timeline.check("frame 1 2 3\na     Z\nb       *");
    }

    #[test]
    #[should_panic(expected = "the timeline differs")]
    fn a_wrong_letter_is_noticed() {
        two_frames().check("frame 0 1\na     * *");
    }

    #[test]
    #[should_panic(expected = "the timeline differs")]
    fn a_wrong_time_is_noticed() {
        two_frames().check("frame 0 1\ntime  0 1\na     * Z");
    }

    #[test]
    #[should_panic(expected = "the timeline differs")]
    fn a_missing_row_is_noticed() {
        two_frames().check("frame 0 1");
    }

    #[test]
    #[should_panic(expected = "under no frame")]
    fn a_crooked_drawing_is_noticed() {
        two_frames().check("frame 0 1\na      * Z");
    }

    #[test]
    #[should_panic(expected = "the trace differs")]
    fn a_wrong_trace_is_noticed() {
        let log = Log::new();
        log.note("a");
        log.check(&["b"]);
    }
}
