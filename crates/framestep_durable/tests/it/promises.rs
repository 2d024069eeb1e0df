//! Promises: resolved by the host, by scripts, late, twice, after a rollback, or never.

use framestep_durable::prelude::*;

use crate::twin::quiet;

#[derive(Clone, Default, Serialize, Deserialize)]
struct World {
    log: Vec<String>,
    resolver: Option<PromiseId<u32>>,
}

fn log(what: String) {
    with(move |world: &mut World| world.log.push(what));
}

#[durable]
async fn asks(waits: bool) -> String {
    let (resolver, answer) = promise::<u32>("menu");
    with(move |world: &mut World| world.resolver = Some(resolver));
    if waits {
        wait_frames(2).await;
    }
    let answer = answer.await;
    log(format!("{answer:?} in {}", time().frame));
    format!("{answer:?}")
}

/// Gives its resolver to another script, in its state.
#[durable]
async fn delegates() -> u32 {
    let (resolver, answer) = promise("delegate");
    start(answers(resolver)).detach();
    answer.await.unwrap_or(0)
}

#[durable]
async fn answers(resolver: PromiseId<u32>) {
    wait_frames(2).await;
    assert!(!resolver.is_canceled());
    assert_eq!(resolver.send(7), Ok(()));
    assert!(resolver.is_canceled());
    assert_eq!(resolver.send(8), Err(8));
    assert!(!resolver.cancel());
}

#[durable]
async fn gives_up() {
    let (resolver, answer) = promise::<u32>("short");
    with(move |world: &mut World| world.resolver = Some(resolver));
    let _ = timeout(0.1, answer).await;
    wait_seconds(9).await;
}

/// Other code than when it was saved: it waits elsewhere.
#[durable]
async fn changes() {
    let (resolver, answer) = promise::<u32>("changes");
    with(move |world: &mut World| world.resolver = Some(resolver));
    if IS_CHANGED.get() {
        wait_seconds(1).await;
    }
    let answer = answer.await;
    log(format!("{answer:?}"));
}

thread_local! {
    static IS_CHANGED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

fn blank() -> Runtime {
    let registry = Registry::new()
        .script(asks)
        .script(delegates)
        .script(answers)
        .script(gives_up)
        .script(changes);
    quiet(registry)
}

fn reloaded(runtime: &Runtime) -> Runtime {
    let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
    let mut runtime = blank();
    runtime.restore(&save, Policy::Fail).unwrap();
    runtime
}

fn begun(script: impl DurableScript<Output = String>) -> (Runtime, World) {
    let (mut runtime, mut world) = (blank(), World::default());
    let start = |runtime: &mut Runtime| runtime.start(script).detach();
    runtime.lend(&mut world, start);
    (runtime, world)
}

#[test]
fn the_host_resolves_or_cancels_with_a_resolver_from_a_saved_world() {
    for waits in [false, true] {
        for is_resolved in [false, true] {
            let (runtime, world) = begun(asks(waits));
            let file = runtime.save().unwrap().to_bytes_with(&world);
            let (save, mut world) = SaveState::from_bytes_with::<World>(&file).unwrap();
            let mut runtime = blank();
            runtime.restore(&save, Policy::Fail).unwrap();
            let resolver = world.resolver.take().unwrap();
            let settle = |runtime: &Runtime| {
                if is_resolved {
                    runtime.enter(|| resolver.send(5).is_ok())
                } else {
                    runtime.enter(|| resolver.cancel())
                }
            };
            assert!(settle(&runtime));
            assert!(!settle(&runtime), "once");
            // A save between the value and the script that reads it.
            let mut runtime = reloaded(&runtime);
            assert!(!settle(&runtime), "still once");
            for _ in 0..3 {
                runtime.run_frame_with(&mut world, 0.1);
            }
            let answer = if is_resolved {
                "Ok(5)"
            } else {
                "Err(Canceled)"
            };
            let frame = if waits { 2 } else { 1 };
            assert_eq!(world.log, [format!("{answer} in {frame}")]);
            assert!(!settle(&runtime));
            assert_eq!(runtime.save().unwrap().to_string().lines().count(), 1);
        }
    }
}

#[test]
fn a_resolver_in_the_state_of_another_script_resolves_it() {
    let mut runtime = blank();
    let script = runtime.start(delegates()).id();
    for _ in 0..2 {
        let handle = runtime.enter(|| script.handle::<u32>()).unwrap();
        runtime.run_frame(0.1);
        assert_eq!(
            runtime.scripts().len(),
            if runtime.time().frame < 2 { 2 } else { 0 }
        );
        if runtime.time().frame < 2 {
            runtime = reloaded(&runtime);
        } else {
            assert_eq!(runtime.take(handle), Some(Ok(7)));
        }
    }
}

#[test]
fn an_open_promise_is_shown_and_one_that_is_dropped_is_gone() {
    let (mut runtime, mut world) = (blank(), World::default());
    let start = |runtime: &mut Runtime| runtime.start(gives_up()).detach();
    runtime.lend(&mut world, start);
    let resolver = world.resolver.unwrap();
    let open = runtime.save().unwrap();
    let text = open.to_string();
    assert!(text.contains("promise 1 `short` of #1: open"), "{text}");
    assert!(text.contains("`promise()` for `short` at"), "{text}");
    runtime.enter(|| resolver.send(3).is_ok());
    let with_watch = runtime.save().unwrap();
    assert!(
        with_watch
            .to_string()
            .contains("promise 1 `short` of #1: resolved with 3")
    );
    let text = open.diff(&with_watch)[0].to_string();
    assert_eq!(
        text,
        "the promise 1 `short` of #1 is open; there resolved with 3"
    );
    runtime.rollback(&open).unwrap();
    runtime.enter(|| resolver.cancel());
    let cancelled = runtime.save().unwrap();
    assert!(
        cancelled
            .to_string()
            .contains("promise 1 `short` of #1: cancelled")
    );
    assert_ne!(cancelled.checksum(), with_watch.checksum());
    runtime.rollback(&open).unwrap();
    for _ in 0..2 {
        runtime.run_frame_with(&mut world, 0.1);
    }
    assert!(
        !runtime.enter(|| resolver.send(3).is_ok()),
        "it has been dropped"
    );
    let text = runtime.save().unwrap().to_string();
    assert!(!text.contains("promise 1"), "{text}");
    runtime.rollback(&open).unwrap();
    runtime.enter(|| stop(ScriptId::from_raw(1)));
    assert!(
        !runtime.enter(|| resolver.send(3).is_ok()),
        "its script has ended"
    );
}

#[test]
fn a_resolver_that_a_rollback_has_taken_back_resolves_no_other_promise() {
    let (mut runtime, mut world) = (blank(), World::default());
    let before = runtime.save_state().unwrap();
    let start = |runtime: &mut Runtime| runtime.start(gives_up()).detach();
    runtime.lend(&mut world, start);
    let old = world.resolver.take().unwrap();
    runtime.rollback(&before).unwrap();
    // The same script, with the same number, asks in another frame.
    runtime.run_frame_with(&mut world, 0.1);
    runtime.lend(&mut world, start);
    let new = world.resolver.take().unwrap();
    assert_ne!(old, new);
    assert!(!runtime.enter(|| old.send(1).is_ok()));
    assert!(runtime.enter(|| new.send(2).is_ok()));
    // Done again, it is the same promise.
    runtime.rollback(&before).unwrap();
    runtime.lend(&mut world, start);
    assert!(runtime.enter(|| old.send(1).is_ok()));
}

#[test]
fn a_script_that_restarts_makes_another_promise() {
    for policy in [Policy::Restart, Policy::RestartAfterWait] {
        IS_CHANGED.set(false);
        let (mut runtime, mut world) = (blank(), World::default());
        runtime.lend(&mut world, |runtime| runtime.start(changes()).detach());
        let old = world.resolver.take().unwrap();
        let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
        IS_CHANGED.set(true);
        let mut runtime = blank();
        runtime.restore(&save, policy).unwrap();
        // It still waits for the old one, or has no more to do with it.
        let waits = policy == Policy::RestartAfterWait;
        assert_eq!(runtime.enter(|| old.send(1).is_ok()), waits, "{policy:?}");
        for _ in 0..11 {
            runtime.run_frame_with(&mut world, 0.1);
        }
        let new = world.resolver.take().unwrap();
        assert!(runtime.enter(|| new.send(2).is_ok()));
        runtime.run_frame_with(&mut world, 0.1);
        assert_eq!(world.log, ["Ok(2)"]);
        assert!(!runtime.enter(|| old.send(1).is_ok()));
    }
}

#[test]
fn an_id_of_another_executor_resolves_no_promise_of_the_same_number() {
    let executors = [(); 2].map(|()| framestep::Executor::new());
    let made = || promise::<u32>("answer");
    let [(first, mut of_first), (_, mut of_second)] =
        [executors[0].enter(made), executors[1].enter(made)];
    assert_eq!(executors[1].enter(|| first.send(3)), Err(3));
    assert!(executors[1].enter(|| first.is_canceled() && !first.cancel()));
    assert_eq!(of_second.try_take(), Ok(None));
    assert_eq!(executors[0].enter(|| first.send(3)), Ok(()));
    assert_eq!(of_first.try_take(), Ok(Some(3)));
}
