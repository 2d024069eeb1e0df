//! Long jobs, cut into frames.

#![forbid(unsafe_code)]

mod checkpoint;
mod ledger;
mod meter;

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use crate::time::Nanos;
use crate::time::Seconds;

use ledger::Ledger;
use meter::Meter;

pub use checkpoint::Checkpoint;

/// How much of a frame long jobs may take, all together.
///
/// A job that would hold a frame, such as a search for paths or the making of a
/// level, awaits a [`checkpoint`](Budget::checkpoint) after each small step. That
/// goes on at once while the job's share of this frame is not spent, else in the
/// next frame.
///
/// # One budget, several jobs
///
/// Each clone stands for one job. What the budget allows in a frame is divided
/// evenly among the jobs that wait for the frame, whichever of them resumes
/// first. What one of them leaves over, because it ends or waits for something
/// else, goes to those that have spent their share: they resume again later in
/// the same run, if they are in the same phase. A job that joins in the middle
/// of a frame gets what nobody has been promised.
///
/// No step is cut short, and every job that waits for a frame makes at least one
/// step in it, even if the budget is zero. So a frame may take longer than the
/// budget says, by one step for each job.
///
/// # Two measures
///
/// [`Budget::new`] counts time, and reads the computer's clock, or the executor's
/// [`stopwatch`](crate::Builder::stopwatch): once when a job resumes, and once at each
/// checkpoint. How far a job gets in a frame depends on the machine. [`Budget::of_units`] counts units that
/// the jobs state, so that the same inputs give the same frames: for tests,
/// replays and lockstep.
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// async fn count_to(n: u32, budget: Budget) -> u64 {
///     for _ in 0..n {
///         // a small step of a long job
///         budget.checkpoint().await;
///     }
///     time().frame
/// }
///
/// let mut executor = Executor::new();
/// let budget = Budget::of_units(10);
/// let small = executor.spawn(count_to(10, budget.clone()));
/// let large = executor.spawn(count_to(40, budget.clone()));
/// assert_eq!(executor.run_until(large, 0.1).unwrap(), 5);
/// assert!(small.is_finished());
/// ```
///
/// # Source
///
/// A coroutine that looks at a stopwatch and yields; `TimeBudgetPerFrameDeferAgent`
/// of Unity's `glTFast`.
pub struct Budget {
    shared: Rc<Shared>,
    /// Its entry in the ledger.
    job: usize,
}

/// What the clones of a budget share.
struct Shared {
    /// Borrowed for arithmetic alone: wakers are cloned, called and dropped while
    /// it is not.
    ledger: RefCell<Ledger>,
    meter: Meter,
}

/// Time below which a job is not resumed once more in a frame.
const SMALLEST_TIME_NS: u64 = 10_000;

impl Budget {
    /// At most `seconds` of each frame, by the clock on the wall.
    ///
    /// With zero or a negative length each job makes one step a frame, with
    /// infinity they never wait. Where the time cannot be told, as on
    /// `wasm32-unknown-unknown` without a [`stopwatch`](crate::Builder::stopwatch), each
    /// job makes one step a frame, too.
    ///
    /// # Panics
    ///
    /// If `seconds` is NaN.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let budget = Budget::new(0.002);
    /// let sum = executor.run_until(
    ///     async move {
    ///         let mut sum = 0;
    ///         for i in 0..1_000 {
    ///             sum += i;
    ///             budget.checkpoint().await;
    ///         }
    ///         sum
    ///     },
    ///     0.1,
    /// );
    /// assert_eq!(sum, 499_500);
    /// ```
    #[track_caller]
    pub fn new(seconds: impl Seconds) -> Self {
        let total_ns = match seconds.length_ns() {
            Nanos::Finite(ns) => ns,
            Nanos::Negative => 0,
            Nanos::Overflow | Nanos::Infinite => u64::MAX,
            Nanos::NotANumber => panic!(
                "the length of a budget is NaN: give it a number of seconds (0 allows one step a \
                 frame, infinity everything)"
            ),
        };
        let ledger = Ledger::new(total_ns, SMALLEST_TIME_NS);
        Self::with(ledger, Meter::time(total_ns))
    }

    /// At most `units` of each frame, as stated by the jobs: 1 for each
    /// [`checkpoint`](Budget::checkpoint), any number for each
    /// [`checkpoint_cost`](Budget::checkpoint_cost).
    pub fn of_units(units: u64) -> Self {
        Self::with(Ledger::new(units, 1), Meter::Units)
    }

    fn with(mut ledger: Ledger, meter: Meter) -> Self {
        let job = ledger.add_job();
        Budget {
            shared: Rc::new(Shared {
                ledger: RefCell::new(ledger),
                meter,
            }),
            job,
        }
    }

    /// To be awaited after each step: goes on at once while this job's share of
    /// the frame is not spent.
    ///
    /// # Resumes
    ///
    /// At once, or in [`Phase::Update`](crate::Phase::Update) of the next frame,
    /// or in another phase with [`in_phase`](Checkpoint::in_phase); or later in
    /// the run under way if that is of the same phase and another job has left
    /// something over.
    ///
    /// # Cancel safety
    ///
    /// Dropping it loses nothing: what was spent is spent, and what this job had
    /// been promised goes to the others.
    ///
    /// # Panics
    ///
    /// If polled outside of an [`Executor`](crate::Executor).
    pub fn checkpoint(&self) -> Checkpoint<'_> {
        self.checkpoint_cost(1)
    }

    /// A [`checkpoint`](Budget::checkpoint) after a step that has cost `units`; 0
    /// counts as 1. A budget of time does not look at this.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let budget = Budget::of_units(100);
    /// let frame = executor.run_until(
    ///     async move {
    ///         next_frame().await;
    ///         budget.checkpoint_cost(60).await; // 40 are left
    ///         budget.checkpoint_cost(60).await; // and these are gone
    ///         time().frame
    ///     },
    ///     0.1,
    /// );
    /// assert_eq!(frame, 2);
    /// ```
    pub fn checkpoint_cost(&self, units: u64) -> Checkpoint<'_> {
        Checkpoint::new(self, units.max(1))
    }
}

impl Clone for Budget {
    /// One more job.
    fn clone(&self) -> Self {
        let job = self.shared.ledger.borrow_mut().add_job();
        Budget {
            shared: self.shared.clone(),
            job,
        }
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        self.shared.ledger.borrow_mut().remove_job(self.job);
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What it is written to is user code.
        let (total, jobs, waiting) = {
            let ledger = self.shared.ledger.borrow();
            (ledger.total(), ledger.jobs(), ledger.waiting())
        };
        f.debug_struct("Budget")
            .field("meter", &self.shared.meter)
            .field("total", &total)
            .field("jobs", &jobs)
            .field("waiting", &waiting)
            .finish_non_exhaustive()
    }
}
