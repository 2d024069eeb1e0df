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
use framestep_testkit::waits::{Length, OnClock, Place, Rule, WAITS};

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
    let world = world.clone();
    let choice = world.below(if depth < 3 { 28 } else { 21 });
    let part = |_: usize| any(&world, clocked, depth + 1);
    let length = || Duration::from_nanos(LENGTHS[world.below(LENGTHS.len())]);
    match choice {
        0..=15 => of_the_table(&world, clocked),
        16 | 17 => {
            let (length_ns, phase) = (LENGTHS[world.below(LENGTHS.len())], any_phase(&world));
            async move { seconds(&world, length_ns, phase, clocked).await }.boxed_local()
        }
        // Waiting for one's own end is a panic, as it should be.
        18 => match world.take(&world.coroutines) {
            Some(coroutine) if coroutine.id() != current() => coroutine.map(drop).boxed_local(),
            _ => future::ready(()).boxed_local(),
        },
        19 => {
            let coroutines = world.coroutines.borrow();
            match coroutines.last() {
                Some(last) if last.id() != current() => last.finished().map(drop).boxed_local(),
                _ => future::ready(()).boxed_local(),
            }
        }
        20 => match world.below(2) {
            0 => bell(&world, world.below(3)),
            _ => yield_now().boxed_local(),
        },
        21 => future::select(part(0), part(1)).map(drop).boxed_local(),
        22 => future::join(part(0), part(1)).map(drop).boxed_local(),
        23 => {
            let waits: FuturesUnordered<_> = (0..3).map(part).collect();
            waits.for_each(|()| future::ready(())).boxed_local()
        }
        24 => timeout(length(), part(0)).map(drop).boxed_local(),
        25 => muffled(part(0)).boxed_local(),
        26 => race([part(0), part(1)]).map(drop).boxed_local(),
        _ => {
            let period = length().max(SHORTEST_PERIOD);
            let ticks = interval(period).take(2);
            ticks.for_each(|_| future::ready(())).boxed_local()
        }
    }
}

const SHORTEST_PERIOD: Duration = Duration::from_millis(1);

fn any_phase(world: &World) -> Phase {
    PHASES[world.below(PHASES.len())]
}

/// A wait of the table, which takes as long as its rule says.
fn of_the_table(world: &Rc<World>, clocked: bool) -> LocalBoxFuture<'static, ()> {
    // A join would begin a coroutine that the world does not know.
    let rows = || WAITS.iter().filter(|row| row.rule != Rule::Join);
    let row = rows()
        .nth(world.below(rows().count()))
        .expect("it is there");
    let phase = any_phase(world);
    let length = Duration::from_nanos(LENGTHS[world.below(LENGTHS.len())]);
    let length = if row.is_period {
        length.max(SHORTEST_PERIOD)
    } else {
        length
    };
    let mut given = world.given.clone();
    given.phase = Some(phase);
    given.count = world.below(5) as u64;
    given.length = Length::Exact(length);
    given.clock = world.pick(&world.clocks).expect("there is the game clock");
    let (asking, flag) = (world.clone(), world.below(3));
    given.condition = Rc::new(move || asking.flags[flag].get());
    given.accepts = |number| number % 2 == 0;
    // Where it resumes, if that is known.
    let phase = match row.place {
        Place::Home => None,
        Place::InPhase | Place::Argument => Some(phase),
        Place::Always(phase) => Some(phase),
    };
    let world = world.clone();
    async move {
        let (frame, runs) = (world.frame(), world.runs());
        let runs_of = |world: &World| phase.map_or(0, |phase| world.runs_of(phase));
        let runs_of_phase = runs_of(&world);
        let clocked = clocked && row.rule == Rule::Time(OnClock::Own);
        let clock = match row.rule {
            Rule::Time(OnClock::Realtime) => realtime(),
            Rule::Time(OnClock::Given) => given.clock.clone(),
            _ => clock(),
        };
        let in_step = is_in_step();
        let deadline = clock.now().saturating_add(length);
        row.make(&given).await;
        // No wait of these is ready in the run in which it begins.
        if !matches!(row.rule, Rule::Event | Rule::Other) {
            assert!(world.runs() > runs, "{} twice in a run", row.call);
        }
        let frames = match row.rule {
            Rule::NextFrame => 1,
            Rule::Frames => given.count.max(1),
            Rule::Time(_) | Rule::Condition => phase.map_or(0, frames_at_least),
            _ => 0,
        };
        assert!(world.frame() >= frame + frames, "{} is early", row.call);
        let runs = match row.rule {
            Rule::Run => 1,
            Rule::Runs => given.count.max(1),
            _ => 0,
        };
        assert!(
            runs_of(&world) >= runs_of_phase + runs,
            "{} is early",
            row.call
        );
        let reached = match row.rule {
            Rule::Time(OnClock::Realtime) => clock.now(),
            // A script on a clock of its own has another one than `clock()`, and a clock may
            // read more in a step than in the frame. In a step, the game clock reads less
            // than the frame has reached.
            Rule::Time(_) if !clocked && in_step.is_some() && in_step == is_in_step() => {
                clock.now().max(Duration::from_nanos(world.game_ns()))
            }
            _ => Duration::MAX,
        };
        assert!(reached >= deadline, "{} is early", row.call);
    }
    .boxed_local()
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
