//! A script that knows only `framestep`: plain executors and runtimes of durable scripts run it alike.

use std::cell::RefCell;

use framestep::combine::when_each;
use framestep::lend::{defer, defer_call};
use framestep::sync::Promise;
use framestep::task::{is_stop_requested, stop_requested};
use framestep::time::{clock, realtime};
use framestep::wait::{
    ChangesOf, Ease, MissedTicks, animate, every_frames, in_phase, on_clock, timeout, yield_now,
};
use framestep::{
    Phase, fixed_update, interval, next_frame, time, wait_frames, wait_seconds, wait_until,
};

/// What a host lends to it.
#[derive(Debug, Default)]
pub struct World {
    pub log: Vec<String>,
}

/// Says how far it is: in rounds, and on two ways without drift between them.
async fn there_and_back(say: &mut dyn FnMut(&str)) {
    let turn = |share: f32| say(&format!("{share:.2}"));
    animate(0.25, turn)
        .ease(Ease::InQuad)
        .repeat(3)
        .yoyo()
        .await;
    let say = RefCell::new(say);
    let leg = |name: &'static str| {
        let say = &say;
        move |share: f32| say.borrow_mut()(&format!("{name} {share:.2}"))
    };
    animate(0.15, leg("there"))
        .then(animate(0.25, leg("back")).ease(Ease::OutQuad))
        .repeat(2)
        .await;
}

/// Says what it does, with the frame.
pub async fn patrol(mut say: impl FnMut(String)) {
    let mut say = |what: &str| say(format!("{what} in frame {}", time().frame));
    next_frame().await;
    say("next_frame");
    wait_until(|| time().frame > 4).await;
    say("wait_until");
    let limited = timeout(0.45, wait_seconds(0.2)).await;
    say(&format!("timeout {limited:?}"));
    let limited = timeout(0.25, wait_frames(100)).await;
    say(&format!("timeout {limited:?}"));
    let mut moved = wait_seconds(9);
    framestep::select! {
        () = &mut moved => say("too early"),
        () = wait_frames(2) => moved.reset(0.3),
    }
    moved.await;
    say("a moved wait");
    in_phase(Phase::LateUpdate).await;
    say(&format!("{:?}", time().phase));
    fixed_update().await;
    say(&format!("{:?}", time().phase));
    framestep::join!(wait_frames(3), wait_seconds(0.7), next_frame());
    say("join");
    yield_now().await;
    say("yield_now");
    let mut third = every_frames(3);
    for _ in 0..2 {
        let item = third.next().await.unwrap();
        say(&format!("item of frame {}", item.frame));
    }
    let mut beat = interval(0.25).first_after(0.1);
    for _ in 0..3 {
        say(&format!("{:?}", beat.tick().await));
    }
    wait_seconds(0.6).await;
    say(&format!("{} ticks", beat.ticks().await));
    beat.reset();
    framestep::select! {
        tick = beat.tick() => say(&format!("{tick:?}")),
        () = wait_frames(50) => say("too late"),
    }
    let mut cools = interval(0.15)
        .missed_ticks(MissedTicks::Delay)
        .in_phase(Phase::LateUpdate);
    for _ in 0..3 {
        say(&format!("{:?}", cools.tick().await));
    }
    animate(0.35, |share| say(&format!("{share:.2}"))).await;
    there_and_back(&mut say).await;
    let (game, real) = (clock(), realtime());
    say(&format!("{:?}, {:?}", game.now(), real.delta()));
    let mut beat = interval(0.2);
    {
        let _slow = game.scaled(0.5);
        let _slower = game.scaled(0.5);
        on_clock(&real, async {
            wait_seconds(0.25).await;
            say(&format!("realtime {:?}", time().elapsed));
            animate(0.15, |share| say(&format!("{share:.2}"))).await;
            beat.tick().await;
        })
        .await;
        game.wait_seconds(0.05).await;
        say(&format!(
            "scales {} {}",
            game.scale(),
            game.effective_scale()
        ));
    }
    say(&format!("on realtime still {:?}", beat.tick().await));
    {
        let _held = game.pause_guard();
        say(&format!("held: {}", game.is_paused()));
        on_clock(realtime(), wait_seconds(0.2)).await;
    }
    game.set_scale(2);
    wait_seconds(0.5).await;
    game.set_scale(1);
    say(&format!("paused: {} {}", game.pause(), game.resume()));
    let _left = defer(|world: &mut World| world.log.push("left".into()));
    let silent = defer(|world: &mut World| world.log.push("cancelled".into()));
    {
        let _block = defer_call(|| ());
        let _block = defer(|world: &mut World| world.log.push("left a block".into()));
        next_frame().await;
    }
    say(&format!("asked: {}", is_stop_requested()));
    silent.cancel();
    framestep::select! {
        () = stop_requested() => say("asked to stop"),
        () = wait_seconds(60) => say("too late"),
    }
    say(&format!("asked: {}", is_stop_requested()));
    next_frame().await;
}

/// Says what it is given: an answer, which comes late, one that has come, and levels.
pub async fn listen<F: Fn() -> u64>(
    [mut answer, mut known]: [Promise<u32>; 2],
    mut levels: ChangesOf<u64, F>,
    mut say: impl FnMut(String),
) {
    let mut say = |what: &str| say(format!("{what} in frame {}", time().frame));
    say(&format!("known {:?}", known.try_take()));
    say(&format!("known {:?}", known.try_take()));
    framestep::select! {
        answer = &mut answer => say(&format!("too early: {answer:?}")),
        () = wait_frames(2) => say(&format!("no answer: {:?}", answer.try_take())),
    }
    for _ in 0..2 {
        say(&format!("level {:?}", levels.next().await));
    }
    let limited = timeout(0.2, &mut answer).await;
    say(&format!("answer {limited:?}"));
    say(&format!("answer {:?}", answer.await));
    say(&format!("level {:?}", levels.next().await));
    let mut each = when_each([4, 2, 1].map(wait_frames));
    while let Some((index, ())) = each.next().await {
        say(&format!("future {index}"));
    }
}
