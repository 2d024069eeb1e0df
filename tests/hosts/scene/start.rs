//! `start` is called first, and once, wherever a behaviour is added.

use super::*;

/// An actor that adds another behaviour in `callback` of frame 1.
fn adds_in(callback: &'static str, log: &Log) -> Actor {
    let say = log.clone();
    let mut done = false;
    Actor::new("", &Log::new()).on(callback, move |context| {
        if !std::mem::replace(&mut done, true) {
            context.scene().add(Actor::full("new", &say)).unwrap();
        }
    })
}

/// The first three callbacks of the behaviour that `put` adds, in frames of one
/// fixed step.
fn first_callbacks(put: impl FnOnce(&Scene, &Log)) -> String {
    let log = Log::new();
    let mut scene = stage();
    put(&scene, &log);
    frames(&mut scene, 3);
    let lines = log.take();
    let starts = lines.iter().filter(|line| line.ends_with("start"));
    assert_eq!(starts.count(), 1);
    lines[..3].join(", ").replace(".host: new", "")
}

#[test]
fn comes_before_all_else_when_added_by_the_host() {
    let calls = first_callbacks(|scene, log| {
        scene.add(Actor::full("new", log));
    });
    assert_eq!(calls, "F1 start, F1 fixed_update, F1 update");
}

#[test]
fn comes_before_all_else_when_added_in_a_callback() {
    let calls = |callback| {
        first_callbacks(|scene, log| {
            let adds = scene.add(adds_in(callback, log));
            if callback == "on_destroy" {
                adds.destroy();
            }
        })
    };
    let this_frame = "F1 start, F1 fixed_update, F1 update";
    let after_the_step = "F1 start, F1 update, F1 late_update";
    let next_frame = "F2 start, F2 fixed_update, F2 update";
    assert_eq!(calls("start"), this_frame);
    assert_eq!(calls("fixed_update"), after_the_step);
    assert_eq!(calls("update"), next_frame);
    assert_eq!(calls("late_update"), next_frame);
    assert_eq!(calls("on_destroy"), next_frame);
}

#[test]
fn comes_before_all_else_when_added_in_a_coroutine() {
    let calls = |phase| {
        first_callbacks(|scene, log| {
            let (handle, log) = (scene.handle(), log.clone());
            scene.executor().start(async move {
                in_phase(phase).await;
                handle.add(Actor::full("new", &log)).unwrap();
            });
        })
    };
    let next_frame = "F2 start, F2 fixed_update, F2 update";
    assert_eq!(
        calls(Phase::EarlyUpdate),
        "F1 start, F1 fixed_update, F1 update"
    );
    assert_eq!(
        calls(Phase::FixedUpdate),
        "F1 start, F1 update, F1 late_update"
    );
    assert_eq!(calls(Phase::Update), next_frame);
    assert_eq!(calls(Phase::LateUpdate), next_frame);
    assert_eq!(calls(Phase::EndOfFrame), next_frame);
}

#[test]
fn comes_before_the_next_fixed_step_when_added_in_one() {
    let log = Log::new();
    let mut scene = stage();
    scene.add(adds_in("fixed_update", &log));
    scene.run_frame(3.0 * FRAME);
    log.check(&[
        "F1.host: new start",
        "F1.host: new fixed_update",
        "F1.host: new fixed_update",
        "F1.host: new update",
        "F1.host: new late_update",
    ]);
}

/// Adds another of its kind in every `start`.
struct Rabbit;

impl Behaviour for Rabbit {
    fn start(&mut self, context: &SceneContext<'_, Self>) {
        context.scene().add(Rabbit);
    }
}

#[test]
fn that_adds_another_without_end_holds_no_frame_up() {
    let mut scene = stage();
    scene.add(Rabbit);
    scene.run_frame(FRAME);
    assert_eq!(scene.len(), 4); // a `start` for each of three parts of the frame
}
