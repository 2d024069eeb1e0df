use super::*;

#[test]
fn others_are_stopped_at_once_and_oneself_at_the_next_wait() {
    let mut executor = unclamped();
    let log = Log::new();
    let guard = log.on_drop("the other has gone");
    let other = executor.start(async move {
        let _guard = guard;
        forever().await;
    });
    let say = log.clone();
    let own = executor.spawn(async move {
        let _guard = say.on_drop("oneself, too");
        with(|gold: &mut Gold| {
            assert!(stop(other.id()) && stop(current()));
            say.say("in the closure");
            gold.0 += 1;
        });
        say.say("after it");
        with(|gold: &mut Gold| gold.0 += 1);
        next_frame().await;
        say.say("never");
    });
    let mut gold = Gold(0);
    lend_frame(&mut executor, &mut gold);
    lend_frame(&mut executor, &mut gold);
    log.check(&[
        "the other has gone",
        "F1: in the closure",
        "F1: after it",
        "oneself, too",
    ]);
    assert!(own.is_finished());
    assert_eq!(gold.0, 2);
}

#[test]
fn wakes_arrive_after_the_closure_later_in_the_run() {
    let mut executor = unclamped();
    let log = Log::new();
    let (sender, receiver) = async_channel::bounded::<()>(1);
    let say = log.clone();
    executor.spawn(async move {
        receiver.recv().await.unwrap();
        with(|gold: &mut Gold| gold.0 += 1);
        say.say("woken");
    });
    let say = log.clone();
    executor.spawn(async move {
        next_frame().await;
        with(|gold: &mut Gold| {
            sender.try_send(()).unwrap();
            gold.0 += 1;
            say.say("has woken it");
        });
        say.say("goes on first");
    });
    let mut gold = Gold(0);
    lend_frame(&mut executor, &mut gold);
    lend_frame(&mut executor, &mut gold);
    log.check(&["F2: has woken it", "F2: goes on first", "F2: woken"]);
    assert_eq!(gold.0, 2);
}

#[test]
fn a_wait_may_be_made_inside_and_awaited_outside() {
    let mut timeline = Timeline::with_dt(0.25);
    let mut gold = Gold(2);
    timeline.frames_are(move |executor, dt| {
        executor.lend(&mut gold, |executor| executor.run_frame(dt));
    });
    timeline.row("waits", |mark| async move {
        next_frame().await;
        with(|gold: &mut Gold| wait_frames(gold.0.into())).await;
        mark.hit();
    });
    timeline.check(
        "
        frame 0 1 2 3
        waits - - - *
        ",
    );
}
