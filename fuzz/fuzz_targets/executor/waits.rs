//! What scripts wait for. Every wait checks that it took as long as it should.

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use framestep::prelude::*;
use futures::future::{self, FutureExt, LocalBoxFuture};
use futures::stream::{FuturesUnordered, StreamExt};

use crate::world::{PHASES, Status, World, ns};

/// Lengths of waits, in nanoseconds.
const LENGTHS: [u64; 10] = [
    0,
    1,
    1_000_000,
    16_666_667,
    20_000_000,
    100_000_000,
    250_000_000,
    1_000_000_000,
    3_600_000_000_000,
    u64::MAX,
];

/// A wait by itself, of which is known in which Update it is due at the latest.
pub(crate) async fn plain(world: &Rc<World>, status: &Status, clocked: bool) {
    let length_ns = LENGTHS[world.below(LENGTHS.len())];
    let frame = world.frame();
    if world.below(2) == 0 {
        status.due.set(Some((frame, 0)));
        takes_a_run(world, next_frame().in_phase(Phase::Update)).await;
        assert!(world.frame() > frame);
    } else {
        // In frame time, which Update counts in. In a fixed step, `time` reads that of
        // the steps.
        let deadline_ns = world.game_ns().saturating_add(length_ns);
        if !clocked && deadline_ns < u64::MAX {
            status.due.set(Some((frame, deadline_ns)));
        }
        seconds(world, length_ns, Phase::Update, clocked).await;
    }
    status.due.set(None);
}

/// Any wait, also made of others.
pub(crate) fn any(world: &Rc<World>, clocked: bool, depth: u32) -> LocalBoxFuture<'static, ()> {
    let phase = PHASES[world.below(PHASES.len())];
    let world = world.clone();
    let below = |bound| world.below(bound);
    let length_ns = LENGTHS[below(LENGTHS.len())];
    let choice = below(if depth < 3 { 23 } else { 16 });
    let part = |_: usize| any(&world, clocked, depth + 1);
    match choice {
        0 => later(&world, 1, next_frame().in_phase(phase)),
        1 => {
            let frames = below(5) as u64;
            later(&world, frames.max(1), wait_frames(frames).in_phase(phase))
        }
        2 | 3 => async move { seconds(&world, length_ns, phase, clocked).await }.boxed_local(),
        4 => async move {
            let deadline = time()
                .unscaled_elapsed
                .saturating_add(Duration::from_nanos(length_ns));
            let wait = wait_seconds_realtime(Duration::from_nanos(length_ns)).in_phase(phase);
            takes_a_run(&world, wait).await;
            assert!(time().unscaled_elapsed >= deadline, "early");
        }
        .boxed_local(),
        5 => on_clock(&world, length_ns, phase),
        6 | 7 => {
            let flag = below(3);
            let (asking, after) = (world.clone(), world.clone());
            let wait = wait_until(move || asking.flags[flag].get()).in_phase(phase);
            later(&after, frames_at_least(phase), wait)
        }
        8 => in_a_run_of(&world, Phase::FixedUpdate, fixed_update()),
        9 => in_a_run_of(&world, Phase::EndOfFrame, end_of_frame()),
        10 => in_a_run_of(&world, phase, in_phase(phase)),
        // Waiting for one's own end is a panic, as it should be.
        11 => match world.take(&world.coroutines) {
            Some(coroutine) if coroutine.id() != current() => coroutine.map(drop).boxed_local(),
            _ => future::ready(()).boxed_local(),
        },
        12 => {
            let coroutines = world.coroutines.borrow();
            match coroutines.last() {
                Some(last) if last.id() != current() => last.finished().map(drop).boxed_local(),
                _ => future::ready(()).boxed_local(),
            }
        }
        13 => bell(&world, below(3)),
        14 => yield_now().boxed_local(),
        15 => steps(&world, below(5) as u64),
        16 => future::select(part(0), part(1)).map(drop).boxed_local(),
        17 => future::join(part(0), part(1)).map(drop).boxed_local(),
        18 => {
            let waits: FuturesUnordered<_> = (0..3).map(part).collect();
            waits.for_each(|()| future::ready(())).boxed_local()
        }
        19 => timeout(Duration::from_nanos(length_ns), part(0))
            .map(drop)
            .boxed_local(),
        20 => muffled(part(0)).boxed_local(),
        21 => async move { world.signal.wait().map(|_| ()).await }.boxed_local(),
        _ => {
            let period = Duration::from_nanos(length_ns.clamp(1_000_000, u64::MAX));
            interval(period)
                .take(2)
                .for_each(|_| future::ready(()))
                .boxed_local()
        }
    }
}

/// No wait is ready in the run in which it begins.
async fn takes_a_run<F: Future>(world: &World, wait: F) -> F::Output {
    let runs = world.runs();
    let output = wait.await;
    assert!(world.runs() > runs, "twice in a run");
    output
}

/// How many frames a timer or a condition takes at least: on fixed steps it may be
/// due in the next step of the same frame.
fn frames_at_least(phase: Phase) -> u64 {
    u64::from(phase != Phase::FixedUpdate)
}

fn later(
    world: &Rc<World>,
    frames: u64,
    wait: impl Future + 'static,
) -> LocalBoxFuture<'static, ()> {
    let world = world.clone();
    async move {
        let frame = world.frame();
        takes_a_run(&world, wait).await;
        assert!(world.frame() >= frame + frames, "early");
    }
    .boxed_local()
}

fn steps(world: &Rc<World>, steps: u64) -> LocalBoxFuture<'static, ()> {
    let world = world.clone();
    async move {
        let due = world.steps() + steps.max(1);
        takes_a_run(&world, wait_steps(steps)).await;
        assert!(world.steps() >= due, "early");
    }
    .boxed_local()
}

fn in_a_run_of(
    world: &Rc<World>,
    phase: Phase,
    wait: impl Future<Output = ()> + 'static,
) -> LocalBoxFuture<'static, ()> {
    let world = world.clone();
    async move {
        let runs = world.runs();
        wait.await;
        assert!(world.latest(phase) > runs, "early");
    }
    .boxed_local()
}

async fn seconds(world: &World, length_ns: u64, phase: Phase, clocked: bool) {
    let frame = world.frame();
    let in_step = is_in_step();
    let deadline_ns = ns(time().elapsed).saturating_add(length_ns);
    let wait = wait_seconds(Duration::from_nanos(length_ns)).in_phase(phase);
    takes_a_run(world, wait).await;
    assert!(world.frame() >= frame + frames_at_least(phase), "early");
    // In a fixed step the game clock reads less than the frame has reached.
    let reached_ns = if clocked { 0 } else { world.game_ns() };
    let now_ns = ns(time().elapsed).max(reached_ns);
    // Another clock may read more in a step than in the frame.
    if !clocked || in_step.is_some() && in_step == is_in_step() {
        assert!(now_ns >= deadline_ns, "early");
    }
}

/// Whether the clocks are read in the time of the steps. Not known in a custom phase, which
/// may run inside a step, nor between the runs.
fn is_in_step() -> Option<bool> {
    match time().phase {
        None | Some(Phase::Custom(_)) => None,
        Some(phase) => Some(phase == Phase::FixedUpdate),
    }
}

fn on_clock(world: &Rc<World>, length_ns: u64, phase: Phase) -> LocalBoxFuture<'static, ()> {
    let (world, clock) = (world.clone(), world.pick(&world.clocks));
    let clock = clock.expect("there is the game clock");
    async move {
        let in_step = is_in_step();
        let deadline = clock.now().saturating_add(Duration::from_nanos(length_ns));
        let wait = clock.wait_seconds(Duration::from_nanos(length_ns));
        takes_a_run(&world, wait.in_phase(phase)).await;
        // If it is the game clock, as above.
        let reached = Duration::from_nanos(world.game_ns());
        if in_step.is_some() && in_step == is_in_step() {
            assert!(clock.now().max(reached) >= deadline, "early");
        }
    }
    .boxed_local()
}

fn bell(world: &Rc<World>, bell: usize) -> LocalBoxFuture<'static, ()> {
    let world = world.clone();
    let before = world.bells[bell].rung.get();
    poll_fn(move |cx| {
        let bell = &world.bells[bell];
        if bell.rung.get() > before {
            return Poll::Ready(());
        }
        bell.wakers.borrow_mut().push(cx.waker().clone());
        Poll::Pending
    })
    .boxed_local()
}

async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Hands no waker on, as careless wrappers do.
async fn muffled(wait: LocalBoxFuture<'static, ()>) {
    let mut wait = pin!(wait);
    poll_fn(|_| wait.as_mut().poll(&mut Context::from_waker(Waker::noop()))).await;
}
