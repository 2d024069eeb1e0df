//! framestep, through its public interface.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use framestep::lend::LendError;
use framestep::prelude::*;
use framestep::task::{CoroutineId, Outcome};
use framestep::wait::WaitSeconds;
use framestep::{Executor, Handle};
use futures::FutureExt;

use framestep_testkit::waits::Given;

use super::program::{At, How, Length, Mode, Settings, Wait};
use super::system::{Calls, Keep, Refused, Script, System, Waiting};
use super::trace::{Got, Lent};

pub(super) struct Real {
    executor: RefCell<Option<Executor>>,
    handle: Handle,
    /// What waits of the table are made from.
    given: Given,
}

struct World;

thread_local! {
    /// Scripts on their way through the inbox: only a number is sent.
    static SENT: RefCell<Vec<Option<Script>>> = const { RefCell::new(Vec::new()) };
}

impl Real {
    /// Lets a host drive the executor.
    fn drive<R>(&self, nested: bool, f: impl FnOnce(&mut Executor) -> R) -> Result<R, Refused> {
        let Ok(mut executor) = self.executor.try_borrow_mut() else {
            assert!(nested, "only one host drives");
            return Err(Refused);
        };
        let executor = executor.as_mut().expect("it is open");
        if !nested {
            return Ok(f(executor));
        }
        catch_unwind(AssertUnwindSafe(|| f(executor))).map_err(|_| Refused)
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).expect("64 bits will do")
}

/// Calls `$f` with a length as `Seconds`.
macro_rules! with_length {
    ($length:expr, $f:expr) => {
        match $length {
            Length::Nanos(ns) => $f(Duration::from_nanos(ns)),
            Length::Negative => $f(-1.5),
            Length::Infinite => $f(f64::INFINITY),
            Length::NotANumber => $f(f64::NAN),
        }
    };
}

/// Names the phase, if there is one.
macro_rules! in_phase_of {
    ($wait:expr, $at:expr) => {
        match $at {
            None => $wait,
            Some(phase) => $wait.in_phase(phase),
        }
    };
}

/// The first two with `join!`, and then the others.
async fn joined(waits: Vec<Waiting>) -> Got {
    let mut waits = waits.into_iter();
    let mut all = Vec::new();
    while let Some(one) = waits.next() {
        match waits.next() {
            Some(other) => all.extend(<[Got; 2]>::from(framestep::join!(one, other))),
            None => all.push(one.await),
        }
    }
    Got::All(all)
}

/// Pairs of `select!`, one within the other.
async fn selected(waits: Vec<Waiting>) -> Got {
    let mut waits = waits.into_iter().enumerate().rev();
    let (at, last) = waits.next().expect("there is one");
    let mut all = last.map(move |got| (at, got)).boxed_local();
    for (at, wait) in waits {
        all = async move {
            framestep::select! {
                got = wait => (at, got),
                rest = all => rest,
            }
        }
        .boxed_local();
    }
    let (at, got) = all.await;
    Got::One(at, Box::new(got))
}

async fn ticks(length: Length, count: usize, at: At) -> Got {
    let mut interval = in_phase_of!(with_length!(length, interval), at);
    let mut all = Vec::new();
    while all.len() < count {
        let tick = interval.tick().await;
        all.push(Got::Tick(tick.skipped, nanos(tick.late)));
    }
    Got::All(all)
}

impl System for Real {
    type Id = CoroutineId;
    type Handle = Coroutine<usize>;
    type Owner = Owner;
    type Clock = Clock;
    type Signal = Signal<u64>;
    type Semaphore = Semaphore;
    type Timer = WaitSeconds;

    fn new(settings: &Settings) -> Self {
        SENT.take();
        let mut builder = Executor::builder().fixed_delta(Duration::from_millis(125));
        if settings.unlimited {
            builder = builder.max_delta(f64::INFINITY);
        } else {
            builder = builder.max_delta(0.5);
        }
        if let Some(polls) = settings.polls {
            builder = builder.max_polls_per_run(polls);
        }
        let executor = builder.build();
        executor.on_report(|_| ());
        Real {
            handle: executor.handle(),
            given: Given::new(&executor.handle()),
            executor: RefCell::new(Some(executor)),
        }
    }

    fn close(&self) {
        let executor = self.executor.take();
        drop(executor);
    }

    fn begin_frame(&self, nested: bool, dt: Length) -> Result<(), Refused> {
        self.drive(nested, |executor| {
            with_length!(dt, |dt| executor.begin_frame(dt));
        })
    }

    fn begin_fixed_step(&self, nested: bool) -> Result<bool, Refused> {
        self.drive(nested, Executor::begin_fixed_step)
    }

    fn end_fixed_step(&self, nested: bool) -> Result<(), Refused> {
        self.drive(nested, Executor::end_fixed_step)
    }

    fn run(&self, nested: bool, phase: Phase, lent: bool) -> Result<(), Refused> {
        self.drive(nested, |executor| {
            if lent {
                executor.lend(&mut World, |executor| executor.run_phase(phase));
            } else {
                executor.run_phase(phase);
            }
        })
    }

    fn enter(&self, f: &mut dyn FnMut()) {
        self.handle.enter(f);
    }

    fn len(&self) -> usize {
        let executor = self.executor.borrow();
        executor.as_ref().expect("it is open").len()
    }

    fn now(&self) -> (u64, Option<Phase>) {
        let time = self.handle.time().expect("it is open");
        (time.frame, time.phase)
    }

    fn elapsed(&self) -> u64 {
        nanos(time().elapsed)
    }

    fn begin(
        &self,
        inside: bool,
        how: How,
        owner: Option<&Owner>,
        script: Script,
    ) -> Coroutine<usize> {
        match (owner, how) {
            (Some(owner), How::Start) => owner.start(script),
            (Some(owner), How::Spawn) => owner.spawn(script),
            (Some(owner), How::SpawnIn(home)) => owner.script("").in_phase(home).spawn(script),
            (Some(owner), How::StartIn(home)) => owner.script("").in_phase(home).start(script),
            (None, How::Start) if inside => start(script),
            (None, How::Spawn) if inside => spawn(script),
            (None, How::SpawnIn(home)) if inside => {
                framestep::task::script("").in_phase(home).spawn(script)
            }
            (None, How::StartIn(home)) if inside => {
                framestep::task::script("").in_phase(home).start(script)
            }
            (None, How::Start) => self.handle.start(script),
            (None, How::Spawn) => self.handle.spawn(script),
            (None, How::SpawnIn(home)) => self.handle.script("").in_phase(home).spawn(script),
            (None, How::StartIn(home)) => self.handle.script("").in_phase(home).start(script),
        }
    }

    fn remote(&self, script: Script) {
        let number = SENT.with_borrow_mut(|sent| {
            sent.push(Some(script));
            sent.len() - 1
        });
        let executor = self.executor.borrow();
        let remote = executor.as_ref().expect("it is open").remote();
        remote.spawn(move || {
            let script = SENT.with_borrow_mut(|sent| sent[number].take());
            script.expect("it is made once")
        });
    }

    fn stop(&self, inside: bool, id: CoroutineId) -> bool {
        if inside {
            stop(id)
        } else {
            self.handle.stop(id)
        }
    }

    fn is_alive(&self, id: CoroutineId) -> bool {
        self.handle.is_alive(id)
    }

    fn set_paused(&self, id: CoroutineId, paused: bool) -> bool {
        if paused {
            self.handle.pause(id)
        } else {
            self.handle.resume(id)
        }
    }

    fn current(&self) -> CoroutineId {
        current()
    }

    fn id(handle: &Coroutine<usize>) -> CoroutineId {
        handle.id()
    }

    fn is_finished(handle: &Coroutine<usize>) -> bool {
        handle.is_finished()
    }

    fn drop_and_stop(handle: Coroutine<usize>) {
        drop(handle.stop_on_drop());
    }

    fn join(handle: Coroutine<usize>) -> Waiting {
        let joined = handle.map(|result| {
            Got::Joined(result.map_err(|error| {
                if error.is_panic() {
                    Outcome::Panicked
                } else {
                    Outcome::Stopped
                }
            }))
        });
        joined.boxed_local()
    }

    fn finished(handle: &Coroutine<usize>) -> Waiting {
        handle.finished().map(Got::Ended).boxed_local()
    }

    fn wait(&self, wait: &Wait, clock: Option<&Clock>, calls: Calls) -> Waiting {
        let Calls { ask, apply } = calls;
        match *wait {
            Wait::Own(own) => {
                let asks = Rc::new(move || ask() == own.flag.1);
                let wait = own.make(&self.given, clock, asks);
                wait.map(|()| Got::Done).boxed_local()
            }
            Wait::Animate(length, at) => {
                let apply = move |share| apply(share);
                let wait = with_length!(length, |length| animate(length, apply));
                in_phase_of!(wait, at).map(|()| Got::Done).boxed_local()
            }
            Wait::Interval(length, count, at) => ticks(length, count, at).boxed_local(),
            Wait::Join(_)
            | Wait::Finished(_)
            | Wait::Ended(_)
            | Wait::Asked
            | Wait::Event(_)
            | Wait::Semaphore(..)
            | Wait::Timer(..)
            | Wait::Bell(_)
            | Wait::Yield
            | Wait::Loose
            | Wait::Shared(..)
            | Wait::Timeout(..)
            | Wait::Group(..) => unreachable!("not a wait of the executor's own"),
        }
    }

    fn group(mode: Mode, waits: Vec<Waiting>) -> Waiting {
        match mode {
            Mode::OwnJoinAll => framestep::combine::join_all(waits)
                .map(Got::All)
                .boxed_local(),
            Mode::OwnRace => framestep::combine::race(waits)
                .map(|(at, got)| Got::One(at, Box::new(got)))
                .boxed_local(),
            Mode::OwnJoin => joined(waits).boxed_local(),
            Mode::OwnSelect => selected(waits).boxed_local(),
            _ => unreachable!("not a group of the crate's own"),
        }
    }

    fn timeout(&self, length: Length, at: At, waiting: Waiting) -> Waiting {
        let wait = with_length!(length, |length| timeout(length, waiting));
        in_phase_of!(wait, at)
            .map(|result| result.unwrap_or(Got::Elapsed))
            .boxed_local()
    }

    fn owner(&self, inside: bool, below: Option<&Owner>, clock: Option<&Clock>) -> Owner {
        match (below, clock) {
            (Some(above), Some(clock)) => above.child_on(clock),
            (Some(above), None) => above.child(),
            (None, Some(clock)) => self.handle.owner_on(clock).expect("it is open"),
            (None, None) if inside => owner(),
            (None, None) => self.handle.owner().expect("it is open"),
        }
    }

    fn stop_all(owner: &Owner) {
        owner.stop_all();
    }

    fn set_owner_paused(owner: &Owner, paused: bool) -> bool {
        if paused {
            owner.pause()
        } else {
            owner.resume()
        }
    }

    fn set_active(owner: &Owner, active: bool) {
        owner.set_active(active);
    }

    fn game_clock(&self) -> Clock {
        self.handle.clock().expect("it is open")
    }

    fn child(clock: &Clock) -> Clock {
        clock.child()
    }

    fn set_scale(clock: &Clock, quarters: u8) {
        clock.set_scale(f64::from(quarters) / 4.0);
    }

    fn set_clock_paused(clock: &Clock, paused: bool) -> bool {
        if paused {
            clock.pause()
        } else {
            clock.resume()
        }
    }

    fn reading(clock: &Clock) -> u64 {
        nanos(clock.now())
    }

    fn request_stop(owner: &Owner) {
        owner.request_stop();
    }

    fn is_asked(&self) -> bool {
        is_stop_requested()
    }

    fn asked(&self) -> Waiting {
        stop_requested().map(|()| Got::Done).boxed_local()
    }

    fn all_ended(owner: &Owner) -> Waiting {
        owner.ended().map(|()| Got::Done).boxed_local()
    }

    fn timer(&self, length: Length, at: At) -> WaitSeconds {
        let wait = with_length!(length, wait_seconds);
        in_phase_of!(wait, at)
    }

    fn poll_timer(timer: &mut WaitSeconds, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(timer).poll(cx)
    }

    fn reset(timer: &mut WaitSeconds, length: Length) {
        with_length!(length, |length| timer.reset(length));
    }

    fn signal() -> Signal<u64> {
        Signal::new()
    }

    fn emit(signal: &Signal<u64>, event: u64) {
        signal.emit(event);
    }

    fn emit_one(signal: &Signal<u64>, event: u64) -> bool {
        signal.emit_one(event).is_none()
    }

    fn event(signal: &Signal<u64>) -> Waiting {
        signal.wait().map(Got::Event).boxed_local()
    }

    fn permits(count: usize) -> Semaphore {
        Semaphore::new(count)
    }

    fn add(permits: &Semaphore, count: usize) {
        permits.add(count);
    }

    fn set_count(permits: &Semaphore, count: usize) {
        permits.set_count(count);
    }

    fn counts(permits: &Semaphore) -> (usize, usize) {
        (permits.count(), permits.available())
    }

    fn acquire(permits: &Semaphore, count: usize, keep: Keep) -> Waiting {
        let taken = permits.acquire_many(count).map(move |permit| {
            keep(Box::new(permit));
            Got::Done
        });
        taken.boxed_local()
    }

    fn with(&self, f: &mut dyn FnMut()) -> Lent {
        match try_with(|_: &mut World| f()) {
            Ok(()) => Lent::Given,
            Err(LendError::NotLent { .. }) => Lent::Missing,
            Err(_) => Lent::Borrowed,
        }
    }
}
