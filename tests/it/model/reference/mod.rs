//! The contract as the simplest program that keeps it.
//!
//! Every coroutine is a box, every wait an entry in one table, and whatever is
//! next is looked for among all of them. No queue, no wheel, and wakers are for
//! foreign futures alone.

mod clocks;
mod model;
mod state;
mod waiting;

use std::rc::Rc;

use framestep::Phase;
use futures::FutureExt;

use super::program::{How, Length, Wait};
use super::system::{Script, System, Waiting};
use super::trace::{Got, Lent};
use clocks::{GAME, REALTIME};
use model::Model;
use state::Kind;
use waiting::{Answer, Handle};

pub(super) struct Reference(Rc<Model>);

pub(super) struct OwnerHandle {
    model: Rc<Model>,
    owner: usize,
}

impl Drop for OwnerHandle {
    fn drop(&mut self) {
        self.model.drop_owner(self.owner);
    }
}

#[derive(Clone)]
pub(super) struct ClockHandle {
    model: Rc<Model>,
    clock: usize,
}

impl Reference {
    fn waiting(&self, phase: Phase, kind: Kind) -> Waiting {
        waiting::wait(self.0.clone(), phase, kind, Answer::Time).boxed_local()
    }

    fn timer(&self, phase: Phase, clock: Option<usize>, length: Length) -> Waiting {
        waiting::timer(self.0.clone(), phase, clock, length).boxed_local()
    }

    fn condition(&self, phase: Phase, holds: impl Fn() -> bool + 'static) -> Waiting {
        let answer = Answer::Condition(Rc::new(holds));
        waiting::wait(self.0.clone(), phase, Kind::Condition(0), answer).boxed_local()
    }
}

impl System for Reference {
    type Id = Option<usize>;
    type Handle = Handle;
    type Owner = OwnerHandle;
    type Clock = ClockHandle;

    fn new(unlimited: bool) -> Self {
        Reference(Model::new(unlimited))
    }

    fn is_settled(&self) -> bool {
        !self.0.state.borrow().open
    }

    fn close(&self) {
        self.0.close();
    }

    fn begin_frame(&self, dt: Length) {
        self.0.state.borrow_mut().clocks.begin_frame(dt);
    }

    fn begin_fixed_step(&self) -> bool {
        self.0.state.borrow_mut().clocks.begin_fixed_step()
    }

    fn run(&self, phase: Phase, lent: bool) {
        self.0.state.borrow_mut().lent = lent;
        self.0.run(phase);
        self.0.state.borrow_mut().lent = false;
    }

    fn enter(&self, f: &mut dyn FnMut()) {
        self.0.inside(None, f);
    }

    fn len(&self) -> usize {
        let state = self.0.state.borrow();
        state.coroutines.iter().filter(|it| it.alive).count()
    }

    fn now(&self) -> (u64, Option<Phase>) {
        let state = self.0.state.borrow();
        (state.clocks.frame, state.running)
    }

    fn elapsed(&self) -> u64 {
        let state = self.0.state.borrow();
        state.clocks.now(state.own_clock())
    }

    fn begin(
        &self,
        _inside: bool,
        how: How,
        owner: Option<&OwnerHandle>,
        script: Script,
    ) -> Handle {
        let owner = owner.map_or_else(|| self.0.inherited_owner(), |owner| Some(owner.owner));
        let coroutine = match how {
            How::Start => self.0.start(script, owner),
            How::Spawn => self.0.spawn(script, None, owner),
            How::SpawnIn(phase) => self.0.spawn(script, Some(phase), owner),
        };
        Handle::new(self.0.clone(), coroutine)
    }

    fn remote(&self, script: Script) {
        self.0.spawn(script, Some(Phase::Update), None);
    }

    fn stop(&self, _inside: bool, id: Option<usize>) -> bool {
        id.is_some_and(|id| self.0.stop(id))
    }

    fn set_paused(&self, id: Option<usize>, paused: bool) -> bool {
        id.is_some_and(|id| self.0.state.borrow_mut().set_paused(id, paused))
    }

    fn current(&self) -> Option<usize> {
        self.0.state.borrow().current()
    }

    fn id(handle: &Handle) -> Option<usize> {
        handle.coroutine()
    }

    fn is_finished(handle: &Handle) -> bool {
        handle.outcome().is_some()
    }

    fn stop_on_drop(handle: &Handle) {
        handle.stop_on_drop();
    }

    fn join(handle: Handle) -> Waiting {
        handle.map(Got::Joined).boxed_local()
    }

    fn finished(handle: &Handle) -> Waiting {
        handle.finished().boxed_local()
    }

    fn wait(&self, wait: Wait, clock: Option<&ClockHandle>, ask: Rc<dyn Fn() -> bool>) -> Waiting {
        match wait {
            Wait::NextFrame(phase) => self.waiting(phase, Kind::NextFrame),
            Wait::Frames(frames, phase) => self.waiting(phase, Kind::Frames(frames.max(1))),
            Wait::Seconds(length, phase) => self.timer(phase, None, length),
            Wait::Realtime(length, phase) => self.timer(phase, Some(REALTIME), length),
            Wait::OnClock(_, length, phase) => {
                let clock = clock.expect("it names a clock");
                self.timer(phase, Some(clock.clock), length)
            }
            Wait::Until(_, value, phase) => self.condition(phase, move || ask() == value),
            Wait::While(_, value, phase) => self.condition(phase, move || ask() != value),
            Wait::InPhase(phase) => self.waiting(phase, Kind::NextRun),
            Wait::FixedUpdate => self.waiting(Phase::FixedUpdate, Kind::NextRun),
            Wait::EndOfFrame => self.waiting(Phase::EndOfFrame, Kind::NextRun),
            Wait::Join(_) | Wait::Finished(_) | Wait::Bell(_) | Wait::Yield => {
                unreachable!("not a wait of the executor's own")
            }
        }
    }

    fn owner(
        &self,
        _inside: bool,
        below: Option<&OwnerHandle>,
        clock: Option<&ClockHandle>,
    ) -> OwnerHandle {
        let parent = match (below, clock) {
            (Some(above), _) => Some(above.owner),
            (None, Some(_)) => None,
            (None, None) => self.0.inherited_owner(),
        };
        let owner = self.0.add_owner(parent, clock.map(|clock| clock.clock));
        OwnerHandle {
            model: self.0.clone(),
            owner,
        }
    }

    fn stop_all(owner: &OwnerHandle) {
        owner.model.stop_owned(owner.owner);
    }

    fn set_owner_paused(owner: &OwnerHandle, paused: bool) -> bool {
        let mut state = owner.model.state.borrow_mut();
        state.set_owner_paused(owner.owner, paused)
    }

    fn set_active(owner: &OwnerHandle, active: bool) {
        owner.model.state.borrow_mut().owners[owner.owner].inactive = !active;
        if !active {
            owner.model.stop_owned(owner.owner);
        }
    }

    fn game_clock(&self) -> ClockHandle {
        ClockHandle {
            model: self.0.clone(),
            clock: GAME,
        }
    }

    fn child(clock: &ClockHandle) -> ClockHandle {
        let child = clock.model.state.borrow_mut().clocks.child(clock.clock);
        ClockHandle {
            model: clock.model.clone(),
            clock: child,
        }
    }

    fn set_scale(clock: &ClockHandle, quarters: u8) {
        let mut state = clock.model.state.borrow_mut();
        state.clocks.set_scale(clock.clock, u64::from(quarters));
    }

    fn set_clock_paused(clock: &ClockHandle, paused: bool) -> bool {
        let mut state = clock.model.state.borrow_mut();
        state.clocks.set_paused(clock.clock, paused)
    }

    fn with(&self, f: &mut dyn FnMut()) -> Lent {
        let (lent, borrowed) = {
            let state = self.0.state.borrow();
            (state.lent, state.borrowed)
        };
        if !lent {
            return Lent::Missing;
        }
        if borrowed {
            return Lent::Borrowed;
        }
        self.0.borrow_lent(f);
        Lent::Given
    }
}
