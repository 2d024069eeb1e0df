//! `sample` and `debounce_by_key`: streams with fewer items.

use std::cell::RefCell;
use std::rc::Rc;

use framestep::prelude::*;
use futures::stream::{self, FusedStream};
use futures::{FutureExt, StreamExt};

use framestep_testkit::timeline::unclamped;
use framestep_testkit::{panic_of, panic_text, poll_once};

type Seen<T> = Rc<RefCell<Vec<(u64, T)>>>;

/// Starts a script that notes the items of a stream, with their frames.
fn seen<S>(executor: &Executor, stream: S) -> (Coroutine<()>, Seen<S::Item>)
where
    S: stream::Stream + 'static,
{
    let seen = Seen::default();
    let push = seen.clone();
    let script = executor.start(async move {
        let mut stream = std::pin::pin!(stream);
        while let Some(item) = stream.next().await {
            push.borrow_mut().push((time().frame, item));
        }
    });
    (script, seen)
}

// docs/contract.md#decided-streams
#[test]
fn sample_returns_the_latest_item_as_each_slot_ends_without_drift() {
    let mut executor = unclamped();
    let ticks = Signal::new();
    let (script, seen) = seen(&executor, sample(1, ticks.subscribe()));
    for item in 1..=12 {
        ticks.emit(item);
        executor.run_frame(0.375); // the slots count from frame 1
    }
    // Due 1, 2, 3 and 4 seconds after frame 1: in frames 4 (1.125), 7 (2.25), 9 (3.0) and 12 (4.125).
    assert_eq!(*seen.borrow(), [(4, 4), (7, 7), (9, 9), (12, 12)]);
    ticks.emit(13);
    drop(ticks);
    executor.run_frame(0.375);
    assert_eq!(
        seen.borrow().last(),
        Some(&(13, 13)),
        "the last item comes with the end"
    );
    assert!(script.is_finished());
}

#[test]
fn sample_returns_an_item_after_a_silence_in_the_next_frame() {
    let mut executor = unclamped();
    let ticks = Signal::new();
    let (_script, seen) = seen(&executor, sample(1, ticks.subscribe()));
    ticks.emit(1);
    executor.run_frames(20, 0.25); // frame 1: slots at 1.25, 2.25, .., 5.25
    assert_eq!(*seen.borrow(), [(5, 1)]);
    for item in 2..=9 {
        ticks.emit(item);
        executor.run_frame(0.25);
    }
    assert_eq!(*seen.borrow(), [(5, 1), (22, 3), (25, 6)]);
}

#[test]
fn sample_stands_still_in_a_pause_and_takes_what_came_meanwhile() {
    let mut executor = unclamped();
    let ticks = Signal::new();
    let (script, seen) = seen(&executor, sample(1, ticks.subscribe()));
    ticks.emit(1);
    executor.run_frames(2, 0.25);
    script.pause();
    ticks.emit(2);
    executor.run_frames(20, 0.25);
    script.resume();
    executor.run_frames(4, 0.25);
    assert_eq!(*seen.borrow(), [(25, 2)]);
}

#[test]
fn sample_of_a_dropped_wait_loses_nothing_and_of_nothing_ends() {
    let mut executor = unclamped();
    let ticks = Signal::new();
    let events = ticks.subscribe();
    let script = executor.start(async move {
        let mut slots = sample(1, events);
        while timeout(0.25, slots.next()).await.is_err() {}
        let ended = slots.next().await;
        (time().frame, ended, slots.is_terminated())
    });
    ticks.emit(7);
    executor.run_frames(6, 0.25);
    drop(ticks);
    executor.run_frame(0.25);
    assert_eq!(script.take_output().unwrap().unwrap(), (7, None, true));
    for seconds in [0.0, -1.0, f64::NAN] {
        let why = panic_of(|| sample(seconds, frames()));
        assert!(
            why.contains("must be a number of seconds above zero"),
            "{why}"
        );
    }
    let endless = executor.start(sample(f64::INFINITY, stream::iter(1..=3)).collect::<Vec<_>>());
    assert_eq!(endless.take_output().unwrap().unwrap(), [3]);
}

// docs/contract.md#decided-streams
#[test]
fn each_key_settles_by_itself_in_the_order_in_which_its_last_item_came() {
    let mut executor = unclamped();
    let edits = Signal::new();
    let settled = debounce_by_key(1, edits.subscribe(), |&(key, _)| key);
    let (script, seen) = seen(&executor, settled);
    for edit in [('a', 1), ('b', 1), ('a', 2), ('c', 1), ('a', 3)] {
        edits.emit(edit);
        if edit.0 != 'b' {
            executor.run_frame(0.5);
        }
    }
    executor.run_frames(4, 0.5);
    // a in frame 1, b and a in 2, c in 3, a in 4.
    assert_eq!(
        *seen.borrow(),
        [(4, ('b', 1)), (5, ('c', 1)), (6, ('a', 3))]
    );
    edits.emit(('d', 1));
    edits.emit(('a', 4));
    drop(edits);
    executor.run_frame(0.5);
    assert_eq!(seen.borrow()[3..], [(9, ('d', 1)), (9, ('a', 4))]);
    assert!(script.is_finished());
}

#[test]
fn with_one_key_it_is_debounce() {
    for frame in [0.1, 0.25, 0.7] {
        let mut executor = unclamped();
        let events = Signal::new();
        let (_one, by_key) = seen(&executor, debounce_by_key(0.5, events.subscribe(), |_| ()));
        let (_two, plain) = seen(&executor, debounce(0.5, events.subscribe()));
        for number in 0..60_u64 {
            if number % 9 < 3 {
                events.emit(number);
            }
            executor.run_frame(frame);
        }
        assert!(plain.borrow().len() > 5);
        assert_eq!(*by_key.borrow(), *plain.borrow());
    }
}

#[test]
fn keys_without_end_take_bounded_memory_and_lose_nothing() {
    let mut executor = unclamped();
    let events = Signal::with_limit(100_000);
    let settled = debounce_by_key(1, events.subscribe(), |&key: &u32| key).with_limit(100);
    let (_script, seen) = seen(&executor, settled);
    for key in 0..10_000 {
        events.emit(key);
    }
    executor.run_frame(0.25);
    // The oldest ones make room.
    assert_eq!(seen.borrow().len(), 9_900);
    executor.run_frames(4, 0.25);
    let keys: Vec<u32> = seen.borrow().iter().map(|&(_, key)| key).collect();
    assert!(keys.iter().copied().eq(0..10_000));
    assert!(panic_of(|| debounce_by_key(1, frames(), |_| ()).with_limit(0)).contains("at least 1"));
}

#[test]
fn a_key_that_never_settles_holds_no_other_up_and_takes_no_memory() {
    let mut executor = unclamped();
    let events = Signal::new();
    let settled = debounce_by_key(1, events.subscribe(), |&(key, _)| key);
    let (_script, seen) = seen(&executor, settled);
    events.emit(("quiet", 0));
    let frames = |executor: &mut Executor, from: u32| {
        for number in from..from + 1_000 {
            events.emit(("loud", number));
            executor.run_frame(0.25);
        }
    };
    frames(&mut executor, 0);
    let allocations = framestep_testkit::allocations_of(|| frames(&mut executor, 1_000));
    assert_eq!(allocations, 0);
    assert_eq!(*seen.borrow(), [(5, ("quiet", 0))]);
}

#[test]
fn it_moves_and_a_dropped_wait_loses_nothing() {
    let mut executor = unclamped();
    let events = Signal::new();
    let mut settled = debounce_by_key(1, events.subscribe(), |&key: &char| key);
    let slot = Rc::new(RefCell::new(None));
    let kept = slot.clone();
    "abc".chars().for_each(|key| events.emit(key));
    let first = executor.start(async move {
        assert!(poll_once(&mut settled.next()).await.is_pending());
        kept.replace(Some(settled));
    });
    assert!(first.is_finished());
    executor.run_frame(0.25);
    let settled = slot.take().unwrap();
    let (_second, seen) = seen(&executor, settled);
    executor.run_frames(4, 0.25);
    assert_eq!(*seen.borrow(), [(4, 'a'), (4, 'b'), (4, 'c')]);
}

#[test]
fn a_panic_of_the_key_is_one_of_the_script() {
    let executor = unclamped();
    let script = executor.start(async {
        let items = stream::iter(0..3);
        let mut settled = debounce_by_key(1, items, |&item| assert!(item < 2, "no key"));
        settled.next().now_or_never()
    });
    let error = script.take_output().unwrap().unwrap_err();
    assert!(panic_text(&*error.into_panic()).contains("no key"));
}
