//! Behaviours that are inactive.

use super::*;

#[test]
fn inactive_ones_get_no_callbacks_and_have_no_coroutines() {
    let log = Log::new();
    let mut scene = stage();
    let actor = scene.add(
        Actor::new("a", &log)
            .on("start", |_| ())
            .on("update", |_| ()),
    );
    actor.start(ticks(log.clone(), "tick"));
    scene.run_frame(FRAME);
    log.check(&["F1.host: a start", "F1.host: a update", "F1: tick"]);
    actor.set_active(false);
    log.check(&["tick dropped"]);
    assert!(actor.start(says(log.clone(), "refused")).is_finished());
    assert!(actor.spawn(says(log.clone(), "refused")).is_finished());
    scene.check_refused(2);
    assert!(actor.is_alive() && !actor.is_active());
    scene.run_frame(FRAME);
    log.check(&[]);
    actor.set_active(true);
    actor.start(says(log.clone(), "taken"));
    scene.run_frame(FRAME);
    log.check(&["F2.host: taken", "F3.host: a update"]);
}

#[test]
fn one_that_is_inactive_from_the_beginning_starts_when_it_is_activated() {
    let log = Log::new();
    let mut scene = stage();
    let actor = scene.add(
        Actor::new("a", &log)
            .on("start", |_| ())
            .on("update", |_| ()),
    );
    actor.set_active(false);
    frames(&mut scene, 2);
    log.check(&[]);
    actor.set_active(true);
    frames(&mut scene, 2);
    log.check(&["F3.host: a start", "F3.host: a update", "F4.host: a update"]);
}

#[test]
fn one_that_deactivates_itself_is_out_for_the_rest_of_the_frame() {
    let log = Log::new();
    let mut scene = stage();
    let say = log.clone();
    let actor = Actor::full("a", &log).on("fixed_update", move |context| {
        context.start(ticks(say.clone(), "begun by nobody"));
        context.this().set_active(false);
        assert!(context.start(says(say.clone(), "refused")).is_finished());
    });
    scene.add(actor);
    frames(&mut scene, 2);
    scene.check_refused(1);
    log.check(&["F1.host: a start", "F1.host: a fixed_update"]);
}

#[test]
fn a_coroutine_that_deactivates_its_behaviour_continues_to_its_next_wait() {
    let log = Log::new();
    let mut scene = stage();
    let actor = scene.add(Actor::new("a", &log).on("late_update", |_| ()));
    let (this, say) = (actor.clone(), log.clone());
    actor.start(async move {
        let _gone = say.on_drop("dropped");
        next_frame().await;
        this.set_active(false);
        say.say("still said");
        next_frame().await;
        unreachable!();
    });
    actor.start(ticks(log.clone(), "sibling"));
    scene.run_frame(FRAME);
    log.check(&["sibling dropped", "F1: still said", "dropped"]);
}

#[test]
fn inactive_ones_are_notified_when_they_are_destroyed() {
    let log = Log::new();
    let mut scene = stage();
    let actor = scene.add(Actor::full("a", &log));
    actor.set_active(false);
    actor.destroy();
    scene.run_frame(FRAME);
    log.check(&["F1.host: a on_destroy"]);
}
