//! The end of a behaviour, and of its scene.

use super::*;

/// Logs its updates, and has a coroutine that waits for the end of each frame.
fn with_coroutines(log: &Log) -> Actor {
    let say = log.clone();
    Actor::full("a", log).on("start", move |context| {
        context.start(ticks(say.clone(), "tick"));
        let log = say.clone();
        context.start(async move {
            let _gone = log.on_drop("end dropped");
            loop {
                end_of_frame().await;
                log.say("end");
            }
        });
    })
}

#[test]
fn in_a_callback_lets_it_continue_to_the_end_of_the_frame() {
    let log = Log::new();
    let mut scene = stage();
    let say = log.clone();
    let actor = with_coroutines(&log).on("update", move |context| {
        if time().frame == 2 {
            assert!(context.destroy_self());
            assert!(!context.destroy_self());
            context.start(says(say.clone(), "started since"));
        }
    });
    let actor = scene.add(actor);
    scene.run_frame(FRAME);
    log.take();
    scene.run_frame(FRAME);
    log.check(&[
        "F2.host: a fixed_update",
        "F2.host: a update",
        "F2.host: started since",
        "F2: tick",
        "F2.host: a late_update",
        "F2.EndOfFrame: end",
        "tick dropped",
        "end dropped",
        "F2.host: a on_destroy",
    ]);
    assert!(!actor.destroy() && scene.is_empty());
    frames(&mut scene, 2);
    log.check(&[]);
}

#[test]
fn by_a_coroutine_of_its_own_lets_that_continue_too() {
    let log = Log::new();
    let mut scene = stage();
    let actor = scene.add(Actor::full("a", &log));
    let (this, say) = (actor.clone(), log.clone());
    actor.start(async move {
        let _gone = say.on_drop("coroutine dropped");
        next_frame().await;
        assert!(this.destroy());
        assert!(!this.destroy());
        say.say("destroys");
        end_of_frame().await;
        say.say("still there");
        this.with(|actor| actor.lines += 1);
        next_frame().await;
        unreachable!();
    });
    scene.run_frame(FRAME);
    log.check(&[
        "F1.host: a start",
        "F1.host: a fixed_update",
        "F1.host: a update",
        "F1: destroys",
        "F1.host: a late_update",
        "F1.EndOfFrame: still there",
        "coroutine dropped",
        "F1.host: a on_destroy",
    ]);
}

#[test]
fn by_another_in_the_middle_of_a_pass_changes_nothing_until_the_end_of_the_frame() {
    let log = Log::new();
    let mut scene = stage();
    let late = Rc::new(RefCell::new(None::<BehaviourHandle<Actor>>));
    let victim = late.clone();
    scene.add(Actor::new("a", &log).on("update", move |_| {
        let victim = victim.borrow_mut().take();
        assert!(victim.is_none_or(|victim| victim.destroy() && !victim.is_alive()));
    }));
    let b = scene.add(Actor::full("b", &log));
    *late.borrow_mut() = Some(b);
    frames(&mut scene, 2);
    log.check(&[
        "F1.host: b start",
        "F1.host: b fixed_update",
        "F1.host: a update",
        "F1.host: b update",
        "F1.host: b late_update",
        "F1.host: b on_destroy",
        "F2.host: a update",
    ]);
}

#[test]
fn before_the_start_skips_all_but_on_destroy() {
    let log = Log::new();
    let mut scene = stage();
    let actor = scene.add(Actor::full("a", &log));
    actor.start(ticks(log.clone(), "tick"));
    assert!(scene.destroy(&actor));
    assert!(!scene.destroy(&actor));
    frames(&mut scene, 2);
    log.check(&["F1: tick", "tick dropped", "F1.host: a on_destroy"]);
}

#[test]
fn stops_the_coroutines_before_on_destroy_where_nothing_can_be_started() {
    let log = Log::new();
    let mut scene = stage();
    let say = log.clone();
    let actor = scene.add(Actor::new("a", &log).on("on_destroy", move |context| {
        let this = context.this();
        this.set_active(true);
        assert!(context.start(says(say.clone(), "started")).is_finished());
        assert!(context.spawn(says(say.clone(), "spawned")).is_finished());
        assert!(start(says(say.clone(), "freely")).is_finished());
        assert!(this.start(says(say.clone(), "by handle")).is_finished());
        assert!(!this.is_alive() && !this.is_active() && !context.destroy_self());
    }));
    let coroutine = actor.start(ticks(log.clone(), "tick"));
    actor.destroy();
    frames(&mut scene, 2);
    scene.check_refused(4);
    log.check(&["F1: tick", "tick dropped", "F1.host: a on_destroy"]);
    let result = result_of(scene.executor(), coroutine);
    assert!(result.unwrap_err().is_stopped());
}

#[test]
fn leaves_the_behaviour_to_what_others_start_in_on_destroy_and_calls_that_once() {
    let log = Log::new();
    let mut scene = stage();
    let (host, say) = (scene.executor().handle(), log.clone());
    let actor = Actor::new("a", &log).on("on_destroy", move |context| {
        let (this, say) = (context.this(), say.clone());
        host.start(async move {
            let found = this.try_with(|_| ()).is_ok();
            say.say(if found { "found" } else { "gone" });
            next_frame().await;
            let found = this.try_with(|_| ()).is_ok();
            say.say(if found { "found" } else { "gone" });
        });
    });
    scene.add(actor).destroy();
    frames(&mut scene, 2);
    log.check(&["F1.host: a on_destroy", "F1.host: found", "F2: gone"]);
}

/// Destroys `victim` when it is destroyed.
fn takes_along(log: &Log, victim: impl Fn() -> Option<BehaviourHandle<Actor>> + 'static) -> Actor {
    Actor::new("parent", log).on("on_destroy", move |_| {
        assert!(victim().unwrap().destroy());
    })
}

// docs/contract.md#decided-removed
#[test]
fn in_an_on_destroy_takes_others_along_in_the_same_frame() {
    let log = Log::new();
    let mut scene = stage();
    let before = scene.add(Actor::new("before", &log).on("on_destroy", |_| ()));
    let after = Rc::new(RefCell::new(None));
    let first = scene.add(takes_along(&log, move || Some(before.clone())));
    let victim = after.clone();
    let second = scene.add(takes_along(&log, move || victim.borrow().clone()));
    *after.borrow_mut() = Some(scene.add(Actor::new("after", &log).on("on_destroy", |_| ())));
    first.destroy();
    second.destroy();
    scene.run_frame(FRAME);
    log.check(&[
        "F1.host: parent on_destroy",
        "F1.host: parent on_destroy",
        "F1.host: before on_destroy",
        "F1.host: after on_destroy",
    ]);
    assert!(scene.is_empty());
}

/// Adds and destroys another of its kind when it is destroyed.
struct Hydra(Rc<Cell<u32>>);

impl Behaviour for Hydra {
    fn on_destroy(&mut self, context: &SceneContext<'_, Self>) {
        self.0.set(self.0.get() + 1);
        if let Some(head) = context.scene().add(Hydra(self.0.clone())) {
            head.destroy();
        }
    }
}

#[test]
fn of_one_that_always_comes_back_holds_no_frame_up() {
    let heads = Rc::new(Cell::new(0));
    let mut scene = stage();
    scene.add(Hydra(heads.clone())).destroy();
    frames(&mut scene, 2);
    let in_a_frame = 2 + 1_000; // of the first, one for it, and those of the limit
    assert_eq!(heads.get(), 2 * in_a_frame);
    assert_eq!(scene.len(), 0);
    drop(scene);
    let all = 2 * in_a_frame + 1;
    assert_eq!((heads.get(), Rc::strong_count(&heads)), (all, 1));
}

// docs/contract.md#decided-removed
#[test]
fn in_an_on_destroy_removes_what_that_has_added_in_the_same_frame() {
    let log = Log::new();
    let mut scene = stage();
    let say = log.clone();
    let parent = Actor::new("parent", &log).on("on_destroy", move |context| {
        let child = Actor::new("child", &say).on("on_destroy", |_| ());
        assert!(context.scene().add(child).unwrap().destroy());
    });
    let bystander = scene.add(Actor::new("bystander", &log).on("on_destroy", |_| ()));
    scene.add(parent).destroy();
    scene.run_frame(FRAME);
    log.check(&["F1.host: parent on_destroy", "F1.host: child on_destroy"]);
    assert!(scene.len() == 1 && bystander.is_alive());
}

// docs/contract.md#decided-removed
#[test]
fn leaves_nothing_to_pause() {
    let log = Log::new();
    let mut scene = stage();
    let actor = scene.add(Actor::new("a", &log).on("on_destroy", |context| {
        assert!(!context.this().pause() && !context.this().resume());
    }));
    assert!(actor.pause() && actor.resume() && actor.destroy());
    assert!(actor.pause() && actor.resume()); // until the end of the frame
    scene.run_frame(FRAME);
    assert!(!actor.pause() && !actor.resume());
    drop(scene);
    assert!(!actor.pause());
}

#[test]
fn of_the_whole_scene_is_in_order_and_once_for_each() {
    let log = Log::new();
    let mut scene = stage();
    for name in ["a", "b", "c"] {
        let say = log.clone();
        let actor = scene.add(Actor::new(name, &log).on("on_destroy", move |context| {
            let others = context.scene().find_all::<Actor>();
            say.say(format_args!("{} others", others.len()));
            if name != "a" {
                let late = context.scene().add(Actor::full("late", &say));
                assert!(late.is_none());
            }
        }));
        let log = log.clone();
        actor.start(async move {
            let _gone = log.on_drop(format_args!("{name}'s coroutine dropped"));
            forever().await;
        });
        if name == "a" {
            actor.destroy();
            scene.run_frame(FRAME);
        }
    }
    let handle = scene.handle();
    log.note("scene dropped");
    drop(scene);
    log.check(&[
        "a's coroutine dropped",
        "F1.host: a on_destroy",
        "F1.host: 0 others",
        "scene dropped",
        "b's coroutine dropped",
        "F1.host: b on_destroy",
        "F1.host: 1 others",
        "c's coroutine dropped",
        "F1.host: c on_destroy",
        "F1.host: 0 others",
    ]);
    assert!(handle.add(Actor::full("late", &log)).is_none());
    assert!(handle.find::<Actor>().is_none() && handle.find_all::<Actor>().is_empty());
}

#[test]
fn inside_a_closure_that_has_it_waits_for_the_end_of_the_frame() {
    let log = Log::new();
    let mut scene = stage();
    let actor = scene.add(Actor::full("a", &log));
    actor.with(|a| {
        assert!(actor.destroy());
        a.lines = 7;
    });
    assert_eq!(actor.with(|a| a.lines), 7);
    scene.run_frame(FRAME);
    log.check(&["F1.host: a on_destroy"]);
}

#[test]
fn of_the_scene_inside_a_closure_waits_for_the_closure() {
    for panics in [false, true] {
        let log = Log::new();
        let scene = stage();
        let actor = scene.add(Actor::new("a", &log).on("on_destroy", |_| ()));
        let (this, say) = (actor.clone(), log.clone());
        let with = move || {
            this.with(|_| {
                drop(scene);
                say.note("scene dropped");
                assert!(!panics, "on purpose");
            });
        };
        if panics {
            assert_eq!(panic_of(with), "on purpose");
        } else {
            with();
        }
        log.check(&["scene dropped", "F0: a on_destroy"]);
        assert!(matches!(
            actor.try_with(|_| ()),
            Err(LendError::Destroyed { .. })
        ));
    }
}
