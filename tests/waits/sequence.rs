//! Animations one after the other: `then`.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use framestep::prelude::*;
use framestep::wait::Ease;

use framestep_testkit::timeline::unclamped;
use framestep_testkit::{panic_text, update};

/// The panic of `f`.
fn told(f: impl FnOnce()) -> String {
    panic_text(&*catch_unwind(AssertUnwindSafe(f)).unwrap_err())
}

/// What was called: the name of a leg and its value, a line for each frame.
#[derive(Clone, Default)]
struct Calls(Rc<RefCell<String>>);

impl Calls {
    fn leg(&self, name: &'static str) -> impl FnMut(f32) + 'static {
        let calls = self.clone();
        move |value| write!(calls.0.borrow_mut(), " {name}{value}").unwrap()
    }

    fn frame(&self, executor: &mut Executor, dt: f64) -> String {
        executor.run_frame(dt);
        self.0.take()
    }
}

// docs/contract.md#law-animate
#[test]
fn the_next_leg_begins_exactly_when_the_one_before_is_over() {
    let mut executor = unclamped();
    let calls = Calls::default();
    let legs = animate(0.75, calls.leg("a")).then(animate(1, calls.leg("b")));
    let script = executor.start(legs);
    let mut frame = || calls.frame(&mut executor, 0.5);
    // Seconds:             0.0      0.5            0.75: b begins          1.5     1.75: the end
    assert_eq!(frame(), " a0 a0.6666667");
    assert_eq!(frame(), " a1 b0.25");
    assert_eq!(frame(), " b0.75");
    assert_eq!(frame(), " b1");
    assert!(script.is_finished());
}

#[test]
fn in_a_frame_that_meets_the_end_of_a_leg_both_closures_are_called() {
    let mut executor = unclamped();
    let calls = Calls::default();
    let legs = animate(0.5, calls.leg("a")).then(animate(0.5, calls.leg("b")));
    executor.start(legs);
    let mut frame = || calls.frame(&mut executor, 0.25);
    assert_eq!(frame(), " a0 a0.5");
    assert_eq!(frame(), " a1 b0");
    assert_eq!(frame(), " b0.5");
    assert_eq!(frame(), " b1");
}

#[test]
fn a_long_frame_gives_each_leg_its_last_value_in_order() {
    let mut executor = unclamped();
    let calls = Calls::default();
    let legs = animate(1, calls.leg("a"))
        .then(animate(0, calls.leg("b")))
        .then(animate(1, calls.leg("c")).repeat(2).yoyo())
        .then(animate(4, calls.leg("d")).ease(Ease::InQuad));
    let script = executor.start(legs);
    assert_eq!(calls.frame(&mut executor, 5.0), " a0 a1 b1 c0 d0.25");
    assert_eq!(calls.frame(&mut executor, 9.0), " d1");
    assert!(script.is_finished());
}

#[test]
fn rounds_of_a_sequence_do_not_drift() {
    let mut executor = unclamped();
    let calls = Calls::default();
    let legs = animate(0.3, calls.leg("a")).then(animate(0.1, calls.leg("b")));
    let script = executor.start(legs.repeat(100));
    let wait = executor.start(wait_seconds(40));
    let mut frames = 0;
    while !wait.is_finished() {
        let called = calls.frame(&mut executor, 1.0 / 128.0);
        let (_, last) = called.rsplit_once(' ').unwrap();
        frames += 1;
        // In tenths of a second since the round began.
        let at = (f64::from(frames) / 12.8) % 4.0;
        if (at - 3.0).abs() > 0.001 && (0.001..3.999).contains(&at) {
            assert_eq!(&last[..1], if at < 3.0 { "a" } else { "b" }, "{frames}");
        }
    }
    assert!(script.is_finished());
}

#[test]
fn a_frame_that_passes_rounds_ends_the_one_that_played_and_goes_on_in_the_present_one() {
    let mut executor = unclamped();
    let calls = Calls::default();
    let legs = animate(1, calls.leg("a")).then(animate(1, calls.leg("b")));
    let script = executor.start(legs.repeat_forever());
    assert_eq!(calls.frame(&mut executor, 0.5), " a0 a0.5");
    assert_eq!(calls.frame(&mut executor, 8.0), " a1 b1 a0.5");
    assert_eq!(calls.frame(&mut executor, 1.0), " a1 b0.5");
    script.stop();
    assert_eq!(calls.frame(&mut executor, 1.0), "");
}

#[test]
fn a_sequence_in_rounds_can_be_a_leg_and_begins_anew_in_each_round_of_the_whole() {
    let mut executor = unclamped();
    let calls = Calls::default();
    let inner = animate(1, calls.leg("a")).then(animate(1, calls.leg("b")));
    let legs = animate(1, calls.leg("x")).then(inner.repeat(2));
    let script = executor.start(legs.repeat(2));
    let mut seen = String::new();
    for _ in 0..10 {
        seen += &calls.frame(&mut executor, 1.0);
        seen += " |";
    }
    assert_eq!(
        seen,
        " x0 x1 a0 | a1 b0 | b1 a0 | a1 b0 | b1 x0 | x1 a0 | a1 b0 | b1 a0 | a1 b0 | b1 |"
    );
    assert!(script.is_finished());
}

#[test]
fn a_leg_without_end_has_nothing_after_it() {
    let mut executor = unclamped();
    let calls = Calls::default();
    let endless = animate(f64::INFINITY, calls.leg("a")).then(animate(1, calls.leg("b")));
    let rounds = animate(1, calls.leg("c")).repeat_forever();
    executor.start(endless);
    executor.start(rounds.then(animate(1, calls.leg("d"))));
    calls.frame(&mut executor, 1e6);
    assert_eq!(calls.frame(&mut executor, 0.5), " a0 c0.5");
}

#[test]
fn a_sequence_of_no_length_is_over_in_the_next_frame() {
    let mut executor = unclamped();
    let calls = Calls::default();
    let legs = || animate(0, calls.leg("a")).then(animate(-1, calls.leg("b")));
    let script = executor.start(legs());
    assert_eq!(calls.frame(&mut executor, 0.5), " a1 b0 b1");
    assert!(script.is_finished());
    let script = executor.start(legs().repeat(3));
    assert_eq!(calls.frame(&mut executor, 0.5), " a1 b0 b1 a1 b1");
    assert!(script.is_finished());
    let script = executor.start(legs().repeat_forever());
    assert_eq!(calls.frame(&mut executor, 0.5), " a1 b0 b0");
    assert!(!script.is_finished());
}

#[test]
fn the_phase_of_a_sequence_is_one_for_all_its_legs() {
    let mut executor = unclamped();
    let calls = Calls::default();
    let leg = |name| animate(0.5, calls.leg(name));
    let end = Phase::EndOfFrame;
    executor.start(leg("a").then(leg("b")).in_phase(end));
    executor.start(leg("c").in_phase(end).then(leg("d")));
    executor.start(leg("e").in_phase(end).then(leg("f").in_phase(end)));
    assert_eq!(calls.0.take(), " a0 c0 e0");
    update(&mut executor, 0.5);
    assert_eq!(calls.0.take(), "");
    executor.run_phase(end);
    assert_eq!(calls.0.take(), " a1 b0 c1 d0 e1 f0");
    let other = leg("g").in_phase(end);
    let text = told(|| drop(leg("h").then(other)));
    assert!(
        text.contains("set it with `in_phase` behind the last `then`"),
        "{text}"
    );
}

#[test]
fn a_length_of_nan_panics_and_names_its_leg() {
    let mut executor = unclamped();
    let line = line!() + 1;
    let legs = animate(1, |_| ()).then(animate(f64::NAN, |_| ()));
    let script = executor.start(legs.repeat(2));
    executor.run_frame(0.5);
    let text = panic_text(&*script.take_output().unwrap().unwrap_err().into_panic());
    assert!(
        text.contains("a length of NaN") && text.contains(&format!("sequence.rs:{line}")),
        "{text}"
    );
}

#[test]
fn what_has_begun_is_no_leg() {
    let mut executor = unclamped();
    executor.run_until(
        async {
            let mut begun = animate(1, |_| ());
            assert!(futures::poll!(&mut begun).is_pending());
            let text = told(|| drop(begun.then(animate(1, |_| ()))));
            assert!(
                text.contains("`then` of an `animate()` must be set before it is awaited"),
                "{text}"
            );
            let mut begun = animate(1, |_| ());
            assert!(futures::poll!(&mut begun).is_pending());
            let text = told(|| drop(animate(1, |_| ()).then(begun)));
            assert!(
                text.contains("an animation that has begun: it cannot follow"),
                "{text}"
            );
        },
        0.5,
    );
}
