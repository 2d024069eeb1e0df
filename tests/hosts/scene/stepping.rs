//! Ways to step a scene: with lent state, until a future returns, not inside a closure.

use super::*;

struct Gold(u32);

#[test]
fn lent_state_is_there_in_callbacks_and_in_coroutines() {
    let log = Log::new();
    let mut scene = stage();
    let mut gold = Gold(0);
    let say = log.clone();
    scene.add(Actor::new("a", &log).on("update", move |context| {
        let found = with(|gold: &mut Gold| {
            gold.0 += 1;
            context.start(says(say.clone(), "started inside"));
            gold.0
        });
        say.say(format_args!("{found} in a callback"));
        let say = say.clone();
        context.start(async move {
            end_of_frame().await;
            let found = with(|gold: &mut Gold| {
                gold.0 += 10;
                gold.0
            });
            say.say(format_args!("{found} in a coroutine"));
        });
    }));
    scene.lend(&mut gold, |scene| scene.run_frame(FRAME));
    log.check(&[
        "F1.host: a update",
        "F1.host: 1 in a callback",
        "F1.host: started inside",
        "F1.EndOfFrame: 11 in a coroutine",
    ]);
    assert_eq!(gold.0, 11);
}

#[test]
fn inside_a_closure_that_may_have_a_behaviour_is_refused_and_harms_nothing() {
    let log = Log::new();
    let mut scene = stage();
    let actor = scene.add(Actor::new("a", &log).on("update", |_| ()));
    actor.with(|_| {
        let text = panic_of(|| scene.run_frame(FRAME));
        assert!(text.contains("`with`"), "names no reason: {text}");
        let here = format!("{}:{}", file!(), line!() + 1);
        assert_eq!(place_of_panic(|| scene.run_frame(FRAME)), here);
        let here = format!("{}:{}", file!(), line!() + 1);
        assert_eq!(place_of_panic(|| scene.run_until(async {}, FRAME)), here);
    });
    assert_eq!(scene.executor().time().frame, 0);
    scene.run_frame(FRAME);
    log.check(&["F1.host: a update"]);
}

#[test]
fn runs_until_a_future_has_returned() {
    let log = Log::new();
    let mut scene = stage();
    let actor = scene.add(Actor::new("a", &log).on("update", |_| ()));
    let this = actor.clone();
    let lines = scene.run_until(
        async move {
            wait_frames(2).await;
            this.with(|actor| actor.lines)
        },
        FRAME,
    );
    assert_eq!(lines, 0);
    log.check(&["F1.host: a update", "F2.host: a update"]);
    let text = panic_of(|| scene.run_until(async { panic!("on purpose") }, FRAME));
    assert_eq!(text, "on purpose");
    let text = panic_of(|| {
        scene.run_until(
            async {
                stop(current());
                forever().await;
            },
            FRAME,
        );
    });
    assert!(text.contains("`run_until` has no output"), "{text}");
}
