//! `next_frame`: docs/contract.md#law-next-frame

use super::*;

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
fn the_time_after_next_frame_is_that_of_the_new_frame() {
    let mut executor = unclamped();
    let seen = Rc::new(Cell::new(None));
    let see = seen.clone();
    executor.start(async move {
        next_frame().await;
        see.set(Some(time()));
    });
    executor.run_frame(0.25);
    let time = seen.get().expect("resumed in frame 1");
    assert_eq!(time.frame, 1);
    assert_eq!(time.delta, Duration::from_millis(250));
    assert_eq!(time.elapsed, Duration::from_millis(250));
    assert_eq!(time.phase, Some(Phase::Update));
}
