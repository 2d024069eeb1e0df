//! The state that an executor, its handles and its coroutines share.
//!
//! [`Core`] holds the *parts*. A part owns its state and the methods on it, takes the
//! other parts that it needs as arguments, and calls no user code. The *acts* are
//! functions on the whole core, one module each: a run, a start, an end. They call user
//! code. During such a call no part is borrowed (see [`call`](base::call)). An act keeps keys across
//! the call, not borrows.

pub(crate) mod base;
pub(crate) mod cold;
pub(crate) mod life;
pub(crate) mod observe;
pub(crate) mod owners;
pub(crate) mod pause;
pub(crate) mod phase;
pub(crate) mod registration;
pub(crate) mod report;
pub(crate) mod restore;
pub(crate) mod run;
pub(crate) mod scope;
pub(crate) mod sources;
pub(crate) mod task;
pub(crate) mod timer;
pub(crate) mod view;
pub(crate) mod wake;

use std::any::Any;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::rc::{Rc, Weak};

use crate::core::base::key::TaskKey;
use crate::inspect::{Instruments, Reports, script_name};
use crate::lend::Lending;
use crate::task::coroutine::CoroutineId;
use crate::task::offload::pool::Pool;
use crate::time::{Clock, FrameClock, Phase, PhaseIndex, Time};

use base::cell::Guarded;
use cold::Colds;
use life::end::depth::Ends;
use life::end::requests::Requests;
use life::start::Starts;
use owners::Owners;
use pause::timers::{TimerTable, Timers};
use phase::ready::Ready;
use phase::skipped::Looks;
use phase::state::Phases;
use registration::entries::Entries;
use registration::waits::Waits;
use report::Unobserved;
use report::panics::{Panics, PassOn};
use run::Runs;
use scope::named::NamedClock;
use sources::Sources;
use task::{Flags, Task, Tasks};
use wake::calls::Arrivals;
use wake::host::Host;
use wake::kept::{Grants, Keepers};

/// The limits that a host sets.
pub(crate) struct Bounds {
    pub(crate) max_polls_per_run: u32,
    pub(crate) max_coroutines: usize,
    pub(crate) max_frames: u64,
    pub(crate) skipped_phase: u64,
    pub(crate) untaken_grant: u64,
}

/// The state of one executor.
pub(crate) struct Core {
    /// The number of this executor, unique in the program.
    pub(crate) id: u32,
    this: Weak<Core>,
    pub(crate) clock: Rc<FrameClock>,
    /// The handle of the game clock, made on first use.
    game_clock: OnceCell<Clock>,
    /// The same for the realtime clock.
    realtime: OnceCell<Clock>,
    named: NamedClock,
    pub(crate) tasks: Tasks,
    pub(crate) colds: Colds,
    entries: Guarded<Entries>,
    pub(crate) phases: Phases,
    looks: Looks,
    ready: Ready,
    pub(crate) runs: Runs,
    pub(crate) starts: Starts,
    ends: Ends,
    pub(crate) panics: Panics,
    unobserved: Unobserved,
    pub(crate) owners: Guarded<Owners>,
    pub(crate) requests: Requests,
    /// A buffer for the coroutines of one owner, kept to reuse its memory.
    owned: Guarded<Vec<TaskKey>>,
    pub(crate) timers: TimerTable,
    pub(crate) lent: Lending,
    pub(crate) host: Host,
    arrivals: Arrivals,
    pub(crate) keepers: Keepers,
    grants: Grants,
    pub(crate) reports: Reports,
    pub(crate) instruments: Instruments,
    pub(crate) pool: Pool,
    /// What `framestep_durable` keeps for the coroutines of this executor.
    pub(crate) beside: OnceCell<Rc<dyn Any>>,
    pub(crate) sources: Sources,
    /// How many frames a call may run until something happens.
    pub(crate) max_frames: u64,
    /// How many coroutines may be alive. 0 once the executor is closed.
    room: Cell<usize>,
    closed: Cell<bool>,
}

impl Core {
    pub(crate) fn new(
        clock: FrameClock,
        Bounds {
            max_polls_per_run,
            max_coroutines,
            max_frames,
            skipped_phase,
            untaken_grant,
        }: Bounds,
        pass_on: PassOn,
        instruments: Instruments,
        pool: Pool,
    ) -> Rc<Core> {
        let tasks = Tasks::new();
        let id = tasks.executor();
        let clock = Rc::new(clock);
        let host = Host::default();
        let core = Rc::new_cyclic(|this| Core {
            id,
            this: this.clone(),
            named: NamedClock::default(),
            clock,
            game_clock: OnceCell::new(),
            realtime: OnceCell::new(),
            tasks,
            colds: Colds::default(),
            entries: Guarded::new(Entries::new(id)),
            phases: Phases::new(id),
            looks: Looks::new(skipped_phase, untaken_grant),
            ready: Ready::default(),
            runs: Runs::new(max_polls_per_run),
            starts: Starts::default(),
            ends: Ends::default(),
            panics: Panics::new(pass_on),
            unobserved: Unobserved::default(),
            owners: Guarded::default(),
            requests: Requests::default(),
            owned: Guarded::default(),
            timers: TimerTable::default(),
            lent: Lending::default(),
            host,
            arrivals: Arrivals::default(),
            keepers: Keepers::new(id),
            grants: Grants::default(),
            reports: Reports::default(),
            instruments,
            pool,
            beside: OnceCell::new(),
            sources: Sources::default(),
            max_frames,
            room: Cell::new(max_coroutines),
            closed: Cell::new(false),
        });
        core.arrivals.note_observed(core.instruments.is_on());
        let this = Rc::downgrade(&core);
        core.clock.on_changed(Box::new(move |clock, is_quicker| {
            if let Some(core) = this.upgrade() {
                core.phases.note_changed(clock);
                if is_quicker {
                    core.host.note_due();
                    core.host.notify();
                }
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

    /// Refuses coroutines from now on.
    pub(crate) fn close(&self) {
        self.closed.set(true);
        self.room.set(0);
    }

    /// How many coroutines may be alive.
    pub(crate) fn room(&self) -> usize {
        self.room.get()
    }

    /// Whether one more coroutine may be alive.
    #[inline(always)]
    pub(crate) fn has_room(&self) -> bool {
        self.tasks.alive() < self.room.get()
    }

    /// The waits of the coroutines, by their keys.
    #[inline(always)]
    pub(crate) fn waits(&self) -> Waits<'_> {
        Waits {
            tasks: &self.tasks,
            entries: &self.entries,
        }
    }

    /// The timers of the coroutines.
    #[inline(always)]
    pub(crate) fn timers(&self) -> Timers<'_> {
        Timers {
            table: &self.timers,
            waits: self.waits(),
            colds: &self.colds,
            phases: &self.phases,
            clock: &self.clock,
        }
    }

    #[inline]
    pub(crate) fn id_of(&self, task: Task<'_>) -> CoroutineId {
        CoroutineId::new(self.id, task.task_key())
    }

    pub(crate) fn key_of(&self, id: CoroutineId) -> Option<TaskKey> {
        id.key_in(self.id)
    }

    /// Calls `f` with the key of a coroutine. Returns `false` if it belongs to another executor.
    pub(crate) fn with_key(&self, id: CoroutineId, f: impl FnOnce(&Core, TaskKey) -> bool) -> bool {
        self.key_of(id).is_some_and(|key| f(self, key))
    }

    pub(crate) fn is_alive(&self, key: TaskKey) -> bool {
        self.tasks.get(key).is_some_and(|task| task.is_alive())
    }

    /// Whether the coroutine is alive and paused, itself or through an owner.
    pub(crate) fn is_paused(&self, key: TaskKey) -> bool {
        let task = self.tasks.get(key);
        task.is_some_and(|task| task.is_alive() && task.has(Flags::PAUSED))
    }

    /// The game clock.
    pub(crate) fn game_clock(&self) -> &Clock {
        self.game_clock.get_or_init(|| Clock::game(&self.clock))
    }

    /// The realtime clock, which neither scales nor clamps the dt.
    pub(crate) fn realtime(&self) -> &Clock {
        self.realtime.get_or_init(|| Clock::realtime(&self.clock))
    }

    /// The game time, as the host reads it.
    pub(crate) fn game_time(&self) -> Time {
        self.clock.time(self.running_phase())
    }

    /// The phase of the run under way.
    #[inline]
    pub(crate) fn running_phase(&self) -> Option<Phase> {
        self.runs.phase().map(PhaseIndex::phase)
    }

    /// The given name of the task, or else the name of its future's type.
    pub(crate) fn name_of(&self, task: Task<'_>) -> Cow<'static, str> {
        let given = self.colds.of(task, |cold| cold.name.clone()).flatten();
        given.unwrap_or_else(|| Cow::Borrowed(script_name(self.tasks.type_name(task))))
    }

    /// Names a task.
    #[cold]
    pub(crate) fn name(&self, task: Task<'_>, name: Cow<'static, str>) {
        self.colds.of_or_new(task, |cold| cold.name = Some(name));
    }
}
