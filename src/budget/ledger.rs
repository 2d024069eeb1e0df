//! How much of a frame each job may spend. Pure arithmetic; it calls no user code.
//!
//! ```text
//! a frame begins     the total is divided among the waiting jobs: each is promised
//!                    a share, and the remainder is the pool
//! a turn begins      the job receives its promised share
//! a step ends        its cost is subtracted; if nothing is left, the job waits
//! all turns are      the unspent shares of jobs that do not wait go back to the
//! over               pool, and the pool is divided among the jobs that wait again
//! ```

use std::collections::VecDeque;
use std::task::Waker;

use slab::Slab;

use crate::core::call::Foreign;
use crate::time::Phase;

pub(super) struct Ledger {
    total: u64,
    /// The least amount for which a job is resumed once more in a frame.
    smallest: u64,
    /// The frame that the fields below describe; `None` before the first.
    frame: Option<u64>,
    /// The share that each job that waited for the frame receives in its turn.
    share: u64,
    /// The amount that is not promised to any job.
    pool: u64,
    /// By how much steps have exceeded the shares of their jobs. The pool pays for
    /// it, as far as it can.
    overdrawn: u64,
    jobs: Slab<Job>,
    /// The jobs that wait, in the order in which they began to.
    waiting: VecDeque<usize>,
    /// The job that has been woken to divide the pool when all turns are over.
    watcher: Option<usize>,
}

#[derive(Default)]
struct Job {
    /// The frame of its latest turn.
    turn: Option<u64>,
    /// The amount that it may still spend in that frame.
    left: u64,
    waits: Option<Waits>,
}

struct Waits {
    phase: Phase,
    waker: Option<Foreign<Waker>>,
    /// It was granted more in this frame, and has not resumed since.
    is_granted: bool,
}

impl Ledger {
    pub(super) fn new(total: u64, smallest: u64) -> Self {
        Ledger {
            total,
            smallest,
            frame: None,
            share: 0,
            pool: 0,
            overdrawn: 0,
            jobs: Slab::new(),
            waiting: VecDeque::new(),
            watcher: None,
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn jobs(&self) -> usize {
        self.jobs.len()
    }

    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn add_job(&mut self) -> usize {
        self.jobs.insert(Job::default())
    }

    /// Removes a job. It does not wait, because a checkpoint that waits borrows the
    /// job's budget.
    pub(super) fn remove_job(&mut self, job: usize) {
        let job = self.jobs.remove(job);
        if job.turn == self.frame {
            self.pool += job.left;
        }
    }

    /// Divides the total anew if `frame` is a new frame.
    fn begin_frame(&mut self, frame: u64) {
        if self.frame == Some(frame) {
            return;
        }
        self.frame = Some(frame);
        self.watcher = None;
        let waiting = self.waiting.len() as u64;
        self.share = self.total.checked_div(waiting).unwrap_or(0);
        self.pool = self.total - self.share * waiting;
        self.overdrawn = 0;
        for &job in &self.waiting {
            if let Some(waits) = &mut self.jobs[job].waits {
                waits.is_granted = false;
            }
        }
    }

    /// Subtracts the cost of a step. Returns whether the job may make another step.
    pub(super) fn charge(&mut self, frame: u64, job: usize, cost: u64) -> bool {
        self.begin_frame(frame);
        let job = &mut self.jobs[job];
        if job.turn != self.frame {
            // It has no promised share, because it has not waited for the frame.
            job.turn = self.frame;
            job.left = std::mem::take(&mut self.pool);
        }
        let paid = cost.min(job.left);
        job.left -= paid;
        let goes_on = job.left > 0;
        self.overdrawn = self.overdrawn.saturating_add(cost - paid);
        self.cover();
        goes_on
    }

    /// Pays for the overdrawn amount from the pool.
    fn cover(&mut self) {
        let paid = self.overdrawn.min(self.pool);
        self.pool -= paid;
        self.overdrawn -= paid;
    }

    /// Makes the job wait. Returns `false` if it already waits, elsewhere in its
    /// coroutine.
    pub(super) fn wait(&mut self, job: usize, phase: Phase) -> bool {
        let waits = &mut self.jobs[job].waits;
        if waits.is_some() {
            return false;
        }
        *waits = Some(Waits {
            phase,
            waker: None,
            is_granted: false,
        });
        self.waiting.push_back(job);
        true
    }

    /// Whether the job's waker wakes the same task as `waker`.
    pub(super) fn waits_with(&self, job: usize, waker: &Waker) -> bool {
        let waits = self.jobs[job].waits.as_ref();
        let current = waits.and_then(|waits| waits.waker.as_ref());
        current.is_some_and(|current| current.get().will_wake(waker))
    }

    /// Returns the previous waker. The caller drops it outside the borrow.
    pub(super) fn set_waker(
        &mut self,
        job: usize,
        waker: Foreign<Waker>,
    ) -> Option<Foreign<Waker>> {
        let waits = self.jobs[job].waits.as_mut()?;
        waits.waker.replace(waker)
    }

    /// Makes the job stop waiting. Returns its waker, which the caller drops
    /// outside the borrow.
    pub(super) fn stop_waiting(&mut self, job: usize) -> Option<Foreign<Waker>> {
        let waits = self.jobs[job].waits.take()?;
        if let Some(index) = self.waiting.iter().position(|&waiting| waiting == job) {
            self.waiting.remove(index);
        }
        if self.watcher == Some(job) {
            self.watcher = None;
        }
        if self.jobs[job].turn != self.frame {
            self.pool += self.share;
        }
        waits.waker
    }

    /// Begins the job's turn in `frame`: it stops waiting and receives its share.
    pub(super) fn begin_turn(&mut self, frame: u64, job: usize) -> Option<Foreign<Waker>> {
        self.begin_frame(frame);
        let promised = self.jobs[job].waits.is_some() && self.jobs[job].turn != self.frame;
        let waker = self.stop_waiting(job);
        if promised {
            self.pool -= self.share;
            let job = &mut self.jobs[job];
            job.turn = self.frame;
            job.left = self.share;
        }
        waker
    }

    /// Whether the job was granted more in `frame`.
    pub(super) fn is_granted(&self, frame: u64, job: usize) -> bool {
        let waits = self.jobs[job].waits.as_ref();
        self.frame == Some(frame) && waits.is_some_and(|waits| waits.is_granted)
    }

    /// Chooses a job to be woken when all turns in `phase` are over. A turn has
    /// begun, and without this job nothing would notice its unspent share.
    pub(super) fn choose_watcher(&mut self, phase: Phase) -> Option<Foreign<Waker>> {
        if self.watcher.is_some() {
            return None;
        }
        let job = self
            .waiting
            .iter()
            .copied()
            .find(|&job| self.is_spent(job, phase))?;
        self.watcher = Some(job);
        self.jobs[job].waits.as_mut()?.waker.take()
    }

    /// Whether the job was chosen as the watcher. It no longer is afterwards.
    pub(super) fn take_watcher(&mut self, job: usize) -> bool {
        self.watcher.take_if(|watcher| *watcher == job).is_some()
    }

    /// Whether a turn of another job is yet to come in this run of `phase`.
    pub(super) fn has_turns_to_come(&self, phase: Phase) -> bool {
        self.waiting.iter().any(|&job| {
            let job = &self.jobs[job];
            let waits = job.waits.as_ref();
            job.turn != self.frame && waits.is_some_and(|waits| waits.phase == phase)
        })
    }

    /// Divides the pool among the jobs that have spent their shares in `phase`.
    pub(super) fn settle(&mut self, frame: u64, phase: Phase) {
        self.begin_frame(frame);
        for (_, job) in &mut self.jobs {
            if job.waits.is_none() && job.turn == self.frame {
                self.pool += std::mem::take(&mut job.left);
            }
        }
        self.cover();
        let spent = self
            .waiting
            .iter()
            .filter(|&&job| self.is_spent(job, phase));
        let count = spent.count() as u64;
        let each = self.pool.checked_div(count).unwrap_or(0).max(self.smallest);
        for index in 0..self.waiting.len() {
            let job = self.waiting[index];
            if self.pool < each || !self.is_spent(job, phase) {
                continue;
            }
            self.pool -= each;
            let job = &mut self.jobs[job];
            job.left = each;
            if let Some(waits) = &mut job.waits {
                waits.is_granted = true;
            }
        }
    }

    /// Whether the job has had its turn in this frame and waits for more in
    /// `phase`.
    fn is_spent(&self, job: usize, phase: Phase) -> bool {
        let job = &self.jobs[job];
        let waits = job.waits.as_ref();
        job.turn == self.frame && waits.is_some_and(|w| w.phase == phase && !w.is_granted)
    }

    /// Takes the waker of the first job that was granted more and has not been
    /// woken.
    pub(super) fn next_granted(&mut self) -> Option<Foreign<Waker>> {
        self.waiting.iter().find_map(|&job| {
            let waits = self.jobs[job].waits.as_mut()?;
            if waits.is_granted {
                waits.waker.take()
            } else {
                None
            }
        })
    }
}
