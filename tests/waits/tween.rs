//! `animate` with a curve and in rounds.

#![expect(clippy::float_cmp, reason = "these values are exact")]

use std::cell::RefCell;
use std::rc::Rc;

use framestep::prelude::*;
use framestep::wait::{Ease, Easing, Tween};
use futures::FutureExt;

use framestep_testkit::timeline::unclamped;
use framestep_testkit::{panic_text, update};

type Values = Rc<RefCell<Vec<f32>>>;

/// Starts an animation of `make`, which gets the closure to animate.
fn values<C: Easing + 'static>(
    executor: &Executor,
    make: impl FnOnce(Box<dyn FnMut(f32)>) -> Tween<Box<dyn FnMut(f32)>, C>,
) -> (Coroutine<()>, Values) {
    let values = Values::default();
    let push = values.clone();
    let tween = make(Box::new(move |t| push.borrow_mut().push(t)));
    (executor.start(tween), values)
}

// docs/contract.md#law-animate
#[test]
fn rounds_begin_on_schedule_between_two_frames() {
    let mut executor = unclamped();
    let (script, values) = values(&executor, |apply| animate(0.75, apply).repeat(3));
    executor.run_frames(4, 0.5);
    assert_eq!(
        *values.borrow(),
        [0.0, 2.0 / 3.0, 1.0 / 3.0, 0.0, 2.0 / 3.0]
    );
    executor.run_frame(0.5);
    assert_eq!(values.borrow().last(), Some(&1.0));
    assert!(script.is_finished());
}

#[test]
fn every_other_round_runs_backwards_and_an_even_number_ends_where_it_began() {
    for (rounds, expected) in [
        (1, &[0.0, 0.5, 1.0][..]),
        (2, &[0.0, 0.5, 1.0, 0.5, 0.0]),
        (3, &[0.0, 0.5, 1.0, 0.5, 0.0, 0.5, 1.0]),
    ] {
        let mut executor = unclamped();
        let (script, values) = values(&executor, |apply| animate(0.5, apply).yoyo().repeat(rounds));
        executor.run_frames(2 * u64::from(rounds), 0.25);
        assert_eq!(*values.borrow(), expected);
        assert!(script.is_finished());
    }
}

#[test]
fn a_thousand_rounds_do_not_drift() {
    let mut executor = unclamped();
    let (script, values) = values(&executor, |apply| animate(0.1, apply).repeat(1000).yoyo());
    let wait = executor.start(wait_seconds(100));
    while !wait.is_finished() {
        executor.run_frame(1.0 / 128.0);
        let seconds = executor.time().elapsed.as_secs_f64() % 0.2;
        let share = 1.0 - (seconds - 0.1).abs() / 0.1;
        let error = (f64::from(*values.borrow().last().unwrap()) - share).abs();
        assert!(error < 1e-5, "{error} after {:?}", executor.time().elapsed);
    }
    assert!(script.is_finished());
}

#[test]
fn rounds_without_end_go_on_until_they_are_dropped() {
    let mut executor = unclamped();
    let (script, values) = values(&executor, |apply| animate(1, apply).repeat_forever());
    executor.run_frames(4_003, 0.25);
    assert_eq!(values.borrow().last(), Some(&0.75));
    script.stop();
    executor.run_frame(0.25);
    assert_eq!(values.borrow().len(), 4_004);
}

#[test]
fn a_pause_and_a_stopped_clock_hold_a_round_where_it_is() {
    let mut executor = unclamped();
    let (script, values) = values(&executor, |apply| animate(1, apply).repeat(2));
    executor.run_frame(0.25);
    script.pause();
    executor.run_frames(9, 0.25);
    script.resume();
    executor.run_frame(0.25);
    executor.clock().pause();
    executor.run_frames(2, 0.25);
    executor.clock().resume();
    executor.run_frames(3, 0.25);
    assert_eq!(
        *values.borrow(),
        [0.0, 0.25, 0.5, 0.5, 0.5, 0.75, 0.0, 0.25]
    );
}

#[test]
fn it_moves_to_another_coroutine_as_it_is() {
    let mut executor = unclamped();
    let values = Values::default();
    let push = values.clone();
    let slot = Rc::new(RefCell::new(None));
    let kept = slot.clone();
    executor.start(async move {
        let mut tween = animate(1, move |t| push.borrow_mut().push(t))
            .repeat(2)
            .yoyo();
        assert!((&mut tween).now_or_never().is_none());
        kept.replace(Some(tween));
    });
    executor.run_frame(0.25);
    let tween = slot.take().unwrap();
    let moved = executor.start(tween);
    executor.run_frames(7, 0.25);
    assert_eq!(
        *values.borrow(),
        [0.0, 0.25, 0.5, 0.75, 1.0, 0.75, 0.5, 0.25, 0.0]
    );
    assert!(moved.is_finished());
}

#[test]
fn on_fixed_steps_it_counts_steps() {
    let mut executor = Executor::builder().fixed_delta(0.25).max_delta(1).build();
    let (script, values) = values(&executor, |apply| {
        animate(0.5, apply).repeat(2).in_phase(Phase::FixedUpdate)
    });
    executor.run_frame(1);
    assert_eq!(*values.borrow(), [0.0, 0.5, 0.0, 0.5, 1.0]);
    assert!(script.is_finished());
}

#[test]
fn lengths_at_the_edges() {
    let last = |mut executor: Executor, seconds: f64, rounds: Option<u32>| {
        let (script, values) = values(&executor, |apply| match rounds {
            Some(rounds) => animate(seconds, apply).repeat(rounds),
            None => animate(seconds, apply).repeat_forever(),
        });
        executor.run_frames(3, 0.25);
        let last = *values.borrow().last().unwrap();
        (last, script.is_finished())
    };
    assert_eq!(last(unclamped(), 0.0, Some(5)), (1.0, true));
    assert_eq!(last(unclamped(), -1.0, Some(0)), (1.0, true));
    assert_eq!(last(unclamped(), 0.0, None), (0.0, false));
    assert_eq!(last(unclamped(), f64::INFINITY, Some(2)), (0.0, false));
    assert_eq!(last(unclamped(), f64::INFINITY, None), (0.0, false));
    assert!(!last(unclamped(), 1e10, Some(u32::MAX)).1);
    assert_eq!(last(unclamped(), 0.5, Some(u32::MAX)), (0.5, false));
}

#[test]
fn a_curve_may_overshoot_and_any_function_is_one() {
    let mut executor = unclamped();
    let (back, overshoots) = values(&executor, |apply| animate(1, apply).ease(Ease::OutBack));
    let power = 3;
    let (_, captures) = values(&executor, |apply| {
        animate(1, apply)
            .ease(move |t: f32| t.powi(power))
            .repeat(2)
    });
    let (_, named) = values(&executor, |apply| animate(1, apply).ease(f32::sqrt).yoyo());
    executor.run_frames(4, 0.25);
    assert!(back.is_finished());
    assert!(overshoots.borrow()[3] > 1.0);
    assert_eq!(overshoots.borrow().last(), Some(&1.0));
    assert_eq!(captures.borrow()[..3], [0.0, 1.0 / 64.0, 1.0 / 8.0]);
    assert_eq!(named.borrow()[1], 0.5);
}

#[test]
fn a_curve_that_returns_no_number_panics_and_names_the_line_of_ease() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut executor = unclamped();
        let calls = Values::default();
        let push = calls.clone();
        let plain = animate(1, move |t| push.borrow_mut().push(t));
        let line = line!() + 1;
        let tween = plain.ease(move |t| if t < 0.5 { t } else { bad });
        let script = executor.start(tween.repeat(2));
        executor.run_frames(3, 0.25);
        assert_eq!(*calls.borrow(), [0.0, 0.25]);
        let text = panic_text(&*script.take_output().unwrap().unwrap_err().into_panic());
        let at = format!("{}:{line}:", file!());
        assert!(
            text.contains(&at) && text.contains(&format!("returned {bad} for 0.5")),
            "{text}"
        );
    }
}

#[test]
fn a_length_of_nan_names_the_line_of_animate() {
    let executor = unclamped();
    let line = line!() + 1;
    let script = executor.start(animate(f32::NAN, |_| ()).ease(Ease::Linear).repeat(2));
    let text = panic_text(&*script.take_output().unwrap().unwrap_err().into_panic());
    assert!(text.contains(&format!("{}:{line}:", file!())), "{text}");
}

#[test]
fn what_has_begun_takes_no_settings() {
    type Change = fn(Tween<fn(f32)>);
    let changes: [Change; 5] = [
        |tween| drop(tween.ease(Ease::InQuad)),
        |tween| drop(tween.repeat(2)),
        |tween| drop(tween.repeat_forever()),
        |tween| drop(tween.yoyo()),
        |tween| drop(tween.in_phase(Phase::Update)),
    ];
    for change in changes {
        let script = unclamped().start(async move {
            let mut tween = animate(1, (|_| ()) as fn(f32)).repeat(1);
            assert!((&mut tween).now_or_never().is_none());
            change(tween);
        });
        let text = panic_text(&*script.take_output().unwrap().unwrap_err().into_panic());
        assert!(text.contains("has begun"), "{text}");
    }
}

#[test]
fn each_curve_begins_at_0_and_ends_at_1_and_out_is_the_reverse_of_in() {
    use Ease::*;
    let curves = [
        Linear,
        Smooth,
        InQuad,
        OutQuad,
        InOutQuad,
        InCubic,
        OutCubic,
        InOutCubic,
        InQuart,
        OutQuart,
        InOutQuart,
        InBack,
        OutBack,
        InOutBack,
        InBounce,
        OutBounce,
        InOutBounce,
    ];
    for ease in curves {
        assert_eq!(
            [-1.0, 0.0, 1.0, 2.0].map(|t| ease.at(t)),
            [0.0, 0.0, 1.0, 1.0],
            "{ease:?}"
        );
        assert!(ease.at(f32::NAN).is_nan());
        // No jump anywhere.
        let values: Vec<f32> = (0..=1000_u16)
            .map(|t| ease.at(f32::from(t) / 1000.0))
            .collect();
        let step = values
            .windows(2)
            .map(|two| (two[1] - two[0]).abs())
            .fold(0.0, f32::max);
        assert!(step < 0.01, "{ease:?} jumps by {step}");
        assert!(
            values.iter().all(|value| (-0.11..=1.11).contains(value)),
            "{ease:?}"
        );
    }
    for (first, second) in [
        (InQuad, OutQuad),
        (InCubic, OutCubic),
        (InQuart, OutQuart),
        (InBack, OutBack),
        (InBounce, OutBounce),
        (InOutQuad, InOutQuad),
        (InOutBounce, InOutBounce),
        (Smooth, Smooth),
    ] {
        for t in [0.1, 0.25, 0.5, 0.8] {
            let sum = first.at(t) + second.at(1.0 - t);
            assert!((sum - 1.0).abs() < 1e-6, "{first:?} at {t}: {sum}");
        }
    }
    // The figures of easings.net.
    assert_eq!(OutBounce.at(1.0 / 2.75 / 2.0), 7.5625 / 2.75 / 2.75 / 4.0);
    assert!((InBack.at(0.5) - -0.087_697_5).abs() < 1e-6);
}

#[test]
fn it_allocates_nothing_and_is_dropped_like_any_wait() {
    let mut executor = unclamped();
    let script = executor.start(async {
        let mut sum = 0.0;
        select! {
            () = animate(1, |t| sum += t).ease(Ease::InOutCubic).repeat_forever().yoyo() => {}
            _ = wait_seconds(10) => {}
        }
        sum
    });
    update(&mut executor, 0.25);
    assert_eq!(
        framestep_testkit::allocations_of(|| executor.run_frames(30, 0.25)),
        0
    );
    executor.run_frames(30, 0.25);
    assert!(script.take_output().unwrap().unwrap() > 0.0);
}
