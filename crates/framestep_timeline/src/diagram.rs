//! Timing diagrams as text, and comparing with one.

use std::fmt::{self, Write as _};

use framestep::task::Outcome;

use crate::film::Film;
use crate::lanes::{At, Lane, Lanes, Pause, Poll};
use crate::record::phase_letter;
use crate::text;

/// A timing diagram: a row for each script, a column for each frame.
///
/// A cell has a letter for each poll in that frame, by the phase in which it happened:
///
/// | cell | meaning |
/// |---|---|
/// | `*` | a poll in Update, or by the host before the first run |
/// | `Z` | a poll in `EndOfFrame` |
/// | `E` `F` `L` `C` | a poll in another phase: the first letter of `EarlyUpdate`, `FixedUpdate`, `LateUpdate`, `Custom` |
/// | `F9` | nine polls in `FixedUpdate`: a number if there are more than three |
/// | `*!` | the script panicked |
/// | `-` | the script waited through the frame |
/// | `=` | the script was paused through the frame |
/// | blank | the script has ended, or has not begun |
///
/// It is the notation of the tests of framestep itself. Print a diagram with `{}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagram {
    frames: Vec<u64>,
    /// The readings of the game clock; shown if `is_timed`.
    times: Vec<String>,
    is_timed: bool,
    rows: Vec<(String, Vec<String>)>,
    /// How many frames and scripts are left out.
    left_out: (usize, usize),
}

impl Film {
    /// Draws a timing diagram of all frames. [Cut](Film::frames) a long film first.
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
    /// executor.script("late").start(async {
    ///     wait_seconds(0.5).await;
    ///     end_of_frame().await;
    /// });
    /// executor.run_frames(3, 0.25);
    /// println!("{}", recorder.film().diagram().timed());
    /// ```
    pub fn diagram(&self) -> Diagram {
        let lanes = self.lanes();
        let elapsed = |nanos: u64| format!("{:.2}", nanos as f64 / 1e9);
        Diagram {
            frames: lanes.columns.iter().map(|column| column.frame).collect(),
            times: lanes
                .columns
                .iter()
                .map(|column| elapsed(column.elapsed))
                .collect(),
            is_timed: false,
            left_out: (0, 0),
            rows: lanes
                .lanes
                .iter()
                .map(|lane| (row_name(self, lane.script), cells(&lanes, lane)))
                .collect(),
        }
    }

    /// Compares with a diagram, and panics with both if they differ.
    ///
    /// The diagram says which frames to compare. It has a row for each script of the
    /// film, in the order in which they were spawned: use [`only`](Film::only) to choose
    /// some of them. A row `time` with the readings of the game clock can follow the
    /// first row.
    ///
    /// # Panics
    ///
    /// If the diagrams differ, or if the text is not a diagram.
    #[track_caller]
    pub fn expect(&self, diagram: &str) {
        let expected = match Diagram::parse(diagram) {
            Ok(expected) => expected,
            Err(error) => panic!("this is not a timing diagram: {error}\n{diagram}"),
        };
        let actual = self.like(&expected);
        assert!(
            actual == expected,
            "the timeline differs\n{}",
            side_by_side(&expected.to_string(), &actual.to_string())
        );
    }

    /// The same frames as another diagram has.
    fn like(&self, other: &Diagram) -> Diagram {
        let lanes = self.lanes();
        let columns: Vec<Option<usize>> = other
            .frames
            .iter()
            .map(|frame| {
                lanes
                    .columns
                    .iter()
                    .position(|column| column.frame == *frame)
            })
            .collect();
        let time = |(column, like): (&Option<usize>, &String)| {
            let decimals = like
                .split_once('.')
                .map_or(0, |(_, decimals)| decimals.len());
            let nanos = column.map(|column| lanes.columns[column].elapsed);
            nanos.map_or("?".to_owned(), |nanos| {
                format!("{:.decimals$}", nanos as f64 / 1e9)
            })
        };
        let row = |lane: &Lane| {
            let all = cells(&lanes, lane);
            let cell = |column: &Option<usize>| column.map_or("?".to_owned(), |at| all[at].clone());
            (
                row_name(self, lane.script),
                columns.iter().map(cell).collect(),
            )
        };
        Diagram {
            frames: other.frames.clone(),
            times: columns.iter().zip(&other.times).map(time).collect(),
            is_timed: other.is_timed,
            left_out: (0, 0),
            rows: lanes.lanes.iter().map(row).collect(),
        }
    }
}

/// A diagram cannot contain spaces at the ends of a name.
fn row_name(film: &Film, script: u32) -> String {
    text::shorten(film.name(script).trim(), 40)
}

fn cells(lanes: &Lanes, lane: &Lane) -> Vec<String> {
    // A script that the host ends after the runs of a frame was alive in that frame.
    let ended = lane
        .ended
        .map(|(at, _)| at.column + usize::from(is_after_runs(lanes, at)));
    let mut cells: Vec<String> = (0..lanes.columns.len())
        .map(|column| {
            let lives = column >= lane.from.column && ended.is_none_or(|ended| column < ended);
            if !lives {
                String::new()
            } else if is_paused(lanes, lane, column) {
                "=".to_owned()
            } else {
                "-".to_owned()
            }
        })
        .collect();
    for polls in lane.polls.chunk_by(|a, b| a.from.column == b.from.column) {
        cells[polls[0].from.column] = letters(polls);
    }
    if let Some((at, Outcome::Panicked)) = lane.ended {
        cells[at.column].push('!');
    }
    cells
}

/// Whether it was paused from the beginning of the frame to the end of its last run.
fn is_paused(lanes: &Lanes, lane: &Lane, column: usize) -> bool {
    let lasts = |to: At| to.column > column || (to.column == column && is_after_runs(lanes, to));
    let covers = |pause: &Pause| pause.is_older || pause.from.column < column;
    let mut pauses = lane.pauses.iter().filter(|pause| covers(pause));
    pauses.any(|pause| pause.to.is_none_or(lasts))
}

/// Whether an event happened between the last run of a frame and the next frame.
fn is_after_runs(lanes: &Lanes, at: At) -> bool {
    let last = lanes.columns[at.column].runs.last();
    last.is_none_or(|run| at.event > run.to)
}

fn letters(polls: &[Poll]) -> String {
    let mut letters = String::new();
    for same in polls.chunk_by(|a, b| phase_letter(a.phase) == phase_letter(b.phase)) {
        let letter = phase_letter(same[0].phase);
        if same.len() > 3 {
            let _ = write!(letters, "{letter}{}", same.len());
        } else {
            letters.extend(std::iter::repeat_n(letter, same.len()));
        }
    }
    letters
}

impl Diagram {
    /// The diagram with a row for the readings of the game clock, in seconds.
    #[must_use]
    pub fn timed(mut self) -> Self {
        self.is_timed = true;
        self
    }

    /// The diagram without the frames in which no script is polled, and without the scripts
    /// that are not polled. It says how many it leaves out.
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
    /// executor.script("owl").start(async {
    ///     wait_frames(500).await;
    ///     next_frame().await;
    /// });
    /// executor.script("door").start(wait_seconds(1_000));
    /// executor.run_frames(600, 0.25);
    /// let film = recorder.film().frames(2..=600);
    /// assert_eq!(film.diagram().brief().to_string(), "\
    /// frame 500 501
    /// owl   *   *
    /// (597 frames without a poll and 1 script without one are left out)
    /// ");
    /// ```
    #[must_use]
    pub fn brief(mut self) -> Self {
        let is_poll = |cell: &String| !matches!(cell.as_str(), "" | "-" | "=");
        let polls = |at: usize| self.rows.iter().any(|(_, cells)| is_poll(&cells[at]));
        let keeps: Vec<bool> = (0..self.frames.len()).map(polls).collect();
        let rows = self.rows.len();
        self.rows.retain(|(_, cells)| cells.iter().any(is_poll));
        self.left_out.0 += keeps.iter().filter(|keep| !**keep).count();
        self.left_out.1 += rows - self.rows.len();
        let keep = |cells: &mut Vec<String>| {
            let mut keeps = keeps.iter();
            cells.retain(|_| keeps.next().is_none_or(|keep| *keep));
        };
        self.rows.iter_mut().for_each(|(_, cells)| keep(cells));
        keep(&mut self.times);
        let mut frames = keeps.iter();
        self.frames
            .retain(|_| frames.next().is_none_or(|keep| *keep));
        self
    }

    /// Parses a diagram.
    fn parse(drawing: &str) -> Result<Diagram, String> {
        let mut lines = drawing.lines().filter(|line| !line.trim().is_empty());
        let header = words(lines.next().unwrap_or(""));
        let Some(((_, "frame"), frames)) = header.split_first().map(|(first, rest)| (*first, rest))
        else {
            return Err("its first row is `frame`, with the numbers of the frames".to_owned());
        };
        let mut diagram = Diagram {
            frames: Vec::new(),
            times: Vec::new(),
            is_timed: false,
            left_out: (0, 0),
            rows: Vec::new(),
        };
        for (_, word) in frames {
            let number = word
                .parse()
                .map_err(|_| format!("`{word}` is not the number of a frame"))?;
            diagram.frames.push(number);
        }
        let Some(&(first, _)) = frames.first() else {
            return Err("its first row has no frames".to_owned());
        };
        for line in lines {
            let row = words(line);
            let begin = row[0].0;
            let name: String = line
                .chars()
                .skip(begin)
                .take(first.saturating_sub(begin))
                .collect();
            let name = name.trim().to_owned();
            let mut cells = vec![String::new(); frames.len()];
            for &(at, word) in row.iter().filter(|&&(at, _)| at >= first) {
                let Some(column) = frames.iter().position(|&(column, _)| column == at) else {
                    return Err(format!("`{word}` is under no frame: {line}"));
                };
                word.clone_into(&mut cells[column]);
            }
            if name == "time" {
                (diagram.times, diagram.is_timed) = (cells, true);
            } else if name.is_empty() {
                return Err(format!("a row has no name before its cells: {line}"));
            } else {
                diagram.rows.push((name, cells));
            }
        }
        Ok(diagram)
    }
}

impl fmt::Display for Diagram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frames: Vec<String> = self.frames.iter().map(u64::to_string).collect();
        let mut table = vec![("frame", &frames)];
        table.extend(self.is_timed.then_some(("time", &self.times)));
        table.extend(self.rows.iter().map(|(name, cells)| (name.as_str(), cells)));
        let length = |text: &str| text.chars().count();
        let mut widths = vec![0; frames.len()];
        for (_, cells) in &table {
            for (width, cell) in widths.iter_mut().zip(cells.iter()) {
                *width = (*width).max(length(cell));
            }
        }
        let names = table
            .iter()
            .map(|(name, _)| length(name))
            .max()
            .unwrap_or(0);
        for (name, cells) in table {
            let mut line = format!("{name:names$}");
            for (cell, width) in cells.iter().zip(&widths) {
                let _ = write!(line, " {cell:width$}");
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        let (frames, scripts) = self.left_out;
        if (frames, scripts) != (0, 0) {
            let frames = text::counted(frames as u64, "frame");
            let scripts = text::counted(scripts as u64, "script");
            writeln!(
                f,
                "({frames} without a poll and {scripts} without one are left out)"
            )?;
        }
        Ok(())
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
        from += word.chars().count() + 1;
    }
    words
}

fn side_by_side(expected: &str, actual: &str) -> String {
    let length = |line: &str| line.chars().count();
    let width = expected.lines().map(length).max().unwrap_or(0).max(8);
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
