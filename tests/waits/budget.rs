//! `Budget`: the share of a frame for each long job.

use std::cell::Cell;
use std::rc::Rc;

use futures::future::FusedFuture;
use futures::{FutureExt, select_biased};

use framestep::prelude::*;

use framestep_testkit::allocations_of;
use framestep_testkit::timeline::{Timeline, unclamped};
use framestep_testkit::{counted, panic_of, panic_text, poll_once, result_of, swallow};

/// A row of so many steps, each a mark and then a checkpoint of `cost`.
fn job(timeline: &mut Timeline, name: &str, budget: &Budget, steps: u32, cost: u64) {
    let budget = budget.clone();
    timeline.row(name, |mark| async move {
        next_frame().await;
        for _ in 0..steps {
            mark.hit();
            budget.checkpoint_cost(cost).await;
        }
    });
}

#[test]
fn it_continues_at_once_until_the_units_are_spent() {
    let mut timeline = Timeline::with_dt(0.25);
    job(&mut timeline, "one", &Budget::of_units(3), 7, 1);
    job(&mut timeline, "two", &Budget::of_units(4), 5, 2);
    job(&mut timeline, "uneven", &Budget::of_units(4), 5, 3);
    job(&mut timeline, "dear", &Budget::of_units(4), 3, 100);
    job(&mut timeline, "zero", &Budget::of_units(0), 3, 1);
    job(&mut timeline, "free", &Budget::of_units(2), 5, 0); // counts as 1
    timeline.check(
        "
        frame  0 1   2   3  4
        one    - *** *** *
        two    - **  **  *
        uneven - **  **  *
        dear   - *   *   *
        zero   - *   *   *
        free   - **  **  *
        ",
    );
}

#[test]
fn it_is_divided_evenly_in_any_order_of_resumes() {
    let mut timeline = Timeline::with_dt(0.25);
    let budget = Budget::of_units(6);
    for name in ["a", "b", "c"] {
        job(&mut timeline, name, &budget, 7, 1);
    }
    // In the frame when they join, the first one takes the unpromised part.
    timeline.check(
        "
        frame 0 1      2   3   4   5
        a     - ****** *
        b     - *      *** ***
        c     - *      **  *** *
        ",
    );
}

#[test]
fn dear_steps_of_one_do_not_starve_the_others() {
    let mut timeline = Timeline::with_dt(0.25);
    let budget = Budget::of_units(6);
    job(&mut timeline, "dear", &budget, 100, 50);
    job(&mut timeline, "cheap", &budget, 100, 1);
    timeline.check(
        "
        frame 0 1 2   3   4
        dear  - * *   *   *
        cheap - * *** *** ***
        ",
    );
}

#[test]
fn with_nothing_to_spend_each_makes_a_step_a_frame() {
    let mut timeline = Timeline::with_dt(0.25);
    for (units, names) in [(0, ["a", "b", "c"]), (2, ["d", "e", "f"])] {
        let budget = Budget::of_units(units);
        for name in names {
            job(&mut timeline, name, &budget, 100, 10);
        }
    }
    timeline.check(
        "
        frame 0 1 2 3 4
        a     - * * * *
        b     - * * * *
        c     - * * * *
        d     - * * * *
        e     - * * * *
        f     - * * * *
        ",
    );
}

#[test]
fn over_many_frames_all_get_the_same() {
    for (units, jobs) in [(7, 3), (100, 7), (5, 3), (1, 1), (11, 4)] {
        let mut executor = unclamped();
        let budget = Budget::of_units(units);
        let counts: Vec<_> = (0..jobs).map(|_| Rc::new(Cell::new(0_u64))).collect();
        for count in &counts {
            let (count, budget) = (count.clone(), budget.clone());
            executor.start(async move {
                next_frame().await;
                loop {
                    count.set(count.get() + 1);
                    budget.checkpoint().await;
                }
            });
        }
        executor.run_frame(0.25); // they join
        let before: Vec<_> = counts.iter().map(|count| count.get()).collect();
        let mut last = before.iter().sum::<u64>();
        for _ in 0..jobs * 10 {
            executor.run_frame(0.25);
            let sum: u64 = counts.iter().map(|count| count.get()).sum();
            assert_eq!(sum - last, units, "all of the budget is used, and no more");
            last = sum;
        }
        for (count, before) in counts.iter().zip(before) {
            let steps = count.get() - before;
            let fair = units * 10;
            assert!(
                steps.abs_diff(fair) <= 1,
                "{units} among {jobs}: {steps} of {fair}"
            );
        }
    }
}

#[test]
fn what_one_leaves_over_goes_to_the_others_in_the_same_frame() {
    let mut timeline = Timeline::with_dt(0.25);
    let budget = Budget::of_units(6);
    // The job that ends early is the first, the middle or the last one.
    for (name, steps) in [("a", 20), ("b", 20)] {
        job(&mut timeline, name, &budget, steps, 1);
    }
    let short = budget.clone();
    timeline.row("short", |mark| async move {
        next_frame().await;
        mark.hit();
        short.checkpoint().await;
        mark.hit(); // what this has cost it does not say
        drop(short);
        next_frame().await;
    });
    timeline.check(
        "
        frame 0 1      2   3
        a     - ****** *** ***
        b     - *      *** ***
        short - *      *
        ",
    );
}

#[test]
fn a_job_that_waits_for_something_else_leaves_its_share_as_well() {
    let mut executor = unclamped();
    let budget = Budget::of_units(8);
    let steps = Rc::new(Cell::new(0));
    let (count, busy) = (steps.clone(), budget.clone());
    executor.start(async move {
        next_frame().await;
        loop {
            count.set(count.get() + 1);
            busy.checkpoint().await;
        }
    });
    executor.start(async move {
        next_frame().await;
        loop {
            budget.checkpoint().await; // one step a frame
            next_frame().await;
        }
    });
    executor.run_frame(0.25);
    for frame in 2..20 {
        let before = steps.get();
        executor.run_frame(0.25);
        let in_frame = steps.get() - before;
        assert!((7..=8).contains(&in_frame), "{in_frame} in frame {frame}");
    }
}

#[test]
fn a_job_alone_costs_one_poll_a_frame() {
    let mut executor = unclamped();
    let (polls, budget) = (Rc::new(Cell::new(0)), Budget::of_units(10));
    executor.start(counted(polls.clone(), async move {
        for _ in 0..100 {
            budget.checkpoint().await;
        }
    }));
    for _ in 0..9 {
        executor.run_frame(0.25);
    }
    assert_eq!(polls.get(), 10);
}

#[test]
fn jobs_may_be_in_several_phases() {
    let mut timeline = Timeline::with_a_fixed_step_each(0.25);
    let budget = Budget::of_units(4);
    for (name, phase) in [
        ("early", Phase::EarlyUpdate),
        ("fixed", Phase::FixedUpdate),
        ("update", Phase::Update),
        ("late", Phase::LateUpdate),
    ] {
        let budget = budget.clone();
        timeline.row(name, |mark| async move {
            budget.checkpoint_cost(100).in_phase(phase).await;
            loop {
                mark.hit();
                budget.checkpoint().in_phase(phase).await;
            }
        });
    }
    timeline.check(
        "
        frame  0 1 2 3
        early  - E E E
        fixed  - F F F
        update - * * *
        late   - L L L
        ",
    );
}

#[test]
fn a_checkpoint_may_be_dropped() {
    let mut timeline = Timeline::with_dt(0.25);
    let budget = Budget::of_units(2);
    let other = budget.clone();
    timeline.row("select", |mark| async move {
        next_frame().await;
        loop {
            mark.hit();
            let mut checkpoint = other.checkpoint_cost(100);
            select_biased! {
                () = next_frame().in_phase(Phase::EarlyUpdate) => assert!(!checkpoint.is_terminated()),
                () = checkpoint => unreachable!(),
            }
        }
    });
    job(&mut timeline, "job", &budget, 100, 1);
    timeline.check(
        "
        frame  0 1 2  3  4
        select - * E  E  E
        job    - * ** ** **
        ",
    );
}

#[test]
fn a_job_that_is_stopped_leaves_everything_to_the_others() {
    let mut executor = unclamped();
    let budget = Budget::of_units(4);
    let counts = [(); 2].map(|()| Rc::new(Cell::new(0)));
    let jobs = counts.each_ref().map(|count| {
        let (count, budget) = (count.clone(), budget.clone());
        executor.start(async move {
            loop {
                count.set(count.get() + 1);
                budget.checkpoint().await;
            }
        })
    });
    executor.run_frame(0.25);
    jobs[0].stop();
    let before = counts[1].get();
    executor.run_frame(0.25);
    assert_eq!(counts[1].get() - before, 4);
    assert!(
        format!("{budget:?}").contains("jobs: 2, waiting: 1"),
        "{budget:?}"
    );
}

#[test]
fn it_works_inside_combinators() {
    let mut executor = unclamped();
    let budget = Budget::of_units(0);
    let frames = executor.run_until(
        async move {
            let other = budget.clone();
            // Two jobs in one coroutine, one of which has two branches.
            let ((), (), ()) = futures::join!(
                swallow(budget.checkpoint()),
                budget.checkpoint(),
                other.checkpoint()
            );
            assert_eq!(time().frame, 1);
            assert!(timeout(1, budget.checkpoint()).await.is_ok());
            time().frame
        },
        0.25,
    );
    assert_eq!(frames, 2);
}

#[test]
fn clones_made_for_each_step_hold_no_frame() {
    let mut executor = unclamped();
    let frame = executor.run_until(
        async {
            let budget = Budget::of_units(5);
            for _ in 0..20 {
                let fresh = budget.clone();
                fresh.checkpoint().await;
            }
            time().frame
        },
        0.25,
    );
    assert!(frame >= 3, "{frame}");
}

#[test]
fn a_budget_of_time_lets_small_jobs_through() {
    let mut executor = unclamped();
    // Nothing here depends on the speed of the machine.
    let endless = Budget::new(f64::INFINITY);
    let frame = executor.run_until(
        async move {
            for _ in 0..1_000 {
                endless.checkpoint().await;
            }
            time().frame
        },
        0.25,
    );
    assert_eq!(frame, 0);
    for nothing in [0.0, -1.0] {
        let none = Budget::new(nothing);
        let other = none.clone();
        let mut executor = unclamped();
        let waits = executor.start(async move {
            for _ in 0..5 {
                other.checkpoint().await;
            }
            time().frame
        });
        let frame = executor.run_until(
            async move {
                for _ in 0..5 {
                    none.checkpoint().await;
                }
                time().frame
            },
            0.25,
        );
        assert_eq!(frame, 5);
        assert_eq!(result_of(&executor, waits).unwrap(), 5);
    }
}

#[test]
fn a_length_of_nan_is_refused_at_once() {
    assert!(panic_of(|| Budget::new(f32::NAN)).contains("NaN"));
}

#[test]
fn outside_of_an_executor_it_says_so() {
    let text = panic_of(|| Budget::of_units(1).checkpoint().now_or_never());
    assert!(
        text.contains("`Budget::checkpoint()` was polled outside"),
        "{text}"
    );
}

#[test]
fn a_panic_of_one_job_is_none_of_the_others() {
    let mut executor = unclamped();
    let budget = Budget::of_units(4);
    let other = budget.clone();
    let panics = executor.start(async move {
        other.checkpoint_cost(9).await;
        panic!("on purpose");
    });
    let goes_on = executor.start(async move {
        for _ in 0..8 {
            budget.checkpoint().await;
        }
        time().frame
    });
    assert_eq!(executor.run_until(goes_on, 0.25).unwrap(), 2);
    let error = result_of::<()>(&executor, panics).unwrap_err();
    assert_eq!(panic_text(&*error.into_panic()), "on purpose");
}

#[test]
fn checkpoints_do_not_allocate() {
    let mut executor = unclamped();
    for budget in [Budget::of_units(100), Budget::of_units(0), Budget::new(0)] {
        for _ in 0..10 {
            let budget = budget.clone();
            executor.start(async move {
                loop {
                    budget.checkpoint().await;
                }
            });
        }
    }
    let mut frames = |count| {
        for _ in 0..count {
            executor.run_frame(0.25);
        }
    };
    frames(200);
    assert_eq!(allocations_of(|| frames(200)), 0);
}

#[test]
fn a_checkpoint_that_is_forgotten_holds_up_no_other_job() {
    let mut executor = unclamped();
    let budget = Budget::of_units(2);
    let others = [0, 1].map(|_| {
        let budget = budget.clone();
        executor.start(async move {
            for _ in 0..4 {
                budget.checkpoint().await;
            }
            time().frame
        })
    });
    let forgets = executor.start(async move {
        let mut wait = budget.checkpoint_cost(100);
        assert!(poll_once(&mut wait).await.is_pending());
        std::mem::forget(wait);
    });
    assert!(forgets.is_finished());
    for _ in 0..5 {
        executor.run_frame(0.25);
    }
    for other in others {
        assert!(result_of(&executor, other).unwrap() <= 4);
    }
}

#[test]
#[should_panic(expected = "`in_phase` was called on a checkpoint that has begun")]
fn a_phase_is_named_before_the_first_poll() {
    let mut executor = unclamped();
    executor.run_until(
        async {
            let budget = Budget::of_units(1);
            let mut wait = budget.checkpoint_cost(2);
            assert!(futures::poll!(&mut wait).is_pending());
            drop(wait.in_phase(Phase::LateUpdate));
        },
        0.25,
    );
}

#[test]
fn a_checkpoint_without_a_phase_resumes_at_home() {
    let mut executor = unclamped();
    let phase = executor
        .script("")
        .in_phase(Phase::LateUpdate)
        .start(async {
            let budget = Budget::of_units(1);
            budget.checkpoint_cost(2).await;
            time().phase
        });
    assert_eq!(
        executor.run_until(phase, 0.25).unwrap(),
        Some(Phase::LateUpdate)
    );
}
