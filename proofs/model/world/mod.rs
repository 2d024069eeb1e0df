//! Runs a program on a system and records its behaviour.

mod acts;
mod bell;
pub(super) mod groups;
mod script;
mod waits;

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use framestep::Phase;
use futures::future::Shared;

use super::program::{Drive, Program, Step};
use super::system::{Refused, System, Waiting};
use super::trace::{Event, What, Who};
use bell::Bell;
use script::Me;

const MOST_OWNERS: usize = 6;
const MOST_CLOCKS: usize = 4;
/// How deep executors are driven from inside each other.
const MOST_DRIVES: usize = 3;

/// The shared state of a program's coroutines.
struct World<S: System> {
    seats: Vec<Seat<S>>,
    program: Rc<Program>,
    trace: RefCell<Vec<Event>>,
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
    owners: RefCell<Vec<Option<Rc<S::Owner>>>>,
    clocks: RefCell<Vec<S::Clock>>,
    shared: RefCell<Vec<(usize, Shared<Waiting>)>>,
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

/// The behaviour of `program` on a system, and whether the rest of it is open.
pub(super) fn trace<S: System>(program: &Rc<Program>) -> (Vec<Event>, bool) {
    let seats = (0..program.settings.executors).map(|_| Seat::new(program));
    let world = Rc::new(World::<S> {
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
        sends: (program.steps.iter()).any(|step| matches!(step, Step::RemoteHandle(..))),
        signals: [S::signal(), S::signal()],
        emitted: Cell::new(0),
        permits: [S::permits(1), S::permits(3)],
        timers: Default::default(),
        over: Cell::new(false),
        open_ended: Cell::new(false),
    });
    let run = catch_unwind(AssertUnwindSafe(|| {
        program.steps.iter().for_each(|step| world.step(step));
    }));
    if let Err(payload) = run {
        let text = payload.downcast_ref::<String>().cloned();
        let text = text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string));
        world.trace.borrow_mut().push(Event {
            frame: u64::MAX,
            phase: None,
            who: Who::Host(0),
            what: What::Broke(text.unwrap_or_default()),
        });
    }
    world.over.set(true);
    // The remains of a broken system may not be safe to drop.
    drop(catch_unwind(AssertUnwindSafe(|| world.close())));
    (world.trace.take(), world.open_ended.get())
}

impl<S: System> Seat<S> {
    fn new(program: &Program) -> Self {
        let system = S::new(&program.settings);
        Seat {
            clocks: RefCell::new(vec![system.game_clock()]),
            owners: RefCell::default(),
            shared: RefCell::default(),
            system,
        }
    }
}

impl<S: System> World<S> {
    /// Notes something that happens on the executor of a number.
    fn log(&self, seat: usize, who: Who, what: What) {
        if self.seats[seat].system.is_open_ended() {
            self.open_ended.set(true);
        }
        if !self.over.get() && !self.open_ended.get() {
            let (frame, phase) = self.seats[seat].system.now();
            let event = Event {
                frame,
                phase,
                who,
                what,
            };
            self.trace.borrow_mut().push(event);
        }
    }

    fn step(self: &Rc<Self>, step: &Step) {
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
            Step::RemoteHandle(seat, script) => {
                let seat = self.seat(*seat);
                if let Some((accepted, script)) = self.coroutine(None, seat, *script) {
                    accepted.set(true);
                    self.seats[seat].system.remote(script);
                }
            }
        }
    }

    fn drive(&self, nested: bool, seat: usize, drive: Drive) -> Result<(), Refused> {
        let system = &self.seats[seat].system;
        match drive {
            Drive::Frame(dt) => system.begin_frame(nested, dt)?,
            Drive::Fixed {
                steps,
                custom,
                runs,
            } => {
                for _ in 0..steps {
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
        let alive = (!self.sends).then(|| system.len());
        self.log(seat, Who::Host(seat), What::Alive(alive));
        Ok(())
    }

    fn end_step(&self, nested: bool, seat: usize) -> Result<(), Refused> {
        if self.program.settings.ends_steps {
            self.seats[seat].system.end_fixed_step(nested)?;
        }
        Ok(())
    }

    fn seat(&self, number: usize) -> usize {
        number % self.seats.len()
    }

    /// The future of a coroutine that `by` begins.
    fn coroutine(
        self: &Rc<Self>,
        by: Option<&Me<S>>,
        seat: usize,
        script: usize,
    ) -> Option<(Rc<Cell<bool>>, super::system::Script)> {
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
        Some(Me::coroutine(self.clone(), seat, who, script))
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
        }
        self.bells.iter().for_each(Bell::forget);
    }
}
