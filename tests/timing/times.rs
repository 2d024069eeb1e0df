//! The readings of `time`, in each place.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::PHASES;
use framestep_testkit::timeline::unclamped;

fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[test]
fn before_the_first_frame_no_time_has_passed() {
    let time = Executor::new().time();
    assert_eq!(time.frame, 0);
    assert_eq!(time.delta, Duration::ZERO);
    assert_eq!(time.elapsed, Duration::ZERO);
    assert_eq!(time.unscaled_delta, Duration::ZERO);
    assert_eq!(time.unscaled_elapsed, Duration::ZERO);
    assert_eq!(time.fixed_elapsed, Duration::ZERO);
    assert_eq!(time.scale.to_bits(), 1.0_f64.to_bits());
    assert_eq!(time.phase, None);
}

#[test]
fn begin_frame_counts_the_frame_and_advances_the_clocks() {
    let mut executor = unclamped();
    for (frame, dt, elapsed) in [(1, 250, 250), (2, 500, 750), (3, 125, 875)] {
        executor.begin_frame(millis(dt));
        let time = executor.time();
        assert_eq!(time.frame, frame);
        assert_eq!(time.delta, millis(dt));
        assert_eq!(time.elapsed, millis(elapsed));
        assert_eq!(time.unscaled_delta, millis(dt));
        assert_eq!(time.unscaled_elapsed, millis(elapsed));
    }
}

#[test]
fn running_phases_moves_no_clock() {
    let mut executor = unclamped();
    executor.begin_frame(0.25);
    for phase in PHASES {
        executor.run_phase(phase);
    }
    assert_eq!(executor.time().frame, 1);
    assert_eq!(executor.time().elapsed, millis(250));
}

#[test]
fn a_coroutine_reads_the_time_and_phase_of_its_run() {
    let executor = Executor::builder().max_delta(1).fixed_delta(0.25).build();
    let mut executor = executor;
    let seen = Rc::new(RefCell::new(Vec::new()));
    for phase in PHASES.into_iter().chain([Phase::Custom(5)]) {
        let seen = seen.clone();
        executor.start(async move {
            assert_eq!(time().phase, None, "started outside a run");
            in_phase(phase).await;
            let now = time();
            seen.borrow_mut().push((now.phase, now.frame, now.elapsed));
        });
    }
    executor.run_frame(0.25);
    executor.run_phase(Phase::Custom(5));
    let expected: Vec<_> = PHASES
        .into_iter()
        .chain([Phase::Custom(5)])
        .map(|phase| (Some(phase), 1, millis(250)))
        .collect();
    assert_eq!(*seen.borrow(), expected);
    assert_eq!(executor.time().phase, None);
}

#[test]
fn delta_seconds_is_the_delta_of_the_frame() {
    let mut executor = unclamped();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let see = seen.clone();
    executor.start(async move {
        loop {
            see.borrow_mut().push(delta_seconds());
            next_frame().await;
        }
    });
    executor.run_frame(0.25);
    executor.run_frame(0.0625);
    executor.run_frame(0);
    assert_eq!(*seen.borrow(), [0.0, 0.25, 0.0625, 0.0]);
}

#[test]
fn run_frame_is_the_sum_of_its_parts() {
    type Trace = Rc<RefCell<Vec<(u64, Option<Phase>, Duration)>>>;
    fn watched() -> (Executor, Trace) {
        let executor = Executor::builder().max_delta(1).fixed_delta(0.125).build();
        let trace = Trace::default();
        for phase in PHASES {
            let trace = trace.clone();
            executor.start(async move {
                loop {
                    in_phase(phase).await;
                    let now = time();
                    trace.borrow_mut().push((now.frame, now.phase, now.elapsed));
                }
            });
        }
        (executor, trace)
    }
    let (mut whole, whole_trace) = watched();
    let (mut parts, parts_trace) = watched();
    for dt in [0.25, 0.0, 0.0625, 0.375] {
        whole.run_frame(dt);
        parts.begin_frame(dt);
        for phase in PHASES {
            while phase == Phase::FixedUpdate && parts.begin_fixed_step() {
                parts.run_phase(phase);
            }
            if phase != Phase::FixedUpdate {
                parts.run_phase(phase);
            }
        }
    }
    assert_eq!(whole_trace, parts_trace);
    assert_eq!(whole_trace.borrow().len(), 4 * (PHASES.len() - 1) + 2 + 3);
}
