//! The calls of a scene's frame, their order and their times.

use super::*;
use framestep_testkit::phases::with_custom;

#[test]
fn callbacks_of_all_come_before_the_coroutines_of_all_phase_by_phase() {
    let log = Log::new();
    let mut scene = stage();
    for name in ["a", "b"] {
        let say = log.clone();
        scene.add(Actor::full(name, &log).on("start", move |context| {
            context.start(phases(say.clone(), name));
        }));
    }
    scene.run_frame(FRAME);
    log.check(&[
        "F1.host: a start",
        "F1.host: a begins",
        "F1.host: b start",
        "F1.host: b begins",
        "F1.EarlyUpdate: a",
        "F1.EarlyUpdate: b",
        "F1.host: a fixed_update",
        "F1.host: b fixed_update",
        "F1.FixedUpdate: a",
        "F1.FixedUpdate: b",
        "F1.host: a update",
        "F1.host: b update",
        "F1: a",
        "F1: b",
        "F1.host: a late_update",
        "F1.host: b late_update",
        "F1.LateUpdate: a",
        "F1.LateUpdate: b",
        "F1.EndOfFrame: a",
        "F1.EndOfFrame: b",
    ]);
    let a = scene.find::<Actor>().unwrap();
    assert!(scene.destroy(&a));
    scene.run_frame(0);
    log.check(&[
        "F2.EarlyUpdate: a",
        "F2.EarlyUpdate: b",
        "F2.host: a update",
        "F2.host: b update",
        "F2.host: a late_update",
        "F2.host: b late_update",
        "F2.host: a on_destroy",
    ]);
}

/// Records the clocks in a callback: frame, delta, elapsed.
fn reads(log: &Log, name: &'static str) -> impl FnMut(&SceneContext<'_, Actor>) + use<> {
    let log = log.clone();
    move |context| {
        let now = context.time();
        assert_eq!(now, time());
        let (delta, elapsed) = (now.delta.as_secs_f64(), now.elapsed.as_secs_f64());
        log.note(format!("F{} {name} +{delta} ={elapsed}", now.frame));
    }
}

fn clock_reader(log: &Log) -> Actor {
    Actor::new("", &Log::new())
        .on("start", reads(log, "start"))
        .on("fixed_update", reads(log, "fixed"))
        .on("update", reads(log, "update"))
}

#[test]
fn fixed_steps_are_as_many_as_fit_and_read_their_own_time() {
    let log = Log::new();
    let mut scene = stage();
    scene.add(clock_reader(&log));
    for dt in [0.125, 0.625, 0.0] {
        scene.run_frame(dt);
    }
    log.check(&[
        "F1 start +0.125 =0.125",
        "F1 update +0.125 =0.125",
        "F2 fixed +0.25 =0.25",
        "F2 fixed +0.25 =0.5",
        "F2 fixed +0.25 =0.75",
        "F2 update +0.625 =0.75",
        "F3 update +0 =0.75",
    ]);
}

#[test]
fn update_reads_the_time_of_the_frame_also_if_the_host_leaves_fixed_steps_over() {
    let log = Log::new();
    let mut scene = stage();
    scene.add(clock_reader(&log));
    scene.begin_frame(1);
    assert!(scene.begin_fixed_step());
    scene.run_phase(Phase::FixedUpdate);
    scene.run_phase(Phase::Update);
    log.check(&[
        "F1 start +0.25 =0.25",
        "F1 fixed +0.25 =0.25",
        "F1 update +1 =1",
    ]);
}

#[test]
fn a_scene_may_be_stepped_in_parts() {
    let run = |step: fn(&mut Scene)| {
        let log = Log::new();
        let mut scene = stage();
        let say = log.clone();
        scene.add(Actor::full("a", &log).on("start", move |context| {
            context.start(phases(say.clone(), "a"));
        }));
        for _ in 0..3 {
            step(&mut scene);
        }
        log.take()
    };
    let whole = run(|scene| scene.run_frame(FRAME));
    let parts = run(|scene| {
        scene.begin_frame(FRAME);
        for phase in with_custom(7) {
            while phase == Phase::FixedUpdate && scene.begin_fixed_step() {
                scene.run_phase(phase);
            }
            if phase != Phase::FixedUpdate {
                scene.run_phase(phase);
            }
        }
    });
    assert_eq!(parts, whole);
}

#[test]
fn time_goes_as_fast_as_the_clock_of_the_executor() {
    let log = Log::new();
    let mut scene = stage();
    scene.add(clock_reader(&log));
    scene.executor().clock().set_scale(0.5);
    frames(&mut scene, 2);
    scene.executor().clock().pause();
    frames(&mut scene, 1);
    log.check(&[
        "F1 start +0.125 =0.125",
        "F1 update +0.125 =0.125",
        "F2 fixed +0.25 =0.25",
        "F2 update +0.125 =0.25",
        "F3 update +0 =0.25",
    ]);
}

#[test]
fn an_executor_keeps_its_settings_and_its_coroutines() {
    let log = Log::new();
    let executor = Executor::builder().max_delta(0.5).fixed_delta(1).build();
    executor.start(ticks(log.clone(), "before the scene"));
    let mut scene = Scene::with_executor(executor);
    scene.add(Actor::full("a", &log));
    scene.run_frame(10);
    scene.run_frame(10);
    log.check(&[
        "F1.host: a start",
        "F1.host: a update",
        "F1: before the scene",
        "F1.host: a late_update",
        "F2.host: a fixed_update",
        "F2.host: a update",
        "F2: before the scene",
        "F2.host: a late_update",
    ]);
    drop(scene);
    log.check(&["F2.host: a on_destroy", "before the scene dropped"]);
}
