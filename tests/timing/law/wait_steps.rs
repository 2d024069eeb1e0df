//! `wait_steps`, due in the n-th `FixedUpdate` run after the await:
//! docs/contract.md#law-wait-steps

use framestep::Executor;
use framestep::wait::WaitSteps;
use futures::future::{join, pending, select};
use futures::stream::{FuturesUnordered, StreamExt};

use super::steps::frame_rates;
use super::*;
use framestep_testkit::timeline::{Mark, in_quarters};
use framestep_testkit::{counted, swallow};

const FIXED: Phase = Phase::FixedUpdate;

/// Marks after each wait of so many steps.
async fn each(mark: Mark, steps: u64) {
    loop {
        wait_steps(steps).await;
        mark.hit();
    }
}

/// A frame of a quarter of a second with one fixed step.
fn step(executor: &mut Executor) {
    executor.run_frame(0.25);
}

/// Starts a coroutine that says `name` when `wait` is over.
fn says<F: Future + 'static>(executor: &Executor, log: &Log, name: &'static str, wait: F) {
    let log = log.clone();
    executor.start(async move {
        wait.await;
        log.say(name);
    });
}

// When

#[test]
fn wait_steps_counts_steps_and_zero_counts_as_one() {
    let mut timeline = Timeline::with_executor(in_quarters(), 0.75);
    for steps in [0, 1, 2, 3, 4, 5] {
        timeline.row(&format!("steps({steps})"), |mark| each(mark, steps));
    }
    // Steps 1 to 3, 4 to 6, 7 to 9, 10 to 12.
    timeline.check(
        "
        frame    0 1   2   3   4
        steps(0) - FFF FFF FFF FFF
        steps(1) - FFF FFF FFF FFF
        steps(2) - F   FF  F   FF
        steps(3) - F   F   F   F
        steps(4) - -   F   F   F
        steps(5) - -   F   -   F
        ",
    );
}

#[test]
fn wait_steps_counts_the_steps_that_begin_after_the_await() {
    begun_in_each_phase(|| wait_steps(1)).check(
        "
        frame       0 1  2 3
        EarlyUpdate - EF
        FixedUpdate - F  F
        Update      - *  F
        LateUpdate  - L  F
        EndOfFrame  - Z  F
        ",
    );
    begun_in_each_phase(|| wait_steps(3)).check(
        "
        frame       0 1 2 3 4 5
        EarlyUpdate - E - F
        FixedUpdate - F - - F
        Update      - * - - F
        LateUpdate  - L - - F
        EndOfFrame  - Z - - F
        ",
    );
}

#[test]
fn a_frame_without_a_step_does_not_count() {
    let mut timeline = Timeline::with_executor(in_quarters(), 0.125);
    timeline.row("steps(1)", |mark| each(mark, 1));
    timeline.row("steps(2)", |mark| each(mark, 2));
    timeline.check(
        "
        frame    0 1 2 3 4 5 6 7 8
        steps(1) - - F - F - F - F
        steps(2) - - - - F - - - F
        ",
    );
}

#[test]
fn awaited_in_the_fixed_update_of_the_host_the_run_that_follows_is_the_first() {
    let mut executor = in_quarters();
    let log = Log::new();
    executor.begin_frame(0.75);
    let mut steps = 0;
    while executor.begin_fixed_step() {
        steps += 1;
        if steps == 1 {
            says(&executor, &log, "one", wait_steps(1));
            says(&executor, &log, "two", wait_steps(2));
        }
        log.note(format_args!("step {steps}"));
        executor.run_phase(FIXED);
    }
    log.check(&[
        "step 1",
        "F1.FixedUpdate: one",
        "step 2",
        "F1.FixedUpdate: two",
        "step 3",
    ]);
}

#[test]
fn runs_are_what_it_counts_also_those_that_a_host_repeats_or_makes_without_a_step() {
    let mut timeline = Timeline::with_executor(in_quarters(), 0.25);
    timeline.frames_are(|executor, dt| {
        executor.begin_frame(dt);
        // Frame 2 has a step, but no run of it.
        if executor.time().frame == 2 {
            assert!(executor.begin_fixed_step());
            return;
        }
        executor.run_phase(FIXED);
        executor.run_phase(FIXED);
    });
    for steps in [1, 2, 3] {
        timeline.row(&format!("steps({steps})"), |mark| each(mark, steps));
    }
    timeline.check(
        "
        frame    0 1  2 3  4
        steps(1) - FF - FF FF
        steps(2) - F  - F  F
        steps(3) - -  - F  F
        ",
    );
}

#[test]
fn the_largest_number_never_ends_and_can_be_stopped() {
    let mut executor = in_quarters();
    let first = executor.start(wait_steps(u64::MAX));
    step(&mut executor);
    let later = executor.start(wait_steps(u64::MAX));
    for _ in 0..1_000 {
        step(&mut executor);
    }
    assert!(!first.is_finished() && !later.is_finished());
    assert!(first.stop() && later.stop());
    executor.assert_empty();
}

#[test]
fn far_apart_counts_are_all_met() {
    let mut executor = in_quarters();
    let counts = [
        1, 2, 63, 64, 65, 127, 1_023, 1_024, 4_095, 4_096, 4_097, 10_000,
    ];
    let met = Rc::new(Cell::new(0));
    let done = Rc::new(Cell::new(0_u64));
    for count in counts {
        let (met, done) = (met.clone(), done.clone());
        executor.start(async move {
            wait_steps(count).await;
            assert_eq!(done.get(), count, "one too many or too few");
            met.set(met.get() + 1);
        });
    }
    for _ in 0..10_000 {
        done.set(done.get() + 1);
        executor.run_phase(FIXED);
    }
    assert_eq!(met.get(), counts.len());
    executor.assert_empty();
}

#[test]
fn it_does_the_same_at_every_frame_rate() {
    for (steps, times) in [(1, 300), (2, 150), (7, 42)] {
        frame_rates::check(times, |executor, say| {
            let say = say.clone();
            executor.start(async move {
                loop {
                    wait_steps(steps).await;
                    say.say("");
                }
            });
        });
    }
    // Beside other scripts, in the same order.
    frame_rates::check(300 + 150 + 100 + 100, |executor, say| {
        let script = |name: &'static str, wait: fn() -> LocalBoxFuture<'static, ()>| {
            let say = say.clone();
            executor.start(async move {
                loop {
                    wait().await;
                    say.say(name);
                }
            });
        };
        script("three steps", || wait_steps(3).boxed_local());
        script("50 ms", || wait_seconds(0.05).in_phase(FIXED).boxed_local());
        script("two steps", || wait_steps(2).boxed_local());
        script("each step", || fixed_update().boxed_local());
    });
}

// As a future

#[test]
fn its_type_has_a_name_and_it_returns_nothing() {
    struct Script {
        wait: WaitSteps,
    }
    let mut executor = in_quarters();
    let script = Script {
        wait: wait_steps(2),
    };
    let coroutine: Coroutine<()> = executor.start(script.wait);
    step(&mut executor);
    assert!(!coroutine.is_finished());
    step(&mut executor);
    assert!(coroutine.is_finished());
    assert!(format!("{:?}", wait_steps(3)).contains("WaitSteps"));
}

#[test]
fn it_is_never_ready_when_first_polled_and_stays_ready_once_it_is_due() {
    let mut executor = in_quarters();
    let script = executor.start(async {
        let mut wait = wait_steps(2);
        assert!(poll_once(&mut wait).await.is_pending());
        for ready in [false, true, true] {
            in_phase(Phase::EndOfFrame).await;
            if !ready {
                assert!(poll_once(&mut wait).await.is_pending());
            }
        }
        assert!(poll_once(&mut wait).await.is_ready());
    });
    for _ in 0..3 {
        step(&mut executor);
    }
    framestep_testkit::result_of(&executor, script).unwrap();
}

#[test]
fn a_coroutine_that_waits_for_steps_is_not_polled_in_those_between() {
    let mut executor = in_quarters();
    let polls = Rc::new(Cell::new(0));
    executor.start(counted(polls.clone(), wait_steps(100)));
    executor.run_frame(24.75);
    assert_eq!(polls.get(), 1);
    executor.run_frame(0.25);
    assert_eq!(polls.get(), 2);
    executor.assert_empty();
}

#[test]
fn it_works_inside_combinators() {
    let mut timeline = Timeline::with_executor(in_quarters(), 0.5);
    timeline.row("select", |mark| async move {
        let (mut steps, mut frames) = (wait_steps(3), wait_frames(3));
        futures::select_biased! {
            () = frames => unreachable!("due in frame 3"),
            () = steps => mark.hit(),
        }
    });
    timeline.row("join", |mark| async move {
        futures::join!(wait_steps(3), wait_steps(5));
        mark.hit();
    });
    timeline.row("unordered", |mark| async move {
        let mut waits: FuturesUnordered<_> = (1..=6).map(wait_steps).collect();
        while waits.next().await.is_some() {
            mark.hit();
        }
    });
    timeline.row("swallow", |mark| async move {
        swallow(wait_steps(4)).await;
        mark.hit();
    });
    timeline.row("timeout", |mark| async move {
        assert!(timeout(0.75, wait_steps(4)).in_phase(FIXED).await.is_err());
        assert!(timeout(0.75, wait_steps(3)).in_phase(FIXED).await.is_ok());
        mark.hit();
    });
    timeline.check(
        "
        frame     0 1  2  3  4
        select    - -  F
        join      - -  -  F
        unordered - FF FF FF
        swallow   - -  F
        timeout   - -  -  F
        ",
    );
}

#[test]
fn dropping_it_forgets_it() {
    let mut executor = in_quarters();
    let polls = Rc::new(Cell::new(0));
    let waits = async {
        select(wait_steps(5), wait_steps(1)).await;
        pending::<()>().await;
    };
    executor.start(counted(polls.clone(), waits));
    for _ in 0..10 {
        step(&mut executor);
    }
    assert_eq!(polls.get(), 2);
    assert!(!executor.has_ready());
    assert_eq!(executor.next_deadline(), None);
}

#[test]
fn one_that_goes_to_another_coroutine_is_due_when_it_would_have_been() {
    let mut executor = in_quarters();
    let log = Log::new();
    let slot = Rc::new(RefCell::new(None));
    let give = slot.clone();
    executor.start(async move {
        let mut wait = wait_steps(3);
        assert!(poll_once(&mut wait).await.is_pending());
        give.replace(Some(wait));
    });
    step(&mut executor);
    let wait = slot.take().expect("it was given away");
    says(&executor, &log, "there", wait);
    step(&mut executor);
    log.check(&[]);
    step(&mut executor);
    log.check(&["F3.FixedUpdate: there"]);
}

#[test]
fn outside_of_an_executor_it_panics_with_its_name() {
    let mut wait = wait_steps(1);
    let panic = framestep_testkit::panic_of(|| (&mut wait).now_or_never());
    assert!(panic.contains("wait_steps"), "{panic}");
}

// docs/contract.md#rule-8-order

#[test]
fn one_step_stands_with_the_waiters_of_the_phase_and_two_after_them() {
    let mut executor = in_quarters();
    let log = Log::new();
    let timer = wait_seconds(0.5).in_phase(FIXED);
    says(&executor, &log, "timer", timer);
    says(&executor, &log, "two", wait_steps(2));
    says(&executor, &log, "two, too", wait_steps(2));
    step(&mut executor);
    says(
        &executor,
        &log,
        "until",
        wait_until(|| true).in_phase(FIXED),
    );
    says(&executor, &log, "one", wait_steps(1));
    says(&executor, &log, "fixed", fixed_update());
    says(&executor, &log, "none", wait_steps(0));
    step(&mut executor);
    log.check(&[
        "F2.FixedUpdate: until",
        "F2.FixedUpdate: one",
        "F2.FixedUpdate: fixed",
        "F2.FixedUpdate: none",
        "F2.FixedUpdate: two",
        "F2.FixedUpdate: two, too",
        "F2.FixedUpdate: timer",
    ]);
}

#[test]
fn those_of_one_step_resume_as_they_were_registered_however_many_they_count() {
    let mut executor = in_quarters();
    let log = Log::new();
    says(&executor, &log, "since step 0", wait_steps(4));
    step(&mut executor);
    says(&executor, &log, "since step 1", wait_steps(3));
    step(&mut executor);
    says(&executor, &log, "since step 2", wait_steps(2));
    executor.run_frame(0.5);
    log.check(&[
        "F3.FixedUpdate: since step 0",
        "F3.FixedUpdate: since step 1",
        "F3.FixedUpdate: since step 2",
    ]);
}

// docs/contract.md#decided-frames-before-steps
#[test]
fn frames_go_before_steps() {
    let mut executor = in_quarters();
    let log = Log::new();
    says(&executor, &log, "steps, first", wait_steps(3));
    says(&executor, &log, "frames", wait_frames(3).in_phase(FIXED));
    says(&executor, &log, "steps, later", wait_steps(3));
    says(
        &executor,
        &log,
        "frames, later",
        wait_frames(3).in_phase(FIXED),
    );
    for _ in 0..3 {
        step(&mut executor);
    }
    log.check(&[
        "F3.FixedUpdate: frames",
        "F3.FixedUpdate: frames, later",
        "F3.FixedUpdate: steps, first",
        "F3.FixedUpdate: steps, later",
    ]);
}

#[test]
fn who_counts_steps_and_something_else_is_polled_once_at_the_earliest_place() {
    let mut executor = in_quarters();
    let log = Log::new();
    let polls = Rc::new(Cell::new(0));
    says(&executor, &log, "steps", wait_steps(2));
    let both = join(wait_steps(2), wait_frames(2).in_phase(FIXED));
    says(
        &executor,
        &log,
        "frames and steps",
        counted(polls.clone(), both),
    );
    let timer = wait_seconds(0.5).in_phase(FIXED);
    let both = join(timer, wait_steps(2));
    says(
        &executor,
        &log,
        "steps and timer",
        counted(polls.clone(), both),
    );
    polls.take();
    executor.run_frame(0.25);
    executor.run_frame(0.25);
    log.check(&[
        "F2.FixedUpdate: frames and steps",
        "F2.FixedUpdate: steps",
        "F2.FixedUpdate: steps and timer",
    ]);
    assert_eq!(polls.get(), 2);
}

// docs/contract.md#rule-12-pause

#[test]
fn steps_are_counted_in_a_pause() {
    let executor = in_quarters();
    let owner = executor.owner();
    let mut timeline = Timeline::with_executor(executor, 0.5);
    for steps in [1, 3, 6, 8, 9, 11] {
        timeline.row_on(&owner, &format!("steps({steps})"), |mark| async move {
            wait_steps(steps).await;
            mark.hit();
            wait_steps(2).await;
            mark.hit();
        });
    }
    timeline.run_to(1);
    owner.pause();
    timeline.run_to(3);
    owner.resume();
    // Paused from the third step to the sixth.
    timeline.check(
        "
        frame     0 1 2 3 4  5  6 7
        steps(1)  - F - - F
        steps(3)  - - - - F  F
        steps(6)  - - - - F  F
        steps(8)  - - - - F  F
        steps(9)  - - - - -  F  F
        steps(11) - - - - -  -  F F
        ",
    );
}

#[test]
fn due_in_a_pause_it_is_a_wake_of_the_fixed_phase() {
    let mut executor = in_quarters();
    let log = Log::new();
    let owner = Rc::new(executor.owner());
    let say = log.clone();
    owner.start(async move {
        join(wait_steps(2), wait_frames(2)).await;
        say.say("both");
    });
    owner.pause();
    for _ in 0..3 {
        step(&mut executor);
    }
    let own = owner.clone();
    executor.start(async move {
        in_phase(Phase::LateUpdate).await;
        own.resume();
    });
    step(&mut executor);
    log.check(&[]);
    says(&executor, &log, "a waiter", fixed_update());
    step(&mut executor);
    log.check(&["F5.FixedUpdate: both", "F5.FixedUpdate: a waiter"]);
}

#[test]
fn resumed_in_a_step_it_continues_later_in_that_step() {
    let mut executor = in_quarters();
    let log = Log::new();
    let owner = Rc::new(executor.owner());
    let say = log.clone();
    owner.start(async move {
        loop {
            wait_steps(2).await;
            say.say(time().fixed_elapsed.as_millis());
        }
    });
    owner.pause();
    let (own, say) = (owner.clone(), log.clone());
    executor.start(async move {
        wait_steps(3).await;
        own.resume();
        say.say("resumes");
    });
    executor.run_frame(1.5);
    log.check(&[
        "F1.FixedUpdate: resumes",
        "F1.FixedUpdate: 750",
        "F1.FixedUpdate: 1250",
    ]);
}
