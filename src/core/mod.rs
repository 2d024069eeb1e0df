//! What an executor, its handles and its coroutines share.
//!
//! The rule of this module: no user code (poll, destructor, waker, closure)
//! runs while one of the cells below is borrowed. That is what makes it safe to
//! spawn, start, stop and drop from anywhere.

mod backlog;
mod due;
mod fire;
mod ghosts;
mod inspect;
mod joiners;
mod lifecycle;
mod limits;
mod lists;
mod own_clock;
mod ownership;
mod pause;
mod phases;
mod registration;
mod resume;
mod run;
mod spawn;
mod wake;
mod watch;
mod woken;

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::ptr;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::clock::{Clock, ClockRef, ClockState, FrameClock};
use crate::context;
use crate::inbox::{Inbox, Message};
use crate::inspect::Watch;
use crate::key::TaskKey;
use crate::lend::LentRef;
use crate::owner::Owners;
use crate::phase::PhaseIndex;
use crate::records::Records;
use crate::report::{Report, Reports};
use crate::ring::Ring;
use crate::seconds::Nanos;
use crate::shared::Shared;
use crate::since::Since;
use crate::sync::Arc;
use crate::task::{TaskRef, TaskTable, Wakeup};
use crate::ticket::Ticket;
use crate::{CoroutineId, Phase, Time};

pub(crate) use lifecycle::take_output;
use lists::RunLists;
pub(crate) use own_clock::OwnTime;
pub(crate) use phases::Phases;
pub(crate) use registration::{Place, Registration};
pub(crate) use spawn::refuse;
pub(crate) use watch::poll_watched;

/// The state of one executor.
pub(crate) struct Core {
    pub(crate) id: u32,
    /// The next executor of the thread, see [`context`].
    pub(crate) next: Cell<*const Core>,
    this: Weak<Core>,
    /// What waits note that begin in this frame.
    mark: Cell<Since>,
    pub(crate) clock: Rc<FrameClock>,
    /// The handle of the game clock, once somebody has asked for it.
    game_clock: OnceCell<Clock>,
    /// See [`own_clock`].
    own_clock: Shared<Option<Rc<ClockState>>>,
    pub(crate) tasks: Shared<TaskTable>,
    pub(crate) records: Shared<Records>,
    pub(crate) phases: Phases,
    pub(crate) owners: Shared<Owners>,
    /// What is being gone through of an owner's, kept for its memory.
    owned_tasks: RefCell<Vec<TaskKey>>,
    /// The phase that is being run.
    run: Cell<Option<PhaseIndex>>,
    /// How many runs there have been, of all phases.
    run_serial: Cell<u64>,
    lists: RunLists,
    /// Became ready during the run, for the same run.
    soon: Shared<Ring<Wakeup>>,
    /// Those who joined what ended since the last poll of the run returned.
    ended: Shared<Vec<Ticket>>,
    /// Started in a closure that something is lent to; or started, or to be
    /// stopped, too deep down the stack; see [`lifecycle`].
    deferred_starts: Shared<Vec<TaskKey>>,
    deferred_stops: Shared<VecDeque<TaskKey>>,
    stopping_deferred: Cell<bool>,
    /// How many coroutines there are that are paused, or have been.
    pauses: Cell<usize>,
    /// How many places were given up because a coroutine was paused.
    parked: Cell<u64>,
    /// How many closures of the user's are under way in which starts wait.
    starts_held: Cell<u32>,
    /// What the host lends, the innermost first.
    pub(crate) lent: Cell<Option<LentRef>>,
    /// The coroutine that is due by itself while its wait's waker is called.
    firing: Cell<Option<TaskKey>>,
    /// How many more polls this run may owe to what happened during it.
    budget: Cell<u64>,
    /// The last run that was reported for having spent it.
    runaway_in: Cell<u64>,
    max_polls_per_run: u32,
    pub(crate) inbox: Arc<Inbox>,
    messages: RefCell<Vec<Message>>,
    taking_messages: Cell<bool>,
    pub(crate) reports: Reports,
    pub(crate) watch: Watch,
    closed: Cell<bool>,
}

/// Executors are numbered, so that ids and wakers know their own.
static NEXT_EXECUTOR: AtomicU32 = AtomicU32::new(1);

impl Core {
    pub(crate) fn new(clock: FrameClock, max_polls_per_run: u32, watch: Watch) -> Rc<Core> {
        let id = NEXT_EXECUTOR.fetch_add(1, Ordering::Relaxed);
        // Odd, so that no two of 2^32 executors start at the same.
        let first_stamp = id.wrapping_mul(0x9e37_79b9);
        let core = Rc::new_cyclic(|this| Core {
            id,
            next: Cell::new(ptr::null()),
            this: this.clone(),
            mark: Cell::new(Since::mark(clock.frame(), id)),
            clock: Rc::new(clock),
            game_clock: OnceCell::new(),
            own_clock: Shared::default(),
            tasks: Shared::new(TaskTable::new(first_stamp)),
            records: Shared::new(Records::new(first_stamp)),
            phases: Phases::new(),
            owners: Shared::default(),
            owned_tasks: RefCell::default(),
            run: Cell::new(None),
            run_serial: Cell::new(0),
            lists: RunLists::default(),
            soon: Shared::default(),
            ended: Shared::default(),
            deferred_starts: Shared::default(),
            deferred_stops: Shared::default(),
            stopping_deferred: Cell::new(false),
            pauses: Cell::new(0),
            parked: Cell::new(0),
            starts_held: Cell::new(0),
            lent: Cell::new(None),
            firing: Cell::new(None),
            budget: Cell::new(0),
            runaway_in: Cell::new(0),
            max_polls_per_run,
            inbox: Arc::new(Inbox::default()),
            messages: RefCell::default(),
            taking_messages: Cell::new(false),
            reports: Reports::default(),
            watch,
            closed: Cell::new(false),
        });
        context::add(&core);
        core
    }

    #[inline]
    pub(crate) fn rc(&self) -> Rc<Core> {
        // A core is borrowed only through an `Rc` that somebody holds.
        self.this.upgrade().expect("the core is in use")
    }

    /// What waits note that begin now.
    #[inline]
    pub(crate) fn mark(&self) -> Since {
        self.mark.get()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.get()
    }

    #[inline]
    pub(crate) fn id_of(&self, task: TaskRef) -> CoroutineId {
        CoroutineId::new(self.id, task.key())
    }

    pub(crate) fn key_of(&self, id: CoroutineId) -> Option<TaskKey> {
        id.key_in(self.id)
    }

    pub(crate) fn is_alive(&self, key: TaskKey) -> bool {
        let task = self.tasks.borrow().get(key);
        task.is_some_and(|task| task.is_alive())
    }

    /// The game clock.
    pub(crate) fn game_clock(&self) -> &Clock {
        self.game_clock.get_or_init(|| Clock::game(&self.clock))
    }

    /// The time for the host.
    pub(crate) fn game_time(&self) -> Time {
        self.clock.time(self.running_phase())
    }

    /// The time for whoever is being polled.
    #[inline]
    pub(crate) fn time(&self) -> Time {
        self.clock.time_seen(self.running_phase())
    }

    #[inline]
    fn running_phase(&self) -> Option<Phase> {
        self.run.get().map(PhaseIndex::phase)
    }

    /// What the task was named, else the name of its future's type.
    pub(crate) fn name_of(&self, task: TaskRef) -> Cow<'static, str> {
        let given = self.tasks.borrow().extra(task).and_then(|e| e.name.clone());
        given.unwrap_or_else(|| {
            // An `async fn door()` has the type `door::{{closure}}`.
            let name = (task.vtable().type_name)();
            Cow::Borrowed(name.strip_suffix("::{{closure}}").unwrap_or(name))
        })
    }

    pub(crate) fn begin_frame(&self, dt: Nanos) {
        let (irregularity, frame, counted_ns) = {
            let clock = &self.clock;
            let before = clock.real_ns();
            let irregularity = clock.begin_frame(dt);
            self.mark.set(Since::mark(clock.frame(), self.id));
            (irregularity, clock.frame(), clock.real_ns() - before)
        };
        self.phases
            .each(|_, state| state.queue.borrow_mut().begin_frame());
        if irregularity.invalid {
            let step = match dt {
                Nanos::Infinite => Duration::MAX,
                _ => Duration::from_nanos(counted_ns),
            };
            self.reports.send(&Report::InvalidDelta {
                frame,
                counted_as: step,
            });
        }
        if irregularity.dropped_ns > 0 {
            let dropped = Duration::from_nanos(irregularity.dropped_ns);
            self.reports.send(&Report::TimeDropped { frame, dropped });
        }
        // Of calls that nest without a start among them.
        self.start_deferred_since(0);
    }

    /// `false`: no step is due, or those that are were too many, and are dropped.
    pub(crate) fn begin_fixed_step(&self) -> bool {
        if self.clock.begin_fixed_step() {
            return true;
        }
        let dropped_ns = self.clock.drop_fixed_steps();
        if dropped_ns > 0 {
            self.reports.send(&Report::StepsDropped {
                frame: self.clock.frame(),
                dropped: Duration::from_nanos(dropped_ns),
            });
        }
        false
    }

    /// The reading of a clock that a wait registered now counts from.
    #[inline]
    pub(crate) fn now_ns(&self, clock: ClockRef<'_>) -> u64 {
        match clock {
            ClockRef::Game => self.clock.game_ns(),
            _ => self.reached_ns(clock),
        }
    }

    /// How far a clock gets in this frame.
    #[inline]
    pub(crate) fn reached_ns(&self, clock: ClockRef<'_>) -> u64 {
        match clock {
            ClockRef::Game => self.clock.frame_game_ns(),
            ClockRef::Realtime => self.clock.real_ns(),
            ClockRef::Child(clock) => clock.reading().now_ns,
        }
    }

    /// Whether a ticket's registration still stands.
    pub(crate) fn is_live(&self, ticket: Ticket) -> bool {
        if ticket.is_record() {
            self.records.borrow().get(ticket).is_some()
        } else {
            self.tasks.borrow().is_current(ticket)
        }
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        context::remove(self);
    }
}
