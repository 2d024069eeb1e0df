//! Clocks: scales, pauses, children, and the waits that count on them.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt, join, select_biased};
use proptest::prelude::*;

use framestep::prelude::*;
use framestep::{Clock, Executor};

use crate::support::{panic_of, panic_text, place_of_panic, poll_once, result_of, swallow, update};
use crate::timeline::{Log, Timeline, UNLIMITED, unclamped};

fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn nanos(n: u64) -> Duration {
    Duration::from_nanos(n)
}

fn is(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits()
}

/// An executor with a child of its game clock.
fn with_child() -> (Executor, Clock) {
    let executor = unclamped();
    let child = executor.clock().child();
    (executor, child)
}

mod waits {
    use super::*;

    #[test]
    fn a_child_at_a_quarter_takes_four_times_as_long() {
        let (executor, enemies) = with_child();
        enemies.set_scale(0.25);
        let mut timeline = Timeline::with_executor(executor, 0.25);
        timeline.row("player", |mark| async move {
            loop {
                wait_seconds(0.5).await;
                mark.hit();
            }
        });
        timeline.row("enemy", |mark| async move {
            loop {
                enemies.wait_seconds(0.5).await;
                mark.hit();
            }
        });
        timeline.check(
            "
            frame  0    1    2    3    4    5    6    7    8    9    16
            time   0.00 0.25 0.50 0.75 1.00 1.25 1.50 1.75 2.00 2.25 4.00
            player -    -    *    -    *    -    *    -    *    -    *
            enemy  -    -    -    -    -    -    -    -    *    -    *
            ",
        );
    }

    #[test]
    fn two_seconds_of_which_one_passes_at_half_speed_end_after_three() {
        for on_child in [false, true] {
            let executor = unclamped();
            let clock = if on_child {
                executor.clock().child()
            } else {
                executor.clock()
            };
            clock.set_scale(0.5);
            let mut timeline = Timeline::with_executor(executor, 0.5);
            let on = clock.clone();
            timeline.row("wait", move |mark| async move {
                on.wait_seconds(2).await;
                mark.hit();
            });
            timeline.row("speed", move |mark| async move {
                wait_seconds_realtime(2).await;
                mark.hit();
                clock.set_scale(1);
            });
            timeline.check(
                "
                frame 0 1 2 3 4 5 6
                wait  - - - - - - *
                speed - - - - *
                ",
            );
        }
    }

    #[test]
    fn a_paused_clock_holds_its_waits_up_and_no_others() {
        let (executor, child) = with_child();
        let grandchild = child.child();
        let mut timeline = Timeline::with_executor(executor, 0.25);
        let waits = [
            ("child", child.wait_seconds(0.5)),
            ("grandchild", grandchild.wait_seconds(0.5)),
            ("game", wait_seconds(0.5)),
        ];
        for (name, wait) in waits {
            timeline.row(name, |mark| async move {
                wait.await;
                mark.hit();
            });
        }
        timeline.row("pause", |mark| async move {
            next_frame().await;
            mark.hit();
            child.pause();
            wait_frames(3).await;
            mark.hit();
            child.resume();
        });
        timeline.check(
            "
            frame      0 1 2 3 4 5
            child      - - - - - *
            grandchild - - - - - *
            game       - - *
            pause      - * - - *
            ",
        );
    }

    #[test]
    fn at_scale_zero_only_deadlines_already_reached_resume() {
        let (executor, child) = with_child();
        executor.clock().set_scale(0);
        let mut timeline = Timeline::with_executor(executor, 0.25);
        let waits = [
            ("game 0", wait_seconds(0)),
            ("game -1", wait_seconds(-1)),
            ("game 1ns", wait_seconds(nanos(1))),
            ("child 0", child.wait_seconds(0)),
            ("child 1ns", child.wait_seconds(nanos(1))),
        ];
        for (name, wait) in waits {
            let name = name.replace(' ', "_");
            timeline.row(&name, |mark| async move {
                wait.await;
                mark.hit();
            });
        }
        timeline.check(
            "
            frame     0 1 2 9
            game_0    - *
            game_-1   - *
            game_1ns  - - - -
            child_0   - *
            child_1ns - - - -
            ",
        );
    }

    #[test]
    fn the_overshoot_is_that_of_the_clock() {
        let (mut executor, child) = with_child();
        child.set_scale(0.5);
        let wait = executor.start(child.wait_seconds(0.375));
        // It reads 0.25, then 0.5.
        assert_eq!(executor.run_until(wait, 0.5).unwrap(), millis(125));
    }

    #[test]
    fn clocks_go_in_the_order_in_which_they_were_made() {
        let mut executor = unclamped();
        let log = Log::new();
        let first = executor.clock().child();
        let second = executor.clock().child();
        let grandchild = first.child();
        grandchild.set_scale(2);
        let waits = [
            ("grandchild 1", grandchild.wait_seconds(1)),
            ("second 0.5", second.wait_seconds(0.5)),
            ("second 0.25", second.wait_seconds(0.25)),
            ("first 1", first.wait_seconds(1)),
            ("game 1", wait_seconds(1)),
            ("game's own", executor.clock().wait_seconds(1)),
            ("first 1 again", first.wait_seconds(1)),
        ];
        for (name, wait) in waits {
            let log = log.clone();
            executor.start(async move {
                wait.await;
                log.say(name);
            });
        }
        let real = log.clone();
        executor.start(async move {
            wait_seconds_realtime(1).await;
            real.say("realtime");
        });
        executor.run_frame(1);
        log.check(&[
            "F1: game 1",
            "F1: game's own",
            "F1: realtime",
            "F1: first 1",
            "F1: first 1 again",
            "F1: second 0.25",
            "F1: second 0.5",
            "F1: grandchild 1",
        ]);
    }

    #[test]
    fn a_wait_keeps_its_clock() {
        let (mut executor, child) = with_child();
        let grandchild = child.child();
        child.set_scale(0.5);
        let wait = grandchild.wait_seconds(0.5);
        drop((child, grandchild));
        let wait = executor.start(wait);
        executor.run_frame(0.5);
        assert!(!wait.is_finished());
        executor.run_frame(0.5);
        assert!(wait.is_finished());
    }

    #[test]
    fn a_dropped_wait_is_not_resumed_and_holds_nothing_up() {
        let (mut executor, child) = with_child();
        let log = Log::new();
        let say = log.clone();
        executor.start(async move {
            for _ in 0..100 {
                select_biased! {
                    _ = child.wait_seconds(10) => say.say("slow"),
                    _ = child.wait_seconds(0.25).in_phase(Phase::LateUpdate) => {}
                }
            }
            say.say("done");
        });
        for _ in 0..100 {
            executor.run_frame(0.25);
        }
        log.check(&["F100.LateUpdate: done"]);
        assert_eq!(executor.next_deadline(), None);
    }

    #[test]
    fn combinators_find_all_that_is_ready_in_one_poll() {
        let (mut executor, child) = with_child();
        child.set_scale(0.5);
        let log = Log::new();
        let say = log.clone();
        let on = child.clone();
        executor.start(async move {
            join!(wait_seconds(0.5), on.wait_seconds(0.25), async {
                swallow(on.wait_seconds(0.25)).await;
            });
            say.say("joined");
            let mut many: FuturesUnordered<_> = (1..=3)
                .map(|i| on.wait_seconds(0.125 * f64::from(i)))
                .collect();
            while many.next().await.is_some() {
                say.say("one of many");
            }
        });
        for _ in 0..5 {
            executor.run_frame(0.25);
        }
        log.check(&[
            "F2: joined",
            "F3: one of many",
            "F4: one of many",
            "F5: one of many",
        ]);
    }

    #[test]
    fn a_wait_that_was_due_stays_ready_whatever_the_clock_does() {
        let (mut executor, child) = with_child();
        let seen = Rc::new(RefCell::new(Vec::new()));
        let see = seen.clone();
        executor.start(async move {
            let mut wait = child.wait_seconds(0.5).in_phase(Phase::LateUpdate);
            assert!(poll_once(&mut wait).await.is_pending());
            for _ in 0..2 {
                next_frame().await;
                let ready = poll_once(&mut wait).await.is_ready();
                see.borrow_mut().push(ready);
            }
            // Due in LateUpdate of frame 2, in which nobody looks at it.
            child.pause();
            wait_frames(5).in_phase(Phase::EarlyUpdate).await;
            assert_eq!(child.now(), millis(500));
            assert_eq!(wait.await, Duration::ZERO);
            see.borrow_mut()
                .push(time().phase == Some(Phase::EarlyUpdate));
        });
        for _ in 0..7 {
            executor.run_frame(0.25);
        }
        assert_eq!(*seen.borrow(), [false, false, true]);
    }

    #[test]
    fn a_wait_may_change_hands() {
        let (mut executor, child) = with_child();
        let slot = Rc::new(RefCell::new(Some(child.wait_seconds(0.75))));
        let first = slot.clone();
        executor.start(async move {
            let mut wait = first.borrow_mut().take().unwrap();
            assert!(poll_once(&mut wait).await.is_pending());
            *first.borrow_mut() = Some(wait);
        });
        executor.run_frame(0.25);
        let wait = slot.borrow_mut().take().unwrap();
        let second = executor.start(wait);
        executor.run_until(second, 0.25).unwrap();
        assert_eq!(executor.time().frame, 3);
    }

    #[test]
    fn nan_names_the_place_of_the_call() {
        let (executor, child) = with_child();
        let line = line!() + 1;
        let wait = child.wait_seconds(f64::NAN);
        let coroutine = executor.start(wait);
        let error = result_of(&executor, coroutine).unwrap_err();
        let text = panic_text(&*error.into_panic());
        assert!(text.contains(&format!("clocks.rs:{line}")), "{text}");
    }

    #[test]
    fn infinity_on_a_child_never_ends_and_can_be_stopped() {
        let (mut executor, child) = with_child();
        let forever = executor.start(child.wait_seconds(f32::INFINITY));
        executor.run_frame(1);
        assert_eq!(executor.next_deadline(), None);
        forever.stop();
        assert!(executor.is_empty());
    }

    #[test]
    fn a_clock_of_another_executor_is_refused() {
        for clock in [unclamped().clock(), unclamped().clock().child()] {
            let executor = unclamped();
            let coroutine = executor.start(clock.wait_seconds(1));
            let error = result_of(&executor, coroutine).unwrap_err();
            let text = panic_text(&*error.into_panic());
            assert!(text.contains("polled in another"), "{text}");
        }
    }
}

mod within_a_frame {
    use super::*;

    fn readings(executor: &Executor, child: &Clock) -> (framestep::Time, Vec<Duration>, f64) {
        let game = executor.clock();
        let readings = vec![game.now(), game.delta(), child.now(), child.delta()];
        (executor.time(), readings, child.effective_scale())
    }

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
        // Nobody has read it until now.
        child.set_scale(0.25);
        assert_eq!((child.now(), child.delta()), (millis(2000), millis(1000)));
        executor.begin_frame(1);
        child.set_scale(0);
        assert_eq!((child.now(), child.delta()), (millis(2250), millis(250)));
        executor.begin_frame(1);
        assert_eq!((child.now(), child.delta()), (millis(2250), Duration::ZERO));
    }

    #[test]
    fn a_clock_begins_at_zero_and_goes_on_with_the_next_frame() {
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
}

/// Scale, scale and pause: the model is a sum over the frames.
mod table {
    use super::*;

    #[derive(Clone, Copy)]
    struct Setting {
        game_scale: f64,
        child_scale: f64,
        game_paused: bool,
        child_paused: bool,
    }

    impl Setting {
        fn game(self) -> f64 {
            if self.game_paused {
                0.0
            } else {
                self.game_scale
            }
        }

        fn child(self) -> f64 {
            let own = if self.child_paused {
                0.0
            } else {
                self.child_scale
            };
            self.game() * own
        }
    }

    fn put(clock: &Clock, scale: f64, paused: bool) {
        clock.set_scale(scale);
        if paused {
            clock.pause();
        } else {
            clock.resume();
        }
    }

    #[test]
    fn every_setting_followed_by_every_other() {
        let mut settings = Vec::new();
        for game_scale in [0.0, 0.25, 1.0, 2.0] {
            for child_scale in [0.0, 0.5, 1.0, 4.0] {
                for (game_paused, child_paused) in
                    [(false, false), (false, true), (true, false), (true, true)]
                {
                    settings.push(Setting {
                        game_scale,
                        child_scale,
                        game_paused,
                        child_paused,
                    });
                }
            }
        }
        for &first in &settings {
            for (i, &second) in settings.iter().enumerate() {
                follow(first, second, 1 + u32::try_from(i % 3).unwrap());
            }
        }
    }

    /// Six frames, of which `second` holds from the one after `change` on.
    fn follow(first: Setting, second: Setting, change: u32) {
        let (mut executor, child) = with_child();
        let game = executor.clock();
        put(&game, first.game_scale, first.game_paused);
        put(&child, first.child_scale, first.child_paused);
        let (mut game_s, mut child_s, mut real_s) = (0.0, 0.0, 0.0);
        for frame in 1..=6_u32 {
            let now = if frame <= change { first } else { second };
            let dt = 0.25 * f64::from(frame);
            let delta = [dt * now.game(), dt * now.child()];
            game_s += delta[0];
            child_s += delta[1];
            real_s += dt;
            executor.begin_frame(dt);
            if frame == change {
                put(&game, second.game_scale, second.game_paused);
                put(&child, second.child_scale, second.child_paused);
            }
            let time = executor.time();
            assert!(is(time.elapsed.as_secs_f64(), game_s));
            assert!(is(time.delta.as_secs_f64(), delta[0]));
            assert!(is(time.scale, now.game()));
            assert!(is(time.unscaled_elapsed.as_secs_f64(), real_s));
            assert!(is(child.now().as_secs_f64(), child_s));
            assert!(is(child.delta().as_secs_f64(), delta[1]));
            assert!(is(child.effective_scale(), now.child()));
        }
    }

    #[test]
    fn a_pause_is_a_flag() {
        let (mut executor, child) = with_child();
        assert!(!child.is_paused() && !child.resume());
        assert!(child.pause() && !child.pause());
        child.set_scale(2);
        assert!(child.is_paused());
        assert!(is(child.scale(), 2.0));
        executor.begin_frame(1);
        assert!(is(child.effective_scale(), 0.0));
        assert!(child.resume() && !child.resume());
        executor.begin_frame(1);
        assert_eq!(child.now(), millis(2000));
        assert!(executor.clock().pause());
        assert!(!child.is_paused());
    }
}

mod fixed_steps {
    use super::*;

    fn steps_of(fixed_delta: f64) -> Executor {
        let builder = Executor::builder().max_delta(UNLIMITED);
        builder.fixed_delta(fixed_delta).build()
    }

    #[test]
    fn slow_motion_makes_fewer_of_them() {
        let executor = steps_of(0.25);
        let game = executor.clock();
        let mut timeline = Timeline::with_executor(executor, 0.5);
        timeline.row("steps", |mark| async move {
            loop {
                assert_eq!(fixed_update().await.delta, millis(250));
                mark.hit();
            }
        });
        timeline.row("scale", |mark| async move {
            for scale in [0.5, 0.25, 0.0, 1.0, 2.0] {
                wait_frames(2).await;
                mark.hit();
                game.set_scale(scale);
            }
        });
        timeline.check(
            "
            frame 0    1    2    3    4    5     6     7    8    9    10   11
            time  0.00 0.50 1.00 1.25 1.50 1.625 1.750 1.75 1.75 2.25 2.75 3.75
            steps -    FF   FF   F    F    -     F     -    -    FF   FF   FFFF
            scale -    -    *    -    *    -     *     -    *    -    *
            ",
        );
    }

    #[test]
    fn a_change_in_a_step_leaves_the_others_of_its_frame_alone() {
        let executor = steps_of(0.25);
        let game = executor.clock();
        let mut timeline = Timeline::with_executor(executor, 0.75);
        timeline.row("steps", |mark| async move {
            loop {
                fixed_update().await;
                mark.hit();
            }
        });
        timeline.row("pause", |mark| async move {
            fixed_update().await;
            mark.hit();
            game.pause();
            wait_frames(3).await;
            mark.hit();
            game.resume();
        });
        timeline.check(
            "
            frame 0 1   2 3 4 5
            steps - FFF - - - FFF
            pause - F   - - *
            ",
        );
    }

    #[test]
    fn in_one_the_game_clock_reads_fixed_time_and_a_child_that_of_the_frame() {
        let mut executor = steps_of(0.25);
        let game = executor.clock();
        let child = game.child();
        child.set_scale(0.5);
        executor.begin_frame(0.625);
        assert!(executor.begin_fixed_step());
        assert_eq!((game.now(), game.delta()), (millis(250), millis(250)));
        // Its delta is its share of the step.
        let share = Duration::from_micros(312_500);
        assert_eq!((child.now(), child.delta()), (share, millis(125)));
        assert!(executor.begin_fixed_step());
        assert!(!executor.begin_fixed_step());
        assert_eq!((game.now(), game.delta()), (millis(625), millis(625)));
        assert_eq!((child.now(), child.delta()), (share, share));
    }

    #[test]
    fn the_delta_of_a_child_in_a_step_does_not_depend_on_the_game_clocks_scale() {
        let mut executor = steps_of(0.25);
        let child = executor.clock().child();
        let grandchild = child.child();
        executor.clock().set_scale(0.5);
        child.set_scale(0.5);
        grandchild.set_scale(3);
        executor.begin_frame(0.5);
        assert!(executor.begin_fixed_step());
        assert_eq!(child.delta(), millis(125));
        assert_eq!(grandchild.delta(), millis(375));
    }

    #[test]
    fn a_timer_of_a_child_in_the_fixed_phase_compares_with_the_frames_time() {
        let executor = steps_of(0.25);
        let child = executor.clock().child();
        let mut timeline = Timeline::with_executor(executor, 0.625);
        timeline.row("child", |mark| async move {
            loop {
                child.wait_seconds(0.625).in_phase(Phase::FixedUpdate).await;
                mark.hit();
            }
        });
        timeline.row("game", |mark| async move {
            loop {
                wait_seconds(0.625).in_phase(Phase::FixedUpdate).await;
                mark.hit();
            }
        });
        timeline.check(
            "
            frame 0 1 2 3
            child - F F F
            game  - - F F
            ",
        );
    }
}

mod numbers {
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
        // Each frame is a thousandth of what moves it by a nanosecond.
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
            assert!(text.contains(&format!("a scale of {bad}")), "{text}");
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
}

mod deadlines {
    use super::*;

    #[test]
    fn next_deadline_counts_the_dt_that_is_missing() {
        let (mut executor, child) = with_child();
        let wait = executor.start(child.wait_seconds(1));
        assert_eq!(executor.next_deadline(), Some(millis(1000)));
        child.set_scale(0.5);
        // One nanosecond less leaves half of one, which is rounded up.
        let missing = nanos(1_999_999_999);
        assert_eq!(executor.next_deadline(), Some(missing));
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
        let missing = nanos(999_999_999);
        assert_eq!(executor.next_deadline(), Some(missing));
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
}

mod lifetime {
    use super::*;

    #[test]
    fn clocks_outlive_their_executor_and_stand_still() {
        let (mut executor, child) = with_child();
        let game = executor.clock();
        let handle = executor.handle();
        assert_eq!(handle.clock().as_ref(), Some(&game));
        let wait = child.wait_seconds(1);
        executor.run_frame(1);
        drop(executor);
        assert!(handle.clock().is_none());
        for clock in [&game, &child, &child.child().child()] {
            let now = clock.now();
            clock.set_scale(0.5);
            clock.pause();
            clock.resume();
            assert_eq!(clock.now(), now);
            clock.delta();
            assert!(is(clock.effective_scale(), 1.0));
        }
        assert_eq!((game.now(), child.now()), (millis(1000), millis(1000)));
        drop(wait);
    }

    #[test]
    fn handles_of_one_clock_are_equal() {
        let (executor, child) = with_child();
        assert_eq!(executor.clock(), executor.clock());
        assert_eq!(child, child.clone());
        assert_ne!(child, executor.clock());
        assert_ne!(child, executor.clock().child());
        child.pause();
        let text = format!("{child:?}");
        assert_eq!(text, "Clock { now: 0ns, scale: 1.0, paused: true, .. }");
    }

    #[test]
    fn ten_thousand_clocks_with_a_wait_each() {
        let mut executor = unclamped();
        let order = Rc::new(RefCell::new(Vec::new()));
        let mut clocks = Vec::new();
        for _ in 0..10_000 {
            clocks.push(executor.clock().child());
        }
        // The last clock waits first.
        for (i, clock) in clocks.iter().enumerate().rev() {
            let wait = clock.wait_seconds(1 + i as u64 % 2);
            let order = order.clone();
            executor.start(async move {
                wait.await;
                order.borrow_mut().push(i);
            });
        }
        for i in (0..10_000).step_by(4) {
            clocks[i].pause();
        }
        update(&mut executor, 1);
        let second: Vec<usize> = (0..10_000).filter(|i| i % 4 == 2).collect();
        assert_eq!(order.take(), second);
        update(&mut executor, 1);
        let odd: Vec<usize> = (0..10_000).filter(|i| i % 2 == 1).collect();
        assert_eq!(order.take(), odd);
        for clock in &clocks {
            clock.resume();
        }
        update(&mut executor, 1);
        let first: Vec<usize> = (0..10_000).filter(|i| i % 4 == 0).collect();
        assert_eq!(order.take(), first);
        assert!(executor.is_empty());
    }

    #[test]
    fn clocks_that_come_and_go_in_a_phase_that_nobody_runs() {
        let executor = unclamped();
        let game = executor.clock();
        let (mut last, mut kept) = (game.child(), Vec::new());
        for i in 0..1_000 {
            let child = game.child();
            let wait = child.wait_seconds(1).in_phase(Phase::Custom(3));
            let coroutine = executor.start(wait);
            if i % 100 == 0 {
                kept.push(coroutine);
            } else {
                coroutine.stop();
            }
            last = child;
        }
        assert_eq!(executor.len(), 10);
        let mut executor = executor;
        executor.begin_frame(1);
        executor.run_phase(Phase::Custom(3));
        assert!(kept.iter().all(Coroutine::is_finished));
        assert_eq!(last.now(), millis(1000));
    }

    #[test]
    fn a_line_of_a_hundred_thousand_clocks_does_not_overflow_the_stack() {
        let small = std::thread::Builder::new().stack_size(256 << 10);
        let thread = small.spawn(|| {
            let mut executor = unclamped();
            let mut last = executor.clock().child();
            let first = last.clone();
            for _ in 0..100_000 {
                last = last.child();
            }
            first.set_scale(2);
            let wait = executor.start(last.wait_seconds(1));
            assert_eq!(executor.next_deadline(), Some(millis(500)));
            update(&mut executor, 0.25);
            assert_eq!(last.now(), millis(500));
            update(&mut executor, 0.25);
            assert!(wait.is_finished());
            assert_eq!(last.delta(), millis(500));
        });
        thread.unwrap().join().unwrap();
    }
}

/// What happens to a clock and its child in one frame.
#[derive(Clone, Debug)]
struct Frame {
    dt_ns: u64,
    change: Option<(bool, f64, bool)>,
    look: bool,
}

fn any_scale() -> impl Strategy<Value = f64> {
    prop_oneof![
        0.0..3.0,
        (0_u32..40).prop_map(|tenths| f64::from(tenths) / 10.0),
        Just(1.0),
        Just(0.0),
        Just(1.0 / 3.0),
        1e-12..1e-6,
        1e3..1e5,
    ]
}

fn any_frame() -> impl Strategy<Value = Frame> {
    let dt_ns = prop_oneof![0_u64..100, 1_000_000_u64..40_000_000];
    let change = (any::<bool>(), any_scale(), prop::bool::weighted(0.2));
    let change = prop::option::weighted(0.3, change);
    (dt_ns, change, any::<bool>()).prop_map(|(dt_ns, change, look)| Frame {
        dt_ns,
        change,
        look,
    })
}

/// A clock as its definition has it, with fractions of two integers.
#[derive(Clone, Copy)]
struct Oracle {
    source_anchor: u128,
    anchor: u128,
    factor: f64,
}

impl Oracle {
    fn new() -> Self {
        Oracle {
            source_anchor: 0,
            anchor: 0,
            factor: 1.0,
        }
    }

    fn at(&self, source: u128) -> u128 {
        // The factor as a fraction of a power of two; 1e-12 takes 2^92 at the most.
        let (mut numerator, mut shift) = (self.factor, 0);
        while numerator.fract() != 0.0 {
            numerator *= 2.0;
            shift += 1;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let product = (source - self.source_anchor) * numerator as u128;
        let (whole, rest) = (product >> shift, product & ((1 << shift) - 1));
        let up = shift > 0 && rest >= 1 << (shift - 1);
        self.anchor + whole + u128::from(up)
    }

    fn change(&mut self, source: u128, factor: f64) {
        if factor.to_bits() != self.factor.to_bits() {
            self.anchor = self.at(source);
            self.source_anchor = source;
            self.factor = factor;
        }
    }
}

proptest! {
    #[test]
    fn random_changes_agree_with_the_definition(
        frames in prop::collection::vec(any_frame(), 1..60),
    ) {
        let (mut executor, child) = with_child();
        let game = executor.clock();
        let (mut game_model, mut child_model) = (Oracle::new(), Oracle::new());
        let (mut source, mut before) = (0_u128, (0, 0));
        for frame in &frames {
            executor.begin_frame(nanos(frame.dt_ns));
            source += u128::from(frame.dt_ns);
            let game_now = game_model.at(source);
            let child_now = child_model.at(game_now);
            // Clocks that nobody looks at are computed later, or never.
            if frame.look {
                prop_assert_eq!(game.now().as_nanos(), game_now);
                prop_assert_eq!(child.now().as_nanos(), child_now);
                prop_assert_eq!(game.delta().as_nanos(), game_now - before.0);
                prop_assert_eq!(child.delta().as_nanos(), child_now - before.1);
            }
            before = (game_now, child_now);
            if let Some((of_game, scale, paused)) = frame.change {
                let clock = if of_game { &game } else { &child };
                clock.set_scale(scale);
                if paused { clock.pause() } else { clock.resume() };
                let factor = if paused { 0.0 } else { scale };
                if of_game {
                    game_model.change(source, factor);
                } else {
                    child_model.change(game_now, factor);
                }
            }
        }
        prop_assert_eq!(child.now().as_nanos(), before.1);
    }

    #[test]
    fn next_deadline_is_the_least_dt_that_suffices(
        scales in prop::array::uniform3(any_scale()),
        passed_ns in 0_u64..2_000_000_000,
        length_ns in 1_u64..2_000_000_000,
    ) {
        let product = scales.iter().product::<f64>();
        prop_assume!(product < 1e6); // else the clock may be at its end
        let mut executor = Executor::builder().max_delta(f64::INFINITY).build();
        let clocks = {
            let child = executor.clock().child();
            [executor.clock(), child.clone(), child.child()]
        };
        for (clock, scale) in clocks.iter().zip(scales) {
            clock.set_scale(scale);
        }
        executor.begin_frame(nanos(passed_ns));
        let wait = executor.start(clocks[2].wait_seconds(nanos(length_ns)).map(drop));
        let Some(missing) = executor.next_deadline() else {
            update(&mut executor, nanos(u64::MAX));
            prop_assert!(!wait.is_finished(), "not even at the end of time");
            return Ok(());
        };
        // A wait takes a frame, and this one more than no time.
        prop_assert!(missing > Duration::ZERO);
        update(&mut executor, missing.checked_sub(nanos(1)).unwrap());
        prop_assert!(!wait.is_finished());
        prop_assert_eq!(executor.next_deadline(), Some(nanos(1)));
        update(&mut executor, nanos(1));
        prop_assert!(wait.is_finished());
    }
}
