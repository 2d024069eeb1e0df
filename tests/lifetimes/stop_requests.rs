//! Requests to stop, which scripts read: `request_stop`, `stop_within`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::StreamExt;
use futures::stream::FuturesUnordered;

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::timeline::{Log, Timeline, unclamped};
use framestep_testkit::{allocations_of, counted, forever, panic_of, poll_once};

/// Ends `seconds` after it is requested to stop.
async fn fades(log: Log, name: &'static str, seconds: f64) {
    stop_requested().await;
    log.say(format!("{name} hears"));
    wait_seconds(seconds).await;
    log.say(format!("{name} ends"));
}

// docs/contract.md#decided-stop-requests
#[test]
fn a_request_is_read_at_home_like_a_signal() {
    let mut timeline = Timeline::with_a_fixed_step_each(0.25);
    let owner = timeline.executor().owner();
    for phase in [Phase::FixedUpdate, Phase::Update, Phase::LateUpdate] {
        timeline.row_on(&owner, &format!("{phase:?}"), |mark| async move {
            script("")
                .in_phase(phase)
                .start(async move {
                    stop_requested().await;
                    mark.hit();
                })
                .await
                .unwrap();
        });
    }
    timeline.row("asks", |mark| async move {
        wait_frames(2).await;
        owner.request_stop();
        mark.hit();
        forever().await;
        drop(owner);
    });
    timeline.check(
        "
        frame       0 1 2 3
        FixedUpdate - - - F
        Update      - - *
        LateUpdate  - - L
        asks        - - * -
        ",
    );
}

#[test]
fn what_is_asked_is_the_present_and_its_children() {
    let mut executor = unclamped();
    let seen: Rc<RefCell<Vec<(&str, bool)>>> = Rc::default();
    let look = |name| {
        let seen = seen.clone();
        move || seen.borrow_mut().push((name, is_stop_requested()))
    };
    let owner = executor.owner();
    let below = owner.child();
    let [child, grandchild, unrelated, later, nobody] =
        ["child", "below", "unrelated", "later", "nobody"].map(look);
    let other = executor.owner();
    let other_handle = other.handle();
    let below_handle = below.handle();
    owner.start(async move {
        stop_requested().await;
        start(async move { child() });
        below_handle.start(async move { grandchild() });
        other_handle.start(async move { unrelated() });
    });
    executor.run_frame(1);
    owner.request_stop();
    owner.start(async move { later() });
    executor.start(async move { nobody() });
    executor.run_frame(1);
    assert_eq!(
        *seen.borrow(),
        [
            ("later", false),
            ("nobody", false),
            ("child", true),
            ("below", true),
            ("unrelated", false),
        ]
    );
}

#[test]
fn it_stays_asked_and_ready_and_costs_no_polls_before() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let polls = Rc::new(Cell::new(0));
    let script = owner.start(counted(polls.clone(), async {
        stop_requested().await;
        stop_requested().await;
        assert!(is_stop_requested());
    }));
    executor.run_frames(10, 1);
    assert_eq!(polls.get(), 1);
    owner.request_stop();
    executor.run_frame(1);
    assert!(script.is_finished());
    assert_eq!(polls.get(), 2);
}

#[test]
fn behind_other_combinators_it_wakes_their_wakers() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let script = owner.start(async {
        let mut two = FuturesUnordered::from_iter([stop_requested(), stop_requested()]);
        two.next().await;
        two.next().await;
    });
    owner.request_stop();
    executor.run_frame(1);
    assert!(script.is_finished());
}

#[test]
fn without_a_request_it_is_never_over_and_leaves_nothing_behind() {
    let mut executor = unclamped();
    let script = executor.start(stop_requested());
    let owner = executor.owner();
    owner.start(async {
        loop {
            assert!(poll_once(&mut stop_requested()).await.is_pending());
            next_frame().await;
        }
    });
    executor.run_frames(100, 1);
    assert_eq!(allocations_of(|| executor.run_frames(1000, 1)), 0);
    assert!(!script.is_finished());
    drop(owner);
    assert!(panic_of(|| futures::executor::block_on(stop_requested())).contains("polled outside"));
    assert!(panic_of(is_stop_requested).contains("`is_stop_requested` was called outside"));
    assert!(!executor.enter(is_stop_requested));
}

#[test]
fn snapshots_show_it() {
    let executor = unclamped();
    let owner = executor.owner();
    let script = owner.start(stop_requested());
    let snapshot = executor.snapshot();
    let wait = snapshot.get(script.id()).unwrap().waits().next().unwrap();
    assert_eq!(wait.to_string(), "a request to stop");
}

// docs/contract.md#decided-stop-requests
#[test]
fn stop_within_stops_what_is_left_when_the_time_is_over() {
    let mut executor = unclamped();
    let log = Log::new();
    let owner = executor.owner();
    owner.start(fades(log.clone(), "short", 0.25));
    owner.start(fades(log.clone(), "exact", 0.5));
    owner.start(fades(log.clone(), "long", 0.75));
    owner.start(forever());
    executor.run_frame(0.25);
    let stopped = owner.stop_within(0.5);
    let say = log.clone();
    executor.start(async move {
        let stopped = stopped.await;
        say.say(format!("{stopped} stopped"));
    });
    executor.run_frames(9, 0.25);
    log.check(&[
        "F2: short hears",
        "F2: exact hears",
        "F2: long hears",
        "F3: short ends",
        "F4: exact ends",
        "F4: 2 stopped",
    ]);
    executor.assert_empty();
}

#[test]
fn it_is_over_as_soon_as_all_have_ended_by_themselves() {
    let mut executor = unclamped();
    let log = Log::new();
    let owner = executor.owner();
    assert_eq!(executor.run_until(owner.stop_within(9), 0.25), 0);
    let frame = executor.time().frame;
    owner.start(fades(log, "one", 0.25));
    let stopped = executor.run_until(owner.stop_within(9), 0.25);
    assert_eq!((stopped, executor.time().frame), (0, frame + 2));
    // Its timer is gone.
    assert_eq!(executor.next_deadline(), None);
}

/// ```text
/// owner  stop_within(1) | the last old one ends | a new one starts, and lives
/// owner  stop_within(1) | one is left           | a new one starts | both are stopped
/// ```
// docs/contract.md#decided-stop-requests
#[test]
fn what_is_started_later_goes_on_if_all_had_ended_and_else_is_stopped_with_the_rest() {
    for is_one_left in [false, true] {
        let mut executor = unclamped();
        let owner = executor.owner();
        owner.start(stop_requested());
        if is_one_left {
            owner.start(forever());
        }
        let stopped = executor.start(owner.stop_within(1));
        executor.run_frame(0.25);
        let late = owner.start(forever());
        executor.run_frames(8, 0.25);
        assert_eq!(late.is_finished(), is_one_left);
        let count = stopped.take_output().unwrap().unwrap();
        assert_eq!(count, if is_one_left { 2 } else { 0 });
    }
}

#[test]
fn it_happens_without_an_await_on_the_clock_of_the_owner() {
    let mut executor = unclamped();
    let half = executor.clock().child();
    half.set_scale(0.5);
    let owner = executor.owner_on(&half);
    owner.start(async {
        stop_requested().await;
        forever().await;
    });
    drop(owner.stop_within(1));
    executor.run_frames(8, 0.25);
    assert!(!owner.is_empty());
    executor.run_frame(0.25);
    assert!(owner.is_empty());
    executor.assert_empty();
}

#[test]
fn it_ends_with_the_owner_and_with_those_above() {
    let mut executor = unclamped();
    let top = executor.owner();
    let owner = top.child();
    owner.start(forever());
    let stopped = executor.start(owner.stop_within(60));
    executor.run_frame(1);
    drop(top);
    executor.run_frame(1);
    assert_eq!(stopped.take_output().unwrap().unwrap(), 0);
    executor.assert_empty();
    let handle = owner.handle();
    drop(owner);
    handle.request_stop();
    assert_eq!(executor.run_until(handle.stop_within(1), 1), 0);
}

fn reports_of(executor: &Executor) -> Rc<RefCell<Vec<String>>> {
    let reports: Rc<RefCell<Vec<String>>> = Rc::default();
    let heard = reports.clone();
    executor.on_report(move |report| heard.borrow_mut().push(report.to_string()));
    reports
}

#[test]
fn a_request_that_no_script_reads_is_reported_with_its_line() {
    let mut executor = unclamped();
    let reports = reports_of(&executor);
    let owner = executor.owner().named("crowd");
    owner.start(forever());
    owner.child().start(forever());
    owner.start(forever());
    let line = line!() + 1;
    drop(owner.stop_within(0.5));
    executor.run_frames(9, 0.25);
    assert_eq!(
        *reports.borrow(),
        [format!(
            "the request to stop the scripts of `crowd`, made at {}:{line}:16, was read by none of \
             them: 2 were stopped when its time was over; await `stop_requested()` in them beside \
             their waits, or call `stop_all()`",
            file!()
        )]
    );
}

#[test]
fn a_request_that_one_script_reads_is_not_reported() {
    let mut executor = unclamped();
    let reports = reports_of(&executor);
    let owner = executor.owner();
    let below = owner.child();
    owner.start(forever());
    below.start(async {
        while !is_stop_requested() {
            next_frame().await;
        }
    });
    drop(owner.stop_within(0.5));
    executor.run_frames(9, 0.25);
    assert_eq!(reports.borrow().len(), 0);
    // The next request is one of its own.
    owner.start(forever());
    drop(owner.stop_within(0.5));
    executor.run_frames(9, 0.25);
    assert_eq!(reports.borrow().len(), 1);
}

#[test]
fn a_length_of_nan_panics_where_it_is_called() {
    let executor = unclamped();
    let owner = executor.owner();
    let script = owner.start(forever());
    let line = line!() + 1;
    let place = framestep_testkit::place_of_panic(|| owner.stop_within(f32::NAN));
    assert_eq!(place, format!("{}:{line}", file!()));
    // It has asked nobody.
    assert!(!script.is_finished());
    assert!(panic_of(|| owner.stop_within(f32::NAN)).contains("got a length of NaN"));
}

// docs/contract.md#decided-stop-requests
#[test]
fn what_is_started_anywhere_below_the_owner_that_was_asked_is_asked() {
    let mut executor = unclamped();
    let seen: Rc<RefCell<Vec<(&str, bool)>>> = Rc::default();
    let owner = Rc::new(executor.owner());
    let (left, right) = (owner.child(), Rc::new(owner.child()));
    let (above, beside, looks) = (owner.clone(), right.clone(), seen.clone());
    left.start(async move {
        stop_requested().await;
        for (name, owner) in [("above", above), ("beside", beside)] {
            let looks = looks.clone();
            owner.start(async move { looks.borrow_mut().push((name, is_stop_requested())) });
        }
    });
    // The request of the owner above is the wider one.
    owner.request_stop();
    left.request_stop();
    executor.run_frame(1);
    assert_eq!(*seen.borrow(), [("above", true), ("beside", true)]);
}

#[test]
fn a_script_that_has_read_a_request_has_read_later_ones() {
    let mut executor = unclamped();
    let reports = reports_of(&executor);
    let owner = executor.owner();
    let fades = || async {
        stop_requested().await;
        forever().await;
    };
    owner.start(fades());
    drop(owner.stop_within(0.5));
    executor.run_frame(0.25);
    owner.request_stop();
    executor.run_frames(3, 0.25);
    assert!(owner.is_empty());
    owner.child().start(fades());
    owner.request_stop();
    executor.run_frame(0.25);
    drop(owner.stop_within(0.5));
    executor.run_frames(3, 0.25);
    assert!(owner.is_empty());
    assert_eq!(reports.borrow().len(), 0);
}

// docs/contract.md#decided-stop-requests
#[test]
fn a_request_by_its_handle_concerns_one_script_with_or_without_an_owner() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let log = Log::new();
    let scripts = [
        owner.start(fades(log.clone(), "owned", 1.0)),
        owner.start(fades(log.clone(), "beside it", 1.0)),
        executor.start(fades(log.clone(), "free", 1.0)),
        executor.start(fades(log.clone(), "as free", 1.0)),
    ];
    assert!(scripts[0].request_stop() && scripts[2].request_stop());
    executor.run_frames(4, 1);
    log.check(&[
        "F1: owned hears",
        "F1: free hears",
        "F2: owned ends",
        "F2: free ends",
    ]);
    assert!(!scripts[0].request_stop(), "it has ended");
    owner.request_stop();
    assert!(scripts[3].request_stop() && scripts[3].request_stop());
    executor.run_frames(4, 1);
    assert!(scripts.iter().all(Coroutine::is_finished));
}

#[test]
fn a_request_by_its_handle_is_read_at_home_like_a_signal() {
    let mut timeline = Timeline::with_a_fixed_step_each(0.25);
    let handles = Rc::new(RefCell::new(Vec::new()));
    for phase in [Phase::FixedUpdate, Phase::Update, Phase::LateUpdate] {
        let handles = handles.clone();
        timeline.row(&format!("{phase:?}"), |mark| async move {
            let asked = script("").in_phase(phase).start(async move {
                stop_requested().await;
                mark.hit();
            });
            handles.borrow_mut().push(asked);
        });
    }
    timeline.row("asks", |mark| async move {
        wait_frames(2).await;
        handles
            .borrow()
            .iter()
            .for_each(|handle| assert!(handle.request_stop()));
        mark.hit();
    });
    timeline.check(
        "
        frame       0 1 2 3
        FixedUpdate       F
        Update          *
        LateUpdate      L
        asks        - - *
        ",
    );
}

#[test]
fn neither_what_it_starts_nor_what_it_joins_is_asked_with_it() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let asked = owner.start(async {
        let joined = start(async {
            next_frame().await;
            is_stop_requested()
        });
        stop_requested().await;
        let started = start(async { is_stop_requested() });
        [
            is_stop_requested(),
            joined.await.unwrap(),
            started.await.unwrap(),
        ]
    });
    asked.request_stop();
    assert_eq!(
        executor.run_until(asked, 0.25).unwrap(),
        [true, false, false]
    );
}

#[test]
fn a_request_by_a_handle_reaches_waits_behind_combinators_and_those_that_have_moved() {
    let mut executor = unclamped();
    let behind = executor.start(async {
        let mut two = FuturesUnordered::from_iter([stop_requested(), stop_requested()]);
        two.next().await;
        two.next().await;
    });
    let moved = Rc::new(RefCell::new(None));
    let kept = moved.clone();
    let first = executor.start(async move {
        let mut wait = stop_requested();
        assert!(poll_once(&mut wait).await.is_pending());
        kept.replace(Some(wait));
        forever().await;
    });
    let second = executor.start(async move {
        let wait = moved.take().unwrap();
        wait.await;
    });
    behind.request_stop();
    first.request_stop();
    executor.run_frame(1);
    assert!(behind.is_finished() && !second.is_finished());
    second.request_stop();
    executor.run_frame(1);
    assert!(second.is_finished());
}

#[test]
fn requests_of_many_scripts_by_their_handles_are_served_in_one_run() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let scripts: Vec<_> = (0..20_000).map(|_| owner.start(stop_requested())).collect();
    scripts
        .iter()
        .rev()
        .for_each(|script| assert!(script.request_stop()));
    executor.run_frame(1);
    assert!(owner.is_empty());
}

#[test]
fn a_script_that_is_refused_or_has_ended_takes_no_request() {
    let executor = unclamped();
    let ended = executor.start(async {});
    assert!(!ended.request_stop());
    let owner = executor.owner();
    owner.set_active(false);
    assert!(!owner.start(forever()).request_stop());
}
