//! Guards that scripts take on clocks: in saves, across restores and rollbacks, and at their ends.

use std::cell::RefCell;

use framestep_durable::prelude::*;

use crate::twin::{Game, Log, MOMENTS, log, moment, quiet};

fn blank() -> Runtime {
    let registry = Registry::new()
        .script(scales)
        .script(holds)
        .script(stops)
        .script(forgets)
        .script(refused)
        .script(gives_away);
    quiet(registry)
}

/// Takes guards whose product depends on their order to the last bit, and drops them in another.
#[durable]
async fn scales(clock: ClockId, factors: Vec<f64>) {
    let mut guards = Vec::new();
    for &factor in &factors {
        guards.push(clock.clock().scaled(factor));
        wait_seconds_realtime(0.07).await;
    }
    while !guards.is_empty() {
        drop(guards.swap_remove(guards.len() / 2));
        log(format!(
            "{:?} {}",
            clock.clock().now(),
            clock.clock().effective_scale()
        ));
        wait_seconds_realtime(0.05).await;
        let _short = clock.clock().scaled(1.7);
        next_frame().await;
    }
}

#[durable]
async fn holds(clock: ClockId, frames: u64) -> u64 {
    let _held = clock.clock().pause_guard();
    let _again = clock.clock().pause_guard();
    wait_frames(frames).await;
    frames
}

/// Stops a script that holds a clock.
#[durable]
async fn stops(clock: ClockId) {
    let child = start(holds(clock, 1_000));
    wait_frames(3).await;
    log(format!("held {}", clock.clock().is_paused()));
    stop(child.id());
    log(format!("held {}", clock.clock().is_paused()));
}

#[test]
fn guards_are_saved_and_put_back_and_end_alike() {
    let game = Game {
        blank,
        begin: |runtime, log: &mut Log| {
            let slow = runtime.enter(|| ClockId::GAME.child());
            let below = runtime.enter(|| slow.child());
            runtime.lend(log, |runtime| {
                let factors = vec![0.1, 0.7, 1.3, 0.9];
                runtime.start(scales(slow, factors.clone())).detach();
                runtime.start(scales(slow, vec![1.1, 0.3])).detach();
                runtime.start(scales(ClockId::GAME, factors)).detach();
                runtime.start(scales(below, vec![3.3, 0.2, 0.6])).detach();
                runtime
                    .enter(|| start_in(Phase::FixedUpdate, holds(below, 4)))
                    .detach();
                runtime.start(holds(ClockId::GAME, 1)).detach();
                runtime.start(stops(slow)).detach();
            });
        },
        frame: moment,
        frames: 12 * MOMENTS,
    };
    let log = game.assert_like_its_twin();
    let held = |line: &&String| line.starts_with("held");
    let held: Vec<_> = log.iter().filter(held).collect();
    assert!(
        held[0].starts_with("held true") && held[1].starts_with("held false"),
        "{log:#?}"
    );
}

#[test]
fn when_the_last_guard_is_dropped_the_clock_has_exactly_its_scale() {
    let mut runtime = blank();
    let mut log = Log::new();
    let clock = runtime.enter(|| ClockId::GAME.child());
    runtime.enter(|| clock.clock()).set_scale(0.7);
    runtime.lend(&mut log, |runtime| {
        runtime.start(scales(clock, vec![0.1, 0.3, 0.9])).detach();
    });
    for _ in 0..4 {
        runtime.run_frame_with(&mut log, 0.1);
        let save = runtime.save().unwrap();
        runtime.restore(&save, Policy::Fail).unwrap();
    }
    assert!(runtime.enter(|| clock.clock()).effective_scale() < 0.1);
    while !runtime.scripts().is_empty() {
        runtime.run_frame_with(&mut log, 0.1);
    }
    runtime.run_frame_with(&mut log, 0.1);
    assert_eq!(
        runtime.enter(|| clock.clock()).effective_scale().to_bits(),
        0.7_f64.to_bits()
    );
}

/// What the game clock does when the script that holds it does not come back.
#[test]
fn a_script_that_is_dropped_or_restarted_takes_its_guards_along() {
    #[durable(name = "held")]
    async fn saved(frames: u64) {
        let _held = clock().pause_guard();
        wait_frames(frames).await;
    }

    #[durable(name = "held")]
    async fn changed(frames: u64) {
        wait_seconds(60.0 * frames as f64).await;
    }

    let mut runtime = Runtime::new(Registry::new().script(saved));
    runtime.start(saved(3)).detach();
    runtime.run_frame(0.1);
    assert!(runtime.enter(|| ClockId::GAME.clock()).is_paused());
    let file = runtime.save().unwrap().to_bytes();
    let save = SaveState::from_bytes(&file).unwrap();
    drop(changed(1)); // what the file calls `held`
    for policy in [Policy::Restart, Policy::Drop] {
        let mut runtime = Runtime::new(Registry::new().script(changed));
        runtime.restore(&save, policy).unwrap();
        assert!(!runtime.enter(|| ClockId::GAME.clock()).is_paused());
        runtime.run_frame(0.1);
        assert_eq!(runtime.time().elapsed.as_millis(), 100);
        runtime.save().unwrap();
    }
    // It holds the clock until its wait ends: at the second frame from here.
    let mut runtime = Runtime::new(Registry::new().script(changed));
    runtime.restore(&save, Policy::RestartAfterWait).unwrap();
    for held in [true, false] {
        assert!(runtime.enter(|| ClockId::GAME.clock()).is_paused());
        runtime.run_frame(0.1);
        assert_eq!(runtime.enter(|| ClockId::GAME.clock()).is_paused(), held);
    }
    let mut runtime = Runtime::new(Registry::new().script(saved));
    runtime.restore(&save, Policy::Fail).unwrap();
    assert!(runtime.enter(|| ClockId::GAME.clock()).is_paused());
}

#[test]
fn a_rollback_to_before_a_guard_ends_it_and_one_to_within_it_holds_again() {
    let mut runtime = blank();
    let clock = runtime.enter(|| ClockId::GAME.child());
    let before = runtime.save_state().unwrap();
    runtime.start(holds(clock, 2)).detach();
    let within = runtime.save_state().unwrap();
    let is_held = |runtime: &Runtime| runtime.enter(|| clock.clock()).is_paused();
    assert!(is_held(&runtime));
    runtime.rollback(&before).unwrap();
    assert!(!is_held(&runtime));
    runtime.rollback(&within).unwrap();
    assert!(is_held(&runtime));
    for _ in 0..2 {
        runtime.run_frame(0.1);
    }
    assert!(!is_held(&runtime), "the script has ended");
    runtime.rollback(&within).unwrap();
    let file = runtime.save().unwrap().to_bytes();
    runtime
        .restore(&SaveState::from_bytes(&file).unwrap(), Policy::Fail)
        .unwrap();
    assert!(is_held(&runtime));
    // An empty runtime takes over.
    let file = blank().save().unwrap().to_bytes();
    runtime
        .restore(&SaveState::from_bytes(&file).unwrap(), Policy::Fail)
        .unwrap();
    runtime.save().unwrap();
}

#[test]
fn a_guard_of_the_host_beside_those_of_scripts_is_refused() {
    let runtime = blank();
    runtime.start(holds(ClockId::GAME, 2)).detach();
    let save = runtime.save().unwrap();
    let mut runtime = runtime;
    for guard in [
        runtime.enter(|| ClockId::GAME.clock()).pause_guard(),
        runtime.enter(|| ClockId::GAME.clock()).scaled(0.5),
    ] {
        let error = runtime.save().unwrap_err().to_string();
        for part in [
            "a guard holds a clock or scales it",
            "`pause` and `set_scale`",
        ] {
            assert!(error.contains(part), "{error}");
        }
        let error = runtime.restore(&save, Policy::Fail).unwrap_err();
        assert!(
            error.to_string().contains("a guard holds a clock"),
            "{error}"
        );
        assert!(runtime.rollback(&save).is_err());
        drop(guard);
    }
    runtime.save().unwrap();
    runtime.rollback(&save).unwrap();
}

#[durable]
async fn forgets() {
    std::mem::forget(clock().pause_guard());
}

#[test]
fn one_that_is_forgotten_is_saved_as_long_as_its_clock() {
    let mut runtime = blank();
    runtime.start(forgets()).detach();
    let save = runtime.save().unwrap();
    assert!(
        save.to_string().contains("a guard of #1 holds clock 0"),
        "{save}"
    );
    runtime.rollback(&save).unwrap();
    let mut twin = blank();
    twin.restore(&save, Policy::Fail).unwrap();
    for runtime in [runtime, twin] {
        assert!(runtime.enter(|| ClockId::GAME.clock()).is_paused());
    }
}

thread_local! {
    static GIVEN: RefCell<Vec<ClockGuard>> = const { RefCell::new(Vec::new()) };
}

/// Gives its guard to the host, which is not allowed to keep it across a restore.
#[durable]
async fn gives_away() {
    let guard = clock().pause_guard();
    GIVEN.with_borrow_mut(|given| given.push(guard));
    wait_frames(2).await;
}

#[test]
fn one_that_has_left_its_script_ends_its_own_part_or_nothing() {
    let mut runtime = blank();
    runtime.start(gives_away()).detach();
    let is_held = |runtime: &Runtime| runtime.enter(|| ClockId::GAME.clock()).is_paused();
    for _ in 0..3 {
        runtime.run_frame(0.1);
    }
    assert!(is_held(&runtime));
    drop(GIVEN.take());
    assert!(!is_held(&runtime));

    runtime.start(gives_away()).detach();
    let save = runtime.save_state().unwrap();
    runtime.restore(&save, Policy::Fail).unwrap();
    assert_eq!(
        GIVEN.with_borrow(Vec::len),
        2,
        "another one, for the replay"
    );
    let from_before = GIVEN.with_borrow_mut(|given| given.remove(0));
    drop(from_before);
    assert!(is_held(&runtime));
    drop(GIVEN.take());
    assert!(!is_held(&runtime));
}

/// Tries what a clock refuses, and catches it.
#[durable]
async fn refused(which: u32) {
    let call: fn() = match which {
        0 => || drop(realtime().pause_guard()),
        1 => || drop(clock().scaled(-1)),
        2 => || clock().set_scale(f64::NAN),
        3 => || {
            realtime().pause();
        },
        // Of another executor.
        _ => || drop(framestep::Executor::new().clock().scaled(2)),
    };
    call();
}

#[test]
fn what_a_clock_refuses_names_the_call() {
    let runtime = blank();
    let says = [
        "`pause_guard` at crates/framestep_durable/tests/it/guards.rs",
        "got -1, which is no scale",
        "got NaN, which is no scale",
        "on the realtime clock, which cannot be scaled",
        "`scaled` at crates/framestep_durable/tests/it/guards.rs",
    ];
    for (which, says) in (0..).zip(says) {
        let script = runtime.start(refused(which));
        let Some(Err(JoinError::Panicked(why))) = runtime.take(script) else {
            panic!("{which} has not panicked");
        };
        assert!(why.contains(says), "{why}");
    }
    runtime.save().unwrap();
}
