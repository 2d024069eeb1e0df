use super::*;

#[test]
fn max_delta_cuts_before_the_scale_multiplies() {
    let mut executor = Executor::builder().max_delta(0.5).build();
    executor.on_report(|_| ());
    let child = executor.clock().child();
    executor.clock().set_scale(4);
    child.set_scale(0.5);
    executor.begin_frame(10);
    assert_eq!(executor.time().elapsed, millis(2000));
    assert_eq!(child.now(), millis(1000));
    assert_eq!(executor.time().unscaled_elapsed, millis(10_000));
}

#[test]
fn huge_scales_reach_the_end_of_time_and_stay_there() {
    let (mut executor, child) = with_child();
    let wait = executor.start(child.wait_seconds(Duration::from_nanos(u64::MAX)));
    executor.clock().set_scale(f64::MAX);
    child.set_scale(f64::MAX);
    executor.begin_frame(nanos(1));
    let end = nanos(u64::MAX);
    assert_eq!((executor.time().elapsed, child.now()), (end, end));
    assert_eq!((executor.time().delta, child.delta()), (end, end));
    assert!(is(child.effective_scale(), f64::MAX));
    executor.run_phase(Phase::Update);
    assert!(wait.is_finished());
    executor.begin_frame(1);
    assert_eq!((child.now(), child.delta()), (end, Duration::ZERO));
    child.set_scale(0.5);
    executor.begin_frame(1);
    assert_eq!(child.now(), end);
}

#[test]
fn tiny_scales_stand_still_and_their_sum_does_not_drift() {
    let (mut executor, child) = with_child();
    child.set_scale(f64::from_bits(1));
    let slow = executor.clock().child();
    slow.set_scale(1e-9);
    // Each frame is a thousandth of the time that moves it by a nanosecond.
    for _ in 0..10_000 {
        executor.begin_frame(0.001);
    }
    assert_eq!(child.now(), Duration::ZERO);
    assert_eq!(slow.now(), nanos(10));
}

#[test]
fn frames_that_are_rounded_do_not_add_up_to_an_error() {
    let (mut executor, child) = with_child();
    child.set_scale(0.1);
    let third = executor.clock().child();
    third.set_scale(1.0 / 3.0);
    for _ in 0..3 * 1_234 {
        executor.begin_frame(nanos(5));
    }
    assert_eq!(child.now(), nanos(3 * 617));
    assert_eq!(third.now(), nanos(5 * 1_234));
}

#[test]
fn bad_scales_are_refused_and_change_nothing() {
    let (mut executor, child) = with_child();
    child.set_scale(0.5);
    for bad in [
        -1.0,
        -f64::MIN_POSITIVE,
        f64::NAN,
        f64::INFINITY,
        -f64::INFINITY,
    ] {
        let text = panic_of(|| child.set_scale(bad));
        assert!(
            text.contains(&format!("got {bad}, which is no scale")),
            "{text}"
        );
        assert!(text.contains("a finite number of zero or more"), "{text}");
        assert!(is(child.scale(), 0.5));
    }
    executor.begin_frame(1);
    assert_eq!(child.now(), millis(500));
    child.set_scale(-0.0);
    assert!(is(child.scale(), 0.0));
}

#[test]
fn a_bad_scale_is_blamed_on_the_caller() {
    let child = with_child().1;
    let here = format!("{}:{}", file!(), line!() + 1);
    let place = place_of_panic(|| child.set_scale(-1));
    assert_eq!(place, here);
}

#[test]
fn a_scale_may_be_any_number_that_an_f64_can_be() {
    let child = with_child().1;
    child.set_scale(2);
    child.set_scale(0.5_f32);
    child.set_scale(3_u8);
    assert!(is(child.scale(), 3.0));
}
