//! Names that a coroutine has from its start on.

use framestep::Executor;
use framestep::prelude::*;
use framestep::scene::{Behaviour, Scene, SceneContext};
use framestep::task::ScriptBuilder;

use framestep_testkit::forever;
use framestep_testkit::timeline::{Log, unclamped};

/// Notes its name in its first poll.
async fn says_its_name(log: Log) {
    log.note(current_name());
    forever().await;
}

/// Starts and spawns a coroutine in each way under `name`, and runs a frame.
fn in_each_way(executor: &mut Executor, make: impl Fn(&Executor) -> ScriptBuilder) -> Vec<String> {
    let log = Log::new();
    let script = || says_its_name(log.clone());
    let coroutines = [
        make(executor).start(script()),
        make(executor).spawn(script()),
        make(executor).in_phase(Phase::LateUpdate).start(script()),
        make(executor).in_phase(Phase::LateUpdate).spawn(script()),
    ];
    let homes = coroutines.each_ref().map(Coroutine::home);
    let [update, late] = [Phase::Update, Phase::LateUpdate].map(Some);
    assert_eq!(homes, [update, update, late, late]);
    // Two of them have not been polled.
    let snapshot = executor.snapshot();
    for coroutine in &coroutines {
        assert_eq!(snapshot.get(coroutine.id()).unwrap().name(), "boss");
    }
    assert_eq!(log.take(), ["boss"; 2]);
    executor.run_frame(0.25);
    log.take()
}

#[test]
fn hold_in_the_first_poll_and_in_snapshots_before_it() {
    let mut executor = unclamped();
    let (handle, owner) = (executor.handle(), executor.owner());
    let of_owner = owner.handle();
    let ways: [&dyn Fn(&Executor) -> ScriptBuilder; 5] = [
        &|executor| executor.script("boss"),
        &|_| handle.script("boss"),
        &|_| owner.script(String::from("boss")),
        &|_| of_owner.script("boss"),
        &|executor| executor.enter(|| script("boss")),
    ];
    for make in ways {
        assert_eq!(in_each_way(&mut executor, make), ["boss"; 2]);
    }
    assert_eq!(executor.len(), 20);
    drop(owner);
    assert_eq!(executor.len(), 12);
}

#[test]
fn hold_for_coroutines_of_a_behaviour() {
    struct Door(Log);
    impl Behaviour for Door {
        fn start(&mut self, context: &SceneContext<'_, Self>) {
            context.script("opens").start(says_its_name(self.0.clone()));
            let this = context.this();
            this.script("creaks").start(says_its_name(self.0.clone()));
        }
    }
    let mut scene = Scene::new();
    let log = Log::new();
    let door = scene.add(Door(log.clone()));
    scene.run_frame(0.25);
    log.check(&["opens", "creaks"]);
    assert_eq!(scene.executor().len(), 2);
    door.destroy();
    scene.run_frame(0.25);
    assert!(scene.executor().is_empty());
}

#[test]
fn hold_in_the_trace_from_the_first_event() {
    let mut executor = unclamped();
    let log = Log::new();
    let note = log.clone();
    executor.on_trace(move |event| note.note(event));
    executor.script("started").start(async {});
    executor.script("spawned").spawn(async {});
    executor.run_frame(0.25);
    log.check(&[
        "frame 0: 0v1 started spawned",
        "frame 0: 0v1 started resumed",
        "frame 0: 0v1 started finished",
        "frame 0: 0v2 spawned spawned",
        "frame 1, Update: 0v2 spawned resumed",
        "frame 1, Update: 0v2 spawned finished",
    ]);
}

#[test]
fn are_inherited_by_nothing_and_may_be_changed() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    let boss = executor.script("boss").spawn(async move {
        say.note(current_name());
        let minion = start(forever());
        assert!(
            handle()
                .snapshot()
                .unwrap()
                .get(minion.id())
                .unwrap()
                .name()
                != "boss"
        );
        next_frame().await;
        say.note(current_name());
    });
    executor.run_frame(0.25);
    let boss = boss.named("angry boss");
    executor.run_until(boss, 0.25).unwrap();
    log.check(&["boss", "angry boss"]);
}

#[test]
fn the_free_function_gives_the_owner_the_clock_and_the_home_of_the_caller() {
    let mut executor = unclamped();
    let slow = executor.clock().child();
    slow.set_scale(0.5);
    let owner = executor.owner_on(&slow);
    let log = Log::new();
    let say = log.clone();
    owner
        .script("")
        .in_phase(Phase::LateUpdate)
        .start(async move {
            let minion = script("minion").start(async move {
                wait_seconds(0.5).await;
                say.say(current_name());
                forever().await;
            });
            assert_eq!(minion.home(), Some(Phase::LateUpdate));
        });
    for _ in 0..4 {
        executor.run_frame(0.25);
    }
    log.check(&["F4.LateUpdate: minion"]);
    drop(owner);
    executor.assert_empty();
}

/// Returns its name.
async fn patrol() -> String {
    next_frame().await;
    current_name().into_owned()
}

#[test]
fn a_coroutine_without_a_name_has_that_of_its_type() {
    let mut executor = unclamped();
    let name = executor.run_until(patrol(), 0.25);
    assert!(name.ends_with("::patrol"), "{name}");
}
