//! How a wait begins and registers to be resumed.
//!
//! The first wait that a coroutine polls with its task waker registers with the
//! task itself. Every other wait registers with an [entry](entries). In both cases the
//! key of the wait is in a list (a queue, the counts, a wheel or a list of joins) until
//! the wait has been served or is dropped.

pub(crate) mod entries;
pub(crate) mod join;
mod renew;
pub(crate) mod tag;
pub(crate) mod waits;

use std::panic::Location;
use std::task::Context;

use crate::core::Core;
use crate::core::base::key::WaitKey;
use crate::core::pause::timers::Timer;
use crate::core::phase::state::{PhaseState, frame_of};
use crate::core::registration::renew::polled_by;
use crate::core::registration::tag::{Stage, Tag};
use crate::core::scope::Scope;
use crate::core::task::{Flags, FreeKey};
use crate::core::timer::{Counts, Unit};
use crate::inspect::Line;
use crate::time::{ClockIndex, ClockRef, PhaseIndex};

pub(crate) use crate::core::registration::tag::{Bound, Call};

/// The part that all waits have in common.
#[derive(Debug)]
pub(crate) struct Registration {
    /// The key under which the wait is or was registered. `NONE` before it begins
    /// and after it is over.
    key: WaitKey,
    /// The moment at which the wait began. Of one that has yet to begin, and of a shell: the number of the
    /// [function](Call) that has made it, above the ticket of the shell.
    began: u64,
    tag: Tag,
    /// A wait is neither `Send` nor `Sync`: on another thread, its destructor would not
    /// find the executor that it is registered with.
    _home: [*const (); 0],
}

const _: () = assert!(size_of::<Registration>() == 24);

/// Which list holds the key of a wait. Each kind of wait knows its own.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WaitList {
    /// The queue of its phase.
    Queue,
    /// The counts of its phase.
    Counts(Unit),
    /// The wheel of a clock, in its phase.
    Timer(ClockIndex),
    /// The joins of the joined task, or the waits for the end of an owner. Also for a wait that
    /// no run ends, which is in no list.
    Joins,
}

impl Registration {
    /// Makes the registration of a wait that resumes in `phase`.
    #[inline]
    pub(crate) const fn new(phase: PhaseIndex, bound: Bound) -> Self {
        Registration {
            key: WaitKey::NONE,
            began: 0,
            tag: Tag::new(phase, bound),
            _home: [],
        }
    }

    /// The phase in which the wait resumes. Before it begins, that may be
    /// [`PhaseIndex::HOME`].
    #[inline]
    pub(crate) fn phase(&self) -> PhaseIndex {
        self.tag.phase
    }

    /// Changes the phase.
    ///
    /// # Panics
    ///
    /// If the wait has begun.
    #[inline]
    #[track_caller]
    pub(crate) fn set_phase(&mut self, phase: PhaseIndex) {
        assert!(
            matches!(self.tag.stage, Stage::AtHome | Stage::New),
            "`in_phase` was called on a wait that has begun: call it before the wait is \
             first polled"
        );
        self.tag.phase = phase;
        self.tag.stage = Stage::New;
    }

    /// Whether the wait has not been polled yet, or was made as new.
    #[inline]
    pub(crate) fn is_new(&self) -> bool {
        matches!(self.tag.stage, Stage::AtHome | Stage::New | Stage::Renewed)
    }

    /// Whether the wait has been polled, and was not made as new since.
    #[inline(always)]
    pub(crate) fn has_begun(&self) -> bool {
        !self.is_new()
    }

    /// Whether the wait was made as new by another executor than `core`: its phase and its clock
    /// are of that one.
    pub(crate) fn is_renewed_elsewhere(&self, core: &Core) -> bool {
        self.tag.stage == Stage::Renewed && self.tag.executor != core.id
    }

    /// Whether the wait has not been polled yet, and names no phase.
    #[inline(always)]
    pub(crate) fn names_no_phase(&self) -> bool {
        self.tag.stage == Stage::AtHome
    }

    /// Says which function has made the wait.
    #[inline]
    pub(crate) const fn made_by(mut self, call: Call) -> Self {
        self.set_call(call);
        self
    }

    #[inline]
    pub(crate) const fn set_call(&mut self, call: Call) {
        self.began = (call as u64) << TICKET_BITS;
    }

    /// The function that has made the wait: `usual`, if it is that of its type.
    pub(crate) fn name_of(&self, usual: &'static str) -> &'static str {
        let number = match self.tag.stage {
            Stage::AtHome | Stage::New | Stage::Recorded => self.began >> TICKET_BITS,
            Stage::Renewed | Stage::Waiting | Stage::Done => 0,
        };
        Call::name_of(number).unwrap_or(usual)
    }

    /// Makes this the shell of a wait that a recorder has under a ticket. `serial` is the number of the recorder.
    #[inline]
    pub(crate) fn become_shell(&mut self, serial: u32, ticket: u64) {
        debug_assert!(self.is_new() || self.is_done());
        debug_assert!(ticket < 1 << TICKET_BITS);
        self.key = WaitKey::SHELL;
        self.began = self.began >> TICKET_BITS << TICKET_BITS | ticket;
        self.tag.executor = serial;
        self.tag.stage = Stage::Recorded;
    }

    /// Takes a new wait out, for a recorder.
    pub(crate) fn take_new(&self) -> Self {
        debug_assert!(self.is_new());
        let phase = if self.names_no_phase() {
            PhaseIndex::HOME
        } else {
            self.tag.phase
        };
        Registration::new(phase, self.tag.bound)
    }

    /// The ticket of a shell whose recorder has this number.
    #[inline]
    pub(crate) fn ticket_in(&self, serial: u32) -> Option<u64> {
        let is_it = self.tag.stage == Stage::Recorded && self.tag.executor == serial;
        is_it.then_some(ticket_of(self.began))
    }

    /// Whether a recorder has the wait.
    #[inline]
    pub(crate) fn is_shell(&self) -> bool {
        self.tag.stage == Stage::Recorded
    }

    /// Whether the wait has been ready.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.tag.stage == Stage::Done
    }

    #[inline(always)]
    pub(crate) fn bound(&self) -> Bound {
        self.tag.bound
    }

    /// The key under which the wait is, or was, registered.
    #[inline]
    pub(crate) fn key(&self) -> WaitKey {
        self.key
    }

    /// The moment at which the wait began.
    pub(crate) fn began(&self) -> u64 {
        self.began
    }

    /// A wait that has begun in another executor, and has this key in `core`.
    pub(crate) fn restored(
        core: &Core,
        key: WaitKey,
        began: u64,
        phase: PhaseIndex,
        bound: Bound,
    ) -> Self {
        Registration {
            key,
            began,
            tag: Tag::begun(core.id, phase, bound),
            _home: [],
        }
    }

    /// Whether the wait has a key. It is stale once the wait was served.
    pub(crate) fn is_registered(&self) -> bool {
        self.key != WaitKey::NONE
    }

    /// What snapshots and traces know the wait by.
    #[inline(always)]
    pub(crate) fn key_and_phase(&self) -> (WaitKey, PhaseIndex) {
        (self.key, self.tag.phase)
    }

    /// Notes that the wait begins now, in a poll of `scope`. Returns its phase.
    #[inline(always)]
    pub(crate) fn begin<'c>(&mut self, scope: &Scope<'c>) -> &'c PhaseState {
        if self.tag.phase == PhaseIndex::HOME {
            self.tag.phase = scope.home();
        }
        if self.tag.bound == Bound::FrameOrStep {
            self.tag.bound = match self.tag.phase {
                PhaseIndex::FIXED_UPDATE => Bound::Run,
                _ => Bound::Frame,
            };
        }
        let state = scope.phase_of(self.tag.phase);
        self.begin_in(state);
        state
    }

    #[inline(always)]
    fn begin_in(&mut self, state: &PhaseState) {
        self.began = state.moment.get();
        self.tag.executor = state.next_frame.executor;
        self.tag.stage = Stage::Waiting;
    }

    /// Begins a wait for a run of its phase the short way. Returns `false` if that is not
    /// possible. It is possible if `scope` is that of a run of the phase, the wait is the
    /// first in the poll of its coroutine, and the queue has room for the key.
    ///
    /// With `HOME`, the wait must name no phase. `bound` must be the bound of the wait,
    /// which most callers know at compile time.
    #[inline(always)]
    pub(crate) fn begin_in_its_run<const HOME: bool>(
        &mut self,
        scope: &Scope<'_>,
        cx: &Context<'_>,
        bound: Bound,
    ) -> bool {
        debug_assert!(bound == self.tag.bound);
        let free = scope.free_key(cx);
        free.is_some_and(|free| self.begin_with::<HOME>(scope, free, bound))
    }

    /// The same with a key that is free.
    #[inline(always)]
    pub(crate) fn begin_with<const HOME: bool>(
        &mut self,
        scope: &Scope<'_>,
        free: FreeKey<'_>,
        bound: Bound,
    ) -> bool {
        let state = scope.phase();
        let phase = if HOME {
            free.task().home()
        } else {
            self.tag.phase
        };
        let plain = phase == state.index && state.queue.push_in_place(free.get());
        if plain {
            self.tag = match bound {
                Bound::Run => state.next_run,
                _ => state.next_frame,
            };
            self.began = state.moment.get();
            self.key = free.register(bound != Bound::Run);
        }
        plain
    }

    /// Begins a wait for a run of its phase.
    #[inline(always)]
    pub(crate) fn begin_for_run(&mut self, scope: &Scope<'_>, cx: &Context<'_>) {
        let state = self.begin(scope);
        self.wait_for_run(scope, cx, state);
    }

    /// Panics if the wait began in another executor: frames and keys differ there.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn expect_of(&self, core: &Core) {
        if !self.is_of(core) {
            self.elsewhere();
        }
    }

    /// Whether the wait is not under way in another executor than `core`.
    #[inline(always)]
    pub(crate) fn is_of(&self, core: &Core) -> bool {
        // A recorder has another number than any executor.
        self.tag.executor == core.id || !matches!(self.tag.stage, Stage::Waiting | Stage::Recorded)
    }

    /// Panics because of a poll in another executor or script than that of the wait.
    #[cold]
    #[track_caller]
    pub(crate) fn elsewhere(&self) -> ! {
        if self.is_shell() {
            another_script("a wait", Location::caller())
        }
        another_executor()
    }

    /// Whether the wait is due, judging by frame or run number alone.
    ///
    /// # Panics
    ///
    /// If the wait began in another executor.
    #[inline]
    #[track_caller]
    pub(crate) fn is_due(&self, core: &Core) -> bool {
        self.expect_of(core);
        self.is_due_in(core.phases.get(self.tag.phase))
    }

    /// The same for the phase of the wait, in the executor of the wait.
    #[inline(always)]
    pub(crate) fn is_due_in(&self, state: &PhaseState) -> bool {
        let is_later = if self.is_frame_bound() {
            state.frame_of_run() > frame_of(self.began)
        } else {
            state.run_began.get() > self.began
        };
        self.tag.stage == Stage::Waiting && is_later
    }

    /// Whether `scope` resumes the coroutine by this wait. If so, ends the wait: nothing
    /// is left to cancel.
    #[inline(always)]
    pub(crate) fn take_resumed(&mut self, scope: &Scope<'_>) -> bool {
        let resumed = scope.is_resumed_by(self.key);
        if resumed {
            self.end();
        }
        resumed
    }

    #[inline(always)]
    pub(crate) fn end(&mut self) {
        self.key = WaitKey::NONE;
        self.tag.stage = Stage::Done;
    }

    /// Ends a wait that is ready, by a run or by the end of the task that it joins. The
    /// wait resumes nothing any more.
    #[inline(always)]
    pub(crate) fn finish(&mut self, core: &Core) {
        if self.key.is_entry() {
            core.entries.discard(self.key);
        } else if self.key != WaitKey::NONE {
            if let Some(task) = core.tasks.waiting(self.key) {
                task.deregister();
            }
        }
        self.end();
    }

    #[inline(always)]
    pub(crate) fn is_frame_bound(&self) -> bool {
        self.tag.bound == Bound::Frame
    }

    /// Whether the wait began in this frame and must wait for a later frame.
    fn is_for_later_frame(&self, state: &PhaseState) -> bool {
        self.is_frame_bound() && frame_of(self.began) == state.frame()
    }

    /// Registers the wait in the queue of the phase.
    #[inline(always)]
    fn wait_for_run(&mut self, scope: &Scope<'_>, cx: &Context<'_>, state: &PhaseState) {
        self.key = register_slowly(scope, cx, self.is_for_later_frame(state));
        state.queue.push(self.key);
    }

    /// Continues to wait for a run of the phase.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait_on_for_run(&mut self, scope: &Scope<'_>, cx: &Context<'_>) {
        if !self.renew(scope, cx, WaitList::Queue) {
            self.wait_for_run(scope, cx, scope.core().phases.get(self.tag.phase));
        }
    }

    /// Waits for the next run of the phase, behind the other waiters, because a condition
    /// did not hold.
    pub(crate) fn wait_again_for_run(&mut self, scope: &Scope<'_>, cx: &Context<'_>) {
        if scope.is_resumed_by(self.key) {
            // It is not registered any more.
            self.key = WaitKey::NONE;
        } else {
            self.cancel(WaitList::Queue);
        }
        // The wait is past its first frame, so it may be due in the next run.
        self.tag.bound = Bound::Run;
        self.begin_for_run(scope, cx);
    }

    /// Waits, or continues to wait, for the frame or the run of number `due`.
    pub(crate) fn wait_for_count(
        &mut self,
        scope: &Scope<'_>,
        cx: &Context<'_>,
        unit: Unit,
        due: u64,
    ) {
        // A wait that never ends needs no registration, like a timer of infinite length.
        if Counts::may_reach(due) && !self.renew(scope, cx, WaitList::Counts(unit)) {
            self.key = register(scope, cx, self.is_frame_bound());
            let state = scope.core().phases.get(self.tag.phase);
            state.note_other();
            state.counts.borrow_mut().insert(unit, due, self.key);
        }
    }

    /// Waits for a run of the phase at or past `deadline_ns`.
    #[inline(always)]
    pub(crate) fn wait_for_time(
        &mut self,
        scope: &Scope<'_>,
        cx: &Context<'_>,
        state: &PhaseState,
        clock: ClockRef<'_>,
        deadline_ns: u64,
    ) {
        let free = scope.free_key(cx);
        let Some(free) = free.filter(|free| !free.task().has(Flags::PAUSED)) else {
            return self.wait_for_time_slowly(scope, cx, state, clock, deadline_ns, false);
        };
        self.key = free.register(self.is_frame_bound());
        free.task().note_timer();
        self.add_timer(scope.core(), state, clock, deadline_ns);
    }

    /// The same if the wait may not be the first in the poll, or others may share it, or the
    /// coroutine has paused itself.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait_for_time_slowly(
        &mut self,
        scope: &Scope<'_>,
        cx: &Context<'_>,
        state: &PhaseState,
        clock: ClockRef<'_>,
        deadline_ns: u64,
        is_shared: bool,
    ) {
        self.key = register_slowly(scope, cx, self.is_frame_bound());
        self.add_timer(scope.core(), state, clock, deadline_ns);
        let core = scope.core();
        if is_shared {
            core.waits().set_shared(self.key);
        } else if let Some(task) = scope.current() {
            core.timers().note(task, self.key);
        }
    }

    /// Adds a timer that has just been registered to its list.
    #[inline(always)]
    fn add_timer(&self, core: &Core, state: &PhaseState, clock: ClockRef<'_>, deadline_ns: u64) {
        let key = self.key;
        let timer = Timer::new(self.tag.phase, clock.index(), deadline_ns);
        core.timers.set(key, timer);
        state.note_other();
        let mut timers = state.timers.borrow_mut();
        // A timer that is overdue when it is registered waits for the next
        // frame, but the wheel does not know frames. In the fixed phase such a
        // timer waits for the next step, which is the next run.
        let is_overdue = deadline_ns <= state.reached_ns(&core.clock, clock);
        if is_overdue && self.is_for_later_frame(state) {
            timers.insert_overdue(clock, deadline_ns, key, state.frame());
        } else {
            timers.insert(clock, deadline_ns, key);
        }
    }

    /// Notes that the wait checks a condition, for snapshots.
    pub(crate) fn note_condition(&self, core: &Core) {
        let key = self.key;
        if key.is_entry() {
            core.entries.borrow_mut().note_condition(key);
        } else if let Some(task) = core.tasks.waiting(key) {
            task.note_condition();
        }
    }
}

/// Registers a wait with the task itself or with an entry. The caller adds the
/// key to its list.
#[inline(always)]
fn register(scope: &Scope<'_>, cx: &Context<'_>, frame_bound: bool) -> WaitKey {
    match scope.free_key(cx) {
        Some(free) => free.register(frame_bound),
        None => register_slowly(scope, cx, frame_bound),
    }
}

/// The same when the wait may not be the first in the poll.
#[inline(always)]
fn register_slowly(scope: &Scope<'_>, cx: &Context<'_>, frame_bound: bool) -> WaitKey {
    let Some(own) = scope.own_task(cx) else {
        return register_foreign(scope, cx, frame_bound);
    };
    if let Some(free) = scope.find_free_key(own) {
        return free.register(frame_bound);
    }
    // Another branch of a `join!`.
    let core = scope.core();
    own.set(Flags::ENTRIES);
    // Outside of a run, the host may be polling the wait.
    core.host.note_due();
    let mut entries = core.entries.borrow_mut();
    entries.insert(own.task_key(), None, frame_bound)
}

/// Registers a wait that is polled with another waker than the task waker.
#[inline(always)]
fn register_foreign(scope: &Scope<'_>, cx: &Context<'_>, frame_bound: bool) -> WaitKey {
    let (task, waker) = polled_by(scope, cx, None);
    let core = scope.core();
    core.host.note_due();
    let mut entries = core.entries.borrow_mut();
    entries.insert(task, waker, frame_bound)
}

#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn another_executor() -> ! {
    panic!(
        "a wait that had begun in one executor was polled in another: \
         make a new one in the coroutine that awaits it"
    )
}

/// How many bits of [`Registration::began`] are the ticket of a shell.
const TICKET_BITS: u32 = 56;

#[inline]
const fn ticket_of(began: u64) -> u64 {
    began & ((1 << TICKET_BITS) - 1)
}

#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn another_script(wait: &str, at: Line) -> ! {
    panic!(
        "`{wait}` at {at} was begun by one script and polled by another, and one of them is durable: durable scripts \
         cannot share waits. Make a new one in the script that awaits it"
    )
}
