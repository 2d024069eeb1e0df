//! The table of waits, row by row: when each wait is due.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use framestep::prelude::*;

use crate::support::{PHASES, forever, poll_once, update};
use crate::timeline::{Log, Timeline, unclamped};

/// A row for each phase of `run_frame`: marks when it has reached the phase
/// in frame 1, and again when the wait it then begins is over.
fn begun_in_each_phase<F: Future + 'static>(wait: fn() -> F) -> Timeline {
    let mut timeline = Timeline::with_a_fixed_step_each(0.25);
    for phase in PHASES {
        timeline.row(&format!("{phase:?}"), |mark| async move {
            in_phase(phase).await;
            mark.hit();
            wait().await;
            mark.hit();
        });
    }
    timeline
}

/// A row for each phase of `run_frame`: marks when the wait that `wait` makes
/// for the phase, begun in frame 0, is over.
fn ended_in_each_phase<F: Future + 'static>(wait: fn(Phase) -> F) -> Timeline {
    let mut timeline = Timeline::with_a_fixed_step_each(0.25);
    for phase in PHASES {
        timeline.row(&format!("{phase:?}"), |mark| async move {
            wait(phase).await;
            mark.hit();
        });
    }
    timeline
}

// next_frame

#[test]
fn next_frame_resumes_in_update_of_every_later_frame() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("each", |mark| async move {
        for _ in 0..4 {
            mark.hit();
            next_frame().await;
        }
    });
    timeline.check(
        "
        frame 0    1    2    3    4
        time  0.00 0.25 0.50 0.75 1.00
        each  *    *    *    *
        ",
    );
}

#[test]
fn next_frame_means_update_of_the_next_frame_whatever_the_phase_it_is_awaited_in() {
    begun_in_each_phase(next_frame).check(
        "
        frame       0 1 2 3
        EarlyUpdate - E *
        FixedUpdate - F *
        Update      - * *
        LateUpdate  - L *
        EndOfFrame  - Z *
        ",
    );
}

#[test]
fn next_frame_awaited_by_host_code_before_update_waits_for_the_next_frame() {
    let mut executor = unclamped();
    let log = Log::new();
    let script = |name: &'static str| {
        let log = log.clone();
        async move {
            next_frame().await;
            log.say(name);
        }
    };
    executor.begin_frame(0.25);
    executor.start(script("before Update"));
    executor.run_phase(Phase::Update);
    executor.start(script("after Update"));
    executor.run_phase(Phase::LateUpdate);
    log.check(&[]);
    executor.run_frame(0.25);
    log.check(&["F2: before Update", "F2: after Update"]);
}

#[test]
fn next_frame_in_a_phase_resumes_in_that_phase_of_the_next_frame() {
    ended_in_each_phase(|phase| next_frame().in_phase(phase)).check(
        "
        frame       0 1 2
        EarlyUpdate - E
        FixedUpdate - F
        Update      - *
        LateUpdate  - L
        EndOfFrame  - Z
        ",
    );
}

#[test]
fn next_frame_in_a_later_phase_is_not_due_in_the_frame_in_which_it_is_awaited() {
    begun_in_each_phase(|| next_frame().in_phase(Phase::EndOfFrame)).check(
        "
        frame       0 1 2 3
        EarlyUpdate - E Z
        FixedUpdate - F Z
        Update      - * Z
        LateUpdate  - L Z
        EndOfFrame  - Z Z
        ",
    );
}

#[test]
fn next_frame_gives_the_time_of_the_new_frame() {
    let mut executor = unclamped();
    let seen = Rc::new(Cell::new(None));
    let see = seen.clone();
    executor.start(async move { see.set(Some(next_frame().await)) });
    executor.run_frame(0.25);
    let time = seen.get().expect("resumed in frame 1");
    assert_eq!(time.frame, 1);
    assert_eq!(time.delta, Duration::from_millis(250));
    assert_eq!(time.elapsed, Duration::from_millis(250));
    assert_eq!(time.phase, Some(Phase::Update));
}

// wait_frames

#[test]
fn wait_frames_counts_frames_and_zero_counts_as_one() {
    let mut timeline = Timeline::with_dt(0.25);
    for n in [0, 1, 2, 3] {
        timeline.row(&format!("frames({n})"), |mark| async move {
            mark.hit();
            wait_frames(n).await;
            mark.hit();
        });
    }
    timeline.check(
        "
        frame     0 1 2 3 4
        frames(0) * *
        frames(1) * *
        frames(2) * - *
        frames(3) * - - *
        ",
    );
}

#[test]
fn wait_frames_counts_from_the_frame_in_which_it_is_awaited() {
    begun_in_each_phase(|| wait_frames(2)).check(
        "
        frame       0 1 2 3 4
        EarlyUpdate - E - *
        FixedUpdate - F - *
        Update      - * - *
        LateUpdate  - L - *
        EndOfFrame  - Z - *
        ",
    );
}

#[test]
fn wait_frames_of_zero_is_not_due_later_in_the_same_frame() {
    begun_in_each_phase(|| wait_frames(0)).check(
        "
        frame       0 1 2 3
        EarlyUpdate - E *
        FixedUpdate - F *
        Update      - * *
        LateUpdate  - L *
        EndOfFrame  - Z *
        ",
    );
    begun_in_each_phase(|| wait_frames(0).in_phase(Phase::EndOfFrame)).check(
        "
        frame       0 1 2 3
        EarlyUpdate - E Z
        FixedUpdate - F Z
        Update      - * Z
        LateUpdate  - L Z
        EndOfFrame  - Z Z
        ",
    );
}

#[test]
fn zero_lengths_are_not_due_later_in_the_same_frame() {
    begun_in_each_phase(|| wait_seconds(0).in_phase(Phase::EndOfFrame)).check(
        "
        frame       0 1 2 3
        EarlyUpdate - E Z
        FixedUpdate - F Z
        Update      - * Z
        LateUpdate  - L Z
        EndOfFrame  - Z Z
        ",
    );
    begun_in_each_phase(|| wait_until(|| true).in_phase(Phase::EndOfFrame)).check(
        "
        frame       0 1 2 3
        EarlyUpdate - E Z
        FixedUpdate - F Z
        Update      - * Z
        LateUpdate  - L Z
        EndOfFrame  - Z Z
        ",
    );
}

#[test]
fn wait_frames_in_a_phase_resumes_in_that_phase() {
    ended_in_each_phase(|phase| wait_frames(2).in_phase(phase)).check(
        "
        frame       0 1 2 3
        EarlyUpdate - - E
        FixedUpdate - - F
        Update      - - *
        LateUpdate  - - L
        EndOfFrame  - - Z
        ",
    );
}

#[test]
fn wait_frames_of_the_largest_number_never_ends_and_can_be_stopped() {
    let mut executor = unclamped();
    let waits = executor.start(wait_frames(u64::MAX).map(drop));
    executor.run_frame(0.25);
    let later = executor.start(wait_frames(u64::MAX).map(drop));
    for _ in 0..1_000 {
        executor.run_frame(0.25);
    }
    assert!(!waits.is_finished() && !later.is_finished());
    assert!(waits.stop() && later.stop());
}

// wait_seconds

#[test]
fn wait_seconds_resumes_on_the_first_frame_at_or_past_the_deadline() {
    let mut timeline = Timeline::with_dt(0.25);
    for (name, seconds) in [("short", 0.125), ("exact", 0.50), ("late", 0.60)] {
        timeline.row(name, |mark| async move {
            mark.hit();
            wait_seconds(seconds).await;
            mark.hit();
        });
    }
    timeline.check(
        "
        frame 0    1    2    3    4
        time  0.00 0.25 0.50 0.75 1.00
        short *    *
        exact *    -    *
        late  *    -    -    *
        ",
    );
}

#[test]
fn wait_seconds_begun_in_any_phase_resumes_in_update_of_a_later_frame() {
    begun_in_each_phase(|| wait_seconds(0.5)).check(
        "
        frame       0    1    2    3    4
        time        0.00 0.25 0.50 0.75 1.00
        EarlyUpdate -    E    -    *
        FixedUpdate -    F    -    *
        Update      -    *    -    *
        LateUpdate  -    L    -    *
        EndOfFrame  -    Z    -    *
        ",
    );
}

#[test]
fn wait_seconds_in_a_phase_resumes_in_that_phase() {
    ended_in_each_phase(|phase| wait_seconds(0.5).in_phase(phase)).check(
        "
        frame       0 1 2 3
        EarlyUpdate - - E
        FixedUpdate - - F
        Update      - - *
        LateUpdate  - - L
        EndOfFrame  - - Z
        ",
    );
}

#[test]
fn wait_seconds_realtime_follows_the_same_law() {
    begun_in_each_phase(|| wait_seconds_realtime(0.5)).check(
        "
        frame       0 1 2 3 4
        EarlyUpdate - E - *
        FixedUpdate - F - *
        Update      - * - *
        LateUpdate  - L - *
        EndOfFrame  - Z - *
        ",
    );
    ended_in_each_phase(|phase| wait_seconds_realtime(0.5).in_phase(phase)).check(
        "
        frame       0 1 2 3
        EarlyUpdate - - E
        FixedUpdate - - F
        Update      - - *
        LateUpdate  - - L
        EndOfFrame  - - Z
        ",
    );
}

#[test]
fn a_length_counts_from_the_first_poll_and_not_from_the_call() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("early", |mark| async move {
        let wait = wait_seconds(0.5);
        mark.hit();
        next_frame().await;
        wait.await;
        mark.hit();
    });
    timeline.row("frames", |mark| async move {
        let wait = wait_frames(2);
        mark.hit();
        next_frame().await;
        wait.await;
        mark.hit();
    });
    timeline.check(
        "
        frame  0    1    2    3    4
        time   0.00 0.25 0.50 0.75 1.00
        early  *    -    -    *
        frames *    -    -    *
        ",
    );
}

#[test]
fn zero_and_negative_lengths_wait_one_frame() {
    let mut timeline = Timeline::with_dt(0.25);
    for (name, seconds) in [
        ("zero", 0.0),
        ("minus-zero", -0.0),
        ("minus-one", -1.0),
        ("minus-max", f64::MIN),
        ("minus-inf", f64::NEG_INFINITY),
    ] {
        timeline.row(name, |mark| async move {
            for _ in 0..3 {
                mark.hit();
                wait_seconds(seconds).await;
            }
        });
        timeline.row(&format!("{name}-realtime"), |mark| async move {
            for _ in 0..3 {
                mark.hit();
                wait_seconds_realtime(seconds).await;
            }
        });
    }
    timeline.check(
        "
        frame               0 1 2 3 4
        zero                * * *
        zero-realtime       * * *
        minus-zero          * * *
        minus-zero-realtime * * *
        minus-one           * * *
        minus-one-realtime  * * *
        minus-max           * * *
        minus-max-realtime  * * *
        minus-inf           * * *
        minus-inf-realtime  * * *
        ",
    );
}

#[test]
fn zero_lengths_need_a_frame_but_no_time() {
    let mut timeline = Timeline::with_dt(0.0);
    timeline.row("zero", |mark| async move {
        wait_seconds(0).await;
        mark.hit();
    });
    timeline.row("frame", |mark| async move {
        next_frame().await;
        mark.hit();
    });
    timeline.row("short", |mark| async move {
        wait_seconds(Duration::from_nanos(1)).await;
        mark.hit();
    });
    timeline.check(
        "
        frame 0    1    2
        time  0.00 0.00 0.00
        zero  -    *
        frame -    *
        short -    -    -
        ",
    );
}

#[test]
fn zero_lengths_resume_in_the_phase_they_name() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.row("late", |mark| async move {
        for _ in 0..2 {
            wait_seconds(0).in_phase(Phase::LateUpdate).await;
            mark.hit();
        }
    });
    timeline.check(
        "
        frame 0 1 2 3
        late  - L L
        ",
    );
}

#[test]
fn infinite_lengths_never_end_and_can_be_stopped() {
    let mut executor = unclamped();
    let waits = [
        executor.start(wait_seconds(f64::INFINITY).map(drop)),
        executor.start(wait_seconds(f32::INFINITY).map(drop)),
        executor.start(wait_seconds_realtime(f64::INFINITY).map(drop)),
        executor.start(wait_seconds(Duration::MAX).map(drop)),
    ];
    for _ in 0..1_000 {
        update(&mut executor, 1_000);
    }
    for wait in waits {
        assert!(!wait.is_finished());
        assert!(wait.stop());
    }
    assert!(executor.is_empty());
}

#[test]
fn overshoot_is_reported_and_not_paid_back() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        loop {
            let overshoot = wait_seconds(0.375).await;
            say.say(overshoot.as_millis());
        }
    });
    for _ in 0..6 {
        executor.run_frame(0.25);
    }
    log.check(&[
        "F2: 125", // deadline 0.375, at 0.5
        "F4: 125", // deadline 0.875, at 1.0: paying back would be exact at 0.75
        "F6: 125", // deadline 1.375, at 1.5
    ]);
}

#[test]
fn overshoot_of_realtime_is_that_of_realtime() {
    let mut executor = framestep::Executor::builder().max_delta(0.5).build();
    let seen = Rc::new(Cell::new(None));
    let see = seen.clone();
    executor.start(async move { see.set(Some(wait_seconds_realtime(1.5).await)) });
    executor.run_frame(4.0);
    assert_eq!(seen.get(), Some(Duration::from_millis(2_500)));
}

#[test]
fn a_wait_resumes_once_in_a_run_however_long_the_frame() {
    let mut timeline = Timeline::with_dt(10.0);
    timeline.row("short", |mark| async move {
        loop {
            wait_seconds(0.125).await;
            mark.hit();
        }
    });
    timeline.row("ten", |mark| async move {
        loop {
            wait_seconds(10).await;
            mark.hit();
        }
    });
    timeline.check(
        "
        frame 0 1 2 3
        short - * * *
        ten   - * * *
        ",
    );
}

// wait_until and wait_while

#[test]
fn wait_until_asks_once_in_each_update_of_a_later_frame() {
    let mut executor = unclamped();
    let log = Log::new();
    let (ask, say) = (log.clone(), log.clone());
    executor.start(async move {
        wait_until(move || {
            ask.say("asked");
            time().frame >= 3
        })
        .await;
        say.say("done");
    });
    log.check(&[]); // not in the frame in which it is awaited
    for _ in 0..4 {
        executor.run_frame(0.25);
    }
    log.check(&["F1: asked", "F2: asked", "F3: asked", "F3: done"]);
}

#[test]
fn wait_while_is_wait_until_the_opposite() {
    let mut executor = unclamped();
    let log = Log::new();
    let (ask, say) = (log.clone(), log.clone());
    executor.start(async move {
        wait_while(move || {
            ask.say("asked");
            time().frame < 3
        })
        .await;
        say.say("done");
    });
    for _ in 0..4 {
        executor.run_frame(0.25);
    }
    log.check(&["F1: asked", "F2: asked", "F3: asked", "F3: done"]);
}

#[test]
fn a_condition_that_holds_already_still_takes_a_frame() {
    begun_in_each_phase(|| wait_until(|| true)).check(
        "
        frame       0 1 2 3
        EarlyUpdate - E *
        FixedUpdate - F *
        Update      - * *
        LateUpdate  - L *
        EndOfFrame  - Z *
        ",
    );
    begun_in_each_phase(|| wait_while(|| false)).check(
        "
        frame       0 1 2 3
        EarlyUpdate - E *
        FixedUpdate - F *
        Update      - * *
        LateUpdate  - L *
        EndOfFrame  - Z *
        ",
    );
}

#[test]
fn a_condition_in_a_phase_is_asked_in_that_phase_only() {
    let mut executor = framestep::Executor::builder()
        .max_delta(1)
        .fixed_delta(0.25)
        .build();
    for phase in PHASES {
        let asked = Rc::new(RefCell::new(Vec::new()));
        let ask = asked.clone();
        let wait = executor.start(async move {
            wait_until(move || {
                ask.borrow_mut().push(time().phase);
                false
            })
            .in_phase(phase)
            .await;
        });
        executor.run_frame(0.25);
        executor.run_frame(0.25);
        assert_eq!(*asked.borrow(), [Some(phase); 2]);
        assert!(wait.stop());
    }
    ended_in_each_phase(|phase| wait_while(|| time().frame < 2).in_phase(phase)).check(
        "
        frame       0 1 2 3
        EarlyUpdate - - E
        FixedUpdate - - F
        Update      - - *
        LateUpdate  - - L
        EndOfFrame  - - Z
        ",
    );
}

#[test]
fn a_condition_is_asked_in_every_fixed_step_of_later_frames() {
    let mut executor = framestep::Executor::builder()
        .max_delta(1)
        .fixed_delta(0.25)
        .build();
    let log = Log::new();
    let ask = log.clone();
    executor.start(async move {
        wait_until(move || {
            ask.say("asked");
            time().frame == 2
        })
        .in_phase(Phase::FixedUpdate)
        .await;
    });
    executor.run_frame(0.75);
    executor.run_frame(0.75);
    log.check(&[
        "F1.FixedUpdate: asked",
        "F1.FixedUpdate: asked",
        "F1.FixedUpdate: asked",
        "F2.FixedUpdate: asked", // holds
    ]);
}

#[test]
fn a_condition_is_asked_once_a_run_however_often_its_coroutine_is_polled() {
    let mut executor = unclamped();
    let log = Log::new();
    let (sender, receiver) = async_channel::unbounded();
    let ask = log.clone();
    let say = log.clone();
    executor.start(async move {
        let asks = wait_until(move || {
            ask.say("asked");
            false
        });
        let receives = async {
            while let Ok(message) = receiver.recv().await {
                say.say(message);
            }
        };
        futures::join!(asks, receives);
    });
    executor.start(async move {
        for message in ["a", "b"] {
            next_frame().await;
            sender.send(message).await.unwrap();
        }
    });
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    // Each message is a second poll of the run.
    log.check(&["F1: asked", "F1: a", "F2: asked", "F2: b"]);
}

// the phases

#[test]
fn a_frame_runs_its_phases_in_order() {
    let mut executor = framestep::Executor::builder()
        .max_delta(1)
        .fixed_delta(0.125)
        .build();
    let log = Log::new();
    for phase in [
        Phase::Custom(7),
        Phase::EndOfFrame,
        Phase::LateUpdate,
        Phase::Update,
        Phase::FixedUpdate,
        Phase::EarlyUpdate,
    ] {
        let log = log.clone();
        executor.start(async move {
            loop {
                in_phase(phase).await;
                log.say("");
            }
        });
    }
    executor.run_frame(0.25);
    log.check(&[
        "F1.EarlyUpdate: ",
        "F1.FixedUpdate: ",
        "F1.FixedUpdate: ",
        "F1: ",
        "F1.LateUpdate: ",
        "F1.EndOfFrame: ",
    ]);
    executor.run_phase(Phase::Custom(7));
    log.check(&["F1.Custom(7): "]);
}

#[test]
fn in_phase_resumes_in_the_first_run_of_the_phase_that_begins_after_the_await() {
    for target in PHASES {
        let mut timeline = Timeline::with_a_fixed_step_each(0.25);
        for phase in PHASES {
            timeline.row(&format!("{phase:?}"), |mark| async move {
                in_phase(phase).await;
                mark.hit();
                in_phase(target).await;
                mark.hit();
            });
        }
        timeline.check(match target {
            Phase::EarlyUpdate => {
                "
                frame       0 1 2 3
                EarlyUpdate - E E
                FixedUpdate - F E
                Update      - * E
                LateUpdate  - L E
                EndOfFrame  - Z E
                "
            }
            Phase::FixedUpdate => {
                "
                frame       0 1  2 3
                EarlyUpdate - EF
                FixedUpdate - F  F
                Update      - *  F
                LateUpdate  - L  F
                EndOfFrame  - Z  F
                "
            }
            Phase::Update => {
                "
                frame       0 1  2 3
                EarlyUpdate - E*
                FixedUpdate - F*
                Update      - *  *
                LateUpdate  - L  *
                EndOfFrame  - Z  *
                "
            }
            Phase::LateUpdate => {
                "
                frame       0 1  2 3
                EarlyUpdate - EL
                FixedUpdate - FL
                Update      - *L
                LateUpdate  - L  L
                EndOfFrame  - Z  L
                "
            }
            _ => {
                "
                frame       0 1  2 3
                EarlyUpdate - EZ
                FixedUpdate - FZ
                Update      - *Z
                LateUpdate  - LZ
                EndOfFrame  - Z  Z
                "
            }
        });
    }
}

#[test]
fn fixed_update_and_end_of_frame_are_in_phase_by_name() {
    let mut timeline = Timeline::with_a_fixed_step_each(0.25);
    timeline.row("fixed", |mark| async move {
        for _ in 0..2 {
            fixed_update().await;
            mark.hit();
        }
    });
    timeline.row("end", |mark| async move {
        for _ in 0..2 {
            end_of_frame().await;
            mark.hit();
        }
    });
    timeline.row("mixed", |mark| async move {
        fixed_update().await;
        mark.hit();
        end_of_frame().await;
        mark.hit();
        fixed_update().await;
        mark.hit();
    });
    timeline.check(
        "
        frame 0 1  2 3
        fixed - F  F
        end   - Z  Z
        mixed - FZ F
        ",
    );
}

#[test]
fn a_custom_phase_resumes_when_the_host_runs_it() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.frames_are(|executor, dt| {
        executor.run_frame(dt);
        executor.run_phase(Phase::Custom(3));
        if executor.time().frame == 2 {
            executor.run_phase(Phase::Custom(4));
        }
    });
    timeline.row("three", |mark| async move {
        for _ in 0..2 {
            in_phase(Phase::Custom(3)).await;
            mark.hit();
        }
    });
    timeline.row("four", |mark| async move {
        in_phase(Phase::Custom(4)).await;
        mark.hit();
    });
    timeline.row("timed", |mark| async move {
        wait_seconds(0.5).in_phase(Phase::Custom(3)).await;
        mark.hit();
    });
    timeline.check(
        "
        frame 0 1 2 3
        three - C C
        four  - - C
        timed - - C
        ",
    );
}

// runs that a host skips or repeats

#[test]
fn a_host_that_skips_update_delays_what_is_due_there() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.frames_are(|executor, dt| {
        executor.begin_frame(dt);
        if matches!(executor.time().frame, 3 | 5) {
            executor.run_phase(Phase::Update);
        }
        executor.run_phase(Phase::LateUpdate);
    });
    timeline.row("next", |mark| async move {
        loop {
            next_frame().await;
            mark.hit();
        }
    });
    timeline.row("frames(2)", |mark| async move {
        wait_frames(2).await;
        mark.hit();
    });
    timeline.row("frames(4)", |mark| async move {
        wait_frames(4).await;
        mark.hit();
    });
    timeline.row("seconds(0.5)", |mark| async move {
        wait_seconds(0.5).await;
        mark.hit();
    });
    timeline.row("seconds(1)", |mark| async move {
        wait_seconds(1).await;
        mark.hit();
    });
    timeline.row("until", |mark| async move {
        wait_until(|| time().frame >= 2).await;
        mark.hit();
    });
    timeline.row("late", |mark| async move {
        next_frame().in_phase(Phase::LateUpdate).await;
        mark.hit();
    });
    timeline.check(
        "
        frame        0 1 2 3 4 5
        next         - - - * - *
        frames(2)    - - - *
        frames(4)    - - - - - *
        seconds(0.5) - - - *
        seconds(1)   - - - - - *
        until        - - - *
        late         - L
        ",
    );
}

#[test]
fn a_host_that_repeats_update_resumes_waits_by_their_own_rows() {
    let mut timeline = Timeline::with_dt(0.25);
    timeline.frames_are(|executor, dt| {
        executor.begin_frame(dt);
        executor.run_phase(Phase::Update);
        executor.run_phase(Phase::Update);
    });
    // Frames, not runs, are what these count.
    timeline.row("next", |mark| async move {
        loop {
            next_frame().await;
            mark.hit();
        }
    });
    timeline.row("zero", |mark| async move {
        loop {
            wait_seconds(0).await;
            mark.hit();
        }
    });
    timeline.row("frames(2)", |mark| async move {
        loop {
            wait_frames(2).await;
            mark.hit();
        }
    });
    // Runs are what these count.
    timeline.row("in_phase", |mark| async move {
        loop {
            in_phase(Phase::Update).await;
            mark.hit();
        }
    });
    timeline.row("asked", |mark| async move {
        wait_until(move || {
            mark.hit();
            time().frame == 2
        })
        .await;
    });
    timeline.check(
        "
        frame     0 1  2  3
        next      - *  *  *
        zero      - *  *  *
        frames(2) - -  *  -
        in_phase  - ** ** **
        asked     - ** *
        ",
    );
}

#[test]
fn a_phase_run_in_frame_zero_resumes_what_waits_for_the_phase_alone() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        in_phase(Phase::Update).await;
        say.note("in_phase");
    });
    let say = log.clone();
    executor.start(async move {
        next_frame().await;
        say.note("next_frame");
    });
    let say = log.clone();
    executor.start(async move {
        wait_seconds(0).await;
        say.note("wait_seconds");
    });
    executor.run_phase(Phase::Update);
    log.check(&["in_phase"]);
    executor.run_frame(0.25);
    log.check(&["next_frame", "wait_seconds"]);
}

// readiness

/// A wait that one coroutine polls first and another looks at.
type Shared = Rc<RefCell<LocalBoxFuture<'static, ()>>>;

fn share(wait: impl Future + 'static) -> Shared {
    Rc::new(RefCell::new(wait.map(drop).boxed_local()))
}

async fn is_ready(wait: &Shared) -> bool {
    poll_fn(|cx| Poll::Ready(wait.borrow_mut().as_mut().poll(cx).is_ready())).await
}

#[test]
fn no_wait_is_ready_when_first_polled() {
    let executor = unclamped();
    let checks = executor.start(async {
        let waits = [
            share(next_frame()),
            share(wait_frames(0)),
            share(wait_seconds(0)),
            share(wait_seconds(-1)),
            share(wait_seconds_realtime(0)),
            share(wait_until(|| true)),
            share(wait_while(|| false)),
            share(fixed_update()),
            share(end_of_frame()),
            share(in_phase(Phase::Update)),
        ];
        for wait in &waits {
            assert!(!is_ready(wait).await);
        }
    });
    assert!(checks.is_finished());
}

#[test]
fn a_wait_is_ready_from_the_beginning_of_the_run_in_which_it_is_due() {
    let mut executor = unclamped();
    let log = Log::new();
    let waits = [
        ("next_frame", share(next_frame())),
        ("wait_frames(2)", share(wait_frames(2))),
        ("wait_seconds", share(wait_seconds(0.25))),
        ("in_phase", share(in_phase(Phase::Update))),
        ("late", share(next_frame().in_phase(Phase::LateUpdate))),
        ("early", share(in_phase(Phase::EarlyUpdate))),
    ];
    // Looks before those who wait are polled: it began to wait before them.
    let looked_at = waits.clone();
    let say = log.clone();
    executor.start(async move {
        for phase in [Phase::EarlyUpdate, Phase::Update, Phase::LateUpdate] {
            in_phase(phase).await;
            for (name, wait) in &looked_at {
                if is_ready(wait).await {
                    drop(wait.replace(forever().boxed_local()));
                    say.say(name);
                }
            }
        }
    });
    executor.start(async move {
        for (_, wait) in &waits {
            assert!(!is_ready(wait).await);
        }
        forever().await;
    });
    executor.run_frame(0.25);
    log.check(&[
        "F1.EarlyUpdate: early",
        "F1: next_frame",
        "F1: wait_seconds",
        "F1: in_phase",
        "F1.LateUpdate: late",
    ]);
}

#[test]
fn a_wait_stays_ready_until_somebody_looks_at_it() {
    let mut executor = unclamped();
    let looks = executor.start(async {
        let mut frame = next_frame();
        let mut frames = wait_frames(2);
        let mut seconds = wait_seconds(0.25);
        let mut phase = end_of_frame();
        assert!(poll_once(&mut frame).await.is_pending());
        assert!(poll_once(&mut frames).await.is_pending());
        assert!(poll_once(&mut seconds).await.is_pending());
        assert!(poll_once(&mut phase).await.is_pending());
        for _ in 0..4 {
            in_phase(Phase::EarlyUpdate).await;
        }
        assert_eq!(time().frame, 4);
        assert!(poll_once(&mut frame).await.is_ready());
        assert!(poll_once(&mut frames).await.is_ready());
        assert_eq!(
            poll_once(&mut seconds).await.map(|_| ()),
            Poll::Ready(()),
            "its deadline has passed"
        );
        assert!(poll_once(&mut phase).await.is_ready());
    });
    for _ in 0..5 {
        executor.run_frame(0.25);
    }
    assert!(matches!(
        crate::support::result_of(&executor, looks),
        Ok(())
    ));
}
