//! Second panics while the stack unwinds, from values that the unwinding coroutine
//! did not make: wakers, values, payloads, closures. Only the first panic is seen,
//! and the process continues.

use std::cell::{Cell, RefCell};
use std::panic::{panic_any, resume_unwind};
use std::rc::Rc;
use std::task::{Context, Waker};

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use framestep::Executor;
use framestep::lend::with_deferred;
use framestep::prelude::*;

use framestep_testkit::timeline::unclamped;
use framestep_testkit::{OnDrop, WakerCall, panic_text, result_of, waker_that_tells};

thread_local! {
    static BOOMS: Cell<u32> = const { Cell::new(0) };
}

/// Panics without calling the panic hook, even while the stack unwinds.
fn boom() {
    BOOMS.set(BOOMS.get() + 1);
    resume_unwind(Box::new("the second panic"));
}

/// Panics whenever it is dropped.
#[derive(Clone)]
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        boom();
    }
}

/// A waker whose drop panics.
fn waker_that_panics() -> Waker {
    waker_that_tells(|call| {
        if call == WakerCall::Drop {
            boom();
        }
    })
}

/// Panics in a coroutine that holds the value that `make` returns. Checks that its
/// destructor also panics, and that the join returns the first panic.
#[track_caller]
fn check<T: 'static>(name: &str, executor: &Executor, make: impl FnOnce() -> T + 'static) {
    BOOMS.set(0);
    let unwinds = executor.start(async move {
        let _held = make();
        panic!("the first panic");
    });
    let error = result_of::<()>(executor, unwinds).unwrap_err();
    assert_eq!(
        panic_text(&*error.into_panic()),
        "the first panic",
        "{name}"
    );
    assert!(BOOMS.get() > 0, "nothing else panicked: {name}");
}

#[test]
fn the_drop_of_a_foreign_waker() {
    type Make = fn() -> LocalBoxFuture<'static, ()>;
    let waits: [(&str, Make); 12] = [
        ("next_frame", || next_frame().map(drop).boxed_local()),
        ("wait_frames", || wait_frames(2).map(drop).boxed_local()),
        ("wait_seconds", || wait_seconds(2).map(drop).boxed_local()),
        ("in_phase", || end_of_frame().map(drop).boxed_local()),
        ("wait_until", || wait_until(|| true).map(drop).boxed_local()),
        ("join", || start(next_frame()).map(drop).boxed_local()),
        ("finished", || {
            start(next_frame()).finished().map(drop).boxed_local()
        }),
        ("a wait for a signal", || {
            let signal = Signal::<()>::new().named("a signal");
            async move { signal.wait().await }.boxed_local()
        }),
        ("a filtered wait for a signal", || {
            Signal::<()>::new().wait_for(|()| true).boxed_local()
        }),
        ("a change of a watch", || {
            Watch::new(1).changed().map(drop).boxed_local()
        }),
        ("a condition of a watch", || {
            Watch::new(1)
                .wait_for(|&value| value == 2)
                .map(drop)
                .boxed_local()
        }),
        ("a checkpoint", || {
            let budget = Budget::of_units(0);
            async move { budget.checkpoint().await }.boxed_local()
        }),
    ];
    let executor = unclamped();
    for (name, make) in waits {
        check(name, &executor, move || {
            let mut wait = make();
            let waker = std::mem::ManuallyDrop::new(waker_that_panics());
            let polled = wait.as_mut().poll(&mut Context::from_waker(&waker));
            assert!(polled.is_pending());
            wait
        });
    }
}

#[test]
fn the_drop_of_an_event() {
    let executor = unclamped();
    let signal = Signal::new();
    let unread = signal.subscribe();
    signal.emit(Bomb);
    signal.emit(Bomb);
    check("two that nobody has read", &executor, || unread);
    assert_eq!(BOOMS.get(), 2);
    assert!(format!("{signal:?}").contains("stored: 0"));

    let emits = signal.clone();
    check("one that nobody receives", &executor, move || {
        OnDrop(move || emits.emit(Bomb))
    });

    let wait = signal.wait_for(|_| panic!("the first panic"));
    signal.emit(Bomb);
    BOOMS.set(0);
    let filters = executor.start(wait.map(std::mem::forget));
    let error = result_of(&executor, filters).unwrap_err();
    assert_eq!(panic_text(&*error.into_panic()), "the first panic");
    assert_eq!(BOOMS.get(), 1, "the event that is filtered");
}

#[test]
fn an_event_that_panics_does_not_keep_those_after_it() {
    let signal = Signal::new();
    let unread = signal.subscribe();
    for _ in 0..3 {
        signal.emit(Bomb);
    }
    BOOMS.set(0);
    let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(unread)));
    assert!(dropped.is_err(), "the first panic is that of the drop");
    assert_eq!(BOOMS.get(), 3);
}

#[test]
fn the_drop_of_an_event_that_is_replaced_while_it_is_cloned() {
    struct Event(Rc<RefCell<Option<Signal<Event>>>>);
    impl Clone for Event {
        fn clone(&self) -> Self {
            let signal = self.0.borrow().clone();
            // The limit is 1, so this value is no longer stored.
            signal.unwrap().emit(Event(Rc::default()));
            panic!("the first panic");
        }
    }
    impl Drop for Event {
        fn drop(&mut self) {
            if self.0.take().is_some() {
                boom();
            }
        }
    }
    let executor = unclamped();
    let signal = Signal::with_limit(1);
    let (mut first, _second) = (signal.subscribe(), signal.subscribe());
    signal.emit(Event(Rc::new(RefCell::new(Some(signal.clone())))));
    BOOMS.set(0);
    let clones = executor.start(async move { first.next().await.is_some() });
    let error = result_of(&executor, clones).unwrap_err();
    assert_eq!(panic_text(&*error.into_panic()), "the first panic");
    assert_eq!(BOOMS.get(), 1);
}

#[test]
fn the_drop_of_the_value_of_a_watch() {
    let executor = unclamped();
    let watch = Watch::new(Bomb);
    check("with its last wait", &executor, move || watch.changed());
    let watch = Watch::new(Bomb);
    check("with its last handle", &executor, || watch);
    let watch = Watch::new(Bomb);
    let sets = watch.clone();
    check("that is replaced", &executor, move || {
        OnDrop(move || sets.set(Bomb))
    });
    let reads = watch.clone();
    check("that is replaced while it is read", &executor, move || {
        reads.with(|_| {
            reads.set(Bomb);
            panic!("the first panic");
        });
    });
    std::mem::forget(watch);
}

#[test]
fn the_drop_of_a_payload() {
    struct Payload;
    impl Drop for Payload {
        fn drop(&mut self) {
            boom();
        }
    }
    let executor = unclamped();
    let panics = executor.start(async { panic_any(Payload) });
    let error = result_of::<()>(&executor, panics).unwrap_err();
    let clone = error.clone();
    check("in an error", &executor, || (error, clone));
    let panics = executor.start(async { panic_any(Payload) });
    check("in a handle", &executor, || panics);
}

#[test]
fn the_drop_of_a_payload_in_an_error_panics_at_no_other_time_either() {
    struct Payload;
    impl Drop for Payload {
        fn drop(&mut self) {
            boom();
        }
    }
    let executor = unclamped();
    BOOMS.set(0);
    let panics = executor.start(async { panic_any(Payload) });
    drop(result_of::<()>(&executor, panics));
    assert_eq!(BOOMS.get(), 1);
}

#[test]
fn the_drop_of_a_closure_that_no_executor_accepts() {
    let executor = unclamped();
    let (handle, remote) = {
        let ended = Executor::new();
        (ended.handle(), ended.remote())
    };
    check("of a spawn", &executor, || {
        OnDrop(move || {
            let bomb = Bomb;
            handle.spawn(async move { drop(bomb) });
        })
    });
    let calls = remote.clone();
    check("of a call from afar", &executor, || {
        OnDrop(move || {
            let bomb = Bomb;
            assert!(!calls.call(move || drop(bomb)));
        })
    });
    BOOMS.set(0);
    let unwound = std::panic::catch_unwind(|| {
        let _soon = OnDrop(|| {
            let bomb = Bomb;
            assert!(!with_deferred(move |_: &mut u32| drop(bomb)));
        });
        resume_unwind(Box::new(()));
    });
    assert!(unwound.is_err());
    assert_eq!(BOOMS.get(), 1, "of `with_deferred`, outside of an executor");
}

#[test]
fn the_call_of_a_hosts_waker() {
    let mut executor = unclamped();
    let waker = Rc::new(Cell::new(None));
    let keep = waker.clone();
    executor.start(std::future::poll_fn(move |cx| {
        keep.set(Some(cx.waker().clone()));
        std::task::Poll::<()>::Pending
    }));
    let waker = waker.take().unwrap();
    executor.run_frame(0.25);
    executor.on_wake(boom);
    for name in ["of this thread", "of another thread"] {
        BOOMS.set(0);
        let (waker, remote) = (waker.clone(), executor.remote());
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _wakes = OnDrop(|| match name {
                "of this thread" => waker.wake_by_ref(),
                _ => assert!(remote.spawn(|| async {})),
            });
            resume_unwind(Box::new(()));
        }));
        assert!(unwound.is_err());
        assert_eq!(BOOMS.get(), 1, "{name}");
        assert!(executor.has_ready(), "the wake is not lost: {name}");
        executor.run_frame(0.25);
    }
}

#[test]
fn the_drop_of_a_hook_that_another_one_replaces() {
    let executor = Rc::new(unclamped());
    let bomb = Bomb;
    executor.on_report(move |_| {
        let _ = &bomb;
    });
    let sets = executor.clone();
    check("of a hook", &executor, || {
        OnDrop(move || sets.on_report(|_| ()))
    });
}
