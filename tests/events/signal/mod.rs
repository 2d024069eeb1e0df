//! `Signal`: events, waits for one event, and streams of all events.

mod losses;
mod named;
mod owned;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Waker};

use futures::future::LocalBoxFuture;
use futures::stream::FusedStream;
use futures::{FutureExt, select_biased};

use framestep::Executor;
use framestep::prelude::*;
use framestep::sync::Subscription;

use framestep_testkit::allocations_of;
use framestep_testkit::timeline::{Log, Timeline, unclamped};
use framestep_testkit::{
    WakerCall, counted, panic_of, panic_text, result_of, waker_that_tells, yield_now,
};

/// Reads `signal` and logs the values.
fn reader(executor: &Executor, log: &Log, name: &'static str, signal: &Signal<u32>) {
    let (log, mut events) = (log.clone(), signal.subscribe());
    executor.start(async move {
        while let Some(event) = events.next().await {
            log.say(format!("{name} {event}"));
        }
        log.say(format!("{name} ended"));
    });
}

#[test]
fn emitted_by_a_coroutine_it_resumes_later_in_the_same_run() {
    let mut timeline = Timeline::with_dt(0.25);
    let (near, far) = (Signal::new(), Signal::new());
    for (name, signal) in [("near", near.clone()), ("late", far.clone())] {
        timeline.row(name, |mark| async move {
            let home = match name {
                "late" => Phase::LateUpdate,
                _ => Phase::Update,
            };
            let waits = script("").in_phase(home).start(async move {
                assert_eq!(signal.wait().await, 5);
                mark.hit();
            });
            waits.await.unwrap();
        });
    }
    timeline.row("emits", |mark| async move {
        wait_frames(2).await;
        near.emit(5);
        far.emit(5);
        mark.hit();
    });
    timeline.check(
        "
        frame 0 1 2 3
        near  - - *
        late  - - L
        emits - - *
        ",
    );
}

#[test]
fn emitted_in_another_phase_it_resumes_in_the_next_run_of_its_own() {
    let mut timeline = Timeline::with_dt(0.25);
    let signal = Signal::new();
    let update = signal.clone();
    timeline.row("update", |mark| async move {
        next_frame().await;
        update.wait().await;
        mark.hit();
    });
    timeline.row("emits", |mark| async move {
        next_frame().in_phase(Phase::LateUpdate).await;
        signal.emit(());
        mark.hit();
    });
    timeline.check(
        "
        frame  0 1 2 3
        update - - *
        emits  - L
        ",
    );
}

#[test]
fn emitted_by_the_host_it_resumes_in_the_next_run_in_order_of_waiting() {
    let mut executor = unclamped();
    let (log, signal) = (Log::new(), Signal::new());
    for name in ["a", "b", "c"] {
        reader(&executor, &log, name, &signal);
    }
    signal.emit(1);
    log.check(&[]);
    executor.run_frame(0.25);
    log.check(&["F1: a 1", "F1: b 1", "F1: c 1"]);
    assert!(!executor.has_ready());
}

#[test]
fn waiters_resume_in_the_order_in_which_they_began_to_wait() {
    let mut executor = unclamped();
    let (log, signal) = (Log::new(), Signal::<()>::new());
    for (name, frames) in [("late", 2), ("early", 1), ("between", 1)] {
        let (log, signal) = (log.clone(), signal.clone());
        executor.start(async move {
            wait_frames(frames).await;
            signal.wait().await;
            log.say(name);
        });
    }
    for _ in 0..2 {
        executor.run_frame(0.25);
    }
    signal.emit(());
    executor.run_frame(0.25);
    log.check(&["F3: early", "F3: between", "F3: late"]);
}

#[test]
fn no_event_is_lost_between_two_items() {
    let mut executor = unclamped();
    let signal = Signal::new();
    let mut events = signal.subscribe();
    let sum = executor.start(async move {
        let mut seen = Vec::new();
        while let Some(event) = events.next().await {
            seen.push((time().frame, event));
            wait_frames(2).await;
        }
        seen
    });
    for i in 0..4 {
        signal.emit(i);
    }
    drop(signal);
    let seen = executor.run_until(sum, 0.25).unwrap();
    assert_eq!(seen, [(1, 0), (3, 1), (5, 2), (7, 3)]);
}

#[test]
fn a_wait_begins_with_the_call() {
    let mut executor = unclamped();
    let signal = Signal::new();
    signal.emit(1);
    let events = signal.clone();
    let got = executor.start(async move {
        let wait = events.wait();
        events.emit(2);
        events.emit(3);
        wait.await
    });
    assert_eq!(result_of(&executor, got).unwrap(), 2);
    executor.assert_empty();
    executor.run_frame(0.25);
}

#[test]
fn a_later_subscriber_sees_later_events() {
    let mut executor = unclamped();
    let (log, signal) = (Log::new(), Signal::new());
    reader(&executor, &log, "a", &signal);
    signal.emit(1);
    reader(&executor, &log, "b", &signal);
    signal.emit(2);
    executor.run_frame(0.25);
    log.check(&["F1: a 1", "F1: a 2", "F1: b 2"]);
}

#[test]
fn the_stream_ends_when_the_last_signal_is_gone_and_all_is_read() {
    let mut executor = unclamped();
    let (log, signal) = (Log::new(), Signal::new());
    reader(&executor, &log, "a", &signal);
    let other = signal.clone();
    drop(signal);
    executor.run_frame(0.25);
    log.check(&[]);
    other.emit(1);
    drop(other);
    executor.run_frame(0.25);
    log.check(&["F2: a 1", "F2: a ended"]);

    let mut ended = Signal::<u32>::new().subscribe();
    assert!(!ended.is_terminated());
    assert_eq!(ended.next().now_or_never(), Some(None));
    assert!(ended.is_terminated());
    assert_eq!(ended.next().now_or_never(), Some(None));
}

#[test]
fn between_branches_of_one_coroutine_it_takes_a_run() {
    let mut executor = unclamped();
    let log = Log::new();
    let say = log.clone();
    executor.start(async move {
        let signal = Signal::new();
        futures::join!(
            async {
                signal.wait().await;
                say.say("heard");
            },
            async {
                next_frame().await;
                signal.emit(());
                say.say("emitted");
            }
        );
    });
    executor.run_frame(0.25);
    log.check(&["F1: emitted"]);
    executor.run_frame(0.25);
    log.check(&["F2: heard"]);
}

#[test]
fn it_works_in_select_and_a_dropped_wait_is_forgotten() {
    let mut executor = unclamped();
    let signal = Signal::new();
    let events = signal.clone();
    let waits = executor.start(async move {
        let mut frames = 0;
        loop {
            select_biased! {
                value = events.wait() => return (frames, value),
                () = next_frame() => frames += 1,
            }
        }
    });
    for _ in 0..1_000 {
        executor.run_frame(0.25);
    }
    assert_eq!(
        format!("{signal:?}"),
        "Signal { subscribers: 1, stored: 0, .. }"
    );
    signal.emit(7);
    assert_eq!(executor.run_until(waits, 0.25).unwrap(), (1_000, 7));
    signal.emit(8);
    assert_eq!(
        format!("{signal:?}"),
        "Signal { subscribers: 0, stored: 0, .. }"
    );
}

#[test]
fn a_coroutine_that_is_stopped_while_waiting_takes_nothing_from_the_others() {
    let mut executor = unclamped();
    let (log, signal) = (Log::new(), Signal::new());
    reader(&executor, &log, "a", &signal);
    let mut events = signal.subscribe();
    let stopped = executor.start(async move { events.next().await });
    reader(&executor, &log, "b", &signal);
    signal.emit(1);
    stopped.stop();
    executor.run_frame(0.25);
    log.check(&["F1: a 1", "F1: b 1"]);
    assert_eq!(
        format!("{signal:?}"),
        "Signal { subscribers: 2, stored: 0, .. }"
    );
}

#[test]
fn a_stream_is_polled_once_for_an_event() {
    let mut executor = unclamped();
    let (polls, signal) = (Rc::new(Cell::new(0)), Signal::new());
    let mut events = signal.subscribe();
    executor.start(counted(polls.clone(), async move {
        while events.next().await.is_some() {}
    }));
    for _ in 0..10 {
        executor.run_frame(0.25);
    }
    assert_eq!(polls.get(), 1);
    signal.emit(());
    signal.emit(());
    executor.run_frame(0.25);
    assert_eq!(polls.get(), 2);
}

#[test]
fn values_are_dropped_when_the_last_has_read_them() {
    let signal = Signal::new();
    let value = Rc::new(());
    let (mut a, mut b) = (signal.subscribe(), signal.subscribe());
    signal.emit(value.clone());
    assert_eq!(Rc::strong_count(&value), 2);
    let from_a = a.next().now_or_never().unwrap();
    assert_eq!(Rc::strong_count(&value), 3, "a clone for the first");
    let from_b = b.next().now_or_never().unwrap();
    assert_eq!(Rc::strong_count(&value), 3, "the value itself for the last");
    drop((from_a, from_b));
    assert_eq!(Rc::strong_count(&value), 1);

    signal.emit(value.clone());
    drop(a.next().now_or_never());
    assert_eq!(Rc::strong_count(&value), 2);
    drop(b);
    assert_eq!(
        Rc::strong_count(&value),
        1,
        "a subscription that is dropped has read it"
    );
    drop(a);
    signal.emit(value.clone());
    assert_eq!(Rc::strong_count(&value), 1, "nobody wants it");
}

fn read_all(events: &mut Subscription<u32>) -> Vec<u32> {
    std::iter::from_fn(|| events.next().now_or_never().flatten()).collect()
}

#[test]
fn a_subscriber_that_does_not_read_keeps_no_more_than_the_limit() {
    let signal = Signal::with_limit(3);
    let (mut lazy, mut eager) = (signal.subscribe(), signal.subscribe());
    for i in 0..10 {
        signal.emit(i);
        assert_eq!(read_all(&mut eager), [i]);
    }
    assert_eq!(
        format!("{signal:?}"),
        "Signal { subscribers: 2, stored: 3, .. }"
    );
    assert_eq!((lazy.missed(), eager.missed()), (7, 0));
    assert_eq!(read_all(&mut lazy), [7, 8, 9]);
    assert_eq!(lazy.missed(), 7);
    signal.emit(10);
    assert_eq!(read_all(&mut lazy), [10]);

    let signal = Signal::new();
    let mut lazy = signal.subscribe();
    (0..5_000).for_each(|i| signal.emit(i));
    assert_eq!(read_all(&mut lazy).len(), 1_024);

    assert!(panic_of(|| Signal::<()>::with_limit(0)).contains("at least 1"));
}

/// Emits on `signal` when it is cloned or dropped, if there is one.
struct Echo {
    signal: Rc<RefCell<Option<Signal<Echo>>>>,
    log: Log,
    name: &'static str,
    echoes: u32,
}

impl Echo {
    fn emit(&self, what: &str) {
        self.log.note(format!("{} {what}", self.name));
        let signal = self.signal.borrow().clone();
        if let Some(signal) = signal.filter(|_| self.echoes > 0) {
            signal.emit(Echo {
                signal: self.signal.clone(),
                log: self.log.clone(),
                name: "echo",
                echoes: self.echoes - 1,
            });
        }
    }
}

impl Clone for Echo {
    fn clone(&self) -> Self {
        self.emit("cloned");
        Echo {
            signal: self.signal.clone(),
            log: self.log.clone(),
            name: "clone",
            echoes: 0,
        }
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.emit("dropped");
    }
}

#[test]
fn a_clone_or_a_destructor_may_emit() {
    let signal = Signal::with_limit(2);
    let log = Log::new();
    let own = Rc::new(RefCell::new(Some(signal.clone())));
    let value = |echoes| Echo {
        signal: own.clone(),
        log: log.clone(),
        name: "value",
        echoes,
    };
    // Without a reader, the value is dropped, and the value that its destructor
    // emits as well.
    signal.emit(value(2));
    log.check(&["value dropped", "echo dropped", "echo dropped"]);

    let (mut a, mut b) = (signal.subscribe(), signal.subscribe());
    signal.emit(value(1));
    drop(a.next().now_or_never());
    log.check(&["value cloned", "clone dropped"]);
    // `b` has read nothing. There is room for two: the value is dropped, and
    // its destructor emits into the full journal, which drops the echo.
    signal.emit(value(0));
    log.check(&["value dropped", "echo dropped"]);
    drop(a);
    drop(b.next().now_or_never());
    drop(b);
    *own.borrow_mut() = None;
    assert_eq!(
        format!("{signal:?}"),
        "Signal { subscribers: 0, stored: 0, .. }"
    );
}

/// Reads the signal elsewhere while a value is being cloned.
struct Nested {
    other: Rc<RefCell<Option<Subscription<Nested>>>>,
    held: Rc<()>,
}

impl Clone for Nested {
    fn clone(&self) -> Self {
        let other = self.other.take();
        if let Some(mut other) = other {
            assert!(other.next().now_or_never().flatten().is_some());
            *self.other.borrow_mut() = Some(other);
        }
        Nested {
            other: self.other.clone(),
            held: self.held.clone(),
        }
    }
}

#[test]
fn a_value_may_be_read_while_it_is_cloned() {
    let signal = Signal::new();
    let mut events = signal.subscribe();
    let (other, held) = (Rc::new(RefCell::new(Some(signal.subscribe()))), Rc::new(()));
    signal.emit(Nested {
        other: other.clone(),
        held: held.clone(),
    });
    let got = events.next().now_or_never().flatten().expect("an event");
    assert_eq!(
        Rc::strong_count(&got.held),
        2,
        "all have read it: it is gone"
    );
    assert!(format!("{signal:?}").contains("stored: 0"));
    other.take();
}

#[derive(Debug)]
struct FailsToClone {
    _held: Rc<()>,
}

impl Clone for FailsToClone {
    fn clone(&self) -> Self {
        panic!("on purpose");
    }
}

#[test]
fn a_panic_of_a_clone_is_one_of_the_reader() {
    let mut executor = unclamped();
    let (signal, value) = (Signal::new(), Rc::new(()));
    let readers = [0, 1].map(|_| {
        let mut events = signal.subscribe();
        executor.start(async move { events.next().await.is_some() })
    });
    signal.emit(FailsToClone {
        _held: value.clone(),
    });
    executor.run_frame(0.25);
    let [first, last] = readers.map(|reader| result_of(&executor, reader));
    assert_eq!(panic_text(&*first.unwrap_err().into_panic()), "on purpose");
    assert!(last.unwrap(), "the last gets the value without a clone");
    assert_eq!(Rc::strong_count(&value), 1);
}

#[test]
fn emitting_allocates_nothing_in_the_steady_state() {
    let mut executor = unclamped();
    let signal = Signal::new();
    for i in 0..50 {
        let (signal, mut events) = (signal.clone(), signal.subscribe());
        executor.start(async move {
            loop {
                if i % 2 == 0 {
                    signal.wait().await;
                } else {
                    events.next().await;
                }
            }
        });
    }
    let emitter = signal.clone();
    executor.start(async move {
        for i in 0_u64.. {
            emitter.emit(i);
            emitter.emit(i);
            next_frame().await;
        }
    });
    let mut frames = |count| {
        for i in 0..count {
            signal.emit(i);
            executor.run_frame(0.25);
        }
    };
    frames(1_000);
    assert_eq!(allocations_of(|| frames(1_000)), 0);
}

#[test]
fn two_that_answer_each_other_take_turns_within_a_run() {
    let mut executor = unclamped();
    let (ping, pong) = (Signal::new(), Signal::new());
    let (pings, pongs) = (ping.subscribe(), pong.subscribe());
    let count = Rc::new(Cell::new(0));
    for (mut events, answer) in [(pings, pong), (pongs, ping.clone())] {
        let count = count.clone();
        executor.start(async move {
            while let Some(n) = events.next().await {
                count.set(n);
                if n < 100 {
                    answer.emit(n + 1);
                }
            }
        });
    }
    executor.start(async move {
        next_frame().await;
        ping.emit(1);
        yield_now().await;
    });
    executor.run_frame(0.25);
    assert_eq!(count.get(), 100);
}

/// A waker that polls `wait` as soon as it is called, 1,000 times at most.
fn waker_that_polls(wait: LocalBoxFuture<'static, ()>) -> (Rc<Cell<u32>>, Waker) {
    thread_local! {
        static WAIT: RefCell<Option<LocalBoxFuture<'static, ()>>> = const { RefCell::new(None) };
        static CALLS: RefCell<Rc<Cell<u32>>> = RefCell::default();
    }
    fn hear(call: WakerCall) {
        if call != WakerCall::Wake {
            return;
        }
        let calls = CALLS.with_borrow(Rc::clone);
        if calls.get() == 1_000 {
            return;
        }
        calls.set(calls.get() + 1);
        if let Some(mut wait) = WAIT.take() {
            let waker = waker_that_tells(hear);
            let polled = wait.as_mut().poll(&mut Context::from_waker(&waker));
            assert!(polled.is_pending());
            WAIT.set(Some(wait));
        }
    }
    WAIT.set(Some(wait));
    (CALLS.with_borrow(Rc::clone), waker_that_tells(hear))
}

#[test]
fn a_waker_that_polls_at_once_is_called_once_for_an_event_and_once_for_the_end() {
    let signal = Signal::new();
    let (calls, waker) = waker_that_polls(signal.wait_for(|()| false).boxed_local());
    waker.wake();
    assert_eq!(calls.replace(0), 1);
    signal.emit(());
    assert_eq!(calls.replace(0), 1);
    drop(signal);
    assert_eq!(calls.get(), 1);
}

// docs/contract.md#decided-emit-one
#[test]
fn one_event_goes_to_the_coroutine_that_has_waited_longest() {
    let mut executor = unclamped();
    let log = Log::new();
    let bell = Signal::new();
    for name in ["one", "two", "three"] {
        let (log, wait) = (log.clone(), bell.wait());
        executor.start(async move { log.say(format!("{name}: {}", wait.await)) });
    }
    let late = bell.wait();
    assert_eq!(bell.emit_one('a'), None);
    assert_eq!(bell.emit_one('b'), None);
    executor.run_frame(1);
    assert_eq!(bell.emit_one('c'), None);
    assert_eq!(bell.emit_one('d'), Some('d'));
    bell.emit('e');
    executor.run_frame(1);
    log.check(&["F1: one: a", "F1: two: b", "F2: three: c"]);
    // It has not been polled, so it does not wait; and it has missed nothing.
    assert_eq!(result_of(&executor, executor.start(late)).unwrap(), 'e');
}

// docs/contract.md#decided-emit-one
#[test]
fn an_event_that_its_coroutine_does_not_take_goes_to_the_next_that_waited() {
    let mut executor = unclamped();
    let bell = Signal::new();
    let stopped = executor.start(bell.wait());
    let refuses = executor.start(bell.wait_for(|&event| event == 2));
    let takes = executor.start(bell.wait());
    assert_eq!(bell.emit_one(1), None);
    stopped.stop();
    let later = executor.start(bell.wait());
    executor.run_frame(1);
    assert_eq!(takes.take_output().unwrap().unwrap(), 1);
    assert!(!refuses.is_finished() && !later.is_finished());
    // The last that waited refuses: the event is gone.
    let other = Signal::new();
    let refuses_all = executor.start(other.wait_for(|()| false));
    assert_eq!(other.emit_one(()), None);
    let late = executor.start(other.wait());
    executor.run_frames(2, 1);
    assert!(!refuses_all.is_finished() && !late.is_finished());
}

#[test]
fn a_subscription_that_waits_may_receive_it_before_what_follows() {
    let mut executor = unclamped();
    let bell = Signal::new();
    let mut events = bell.subscribe();
    let other = bell.subscribe();
    let seen = executor.start(async move { [events.next().await, events.next().await] });
    bell.emit_one(1);
    bell.emit(2);
    drop(bell);
    executor.run_frame(1);
    assert_eq!(seen.take_output().unwrap().unwrap(), [Some(1), Some(2)]);
    let rest = executor.start(futures::StreamExt::collect::<Vec<_>>(other));
    assert_eq!(rest.take_output().unwrap().unwrap(), [2]);
}

// docs/contract.md#decided-emit-one
#[test]
fn an_event_whose_filter_panics_goes_to_the_next_that_waited() {
    let mut executor = unclamped();
    let bell = Signal::new();
    let panics = executor.start(bell.wait_for(|_| panic!("a filter")));
    let takes = executor.start(bell.wait());
    assert_eq!(bell.emit_one(1), None);
    executor.run_frame(1);
    assert!(result_of(&executor, panics).unwrap_err().is_panic());
    assert_eq!(result_of(&executor, takes).unwrap(), 1);
}
