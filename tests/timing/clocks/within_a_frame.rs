use super::*;

fn readings(executor: &Executor, child: &Clock) -> (framestep::Time, Vec<Duration>, f64) {
    let game = executor.clock();
    let readings = vec![game.now(), game.delta(), child.now(), child.delta()];
    (executor.time(), readings, child.effective_scale())
}

// docs/contract.md#time-game-clock
#[test]
fn no_reading_changes_whatever_is_set() {
    let (mut executor, child) = with_child();
    let game = executor.clock();
    executor.run_frame(0.5);
    let before = readings(&executor, &child);
    for _ in 0..2 {
        game.set_scale(4);
        child.set_scale(0.25);
        assert_eq!(readings(&executor, &child), before);
        game.pause();
        child.pause();
        assert_eq!(readings(&executor, &child), before);
        game.resume();
        child.resume();
    }
    executor.run_phase(Phase::Update);
    assert_eq!(readings(&executor, &child), before);
    assert!(is(child.scale(), 0.25));

    executor.begin_frame(0.5);
    assert_eq!((game.now(), game.delta()), (millis(2500), millis(2000)));
    assert_eq!((child.now(), child.delta()), (millis(1000), millis(500)));
    assert!(is(executor.time().scale, 4.0) && is(child.effective_scale(), 1.0));
    assert_eq!(executor.time().unscaled_elapsed, millis(1000));
    assert_eq!(executor.time().unscaled_delta, millis(500));
}

#[test]
fn a_change_before_the_first_frame_shows_in_it() {
    let (mut executor, child) = with_child();
    child.set_scale(0.5);
    assert!(is(child.effective_scale(), 1.0));
    executor.begin_frame(1);
    assert_eq!(child.now(), millis(500));
    assert!(is(child.effective_scale(), 0.5));
}

#[test]
fn the_delta_is_right_in_the_frame_of_the_change_and_after_it() {
    let (mut executor, child) = with_child();
    executor.begin_frame(1);
    executor.begin_frame(1);
    // It has not been read before.
    child.set_scale(0.25);
    assert_eq!((child.now(), child.delta()), (millis(2000), millis(1000)));
    executor.begin_frame(1);
    child.set_scale(0);
    assert_eq!((child.now(), child.delta()), (millis(2250), millis(250)));
    executor.begin_frame(1);
    assert_eq!((child.now(), child.delta()), (millis(2250), Duration::ZERO));
}

#[test]
fn a_clock_begins_at_zero_and_continues_with_the_next_frame() {
    let mut executor = unclamped();
    executor.begin_frame(1);
    let child = executor.clock().child();
    assert_eq!(
        (child.now(), child.delta()),
        (Duration::ZERO, Duration::ZERO)
    );
    executor.begin_frame(0.5);
    assert_eq!((child.now(), child.delta()), (millis(500), millis(500)));
}
