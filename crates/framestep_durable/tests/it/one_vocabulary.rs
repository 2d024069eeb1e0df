//! Waits and composites of framestep in durable scripts: they do the same as in plain ones, are saved, and what they
//! record is pinned.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use framestep_durable::prelude::*;
use framestep_testkit::portable::{self, World};

#[durable]
async fn patrol() {
    portable::patrol(|line| with(move |world: &mut World| world.log.push(line))).await;
}

const FRAMES: u32 = 140;

/// The frame before which the script is requested to stop.
const ASKED: u32 = 130;

fn plain() -> Vec<String> {
    let mut executor = framestep::Executor::builder().fixed_delta(0.1).build();
    let owner = executor.owner();
    owner.spawn(portable::patrol(|line| {
        framestep::with(|world: &mut World| world.log.push(line));
    }));
    let mut world = World::default();
    for frame in 1..=FRAMES {
        if frame == ASKED {
            owner.request_stop();
        }
        executor.run_frame_with(&mut world, 0.1);
    }
    assert!(executor.is_empty());
    world.log
}

fn runtime() -> Runtime {
    let builder = framestep::Executor::builder().fixed_delta(0.1);
    let registry = Registry::new().script(patrol).script(composes);
    let registry = registry.script(shares).script(steps);
    Runtime::with(builder, registry.script(listens).script(gives))
}

#[test]
fn a_helper_that_knows_only_framestep_does_the_same_in_both_worlds() {
    let expected = plain();
    assert_eq!(expected.len(), 59, "{expected:#?}");
    let (mut runtime, mut world) = (runtime(), World::default());
    let script = runtime.spawn(patrol());
    for frame in 1..=FRAMES {
        if frame == ASKED {
            script.request_stop();
        }
        runtime.run_frame_with(&mut world, 0.1);
    }
    assert_eq!(world.log, expected);
}

#[test]
fn a_file_after_each_frame_of_it_changes_nothing() {
    let expected = plain();
    let (mut now, mut world) = (runtime(), World::default());
    let script = now.spawn(patrol()).id();
    for frame in 1..=FRAMES {
        if frame == ASKED {
            now.enter(|| request_stop(script));
        }
        now.run_frame_with(&mut world, 0.1);
        let save = SaveState::from_bytes(&now.save().unwrap().to_bytes()).unwrap();
        now = runtime();
        now.restore(&save, Policy::Fail).unwrap();
    }
    assert!(now.scripts().is_empty());
    assert_eq!(world.log, expected);
}

const SENDER: Watch<Option<PromiseId<u32>>> = watch("sender", || None);

#[durable]
async fn listens() {
    let (id, answer) = promise("answer");
    SENDER.set(Some(id));
    let (known_id, known) = promise("known");
    known_id.send(5).unwrap();
    let levels = changes_of(|| time().frame / 4);
    let say = |line| with(move |world: &mut World| world.log.push(line));
    portable::listen([answer, known], levels, say).await;
}

/// The frame before which the answer comes.
const ANSWERED: u32 = 13;

#[test]
fn a_helper_awaits_what_a_durable_script_has_made_for_it() {
    let mut executor = framestep::Executor::new();
    let (resolver, answer) = framestep::sync::promise();
    let (known_resolver, known) = framestep::sync::promise();
    known_resolver.send(5).unwrap();
    let levels = framestep::wait::changes_of(|| time().frame / 4);
    executor.spawn(portable::listen([answer, known], levels, |line| {
        framestep::with(|world: &mut World| world.log.push(line));
    }));
    let (mut expected, mut resolver) = (World::default(), Some(resolver));
    for frame in 1..=24 {
        if frame == ANSWERED {
            resolver.take().unwrap().send(3).unwrap();
        }
        executor.run_frame_with(&mut expected, 0.1);
    }
    assert!(executor.is_empty());
    assert_eq!(
        expected.log,
        [
            "known Ok(Some(5)) in frame 1",
            "known Err(Canceled) in frame 1",
            "no answer: Ok(None) in frame 3",
            "level Some(1) in frame 4",
            "level Some(2) in frame 8",
            "answer Err(Elapsed(())) in frame 10",
            "answer Ok(3) in frame 13",
            "level Some(3) in frame 14",
            "future 2 in frame 15",
            "future 1 in frame 16",
            "future 0 in frame 18",
        ]
    );

    let (mut now, mut world) = (runtime(), World::default());
    now.spawn(listens()).detach();
    for frame in 1..=24 {
        if frame == ANSWERED {
            let id = now.named(&SENDER).get().unwrap();
            assert_eq!(now.enter(|| id.send(3)), Ok(()));
        }
        now.run_frame_with(&mut world, 0.1);
        now.verify().unwrap();
        let save = SaveState::from_bytes(&now.save().unwrap().to_bytes()).unwrap();
        now = runtime();
        now.restore(&save, Policy::Fail).unwrap();
    }
    assert!(now.scripts().is_empty());
    assert_eq!(world.log, expected.log);
}

thread_local! {
    static GIVEN: RefCell<Option<Promise<u32>>> = const { RefCell::new(None) };
}

/// Gives its promise away, or takes one.
#[durable]
async fn gives(which: u32) {
    match which {
        0 => {
            let (id, mut answer) = promise("given");
            SENDER.set(Some(id));
            let polled = poll_fn(|cx| Poll::Ready(Pin::new(&mut answer).poll(cx).is_pending()));
            assert!(polled.await);
            GIVEN.set(Some(answer));
        }
        1 => _ = GIVEN.take().unwrap().await,
        _ => _ = GIVEN.take().unwrap().try_take(),
    }
    wait_seconds(9).await;
}

#[test]
fn a_promise_of_a_durable_script_is_refused_elsewhere() {
    for taker in [1, 2] {
        let mut runtime = runtime();
        runtime.start(gives(0)).detach();
        let script = runtime.start(gives(taker));
        let why = panic_of(&runtime, script);
        assert!(why.contains("another script"), "{why}");
        // Its drop has ended the wait, and the promise.
        let id = runtime.named(&SENDER).get().unwrap();
        assert!(runtime.enter(|| id.is_canceled()));
        runtime.run_frame(0.1);
    }
    let mut runtime = runtime();
    runtime.start(gives(0)).detach();
    let given = GIVEN.take().unwrap();
    let elsewhere = std::thread::spawn(|| {
        let poll = || futures::executor::block_on(given);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(poll)).unwrap_err();
        panicked.downcast_ref::<String>().unwrap().clone()
    });
    let why = elsewhere.join().unwrap();
    assert!(why.contains("outside of a durable script"), "{why}");
    // Nobody awaits it any more, which is known once its script ends.
    let id = runtime.named(&SENDER).get().unwrap();
    assert!(!runtime.enter(|| id.is_canceled()));
    for _ in 0..100 {
        runtime.run_frame(0.1);
    }
    assert!(runtime.enter(|| id.is_canceled()));
}

const HIT: Signal<u32> = signal("hit");

/// One composite, and then a long wait.
#[durable]
async fn composes(which: u32) {
    match which {
        0 => drop(timeout(0.25, wait_seconds(0.1)).await),
        1 => drop(timeout(0.15, wait_seconds(9)).await),
        2 => drop(timeout_at(0.15, wait_seconds(9)).await),
        3 => drop(join!(next_frame(), wait_frames(2))),
        4 => select! {
            () = next_frame() => {}
            () = wait_seconds(9) => {}
        },
        5 => drop(framestep::combine::race([wait_frames(2), wait_frames(3)]).await),
        6 => drop(debounce(0.1, HIT.subscribe()).next().await),
        7 => {
            let mut hits = throttle(0.25, HIT.subscribe());
            hits.next().await;
            hits.next().await;
        }
        8 => drop(every_frames(2).next().await),
        9 => {
            let mut ticks = interval(0.2);
            ticks.tick().await;
            ticks.tick().await;
            ticks.reset();
            ticks.ticks().await;
        }
        10 => animate(0.2, |_| ()).await,
        11 => {
            let _slow = clock().scaled(0.5);
            on_clock(realtime(), wait_seconds(0.2)).await;
            clock().set_scale(2);
            let _ = (
                clock().now(),
                clock().delta(),
                clock().scale(),
                clock().effective_scale(),
            );
            clock().pause();
            let _ = clock().is_paused();
            clock().resume();
            let _held = realtime().wait_until(0.5).await;
            let _held = clock().pause_guard();
        }
        12 => {
            let _left = defer(|_: &mut World| ());
            let _called = defer_call(|| ());
            if !is_stop_requested() {
                stop_requested().await;
            }
        }
        13 => drop(
            debounce_by_key(0.1, HIT.subscribe(), |hit| *hit)
                .next()
                .await,
        ),
        14 => drop(sample(0.2, HIT.subscribe()).next().await),
        15 => drop(framestep::wait::frames().next().await),
        16 => {
            let _ = HIT.wait().or_closed().await;
            HIT.subscribe().or_closed().next().await;
        }
        17 => {
            let ease = framestep::wait::Ease::InQuad;
            animate(0.1, |_| ()).ease(ease).repeat(2).yoyo().await;
        }
        18 => {
            let (id, mut answer) = promise("menu");
            let _ = answer.try_take();
            id.send(1).unwrap();
            let _ = answer.await;
        }
        19 => {
            let mut frames = changes_of(|| time().frame).with_present();
            frames.next().await;
            frames.next().await;
        }
        20 => {
            let mut hits = framestep::combine::when_each([HIT.wait(), HIT.wait()]);
            hits.next().await;
            hits.next().await;
        }
        _ => {
            animate(0.1, |_| ())
                .then(animate(0.15, |_| ()))
                .repeat(2)
                .await;
        }
    }
    wait_seconds(90).await;
}

/// The entries of a composite, by call, without their lines.
fn entries(which: u32) -> String {
    let (mut runtime, mut world) = (runtime(), World::default());
    let script = runtime.start(composes(which));
    runtime.run_frame_with(&mut world, 0.1);
    script.request_stop();
    for frame in 0..8 {
        if frame % 2 == 0 {
            runtime.named(&HIT).emit(frame);
        }
        runtime.run_frame_with(&mut world, 0.1);
    }
    runtime.verify().unwrap();
    let shown = runtime.save_state().unwrap().to_string();
    let calls = shown.lines().filter_map(|line| {
        let at = line.find(" at ")?;
        Some(line[..at].trim().to_owned())
    });
    calls.collect::<Vec<_>>().join("; ")
}

#[test]
fn the_journal_of_each_composite_is_pinned() {
    let found: Vec<String> = (0..22).map(entries).collect();
    let expected = [
        "1 the end of `wait_seconds()`",
        "1 the end of `wait_seconds()`",
        "1 the end of `timeout_at()`",
        "1 the end of `next_frame()`; 2 the end of `wait_frames()`",
        "1 the end of `next_frame()`",
        "1 the end of `wait_frames()`",
        "1 a `subscribe` of `hit`; 2 the end of `subscription.next()` for `hit`; 3 the end of `wait_seconds()`",
        // One reading of the time for each item that comes, whether it passes or not.
        "1 a `subscribe` of `hit`; 2 the end of `subscription.next()` for `hit`; 3 a `time()`; \
         4 the end of `subscription.next()` for `hit`; 5 a `time()`; \
         6 the end of `subscription.next()` for `hit`; 7 a `time()`",
        "1 an `every_frames()`; 2 the end of `every_frames()`",
        // Two numbers for each tick.
        "1 the end of `interval()`; 2 the end of `interval()`; 3 the end of `interval()`",
        // Only the end.
        "1 the end of `animate()`",
        "1 a `scaled`; 2 the end of `wait_seconds()`; 3 a `set_scale`; 4 a `now`; 5 a `delta`; 6 a `scale`; \
         7 an `effective_scale`; 8 a `pause`; 9 an `is_paused`; 10 a `resume`; 11 the end of `wait_until()`; \
         12 a `pause_guard`",
        // A closure that is called later is no entry.
        "1 an `is_stop_requested`; 2 the end of `stop_requested()`",
        "1 a `subscribe` of `hit`; 2 the end of `subscription.next()` for `hit`; 3 the end of `wait_seconds()`",
        "1 a `subscribe` of `hit`; 2 the end of `subscription.next()` for `hit`; \
         3 the end of `subscription.next()` for `hit`; 4 the end of `interval()`",
        "1 the end of `next_frame()`; 2 a `time()`",
        "1 the end of `signal.wait()` for `hit`; 2 a `subscribe` of `hit`; 3 the end of `subscription.next()` for `hit`",
        "1 the end of `animate()`",
        "1 a `promise` of `menu`; 2 a `try_take` of `menu`; 3 a `send`; 4 the end of `promise()` for `menu`",
        "1 a `changes_of()`; 2 the end of `changes_of()`",
        "1 the end of `signal.wait()` for `hit`; 2 the end of `signal.wait()` for `hit`",
        "1 the end of `animate()`",
    ];
    let expected = expected.map(|entries| format!("{entries}; awaits `wait_seconds()`"));
    assert_eq!(found, expected, "{found:#?}");
}

thread_local! {
    static SHARED: RefCell<Option<Pin<Box<framestep::wait::WaitSeconds>>>> =
        const { RefCell::new(None) };
}

/// Moves a wait out of itself, or takes it.
#[durable]
async fn shares(which: u32) {
    match which {
        // A wait that has begun leaves the script.
        0 => {
            let mut wait = Box::pin(wait_seconds(9));
            let is_pending = poll_fn(|cx| Poll::Ready(wait.as_mut().poll(cx).is_pending()));
            assert!(is_pending.await);
            SHARED.set(Some(wait));
        }
        // It comes to another one.
        1 => SHARED.take().unwrap().await,
        // It is moved from elsewhere.
        2 => SHARED.take().unwrap().reset(1),
        // It is forgotten.
        3 => {
            let mut wait = Box::pin(wait_seconds(0.2));
            let is_pending = poll_fn(|cx| Poll::Ready(wait.as_mut().poll(cx).is_pending()));
            assert!(is_pending.await);
            std::mem::forget(wait);
        }
        // It is moved out of a `select!`, and awaited.
        4 => {
            let mut wait = wait_seconds(0.5);
            select! {
                () = &mut wait => {}
                () = next_frame() => {}
            }
            let moved = Box::new(wait);
            moved.await;
        }
        5 => wait_seconds(f64::NAN).await,
        _ => {
            let mut wait = wait_seconds(0.5);
            select! {
                () = &mut wait => {}
                () = next_frame() => wait.reset(0.3),
            }
            wait.await;
        }
    }
    wait_seconds(0.5).await;
}

fn panic_of(runtime: &Runtime, script: ScriptHandle<()>) -> String {
    match runtime.take(script) {
        Some(Err(JoinError::Panicked(why))) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_wait_that_one_script_has_begun_is_refused_in_another_one() {
    for taker in [1, 2] {
        let mut runtime = runtime();
        runtime.start(shares(0)).detach();
        runtime.run_frame(0.1);
        let script = runtime.start(shares(taker));
        let why = panic_of(&runtime, script);
        assert!(why.contains("cannot share waits"), "{why}");
        // The one that has begun it goes on, and can be saved.
        runtime.run_frame(0.1);
        assert_eq!(runtime.scripts().len(), 1);
        runtime.verify().unwrap();
    }
}

#[test]
fn a_plain_coroutine_cannot_go_on_with_a_wait_of_a_durable_script() {
    let mut runtime = runtime();
    runtime.start(shares(0)).detach();
    runtime.run_frame(0.1);
    let mut executor = framestep::Executor::builder()
        .propagate_panics(false)
        .build();
    let plain = executor.start(SHARED.take().unwrap());
    executor.run_frame(0.1);
    let error = plain.take_output().unwrap().unwrap_err();
    assert!(
        format!("{error:?}").contains("cannot share waits"),
        "{error:?}"
    );
}

#[test]
fn a_wait_that_is_forgotten_or_moved_in_its_script_changes_nothing() {
    for which in [3, 4, 6] {
        let mut now = runtime();
        now.start(shares(which)).detach();
        let mut frames = 0;
        while !now.scripts().is_empty() {
            now.run_frame(0.1);
            frames += 1;
            let save = SaveState::from_bytes(&now.save().unwrap().to_bytes()).unwrap();
            now = runtime();
            now.restore(&save, Policy::Fail).unwrap();
        }
        let mut unsaved = runtime();
        unsaved.start(shares(which)).detach();
        for _ in 0..frames {
            assert!(!unsaved.scripts().is_empty(), "case {which}");
            unsaved.run_frame(0.1);
        }
        assert!(unsaved.scripts().is_empty(), "case {which}");
    }
}

#[test]
fn a_length_of_nan_panics_with_the_line_of_the_call() {
    let runtime = runtime();
    let why = panic_of(&runtime, runtime.start(shares(5)));
    assert!(why.contains("NaN") && why.contains(file!()), "{why}");
}

thread_local! {
    static INNER: RefCell<Option<framestep::Executor>> = const { RefCell::new(None) };
}

/// Steps a plain executor.
#[durable]
async fn steps() {
    for _ in 0..3 {
        effect(|| {
            let mut inner = INNER.take().unwrap();
            inner.run_frame(0.1);
            INNER.set(Some(inner));
        });
        next_frame().await;
    }
    // Outside of an effect, too, what it runs is plain.
    if let Some(mut inner) = INNER.take() {
        inner.run_frame(0.1);
        INNER.set(Some(inner));
    }
    wait_seconds(9).await;
}

#[test]
fn a_plain_executor_that_a_durable_script_steps_records_nothing() {
    let frames = Rc::new(RefCell::new(Vec::new()));
    let seen = frames.clone();
    let inner = framestep::Executor::new();
    inner
        .spawn(async move {
            loop {
                seen.borrow_mut().push(framestep::time().frame);
                framestep::next_frame().await;
            }
        })
        .detach();
    INNER.set(Some(inner));
    let mut runtime = runtime();
    runtime.start(steps()).detach();
    for _ in 0..4 {
        runtime.run_frame(0.1);
    }
    assert_eq!(*frames.borrow(), [1, 2, 3, 4]);
    INNER.take();
    runtime.verify().unwrap();
}

#[durable]
async fn sleeper() {
    wait_seconds(60).await;
}

#[test]
fn what_the_host_starts_inside_of_a_runtime_is_durable() {
    let runtime = Runtime::new(Registry::new().script(sleeper));
    let level = runtime.owner();
    let scripts = runtime.enter(|| {
        [
            start(sleeper()),
            start_in(Phase::LateUpdate, sleeper()),
            level.start(sleeper()),
            spawn(sleeper()),
            spawn_in(Phase::FixedUpdate, sleeper()),
            level.spawn(sleeper()),
        ]
    });
    let ids = scripts.each_ref().map(ScriptHandle::id);
    assert_eq!(
        ids,
        std::array::from_fn(|at| ScriptId::from_raw(at as u64 + 1))
    );
    let mut loaded = Runtime::new(Registry::new().script(sleeper));
    loaded
        .restore(&runtime.save().unwrap(), Policy::Fail)
        .unwrap();
    assert_eq!(loaded.scripts().len(), 6);
    loaded.enter(|| level.stop_all());
    assert_eq!(loaded.scripts().len(), 4);
}

#[test]
fn the_host_makes_clocks_inside_of_a_runtime_and_a_script_makes_none() {
    #[durable]
    async fn makes() {
        let _ = ClockId::GAME.child();
    }
    let runtime = Runtime::new(Registry::new().script(makes));
    let slow = runtime.enter(|| ClockId::GAME.child());
    runtime.enter(|| slow.clock()).set_scale(0.5);
    let fast = runtime.enter(|| slow.child());
    assert!((runtime.enter(|| slow.clock()).scale() - 0.5).abs() < f64::EPSILON);
    assert_ne!(slow, fast);
    let makes = runtime.start(makes());
    let Some(Err(JoinError::Panicked(text))) = runtime.take(makes) else {
        panic!("it has not panicked")
    };
    assert!(text.contains("clocks are made by the host"), "{text}");
}
