//! Coroutines that callbacks start and stop.

use super::*;

/// Compares with lines, where `%` stands for the callback.
#[track_caller]
fn check(log: &Log, callback: &str, lines: &[&str]) {
    let lines: Vec<String> = lines.iter().map(|l| l.replace('%', callback)).collect();
    log.check(&lines.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn begin_in_order_when_their_callback_has_returned_before_the_next_callback() {
    for callback in ["start", "fixed_update", "update", "late_update"] {
        let log = Log::new();
        let mut scene = stage();
        let say = log.clone();
        scene.add(Actor::new("a", &log).on(callback, move |context| {
            let (log, inner) = (say.clone(), says(say.clone(), "inner"));
            context.start(async move {
                log.say("one");
                start(inner);
                log.say("one goes on");
            });
            context.start(says(say.clone(), "two"));
            say.say("a returns");
        }));
        scene.add(Actor::new("b", &log).on(callback, |_| ()));
        scene.run_frame(FRAME);
        check(
            &log,
            callback,
            &[
                "F1.host: a %",
                "F1.host: a returns",
                "F1.host: one",
                "F1.host: inner",
                "F1.host: one goes on",
                "F1.host: two",
                "F1.host: b %",
            ],
        );
    }
}

#[test]
fn spawned_ones_begin_in_the_next_update() {
    let log = Log::new();
    let mut scene = stage();
    let mut actor = Actor::new("a", &log);
    for callback in ["start", "fixed_update", "update", "late_update"] {
        let say = log.clone();
        let mut done = false;
        actor = actor.on(callback, move |context| {
            if !std::mem::replace(&mut done, true) {
                context.spawn(says(say.clone(), callback));
            }
        });
    }
    let say = log.clone();
    scene.add(actor);
    scene.run_frame(FRAME);
    say.check(&[
        "F1.host: a start",
        "F1.host: a fixed_update",
        "F1.host: a update",
        "F1: start",
        "F1: fixed_update",
        "F1: update",
        "F1.host: a late_update",
    ]);
    scene.run_frame(FRAME);
    say.check(&[
        "F2.host: a fixed_update",
        "F2.host: a update",
        "F2: late_update",
        "F2.host: a late_update",
    ]);
}

#[test]
fn of_the_free_functions_belong_to_the_behaviour() {
    let log = Log::new();
    let mut scene = stage();
    let say = log.clone();
    let other = scene.add(Actor::new("other", &log));
    let actor = scene.add(Actor::new("a", &log).on("start", move |_| {
        start(ticks(say.clone(), "started"));
        spawn(ticks(say.clone(), "spawned"));
        script("")
            .in_phase(Phase::LateUpdate)
            .spawn(ticks(say.clone(), "spawned in"));
        let effects = owner();
        effects.start(ticks(say.clone(), "of an owner below"));
        std::mem::forget(effects);
        other.with(|_| start(ticks(say.clone(), "in a closure of another")));
    }));
    scene.run_frame(FRAME);
    log.check(&["F1.host: a start"]);
    assert_eq!(scene.executor().len(), 5);
    actor.set_active(false);
    assert!(scene.executor().is_empty());
}

/// Starts its coroutine in one callback, and stops it in the next.
fn toggles(callback: &'static str, log: &Log) -> Actor {
    let say = log.clone();
    let mut running: Option<Coroutine<()>> = None;
    Actor::new("a", log).on(callback, move |context| {
        match running.take() {
            Some(coroutine) => assert!(coroutine.stop()),
            None => running = Some(context.start(ticks(say.clone(), "tick"))),
        }
        say.say("returns");
    })
}

#[test]
fn are_started_and_stopped_by_handle_in_every_callback() {
    for callback in ["fixed_update", "update"] {
        let log = Log::new();
        let mut scene = stage();
        scene.add(toggles(callback, &log));
        frames(&mut scene, 2);
        check(
            &log,
            callback,
            &[
                "F1.host: a %",
                "F1.host: returns",
                "F2.host: a %",
                "tick dropped",
                "F2.host: returns",
            ],
        );
    }
    let log = Log::new();
    let mut scene = stage();
    scene.add(toggles("late_update", &log));
    frames(&mut scene, 3);
    log.check(&[
        "F1.host: a late_update",
        "F1.host: returns",
        "F2: tick",
        "F2.host: a late_update",
        "tick dropped",
        "F2.host: returns",
        "F3.host: a late_update",
        "F3.host: returns",
    ]);
}

#[test]
fn are_all_stopped_before_stop_all_returns_those_yet_to_begin_as_well() {
    let log = Log::new();
    let mut scene = stage();
    let say = log.clone();
    scene.add(
        Actor::new("a", &log)
            .on("start", {
                let log = log.clone();
                move |context| {
                    context.start(ticks(log.clone(), "old"));
                }
            })
            .on("late_update", move |context| {
                let started = context.start(ticks(say.clone(), "never begun"));
                let spawned = context.spawn(ticks(say.clone(), "never begun"));
                context.stop_all();
                say.say("stopped");
                assert!(started.is_finished() && spawned.is_finished());
                context.start(says(say.clone(), "started since"));
            }),
    );
    scene.run_frame(FRAME);
    log.check(&[
        "F1.host: a start",
        "F1.host: a late_update",
        "old dropped",
        "F1.host: stopped",
        "F1.host: started since",
    ]);
}

#[test]
fn of_another_behaviour_may_be_stopped_in_a_callback() {
    let log = Log::new();
    let mut scene = stage();
    let other = scene.add(Actor::new("other", &log));
    other.start(ticks(log.clone(), "due"));
    let victim = other.clone();
    scene.add(Actor::new("a", &log).on("update", move |_| victim.stop_all()));
    scene.run_frame(FRAME);
    log.check(&["F1.host: a update", "due dropped"]);
    assert!(other.is_alive());
}

#[test]
fn may_be_stopped_and_started_by_one_of_them_while_their_run_is_under_way() {
    let log = Log::new();
    let mut scene = stage();
    let actor = scene.add(Actor::new("a", &log));
    let (this, say) = (actor.clone(), log.clone());
    let later = Rc::new(RefCell::new(None));
    let victim = later.clone();
    actor.start(async move {
        next_frame().await;
        let victim: Coroutine<()> = victim.take().unwrap();
        assert!(victim.stop());
        this.start(ticks(say.clone(), "new"));
        say.say("goes on");
    });
    actor.start(ticks(log.clone(), "between"));
    *later.borrow_mut() = Some(actor.start(ticks(log.clone(), "later")));
    frames(&mut scene, 2);
    log.check(&[
        "later dropped",
        "F1: goes on",
        "F1: between",
        "F2: new",
        "F2: between",
    ]);
}

#[test]
fn may_begin_before_their_behaviour_starts() {
    let log = Log::new();
    let mut scene = stage();
    let actor = scene.add(Actor::full("a", &log));
    actor.start(phases(log.clone(), "coroutine"));
    log.check(&["F0: coroutine begins"]);
    scene.begin_frame(FRAME);
    scene.run_phase(Phase::EarlyUpdate);
    log.check(&["F1.host: a start", "F1.EarlyUpdate: coroutine"]);
}

#[test]
fn stand_still_while_their_behaviour_is_paused_and_its_callbacks_continue() {
    let log = Log::new();
    let mut scene = stage();
    let actor = scene.add(Actor::new("a", &log).on("update", |_| ()));
    actor.start(ticks(log.clone(), "tick"));
    scene.run_frame(FRAME);
    assert!(actor.pause());
    assert!(!actor.pause());
    actor.start(says(log.clone(), "started while paused"));
    scene.run_frame(FRAME);
    assert!(actor.resume());
    assert!(!actor.resume());
    scene.run_frame(FRAME);
    log.check(&[
        "F1.host: a update",
        "F1: tick",
        "F2.host: a update",
        "F3.host: a update",
        "F3: tick",
        "F3: started while paused",
    ]);
}

// docs/contract.md#decided-start-in-a-callback
#[test]
fn begin_when_the_callback_has_returned_that_resumes_the_paused_behaviour() {
    let log = Log::new();
    let mut scene = stage();
    let say = log.clone();
    let actor = scene.add(Actor::new("a", &log).on("update", move |context| {
        context.start(says(say.clone(), "started"));
        assert!(context.this().resume());
        say.say("callback returns");
    }));
    assert!(actor.pause());
    scene.run_frame(FRAME);
    log.check(&[
        "F1.host: a update",
        "F1.host: callback returns",
        "F1.host: started",
    ]);
}
