use super::*;

#[test]
fn next_deadline_counts_the_dt_that_is_missing() {
    let (mut executor, child) = with_child();
    let wait = executor.start(child.wait_seconds(1));
    assert_eq!(executor.next_deadline(), Some(millis(1000)));
    child.set_scale(0.5);
    // With one nanosecond less, half of one remains, which the clock rounds up. Hosts and people
    // expect the length itself.
    assert_eq!(executor.next_deadline(), Some(millis(2000)));
    executor.clock().set_scale(4);
    assert_eq!(executor.next_deadline(), Some(millis(500)));
    update(&mut executor, 0.25);
    assert_eq!(executor.next_deadline(), Some(millis(250)));
    child.pause();
    assert_eq!(executor.next_deadline(), None);
    update(&mut executor, 5);
    child.resume();
    executor.clock().pause();
    assert_eq!(executor.next_deadline(), None);
    update(&mut executor, 5);
    executor.clock().resume();
    executor.clock().set_scale(1);
    assert_eq!(executor.next_deadline(), Some(millis(1000)));
    update(&mut executor, 1);
    assert!(wait.is_finished());
    assert_eq!(executor.next_deadline(), None);
}

#[test]
fn what_is_due_already_is_due_on_a_clock_that_stands_still() {
    let (executor, child) = with_child();
    child.pause();
    executor.start(child.wait_seconds(0));
    assert_eq!(executor.next_deadline(), Some(Duration::ZERO));
}

#[test]
fn in_the_fixed_phase_nothing_is_due_without_a_step() {
    let builder = Executor::builder().max_delta(UNLIMITED).fixed_delta(2);
    let mut executor = builder.build();
    let child = executor.clock().child();
    executor.clock().set_scale(2);
    child.set_scale(8);
    let wait = child.wait_seconds(2).in_phase(Phase::FixedUpdate);
    let wait = executor.start(wait);
    assert_eq!(executor.next_deadline(), Some(millis(1000)));
    executor.run_frame(millis(999));
    assert!(!wait.is_finished());
    assert_eq!(executor.next_deadline(), Some(millis(1)));
    executor.run_frame(millis(1));
    assert!(wait.is_finished());

    executor.start(wait_seconds_realtime(0.5).in_phase(Phase::FixedUpdate));
    assert_eq!(executor.next_deadline(), Some(millis(1000)));
    executor.start(wait_seconds(0).in_phase(Phase::FixedUpdate));
    assert_eq!(executor.next_deadline(), Some(millis(1000)));
    executor.clock().pause();
    assert_eq!(executor.next_deadline(), None);
}
