//! The interface that a program needs from an executor: framestep and the reference implement
//! it.

use std::any::Any;
use std::rc::Rc;
use std::task::{Context, Poll};

use framestep::Phase;
use futures::future::LocalBoxFuture;

use super::language::{At, Hear, How, Mode, Settings, Wait};
use super::own::Length;
use super::trace::{Got, Lent};
use crate::phases::PHASES;

/// The future of a coroutine.
pub type Scripted = LocalBoxFuture<'static, usize>;
pub type Waiting = LocalBoxFuture<'static, Got>;
pub type Keep = Rc<dyn Fn(Box<dyn Any>)>;

/// The callbacks of a wait.
#[derive(Clone)]
pub struct Calls {
    /// Checks a condition.
    pub check: Rc<dyn Fn() -> bool>,
    /// Takes the value of an animation.
    pub apply: Rc<dyn Fn(f32)>,
}

/// The executor refuses to run now.
pub struct Refused;

/// An executor. `inside`: the call is made where the free functions find the executor.
pub trait System: Sized + 'static {
    type Id: Copy + 'static;
    type Handle: 'static;
    type Owner: 'static;
    type Clock: Clone + 'static;
    type Signal: 'static;
    type Semaphore: 'static;
    /// A timer that can be moved.
    type Timer: 'static;

    fn new(settings: &Settings) -> Self;
    fn close(&self);
    /// The contract leaves open what a program does from now on.
    fn is_open_ended(&self) -> bool {
        false
    }

    /// `nested`: from inside a coroutine or a destructor.
    fn begin_frame(&self, nested: bool, dt: Length) -> Result<(), Refused>;
    fn begin_fixed_step(&self, nested: bool) -> Result<bool, Refused>;
    fn end_fixed_step(&self, nested: bool) -> Result<(), Refused>;
    fn run(&self, nested: bool, phase: Phase, lent: bool) -> Result<(), Refused>;
    /// docs/contract.md#frame
    fn run_frame(&self, nested: bool, dt: Length) -> Result<(), Refused> {
        self.begin_frame(nested, dt)?;
        for phase in PHASES {
            if phase == Phase::FixedUpdate {
                while self.begin_fixed_step(nested)? {
                    self.run(nested, phase, true)?;
                }
            } else {
                self.run(nested, phase, true)?;
            }
        }
        Ok(())
    }
    fn enter(&self, f: &mut dyn FnMut());
    /// How many coroutines are alive.
    fn alive(&self) -> usize;
    /// The frame, and the current run.
    fn now(&self) -> (u64, Option<Phase>);
    /// The time of the calling coroutine's clock.
    fn elapsed(&self) -> u64;

    fn begin(
        &self,
        inside: bool,
        how: How,
        owner: Option<&Self::Owner>,
        script: Scripted,
    ) -> Self::Handle;
    fn remote(&self, script: Scripted);
    fn stop(&self, inside: bool, id: Self::Id) -> bool;
    fn is_alive(&self, id: Self::Id) -> bool;
    fn is_paused(&self, id: Self::Id) -> bool;
    fn set_paused(&self, id: Self::Id, paused: bool) -> bool;
    /// The calling coroutine.
    fn current(&self) -> Self::Id;

    fn id(handle: &Self::Handle) -> Self::Id;
    fn is_finished(handle: &Self::Handle) -> bool;
    /// Drops a handle that stops its coroutine on drop.
    fn drop_and_stop(handle: Self::Handle);
    fn join(handle: Self::Handle) -> Waiting;
    fn finished(handle: &Self::Handle) -> Waiting;

    /// One of the executor's waits, on `clock` if it names one.
    fn wait(&self, wait: &Wait, clock: Option<&Self::Clock>, calls: Calls) -> Waiting;
    /// Several waits as one, with the crate's combinators.
    fn group(mode: Mode, waits: Vec<Waiting>) -> Waiting;
    /// A wait with a timeout.
    fn timeout(&self, length: Length, at: At, waiting: Waiting) -> Waiting;
    fn on_clock(&self, clock: &Self::Clock, waiting: Waiting) -> Waiting;

    fn owner(
        &self,
        inside: bool,
        below: Option<&Self::Owner>,
        clock: Option<&Self::Clock>,
    ) -> Self::Owner;
    fn stop_all(owner: &Self::Owner);
    fn request_stop(owner: &Self::Owner);
    /// Also returns a wait for the end, which gives how many coroutines were left.
    fn stop_within(owner: &Self::Owner, length: Length) -> Waiting;
    /// Whether the calling coroutine has been requested to stop.
    fn is_stop_requested(&self) -> bool;
    fn stop_requested(&self) -> Waiting;
    fn all_ended(owner: &Self::Owner) -> Waiting;
    fn set_owner_paused(owner: &Self::Owner, paused: bool) -> bool;
    /// A guard that pauses it.
    fn hold_owner(owner: &Self::Owner) -> Box<dyn Any>;
    fn set_active(owner: &Self::Owner, active: bool);

    fn game_clock(&self) -> Self::Clock;
    fn child(clock: &Self::Clock) -> Self::Clock;
    fn set_scale(clock: &Self::Clock, quarters: u8);
    fn set_clock_paused(clock: &Self::Clock, paused: bool) -> bool;
    /// A guard that holds it, or halves its speed.
    fn hold_clock(clock: &Self::Clock, halves: bool) -> Box<dyn Any>;
    fn reading(clock: &Self::Clock) -> u64;

    fn timer(&self, length: Length, at: At) -> Self::Timer;
    fn poll_timer(timer: &mut Self::Timer, cx: &mut Context<'_>) -> Poll<()>;
    fn reset(timer: &mut Self::Timer, length: Length);

    /// The second of two signals stores only two events for each subscription.
    fn signals() -> [Self::Signal; 2];
    fn emit(signal: &Self::Signal, event: u64);
    /// Returns whether a coroutine gets it.
    fn emit_one(signal: &Self::Signal, event: u64) -> bool;
    fn event(signal: &Self::Signal, hear: Hear) -> Waiting;

    /// Sets the watched value of this number.
    fn set(&self, at: usize, value: u64);
    /// Keeps the oldest promise.
    fn keep_promise(&self) -> bool;

    fn permits(count: usize) -> Self::Semaphore;
    fn add(permits: &Self::Semaphore, count: usize);
    fn set_count(permits: &Self::Semaphore, count: usize);
    /// How many there are, and how many are available.
    fn counts(permits: &Self::Semaphore) -> (usize, usize);
    /// `keep` gets what returns the permits when it is dropped.
    fn acquire(permits: &Self::Semaphore, count: usize, keep: Keep) -> Waiting;

    fn with(&self, f: &mut dyn FnMut()) -> Lent;
}
