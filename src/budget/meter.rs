//! How a budget measures what a step has cost.

use std::cell::Cell;
use std::time::Duration;

use crate::inspect::Timepiece;

#[derive(Debug)]
pub(super) enum Meter {
    /// The jobs say.
    Units,
    /// Time, since it was last read; and in which frame that was.
    Time {
        read: Cell<Option<(u64, Duration)>>,
        /// What a step counts as where there is no telling the time.
        unknown: u64,
    },
}

impl Meter {
    /// Of a budget of that many nanoseconds.
    pub(super) fn time(total_ns: u64) -> Self {
        Meter::Time {
            read: Cell::new(None),
            // One step a frame, unless there is no limit.
            unknown: if total_ns == u64::MAX { 0 } else { u64::MAX },
        }
    }

    /// A job resumes in `frame`: what went before is not its doing. Calls user code.
    pub(super) fn begin(&self, frame: u64, timepiece: &Timepiece) {
        if let Meter::Time { read, .. } = self {
            read.set(timepiece.read().map(|now| (frame, now)));
        }
    }

    /// What the step has cost that ends now, if it is `units` by itself. Calls user
    /// code.
    ///
    /// In time, it began when the time was last read, by whichever job; where
    /// nothing was read in this frame, that is not known, and counts as nothing.
    pub(super) fn cost(&self, frame: u64, units: u64, timepiece: &Timepiece) -> u64 {
        let Meter::Time { read, unknown } = self else {
            return units;
        };
        let Some(now) = timepiece.read() else {
            return *unknown;
        };
        let before = read.replace(Some((frame, now)));
        let began = before.filter(|&(in_frame, _)| in_frame == frame);
        let spent = began.map(|(_, began)| now.saturating_sub(began));
        spent.map_or(0, |spent| {
            u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX)
        })
    }
}
