//! Budgets: long jobs that are split over frames.

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

/// How much of each frame a group of long jobs may use.
///
/// A job that would block a frame, such as a path search or the generation of a
/// level, awaits a [`checkpoint`](Budget::checkpoint) after each small step. The
/// checkpoint is ready at once while the job's share of this frame is not spent.
/// Otherwise, the job resumes in the next frame.
///
/// # One budget, several jobs
///
/// Each clone stands for one job. The jobs share each frame as follows:
///
/// - The budget of a frame is divided evenly among the jobs that wait for the
///   frame, whichever of them resumes first.
/// - A job may leave a part of its share unspent, because it ends or waits for
///   something else. That part goes to the jobs that have spent their share. They
///   resume again later in the same run, if they are in the same phase.
/// - A job that joins in the middle of a frame receives the part that has not been
///   promised to any other job.
///
/// A step is never interrupted. Every job that waits for a frame makes at least one
/// step in it, even if the budget is zero. So a frame may exceed the budget by one
/// step for each job.
///
/// # Two measures
///
/// [`Budget::new`] measures time. It reads the computer's clock, or the executor's
/// [`stopwatch`](crate::Builder::stopwatch), at each checkpoint and when a checkpoint
/// resumes its job. How far a job advances in a frame depends on the machine. A step
/// costs the time since the last reading. So if a job waits for something else between
/// two checkpoints, that time counts, too, and usually spends the share. The first step
/// of all has no reading before it, and spends the share.
///
/// [`Budget::of_units`] counts units that the jobs state. The same inputs then
/// produce the same frames: for tests, replays and lockstep.
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
/// A coroutine that checks a stopwatch and yields; `TimeBudgetPerFrameDeferAgent`
/// of Unity's `glTFast`.
pub struct Budget {
    shared: Rc<Shared>,
    /// Its entry in the ledger.
    job: usize,
}

/// What the clones of a budget share.
struct Shared {
    /// Borrowed only for arithmetic. Wakers are cloned, called and dropped outside
    /// the borrow.
    ledger: RefCell<Ledger>,
    meter: Meter,
}

/// The smallest amount of time worth another resume of a job in the same frame.
const SMALLEST_TIME_NS: u64 = 10_000;

impl Budget {
    /// A budget of `seconds` of each frame, in wall-clock time.
    ///
    /// With zero or a negative length, each job makes one step a frame. With
    /// infinity, the jobs never wait. On a target without a clock, such as
    /// `wasm32-unknown-unknown`, each job makes one step a frame, unless the
    /// executor has a [`stopwatch`](crate::Builder::stopwatch).
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

    /// A budget of `units` units of each frame. A
    /// [`checkpoint`](Budget::checkpoint) costs 1 unit, a
    /// [`checkpoint_cost`](Budget::checkpoint_cost) any number.
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

    /// Ends a step of the job. Await it after each step.
    ///
    /// # Resumes
    ///
    /// At once, if this job's share of the frame is not spent. Otherwise in the home
    /// phase in the next frame, or in another phase with
    /// [`in_phase`](Checkpoint::in_phase). It resumes later in the
    /// current run if that run is of the same phase and another job leaves a part
    /// of its share unspent.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the wait. The cost of the step stays counted,
    /// and the share that was promised to this job goes to the others.
    ///
    /// # Panics
    ///
    /// If polled outside an [`Executor`](crate::Executor).
    pub fn checkpoint(&self) -> Checkpoint<'_> {
        self.checkpoint_cost(1)
    }

    /// Like [`checkpoint`](Budget::checkpoint), after a step that has cost `units`;
    /// 0 counts as 1. A budget of time ignores `units`.
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
    ///         budget.checkpoint_cost(60).await; // 40 units are left
    ///         budget.checkpoint_cost(60).await; // spends the rest: waits
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
    /// Adds a job to the budget.
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
        let waker = self.shared.ledger.borrow_mut().remove_job(self.job);
        drop(waker);
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The writer is user code: no borrow during the write.
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
