//! framestep, through its public interface.

use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use framestep::lend::LendError;
use framestep::prelude::*;
use framestep::task::{CoroutineId, Outcome};
use framestep::wait::WaitSeconds;
use framestep::{Builder, Executor, Handle};
use futures::{FutureExt, StreamExt};

use super::language::{At, Hear, How, Mode, Settings, UNIT, Wait};
use super::own::Length;
use super::system::{Calls, Keep, Refused, Scripted, System, Waiting};
use super::trace::{Got, Lent};
use crate::waits::Given;

pub struct Real {
    executor: RefCell<Option<Executor>>,
    handle: Handle,
    /// What waits of the table are made from.
    given: Given,
    values: [Watch<u64>; 2],
    promises: RefCell<VecDeque<Resolver<()>>>,
    budget: Budget,
}

struct World;

thread_local! {
    /// Scripts on their way through the inbox: only a number is sent.
    static SENT: RefCell<Vec<Option<Scripted>>> = const { RefCell::new(Vec::new()) };
}

impl Real {
    pub fn builder(settings: &Settings) -> Builder {
        let mut builder = Executor::builder().fixed_delta(Duration::from_nanos(UNIT));
        if settings.unlimited {
            builder = builder.max_delta(f64::INFINITY);
        } else {
            builder = builder.max_delta(Duration::from_nanos(4 * UNIT));
        }
        if let Some(polls) = settings.polls {
            builder = builder.max_polls_per_run(polls);
        }
        builder
    }

    pub fn of(executor: Executor) -> Self {
        executor.on_report(|_| ());
        Real {
            handle: executor.handle(),
            given: Given::new(&executor.handle()),
            values: [Watch::new(0), Watch::new(1)],
            promises: RefCell::default(),
            budget: Budget::of_units(2),
            executor: RefCell::new(Some(executor)),
        }
    }

    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Calls `f` with the executor, unless it is running.
    pub fn with_executor(&self, f: impl FnOnce(&Executor)) {
        if let Ok(executor) = self.executor.try_borrow() {
            f(executor.as_ref().expect("it is open"));
        }
    }

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
        Real::of(Real::builder(settings).build())
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

    fn run_frame(&self, nested: bool, dt: Length) -> Result<(), Refused> {
        self.drive(nested, |executor| {
            executor.lend(&mut World, |executor| {
                with_length!(dt, |dt| executor.run_frame(dt));
            });
        })
    }

    fn enter(&self, f: &mut dyn FnMut()) {
        self.handle.enter(f);
    }

    fn alive(&self) -> usize {
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
        script: Scripted,
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

    fn remote(&self, script: Scripted) {
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

    fn is_paused(&self, id: CoroutineId) -> bool {
        self.handle.is_paused(id)
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
        let Calls { check, apply } = calls;
        match *wait {
            Wait::Own(own) => {
                let checks = Rc::new(move || check() == own.flag.1);
                let wait = own.make(&self.given, clock, checks);
                wait.map(|()| Got::Done).boxed_local()
            }
            Wait::Animate(length, at) => {
                let apply = move |share| apply(share);
                let wait = with_length!(length, |length| animate(length, apply));
                in_phase_of!(wait, at).map(|()| Got::Done).boxed_local()
            }
            Wait::Interval(length, count, at) => ticks(length, count, at).boxed_local(),
            Wait::Point(_, units, at) => {
                let clock = clock.expect("it names a clock");
                let wait = clock.wait_until(Duration::from_nanos(UNIT * units));
                in_phase_of!(wait, at).map(|()| Got::Done).boxed_local()
            }
            Wait::Frames(count, at) => {
                let frames = in_phase_of!(framestep::wait::frames(), at).take(count);
                frames.count().map(|_| Got::Done).boxed_local()
            }
            Wait::Yield => framestep::wait::yield_now()
                .map(|()| Got::Done)
                .boxed_local(),
            Wait::Checkpoint => {
                let budget = self.budget.clone();
                async move { budget.checkpoint().await }
                    .map(|()| Got::Done)
                    .boxed_local()
            }
            Wait::Changed(at) => self.values[at % 2].changed().map(Got::Event).boxed_local(),
            Wait::AtLeast(at, value) => {
                let wait = self.values[at % 2].wait_for(move |now| *now >= value);
                wait.map(Got::Event).boxed_local()
            }
            Wait::Changes(at, count) => {
                let changes = self.values[at % 2].subscribe().take(count);
                changes.collect().map(Got::Events).boxed_local()
            }
            Wait::Promise => {
                let (resolver, promise) = promise::<()>();
                self.promises.borrow_mut().push_back(resolver);
                promise.map(|kept| Got::Kept(kept.is_ok())).boxed_local()
            }
            _ => unreachable!("not a wait of the executor's own"),
        }
    }

    fn group(mode: Mode, waits: Vec<Waiting>) -> Waiting {
        match mode {
            Mode::JoinAll => framestep::combine::join_all(waits)
                .map(Got::All)
                .boxed_local(),
            Mode::Race => framestep::combine::race(waits)
                .map(|(at, got)| Got::One(at, Box::new(got)))
                .boxed_local(),
            Mode::Join => joined(waits).boxed_local(),
            Mode::Select => selected(waits).boxed_local(),
            _ => unreachable!("not a group of the crate's own"),
        }
    }

    fn timeout(&self, length: Length, at: At, waiting: Waiting) -> Waiting {
        let wait = with_length!(length, |length| timeout(length, waiting));
        in_phase_of!(wait, at)
            .map(|result| result.unwrap_or(Got::Elapsed))
            .boxed_local()
    }

    fn on_clock(&self, clock: &Clock, waiting: Waiting) -> Waiting {
        framestep::wait::on_clock(clock, waiting).boxed_local()
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

    fn hold_owner(owner: &Owner) -> Box<dyn Any> {
        Box::new(owner.pause_guard())
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

    fn hold_clock(clock: &Clock, halves: bool) -> Box<dyn Any> {
        Box::new(if halves {
            clock.scaled(0.5)
        } else {
            clock.pause_guard()
        })
    }

    fn reading(clock: &Clock) -> u64 {
        nanos(clock.now())
    }

    fn request_stop(owner: &Owner) {
        owner.request_stop();
    }

    fn stop_within(owner: &Owner, length: Length) -> Waiting {
        let stopped = with_length!(length, |length| owner.stop_within(length));
        stopped.map(Got::Stopped).boxed_local()
    }

    fn is_stop_requested(&self) -> bool {
        is_stop_requested()
    }

    fn stop_requested(&self) -> Waiting {
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

    fn signals() -> [Signal<u64>; 2] {
        [Signal::new(), Signal::with_limit(2)]
    }

    fn emit(signal: &Signal<u64>, event: u64) {
        signal.emit(event);
    }

    fn emit_one(signal: &Signal<u64>, event: u64) -> bool {
        signal.emit_one(event).is_none()
    }

    fn event(signal: &Signal<u64>, hear: Hear) -> Waiting {
        match hear {
            Hear::Next => signal.wait().map(Got::Event).boxed_local(),
            Hear::This(rest) => {
                let wait = signal.wait_for(move |event| event % 3 == rest);
                wait.map(Got::Event).boxed_local()
            }
            Hear::Many(count) => {
                let events = signal.subscribe().take(count);
                events.collect().map(Got::Events).boxed_local()
            }
        }
    }

    fn set(&self, at: usize, value: u64) {
        self.values[at % 2].set(value);
    }

    fn keep_promise(&self) -> bool {
        let resolver = self.promises.borrow_mut().pop_front();
        resolver.is_some_and(|resolver| resolver.send(()).is_ok())
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
