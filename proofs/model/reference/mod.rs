//! A naive executor: the contract, by searching lists from end to end.

mod begin;
mod choices;
mod clocks;
mod end;
mod events;
mod law;
mod owner;
mod pause;
mod requests;
mod run;
mod state;
mod tools;
mod wait;
mod wake;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};

use framestep::Phase;
use framestep::task::Outcome;
use futures::FutureExt;

use framestep_testkit::waits::{OnClock, Place, Rule};

use clocks::{Clocks, GAME, REAL};
use framestep_testkit::program::{
    At, Calls, Got, Hear, How, Keep, Length, Lent, Mode, Refused, Scripted, Settings, System, UNIT,
    Wait, Waiting as Boxed, groups,
};
use state::State;
use wait::{Plan, Waiting};
use wake::Inbox;

pub(super) struct Reference(Rc<Core>);

struct Core {
    state: RefCell<State>,
    inbox: Inbox,
    number: Cell<usize>,
    /// The clock on which the future counts that is being polled, if it is not that of its
    /// coroutine.
    shown: Cell<Option<usize>>,
}

pub(super) struct Handle {
    core: Weak<Core>,
    coroutine: usize,
}

pub(super) struct Owner {
    core: Weak<Core>,
    owner: usize,
}

#[derive(Clone)]
pub(super) struct Clock {
    core: Weak<Core>,
    clock: usize,
}

/// Undoes something when it is dropped.
struct Guard<F: FnMut(&Core)>(Weak<Core>, F);

fn guard<F: FnMut(&Core)>(core: Weak<Core>, undo: F) -> Guard<F> {
    Guard(core, undo)
}

impl<F: FnMut(&Core)> Drop for Guard<F> {
    fn drop(&mut self) {
        if let Some(core) = self.0.upgrade() {
            (self.1)(&core);
        }
    }
}

impl Core {
    fn number(&self) -> usize {
        self.number.get()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(core) = self.core.upgrade() {
            core.drop_owner(self.owner);
        }
    }
}

impl Handle {
    /// How the coroutine has ended, once it has.
    fn ended(self, of: impl Fn(Outcome, Option<usize>) -> Got + 'static) -> Boxed {
        let core = self.core.upgrade().expect("it is open");
        let wait = Waiting::new(&core, None, Plan::Join(self.coroutine));
        let (core, coroutine) = (self.core, self.coroutine);
        wait.map(move |()| {
            let core = core.upgrade().expect("it is open");
            let (outcome, returned) = core.outcome(coroutine);
            of(outcome.expect("it has ended"), returned)
        })
        .boxed_local()
    }
}

impl Reference {
    fn waiting(&self, at: At, plan: Plan) -> Boxed {
        let wait = Waiting::new(&self.0, at, plan);
        wait.map(|()| Got::Done).boxed_local()
    }
}

impl System for Reference {
    type Id = usize;
    type Handle = Handle;
    type Owner = Owner;
    type Clock = Clock;
    type Signal = events::Signal;
    type Semaphore = events::Semaphore;
    type Timer = Waiting;

    fn new(settings: &Settings) -> Self {
        wake::forget_the_dead();
        let limit = settings.polls.unwrap_or(1_000) as usize;
        let inbox = Inbox::default();
        let state = State::new(Clocks::new(settings), limit, inbox.clone());
        let core = Rc::new(Core {
            state: RefCell::new(state),
            inbox,
            number: Cell::new(0),
            shown: Cell::new(None),
        });
        core.number.set(wake::register(&core));
        Reference(core)
    }

    fn is_open_ended(&self) -> bool {
        self.0.state.borrow().open_ended
    }

    fn close(&self) {
        let count = self.0.state.borrow().coroutines.len();
        for coroutine in 0..count {
            let future = {
                let mut state = self.0.state.borrow_mut();
                let coroutine = &mut state.coroutines[coroutine];
                coroutine.outcome.get_or_insert(Outcome::Stopped);
                coroutine.future.take()
            };
            drop(future);
        }
    }

    fn begin_frame(&self, _nested: bool, dt: Length) -> Result<(), Refused> {
        self.0.may_be_driven()?;
        let mut state = self.0.state.borrow_mut();
        state.frame_ends();
        state.clocks.begin_frame(dt);
        state.frame_begins();
        Ok(())
    }

    fn begin_fixed_step(&self, _nested: bool) -> Result<bool, Refused> {
        self.0.may_be_driven()?;
        Ok(self.0.state.borrow_mut().clocks.begin_fixed_step())
    }

    fn end_fixed_step(&self, _nested: bool) -> Result<(), Refused> {
        self.0.may_be_driven()?;
        self.0.state.borrow_mut().clocks.end_fixed_step();
        Ok(())
    }

    fn run(&self, _nested: bool, phase: Phase, lent: bool) -> Result<(), Refused> {
        self.0.may_be_driven()?;
        let before = std::mem::replace(&mut self.0.state.borrow_mut().lent, lent);
        let run = self.0.run(phase);
        self.0.state.borrow_mut().lent = before;
        run
    }

    fn enter(&self, f: &mut dyn FnMut()) {
        f();
    }

    fn alive(&self) -> usize {
        let state = self.0.state.borrow();
        let all = 0..state.coroutines.len();
        all.filter(|&one| state.is_alive(one)).count()
    }

    fn now(&self) -> (u64, Option<Phase>) {
        let state = self.0.state.borrow();
        (state.clocks.frame, state.phase())
    }

    fn elapsed(&self) -> u64 {
        let state = self.0.state.borrow();
        let caller = state.scopes.last();
        let clock = caller.map_or(GAME, |&one| state.coroutines[one].clock);
        state.clocks.read(clock, state.phase())
    }

    fn begin(&self, inside: bool, how: How, owner: Option<&Owner>, script: Scripted) -> Handle {
        let owner = owner.map(|owner| owner.owner);
        Handle {
            core: Rc::downgrade(&self.0),
            coroutine: self.0.begin(how, inside, owner, script),
        }
    }

    fn remote(&self, script: Scripted) {
        self.0.remote(script);
    }

    fn stop(&self, _inside: bool, id: usize) -> bool {
        self.0.stop(id)
    }

    fn is_alive(&self, id: usize) -> bool {
        self.0.state.borrow().is_alive(id)
    }

    fn is_paused(&self, id: usize) -> bool {
        let state = self.0.state.borrow();
        state.is_alive(id) && state.is_paused(id)
    }

    fn set_paused(&self, id: usize, paused: bool) -> bool {
        self.0.set_paused(id, paused)
    }

    fn current(&self) -> usize {
        let state = self.0.state.borrow();
        *state.scopes.last().expect("a coroutine is polled")
    }

    fn id(handle: &Handle) -> usize {
        handle.coroutine
    }

    fn is_finished(handle: &Handle) -> bool {
        let core = handle.core.upgrade().expect("it is open");
        core.outcome(handle.coroutine).0.is_some()
    }

    fn drop_and_stop(handle: Handle) {
        let core = handle.core.upgrade().expect("it is open");
        core.stop(handle.coroutine);
    }

    fn join(handle: Handle) -> Boxed {
        handle.ended(|outcome, returned| Got::Joined(returned.ok_or(outcome)))
    }

    fn finished(handle: &Handle) -> Boxed {
        let handle = Handle {
            core: handle.core.clone(),
            coroutine: handle.coroutine,
        };
        handle.ended(|outcome, _| Got::Ended(outcome))
    }

    fn wait(&self, wait: &Wait, clock: Option<&Clock>, calls: Calls) -> Boxed {
        let Calls { check, apply } = calls;
        match *wait {
            Wait::Own(own) => {
                let at = match own.row.place {
                    Place::Always(phase) => Some(phase),
                    _ => own.at,
                };
                let plan = match own.row.rule {
                    Rule::NextFrame => Plan::NextFrame,
                    Rule::Frames => Plan::Frames(own.count),
                    Rule::Run => Plan::Runs(1),
                    Rule::Runs => Plan::Runs(own.count),
                    Rule::Time(OnClock::Own) => Plan::Seconds(None, own.length),
                    Rule::Time(OnClock::Realtime) => Plan::Seconds(Some(REAL), own.length),
                    Rule::Time(OnClock::Given) => {
                        let clock = clock.expect("it names a clock").clock;
                        Plan::Seconds(Some(clock), own.length)
                    }
                    Rule::Condition => {
                        return tools::condition(&self.0, at, move || check() == own.flag.1);
                    }
                    Rule::Join | Rule::Event | Rule::Other => unreachable!("not of the model"),
                };
                self.waiting(at, plan)
            }
            Wait::Animate(length, at) => tools::animate(&self.0, at, length, move |t| apply(t)),
            Wait::Interval(Length::Nanos(period), count, at) => {
                tools::interval(self.0.clone(), at, period, count).boxed_local()
            }
            Wait::Point(_, units, at) => {
                let clock = clock.expect("it names a clock").clock;
                self.waiting(at, Plan::Point(clock, units * UNIT))
            }
            _ => unreachable!("not a wait of the executor's own, or not of the model"),
        }
    }

    /// Each time, all remaining ones are polled in order.
    fn group(mode: Mode, waits: Vec<Boxed>) -> Boxed {
        match mode {
            Mode::JoinAll => groups::all(waits).boxed_local(),
            Mode::Race => groups::first(waits).boxed_local(),
            Mode::Select => tools::one_in_the_other(waits),
            Mode::Join => tools::two_by_two(waits).boxed_local(),
            _ => unreachable!("not a group of the crate's own"),
        }
    }

    fn timeout(&self, length: Length, at: At, waiting: Boxed) -> Boxed {
        tools::timeout(&self.0, length, at, waiting)
    }

    fn on_clock(&self, clock: &Clock, waiting: Boxed) -> Boxed {
        tools::on_clock(&self.0, clock.clock, waiting)
    }

    fn owner(&self, inside: bool, below: Option<&Owner>, clock: Option<&Clock>) -> Owner {
        let below = below.map(|owner| owner.owner);
        let clock = clock.map(|clock| clock.clock);
        Owner {
            core: Rc::downgrade(&self.0),
            owner: self.0.owner(inside, below, clock),
        }
    }

    fn stop_all(owner: &Owner) {
        let core = owner.core.upgrade().expect("it is open");
        core.stop_all(owner.owner);
    }

    fn set_owner_paused(owner: &Owner, paused: bool) -> bool {
        let core = owner.core.upgrade().expect("it is open");
        core.set_owner_paused(owner.owner, paused)
    }

    fn hold_owner(owner: &Owner) -> Box<dyn Any> {
        let core = owner.core.upgrade().expect("it is open");
        core.hold_owner(owner.owner, 1);
        let of = owner.owner;
        Box::new(guard(owner.core.clone(), move |core| {
            core.hold_owner(of, -1);
        }))
    }

    fn set_active(owner: &Owner, active: bool) {
        let core = owner.core.upgrade().expect("it is open");
        core.set_active(owner.owner, active);
    }

    fn game_clock(&self) -> Clock {
        Clock {
            core: Rc::downgrade(&self.0),
            clock: GAME,
        }
    }

    fn child(clock: &Clock) -> Clock {
        let core = clock.core.upgrade().expect("it is open");
        let child = core.state.borrow_mut().clocks.child(clock.clock);
        Clock {
            core: clock.core.clone(),
            clock: child,
        }
    }

    fn set_scale(clock: &Clock, quarters: u8) {
        let core = clock.core.upgrade().expect("it is open");
        let mut state = core.state.borrow_mut();
        state.clocks.set_scale(clock.clock, quarters);
    }

    fn set_clock_paused(clock: &Clock, paused: bool) -> bool {
        let core = clock.core.upgrade().expect("it is open");
        let mut state = core.state.borrow_mut();
        let changed = state.clocks.set_paused(clock.clock, paused);
        state.look_at_steps();
        changed
    }

    fn hold_clock(clock: &Clock, halves: bool) -> Box<dyn Any> {
        let core = clock.core.upgrade().expect("it is open");
        let of = clock.clock;
        let hold = move |core: &Core, by| {
            let mut state = core.state.borrow_mut();
            state.clocks.hold(of, halves, by);
            state.look_at_steps();
        };
        hold(&core, 1);
        Box::new(guard(clock.core.clone(), move |core| hold(core, -1)))
    }

    fn reading(clock: &Clock) -> u64 {
        let core = clock.core.upgrade().expect("it is open");
        let state = core.state.borrow();
        state.clocks.read(clock.clock, state.phase())
    }

    fn request_stop(owner: &Owner) {
        let core = owner.core.upgrade().expect("it is open");
        core.request_stop(owner.owner);
    }

    fn stop_within(owner: &Owner, length: Length) -> Boxed {
        let core = owner.core.upgrade().expect("it is open");
        core.stop_within(owner.owner, length)
    }

    fn is_stop_requested(&self) -> bool {
        let state = self.0.state.borrow();
        let caller = state.scopes.last();
        caller.is_some_and(|&one| state.coroutines[one].asked.is_some())
    }

    fn stop_requested(&self) -> Boxed {
        events::asked(&self.0)
    }

    fn all_ended(owner: &Owner) -> Boxed {
        let core = owner.core.upgrade().expect("it is open");
        let wait = Waiting::new(&core, None, Plan::Ended(owner.owner));
        wait.map(|()| Got::Done).boxed_local()
    }

    fn timer(&self, length: Length, at: At) -> Waiting {
        Waiting::new(&self.0, at, Plan::Seconds(None, length))
    }

    fn poll_timer(timer: &mut Waiting, cx: &mut Context<'_>) -> Poll<()> {
        timer.poll(cx, |_| true)
    }

    fn reset(timer: &mut Waiting, length: Length) {
        timer.reset(length);
    }

    fn signals() -> [events::Signal; 2] {
        Default::default()
    }

    fn emit(signal: &events::Signal, event: u64) {
        signal.emit(event);
    }

    fn emit_one(signal: &events::Signal, event: u64) -> bool {
        signal.emit_one(event)
    }

    fn event(signal: &events::Signal, hear: Hear) -> Boxed {
        match hear {
            Hear::Next => signal.event().boxed_local(),
            Hear::This(_) | Hear::Many(_) => unreachable!("not of the model"),
        }
    }

    fn set(&self, _at: usize, _value: u64) {
        unreachable!("not of the model");
    }

    fn keep_promise(&self) -> bool {
        unreachable!("not of the model");
    }

    fn permits(count: usize) -> events::Semaphore {
        events::Semaphore::new(count)
    }

    fn add(permits: &events::Semaphore, count: usize) {
        permits.change(|before| before + count);
    }

    fn set_count(permits: &events::Semaphore, count: usize) {
        permits.change(|_| count);
    }

    fn counts(permits: &events::Semaphore) -> (usize, usize) {
        permits.counts()
    }

    fn acquire(permits: &events::Semaphore, count: usize, keep: Keep) -> Boxed {
        permits.acquire(count, keep).boxed_local()
    }

    fn with(&self, f: &mut dyn FnMut()) -> Lent {
        self.0.with(f)
    }
}
