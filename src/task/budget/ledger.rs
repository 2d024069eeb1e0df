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
//!
//! No function goes through all jobs: each uses a list of the jobs concerned. A job
//! leaves a list by a change of its own state. Its entry goes stale, and is skipped
//! later.

use std::collections::VecDeque;
use std::task::Waker;

use slab::Slab;

use crate::core::base::call::Foreign;
use crate::time::Phase;

pub(super) struct Ledger {
    total: u64,
    /// The smallest amount worth another resume of a job in the same frame.
    smallest: u64,
    /// The frame that the fields below describe; `None` before the first.
    frame: Option<u64>,
    /// How many frames have been divided: the number of this one.
    round: u64,
    /// The share that each job that waited for the frame receives in its turn.
    share: u64,
    /// The amount that is not promised to any job.
    pool: u64,
    /// By how much steps have exceeded the shares of their jobs. The pool covers as
    /// much of it as possible.
    overdrawn: u64,
    jobs: Slab<Job>,
    /// How many jobs wait.
    waiting: usize,
    /// How often a job has begun to wait.
    began: u64,
    /// The phases in which jobs have waited.
    phases: Vec<InPhase>,
    /// The jobs that may have something left in this frame.
    holders: Vec<usize>,
    /// The jobs that were granted more in this frame, in order. Their wakers have
    /// yet to be called.
    granted: VecDeque<usize>,
    /// The job that has been woken to divide the pool when all turns are over.
    watcher: Option<usize>,
}

#[derive(Default)]
struct Job {
    /// The round of its latest turn.
    turn: u64,
    /// The amount that it may still spend in that round.
    left: u64,
    waits: Option<Waits>,
}

struct Waits {
    phase: Phase,
    waker: Option<Foreign<Waker>>,
    /// The value of [`Ledger::began`] when the wait began.
    began: u64,
    /// The round in which it was granted more. It has not resumed since.
    granted: Option<u64>,
}

/// The jobs that wait in one phase.
struct InPhase {
    phase: Phase,
    waiting: usize,
    /// How many of them have not had their turn in this round.
    to_come: usize,
    /// Those that have had their turn and wait for more, in the order they began
    /// to. Stale places are included.
    spent: VecDeque<Place>,
    /// How many places of `spent` are not stale.
    spent_jobs: usize,
}

#[derive(Clone, Copy)]
struct Place {
    job: usize,
    began: u64,
}

impl Ledger {
    pub(super) fn new(total: u64, smallest: u64) -> Self {
        Ledger {
            total,
            smallest,
            frame: None,
            round: 0,
            share: 0,
            pool: 0,
            overdrawn: 0,
            jobs: Slab::new(),
            waiting: 0,
            began: 0,
            phases: Vec::new(),
            holders: Vec::new(),
            granted: VecDeque::new(),
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
        self.waiting
    }

    pub(super) fn add_job(&mut self) -> usize {
        self.jobs.insert(Job::default())
    }

    /// Removes a job. It waits only if its checkpoint was forgotten. Returns its
    /// waker, which the caller drops outside the borrow.
    pub(super) fn remove_job(&mut self, job: usize) -> Option<Foreign<Waker>> {
        let waker = self.stop_waiting(job);
        let job = self.jobs.remove(job);
        if job.turn == self.round {
            self.pool += job.left;
        }
        waker
    }

    /// Divides the total again if `frame` is a new frame.
    fn begin_frame(&mut self, frame: u64) {
        if self.frame == Some(frame) {
            return;
        }
        self.frame = Some(frame);
        self.round += 1;
        self.watcher = None;
        let waiting = self.waiting as u64;
        self.share = self.total.checked_div(waiting).unwrap_or(0);
        self.pool = self.total - self.share * waiting;
        self.overdrawn = 0;
        self.holders.clear();
        self.granted.clear();
        for in_phase in &mut self.phases {
            in_phase.to_come = in_phase.waiting;
            in_phase.spent.clear();
            in_phase.spent_jobs = 0;
        }
    }

    /// Subtracts the cost of a step. Returns whether the job may make another step.
    pub(super) fn charge(&mut self, frame: u64, index: usize, cost: u64) -> bool {
        self.begin_frame(frame);
        if self.jobs[index].turn != self.round {
            self.begin_turn_by_charge(index);
        }
        let job = &mut self.jobs[index];
        let paid = cost.min(job.left);
        job.left -= paid;
        let goes_on = job.left > 0;
        self.overdrawn = self.overdrawn.saturating_add(cost - paid);
        self.cover();
        goes_on
    }

    /// Begins the turn of a job that makes a step before it resumes from a wait for
    /// the frame.
    fn begin_turn_by_charge(&mut self, index: usize) {
        let job = &mut self.jobs[index];
        job.turn = self.round;
        self.holders.push(index);
        if let Some(waits) = &job.waits {
            // It waits elsewhere in its coroutine, and has a promised share.
            let (phase, began) = (waits.phase, waits.began);
            job.left = self.share;
            self.in_phase(phase).to_come -= 1;
            self.add_spent(phase, Place { job: index, began });
        } else {
            job.left = std::mem::take(&mut self.pool);
        }
    }

    /// Pays for the overdrawn amount from the pool.
    fn cover(&mut self) {
        let paid = self.overdrawn.min(self.pool);
        self.pool -= paid;
        self.overdrawn -= paid;
    }

    /// Makes a job that has had its turn wait. Returns `false` if it already waits,
    /// elsewhere in its coroutine.
    pub(super) fn wait(&mut self, index: usize, phase: Phase) -> bool {
        let began = self.began;
        let waits = &mut self.jobs[index].waits;
        if waits.is_some() {
            return false;
        }
        *waits = Some(Waits {
            phase,
            waker: None,
            began,
            granted: None,
        });
        self.began += 1;
        self.waiting += 1;
        self.in_phase(phase).waiting += 1;
        self.add_spent(phase, Place { job: index, began });
        true
    }

    /// The jobs that wait in `phase`.
    fn in_phase(&mut self, phase: Phase) -> &mut InPhase {
        let found = self.phases.iter().position(|known| known.phase == phase);
        let index = found.unwrap_or_else(|| {
            self.phases.push(InPhase {
                phase,
                waiting: 0,
                to_come: 0,
                spent: VecDeque::new(),
                spent_jobs: 0,
            });
            self.phases.len() - 1
        });
        &mut self.phases[index]
    }

    /// Adds a job that has had its turn and waits for more in `phase`. Removes stale
    /// places, if most places are stale.
    fn add_spent(&mut self, phase: Phase, place: Place) {
        let in_phase = self.in_phase(phase);
        in_phase.spent_jobs += 1;
        in_phase.spent.push_back(place);
        if in_phase.spent.len() > 8 + 2 * in_phase.spent_jobs {
            let mut spent = std::mem::take(&mut in_phase.spent);
            spent.retain(|&place| self.is_spent(place));
            self.in_phase(phase).spent = spent;
        }
    }

    /// Whether the job's waker wakes the same task as `waker`.
    pub(super) fn waits_with(&self, job: usize, waker: &Waker) -> bool {
        let waits = self.jobs[job].waits.as_ref();
        let current = waits.and_then(|waits| waits.waker.as_ref());
        current.is_some_and(|current| current.get().will_wake(waker))
    }

    /// Returns the previous waker, or `waker` if the job does not wait. The caller
    /// drops it outside the borrow.
    pub(super) fn set_waker(
        &mut self,
        index: usize,
        waker: Foreign<Waker>,
    ) -> Option<Foreign<Waker>> {
        let Some(waits) = self.jobs[index].waits.as_mut() else {
            return Some(waker);
        };
        if waits.granted == Some(self.round) {
            // While its waker was cloned.
            self.granted.push_back(index);
        }
        waits.waker.replace(waker)
    }

    /// Makes the job stop waiting. Returns its waker, which the caller drops
    /// outside the borrow.
    pub(super) fn stop_waiting(&mut self, index: usize) -> Option<Foreign<Waker>> {
        let round = self.round;
        let job = &mut self.jobs[index];
        let waits = job.waits.take()?;
        let has_turned = job.turn == round;
        if has_turned && job.left > 0 {
            self.holders.push(index);
        }
        if self.watcher == Some(index) {
            self.watcher = None;
        }
        self.waiting -= 1;
        let share = self.share;
        let in_phase = self.in_phase(waits.phase);
        in_phase.waiting -= 1;
        if !has_turned {
            in_phase.to_come -= 1;
            self.pool += share;
        } else if waits.granted != Some(round) {
            in_phase.spent_jobs -= 1;
        }
        waits.waker
    }

    /// Begins the job's turn in `frame`: it stops waiting and receives its share.
    pub(super) fn begin_turn(&mut self, frame: u64, index: usize) -> Option<Foreign<Waker>> {
        self.begin_frame(frame);
        let job = &self.jobs[index];
        let promised = job.waits.is_some() && job.turn != self.round;
        let waker = self.stop_waiting(index);
        if promised {
            self.pool -= self.share;
            let job = &mut self.jobs[index];
            job.turn = self.round;
            job.left = self.share;
            self.holders.push(index);
        }
        waker
    }

    /// Whether the job was granted more in `frame`.
    pub(super) fn is_granted(&self, frame: u64, job: usize) -> bool {
        let waits = self.jobs[job].waits.as_ref();
        self.frame == Some(frame) && waits.is_some_and(|w| w.granted == Some(self.round))
    }

    /// Chooses a job, the watcher, to be woken when all turns in `phase` are over.
    /// Otherwise nothing would notice the unspent share of a turn that has begun.
    pub(super) fn choose_watcher(&mut self, phase: Phase) -> Option<Foreign<Waker>> {
        if self.watcher.is_some() || self.in_phase(phase).spent_jobs == 0 {
            return None;
        }
        while self.first_is_stale(phase) {
            self.in_phase(phase).spent.pop_front();
        }
        let known = self.phases.iter().find(|known| known.phase == phase)?;
        let can_watch = |place: &&Place| {
            let waits = self.jobs.get(place.job).and_then(|job| job.waits.as_ref());
            self.is_spent(**place) && waits.is_some_and(|waits| waits.waker.is_some())
        };
        let job = known.spent.iter().find(can_watch)?.job;
        self.watcher = Some(job);
        self.jobs[job].waits.as_mut()?.waker.take()
    }

    fn first_is_stale(&mut self, phase: Phase) -> bool {
        let first = self.in_phase(phase).spent.front().copied();
        first.is_some_and(|place| !self.is_spent(place))
    }

    /// Whether the job was chosen as the watcher; ends its role.
    pub(super) fn take_watcher(&mut self, job: usize) -> bool {
        self.watcher.take_if(|watcher| *watcher == job).is_some()
    }

    /// Whether a turn of another job is yet to come in this run of `phase`.
    pub(super) fn has_turns_to_come(&mut self, phase: Phase) -> bool {
        self.in_phase(phase).to_come > 0
    }

    /// Divides the pool among the jobs that have spent their shares in `phase`.
    pub(super) fn settle(&mut self, frame: u64, phase: Phase) {
        self.begin_frame(frame);
        while let Some(index) = self.holders.pop() {
            let job = self.jobs.get_mut(index);
            if let Some(job) = job.filter(|job| job.waits.is_none() && job.turn == self.round) {
                self.pool += std::mem::take(&mut job.left);
            }
        }
        self.cover();
        let count = self.in_phase(phase).spent_jobs as u64;
        let each = self.pool.checked_div(count).unwrap_or(0).max(self.smallest);
        while self.pool >= each {
            let Some(place) = self.in_phase(phase).spent.pop_front() else {
                return;
            };
            if self.is_spent(place) {
                self.in_phase(phase).spent_jobs -= 1;
                self.pool -= each;
                self.grant(place.job, each);
            }
        }
    }

    /// Grants `amount` to a job that waits for more in this round.
    fn grant(&mut self, index: usize, amount: u64) {
        let job = &mut self.jobs[index];
        job.left = amount;
        if let Some(waits) = &mut job.waits {
            waits.granted = Some(self.round);
        }
        self.granted.push_back(index);
    }

    /// Whether a place is not stale: its job has had its turn in this round and
    /// waits for more.
    fn is_spent(&self, place: Place) -> bool {
        let Some(job) = self.jobs.get(place.job) else {
            return false;
        };
        let waits = job.waits.as_ref();
        let waits_there = |waits: &Waits| waits.began == place.began;
        job.turn == self.round && waits.is_some_and(|w| waits_there(w) && w.granted.is_none())
    }

    /// Takes the waker of the first job that was granted more and has not been
    /// woken.
    pub(super) fn next_granted(&mut self) -> Option<Foreign<Waker>> {
        while let Some(index) = self.granted.pop_front() {
            let waits = self.jobs.get_mut(index).and_then(|job| job.waits.as_mut());
            let granted = waits.filter(|waits| waits.granted == Some(self.round));
            if let Some(waker) = granted.and_then(|waits| waits.waker.take()) {
                return Some(waker);
            }
        }
        None
    }
}
