//! Two scripts share a future with a combinator that polls only woken futures, so only
//! the first script has polled the wait itself. No wake is lost, whatever happens to
//! the first: docs/contract.md#rule-4-no-wake-forgotten. A timer stands still with the first:
//! docs/contract.md#decided-hidden-waits

use std::future::Future;
use std::pin::Pin;

use futures::future::Shared;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};

use framestep::prelude::*;

use framestep_testkit::Stage;
use framestep_testkit::combinators::{COMBINATORS, Combinator};
use framestep_testkit::timeline::{Timeline, in_quarters};
use framestep_testkit::waits::{Case, When, cases};

type Local = Pin<Box<dyn Future<Output = ()>>>;

/// Frames of a quarter of a second, each with one step.
fn rows() -> Timeline {
    Timeline::with_executor(in_quarters(), 0.25)
}

fn unordered(wait: Local) -> Shared<Local> {
    let mut waits: FuturesUnordered<_> = [wait].into_iter().collect();
    let all = async move { while waits.next().await.is_some() {} };
    all.boxed_local().shared()
}

/// Starts two scripts that share a wait of half a second.
fn two_rows(rows: &mut Timeline) -> [CoroutineId; 2] {
    let wait = unordered(wait_seconds(0.5).boxed_local());
    ["first", "second"].map(|name| {
        let wait = wait.clone();
        rows.row(name, |mark| async move {
            wait.await;
            mark.hit();
        })
    })
}

/// The same, with a row for the second alone.
fn second_row(rows: &mut Timeline) -> (Coroutine<()>, CoroutineId) {
    let wait = unordered(wait_seconds(0.5).boxed_local());
    let first = rows.executor().start(wait.clone());
    let second = rows.row("second", |mark| async move {
        wait.await;
        mark.hit();
    });
    (first, second)
}

#[test]
fn a_timer_stands_still_for_both_while_the_first_is_paused() {
    let mut rows = rows();
    let [first, _] = two_rows(&mut rows);
    rows.run_to(1);
    rows.executor().pause(first);
    rows.run_to(4);
    rows.executor().resume(first);
    rows.check(
        "
        frame  0 1 2 3 4 5
        first  - - - - - *
        second - - - - - *
        ",
    );
}

#[test]
fn a_timer_whose_clock_had_reached_the_deadline_resumes_the_second_in_the_pause() {
    let mut executor = in_quarters();
    let wait = unordered(wait_seconds(0.5).boxed_local());
    let first = executor.start(wait.clone());
    let second = executor.start(wait);
    executor.run_frame(0.25);
    executor.begin_frame(0.25);
    first.pause();
    executor.run_phase(Phase::Update);
    executor.run_frame(0.25);
    assert!(second.is_finished() && !first.is_finished());
    first.resume();
    executor.run_frame(0.25);
    assert!(first.is_finished());
}

#[test]
fn a_timer_resumes_the_second_when_the_first_is_stopped_in_a_pause() {
    for (stopped_after, row) in [(0, "- - *"), (1, "- - - *"), (2, "- - - - *")] {
        let mut rows = rows();
        let (first, _) = second_row(&mut rows);
        first.pause();
        rows.run_to(stopped_after);
        assert!(first.stop());
        rows.check(&format!("frame  0 1 2 3 4\nsecond {row}"));
    }
}

#[test]
fn a_timer_resumes_a_second_that_was_paused_when_its_clock_reached_the_deadline() {
    let mut rows = rows();
    let (first, second) = second_row(&mut rows);
    rows.executor().pause(second);
    rows.run_to(4);
    assert!(first.is_finished());
    rows.executor().resume(second);
    rows.check(
        "
        frame  0 1 2 3 4 5
        second - - - - - *
        ",
    );
}

#[test]
fn pauses_that_ended_before_count_for_the_second_too() {
    let mut rows = rows();
    let [first, second] = two_rows(&mut rows);
    rows.executor().pause(first);
    rows.run_to(1);
    rows.executor().resume(first);
    // That of the second one moves nothing.
    rows.executor().pause(second);
    rows.run_to(4);
    rows.executor().resume(second);
    rows.check(
        "
        frame  0 1 2 3 4 5
        first  - - - *
        second - - - - - *
        ",
    );
}

#[test]
fn a_script_that_paused_itself_before_it_polled_the_timer_holds_it_up_for_the_other() {
    let mut rows = rows();
    let wait = unordered(wait_seconds(0.5).boxed_local());
    let shared = wait.clone();
    let handle = rows.executor().handle();
    rows.row("first", |mark| async move {
        handle.pause(current());
        shared.await;
        mark.hit();
    });
    rows.row("second", |mark| async move {
        wait.await;
        mark.hit();
    });
    rows.check(
        "
        frame  0 1 2 3
        first  - - - -
        second - - - -
        ",
    );
}

/// The waker of the timer is not called in the pause, so it does not determine the phase:
/// docs/contract.md#rule-12-one-wake
#[test]
fn a_timer_that_stands_still_behind_a_combinator_does_not_choose_the_phase() {
    let mut rows = rows();
    let script = rows.row("script", |mark| async move {
        let timer = wait_seconds(0.75).in_phase(Phase::EarlyUpdate);
        let waits = [timer.boxed_local(), wait_steps(4).boxed_local()];
        let mut waits: FuturesUnordered<_> = waits.into_iter().collect();
        while waits.next().await.is_some() {
            mark.hit();
        }
    });
    // The combinator wakes its script after the first poll.
    rows.run_to(1);
    rows.executor().pause(script);
    rows.run_to(4);
    rows.executor().resume(script);
    rows.check(
        "
        frame  0 1 2 3 4 5 6
        script - - - - - F E
        ",
    );
}

#[test]
fn an_idle_host_is_not_woken_for_a_timer_that_stands_still() {
    let mut executor = in_quarters();
    let wait = unordered(wait_seconds(0.5).boxed_local());
    let first = executor.start(wait.clone());
    let second = executor.start(wait);
    first.pause();
    assert_eq!(executor.next_deadline(), None);
    first.resume();
    let next = executor.next_deadline().expect("both wait for it");
    executor.run_frame(next);
    assert!(first.is_finished() && second.is_finished());
    assert_eq!(executor.next_deadline(), None);
}

// Every wait, every such combinator

/// What happens to the first script.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Waits,
    Paused,
    PausedByOwner,
    Stopped,
    StoppedInAPause(u64),
    /// Paused until that frame has passed.
    Resumed(u64),
}

/// When the second script ends, and whether the first one ends at all.
fn ends(case: &Case, combinator: &'static Combinator, fate: Fate) -> (Option<When>, bool) {
    let (mut executor, stage) = Stage::new();
    let (given, case) = (stage.given.clone(), *case);
    let combined = move || combinator.wrap(case.make(&given).boxed_local());
    let shared = async move { combined().await };
    let shared = shared.boxed_local().shared();
    let owner = executor.owner();
    let first = owner.start(shared.clone());
    let second = executor.start(async move {
        shared.await;
        When(time().frame, time().phase.expect("in a run"))
    });
    match fate {
        Fate::Waits => {}
        Fate::PausedByOwner => _ = owner.pause(),
        Fate::Stopped => _ = first.stop(),
        Fate::Paused | Fate::StoppedInAPause(_) | Fate::Resumed(_) => _ = first.pause(),
    }
    for frame in 0..8 {
        match fate {
            Fate::StoppedInAPause(in_frame) if in_frame == frame => _ = first.stop(),
            Fate::Resumed(after) if after == frame => _ = first.resume(),
            _ => {}
        }
        stage.frame(&mut executor, |_| ());
    }
    let end = second.take_output().map(|end| end.unwrap());
    (end, first.is_finished())
}

#[test]
fn whatever_becomes_of_the_first_the_second_ends_in_its_frame() {
    for case in cases() {
        for combinator in COMBINATORS.iter().filter(|one| one.waits_for_wakes) {
            let names = format!("{case} in {}", combinator.name);
            let (alone, _) = ends(&case, combinator, Fate::Waits);
            assert!(alone.is_some(), "{names}");
            for fate in [
                Fate::Paused,
                Fate::PausedByOwner,
                Fate::Stopped,
                Fate::StoppedInAPause(1),
                Fate::StoppedInAPause(2),
                Fate::StoppedInAPause(4),
                Fate::Resumed(4),
            ] {
                if case.counts_time() && !matches!(fate, Fate::Stopped) {
                    continue;
                }
                let (end, first_ends) = ends(&case, combinator, fate);
                // Of a condition, the second may ask at home, before the phase of the wait.
                let asks_before = case.asks && case.due.1 != Phase::Update;
                let is_before = || Some(end?.0 == case.due.0).filter(|_| asks_before);
                assert!(
                    end == alone || is_before() == Some(true),
                    "{names}, the first: {fate:?}, ends at {end:?} instead of {alone:?}"
                );
                let is_left = matches!(fate, Fate::Paused | Fate::PausedByOwner);
                assert_eq!(first_ends, !is_left, "{names}, the first: {fate:?}");
            }
        }
    }
}
