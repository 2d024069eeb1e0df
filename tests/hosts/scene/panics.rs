//! Panics in callbacks, destructors and coroutines of behaviours.

use super::*;

#[test]
fn in_a_callback_end_the_behaviour_and_are_reported_and_nothing_else_stops() {
    for callback in ["start", "fixed_update", "update", "late_update"] {
        let log = Log::new();
        let mut scene = stage();
        let say = log.clone();
        let bad = Actor::new("bad", &log).on("on_destroy", |_| ());
        let bad = scene.add(bad.on(callback, move |context| {
            let log = say.clone();
            context.start(async move {
                let _gone = log.on_drop("what it started dropped");
                assert!(!std::thread::panicking());
                log.say("what it started");
                forever().await;
            });
            panic!("on {}", "purpose");
        }));
        bad.start(ticks(log.clone(), "older"));
        scene.add(Actor::new("good", &log).on(callback, |_| ()));
        scene.begin_frame(FRAME);
        scene.run_phase(Phase::EarlyUpdate);
        while scene.begin_fixed_step() {
            scene.run_phase(Phase::FixedUpdate);
        }
        scene.run_phase(Phase::Update);
        scene.run_phase(Phase::LateUpdate);
        assert!(!bad.is_alive() && !bad.destroy());
        bad.set_active(true);
        assert!(!bad.is_active() && bad.start(async {}).is_finished());
        scene.check_refused(1);
        scene.run_phase(Phase::EndOfFrame);
        assert!(matches!(
            bad.try_with(|_| ()),
            Err(LendError::Destroyed { .. })
        ));
        let mut lines = log.take();
        lines.retain(|line| line != "F1: older");
        let expected = [
            &format!("F1.host: bad {callback}"),
            "F1.host: what it started",
            "older dropped",
            "what it started dropped",
            &format!("F1.host: good {callback}"),
        ];
        assert_eq!(lines, expected);
        let report = format!(
            "frame 1: `{callback}` of hosts::scene::Actor panicked: on purpose; the behaviour \
             is removed from its scene"
        );
        scene.check_reports(&[&report]);
        assert_eq!(scene.len(), 1);
        frames(&mut scene, 1);
        if callback != "start" {
            log.check(&[&format!("F2.host: good {callback}")]);
        }
    }
}

#[test]
fn are_reported_with_callback_frame_and_message() {
    let scene = Scene::new();
    let heard = Rc::new(RefCell::new(Vec::new()));
    let hear = heard.clone();
    let on_report = move |report: &Report| hear.borrow_mut().push(report.clone());
    scene.executor().on_report(on_report);
    let log = Log::new();
    let mut scene = scene;
    scene.add(Actor::new("a", &log).on("update", |_| std::panic::panic_any(7)));
    scene.run_frame(FRAME);
    let heard = heard.borrow();
    let [
        Report::BehaviourPanicked {
            behaviour,
            callback,
            frame,
            message,
            ..
        },
    ] = &heard[..]
    else {
        panic!("one report of a panic, not {heard:?}");
    };
    assert_eq!(
        (*behaviour, *callback, *frame),
        ("hosts::scene::Actor", "update", 1)
    );
    assert_eq!(*message, None);
}

#[test]
fn in_on_destroy_still_remove_the_behaviour() {
    let log = Log::new();
    let mut scene = stage();
    let bad = scene.add(Actor::new("bad", &log).on("on_destroy", |_| panic!("on purpose")));
    let good = scene.add(Actor::new("good", &log).on("on_destroy", |_| ()));
    bad.destroy();
    good.destroy();
    scene.run_frame(FRAME);
    log.check(&["F1.host: bad on_destroy", "F1.host: good on_destroy"]);
    scene.check_reports(&[
        "frame 1: `on_destroy` of hosts::scene::Actor panicked: on purpose; the behaviour is \
         removed from its scene",
    ]);
    assert!(bad.try_with(|_| ()).is_err());
    scene.run_frame(FRAME);
    log.check(&[]);
}

/// Panics when it is dropped.
struct Bomb(Log);

impl Behaviour for Bomb {
    fn on_destroy(&mut self, _: &SceneContext<'_, Self>) {
        self.0.say("on_destroy");
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.say("dropped");
        panic!("on purpose");
    }
}

#[test]
fn in_a_destructor_are_reported_and_block_no_other() {
    let log = Log::new();
    let mut scene = stage();
    scene.add(Bomb(log.clone())).destroy();
    scene
        .add(Actor::new("good", &log).on("on_destroy", |_| ()))
        .destroy();
    scene.run_frame(FRAME);
    log.check(&[
        "F1.host: on_destroy",
        "F1.host: dropped",
        "F1.host: good on_destroy",
    ]);
    scene.check_reports(&[
        "frame 1: `drop` of hosts::scene::panics::Bomb panicked: on purpose; the behaviour is \
         removed from its scene",
    ]);
    scene.add(Bomb(log.clone()));
    let heard = scene.heard.clone();
    drop(scene);
    log.check(&["F1.host: on_destroy", "F1.host: dropped"]);
    assert_eq!(heard.0.take().len(), 1);
}

#[test]
fn in_a_coroutine_leave_the_behaviour_alone() {
    let log = Log::new();
    let mut scene = stage();
    let actor = scene.add(Actor::new("a", &log).on("update", |_| ()));
    actor.start(async {
        next_frame().await;
        panic!("on purpose");
    });
    actor.start(ticks(log.clone(), "sibling"));
    frames(&mut scene, 2);
    log.check(&[
        "F1.host: a update",
        "F1: sibling",
        "F2.host: a update",
        "F2: sibling",
    ]);
    let reports = scene.heard.0.take();
    assert!(reports[0].contains("panicked: on purpose"), "{reports:?}");
    assert_eq!(reports.len(), 1);
}
