//! How a budget measures the cost of a step.

use std::cell::Cell;
use std::time::Duration;

use crate::inspect::TimeSource;

#[derive(Debug)]
pub(super) enum Meter {
    /// The jobs state their costs.
    Units,
    /// The cost of a step is the time since the last reading.
    Time {
        /// The last reading, and its frame.
        read: Cell<Option<(u64, Duration)>>,
        /// The cost of a step if the time cannot be read.
        unknown: u64,
    },
}

impl Meter {
    /// The meter of a budget of `total_ns` nanoseconds.
    pub(super) fn time(total_ns: u64) -> Self {
        Meter::Time {
            read: Cell::new(None),
            // One step a frame, unless the budget is unlimited.
            unknown: if total_ns == u64::MAX { 0 } else { u64::MAX },
        }
    }

    /// Begins a step in `frame`, so that the time before it is not counted. Calls
    /// user code.
    pub(super) fn begin(&self, frame: u64, time_source: &TimeSource) {
        if let Meter::Time { read, .. } = self {
            read.set(time_source.read().map(|now| (frame, now)));
        }
    }

    /// The cost of the step that ends now; `units` if the jobs state their costs.
    /// Calls user code.
    ///
    /// In time, the step began at the last reading, by any job. If there was no
    /// reading in this frame, the beginning is unknown, and the step costs nothing.
    pub(super) fn cost(&self, frame: u64, units: u64, time_source: &TimeSource) -> u64 {
        let Meter::Time { read, unknown } = self else {
            return units;
        };
        let Some(now) = time_source.read() else {
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
