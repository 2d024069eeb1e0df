//! What a program needs of an executor: framestep and the reference have it.

use std::rc::Rc;

use framestep::Phase;
use futures::future::LocalBoxFuture;

use super::program::{How, Length, Wait};
use super::trace::{Got, Lent};

pub(super) type Script = LocalBoxFuture<'static, usize>;
pub(super) type Waiting = LocalBoxFuture<'static, Got>;

/// An executor. `inside`: the call is made where free functions find it.
pub(super) trait System: 'static {
    type Id: Copy + 'static;
    type Handle: 'static;
    type Owner: 'static;
    type Clock: Clone + 'static;

    fn new(unlimited: bool) -> Self;
    /// Whether all that was done so far has one right order.
    fn is_settled(&self) -> bool {
        true
    }
    fn close(&self);

    fn begin_frame(&self, dt: Length);
    fn begin_fixed_step(&self) -> bool;
    fn run(&self, phase: Phase, lent: bool);
    fn enter(&self, f: &mut dyn FnMut());
    fn len(&self) -> usize;
    /// The frame, and the run under way.
    fn now(&self) -> (u64, Option<Phase>);
    /// The time of the clock of the coroutine that asks.
    fn elapsed(&self) -> u64;

    fn begin(
        &self,
        inside: bool,
        how: How,
        owner: Option<&Self::Owner>,
        script: Script,
    ) -> Self::Handle;
    fn remote(&self, script: Script);
    fn stop(&self, inside: bool, id: Self::Id) -> bool;
    fn set_paused(&self, id: Self::Id, paused: bool) -> bool;
    /// The coroutine that asks.
    fn current(&self) -> Self::Id;

    fn id(handle: &Self::Handle) -> Self::Id;
    fn is_finished(handle: &Self::Handle) -> bool;
    fn stop_on_drop(handle: &Self::Handle);
    fn join(handle: Self::Handle) -> Waiting;
    fn finished(handle: &Self::Handle) -> Waiting;

    /// A wait of the executor's own, on `clock` if it names one, for a condition
    /// if it is one.
    fn wait(&self, wait: Wait, clock: Option<&Self::Clock>, ask: Rc<dyn Fn() -> bool>) -> Waiting;

    fn owner(
        &self,
        inside: bool,
        below: Option<&Self::Owner>,
        clock: Option<&Self::Clock>,
    ) -> Self::Owner;
    fn stop_all(owner: &Self::Owner);
    fn set_owner_paused(owner: &Self::Owner, paused: bool) -> bool;
    fn set_active(owner: &Self::Owner, active: bool);

    fn game_clock(&self) -> Self::Clock;
    fn child(clock: &Self::Clock) -> Self::Clock;
    fn set_scale(clock: &Self::Clock, quarters: u8);
    fn set_clock_paused(clock: &Self::Clock, paused: bool) -> bool;

    fn with(&self, f: &mut dyn FnMut()) -> Lent;
}
