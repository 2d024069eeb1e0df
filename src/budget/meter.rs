//! How a budget measures what a step has cost.

use std::cell::Cell;
use std::time::Instant;

#[derive(Debug)]
pub(super) enum Meter {
    /// The jobs say.
    Units,
    /// Time, since the clock was last read; and in which frame that was.
    Clock(Cell<Option<(u64, Instant)>>),
}

impl Meter {
    pub(super) fn clock() -> Self {
        Meter::Clock(Cell::new(None))
    }

    /// A job resumes in `frame`: what went before is not its doing.
    pub(super) fn begin(&self, frame: u64) {
        if let Meter::Clock(read) = self {
            read.set(Some((frame, Instant::now())));
        }
    }

    /// What the step has cost that ends now, if it is `units` by itself.
    ///
    /// In time, it began when the clock was last read, by whichever job; where
    /// nothing was read in this frame, that is not known, and counts as nothing.
    pub(super) fn cost(&self, frame: u64, units: u64) -> u64 {
        let Meter::Clock(read) = self else {
            return units;
        };
        let now = Instant::now();
        let before = read.replace(Some((frame, now)));
        let began = before.filter(|&(in_frame, _)| in_frame == frame);
        let spent = began.map(|(_, began)| now.saturating_duration_since(began));
        spent.map_or(0, |spent| {
            u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX)
        })
    }
}
