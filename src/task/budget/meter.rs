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
        /// The last reading.
        read: Cell<Option<Duration>>,
        /// The cost of a step of unknown length.
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

    /// Begins a step, so that the time before it is not counted. Calls user code.
    pub(super) fn begin(&self, time_source: &TimeSource) {
        if let Meter::Time { read, .. } = self {
            read.set(time_source.read());
        }
    }

    /// The cost of the step that ends now; `units` if the jobs state their costs.
    /// Calls user code.
    ///
    /// In time, the step began at the last reading, by any job. If the job has waited for
    /// something else since then, it began later, but nothing says when.
    pub(super) fn cost(&self, units: u64, time_source: &TimeSource) -> u64 {
        let Meter::Time { read, unknown } = self else {
            return units;
        };
        let now = time_source.read();
        let began = read.replace(now);
        let spent = now.zip(began).map(|(now, began)| now.saturating_sub(began));
        spent.map_or(*unknown, |spent| {
            u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX)
        })
    }
}
