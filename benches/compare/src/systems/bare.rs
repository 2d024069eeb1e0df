//! A `Vec` of boxed futures, all polled every frame with a waker that does
//! nothing. No queue, no wakers, no timers, no stopping, no order to keep:
//! the least that an executor of boxed futures can do.

use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::actor::{Actor, FRAME, Waits, child};
use crate::random::shuffle;
use crate::scripts::{self, CHURN_ONE_IN};
use crate::systems::waker_list::PHASES;
use crate::systems::{Order, System, World};

thread_local! {
    static NOW_NS: Cell<u64> = const { Cell::new(0) };
}

pub(crate) struct NextFrame {
    waited: bool,
}

pub(crate) fn next_frame() -> NextFrame {
    NextFrame { waited: false }
}

impl Future for NextFrame {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        if self.waited {
            return Poll::Ready(());
        }
        self.waited = true;
        Poll::Pending
    }
}

struct WaitSeconds {
    deadline_ns: u64,
}

/// As the wait is awaited where it is made, its deadline is known at once.
fn wait_seconds(length: Duration) -> WaitSeconds {
    WaitSeconds {
        deadline_ns: NOW_NS.get() + length.as_nanos() as u64,
    }
}

impl Future for WaitSeconds {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        if NOW_NS.get() >= self.deadline_ns {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

fn asleep(index: usize, waits: Waits) -> impl Future<Output = ()> {
    let mut actor = Actor::new(index);
    async move {
        loop {
            wait_seconds(actor.next_wait(waits)).await;
            actor.resumed();
        }
    }
}

/// Here a child that is started and joined is a box that is awaited: kept
/// from the optimiser, which would see through both.
fn parent(children: usize) -> impl Future<Output = ()> {
    let mut actor = Actor::new(0);
    async move {
        loop {
            for index in 0..children {
                let child: Pin<Box<dyn Future<Output = u64>>> = Box::pin(child(index));
                actor.add(black_box(child).await);
            }
            next_frame().await;
        }
    }
}

type Boxed = Pin<Box<dyn Future<Output = ()>>>;

#[derive(Default)]
struct Executor {
    futures: Vec<Boxed>,
}

impl Executor {
    fn with_capacity(size: usize) -> Self {
        NOW_NS.set(0);
        Self {
            futures: Vec::with_capacity(size),
        }
    }

    fn spawn(&mut self, future: impl Future<Output = ()> + 'static) {
        self.futures.push(Box::pin(future));
    }

    fn poll_all(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        self.futures
            .retain_mut(|future| future.as_mut().poll(&mut cx).is_pending());
    }

    fn run_frame(&mut self) {
        NOW_NS.set(NOW_NS.get() + FRAME.as_nanos() as u64);
        self.poll_all();
    }
}

impl World for Executor {
    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            self.run_frame();
        }
    }
}

struct Spawning {
    executor: Executor,
    size: usize,
}

impl World for Spawning {
    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            for index in 0..self.size {
                self.executor.spawn(scripts::short_lived(index, next_frame));
            }
            self.executor.run_frame();
            self.executor.run_frame();
        }
    }
}

thread_local! {
    /// Children started in the run under way.
    static STARTED: RefCell<Vec<Boxed>> = const { RefCell::new(Vec::new()) };
}

/// Children are pushed to a `Vec` of their own while the others are polled,
/// which borrows theirs; after that they are polled and moved there.
struct Churning(Executor);

impl World for Churning {
    fn steps(&mut self, count: u64) {
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..count {
            self.0.run_frame();
            // None of them starts others.
            STARTED.with_borrow_mut(|started| {
                started.retain_mut(|child| child.as_mut().poll(&mut cx).is_pending());
                self.0.futures.append(started);
            });
        }
    }
}

/// A `Vec` for each phase.
struct Phased([Executor; PHASES]);

impl World for Phased {
    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            self.0.iter_mut().for_each(Executor::poll_all);
        }
    }
}

thread_local! {
    static PHASE: Cell<usize> = const { Cell::new(0) };
}

/// Ready in the phase's first poll after that in which the wait began.
struct NextRunOf {
    phase: usize,
    waited: bool,
}

impl Future for NextRunOf {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<()> {
        if self.waited && PHASE.get() == self.phase {
            return Poll::Ready(());
        }
        self.waited = true;
        Poll::Pending
    }
}

/// One `Vec` for all phases, polled in each of them.
struct PolledInAll(Executor);

impl World for PolledInAll {
    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            for phase in 0..PHASES {
                PHASE.set(phase);
                self.0.poll_all();
            }
        }
    }
}

/// W5 only: what it costs to have phases and no queues for them.
pub(crate) struct BareInAllPhases;

impl System for BareInAllPhases {
    fn name(&self) -> &'static str {
        "bare-all-phases"
    }

    fn future_bytes(&self) -> usize {
        let next_frame = || NextRunOf {
            phase: 0,
            waited: false,
        };
        size_of_val(&scripts::awake(0, next_frame))
    }

    fn phased(&self, size: usize) -> Option<Box<dyn World>> {
        let mut executor = Executor::with_capacity(size);
        for index in 0..size {
            let phase = index % PHASES;
            let next_run = move || NextRunOf {
                phase,
                waited: false,
            };
            executor.spawn(scripts::awake(index, next_run));
        }
        // No phase of its own: they all begin to wait.
        PHASE.set(PHASES);
        executor.poll_all();
        Some(Box::new(PolledInAll(executor)))
    }
}

pub(crate) struct Bare;

impl System for Bare {
    fn name(&self) -> &'static str {
        "bare"
    }

    fn future_bytes(&self) -> usize {
        size_of_val(&scripts::awake(0, next_frame))
    }

    fn awake(&self, size: usize, order: Order) -> Option<Box<dyn World>> {
        let mut executor = Executor::with_capacity(size);
        for index in 0..size {
            executor.spawn(scripts::awake(index, next_frame));
        }
        if order == Order::Aged {
            shuffle(&mut executor.futures);
        }
        executor.poll_all();
        Some(Box::new(executor))
    }

    fn churning(&self, size: usize) -> Option<Box<dyn World>> {
        let start = |index| {
            let child = Box::pin(scripts::short_lived(index, next_frame));
            STARTED.with_borrow_mut(|started| started.push(child));
        };
        let mut executor = Executor::with_capacity(size);
        for index in 0..size {
            if index % CHURN_ONE_IN == 0 {
                executor.spawn(scripts::churning(index, next_frame, start));
            } else {
                executor.spawn(scripts::awake(index, next_frame));
            }
        }
        executor.poll_all();
        Some(Box::new(Churning(executor)))
    }

    fn asleep(&self, size: usize, waits: Waits) -> Option<Box<dyn World>> {
        let mut executor = Executor::with_capacity(size);
        for index in 0..size {
            executor.spawn(asleep(index, waits));
        }
        executor.poll_all();
        Some(Box::new(executor))
    }

    fn spawning(&self, size: usize) -> Option<Box<dyn World>> {
        let executor = Executor::with_capacity(size);
        Some(Box::new(Spawning { executor, size }))
    }

    fn joining(&self, size: usize) -> Option<Box<dyn World>> {
        let mut executor = Executor::with_capacity(1);
        executor.spawn(parent(size));
        Some(Box::new(executor))
    }

    fn nested(&self, levels: usize) -> Option<Box<dyn World>> {
        let mut executor = Executor::with_capacity(1);
        executor.spawn(scripts::nested(levels, next_frame));
        executor.poll_all();
        Some(Box::new(executor))
    }

    fn phased(&self, size: usize) -> Option<Box<dyn World>> {
        let mut executors: [Executor; PHASES] = Default::default();
        for index in 0..size {
            executors[index % PHASES].spawn(scripts::awake(index, next_frame));
        }
        executors.iter_mut().for_each(Executor::poll_all);
        Some(Box::new(Phased(executors)))
    }
}
