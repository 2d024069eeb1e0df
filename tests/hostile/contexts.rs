//! Futures that replace the `Context` that is passed to them.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::LocalBoxFuture;

use framestep::prelude::*;

use framestep_testkit::forever;
use framestep_testkit::timeline::{Log, unclamped};
use framestep_testkit::watched::{check_all_dropped, watched};

/// After this, the context has a waker that does nothing.
async fn replace_the_context() {
    poll_fn(|cx| {
        *cx = Context::from_waker(Waker::noop());
        Poll::Ready(())
    })
    .await;
}

#[test]
fn a_context_that_is_replaced_is_that_of_one_coroutine() {
    type Script = fn() -> LocalBoxFuture<'static, ()>;
    // It ends, it continues, it sleeps.
    let scripts: [Script; 3] = [
        || {
            async {
                next_frame().await;
                replace_the_context().await;
            }
            .boxed_local()
        },
        || {
            async {
                loop {
                    next_frame().await;
                    replace_the_context().await;
                }
            }
            .boxed_local()
        },
        || {
            async {
                next_frame().await;
                replace_the_context().await;
                forever().await;
            }
            .boxed_local()
        },
    ];
    for script in scripts {
        a_replaced_context_harms_no_other(script());
    }
}

fn a_replaced_context_harms_no_other(script: LocalBoxFuture<'static, ()>) {
    let mut executor = unclamped();
    let log = Log::new();
    executor.start(watched(script));
    let mut senders = Vec::new();
    for at in 0..3 {
        let (send, message) = oneshot::channel::<()>();
        let log = log.clone();
        // Polled after the other in the same run.
        executor.start(watched(async move {
            next_frame().await;
            message.await.unwrap();
            log.note(format_args!("{at} in F{}", time().frame));
        }));
        senders.push(send);
    }
    executor.run_frame(0.25);
    for send in senders {
        send.send(()).unwrap();
    }
    executor.run_frame(0.25);
    log.check(&["0 in F2", "1 in F2", "2 in F2"]);
    drop(executor);
    check_all_dropped();
}

#[test]
fn one_that_replaces_its_own_context_is_harmed_for_that_poll_only() {
    let mut executor = unclamped();
    let log = Log::new();
    let (send, message) = oneshot::channel::<()>();
    let (say, polls) = (log.clone(), Rc::new(Cell::new(0)));
    let count = polls.clone();
    let mut message = Some(message);
    executor.start(watched(async move {
        replace_the_context().await;
        // A wait resumes its coroutine, whatever its waker.
        next_frame().await;
        say.note("next_frame");
        let mut message = message.take().unwrap();
        poll_fn(|cx| {
            count.set(count.get() + 1);
            std::pin::Pin::new(&mut message).poll(cx)
        })
        .await
        .unwrap();
        say.note("message");
    }));
    executor.run_frame(0.25);
    log.check(&["next_frame"]);
    send.send(()).unwrap();
    executor.run_frame(0.25);
    log.check(&["message"]);
    assert_eq!(polls.get(), 2);
}

#[test]
fn contexts_that_are_swapped_between_an_outer_and_an_inner_poll_reach_no_other() {
    let mut executor = unclamped();
    let log = Log::new();
    let (send, message) = oneshot::channel::<()>();
    executor.start(watched(poll_fn(|outer| {
        // The waker of the outer poll is used by a coroutine that it starts.
        let waker = outer.waker().clone();
        let leaked: &'static Waker = Box::leak(Box::new(waker));
        start(watched(poll_fn(move |inner| {
            *inner = Context::from_waker(leaked);
            Poll::<()>::Pending
        })));
        *outer = Context::from_waker(Waker::noop());
        Poll::<()>::Pending
    })));
    let say = log.clone();
    executor.start(watched(async move {
        message.await.unwrap();
        say.note("message");
    }));
    send.send(()).unwrap();
    executor.run_frame(0.25);
    log.check(&["message"]);
}
