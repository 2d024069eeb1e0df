//! Signals, values, permits and promises outside of a runtime: the same helper in both worlds.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use framestep::inspect::TraceKind;
use framestep_durable::__private::promises_outside;
use framestep_durable::prelude::*;

const KNOCK: Signal<u32> = signal("knock");
/// Stores two events for each subscription.
const HIT: Signal<u32> = signal_with_limit("hit", 2);
const STAGE: Watch<u32> = watch("stage", Default::default);
const SEATS: Semaphore = semaphore("seats", 1);

#[derive(Default)]
struct World {
    log: Vec<String>,
    resolvers: Vec<Resolver<u32>>,
}

fn say(words: String) {
    with(move |world: &mut World| world.log.push(words));
}

fn say_at(words: &str) {
    say(format!("{words} in frame {}", time().frame));
}

/// Everything that scripts may do, for two of them that work together.
async fn listener(name: &'static str) {
    let knock = KNOCK.wait().await;
    say_at(&format!("{name}: knock {knock}"));
    let knock = KNOCK.keyed(3).wait().await;
    say_at(&format!("{name}: knock {knock} at door 3"));
    let knock = KNOCK.wait_for(|knock| knock % 2 == 0).await;
    say_at(&format!("{name}: even knock {knock}"));
    let mut hits = HIT.subscribe();
    wait_frames(3).await;
    say_at(&format!("{name}: {} missed", hits.missed()));
    for _ in 0..2 {
        let hit = hits.next().await.unwrap();
        say_at(&format!("{name}: hit {hit}"));
    }
    let late = timeout(0.5, hits.next()).await;
    say_at(&format!("{name}: {late:?}"));
    say(format!("{name} reads {}", STAGE.get()));
    let stage = STAGE.wait_for(|stage| *stage > 1).await;
    say_at(&format!("{name}: stage {stage}"));
    let stage = STAGE.changed().await;
    say_at(&format!("{name}: changed {stage}"));
    {
        let _seat = SEATS.acquire().await;
        say_at(&format!("{name} sits, {} left", SEATS.available()));
        say(format!("{name} takes {:?}", SEATS.try_acquire()));
        wait_frames(2).await;
    }
    let (resolver, answer) = promise::<u32>("answer");
    with(move |world: &mut World| world.resolvers.push(resolver));
    let answer = answer.await;
    say_at(&format!("{name}: {answer:?}"));
    let (resolver, answer) = promise::<u32>("another");
    drop(answer);
    let sent = (resolver.is_canceled(), resolver.send(5), resolver.cancel());
    say(format!("{name}: {sent:?}"));
    let (resolver, answer) = promise::<u32>("own");
    resolver.send(9).unwrap();
    say(format!("{name}: {:?}", answer.await));
}

async fn emitter() {
    next_frame().await;
    for knock in [1, 3] {
        KNOCK.emit(knock);
    }
    KNOCK.keyed(4).emit(4);
    next_frame().await;
    KNOCK.keyed(3_u64).emit(5);
    next_frame().await;
    for knock in [7, 9, 10] {
        KNOCK.emit(knock);
    }
    next_frame().await;
    for hit in 0..5 {
        HIT.emit(hit);
    }
    wait_seconds(3).await;
    for stage in [1, 1, 2] {
        STAGE.set(stage);
        next_frame().await;
    }
    say(format!("removed {}", STAGE.remove()));
    say(format!("removed {}", STAGE.remove()));
    wait_seconds(3).await;
    for value in [0, 1] {
        let resolver = with(move |world: &mut World| world.resolvers.remove(0));
        let is_canceled = resolver.is_canceled();
        let sent = match value {
            0 => resolver.cancel(),
            value => resolver.send(value).is_ok(),
        };
        say(format!("{is_canceled}, {sent}, {}", resolver.is_canceled()));
        next_frame().await;
    }
}

#[durable]
async fn first() {
    listener("a").await;
}

#[durable]
async fn second() {
    listener("b").await;
}

#[durable]
async fn third() {
    emitter().await;
}

const FRAMES: u32 = 50;

#[test]
fn a_helper_with_signals_values_permits_and_promises_does_the_same_in_both_worlds() {
    let mut executor = framestep::Executor::new();
    let mut world = World::default();
    let scripts = [
        executor.spawn(listener("a")),
        executor.spawn(listener("b")),
        executor.spawn(emitter()),
    ];
    for _ in 0..FRAMES {
        executor.run_frame_with(&mut world, 0.25);
    }
    assert!(
        scripts.iter().all(framestep::Coroutine::is_finished),
        "{:#?}",
        world.log
    );
    assert_eq!(executor.enter(promises_outside), 0);

    let registry = || Registry::new().script(first).script(second).script(third);
    let mut runtime = Runtime::new(registry());
    let mut durable = World::default();
    runtime.spawn(first()).detach();
    runtime.spawn(second()).detach();
    runtime.spawn(third()).detach();
    for _ in 0..FRAMES {
        runtime.run_frame_with(&mut durable, 0.25);
        // And each frame of it from a file.
        let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
        runtime = Runtime::new(registry());
        runtime.restore(&save, Policy::Fail).unwrap();
    }
    assert!(runtime.scripts().is_empty());
    assert_eq!(durable.log, world.log);
    let expected = [
        "a: knock 1 in frame 2",
        "b: knock 5 at door 3 in frame 3",
        "a: even knock 10 in frame 4",
        "b: 3 missed in frame 7",
        "a: hit 3 in frame 7",
        "b: hit 4 in frame 7",
        "a: Err(Elapsed(())) in frame 9",
        "b: stage 2 in frame 19",
        "a: changed 0 in frame 20",
        "removed true",
        "removed false",
        "a sits, 0 left in frame 20",
        "a takes None",
        "b sits, 0 left in frame 22",
        "a: Err(Canceled) in frame 32",
        "b: Ok(1) in frame 33",
        "b: (true, Err(5), false)",
        "a: Ok(9)",
    ];
    for line in expected {
        assert!(
            world.log.contains(&line.to_owned()),
            "{line}: {:#?}",
            world.log
        );
    }
}

/// Waits for what the host does in frame 8, in its own way, and refuses what is done before.
async fn refuses(way: u32) {
    match way {
        0 => _ = STAGE.wait_for(|stage| *stage > 5).await,
        1 => _ = timeout(60, STAGE.wait_for(|stage| *stage > 5)).await,
        2 => while STAGE.changed().await <= 5 {},
        3 => _ = KNOCK.wait_for(|knock| *knock > 5).await,
        4 => {
            let mut knocks = KNOCK.subscribe();
            while knocks.next().await.unwrap() <= 5 {}
        }
        _ => {
            // The first one passes, the second one does not.
            let mut knocks = throttle(0.45, KNOCK.subscribe());
            while knocks.next().await.is_some_and(|knock| knock <= 5) {}
        }
    }
    say_at("the first");
}

/// Does what the other one refuses later in the run, and waits by then.
async fn later(way: u32) {
    wait_frames(4).await;
    STAGE.set(2);
    KNOCK.emit(2);
    match way {
        0..=2 => _ = STAGE.changed().await,
        _ => _ = KNOCK.wait().await,
    }
    say_at("the later one");
}

#[durable]
async fn refusing(way: u32) {
    refuses(way).await;
}

#[durable]
async fn waits_later(way: u32) {
    later(way).await;
}

// docs/contract.md#rule-8-refused
#[test]
fn a_wait_that_refuses_a_change_or_an_event_begins_to_wait_anew_in_both_worlds() {
    for way in 0..6 {
        let mut executor = framestep::Executor::new();
        let mut plain = World::default();
        executor.spawn(refuses(way));
        executor.spawn(later(way));
        let registry = || Registry::new().script(refusing).script(waits_later);
        let mut runtime = Runtime::new(registry());
        let mut durable = World::default();
        runtime.spawn(refusing(way)).detach();
        runtime.spawn(waits_later(way)).detach();
        for frame in 1..10 {
            if let 2 | 8 = frame {
                executor.enter(|| {
                    STAGE.set(frame);
                    KNOCK.emit(frame);
                });
                runtime.named(&STAGE).set(frame);
                runtime.named(&KNOCK).emit(frame);
            }
            executor.run_frame_with(&mut plain, 0.1);
            runtime.run_frame_with(&mut durable, 0.1);
            // And each frame of it from a file.
            let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
            runtime = Runtime::new(registry());
            runtime.restore(&save, Policy::Fail).unwrap();
        }
        assert_eq!(durable.log, plain.log, "{way}");
        let expected = ["the later one in frame 8", "the first in frame 8"];
        assert_eq!(plain.log, expected, "{way}");
    }
}

#[test]
fn a_wait_for_a_value_that_is_dropped_wakes_nothing() {
    let mut executor = framestep::Executor::new();
    let polled = Rc::new(Cell::new(0));
    let polls = polled.clone();
    executor.start(async move {
        let late = timeout(0.0, STAGE.changed()).await;
        assert!(late.is_err());
        std::future::poll_fn::<(), _>(|_| {
            polls.set(polls.get() + 1);
            std::task::Poll::Pending
        })
        .await;
    });
    for _ in 0..4 {
        executor.run_frame(0.1);
        assert!(!executor.has_ready());
    }
    assert_eq!(polled.get(), 1);
    assert_eq!(executor.enter(promises_outside), 0);
}

#[test]
fn two_executors_of_a_thread_have_signals_of_their_own() {
    let executors = [framestep::Executor::new(), framestep::Executor::new()];
    let scripts = executors.each_ref().map(|executor| {
        executor.start(async { (KNOCK.wait().await, STAGE.wait_for(|stage| *stage > 4).await) })
    });
    let [mut one, mut other] = executors;
    one.enter(|| {
        KNOCK.emit(1);
        STAGE.set(5);
    });
    let runtime = Runtime::new(Registry::new());
    runtime.named(&KNOCK).emit(3);
    runtime.named(&STAGE).set(7);
    one.run_frame(0.1);
    other.run_frame(0.1);
    assert!(scripts[0].is_finished() && !scripts[1].is_finished());
    let stage = |executor: &framestep::Executor| executor.enter(|| STAGE.get());
    assert_eq!((stage(&one), stage(&other)), (5, 0));
    other.enter(|| {
        KNOCK.emit(2);
        STAGE.set(6);
    });
    other.run_frame(0.1);
    assert_eq!(
        scripts.map(|script| script.take_output().unwrap().unwrap()),
        [(1, 5), (2, 6)]
    );
}

#[test]
fn nothing_is_kept_for_promises_that_no_plain_script_has() {
    let executor = framestep::Executor::new();
    let kept = || executor.enter(promises_outside);
    let waits = |_| {
        executor.start(async move {
            let (_resolver, answer) = promise::<u32>("answer");
            let _ = answer.await;
        })
    };
    let scripts: Vec<_> = (0..100).map(waits).collect();
    assert_eq!(kept(), 100);
    assert!(scripts.iter().all(|script| script.stop()));
    assert_eq!(kept(), 0);
}

#[test]
fn a_snapshot_shows_the_full_names_in_both_worlds() {
    async fn waits() {
        let mut knocks = KNOCK.keyed("front").subscribe();
        let (_resolver, answer) = promise::<u32>("menu");
        let _seat = SEATS.keyed(1).acquire().await;
        let _ = join!(
            knocks.next(),
            STAGE.keyed((1, 2)).changed(),
            KNOCK.keyed(-1).wait(),
            KNOCK.wait_for(|_| true),
            SEATS.keyed(1).acquire(),
            answer,
        );
    }

    #[durable]
    async fn waiting() {
        waits().await;
    }

    let shown = |executor: &framestep::Executor| {
        let snapshot = executor.snapshot();
        let mut waits: Vec<String> = snapshot
            .iter()
            .flat_map(|it| it.waits().map(ToString::to_string).collect::<Vec<_>>())
            .collect();
        waits.sort();
        waits
    };
    let names = [
        "a permit of seats[1]",
        "signal knock",
        "signal knock[\"front\"]",
        "signal knock[-1]",
        "watch stage[(1, 2)]",
    ];
    let executor = framestep::Executor::new();
    let script = executor.start(waits());
    let plain = shown(&executor);
    assert!(
        names.iter().all(|name| plain.contains(&(*name).to_owned())),
        "{plain:?}"
    );
    drop(script);

    let registry = || Registry::new().script(waiting);
    let runtime = Runtime::new(registry());
    runtime.start(waiting()).detach();
    let save = runtime.save().unwrap();
    let mut loaded = Runtime::new(registry());
    loaded.restore(&save, Policy::Fail).unwrap();
    for runtime in [runtime, loaded] {
        let waits = shown(runtime.executor());
        assert!(
            names.iter().all(|name| waits.contains(&(*name).to_owned())),
            "{waits:?}"
        );
        assert!(waits.contains(&"an answer to menu".to_owned()), "{waits:?}");
    }
}

#[test]
fn a_line_of_a_plain_wait_is_that_of_its_await() {
    async fn waits() {
        KNOCK.wait().await;
        KNOCK.wait_for(|_| true).await;
        KNOCK.subscribe().next().await;
        STAGE.changed().await;
        drop(SEATS.acquire().await);
    }
    let first = line!() - 6;
    let mut executor = framestep::Executor::new();
    let lines = Rc::new(RefCell::new(Vec::new()));
    let seen = lines.clone();
    executor.on_full_trace(move |event| {
        if let TraceKind::Resumed { from: Some(at), .. } = event.kind {
            seen.borrow_mut().push((at.file(), at.line()));
        }
    });
    let seat = executor.enter(|| SEATS.try_acquire());
    let script = executor.start(waits());
    for _ in 0..3 {
        executor.enter(|| KNOCK.emit(1));
        executor.run_frame(0.1);
    }
    executor.enter(|| STAGE.set(1));
    executor.run_frame(0.1);
    drop(seat);
    executor.run_frame(0.1);
    assert!(script.is_finished());
    let expected: Vec<_> = (first..first + 5).map(|line| (file!(), line)).collect();
    assert_eq!(*lines.borrow(), expected);
}

fn message_of(call: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(call)).expect_err("it panics");
    payload
        .downcast_ref::<String>()
        .cloned()
        .unwrap_or_default()
}

#[test]
fn calls_outside_of_every_executor_say_what_to_call_instead() {
    let calls: [(&str, fn()); 8] = [
        ("emit", || KNOCK.emit(1)),
        ("get", || assert_eq!(STAGE.get(), 0)),
        ("set", || STAGE.set(1)),
        ("remove", || assert!(STAGE.remove())),
        ("subscribe", || drop(KNOCK.subscribe())),
        ("try_acquire", || drop(SEATS.try_acquire())),
        ("available", || assert_eq!(SEATS.available(), 1)),
        ("promise", || drop(promise::<u32>("answer"))),
    ];
    for (name, call) in calls {
        let text = message_of(call);
        for part in [name, "was called outside of ", "`Executor::enter`"] {
            assert!(text.contains(part), "{text}");
        }
    }
}

#[test]
fn the_host_may_enter_the_executor_of_a_runtime_instead() {
    #[durable]
    async fn listens() -> (u32, u32) {
        join!(KNOCK.wait(), STAGE.wait_for(|stage| *stage > 0))
    }
    let mut runtime = Runtime::new(Registry::new().script(listens));
    let script = runtime.start(listens());
    runtime.executor().enter(|| {
        KNOCK.emit(4);
        STAGE.set(2);
        assert_eq!((STAGE.get(), SEATS.available()), (2, 1));
    });
    runtime.run_frame(0.1);
    assert_eq!(runtime.take(script), Some(Ok((4, 2))));
    // A coroutine of it that is not durable cannot wait for them: it would not be saved.
    let plain = runtime.executor().start(async { KNOCK.wait().await });
    let error = plain.take_output().unwrap().unwrap_err();
    assert!(error.to_string().contains("is not a durable"), "{error}");
}
