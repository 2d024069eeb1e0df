//! `on`: a future of a script on another clock, saved in the middle of it.

use std::pin::pin;
use std::task::Poll;

use framestep_durable::prelude::*;

use crate::twin::{Game, Log, MOMENTS, log, moment, quiet, what};

fn scale() -> f64 {
    time().scale
}

/// Reads the time when it is dropped.
struct SaysScale(&'static str);

impl Drop for SaysScale {
    fn drop(&mut self) {
        let line = format!("{} at {}", self.0, scale());
        // The world may not be lent.
        drop(defer(move |log: &mut Log| log.push(line)));
    }
}

#[durable]
async fn counts(clock: ClockId, below: ClockId) {
    let share = |share: f32| with(|log: &mut Log| log.push(format!("{share}")));
    on_clock(clock.clock(), async {
        log(format!("inside {}", scale()));
        let _says = SaysScale("left");
        wait_seconds(0.05).await;
        join!(
            animate(0.04, share),
            on_clock(below.clock(), wait_seconds(0.03))
        );
        let mut ticks = interval(0.02).in_phase(Phase::FixedUpdate);
        for _ in 0..3 {
            log(format!("{:?}", ticks.tick().await));
        }
        let slow = timeout(0.02, wait_frames(9)).await;
        log(format!("{slow:?} {}", delta_seconds()));
    })
    .await;
    log(format!("after it {}", scale()));
    // The clock of a wait that is given up does not count any more.
    let first = select! {
        _ = on_clock(below.clock(), async {
            let _says = SaysScale("given up");
            wait_seconds(9).await;
        }) => "below",
        _ = wait_seconds(0.1) => "own",
    };
    log(first);
    wait_seconds(0.1).await;
}

#[durable]
async fn pauses(other: ScriptId, clock: ClockId) {
    wait_seconds(0.2).await;
    log(format!("paused {}", pause(other)));
    clock.clock().set_scale(2);
    wait_seconds(0.3).await;
    log(format!("resumed {}", resume(other)));
    clock.clock().set_scale(0.25);
}

#[durable]
async fn begins_and_moves(clock: ClockId) {
    // The wait keeps the clock on which it has begun.
    let mut wait = pin!(wait_seconds(0.3));
    std::future::poll_fn(|cx| {
        assert!(wait.as_mut().poll(cx).is_pending());
        Poll::Ready(())
    })
    .await;
    // As scripts of framestep name it.
    let clock = &clock;
    on_clock(clock.clock(), wait).await;
    log("moved");
}

fn blank() -> Runtime {
    let registry = Registry::new()
        .script(counts)
        .script(pauses)
        .script(begins_and_moves)
        .script(menu)
        .script(wrong);
    quiet(registry)
}

#[test]
fn all_that_counts_time_inside_counts_on_the_clock_across_saves() {
    let game = Game {
        blank,
        begin: |runtime, log: &mut Log| {
            let slow = runtime.enter(|| ClockId::GAME.child());
            runtime.enter(|| slow.clock()).set_scale(0.5);
            let below = runtime.enter(|| slow.child());
            let menu = runtime.enter(|| ClockId::REALTIME.child());
            runtime.enter(|| menu.clock()).set_scale(0.25);
            runtime.lend(log, |runtime| {
                let first = runtime.spawn(counts(slow, below)).id();
                runtime
                    .enter(|| start_in(Phase::FixedUpdate, counts(below, menu)))
                    .detach();
                let owner = runtime.enter(|| owner_on(menu));
                runtime
                    .enter(|| owner.start(counts(ClockId::GAME, slow)))
                    .detach();
                runtime.start(counts(ClockId::REALTIME, menu)).detach();
                runtime.start(begins_and_moves(below)).detach();
                runtime.start(pauses(first, slow)).detach();
            });
        },
        frame: moment,
        frames: 9 * MOMENTS,
    };
    let log = game.assert_like_its_twin();
    let says = |words: &str| what(&log).contains(&words);
    for words in ["inside 0.5", "left at 0.25", "after it 1", "own", "moved"] {
        assert!(says(words), "{words}: {log:#?}");
    }
    assert!(says("given up at 0.25"), "{log:#?}");
}

#[durable]
async fn menu() {
    let _held = clock().pause_guard();
    on_clock(
        realtime(),
        animate(0.5, |share| {
            with(|log: &mut Log| log.push(format!("{share}")));
        }),
    )
    .await;
}

#[test]
fn on_realtime_a_menu_slides_in_while_the_game_is_held() {
    let game = Game {
        blank,
        begin: |runtime, log: &mut Log| runtime.lend(log, |runtime| runtime.start(menu()).detach()),
        frame: moment,
        frames: 6 * MOMENTS,
    };
    assert_eq!(game.assert_like_its_twin().last().unwrap(), "1");
}

#[durable]
async fn wrong(clock: ClockId) {
    on_clock(clock.clock(), wait_seconds(1)).await;
}

#[test]
fn a_clock_that_the_runtime_does_not_have_is_an_error_with_its_number() {
    let runtime = blank();
    let other = blank();
    other.enter(|| ClockId::GAME.child());
    let foreign = other.enter(|| ClockId::GAME.child());
    let script = runtime.start(wrong(foreign));
    let Some(Err(JoinError::Panicked(why))) = runtime.take(script) else {
        panic!("it has not panicked");
    };
    assert!(why.contains("the runtime has no clock ClockId(3)"), "{why}");
}

#[test]
fn it_says_what_it_is_and_drops_its_future_anywhere() {
    let held = std::rc::Rc::new(());
    let game = blank().enter(|| ClockId::GAME.clock());
    let on = on_clock(&game, std::future::ready(held.clone()));
    let said = format!("{on:?}");
    assert!(said.starts_with("On { clock: Clock {"), "{said}");
    assert!(said.ends_with("done: false, .. }"), "{said}");
    drop(on);
    assert_eq!(std::rc::Rc::strong_count(&held), 1);
}
