//! Where a frame, and an event in it, is on the horizontal axis.

use crate::lanes::{At, Column};

#[derive(Debug)]
pub(crate) struct Scale<'a> {
    columns: &'a [Column],
    left: f64,
    /// The width of a frame.
    pub(crate) frame: f64,
}

impl<'a> Scale<'a> {
    pub(crate) fn new(columns: &'a [Column], left: f64, right: f64) -> Self {
        Scale {
            columns,
            left,
            frame: (right - left) / columns.len().max(1) as f64,
        }
    }

    pub(crate) fn begin_of(&self, column: usize) -> f64 {
        self.left + self.frame * column as f64
    }

    /// The place of an event. In a frame, each run in which something happens has a slot
    /// of the same width, with its events in order.
    pub(crate) fn x(&self, at: At) -> f64 {
        let within = self
            .columns
            .get(at.column)
            .map_or(0.0, |column| within(column, at.event));
        self.begin_of(at.column) + self.frame * (0.06 + 0.88 * within)
    }

    /// The slots of a frame: the phase of each, and where it begins.
    pub(crate) fn slots(&self, column: usize) -> Vec<(u16, f64)> {
        let Some(known) = self.columns.get(column) else {
            return Vec::new();
        };
        let phases: Vec<u16> = busy(known).map(|run| run.phase).collect();
        let width = 0.88 * self.frame / phases.len().max(1) as f64;
        let begin = self.begin_of(column) + 0.06 * self.frame;
        let begins = phases.iter().enumerate();
        begins
            .map(|(slot, &phase)| (phase, begin + width * slot as f64))
            .collect()
    }

    /// The time from one label of the clock to the next, in nanoseconds: a round one.
    pub(crate) fn tick_ns(&self, room: f64) -> u64 {
        let (Some(first), Some(last)) = (self.columns.first(), self.columns.last()) else {
            return 1;
        };
        let whole = last.elapsed.saturating_sub(first.elapsed);
        let width = self.frame * self.columns.len().max(1) as f64;
        let least = whole as f64 * room / width;
        let decades = (0..19).map(|zeros| 10_u64.saturating_pow(zeros));
        let mut steps = decades.flat_map(|one| [one, one * 2, one.saturating_mul(5)]);
        steps.find(|step| *step as f64 >= least).unwrap_or(u64::MAX)
    }

    /// The number of frames from one label to the next.
    pub(crate) fn label_step(&self, room: f64) -> usize {
        let decades = (0..18).map(|zeros| 10_usize.saturating_pow(zeros));
        let mut steps = decades.flat_map(|one| [one, 2 * one, 5 * one]);
        let fits = |step: &usize| self.frame * *step as f64 >= room;
        steps.find(fits).unwrap_or(usize::MAX)
    }
}

/// The columns that come first at or past a multiple of `step`.
pub(crate) fn round_steps(
    columns: &[Column],
    step: u64,
    value: impl Fn(&Column) -> u64,
) -> Vec<usize> {
    let step = step.max(1);
    let mut before = None;
    let mut found = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let multiple = value(column) / step;
        let is_exact = value(column) % step == 0;
        if before.map_or(is_exact, |before| multiple > before) {
            found.push(at);
        }
        before = Some(multiple);
    }
    found
}

/// The runs of a frame in which something happens.
fn busy(column: &Column) -> impl Iterator<Item = &crate::lanes::Run> + Clone {
    column.runs.iter().filter(|run| run.to > run.from + 1)
}

fn within(column: &Column, event: u32) -> f64 {
    let runs = busy(column);
    let count = runs.clone().count();
    if count == 0 {
        return f64::from(event + 1) / f64::from(column.events + 2);
    }
    for (slot, run) in runs.enumerate() {
        let begin = slot as f64 / count as f64;
        if event <= run.from {
            return begin;
        }
        if event < run.to {
            let inside = f64::from(event - run.from) / f64::from(run.to - run.from);
            return begin + inside / count as f64;
        }
    }
    1.0
}
