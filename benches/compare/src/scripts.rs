//! Coroutines that are the same for every system that has frames. Only the wait for
//! the next frame is the system's own.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, Waker};

use futures::future::join_all;

use crate::actor::Actor;

/// W1: waits for the next frame again and again.
pub(crate) fn awake<F: Future>(
    index: usize,
    next_frame: impl Fn() -> F,
) -> impl Future<Output = ()> {
    let mut actor = Actor::new(index);
    async move {
        loop {
            next_frame().await;
            actor.resumed();
        }
    }
}

/// Among so many coroutines of W1c, the first starts children.
pub(crate) const CHURN_ONE_IN: usize = 10_000;

/// W1c: as [`awake`], and in every other frame, the first among them, calls
/// `start` for a child: [`short_lived`].
pub(crate) fn churning<F: Future>(
    index: usize,
    next_frame: impl Fn() -> F,
    start: impl Fn(usize),
) -> impl Future<Output = ()> {
    let mut actor = Actor::new(index);
    async move {
        loop {
            next_frame().await;
            actor.resumed();
            start(index);
            next_frame().await;
            actor.resumed();
        }
    }
}

/// W3: waits for one frame and ends. Also the child of W1c.
pub(crate) fn short_lived<F: Future>(
    index: usize,
    next_frame: impl Fn() -> F,
) -> impl Future<Output = ()> {
    let mut actor = Actor::new(index);
    async move {
        next_frame().await;
        actor.resumed();
    }
}

/// W4b: a coroutine at the bottom of `levels` others, each of which awaits
/// the one below it in a box. All of them are passed through in every frame.
pub(crate) fn nested<F: Future>(
    levels: usize,
    next_frame: impl Fn() -> F + 'static,
) -> Pin<Box<dyn Future<Output = ()>>> {
    let mut actor = Actor::new(0);
    let mut chain: Pin<Box<dyn Future<Output = ()>>> = Box::pin(async move {
        loop {
            next_frame().await;
            actor.add(levels as u64);
        }
    });
    for _level in 1..levels {
        chain = Box::pin(level(chain));
    }
    chain
}

async fn level(below: Pin<Box<dyn Future<Output = ()>>>) {
    below.await;
}

/// Passes that each of a pair makes in a frame of W7.
pub(crate) const PASSES: usize = 100;

/// What two coroutines wake each other through.
#[derive(Default)]
pub(crate) struct Ball {
    with: Cell<usize>,
    waiting: [RefCell<Option<Waker>>; 2],
}

/// W7: in every frame, waits for the ball and passes it on, [`PASSES`] times.
pub(crate) fn player<F: Future>(
    ball: Rc<Ball>,
    me: usize,
    next_frame: impl Fn() -> F,
) -> impl Future<Output = ()> {
    let mut actor = Actor::new(me);
    async move {
        loop {
            for _pass in 0..PASSES {
                poll_fn(|cx| {
                    if ball.with.get() == me {
                        return Poll::Ready(());
                    }
                    *ball.waiting[me].borrow_mut() = Some(cx.waker().clone());
                    Poll::Pending
                })
                .await;
                actor.resumed();
                ball.with.set(1 - me);
                let other = ball.waiting[1 - me].take();
                if let Some(other) = other {
                    other.wake();
                }
            }
            next_frame().await;
        }
    }
}

/// Waits that each coroutine of W8 joins.
pub(crate) const JOINED: usize = 64;

/// W8: waits for the next frame [`JOINED`] times at once. What a wait gives is
/// dropped, so that `join_all` moves nothing about, whatever the system.
pub(crate) fn joining_frames<F: Future>(
    index: usize,
    next_frame: impl Fn() -> F,
) -> impl Future<Output = ()> {
    let mut actor = Actor::new(index);
    async move {
        loop {
            let all = join_all((0..JOINED).map(|_| async { drop(next_frame().await) })).await;
            actor.add(all.len() as u64);
        }
    }
}
