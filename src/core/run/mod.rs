//! One run of a phase: which coroutines are polled, in which order.
//!
//! ```text
//! 1  ready     spawned, woken or resumed from a pause before the run, by arrival
//! 2  waiters   of the phase, in the order they began to wait
//! 3  counts    by frame or run, then registration
//! 4  timers    clock by clock, by deadline, then registration
//! 5  ready     tasks that become ready during the run, in order
//! 6  requests  to stop whose time is over: what is left is stopped
//! ```
//!
//! After every poll, the joiners of the coroutines that ended in it are polled. A
//! [`Run`] holds the lists of one run and its position in each. So it continues
//! behind a coroutine that panicked. A run ends like a lock, even when something else
//! unwinds.

pub(crate) mod joins;
pub(crate) mod limits;
pub(crate) mod resume;

use std::cell::Cell;
use std::task::{Context, Waker};
use std::{mem, slice};

use joins::Completions;
use limits::Limits;
use resume::Resumer;

use crate::core::base::call::{self, Foreign, Payload};
use crate::core::base::cell::{Guarded, Restore};
use crate::core::base::key::{TaskKey, WaitKey};
use crate::core::life::end::{self, requests};
use crate::core::observe::{self, RunEvent};
use crate::core::phase::ready::{Listing, ReadyKey};
use crate::core::phase::state::PhaseState;
use crate::core::report::panics;
use crate::core::scope::{self, Scope};
use crate::core::task::Flags;
use crate::core::timer::wheel::TimerEntry;
use crate::core::wake::{self, calls};
use crate::core::{Core, pause};
use crate::time::{FrameClock, PhaseIndex};

/// How far ahead of its poll a task is fetched into the cache.
const PREFETCH_AHEAD: usize = 8;

/// How many waiters make fetching ahead worth its instructions. With fewer,
/// tasks stay in the caches.
const PREFETCH_FROM: usize = 16 << 10;

/// The run under way.
struct Run<'a> {
    core: &'a Core,
    /// The phase.
    state: &'a PhaseState,
    lists: Lists,
    next_ready: usize,
    next_waiter: usize,
    next_count: usize,
    next_timer: usize,
    /// Whether the requests to stop have been looked at.
    has_noted: bool,
    /// Counts the polls of this run.
    _limits: Restore<'a, u64>,
}

/// Panics at the caller's line if a run is under way or a coroutine is being polled: an
/// executor has one run at a time.
#[inline]
#[track_caller]
pub(crate) fn assert_idle(core: &Core, call: &str) {
    if core.runs.phase().is_some() || scope::is_polling(core) {
        is_not_idle(core, call);
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn is_not_idle(core: &Core, call: &str) -> ! {
    let cause = match core.runs.phase() {
        Some(phase) => format!("its {} run is under way", phase.phase()),
        None => "one of its coroutines is being polled".into(),
    };
    panic!(
        "`{call}` was called on an executor while {cause}: \
         call it from the host's loop, outside of the executor's own runs"
    );
}

/// Runs `phase`: polls all coroutines that are due in it.
pub(crate) fn run_phase(core: &Core, phase: PhaseIndex) {
    let clock = &*core.clock;
    if has_news(core) {
        return run_phase_with_news(core, phase);
    }
    let state = begin_run(core, clock, phase);
    if state.is_idle() {
        // Most phases of most frames end here.
        core.host.rearm();
    } else {
        run_due(core, state);
    }
}

/// Whether a run has work beside its polls: before it begins, or after it ends.
#[inline(always)]
fn has_news(core: &Core) -> bool {
    core.host.injected.has_news() || core.arrivals.has_work()
}

#[inline(never)]
fn run_phase_with_news(core: &Core, phase: PhaseIndex) {
    core.host.injected.acknowledge();
    core.host.begin_run();
    wake::take_messages(core);
    if core.instruments.is_on() {
        observe::tell_of_run(core, RunEvent::Near);
    }
    // The trace hook hears of what the messages spawned.
    observe::send_events(core);
    calls::make(core);
    let state = begin_run(core, &core.clock, phase);
    if state.is_idle() && !core.starts.has_any() && !core.arrivals.has_requests() {
        core.host.rearm();
        end_run(core);
    } else {
        run_due(core, state);
    }
}

#[inline(always)]
fn begin_run<'a>(core: &'a Core, clock: &FrameClock, phase: PhaseIndex) -> &'a PhaseState {
    let state = core.phases.get(phase);
    clock.enter_phase(phase);
    state.begin_run(clock);
    state
}

/// Polls what is due in a run that has begun, and ends the run.
#[inline(never)]
fn run_due(core: &Core, state: &PhaseState) {
    core.host.begin_run();
    core.runs.serial.set(core.runs.serial() + 1);
    if core.instruments.is_on() {
        observe::tell_of_run(core, RunEvent::PhaseBegan(state.index));
    }
    let mut run = Run::begin(core, state);
    if !run.is_idle() || core.arrivals.has_requests() {
        run.poll_all();
    }
    drop(run);
    if core.instruments.is_on() {
        observe::tell_of_run(core, RunEvent::PhaseEnded(state.index));
    }
    end_run(core);
}

/// Sends the events of a run that has ended to the trace hook, and passes a panic on to
/// the host.
fn end_run(core: &Core) {
    observe::send_events(core);
    panics::let_panic_through(core);
}

impl<'a> Run<'a> {
    /// Takes the lists for a run. Its phase has counted the run already.
    fn begin(core: &'a Core, state: &'a PhaseState) -> Self {
        let phase = state.index;
        let runs = &core.runs;
        let mut run = Run {
            core,
            state,
            lists: runs.lists.take(),
            next_ready: 0,
            next_waiter: 0,
            next_count: 0,
            next_timer: 0,
            has_noted: false,
            _limits: runs.limits.begin(core.tasks.alive()),
        };
        runs.phase.set(Some(phase));
        run.lists.ready = state.ready.take();
        let is_later = |key| core.waits().is_for_later_frame(key);
        run.lists.waiters = state.queue.take_due(is_later);
        {
            let (frame, runs) = (state.frame_of_run(), state.runs.get());
            let mut counts = state.counts.borrow_mut();
            counts.expire(frame, runs, &mut run.lists.counts);
        }
        state.expire_timers(&mut run.lists.timers);
        core.timers().keep_due(state, &mut run.lists.timers);
        if core.starts.has_any() {
            run.begin_starts();
        }
        run
    }

    /// Puts the deferred starts at the front of the ready tasks.
    #[cold]
    fn begin_starts(&mut self) {
        let core = self.core;
        let mut first = Vec::new();
        for key in core.starts.deferred.take() {
            let Some(task) = core.tasks.get(key).filter(|task| task.is_alive()) else {
                continue;
            };
            if task.has(Flags::PAUSED) {
                pause::remember_wake(core, task, task.home());
            } else {
                let becomes = !task.has(Flags::READY);
                task.set(Flags::READY);
                first.push(core.ready.key(task.index(), becomes, Listing::Away));
            }
        }
        core.runs.limits.begin_starts(first.len());
        self.lists.ready.splice(..0, first);
    }

    /// Whether the run that has begun has nothing to poll.
    fn is_idle(&self) -> bool {
        let lists = &self.lists;
        lists.ready.is_empty()
            && lists.waiters.is_empty()
            && lists.counts.is_empty()
            && lists.timers.is_empty()
    }

    /// Polls all that is due. Continues after a coroutine that panics.
    #[inline(never)]
    fn poll_all(&mut self) {
        let core = self.core;
        scope::enter_run(core, self.state, |scope| {
            fire_due(core, &self.lists);
            while let Err(payload) = call::catch(|| self.poll_due(scope)) {
                end_panicked(core, scope, payload);
            }
        });
    }

    /// Polls all that is due, from the run's positions in its lists on.
    fn poll_due(&mut self, scope: &Scope<'a>) {
        let core = self.core;
        let resumer = Resumer { core, scope };
        let mut cx = scope.context();
        // Joiners left from before the first poll, or by a poll that panicked.
        resumer.poll_waiting_joiners(&mut cx);
        let mut ready = Position::new(&self.lists.ready, &mut self.next_ready);
        for &key in ready.rest.by_ref() {
            resumer.resume_ready(key, &mut cx);
            resumer.poll_joiners(&mut cx);
        }
        drop(ready);
        if self.lists.waiters.len() > PREFETCH_FROM {
            self.poll_waiters::<true>(resumer, &mut cx);
        } else {
            self.poll_waiters::<false>(resumer, &mut cx);
        }
        let mut counts = Position::new(&self.lists.counts, &mut self.next_count);
        for &key in counts.rest.by_ref() {
            resumer.resume_wait(key, &mut cx);
            resumer.poll_joiners(&mut cx);
        }
        drop(counts);
        self.poll_timers(resumer, &mut cx);
        loop {
            while let Some(key) = core.ready.pop() {
                resumer.resume_ready_in_run(key, &mut cx);
                resumer.poll_joiners(&mut cx);
            }
            scope.clear_current();
            // After everything that is due: what ends by itself in this run is not stopped.
            if !core.arrivals.has_requests() || !self.serve_request() {
                return;
            }
            resumer.poll_joiners(&mut cx);
        }
    }

    /// Stops what the next request to stop has left over. Returns `false` if there is none.
    #[cold]
    #[inline(never)]
    fn serve_request(&mut self) -> bool {
        if !mem::replace(&mut self.has_noted, true) {
            requests::note_run(self.core, self.state);
        }
        requests::serve_next(self.core)
    }

    /// The hot loop: coroutines that waited for the phase, and mostly wait for it
    /// again. It is a function of its own so that its variables stay in registers.
    #[inline(never)]
    fn poll_waiters<'s, const PREFETCH: bool>(
        &mut self,
        resumer: Resumer<'a, 's>,
        cx: &mut Context<'s>,
    ) {
        let mut waiters = Position::new(&self.lists.waiters, &mut self.next_waiter);
        while let Some(&key) = waiters.rest.next() {
            if PREFETCH {
                prefetch(
                    self.core,
                    waiters.rest.as_slice().get(PREFETCH_AHEAD).copied(),
                );
            }
            resumer.resume_wait(key, cx);
            resumer.poll_joiners(cx);
        }
    }

    fn poll_timers<'s>(&mut self, resumer: Resumer<'a, 's>, cx: &mut Context<'s>) {
        let mut timers = Position::new(&self.lists.timers, &mut self.next_timer);
        while let Some(due) = timers.rest.next() {
            let ahead = timers.rest.as_slice().get(PREFETCH_AHEAD);
            prefetch(self.core, ahead.map(|due| WaitKey::from_bits(due.key)));
            resumer.resume_wait(WaitKey::from_bits(due.key), cx);
            resumer.poll_joiners(cx);
        }
    }
}

/// The position of a run in one of its lists. It is written back once: when the loop
/// over the list ends or unwinds.
struct Position<'a, T> {
    rest: slice::Iter<'a, T>,
    len: usize,
    next: &'a mut usize,
}

impl<'a, T> Position<'a, T> {
    fn new(list: &'a [T], next: &'a mut usize) -> Self {
        Position {
            rest: list[*next..].iter(),
            len: list.len(),
            next,
        }
    }
}

impl<T> Drop for Position<'_, T> {
    fn drop(&mut self) {
        *self.next = self.len - self.rest.len();
    }
}

/// Fetches a task that will be polled soon into the cache, by the key of its wait.
#[inline(always)]
fn prefetch(core: &Core, ahead: Option<WaitKey>) {
    if let Some(key) = ahead.filter(|key| !key.is_entry()) {
        core.tasks.prefetch(key.task_index());
    }
}

/// Gives the lists back, even when the run unwinds.
impl Drop for Run<'_> {
    fn drop(&mut self) {
        let core = self.core;
        core.runs.phase.set(None);
        let mut lists = mem::take(&mut self.lists);
        lists.counts.clear();
        lists.timers.clear();
        let state = self.state;
        let (ready, waiters) = (mem::take(&mut lists.ready), mem::take(&mut lists.waiters));
        state.ready.give_back(ready);
        state.queue.give_back(waiters);
        core.runs.lists.replace(lists);
        core.host.rearm();
    }
}

/// Ends the coroutine that panicked in the poll of `scope`.
#[cold]
fn end_panicked(core: &Core, scope: &Scope<'_>, payload: Payload) {
    let Some(task) = scope.current() else {
        // Not a panic of a coroutine: the host has to see it.
        std::panic::resume_unwind(payload);
    };
    scope.clear_current();
    task.clear(Flags::READY);
    end::end(core, task, Some(payload));
}

/// The state of an executor's runs.
pub(crate) struct Runs {
    /// The phase of the run under way.
    pub(crate) phase: Cell<Option<PhaseIndex>>,
    /// The coroutine of the due wait whose foreign waker is being called. If that wakes it,
    /// it is ready in the run under way.
    pub(crate) fired: Cell<Option<TaskKey>>,
    /// How many runs there have been, of all phases.
    pub(crate) serial: Cell<u64>,
    /// The lists of the latest run, kept to reuse their memory. The lists that a phase
    /// lends return to that phase.
    pub(crate) lists: Guarded<Lists>,
    pub(crate) completions: Completions,
    pub(crate) limits: Limits,
}

impl Runs {
    pub(crate) fn new(max_polls_per_run: u32) -> Self {
        Runs {
            phase: Cell::new(None),
            fired: Cell::new(None),
            serial: Cell::new(0),
            lists: Guarded::default(),
            completions: Completions::default(),
            limits: Limits::new(max_polls_per_run),
        }
    }

    /// The phase of the run under way.
    #[inline(always)]
    pub(crate) fn phase(&self) -> Option<PhaseIndex> {
        self.phase.get()
    }

    /// How many runs there have been, of all phases.
    #[inline(always)]
    pub(crate) fn serial(&self) -> u64 {
        self.serial.get()
    }
}

/// The lists that a run polls.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    pub(crate) ready: Vec<ReadyKey>,
    pub(crate) waiters: Vec<WaitKey>,
    pub(crate) counts: Vec<WaitKey>,
    pub(crate) timers: Vec<TimerEntry>,
}

/// Calls the foreign wakers of all waits that are due in the run that has begun. That
/// happens before the first poll. Then each coroutine is polled once, and its
/// combinators know all of their futures that are ready.
pub(crate) fn fire_due(core: &Core, lists: &Lists) {
    if !core.entries.borrow().has_foreign() {
        return;
    }
    let timers = lists.timers.iter().map(|due| WaitKey::from_bits(due.key));
    let waits = lists.waiters.iter().chain(&lists.counts).copied();
    for key in waits.chain(timers) {
        fire_in_run(core, key);
    }
}

/// Calls the foreign waker of a wait that is due in the run under way. If that wakes the
/// coroutine of the wait, the wake belongs to the wait: it counts for this run.
#[inline(always)]
fn fire_in_run(core: &Core, key: WaitKey) {
    if let Some((task, waker)) = take(core, key) {
        let _fired = Restore::after_setting(&core.runs.fired, Some(task));
        call::quietly(|| waker.into_inner().wake());
    }
}

/// Calls the foreign waker of a join that is over. The waker may wake the same coroutine.
/// Then the run polls it for the join, or for the wake if the join is gone by then.
pub(in crate::core) fn fire(core: &Core, key: WaitKey) {
    if let Some((_, waker)) = take(core, key) {
        call::quietly(|| waker.into_inner().wake());
    }
}

#[inline(always)]
fn take(core: &Core, key: WaitKey) -> Option<(TaskKey, Foreign<Waker>)> {
    if !key.is_entry() {
        return None;
    }
    core.entries.borrow_mut().take_waker(key)
}
