//! Shorthand calls for hosts: several frames, a frame with state, how long to
//! sleep.

use std::time::Duration;

use framestep::prelude::*;

use framestep_testkit::forever;
use framestep_testkit::timeline::{Log, unclamped};

#[test]
fn several_frames_are_each_like_one() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        loop {
            say.say(time().elapsed.as_millis());
            next_frame().await;
        }
    });
    executor.run_frames(0, 0.25);
    executor.run_frames(2, 0.25);
    log.check(&["F0: 0", "F1: 250", "F2: 500"]);
}

#[test]
fn a_frame_with_state_lends_it_to_all_phases() {
    let mut executor = unclamped();
    executor.spawn(async {
        with(|names: &mut Vec<&str>| names.push("update"));
        end_of_frame().await;
        with(|names: &mut Vec<&str>| names.push("end"));
        next_frame().await;
        assert!(framestep::lend::try_with(|_: &mut Vec<&str>| ()).is_err());
    });
    let mut names: Vec<&str> = Vec::new();
    executor.run_frame_with(&mut names, 0.25);
    assert_eq!(names, ["update", "end"]);
    executor.run_frame(0.25);
    executor.assert_empty();
}

#[test]
fn a_host_may_sleep_until_the_earliest_timer_unless_a_script_wants_a_frame() {
    let mut executor = unclamped();
    let zero = Some(Duration::ZERO);
    assert_eq!(executor.idle_until(), None);
    executor.start(wait_seconds(3));
    let sleeper = executor.start(wait_seconds(2));
    assert_eq!(executor.idle_until(), Some(Duration::from_secs(2)));
    executor.run_frame(0.5);
    assert_eq!(executor.idle_until(), Some(Duration::from_millis(1500)));
    let spawned = executor.spawn(forever());
    assert_eq!(executor.idle_until(), zero);
    executor.run_frame(0);
    sleeper.stop();
    spawned.stop();
    assert_eq!(executor.idle_until(), Some(Duration::from_millis(2500)));
    executor.clock().pause();
    executor.run_frame(0);
    assert_eq!(executor.idle_until(), None);
    executor.start(wait_until(|| false));
    assert_eq!(executor.idle_until(), zero);
}
