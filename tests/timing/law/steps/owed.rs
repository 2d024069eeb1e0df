//! Waits on fixed steps that begin while steps are owed: in `EarlyUpdate`, for example, before
//! the steps of the frame.

use super::*;

type Wait = (&'static str, fn() -> LocalBoxFuture<'static, ()>);

/// Awaits in `EarlyUpdate` of frame 1, which reads 1 s and owes four steps, and notes the time
/// of the step in which the wait is over.
fn begun_before_the_steps(waits: &[Wait]) -> Log {
    let (mut executor, log) = (in_quarters(), Log::new());
    for &(name, wait) in waits {
        let log = log.clone();
        executor.start(async move {
            in_phase(Phase::EarlyUpdate).await;
            wait().await;
            log.note(format!("{name} {}", time().elapsed.as_millis()));
        });
    }
    executor.run_frames(2, 1);
    executor.assert_empty();
    log
}

// docs/contract.md#time-zero
#[test]
fn what_has_no_length_ends_in_the_next_step_however_many_are_owed() {
    let log = begun_before_the_steps(&[
        ("zero", || wait_seconds(0).in_phase(FIXED).boxed_local()),
        ("negative", || {
            wait_seconds(-1).in_phase(FIXED).boxed_local()
        }),
        ("of a child", || {
            let half = clock().child();
            half.set_scale(0.5);
            half.wait_seconds(0).in_phase(FIXED).boxed_local()
        }),
        ("in realtime", || {
            let wait = wait_seconds_realtime(0).in_phase(FIXED);
            wait.boxed_local()
        }),
        ("timeout", || {
            let wait = timeout(0, pending::<()>()).in_phase(FIXED);
            wait.map(drop).boxed_local()
        }),
        ("animate", || {
            animate(0, |_| ()).in_phase(FIXED).boxed_local()
        }),
    ]);
    log.check(&[
        "animate 250",
        "zero 250",
        "negative 250",
        "timeout 250",
        "in realtime 250",
        "of a child 250",
    ]);
}

// docs/contract.md#stepped-waits
#[test]
fn an_interval_counts_from_the_same_time_as_a_wait() {
    let log = begun_before_the_steps(&[
        ("wait", || wait_seconds(0.3).in_phase(FIXED).boxed_local()),
        ("interval", || {
            let tick = async { interval(0.3).in_phase(FIXED).tick().await };
            tick.map(drop).boxed_local()
        }),
        ("timeout", || {
            let wait = timeout(0.3, pending::<()>()).in_phase(FIXED);
            wait.map(drop).boxed_local()
        }),
    ]);
    // From 1 s on, the time of the frame.
    log.check(&["wait 1500", "interval 1500", "timeout 1500"]);
}

// docs/contract.md#decided-interval
#[test]
fn a_tick_that_is_awaited_before_its_step_comes_in_that_step() {
    for (period, expected) in [
        (0.5, ["750, late 0", "1250, late 0", "2250, late 500"]),
        (0.6, ["1000, late 150", "1500, late 50", "2250, late 200"]),
        (0.25, ["500, late 0", "1250, late 500", "2250, late 1250"]),
    ] {
        let (mut executor, log) = (in_quarters(), Log::new());
        let say = log.clone();
        executor.start(async move {
            fixed_update().await;
            let mut ticks = interval(period).in_phase(FIXED);
            for _ in 0..3 {
                let late = ticks.tick().await.late.as_millis();
                say.note(format!("{}, late {late}", time().elapsed.as_millis()));
                // The steps of the next frame are owed.
                in_phase(Phase::EarlyUpdate).await;
            }
        });
        executor.run_frames(3, 1);
        log.check(&expected);
    }
}
