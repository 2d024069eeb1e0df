//! The state that an executor, its handles and its coroutines share.
//!
//! [`Core`] holds the parts. Each part is a type with an interface of its own.
//! The modules below implement the methods of [`Core`] that move data between
//! parts. No part is borrowed while user code runs (see [`call`]). Code that
//! calls user code keeps keys across the call, not borrows.

mod close;
mod end;
mod entry;
mod inspect;
mod list;
mod outside;
mod own_time;
mod owned;
mod panics;
mod pause;
mod phases;
mod queue;
mod ready;
mod registration;
mod returned;
mod run;
mod shared;
mod start;
mod tag;
mod unread;
mod wake;
mod watch;
mod yielding;

pub(crate) mod call;
pub(crate) mod cell;
pub(crate) mod key;
pub(crate) mod named;
pub(crate) mod owners;
pub(crate) mod scope;
pub(crate) mod task;
pub(crate) mod timer;
pub(crate) mod waker;

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::rc::{Rc, Weak};
use std::task::Waker;
use std::time::Duration;

use crate::coroutine::CoroutineId;
use crate::core::task::TaskKey;
use crate::inspect::{Report, Reports, Watch};
use crate::lend::Lending;
use crate::time::{
    Clock, ClockIndex, ClockRef, ClockState, FrameClock, Nanos, Phase, PhaseIndex, Step, Time,
};

use cell::Guarded;
use owners::Owners;
use key::WaitKey;
use phases::PhaseState;
use task::{Flags, Task, Tasks};
use waker::Inbox;
use waker::sync::Arc;

pub(crate) use outside::Telling;
pub(crate) use own_time::OwnTime;
pub(crate) use panics::{Panicked, PassOn};
pub(crate) use pause::grown_ns;
pub(crate) use registration::{Bound, Place, Registration, another_executor};
pub(crate) use returned::Reader;
pub(crate) use start::{Home, Name, refuse, unnamed};
pub(crate) use timer::Unit;
pub(crate) use yielding::Turn;

/// The state of one executor.
pub(crate) struct Core {
    /// The number of this executor, unique in the program.
    pub(crate) id: u32,
    this: Weak<Core>,
    pub(crate) clock: Rc<FrameClock>,
    /// The handles of the game clock and of realtime, made on first use.
    game_clock: OnceCell<Clock>,
    realtime: OnceCell<Clock>,
    /// See [`own_time`].
    own_clock: Guarded<Option<Rc<ClockState>>>,
    pub(crate) tasks: Tasks,
    entries: Guarded<entry::Entries>,
    named_waits: Guarded<named::NamedWaits>,
    pub(crate) phases: phases::Phases,
    ready: ready::Ready,
    runs: run::Runs,
    starts: start::Starts,
    ends: end::Ends,
    panics: panics::Panics,
    unread: unread::Unread,
    pub(crate) owners: Guarded<Owners>,
    /// A buffer for the coroutines of one owner, kept to reuse its memory.
    owned: Guarded<Vec<TaskKey>>,
    /// A buffer for the readings of one coroutine's clocks, kept to reuse its memory.
    readings: Guarded<Vec<(ClockIndex, u64)>>,
    /// How many live coroutines are paused or have been paused.
    pauses: Cell<usize>,
    /// How often a coroutine was paused or resumed, ended after a pause, or became
    /// the holder of a shared wait.
    pause_changes: Cell<u64>,
    /// How many timers have been parked. Numbers them in order.
    parked: Cell<u64>,
    pub(crate) lent: Lending,
    pub(crate) inbox: Arc<Inbox>,
    outside: outside::Outside,
    arrivals: wake::Arrivals,
    pub(crate) reports: Reports,
    pub(crate) watch: Watch,
    closed: Cell<bool>,
}

impl Core {
    pub(crate) fn new(
        clock: FrameClock,
        max_polls_per_run: u32,
        pass_on: PassOn,
        watch: Watch,
    ) -> Rc<Core> {
        let tasks = Tasks::new();
        let id = tasks.executor();
        let core = Rc::new_cyclic(|this| Core {
            id,
            this: this.clone(),
            clock: Rc::new(clock),
            game_clock: OnceCell::new(),
            realtime: OnceCell::new(),
            own_clock: Guarded::default(),
            tasks,
            entries: Guarded::new(entry::Entries::new(id)),
            named_waits: Guarded::default(),
            phases: phases::Phases::new(id),
            ready: ready::Ready::default(),
            runs: run::Runs::new(max_polls_per_run),
            starts: start::Starts::default(),
            ends: end::Ends::default(),
            panics: panics::Panics::new(pass_on),
            unread: unread::Unread::default(),
            owners: Guarded::default(),
            owned: Guarded::default(),
            readings: Guarded::default(),
            pauses: Cell::new(0),
            pause_changes: Cell::new(0),
            parked: Cell::new(0),
            lent: Lending::default(),
            inbox: Arc::new(Inbox::default()),
            outside: outside::Outside::default(),
            arrivals: wake::Arrivals::default(),
            reports: Reports::default(),
            watch,
            closed: Cell::new(false),
        });
        scope::know(&core);
        let this = Rc::downgrade(&core);
        core.clock.on_quicker(Box::new(move || {
            if let Some(core) = this.upgrade() {
                core.note_due();
                core.tell_host();
            }
        }));
        core
    }

    #[inline]
    pub(crate) fn rc(&self) -> Rc<Core> {
        // Every borrower of a core holds an `Rc` of it.
        self.this.upgrade().expect("the core is in use")
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.get()
    }

    #[inline]
    pub(crate) fn id_of(&self, task: Task<'_>) -> CoroutineId {
        CoroutineId::new(self.id, task.task_key())
    }

    pub(crate) fn key_of(&self, id: CoroutineId) -> Option<TaskKey> {
        id.key_in(self.id)
    }

    pub(crate) fn is_alive(&self, key: TaskKey) -> bool {
        self.tasks.get(key).is_some_and(|task| task.is_alive())
    }

    /// Whether the coroutine is paused, itself or through an owner.
    pub(crate) fn is_paused(&self, key: TaskKey) -> bool {
        let task = self.tasks.get(key);
        task.is_some_and(|task| task.is_alive() && task.has(Flags::PAUSED))
    }

    /// The task that the wait under `key` resumes. `None` if the wait is not
    /// registered.
    fn task_of(&self, key: WaitKey) -> Option<Task<'_>> {
        if key == WaitKey::NONE {
            None
        } else if key.is_entry() {
            let task = self.entries.borrow().task(key)?;
            self.tasks.get(task).filter(|task| task.is_alive())
        } else {
            self.tasks.waiting(key)
        }
    }

    /// The game clock.
    pub(crate) fn game_clock(&self) -> &Clock {
        self.game_clock.get_or_init(|| Clock::game(&self.clock))
    }

    /// The realtime clock, which neither scales nor clamps the dt.
    pub(crate) fn realtime(&self) -> &Clock {
        self.realtime.get_or_init(|| Clock::realtime(&self.clock))
    }

    /// The time as the host reads it.
    pub(crate) fn game_time(&self) -> Time {
        self.clock.time(self.running_phase())
    }

    /// The time as the coroutine being polled reads it.
    #[inline]
    pub(crate) fn time(&self) -> Time {
        self.clock.time_seen(self.running_phase())
    }

    #[inline]
    pub(crate) fn running_phase(&self) -> Option<Phase> {
        self.runs.phase().map(PhaseIndex::phase)
    }

    /// The given name of the task, else the name of its future's type.
    pub(crate) fn name_of(&self, task: Task<'_>) -> Cow<'static, str> {
        let given = self.tasks.cold(task, |cold| cold.name.clone()).flatten();
        given.unwrap_or_else(|| Cow::Borrowed(self.tasks.type_name(task)))
    }

    /// Names a task.
    #[cold]
    pub(crate) fn name(&self, task: Task<'_>, name: Cow<'static, str>) {
        self.tasks.cold_or_new(task, |cold| cold.name = Some(name));
    }

    pub(crate) fn begin_frame(&self, dt: Nanos) {
        let _shown = self.show_game_clock();
        let dt = Step::of(dt);
        let dropped_ns = self.clock.begin_frame(dt);
        self.begin_queues();
        self.report_if_invalid(dt);
        if dropped_ns > 0 {
            self.report(&Report::TimeDropped {
                frame: self.clock.frame(),
                dropped: Duration::from_nanos(dropped_ns),
            });
        }
    }

    /// Begins a frame of a host that passes the length of the game clock's step
    /// too.
    pub(crate) fn begin_frame_with(&self, dt: Nanos, game_dt: Nanos) {
        let _shown = self.show_game_clock();
        let (dt, game_dt) = (Step::of(dt), Step::of(game_dt));
        self.clock.begin_frame_with(dt, game_dt);
        self.begin_queues();
        self.report_if_invalid(dt);
        self.report_if_invalid(game_dt);
    }

    fn begin_queues(&self) {
        self.phases.each(|_, state| state.begin_frame());
    }

    fn report_if_invalid(&self, step: Step) {
        if step.is_invalid {
            self.report(&Report::InvalidDelta {
                frame: self.clock.frame(),
                counted_as: Duration::from_nanos(step.counted_ns()),
            });
        }
    }

    /// Begins a fixed step of the length that the host passes.
    pub(crate) fn begin_fixed_step_of(&self, step: Nanos) {
        let _shown = self.show_game_clock();
        let step = Step::of(step);
        self.clock.begin_fixed_step_of(step);
        self.report_if_invalid(step);
    }

    /// Begins the next fixed step. Returns `false` if none is due, if the game clock
    /// is paused, or if the frame has had as many as it may have: then the steps left
    /// over are dropped and reported.
    pub(crate) fn begin_fixed_step(&self) -> bool {
        let _shown = self.show_game_clock();
        if self.clock.begin_fixed_step() {
            return true;
        }
        if self.clock.holds_steps() {
            return false;
        }
        let dropped_ns = self.clock.drop_fixed_steps();
        if dropped_ns > 0 {
            self.report(&Report::StepsDropped {
                frame: self.clock.frame(),
                dropped: Duration::from_nanos(dropped_ns),
            });
        }
        false
    }

    /// Ends the fixed steps until the next one begins.
    pub(crate) fn end_fixed_step(&self) {
        let _shown = self.show_game_clock();
        self.clock.end_fixed_step();
    }

    /// The reading of `clock` from which a wait for the phase of `state` counts that
    /// begins now, in the time of the phase: stepped time in the fixed phase, else
    /// frame time. Between two steps, stepped time includes the rest of the frame.
    #[inline]
    pub(crate) fn begin_ns(&self, state: &PhaseState, clock: ClockRef<'_>) -> u64 {
        match (clock, state.is_fixed) {
            (ClockRef::Game, false) => self.clock.frame_game_ns(),
            (ClockRef::Game, true) => self.clock.game_ns(),
            (ClockRef::Realtime, _) => self.clock.real_ns(),
            (ClockRef::Child(clock), false) => clock.frame_ns(),
            (ClockRef::Child(clock), true) => clock.stepped_begin_ns(),
        }
    }

    /// The present reading of `clock` in the time of the phase of `state`: stepped
    /// time in the fixed phase, else frame time.
    #[inline]
    pub(crate) fn reached_ns(&self, state: &PhaseState, clock: ClockRef<'_>) -> u64 {
        match (clock, state.is_fixed) {
            (ClockRef::Game, false) => self.clock.frame_game_ns(),
            (ClockRef::Game, true) => self.clock.fixed_ns(),
            (ClockRef::Realtime, _) => self.clock.real_ns(),
            (ClockRef::Child(clock), false) => clock.frame_ns(),
            (ClockRef::Child(clock), true) => clock.stepped_ns(),
        }
    }

    /// Calls the host's code in a scope of this executor.
    pub(crate) fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        let _telling = Telling(self);
        scope::enter(self, |_| call::out(f))
    }

    /// Sets the waker that is called when something becomes due outside of a run.
    pub(crate) fn set_host(&self, waker: Waker) {
        self.outside.set_host();
        self.inbox.set_host(waker);
    }

    /// Whether a coroutine is ready, waits for a phase, or counts frames or steps.
    pub(crate) fn has_ready(&self) -> bool {
        self.look();
        if self.inbox.has_messages() || self.arrivals.has_calls() || self.starts.has_any() {
            return true;
        }
        let may_step = self.clock.dt_until_step_at(0).is_some();
        let mut ready = false;
        self.phases.each(|_, state| {
            ready |= state.ready.keys.iter().any(|key| self.is_ready(key))
                || (may_step || !state.is_fixed) && state.has_waits(|key| self.is_live(key));
        });
        ready
    }

    /// The dt, in nanoseconds, after which the earliest timer is due.
    pub(crate) fn next_deadline(&self) -> Option<u64> {
        self.look();
        let mut next: Option<u64> = None;
        self.phases.each(|phase, state| {
            let mut timers = state.timers.borrow_mut();
            let due_at = |clock: ClockRef<'_>, deadline_ns| {
                let dt = self.dt_until(phase, clock, deadline_ns);
                next = next.into_iter().chain(dt).min();
            };
            let standing = |clock, due| self.standing(phase, clock, due);
            timers.each_earliest(self.pause_changes.get(), standing, due_at);
        });
        next
    }

    /// The dt, in nanoseconds, after which a run of `phase` finds `clock` at or
    /// past `deadline_ns`. `None` if the clock stands still.
    fn dt_until(&self, phase: PhaseIndex, clock: ClockRef<'_>, deadline_ns: u64) -> Option<u64> {
        let clocks = &self.clock;
        match (clock, phase == PhaseIndex::FIXED_UPDATE) {
            (ClockRef::Game, false) => clocks.dt_until_game_at(deadline_ns),
            (ClockRef::Game, true) => clocks.dt_until_step_at(deadline_ns),
            (ClockRef::Realtime, false) => Some(clocks.dt_until_real_at(deadline_ns)),
            // The phase runs only in a step.
            (ClockRef::Realtime, true) => {
                let dt = clocks.dt_until_real_at(deadline_ns);
                Some(dt.max(clocks.dt_until_step_at(0)?))
            }
            (ClockRef::Child(clock), false) => clock.dt_until(deadline_ns),
            (ClockRef::Child(clock), true) => clock.dt_until_step_at(deadline_ns),
        }
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        scope::forget(self.id);
    }
}
