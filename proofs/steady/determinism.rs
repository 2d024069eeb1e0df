//! Same inputs, same polls: a program with all features, run twice.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::StreamExt;
use futures::channel::mpsc;

use framestep::inspect::{
    CoroutineInfo, Snapshot, State, TimerClock, TraceEvent, TraceHook, TraceKind, Wait,
};
use framestep::prelude::*;
use framestep::task::{CoroutineId, Outcome};
use framestep::{Builder, Executor, Time};

use framestep_testkit::timeline::Log;
use framestep_testkit::{Random, yield_now};

/// The shared state of a program's coroutines.
#[derive(Clone)]
struct World {
    log: Log,
    mailbox: async_channel::Sender<u64>,
    mail: async_channel::Receiver<u64>,
    victims: std::rc::Rc<std::cell::RefCell<Vec<CoroutineId>>>,
}

fn script(
    name: String,
    world: World,
    mut random: Random,
    depth: u32,
) -> futures::future::LocalBoxFuture<'static, u64> {
    Box::pin(async move {
        let _dropped = world.log.on_drop(format!("{name} dropped"));
        world.victims.borrow_mut().push(current());
        for step in 0..12 {
            let action = random.below(16);
            world.log.say(format_args!("{name}.{step}: {action}"));
            match action {
                0 => {
                    next_frame().await;
                }
                1 => {
                    wait_frames(random.below(4)).await;
                }
                2 => {
                    wait_seconds(random.seconds()).await;
                }
                3 => {
                    wait_seconds_realtime(random.seconds()).await;
                }
                4 => {
                    in_phase(random.phase()).await;
                }
                5 => {
                    let wait = wait_seconds(random.seconds());
                    wait.in_phase(random.phase()).await;
                }
                6 => {
                    let frame = time().frame + random.below(4);
                    wait_until(move || time().frame >= frame).await;
                }
                7 => yield_now().await,
                8 if depth < 3 => {
                    let child = script(
                        format!("{name}s{step}"),
                        world.clone(),
                        random.fork(),
                        depth + 1,
                    );
                    let result = start(child).await;
                    world
                        .log
                        .say(format_args!("{name} joined: {:?}", result.ok()));
                }
                9 if depth < 3 => {
                    let child = script(
                        format!("{name}q{step}"),
                        world.clone(),
                        random.fork(),
                        depth + 1,
                    );
                    let result = spawn(child).await;
                    world
                        .log
                        .say(format_args!("{name} joined: {:?}", result.ok()));
                }
                10 if depth < 3 => {
                    let child = script(
                        format!("{name}d{step}"),
                        world.clone(),
                        random.fork(),
                        depth + 1,
                    );
                    drop(
                        framestep::task::script("")
                            .in_phase(random.phase())
                            .spawn(child),
                    );
                }
                11 => world.mailbox.try_send(random.below(100)).unwrap(),
                12 => {
                    let (seconds, frames) = (random.seconds(), random.below(6));
                    futures::select_biased! {
                        message = std::pin::pin!(futures::FutureExt::fuse(world.mail.recv())) => {
                            world.log.say(format_args!("{name} received {message:?}"));
                        }
                        () = wait_seconds(seconds) => world.log.say(format_args!("{name} timed out")),
                        () = wait_frames(frames) => world.log.say(format_args!("{name} gave up")),
                    }
                }
                13 if step > 6 => {
                    let count = world.victims.borrow().len() as u64;
                    let victim = usize::try_from(random.below(count)).unwrap();
                    let victim = world.victims.borrow()[victim];
                    let stopped = stop(victim);
                    world.log.say(format_args!("{name} stops: {stopped}"));
                }
                14 if step > 9 => panic!("on purpose"),
                _ => {
                    let (a, b) = (random.seconds(), random.phase());
                    futures::join!(wait_seconds(a), next_frame().in_phase(b), end_of_frame());
                }
            }
        }
        random.next()
    })
}

/// Runs the program of `seed` and returns all events.
fn trace(seed: u64) -> Vec<String> {
    run(seed, Executor::builder(), |_| (), |_| ())
}

/// The same, on an executor with other settings; `watch` gets it before the
/// program begins, `look` after each frame.
fn run(
    seed: u64,
    builder: Builder,
    watch: impl FnOnce(&Executor),
    mut look: impl FnMut(&Executor),
) -> Vec<String> {
    let mut random = Random(seed);
    let mut executor = builder.fixed_delta(0.125).build();
    watch(&executor);
    let (mailbox, mail) = async_channel::unbounded();
    let world = World {
        log: Log::new(),
        mailbox,
        mail,
        victims: std::rc::Rc::default(),
    };
    let (host, mut from_host) = mpsc::unbounded::<u64>();
    let log = world.log.clone();
    executor.start(async move {
        while let Some(message) = from_host.next().await {
            log.say(format_args!("host sent {message}"));
        }
    });
    for i in 0..20 {
        let child = script(format!("c{i}"), world.clone(), random.fork(), 0);
        match random.below(3) {
            0 => drop(executor.start(child)),
            1 => drop(executor.spawn(child)),
            _ => drop(executor.script("").in_phase(random.phase()).spawn(child)),
        }
    }
    for _ in 0..200 {
        if random.below(3) == 0 {
            host.unbounded_send(random.below(100)).unwrap();
        }
        executor.run_frame(random.seconds() / 4.0);
        let (len, next) = (executor.len(), executor.next_deadline());
        world.log.note(format_args!("{len} alive, {next:?}"));
        look(&executor);
    }
    drop(executor);
    world.log.take()
}

type Events = Rc<RefCell<Vec<TraceEvent>>>;

/// Collects the events of an executor.
fn collect(events: &Events) -> impl FnOnce(&Executor) {
    let events = events.clone();
    move |executor| _ = executor.on_trace(move |event| events.borrow_mut().push(event.clone()))
}

/// The output of a traced run of the program.
fn events(seed: u64) -> Vec<String> {
    let events = Events::default();
    run(seed, Executor::builder(), collect(&events), |_| ());
    let events = events.borrow();
    events.iter().map(ToString::to_string).collect()
}

const SEEDS: std::ops::Range<u64> = 0..20;
/// Fewer seeds, because each is run several times.
const FEW_SEEDS: std::ops::Range<u64> = 0..6;

#[test]
fn the_same_seed_produces_the_same_trace() {
    for seed in SEEDS {
        let first = trace(seed);
        assert!(first.len() > 500, "a trace of {} lines", first.len());
        assert_eq!(first, trace(seed), "seed {seed}");
    }
}

#[test]
fn another_seed_produces_another_trace() {
    assert_ne!(trace(1), trace(2));
}

#[test]
fn the_same_seed_produces_the_same_events() {
    for seed in FEW_SEEDS {
        let first = events(seed);
        assert!(first.len() > 500, "{} events", first.len());
        assert_eq!(first, events(seed), "seed {seed}");
    }
    assert_ne!(events(1), events(2));
}

#[test]
fn watching_changes_nothing() {
    for seed in FEW_SEEDS {
        let unwatched = trace(seed);
        let inspected = Executor::builder().inspect(true);
        assert_eq!(unwatched, run(seed, inspected, |_| (), |_| ()), "{seed}");
        let traced = |executor: &Executor| _ = executor.on_trace(|_| ());
        let builder = Executor::builder();
        assert_eq!(unwatched, run(seed, builder, traced, |_| ()), "{seed}");
        let traced = |executor: &Executor| _ = executor.on_full_trace(|_| ());
        let profiled = Executor::builder().profile(true);
        assert_eq!(unwatched, run(seed, profiled, traced, |_| ()), "{seed}");
        // Hooks that come and go in every frame.
        let hook = Cell::new(None::<TraceHook>);
        let toggle = |executor: &Executor| match hook.take() {
            Some(hook) => assert!(hook.remove()),
            None => hook.set(Some(executor.on_full_trace(|_| ()))),
        };
        let builder = Executor::builder();
        assert_eq!(unwatched, run(seed, builder, |_| (), toggle), "{seed}");
        let timed = Executor::builder().slow_poll(0);
        let silent = |executor: &Executor| executor.on_report(|_| ());
        assert_eq!(unwatched, run(seed, timed, silent, |_| ()), "{seed}");
    }
}

#[test]
fn looking_changes_nothing() {
    for seed in FEW_SEEDS {
        let look = |executor: &Executor| assert_eq!(executor.snapshot().len(), executor.len());
        let looked_at = run(seed, Executor::builder(), |_| (), look);
        assert_eq!(trace(seed), looked_at, "seed {seed}");
    }
}

/// Whether the event that `coroutine` waited for after the last frame happened
/// in the frame of `events`. `None` if they do not tell.
fn has_come(coroutine: &CoroutineInfo, now: &Time, events: &[TraceEvent]) -> Option<bool> {
    if coroutine.state() == State::Ready {
        return (coroutine.phase() != Phase::FixedUpdate).then_some(true);
    }
    let come = coroutine.waits().map(|wait| match wait.clone() {
        Wait::Wake { .. } => None,
        // There may have been none, or several.
        wait if wait.phase() == Some(Phase::FixedUpdate) => None,
        Wait::Frame { .. } | Wait::Run { .. } | Wait::Condition { .. } => Some(true),
        Wait::FrameCount { left, .. } => Some(left == 1),
        Wait::Timer {
            clock, deadline, ..
        } => match clock {
            TimerClock::Game => Some(deadline <= now.elapsed),
            TimerClock::Realtime => Some(deadline <= now.unscaled_elapsed),
            _ => None,
        },
        Wait::Join { id } => Some(
            events
                .iter()
                .any(|event| event.id == Some(id) && matches!(event.kind, TraceKind::Ended(_))),
        ),
        Wait::Never => Some(false),
        _ => None,
    });
    let come: Vec<Option<bool>> = come.collect();
    if come.contains(&Some(true)) {
        return Some(true);
    }
    (!come.contains(&None)).then_some(false)
}

#[test]
fn what_a_snapshot_shows_comes_true() {
    let mut known = [0; 2];
    for seed in SEEDS {
        let events = Events::default();
        let mut before: Option<Snapshot> = None;
        run(seed, Executor::builder(), collect(&events), |executor| {
            let frame = events.take();
            let now = executor.time();
            for coroutine in before.iter().flatten() {
                let of_it = || {
                    frame
                        .iter()
                        .filter(|event| event.id == Some(coroutine.id()))
                };
                let stopped = TraceKind::Ended(Outcome::Stopped);
                if of_it().any(|event| event.kind == stopped) {
                    continue;
                }
                let resumed = of_it().any(|event| matches!(event.kind, TraceKind::Resumed { .. }));
                if let Some(come) = has_come(coroutine, &now, &frame) {
                    assert_eq!(
                        resumed, come,
                        "seed {seed}, frame {}: {coroutine}",
                        now.frame
                    );
                    known[usize::from(come)] += 1;
                }
            }
            before = Some(executor.snapshot());
        });
    }
    assert!(known.iter().all(|&count| count > 1_000), "{known:?}");
}

#[test]
fn a_trace_does_not_depend_on_the_thread_or_on_other_executors() {
    let here = trace(7);
    let busy: Vec<Executor> = (0..10).map(|_| Executor::new()).collect();
    for executor in &busy {
        for _ in 0..100 {
            executor.spawn(async {});
        }
    }
    assert_eq!(here, trace(7));
    let there = std::thread::spawn(|| trace(7)).join().unwrap();
    assert_eq!(here, there);
}

#[test]
fn the_programs_reach_every_kind_of_event() {
    let all: Vec<String> = SEEDS.flat_map(trace).collect();
    for kind in [
        "joined: Some",
        "joined: None",
        "received",
        "timed out",
        "gave up",
        "stops: true",
        "stops: false",
        "host sent",
        "dropped",
        ".FixedUpdate:",
        ".EndOfFrame:",
    ] {
        assert!(all.iter().any(|line| line.contains(kind)), "no `{kind}`");
    }
}
