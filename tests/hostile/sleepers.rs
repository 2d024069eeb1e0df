//! Coroutines that sleep without end, and values that know their thread.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};
use std::thread::ThreadId;

use framestep::{Coroutine, Executor};

use framestep_testkit::counted;

/// Starts a coroutine that sleeps without end; also returns its waker.
pub(super) fn sleeper(executor: &Executor, polls: &Rc<Cell<u32>>) -> (Coroutine<()>, Waker) {
    let kept = Rc::new(Cell::new(None));
    let keep = kept.clone();
    let coroutine = executor.start(counted(
        polls.clone(),
        poll_fn(move |cx| {
            keep.set(Some(cx.waker().clone()));
            Poll::Pending
        }),
    ));
    (coroutine, kept.take().expect("polled"))
}

pub(super) fn waker_of(executor: &Executor, polls: &Rc<Cell<u32>>) -> Waker {
    sleeper(executor, polls).1
}

/// Panics if it is dropped on another thread.
pub(super) struct Bound(pub(super) ThreadId, pub(super) Arc<AtomicUsize>);

impl Bound {
    pub(super) fn here(drops: &Arc<AtomicUsize>) -> Self {
        Bound(std::thread::current().id(), drops.clone())
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        assert_eq!(self.0, std::thread::current().id());
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}
