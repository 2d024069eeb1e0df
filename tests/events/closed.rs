//! `or_closed`: a wait whose signal or watch may be gone.

use std::cell::RefCell;

use framestep::prelude::*;
use framestep::sync::Closed;
use futures::FutureExt;
use futures::future::FusedFuture;
use futures::stream::FusedStream;

use framestep_testkit::timeline::{Timeline, unclamped};
use framestep_testkit::{panic_of, poll_once};

const BELL: Signal<u32> = signal("bell");
const GOLD: Watch<u32> = watch("gold", || 3);

#[test]
fn the_end_of_a_signal_is_read_at_home_like_an_event() {
    let mut timeline = Timeline::with_a_fixed_step_each(0.25);
    let bell = Signal::<()>::new();
    for phase in [Phase::FixedUpdate, Phase::Update, Phase::LateUpdate] {
        let wait = bell.wait().or_closed();
        timeline.row(&format!("{phase:?}"), |mark| async move {
            let guard = script("").in_phase(phase).start(async move {
                assert_eq!(wait.await, Err(Closed));
                mark.hit();
            });
            guard.await.unwrap();
        });
    }
    timeline.row("drops", |mark| async move {
        wait_frames(2).await;
        drop(bell);
        mark.hit();
    });
    timeline.check(
        "
        frame       0 1 2 3
        FixedUpdate - - - F
        Update      - - *
        LateUpdate  - - L
        drops       - - *
        ",
    );
}

#[test]
fn a_wait_that_begins_after_the_end_is_an_error_at_once() {
    let executor = unclamped();
    let (signal, watch) = (Signal::<u32>::new(), Watch::new(1));
    let reader = watch.reader();
    let of_signal = (
        signal.wait().or_closed(),
        signal.wait_for(|_| true).or_closed(),
    );
    drop((signal, watch));
    let script = executor.start(async move {
        assert_eq!(of_signal.0.await, Err(Closed));
        assert_eq!(of_signal.1.await, Err(Closed));
        assert_eq!(reader.changed().or_closed().await, Err(Closed));
        assert_eq!(
            reader.wait_for(|&value| value == 2).or_closed().await,
            Err(Closed)
        );
        // The last value stays.
        assert_eq!(
            reader.wait_for(|&value| value == 1).or_closed().await,
            Ok(1)
        );
    });
    assert!(script.take_output().unwrap().is_ok());
}

#[test]
fn what_came_before_the_end_counts() {
    let mut executor = unclamped();
    let (signal, watch) = (Signal::new(), Watch::new(0));
    let first = executor.start(signal.wait().or_closed());
    let even = executor.start(signal.wait_for(|event| event % 2 == 0).or_closed());
    let none = executor.start(signal.wait_for(|&event| event > 9).or_closed());
    let changed = executor.start(watch.changed().or_closed());
    let three = executor.start(watch.wait_for(|&value| value == 3).or_closed());
    (1..=3).for_each(|event| signal.emit(event));
    watch.set(2);
    let given = executor.start(signal.wait().or_closed());
    let refused = executor.start(signal.wait_for(|_| false).or_closed());
    assert_eq!(signal.emit_one(7), None);
    drop((signal, watch));
    executor.run_frame(0.25);
    let results =
        [first, even, none, given, refused].map(|script| script.take_output().unwrap().unwrap());
    assert_eq!(results[..3], [Ok(1), Ok(2), Err(Closed)]);
    assert!(results[3..].contains(&Err(Closed)));
    assert_eq!(changed.take_output().unwrap().unwrap(), Ok(2));
    assert_eq!(three.take_output().unwrap().unwrap(), Err(Closed));
}

#[test]
fn a_clone_keeps_the_signal() {
    let mut executor = unclamped();
    let bell = Signal::<()>::new();
    let clone = bell.clone();
    let guard = executor.start(bell.wait().or_closed());
    drop(bell);
    executor.run_frames(3, 0.25);
    assert!(!guard.is_finished());
    drop(clone);
    executor.run_frame(0.25);
    assert_eq!(guard.take_output().unwrap().unwrap(), Err(Closed));
}

#[test]
fn a_condition_that_emits_what_it_waits_for_is_not_cut_by_the_end() {
    let mut executor = unclamped();
    let signal = Signal::new();
    let inner = RefCell::new(Some(signal.clone()));
    let wait = signal.wait_for(move |&event| {
        if let Some(signal) = inner.take() {
            signal.emit(event + 1);
        }
        event == 2
    });
    signal.emit(1);
    drop(signal);
    let script = executor.start(wait.or_closed());
    executor.run_frame(0.25);
    assert_eq!(script.take_output().unwrap().unwrap(), Ok(2));
}

#[test]
fn it_is_fused_and_not_polled_again() {
    let executor = unclamped();
    let signal = Signal::<()>::new();
    let mut wait = signal.wait().or_closed();
    let script = executor.start(async move {
        assert!(poll_once(&mut wait).await.is_pending() && !wait.is_terminated());
        drop(signal);
        assert_eq!((&mut wait).now_or_never(), Some(Err(Closed)));
        assert!(wait.is_terminated());
        wait.await
    });
    let error = script.take_output().unwrap().unwrap_err();
    assert!(
        error.to_string().contains("`or_closed()` was polled again"),
        "{error}"
    );
}

/// docs/contract.md#decided-removed-source
#[test]
fn the_removal_of_a_name_is_read_at_home_like_an_event_and_others_wait_on() {
    let mut timeline = Timeline::with_a_fixed_step_each(0.25);
    for phase in [Phase::FixedUpdate, Phase::Update] {
        timeline.row(&format!("{phase:?}"), |mark| async move {
            let guard = script("").in_phase(phase).start(async move {
                assert_eq!(BELL.keyed(1).wait().or_closed().await, Err(Closed));
                mark.hit();
            });
            guard.await.unwrap();
        });
    }
    timeline.row("stays", |mark| async move {
        assert_eq!(BELL.keyed(1).wait().await, 5);
        mark.hit();
    });
    timeline.row("later", |mark| async move {
        wait_frames(2).in_phase(Phase::LateUpdate).await;
        mark.hit();
        assert_eq!(BELL.keyed(1).wait().or_closed().await, Ok(5));
        mark.hit();
    });
    timeline.row("removes", |mark| async move {
        wait_frames(2).await;
        BELL.keyed(1).remove();
        BELL.keyed(2).remove();
        mark.hit();
        wait_frames(2).await;
        BELL.keyed(1).emit(5);
        mark.hit();
    });
    timeline.check(
        "
        frame       0 1 2 3 4
        FixedUpdate - - - F
        Update      - - *
        stays       - - - - *
        later       - - L - *
        removes     - - * - *
        ",
    );
}

/// docs/contract.md#decided-removed-source
#[test]
fn an_event_before_the_removal_counts_and_a_value_does_not() {
    let mut executor = unclamped();
    let event = executor.start(async { BELL.wait().or_closed().await });
    let even = executor.start(async { BELL.wait_for(|event| event % 2 == 0).or_closed().await });
    let none = executor.start(async { BELL.wait_for(|&event| event > 9).or_closed().await });
    let changed = executor.start(async { GOLD.changed().or_closed().await });
    let rich = executor.start(async { GOLD.wait_for(|&gold| gold > 9).or_closed().await });
    let unset = executor.start(async { GOLD.keyed(1).changed().or_closed().await });
    let plain = executor.start(async { GOLD.changed().await });
    let unpolled = executor.enter(|| BELL.wait().or_closed());
    executor.enter(|| {
        BELL.emit(1);
        BELL.emit(2);
        GOLD.set(10);
        BELL.remove();
        assert!(GOLD.remove());
        assert!(!GOLD.keyed(1).remove());
    });
    executor.run_frame(0.25);
    let of_bell = [event, even, none].map(|script| script.take_output().unwrap().unwrap());
    assert_eq!(of_bell, [Ok(1), Ok(2), Err(Closed)]);
    let of_gold = [changed, rich, unset].map(|script| script.take_output().unwrap().unwrap());
    assert_eq!(of_gold, [Err(Closed); 3]);
    assert_eq!(plain.take_output().unwrap().unwrap(), 3);
    assert_eq!(executor.run_until(unpolled, 0.25), Ok(1));
    assert!(executor.is_empty());
}

/// docs/contract.md#decided-removed-source
#[test]
fn a_subscription_hears_of_the_removal_after_its_events_also_between_two_of_them() {
    let mut executor = unclamped();
    let script = executor.start(async {
        let (mut events, mut values) = (BELL.subscribe().or_closed(), GOLD.subscribe().or_closed());
        let mut others = BELL.subscribe();
        let mut seen = Vec::new();
        while let Some(event) = events.next().await {
            wait_frames(2).await;
            seen.push(event);
        }
        assert!(events.is_terminated() && events.next().await.is_none());
        assert_eq!(values.next().await, None);
        assert_eq!(others.next().await, Some(1));
        (seen, time().frame)
    });
    executor.enter(|| {
        BELL.emit(1);
        BELL.emit(2);
    });
    executor.run_frame(0.25);
    executor.enter(|| {
        BELL.remove();
        GOLD.set(8);
        GOLD.remove();
    });
    assert_eq!(executor.run_until(script, 0.25).unwrap(), (vec![1, 2], 5));
    // One of its own ends by itself.
    let own = Signal::new();
    let mut events = own.subscribe().or_closed();
    own.emit(3);
    drop(own);
    let both = executor.run_until(
        async move { [events.next().await, events.next().await] },
        0.25,
    );
    assert_eq!(both, [Some(3), None]);
}

#[test]
fn only_what_is_found_by_its_name_is_removed() {
    let executor = unclamped();
    let (signal, watch) = (Signal::<u32>::new(), Watch::new(1));
    let of_signal = panic_of(|| signal.remove());
    let of_watch = panic_of(|| watch.remove());
    for message in [of_signal, of_watch] {
        assert!(message.contains("without a name"), "{message}");
    }
    // What a host has been given is that of one executor.
    let (bell, gold) = (executor.named(&BELL), executor.named(&GOLD));
    let of_signal = panic_of(|| bell.remove());
    let of_watch = panic_of(|| gold.remove());
    for message in [of_signal, of_watch] {
        assert!(message.contains("`executor.enter(|| "), "{message}");
    }
    drop((bell, gold, executor));
}
