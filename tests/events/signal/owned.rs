//! `Signal::wait` and `wait_for` are owned: they may be used wherever a
//! coroutine may.

use std::cell::Cell;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::FusedFuture;

use framestep::prelude::*;

use framestep_testkit::panic_of;
use framestep_testkit::timeline::{Log, unclamped};

#[test]
fn a_wait_may_be_started_as_it_is() {
    let mut executor = unclamped();
    let signal = Signal::new();
    let (any, large) = (
        executor.start(signal.wait()),
        executor.start(signal.wait_for(|&event| event > 5)),
    );
    signal.emit(3);
    executor.run_frame(0.25);
    assert_eq!(any.take_output().unwrap().unwrap(), 3);
    assert!(large.take_output().is_none());
    signal.emit(8);
    executor.run_frame(0.25);
    assert_eq!(large.take_output().unwrap().unwrap(), 8);
}

#[test]
fn a_wait_kept_in_a_field_counts_from_the_call() {
    let signal = Signal::new();
    signal.emit(1);
    let (mut any, mut even) = (signal.wait(), signal.wait_for(|event| event % 2 == 0));
    for event in [3, 5, 6, 8] {
        signal.emit(event);
    }
    drop(signal);
    assert_eq!((&mut any).now_or_never(), Some(3));
    assert_eq!((&mut even).now_or_never(), Some(6));
    assert!(any.is_terminated() && even.is_terminated());
    assert!(panic_of(|| any.now_or_never()).contains("polled again"));
    assert!(panic_of(|| even.now_or_never()).contains("polled again"));
}

#[test]
fn without_a_signal_it_sleeps_and_can_be_stopped() {
    let mut executor = unclamped();
    let signal = Signal::<u32>::new();
    let any = executor.start(signal.wait());
    let some = executor.start(signal.wait_for(|&event| event > 5));
    signal.emit(0);
    drop(signal);
    executor.run_frame(0.25);
    assert!(any.is_finished() && !some.is_finished());
    executor.run_frame(0.25);
    assert!(!executor.has_ready(), "it does not wake itself");
    assert!(some.stop());
}

#[test]
fn what_the_filter_refuses_is_not_cloned_and_not_lost_to_others() {
    struct Counted(u32, Rc<Cell<u32>>);

    impl Clone for Counted {
        fn clone(&self) -> Self {
            self.1.set(self.1.get() + 1);
            Counted(self.0, self.1.clone())
        }
    }

    let (signal, clones) = (Signal::new(), Rc::new(Cell::new(0)));
    let large = signal.wait_for(|event: &Counted| event.0 > 5);
    let mut events = signal.subscribe();
    for event in [1, 2, 9] {
        signal.emit(Counted(event, clones.clone()));
    }
    assert_eq!(large.now_or_never().unwrap().0, 9);
    assert_eq!(clones.get(), 1);
    let rest = std::iter::from_fn(|| futures::StreamExt::next(&mut events).now_or_never());
    let rest: Vec<_> = rest.flatten().map(|event| event.0).collect();
    assert_eq!(rest, [1, 2, 9]);
    assert!(format!("{signal:?}").contains("stored: 0"));
}

#[test]
fn a_filter_may_emit_what_it_receives_in_the_next_run() {
    let mut executor = unclamped();
    let (log, signal) = (Log::new(), Signal::new());
    let (say, emits) = (log.clone(), signal.clone());
    executor.start(signal.wait_for(move |&event| {
        say.say(event);
        emits.emit(event + 1);
        event == 3
    }));
    signal.emit(1);
    for _ in 0..4 {
        executor.run_frame(0.25);
    }
    log.check(&["F1: 1", "F2: 2", "F3: 3"]);
    executor.assert_empty();
}

#[test]
fn a_panic_of_a_filter_takes_no_event_from_others() {
    let mut executor = unclamped();
    let signal = Signal::new();
    let panics = executor.start(signal.wait_for(|_| panic!("on purpose")));
    let hears = executor.start(signal.wait());
    signal.emit(7);
    executor.run_frame(0.25);
    assert!(panics.take_output().unwrap().unwrap_err().is_panic());
    assert_eq!(hears.take_output().unwrap().unwrap(), 7);
    assert!(format!("{signal:?}").contains("subscribers: 0, stored: 0"));
}
