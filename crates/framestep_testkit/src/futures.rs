//! Small futures, and wrappers of futures.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use futures::StreamExt;
use futures::channel::mpsc;

use framestep::prelude::*;
use framestep::task::handle;
use framestep::{Executor, JoinError};

use crate::timeline::Log;

/// Wakes its own task and is ready at the next poll, like every `yield_now`.
pub async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Counts frames, without end.
pub async fn count_frames(frames: Rc<Cell<u64>>) {
    loop {
        next_frame().await;
        frames.set(frames.get() + 1);
    }
}

/// Counts how often `future` is polled.
pub async fn counted<F: Future>(polls: Rc<Cell<u32>>, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        polls.set(polls.get() + 1);
        future.as_mut().poll(cx)
    })
    .await
}

/// Polls `future` with a waker that does nothing, as careless wrappers do.
pub async fn swallow<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|_| {
        future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
    })
    .await
}

/// Enters the executor of the caller in each poll of `future`, as tracing wrappers enter
/// their context.
pub async fn entered<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let mut polled = None;
        handle().enter(|| polled = Some(future.as_mut().poll(cx)));
        // An executor that is about to go cannot be entered.
        polled.unwrap_or_else(|| future.as_mut().poll(cx))
    })
    .await
}

/// Polls `future` once with the waker of the caller.
pub async fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx))).await
}

/// A future that notes each poll, is ready at the `polls`th, and notes its drop.
pub fn noted(
    log: &Log,
    name: &'static str,
    polls: u32,
) -> impl Future<Output = &'static str> + use<> {
    let (log, guard, mut left) = (log.clone(), log.on_drop(format!("drop {name}")), polls);
    poll_fn(move |cx| {
        let _ = &guard;
        log.note(name);
        left -= 1;
        if left == 0 {
            return Poll::Ready(name);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
}

/// Never ready, never woken.
pub async fn forever() {
    std::future::pending::<()>().await;
}

/// The result of joining an ended coroutine, which must be there at once.
#[track_caller]
pub fn result_of<T: 'static>(executor: &Executor, coroutine: Coroutine<T>) -> Result<T, JoinError> {
    let slot = Rc::new(RefCell::new(None));
    let fill = slot.clone();
    executor.start(async move {
        let result = coroutine.await;
        *fill.borrow_mut() = Some(result);
    });
    let result = slot.borrow_mut().take();
    result.expect("joining what has ended takes no time")
}

/// Starts a coroutine that says every message it receives, after `before`.
pub fn receiver<F: Future + 'static>(
    executor: &Executor,
    log: &Log,
    before: F,
) -> mpsc::UnboundedSender<&'static str> {
    receiver_in(Phase::Update, executor, log, before)
}

/// The same, at home in `phase`.
pub fn receiver_in<F: Future + 'static>(
    phase: Phase,
    executor: &Executor,
    log: &Log,
    before: F,
) -> mpsc::UnboundedSender<&'static str> {
    let (sender, mut receiver) = mpsc::unbounded();
    let log = log.clone();
    executor.script("").in_phase(phase).start(async move {
        before.await;
        while let Some(message) = receiver.next().await {
            log.say(message);
        }
        log.say("closed");
    });
    sender
}
