//! Runs a program on a system and records its behaviour.

mod acts;
mod bell;
pub mod groups;
mod script;
mod waits;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use framestep::Phase;
use futures::future::Shared;

use super::language::{Drive, Program, Settings, Step, Wait};
use super::system::{Refused, Scripted, System, Waiting};
use super::trace::{Event, Trace, What, Who};
use bell::Bell;
use script::Me;

const MOST_OWNERS: usize = 6;
const MOST_CLOCKS: usize = 4;
/// How deep executors are driven from inside each other.
const MOST_DRIVES: usize = 3;

/// What is different around a program.
pub trait Around<S: System> {
    /// Puts something around a wait that counts on `clock`.
    fn wrap(&self, settings: &Settings, wait: &Wait, plain: Waiting, clock: &S::Clock) -> Waiting {
        let _ = (settings, wait, clock);
        plain
    }

    /// Does something after a line of a script, or of the host.
    fn after_line(&self, world: &World<S>, by_script: bool) {
        let _ = (world, by_script);
    }

    /// Does a step of the host.
    fn step(&self, world: &Rc<World<S>>, step: &Step) {
        world.perform(step);
    }
}

impl<S: System> Around<S> for () {}

/// An executor or several, and everything that the scripts of a program share.
pub struct World<S: System> {
    around: Box<dyn Around<S>>,
    seats: Vec<Seat<S>>,
    program: Rc<Program>,
    trace: RefCell<Trace>,
    flags: [Cell<bool>; 3],
    bells: [Bell; 3],
    coroutines: RefCell<Vec<Entry<S>>>,
    /// Waits that no coroutine awaits at present.
    loose: RefCell<Vec<Loose>>,
    /// How many steps the host has done.
    steps: Cell<usize>,
    begun: Cell<usize>,
    /// How many drives are under way.
    drives: Cell<usize>,
    /// How many closures have borrowed lent state.
    borrows: Cell<usize>,
    /// How many lengths of time were made different.
    lengths: Cell<u64>,
    /// The program sends scripts from other threads.
    sends: bool,
    signals: [S::Signal; 2],
    /// How many events have been emitted.
    emitted: Cell<u64>,
    permits: [S::Semaphore; 2],
    /// The timers that acts may move.
    timers: [RefCell<Moving<S>>; 3],
    /// The program is over: later drops are ignored.
    over: Cell<bool>,
    /// The rest of the program is open.
    open_ended: Cell<bool>,
}

/// An executor, and the objects made from it.
struct Seat<S: System> {
    system: S,
    /// The owner of all that the host begins, if there is one.
    root: Option<S::Owner>,
    owners: RefCell<Vec<Option<Rc<Owned<S>>>>>,
    clocks: RefCell<Vec<S::Clock>>,
    shared: RefCell<Vec<SharedWait>>,
    /// Guards of owners, and of clocks.
    holds: RefCell<Vec<Box<dyn Any>>>,
    slowed: RefCell<Vec<Box<dyn Any>>>,
}

/// An owner of a program, and its clock.
struct Owned<S: System> {
    owner: S::Owner,
    clock: S::Clock,
}

/// A wait that coroutines share.
struct SharedWait {
    number: usize,
    /// The coroutines whose ends it waits for.
    joined: Vec<usize>,
    wait: Shared<Waiting>,
}

/// A wait that a coroutine has left. One coroutine finds it, from the next step of
/// the host on, so that the order within a run makes no difference.
struct Loose {
    by: usize,
    heir: usize,
    step: usize,
    wait: Waiting,
}

/// A timer that a coroutine waits for, and that acts may move. `None` once it is over.
type Moving<S> = Rc<RefCell<Option<<S as System>::Timer>>>;

struct Entry<S: System> {
    /// The number of its executor.
    seat: usize,
    /// Its number in the trace.
    who: usize,
    id: S::Id,
    handle: Option<S::Handle>,
}

impl<S: System> Seat<S> {
    fn new(system: S, program: &Program) -> Self {
        let is_rooted = program.settings.rooted;
        Seat {
            root: is_rooted.then(|| system.owner(false, None, None)),
            clocks: RefCell::new(vec![system.game_clock()]),
            owners: RefCell::default(),
            shared: RefCell::default(),
            holds: RefCell::default(),
            slowed: RefCell::default(),
            system,
        }
    }
}

impl<S: System> World<S> {
    /// The behaviour of a program on new executors, and whether the rest of it is open.
    pub fn trace(program: &Rc<Program>) -> (Trace, bool) {
        let executors = 0..program.settings.executors;
        let systems = executors.map(|_| S::new(&program.settings));
        let world = World::new(program, systems, Box::new(()));
        for step in &program.steps {
            world.step(step);
        }
        world.finish()
    }

    pub fn new(
        program: &Rc<Program>,
        systems: impl IntoIterator<Item = S>,
        around: Box<dyn Around<S>>,
    ) -> Rc<Self> {
        let seats = systems.into_iter().map(|system| Seat::new(system, program));
        let sends = |step: &Step| matches!(step, Step::Remote(..));
        Rc::new(World {
            around,
            seats: seats.collect(),
            program: program.clone(),
            trace: RefCell::default(),
            flags: Default::default(),
            bells: Default::default(),
            coroutines: RefCell::default(),
            loose: RefCell::default(),
            steps: Cell::new(0),
            begun: Cell::new(0),
            drives: Cell::new(0),
            borrows: Cell::new(0),
            lengths: Cell::new(0),
            sends: program.steps.iter().any(sends),
            signals: S::signals(),
            emitted: Cell::new(0),
            permits: [S::permits(1), S::permits(3)],
            timers: Default::default(),
            over: Cell::new(false),
            open_ended: Cell::new(false),
        })
    }

    /// Does a step of the host, unless an earlier one has panicked.
    pub fn step(self: &Rc<Self>, step: &Step) {
        if self.over.get() {
            return;
        }
        let done = catch_unwind(AssertUnwindSafe(|| self.around.step(self, step)));
        let Err(payload) = done else {
            return;
        };
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string));
        self.trace.borrow_mut().push(Event {
            frame: u64::MAX,
            now: 0,
            phase: None,
            who: Who::Host(0),
            what: What::Broke(text.unwrap_or_default()),
        });
        self.over.set(true);
    }

    /// Ends the program. Returns its behaviour, and whether the rest of it is open.
    pub fn finish(&self) -> (Trace, bool) {
        self.over.set(true);
        // The remains of a broken system may not be safe to drop.
        drop(catch_unwind(AssertUnwindSafe(|| self.close())));
        (self.trace.take(), self.open_ended.get())
    }

    /// The first executor.
    pub fn system(&self) -> &S {
        &self.seats[0].system
    }

    /// The owner of all that its host begins, if there is one.
    pub fn root(&self) -> Option<&S::Owner> {
        self.seats[0].root.as_ref()
    }

    pub fn clocks(&self) -> Vec<S::Clock> {
        self.seats[0].clocks.borrow().clone()
    }

    /// All coroutines that have been begun.
    pub fn ids(&self) -> Vec<S::Id> {
        self.entries().into_iter().map(|(_, id)| id).collect()
    }

    /// Notes something that happens on the executor of a number.
    fn log(&self, seat: usize, who: Who, what: What) {
        let system = &self.seats[seat].system;
        if system.is_open_ended() {
            self.open_ended.set(true);
        }
        if self.over.get() || self.open_ended.get() {
            return;
        }
        let is_poll = what == What::Polled;
        let (frame, phase) = system.now();
        self.trace.borrow_mut().push(Event {
            frame,
            now: S::reading(&system.game_clock()),
            phase,
            who,
            what,
        });
        if !is_poll {
            let by_script = matches!(who, Who::Coroutine(_));
            self.around.after_line(self, by_script);
        }
    }

    /// Does a step of the host, and nothing else.
    pub fn perform(self: &Rc<Self>, step: &Step) {
        self.steps.set(self.steps.get() + 1);
        match step {
            Step::Drive(seat, drive) => {
                let seat = self.seat(*seat);
                let driven = self.drive(false, seat, *drive);
                assert!(driven.is_ok(), "nothing keeps the host from driving");
            }
            Step::Outside(seat, act) => self.act(None, self.seat(*seat), false, act),
            Step::Inside(seat, act) => {
                let seat = self.seat(*seat);
                let system = &self.seats[seat].system;
                system.enter(&mut || self.act(None, seat, true, act));
            }
            Step::Remote(seat, script) => {
                let seat = self.seat(*seat);
                if let Some((accepted, script)) =
                    self.coroutine(None, seat, *script, self.clock_at(seat, 0))
                {
                    accepted.set(true);
                    self.seats[seat].system.remote(script);
                }
            }
        }
    }

    fn drive(&self, nested: bool, seat: usize, drive: Drive) -> Result<(), Refused> {
        let system = &self.seats[seat].system;
        match drive {
            Drive::Begin(dt) => {
                self.end_short_pauses();
                system.begin_frame(nested, dt)?;
            }
            Drive::Frame(dt) => {
                self.end_short_pauses();
                system.run_frame(nested, dt)?;
            }
            Drive::Fixed {
                steps,
                custom,
                runs,
            } => {
                for _ in 0..steps {
                    self.end_short_pauses();
                    if !system.begin_fixed_step(nested)? {
                        break;
                    }
                    if let Some(phase) = custom {
                        system.run(nested, phase, false)?;
                    }
                    for _ in 0..runs {
                        system.run(nested, Phase::FixedUpdate, false)?;
                    }
                }
                self.end_step(nested, seat)?;
            }
            Drive::Run(phase, lent) => {
                system.run(nested, phase, lent)?;
                if phase == Phase::FixedUpdate {
                    self.end_step(nested, seat)?;
                }
            }
        }
        // It is open when a script sent from another thread becomes a coroutine.
        let alive = (!self.sends).then(|| system.alive());
        self.log(seat, Who::Host(seat), What::Alive(alive));
        Ok(())
    }

    fn end_step(&self, nested: bool, seat: usize) -> Result<(), Refused> {
        if self.program.settings.ends_steps {
            self.seats[seat].system.end_fixed_step(nested)?;
        }
        Ok(())
    }

    /// Resumes all, unless the program has pauses in which clocks move.
    fn end_short_pauses(&self) {
        if self.program.settings.long_pauses {
            return;
        }
        for seat in &self.seats {
            drop(seat.holds.take());
            for owned in seat.owners.borrow().iter().flatten() {
                S::set_owner_paused(&owned.owner, false);
            }
        }
        for (seat, id) in self.entries() {
            self.seats[seat].system.set_paused(id, false);
        }
    }

    fn seat(&self, number: usize) -> usize {
        number % self.seats.len()
    }

    fn entries(&self) -> Vec<(usize, S::Id)> {
        let coroutines = self.coroutines.borrow();
        coroutines
            .iter()
            .map(|entry| (entry.seat, entry.id))
            .collect()
    }

    /// The future of a coroutine that `by` begins.
    fn coroutine(
        self: &Rc<Self>,
        by: Option<&Me<S>>,
        seat: usize,
        script: usize,
        clock: S::Clock,
    ) -> Option<(Rc<Cell<bool>>, Scripted)> {
        // Scripts begin only later ones.
        let first = by.map_or(0, |by| by.script + 1);
        let scripts = self.program.scripts.len();
        let most = self.program.settings.most;
        if first >= scripts || self.begun.get() >= most || self.over.get() {
            return None;
        }
        let who = self.begun.get();
        self.begun.set(who + 1);
        let script = first + script % (scripts - first);
        Some(Me::coroutine(self.clone(), seat, who, script, clock))
    }

    /// Drops everything that remains.
    fn close(&self) {
        // With an executor, its hook for panics that no handle has read is gone, too.
        drop(self.coroutines.take());
        for seat in &self.seats {
            seat.system.close();
        }
        drop(self.loose.take());
        for seat in &self.seats {
            drop(seat.owners.take());
            drop(seat.shared.take());
            drop(seat.holds.take());
            drop(seat.slowed.take());
        }
        self.bells.iter().for_each(Bell::forget);
    }
}
