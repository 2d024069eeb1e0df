//! The state that an executor, its handles and its coroutines share.
//!
//! [`Core`] holds the *parts*. A part owns its state and the methods on it, takes the
//! other parts that it needs as arguments, and calls no user code. The *acts* are
//! functions on the whole core, one module each: a run, a start, an end. They call user
//! code. During such a call no part is borrowed (see [`call`]). An act keeps keys across
//! the call, not borrows.

mod list;

pub(crate) mod call;
pub(crate) mod cell;
pub(crate) mod clock;
pub(crate) mod end;
pub(crate) mod image;
pub(crate) mod inspect;
pub(crate) mod owners;
pub(crate) mod pause;
pub(crate) mod phase;
pub(crate) mod registration;
pub(crate) mod registry;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod scope;
pub(crate) mod start;
pub(crate) mod task;
pub(crate) mod timer;
pub(crate) mod wake;
pub(crate) mod waker;

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::rc::{Rc, Weak};

use crate::coroutine::CoroutineId;
use crate::inspect::{Instruments, Reports};
use crate::lend::Lending;
use crate::time::{Clock, FrameClock, Phase, PhaseIndex, Time};

use cell::Guarded;
use clock::shown::ShownClock;
use end::deferred::Ends;
use inspect::event_waits::EventWaits;
use owners::Owners;
use pause::counts::Pauses;
use pause::timers::PausedTimers;
use phase::ready::Ready;
use phase::state::Phases;
use registration::entries::Entries;
use registration::holders::Sharing;
use registration::waits::Waits;
use report::hooks::Unread;
use report::panicked::{Panics, PassOn};
use run::state::Runs;
use start::deferred::Starts;
use task::{Flags, Task, TaskKey, Tasks};
use wake::arrivals::Arrivals;
use wake::host::Host;

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
    pub(crate) shown: ShownClock,
    pub(crate) tasks: Tasks,
    entries: Guarded<Entries>,
    event_waits: Guarded<EventWaits>,
    pub(crate) phases: Phases,
    ready: Ready,
    pub(crate) runs: Runs,
    starts: Starts,
    ends: Ends,
    panics: Panics,
    unread: Unread,
    pub(crate) owners: Guarded<Owners>,
    /// A buffer for the coroutines of one owner, kept to reuse its memory.
    owned: Guarded<Vec<TaskKey>>,
    pub(crate) pauses: Pauses,
    pub(crate) lent: Lending,
    pub(crate) host: Host,
    arrivals: Arrivals,
    pub(crate) reports: Reports,
    pub(crate) instruments: Instruments,
    closed: Cell<bool>,
}

impl Core {
    pub(crate) fn new(
        clock: FrameClock,
        max_polls_per_run: u32,
        pass_on: PassOn,
        instruments: Instruments,
    ) -> Rc<Core> {
        let tasks = Tasks::new();
        let id = tasks.executor();
        let clock = Rc::new(clock);
        let host = Host::default();
        let core = Rc::new_cyclic(|this| Core {
            id,
            this: this.clone(),
            shown: ShownClock::new(clock.clone()),
            clock,
            game_clock: OnceCell::new(),
            realtime: OnceCell::new(),
            tasks,
            entries: Guarded::new(Entries::new(id)),
            event_waits: Guarded::default(),
            phases: Phases::new(id),
            ready: Ready::default(),
            runs: Runs::new(max_polls_per_run),
            starts: Starts::default(),
            ends: Ends::default(),
            panics: Panics::new(pass_on),
            unread: Unread::default(),
            owners: Guarded::default(),
            owned: Guarded::default(),
            pauses: Pauses::default(),
            lent: Lending::default(),
            host,
            arrivals: Arrivals::default(),
            reports: Reports::default(),
            instruments,
            closed: Cell::new(false),
        });
        let this = Rc::downgrade(&core);
        core.clock.on_quicker(Box::new(move || {
            if let Some(core) = this.upgrade() {
                core.host.note_due();
                core.host.notify();
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

    /// The waits of the coroutines, by their keys.
    #[inline(always)]
    pub(crate) fn waits(&self) -> Waits<'_> {
        Waits {
            tasks: &self.tasks,
            entries: &self.entries,
        }
    }

    /// The timers of coroutines that are or were paused.
    #[inline(always)]
    pub(crate) fn paused_timers(&self) -> PausedTimers<'_> {
        PausedTimers {
            waits: self.waits(),
            pauses: &self.pauses,
            phases: &self.phases,
            clock: &self.clock,
            host: &self.host,
        }
    }

    /// The waits that several coroutines have polled.
    fn sharing(&self) -> Sharing<'_> {
        Sharing {
            timers: self.paused_timers(),
        }
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

    /// The time as the coroutine being polled reads it.
    #[inline]
    pub(crate) fn time(&self) -> Time {
        self.clock.time_seen(self.running_phase())
    }

    /// The phase of the run under way.
    #[inline]
    pub(crate) fn running_phase(&self) -> Option<Phase> {
        self.runs.phase().map(PhaseIndex::phase)
    }

    /// The given name of the task, or else the name of its future's type.
    pub(crate) fn name_of(&self, task: Task<'_>) -> Cow<'static, str> {
        let given = self.tasks.cold(task, |cold| cold.name.clone()).flatten();
        given.unwrap_or_else(|| Cow::Borrowed(self.tasks.type_name(task)))
    }

    /// Names a task.
    #[cold]
    pub(crate) fn name(&self, task: Task<'_>, name: Cow<'static, str>) {
        self.tasks.cold_or_new(task, |cold| cold.name = Some(name));
    }
}
