//! Hooks and stopwatches that end the coroutine about to be polled, and start
//! another, which may reuse its memory.

use std::cell::{Cell, RefCell};
use std::fmt::Write;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::Duration;

use framestep::inspect::{Report, TraceKind};
use framestep::prelude::*;

use framestep_testkit::forever;
use framestep_testkit::timeline::unclamped;

type Kept<T> = Rc<RefCell<Option<Coroutine<T>>>>;

/// Counts events if `counts`, else returns at once.
async fn count(counts: bool, events: Signal<u32>, heard: Rc<Cell<u32>>) {
    if counts {
        loop {
            events.wait().await;
            heard.set(heard.get() + 1);
        }
    }
}

/// An executor whose stopwatch calls `read`, and says that each poll takes a second.
fn clocked(read: impl Fn() + 'static) -> Executor {
    let reads = Cell::new(0);
    Executor::builder()
        .max_delta(f64::INFINITY)
        .slow_poll(0.5)
        .stopwatch(move || {
            read();
            reads.set(reads.get() + 1);
            Duration::from_secs(reads.get())
        })
        .build()
}

#[test]
fn what_the_trace_hook_starts_in_place_of_what_it_stops_gets_its_own_wakes() {
    let mut executor = unclamped();
    let (first, second) = (Signal::new(), Signal::new());
    let (unheard, heard) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let victim = executor
        .start(count(true, first.clone(), unheard.clone()))
        .id();
    let started: Kept<()> = Rc::default();
    let (handle, keep) = (executor.handle(), started.clone());
    let (events, hears) = (second.clone(), heard.clone());
    executor.on_trace(move |event| {
        if event.id == Some(victim) && matches!(event.kind, TraceKind::Resumed { .. }) {
            handle.stop(victim);
            keep.replace(Some(handle.start(count(
                true,
                events.clone(),
                hears.clone(),
            ))));
        }
    });
    first.emit(1);
    executor.run_frame(0.25);
    for event in 0..3 {
        second.emit(event);
        executor.run_frame(0.25);
    }
    assert_eq!((unheard.get(), heard.get()), (0, 3));
}

#[test]
fn what_a_report_starts_in_place_of_what_has_just_returned_gets_its_own_wakes() {
    let mut executor = clocked(|| ());
    let (events, heard) = (Signal::new(), Rc::new(Cell::new(0)));
    let owner = executor.owner();
    let kept: Kept<()> = Rc::default();
    let (handle, keep) = (executor.handle(), kept.clone());
    let (source, hears, reported) = (events.clone(), heard.clone(), Cell::new(false));
    executor.on_report(move |report| {
        if matches!(report, Report::SlowPoll { .. }) && !reported.replace(true) {
            drop(keep.take());
            keep.replace(Some(handle.start(count(
                true,
                source.clone(),
                hears.clone(),
            ))));
        }
    });
    kept.replace(Some(owner.spawn(count(
        false,
        events.clone(),
        heard.clone(),
    ))));
    executor.run_frame(0.25);
    for event in 0..3 {
        events.emit(event);
        executor.run_frame(0.25);
    }
    assert_eq!(heard.get(), 3);
    assert!(owner.is_empty());
}

#[test]
fn a_report_may_take_the_result_of_what_has_just_returned_from_its_joiner() {
    let mut executor = clocked(|| ());
    let slow = executor.spawn(wait_frames(2));
    let (first, last) = (slow.finished(), slow.finished());
    let slow = Rc::new(RefCell::new(slow));
    let joined = Rc::new(Cell::new(0));
    let hears = |joined: &Rc<Cell<u32>>| {
        let joined = joined.clone();
        move || joined.set(joined.get() + 1)
    };
    let (one, two, three) = (hears(&joined), hears(&joined), hears(&joined));
    executor.start(async move {
        first.await;
        one();
    });
    let shared = slow.clone();
    executor.start(async move {
        let result = poll_fn(|cx| Pin::new(&mut *shared.borrow_mut()).poll(cx)).await;
        result.unwrap();
        two();
    });
    executor.start(async move {
        last.await;
        three();
    });
    let (handle, id) = (executor.handle(), slow.borrow().id());
    executor.on_report(move |report| {
        let of_slow = matches!(report, Report::SlowPoll { id: of, .. } if *of == id);
        if of_slow && executor_is_in_frame(&handle, 3) {
            let mut cx = Context::from_waker(Waker::noop());
            assert!(Pin::new(&mut *slow.borrow_mut()).poll(&mut cx).is_ready());
            // New waits, which reuse the slots of those that have ended.
            for _ in 0..3 {
                handle.start(async {
                    join!(wait_seconds(100), wait_seconds(100));
                });
            }
        }
    });
    for _ in 0..6 {
        executor.run_frame(0.25);
    }
    assert_eq!(joined.get(), 2);
}

fn executor_is_in_frame(handle: &framestep::Handle, frame: u64) -> bool {
    handle.time().is_some_and(|time| time.frame == frame)
}

#[test]
fn a_stopwatch_may_replace_a_coroutine_whose_poll_has_panicked() {
    type Act = Rc<RefCell<Option<Box<dyn FnOnce()>>>>;
    async fn panics_in_its_second_poll(panics: bool, act_next: Rc<Cell<bool>>) {
        next_frame().await;
        if panics {
            act_next.set(true);
            panic!("on purpose");
        }
        forever().await;
    }

    let (act, act_next) = (Act::default(), Rc::new(Cell::new(false)));
    let (acts, now) = (act.clone(), act_next.clone());
    let mut executor = clocked(move || {
        if now.replace(false) {
            if let Some(act) = acts.take() {
                act();
            }
        }
    });
    executor.on_report(|_| ());
    let victim = executor
        .spawn(panics_in_its_second_poll(true, act_next.clone()))
        .id();
    let started: Kept<()> = Rc::default();
    let (handle, keep) = (executor.handle(), started.clone());
    act.replace(Some(Box::new(move || {
        handle.stop(victim);
        let other = panics_in_its_second_poll(false, Rc::default());
        keep.replace(Some(handle.start(other)));
    })));
    for _ in 0..4 {
        executor.run_frame(0.25);
    }
    assert!(!executor.is_alive(victim));
    let other = started.take().expect("the stopwatch has acted");
    assert!(!other.is_finished());
}

#[test]
fn a_hook_that_ends_its_executor_goes_with_it() {
    thread_local! {
        static EXECUTOR: RefCell<Option<Executor>> = const { RefCell::new(None) };
    }
    let executor = Executor::new();
    let handle = executor.handle();
    // A coroutine's handle keeps its block.
    let coroutine = executor.spawn(forever());
    let held = Rc::new(());
    let holds = held.clone();
    executor.on_trace(move |_| {
        let _ = (&holds, &coroutine);
        drop(EXECUTOR.take());
    });
    EXECUTOR.set(Some(executor));
    handle.start(async {});
    assert!(handle.time().is_none());
    assert_eq!(Rc::strong_count(&held), 1);
}

#[test]
fn a_hook_for_reports_is_no_coroutine() {
    async fn spawns_without_end() {
        spawn(Box::pin(spawns_without_end()) as Pin<Box<dyn Future<Output = ()>>>);
        forever().await;
    }
    let mut executor = Executor::builder().max_polls_per_run(1).build();
    let handle = executor.handle();
    let owner = executor.owner();
    let seen = Rc::new(Cell::new(false));
    let sees = seen.clone();
    executor.on_report(move |report| {
        if matches!(report, Report::Runaway { .. }) {
            sees.set(true);
            // It has no owner: it survives the owner of the coroutine polled last.
            handle
                .spawn(async { wait_seconds(60).await })
                .named("of the hook");
            assert!(framestep::lend::try_with(|_: &mut u8| ()).is_err());
        }
    });
    owner.spawn(spawns_without_end());
    executor.run_frame(0.25);
    assert!(seen.get());
    drop(owner);
    assert_eq!(executor.len(), 1);
}

#[test]
fn what_debug_is_written_to_may_use_what_is_shown() {
    struct Emits(Signal<u32>);
    impl Write for Emits {
        fn write_str(&mut self, _: &str) -> std::fmt::Result {
            self.0.emit(1);
            Ok(())
        }
    }
    struct Clones(Budget);
    impl Write for Clones {
        fn write_str(&mut self, _: &str) -> std::fmt::Result {
            drop(self.0.clone());
            drop(self.0.checkpoint());
            Ok(())
        }
    }

    let signal = Signal::new();
    write!(Emits(signal.clone()), "{signal:?}").unwrap();

    let budget = Budget::of_units(1);
    write!(Clones(budget.clone()), "{budget:?}").unwrap();
}
