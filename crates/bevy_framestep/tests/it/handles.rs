//! Handles of scripts that commands start, and who waits for the end of such a script.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use bevy_app::App;
use bevy_framestep::ScriptHandle;
use bevy_framestep::prelude::*;

use super::{app, log, take_log};

fn start<F: Future<Output = ()> + 'static>(
    app: &mut App,
    script: impl FnOnce() -> F + Send + 'static,
) -> ScriptHandle {
    let world = app.world_mut();
    let handle = world.commands().start_script(script);
    world.flush();
    handle
}

/// Two scripts wait, and the first one uses a waker that panics.
fn waited_for_with_a_panic(app: &mut App, of: &ScriptHandle) {
    struct Panics;

    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a waker panics");
        }
    }

    /// Polls with a waker that panics.
    struct Through<F>(Pin<Box<F>>);

    impl<F: Future> Future for Through<F> {
        type Output = F::Output;

        fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<F::Output> {
            let waker = Waker::from(Arc::new(Panics));
            self.0.as_mut().poll(&mut Context::from_waker(&waker))
        }
    }

    let (first, second) = (of.finished(), of.finished());
    app.world_mut().start_script(|| Through(Box::pin(first)));
    app.world_mut().start_script(|| async move {
        second.await;
        log(format!("over in frame {}", time().frame));
    });
}

#[test]
fn a_waker_that_panics_at_the_end_of_a_script_keeps_no_other_waiting() {
    let mut app = app();
    let script = start(&mut app, || wait_frames(2));
    waited_for_with_a_panic(&mut app, &script);
    for _ in 0..3 {
        app.update();
    }
    assert!(script.is_finished());
    assert_eq!(take_log(&mut app), ["over in frame 2"]);
}

/// The wakers are called while the panic unwinds the script: a second one would end the
/// program.
#[test]
fn a_waker_that_panics_at_the_panic_of_a_script() {
    let mut app = app();
    let script = start(&mut app, || async {
        wait_frames(2).await;
        panic!("no such door");
    });
    waited_for_with_a_panic(&mut app, &script);
    for _ in 0..3 {
        app.update();
    }
    assert!(script.is_finished());
    assert_eq!(take_log(&mut app), ["over in frame 2"]);
}

/// A waker, whose count says how many clones of it exist.
fn counted() -> (Waker, Arc<impl Wake>) {
    struct Counts;

    impl Wake for Counts {
        fn wake(self: Arc<Self>) {}
    }

    let count = Arc::new(Counts);
    (Waker::from(count.clone()), count)
}

#[test]
fn a_wait_that_is_dropped_leaves_no_waker() {
    let mut app = app();
    let script = start(&mut app, || wait_frames(1000));
    let (waker, count) = counted();
    let mut kept = pin!(script.finished());
    for _ in 0..3 {
        let (waker, count) = counted();
        let polled = pin!(script.finished()).poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        assert_eq!(Arc::strong_count(&count), 2, "those of the test");
    }
    let mut context = Context::from_waker(&waker);
    assert!(kept.as_mut().poll(&mut context).is_pending());
    assert_eq!(Arc::strong_count(&count), 3);
    script.stop();
    app.update();
    assert!(kept.as_mut().poll(&mut context).is_ready());
    assert_eq!(Arc::strong_count(&count), 2);
}

/// A wait that goes from one task to another.
#[test]
fn a_wait_keeps_only_the_waker_that_polled_it_last() {
    let mut app = app();
    let script = start(&mut app, || wait_frames(1000));
    let ((first, of_first), (second, of_second)) = (counted(), counted());
    let mut wait = pin!(script.finished());
    for waker in [&first, &second] {
        let mut context = Context::from_waker(waker);
        assert!(wait.as_mut().poll(&mut context).is_pending());
    }
    assert_eq!(Arc::strong_count(&of_first), 2);
    assert_eq!(Arc::strong_count(&of_second), 3);
}
