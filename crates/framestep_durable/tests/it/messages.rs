//! The messages of misuse in durable scripts: each has the line of the game, and says what to do instead.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Poll, Waker};

use framestep_durable::{WaitSeconds, prelude::*};

const KNOCK: Signal<u32> = signal("knock");

thread_local! {
    /// A wait that two scripts share.
    static SHARED: RefCell<Option<Pin<Box<WaitSeconds>>>> = const { RefCell::new(None) };

    /// The waker of a script that waits for something else.
    static WAKER: RefCell<Option<Waker>> = const { RefCell::new(None) };
}

/// Polls the shared wait.
async fn polls_shared() {
    poll_fn(|cx| {
        let mut shared = SHARED.take().unwrap_or_else(|| Box::pin(wait_seconds(9)));
        let polled = shared.as_mut().poll(cx);
        SHARED.set(Some(shared));
        polled
    })
    .await;
}

#[durable]
async fn shares() {
    polls_shared().await;
}

#[durable]
async fn errs(which: u32) {
    match which {
        0 => drop(interval(f64::NAN)),
        1 => drop(interval(0)),
        2 => clock().set_scale(f64::NAN),
        3 => drop(clock().scaled(-1.0)),
        4 => drop(owner().stop_within(f64::NAN)),
        5 => assert!(realtime().pause()),
        6 => with(|_: &mut u32| drop(KNOCK.subscribe())),
        7 => with(|_: &mut u32| drop(clock().pause_guard())),
        _ => polls_shared().await,
    }
}

#[test]
fn the_message_of_a_panic_has_the_line_and_the_fix() {
    let expected = [
        ("is NaN", "a number of seconds above zero"),
        ("must be above zero", "`next_frame()`"),
        ("`set_scale`", "NaN, which is no scale"),
        ("`scaled`", "-1, which is no scale"),
        ("`stop_within`", "length of NaN"),
        ("`pause`", "on the game clock"),
        ("`subscribe`", "before or after the `with`"),
        ("`pause_guard`", "before or after the `with`"),
        ("`wait_seconds()` at", "Make a new one"),
    ];
    for (which, (what, fix)) in (0..).zip(expected) {
        let builder = framestep::Executor::builder().propagate_panics(false);
        let registry = Registry::new().script(errs).script(shares);
        let mut runtime = Runtime::with(builder, registry);
        runtime.executor().on_report(|_| ());
        runtime.start(shares()).detach();
        let script = runtime.spawn(errs(which));
        runtime.run_frame_with(&mut 0_u32, 0.1);
        let Some(Err(JoinError::Panicked(text))) = runtime.take(script) else {
            panic!("no panic: {what}");
        };
        for part in [what, fix, concat!(file!(), ":")] {
            assert!(text.contains(part), "{part}: {text}");
        }
        SHARED.set(None);
    }
}

#[durable]
async fn drops_a_handle() {
    let handle = start(shares()).stop_on_drop();
    drop(handle);
    poll_fn(|cx| {
        WAKER.set(Some(cx.waker().clone()));
        Poll::<()>::Pending
    })
    .await;
}

#[test]
fn a_stop_by_a_handle_that_is_dropped_has_the_line_that_has_asked_for_it() {
    let mut runtime = Runtime::new(Registry::new().script(drops_a_handle).script(shares));
    runtime.start(drops_a_handle()).detach();
    runtime.run_frame(0.1);
    let error = runtime
        .save()
        .expect_err("it waits for something else")
        .to_string();
    SHARED.set(None);
    assert!(
        error.contains("`stop`") && error.contains("messages.rs"),
        "{error}"
    );
    assert!(!error.contains("handle.rs"), "{error}");
    WAKER.set(None);
}
