//! framestep, driven by `run_frame` as a host without an engine would.
//!
//! W1 and W2 begin with `start`, at time zero. W3 is about `spawn`, so that
//! both of its polls happen in frames. The children of W1c are started, too.
//!
//! W8 has two rows: `framestep` with the `join_all` of futures, as the others
//! have it, and `framestep-join-all` with the crate's own.

use std::future::pending;
use std::hint::black_box;
use std::rc::Rc;
use std::time::Duration;

use framestep::inspect::TraceHook;
use framestep::prelude::*;
use futures::FutureExt;
use futures::future::LocalBoxFuture;

use crate::actor::{Actor, FRAME, Waits, child};
use crate::random::permutation;
use crate::scripts::{self, Ball, CHURN_ONE_IN, JOINED};
use crate::systems::{Order, System, World};

/// Sleeps once, for a few nanoseconds that its index decides. All such naps
/// end in one frame, in order of their deadlines; from then on that is the
/// order of the queue, whatever the order of allocation.
fn awake_after_nap(index: usize) -> impl Future<Output = ()> {
    let mut actor = Actor::new(index);
    async move {
        wait_seconds(Duration::from_nanos(actor.index() as u64 + 1)).await;
        loop {
            next_frame().await;
            actor.resumed();
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

/// W8 with the `join_all` of the crate.
fn joining_frames(index: usize) -> impl Future<Output = ()> {
    let mut actor = Actor::new(index);
    async move {
        loop {
            let all = framestep::combine::join_all((0..JOINED).map(|_| next_frame())).await;
            actor.add(all.len() as u64);
        }
    }
}

fn parent(children: usize) -> impl Future<Output = ()> {
    let mut actor = Actor::new(0);
    async move {
        loop {
            for index in 0..children {
                actor.add(start(child(index)).await.expect("ends by itself"));
            }
            next_frame().await;
        }
    }
}

struct Frames(Executor);

impl World for Frames {
    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            self.0.run_frame(FRAME);
        }
    }
}

/// The phases of W5; between them, `run_frame` also runs the fixed steps.
const PHASES: [Phase; 4] = [
    Phase::EarlyUpdate,
    Phase::Update,
    Phase::LateUpdate,
    Phase::EndOfFrame,
];

struct Chains {
    executor: Executor,
    depth: usize,
}

impl World for Chains {
    fn prepare(&mut self) -> bool {
        let mut below = self.executor.start(async {
            next_frame().await;
            1
        });
        for _level in 2..self.depth {
            let link = async move { below.await.expect("ends by itself") + 1 };
            below = self.executor.start(link);
        }
        let mut actor = Actor::new(0);
        self.executor
            .start(async move { actor.add(below.await.expect("ends by itself") + 1) });
        true
    }

    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            self.executor.run_frame(FRAME);
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
            self.executor.run_frame(FRAME);
            self.executor.run_frame(FRAME);
        }
    }
}

struct Inspected(Executor);

impl World for Inspected {
    fn steps(&mut self, count: u64) {
        for _ in 0..count {
            black_box(self.0.snapshot());
        }
    }
}

/// A coroutine in one of eight kinds of waits, by its index. All are of one type,
/// so that they hardly change the code of the other workloads.
fn waiting(index: usize) -> LocalBoxFuture<'static, ()> {
    let seconds = Duration::from_millis(index as u64 + 1);
    match index % 8 {
        0 => next_frame().boxed_local(),
        1 => fixed_update().boxed_local(),
        2 => wait_until(|| false).boxed_local(),
        3 => wait_frames(index as u64 + 1).boxed_local(),
        4 => async { Signal::<()>::new().wait().await }.boxed_local(),
        5 => timeout(seconds, pending::<()>()).map(|_| ()).boxed_local(),
        _ => wait_seconds(seconds).boxed_local(),
    }
}

pub(crate) struct Framestep;

impl System for Framestep {
    fn name(&self) -> &'static str {
        "framestep"
    }

    fn future_bytes(&self) -> usize {
        size_of_val(&scripts::awake(0, next_frame))
    }

    fn awake(&self, size: usize, order: Order) -> Option<Box<dyn World>> {
        let mut executor = Executor::new();
        match order {
            Order::Allocated => {
                for index in 0..size {
                    executor.start(scripts::awake(index, next_frame));
                }
            }
            Order::Aged => {
                for index in permutation(size) {
                    executor.start(awake_after_nap(index));
                }
                executor.run_frame(FRAME);
            }
        }
        Some(Box::new(Frames(executor)))
    }

    fn churning(&self, size: usize) -> Option<Box<dyn World>> {
        let start = |index| drop(start(scripts::short_lived(index, next_frame)));
        let executor = Executor::new();
        for index in 0..size {
            if index % CHURN_ONE_IN == 0 {
                executor.start(scripts::churning(index, next_frame, start));
            } else {
                executor.start(scripts::awake(index, next_frame));
            }
        }
        Some(Box::new(Frames(executor)))
    }

    fn asleep(&self, size: usize, waits: Waits) -> Option<Box<dyn World>> {
        let executor = Executor::new();
        for index in 0..size {
            executor.start(asleep(index, waits));
        }
        Some(Box::new(Frames(executor)))
    }

    fn spawning(&self, size: usize) -> Option<Box<dyn World>> {
        let executor = Executor::new();
        Some(Box::new(Spawning { executor, size }))
    }

    fn joining(&self, size: usize) -> Option<Box<dyn World>> {
        let executor = Executor::new();
        // The first joins belong to the first step, as a start would run
        // them at once.
        executor.spawn(parent(size));
        Some(Box::new(Frames(executor)))
    }

    fn nested(&self, levels: usize) -> Option<Box<dyn World>> {
        let executor = Executor::new();
        executor.start(scripts::nested(levels, next_frame));
        Some(Box::new(Frames(executor)))
    }

    fn chained(&self, depth: usize) -> Option<Box<dyn World>> {
        let executor = Executor::new();
        Some(Box::new(Chains { executor, depth }))
    }

    fn phased(&self, size: usize) -> Option<Box<dyn World>> {
        let executor = Executor::new();
        for index in 0..size {
            let phase = PHASES[index % PHASES.len()];
            executor.start(scripts::awake(index, move || next_frame().in_phase(phase)));
        }
        Some(Box::new(Frames(executor)))
    }

    fn waking(&self, pairs: usize) -> Option<Box<dyn World>> {
        let executor = Executor::new();
        for _pair in 0..pairs {
            let ball = Rc::<Ball>::default();
            for me in 0..2 {
                // The first passes belong to the first step.
                executor.spawn(scripts::player(Rc::clone(&ball), me, next_frame));
            }
        }
        Some(Box::new(Frames(executor)))
    }

    fn joining_frames(&self, size: usize) -> Option<Box<dyn World>> {
        let executor = Executor::new();
        for index in 0..size {
            executor.start(scripts::joining_frames(index, next_frame));
        }
        Some(Box::new(Frames(executor)))
    }

    fn inspected(&self, size: usize) -> Option<Box<dyn World>> {
        let executor = Executor::new();
        let mut joined: Option<Coroutine<()>> = None;
        for index in 0..size {
            let coroutine = match joined.take() {
                Some(other) if index % 8 == 7 => {
                    executor.spawn(join(other).map(|_| ()).boxed_local())
                }
                _ => executor.spawn(waiting(index)),
            };
            if index % 16 == 6 {
                coroutine.pause();
            }
            joined = Some(if index % 16 == 9 {
                coroutine.named("door")
            } else {
                coroutine
            });
        }
        let mut frames = Frames(executor);
        frames.steps(1);
        Some(Box::new(Inspected(frames.0)))
    }
}

/// W8 only: what the crate has in place of the `join_all` of futures.
pub(crate) struct OwnJoinAll;

impl System for OwnJoinAll {
    fn name(&self) -> &'static str {
        "framestep-join-all"
    }

    fn future_bytes(&self) -> usize {
        Framestep.future_bytes()
    }

    fn joining_frames(&self, size: usize) -> Option<Box<dyn World>> {
        let executor = Executor::new();
        for index in 0..size {
            executor.start(joining_frames(index));
        }
        Some(Box::new(Frames(executor)))
    }
}

/// What an executor notes about its coroutines: how W1 and W2 show its cost.
#[derive(Clone, Copy)]
pub(crate) enum Observed {
    /// `Builder::inspect`.
    Inspect,
    /// `Builder::profile`.
    Profile,
    /// A hook of `on_trace` that does nothing.
    Trace,
    /// A hook of `on_full_trace` that does nothing.
    FullTrace,
    /// The same, removed after the coroutines have been spawned.
    RemovedTrace,
}

impl Observed {
    /// An executor, and the hook to remove when its coroutines have been spawned.
    fn executor(self) -> (Executor, Option<TraceHook>) {
        let builder = Executor::builder();
        match self {
            Observed::Inspect => (builder.inspect(true).build(), None),
            Observed::Profile => (builder.profile(true).build(), None),
            Observed::Trace => {
                let executor = builder.build();
                executor.on_trace(|event| _ = black_box(event));
                (executor, None)
            }
            Observed::FullTrace | Observed::RemovedTrace => {
                let executor = builder.build();
                let hook = executor.on_full_trace(|event| _ = black_box(event));
                let is_removed = matches!(self, Observed::RemovedTrace);
                (executor, Some(hook).filter(|_| is_removed))
            }
        }
    }

    fn with_coroutines(self, spawn: impl FnOnce(&Executor)) -> Frames {
        let (executor, hook) = self.executor();
        spawn(&executor);
        if let Some(hook) = hook {
            hook.remove();
        }
        Frames(executor)
    }
}

impl System for Observed {
    fn name(&self) -> &'static str {
        match self {
            Observed::Inspect => "framestep-inspect",
            Observed::Profile => "framestep-profile",
            Observed::Trace => "framestep-trace",
            Observed::FullTrace => "framestep-full-trace",
            Observed::RemovedTrace => "framestep-removed-trace",
        }
    }

    fn future_bytes(&self) -> usize {
        Framestep.future_bytes()
    }

    fn awake(&self, size: usize, order: Order) -> Option<Box<dyn World>> {
        if !matches!(order, Order::Allocated) {
            return None;
        }
        Some(Box::new(self.with_coroutines(|executor| {
            for index in 0..size {
                executor.start(scripts::awake(index, next_frame));
            }
        })))
    }

    fn asleep(&self, size: usize, waits: Waits) -> Option<Box<dyn World>> {
        Some(Box::new(self.with_coroutines(|executor| {
            for index in 0..size {
                executor.start(asleep(index, waits));
            }
        })))
    }

    fn inspected(&self, size: usize) -> Option<Box<dyn World>> {
        let mut frames = self.with_coroutines(|executor| {
            for index in 0..size {
                executor.spawn(waiting(index));
            }
        });
        frames.steps(1);
        Some(Box::new(Inspected(frames.0)))
    }
}
