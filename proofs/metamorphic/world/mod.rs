//! Runs a program, as a variant, and records what its scripts do.

mod acts;
mod bell;
mod script;
mod waits;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use framestep::prelude::*;
use framestep::{Executor, Handle};
use futures::future::{LocalBoxFuture, Shared};

use framestep_testkit::waits::Given;

use super::program::{Program, Step, UNIT};
use super::variants::Variant;
use super::variants::noise::Noise;
use super::variants::sleeper::Sleeper;
use bell::Bell;
use script::Me;

/// A wait, and what it returned, in words.
pub(super) type Waiting = LocalBoxFuture<'static, String>;

const MOST_SCRIPTS: usize = 24;
const MOST_OWNERS: usize = 6;
const MOST_CLOCKS: usize = 4;

/// One line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) frame: u64,
    pub(super) phase: Option<Phase>,
    /// The script, by order of creation, or the host.
    pub(super) who: Option<usize>,
    /// The reading of the script's clock, or of the game clock.
    pub(super) elapsed: Duration,
    pub(super) what: String,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "F{}", self.frame)?;
        if let Some(phase) = self.phase {
            write!(f, ".{phase}")?;
        }
        write!(f, " {:?} ", self.elapsed)?;
        match self.who {
            Some(who) => write!(f, "{who}: {}", self.what),
            None => write!(f, "host: {}", self.what),
        }
    }
}

pub(super) type Log = Vec<Line>;

/// State that the host lends to the scripts in each run.
struct Lent;

/// An owner of a program, and its clock.
struct Owned {
    owner: Owner,
    clock: Clock,
}

struct Entry {
    id: CoroutineId,
    who: usize,
    handle: Option<Coroutine<usize>>,
}

/// The executor of a program, and everything that its scripts share.
pub(super) struct World {
    pub(super) program: Rc<Program>,
    pub(super) variant: Variant,
    executor: RefCell<Option<Executor>>,
    pub(super) handle: Handle,
    /// The owner of all scripts, if there is one.
    pub(super) root: Option<Owner>,
    log: RefCell<Log>,
    scripts: RefCell<Vec<Entry>>,
    begun: Cell<usize>,
    owners: RefCell<Vec<Option<Rc<Owned>>>>,
    /// The first is the game clock.
    pub(super) clocks: RefCell<Vec<Clock>>,
    holds: RefCell<Vec<PauseGuard>>,
    slowed: RefCell<Vec<ClockGuard>>,
    flags: [Cell<bool>; 3],
    signals: [Signal<u64>; 2],
    values: [Watch<u64>; 2],
    permits: [Semaphore; 2],
    promises: RefCell<VecDeque<Resolver<()>>>,
    bells: [Rc<Bell>; 2],
    budget: Budget,
    /// What waits of the table are made from.
    given: Given,
    shared: RefCell<Vec<(usize, Shared<Waiting>)>>,
    noise: Option<Rc<Noise>>,
    sleeper: Option<Sleeper>,
    /// The program is over: later drops are ignored.
    over: Cell<bool>,
}

impl World {
    pub(super) fn new(program: &Rc<Program>, variant: Variant) -> Rc<World> {
        let settings = program.settings;
        let mut builder = Executor::builder().fixed_delta(Duration::from_nanos(UNIT));
        builder = if settings.unlimited {
            builder.max_delta(f64::INFINITY)
        } else {
            builder.max_delta(Duration::from_nanos(4 * UNIT))
        };
        let executor = variant.build(builder);
        executor.on_report(|_| ());
        variant.watch(&executor);
        let root = settings.rooted.then(|| executor.owner());
        let noise = (variant == Variant::Noise).then(|| Noise::new(&executor));
        let sleeper = (variant == Variant::Sleeper).then(|| Sleeper::new(&executor));
        Rc::new(World {
            program: program.clone(),
            variant,
            handle: executor.handle(),
            root,
            log: RefCell::default(),
            scripts: RefCell::default(),
            begun: Cell::new(0),
            owners: RefCell::default(),
            clocks: RefCell::new(vec![executor.clock()]),
            holds: RefCell::default(),
            slowed: RefCell::default(),
            flags: Default::default(),
            signals: [Signal::new(), Signal::with_limit(2)],
            values: [Watch::new(0), Watch::new(1)],
            permits: [Semaphore::new(1), Semaphore::new(2)],
            promises: RefCell::default(),
            bells: Default::default(),
            budget: Budget::of_units(2),
            given: Given::new(&executor.handle()),
            shared: RefCell::default(),
            noise,
            sleeper,
            over: Cell::new(false),
            executor: RefCell::new(Some(executor)),
        })
    }

    /// Records something that a script or the host does.
    fn log(&self, me: Option<&Me>, what: impl Into<String>) {
        let is_polled = me.is_some_and(Me::is_polled);
        self.record(me.map(|me| me.number), is_polled, what.into());
    }

    /// Records something that a script does, perhaps while it is polled.
    fn record(&self, who: Option<usize>, is_polled: bool, what: String) {
        if self.over.get() {
            return;
        }
        let game = self.handle.time().expect("the executor exists");
        self.log.borrow_mut().push(Line {
            frame: game.frame,
            phase: game.phase,
            who,
            elapsed: if is_polled {
                framestep::time().elapsed
            } else {
                game.elapsed
            },
            what,
        });
        if let Some(noise) = &self.noise {
            noise.act();
        }
        self.variant.disturb(self, who.is_some());
    }

    /// Calls `f` with the executor, unless it is running.
    pub(super) fn with_executor(&self, f: impl FnOnce(&Executor)) {
        if let Ok(executor) = self.executor.try_borrow() {
            f(executor.as_ref().expect("the executor exists"));
        }
    }

    pub(super) fn step(self: &Rc<Self>, step: &Step) {
        if let Some(sleeper) = &self.sleeper {
            if let Step::Frame(dt) = step {
                if let Some(dt) = sleeper.sleep(*dt) {
                    self.awake(dt);
                }
                return;
            }
            if let Some(dt) = sleeper.wake_up() {
                self.awake(dt);
            }
        }
        if matches!(step, Step::Frame(_) | Step::Begin(_)) {
            self.end_short_pauses();
        }
        match step {
            Step::Frame(dt) => self.drive(|executor| executor.run_frame(Duration::from_nanos(*dt))),
            Step::Begin(dt) => {
                self.drive(|executor| executor.begin_frame(Duration::from_nanos(*dt)));
            }
            Step::Run(phase) => self.drive(|executor| executor.run_phase(*phase)),
            Step::Fixed(steps, runs) => self.drive(|executor| {
                for _ in 0..*steps {
                    self.end_short_pauses();
                    if !executor.begin_fixed_step() {
                        break;
                    }
                    for _ in 0..*runs {
                        executor.run_phase(Phase::FixedUpdate);
                    }
                }
                executor.end_fixed_step();
            }),
            Step::Act(act) => {
                // The destructor of a refused script may panic.
                if catch_unwind(AssertUnwindSafe(|| self.act(None, act))).is_err() {
                    self.log(None, "panicked");
                }
                if let Some(sleeper) = &self.sleeper {
                    self.with_executor(|executor| sleeper.look(executor, false));
                }
                return;
            }
        }
        if self.sleeper.is_none() {
            self.log(None, "ran");
        }
        if self.variant == Variant::EmptyRuns {
            self.drive(|executor| executor.run_phase(Phase::Custom(9)));
        }
    }

    /// Resumes all, unless the program has pauses in which clocks move.
    fn end_short_pauses(&self) {
        if self.program.settings.long_pauses {
            return;
        }
        drop(self.holds.take());
        for owned in self.owners.borrow().iter().flatten() {
            owned.owner.resume();
        }
        for id in self.ids() {
            self.handle.resume(id);
        }
    }

    /// A frame of a host that has slept.
    fn awake(&self, dt: Duration) {
        self.drive(|executor| executor.run_frame(dt));
        let sleeper = self.sleeper.as_ref().expect("it sleeps");
        self.with_executor(|executor| sleeper.look(executor, true));
    }

    fn drive(&self, f: impl FnOnce(&mut Executor)) {
        let mut executor = self.executor.borrow_mut();
        let executor = executor.as_mut().expect("the executor exists");
        executor.lend(&mut Lent, f);
    }

    /// The whole log of a program.
    pub(super) fn run(program: &Rc<Program>, variant: Variant) -> Log {
        let world = World::new(program, variant);
        program.steps.iter().for_each(|step| world.step(step));
        world.finish()
    }

    /// Ends the program, and returns its log.
    pub(super) fn finish(self: Rc<Self>) -> Log {
        self.over.set(true);
        // With the executor, the hook for panics is gone, too.
        drop(self.scripts.take());
        drop(self.executor.take());
        drop(self.owners.take());
        drop(self.holds.take());
        drop(self.slowed.take());
        drop(self.shared.take());
        for bell in &self.bells {
            bell.forget();
        }
        self.log.take()
    }
}
