//! A job on its way: it is called once or dropped, and either is the end of its wait.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::core::base::call::{self, Foreign};

use super::error::Failure;
use super::pool::Ticket;

/// What the future of a job and its thread share.
///
/// ```text
/// empty ─► stored, when the job has ended ─► delivered, on the executor's thread ─► taken
///   └──────────────┴────────────────────► abandoned: the future was dropped
/// ```
pub(super) struct Slot<T>(Mutex<State<T>>);

struct State<T> {
    /// From the end of the job until the future takes it.
    result: Option<Result<T, Failure>>,
    /// Whether the future may take it.
    is_delivered: bool,
    is_abandoned: bool,
    waker: Option<Foreign<Waker>>,
}

impl<T> Slot<T> {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Slot(Mutex::new(State {
            result: None,
            is_delivered: false,
            is_abandoned: false,
            waker: None,
        })))
    }

    /// No user code runs under the lock, so the state of a poisoned one is good.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<Result<T, Failure>> {
        let waits = |state: &State<T>| {
            let waker = state.waker.as_ref();
            waker.is_some_and(|waker| waker.get().will_wake(cx.waker()))
        };
        let known = {
            let mut state = self.lock();
            match state.take_delivered() {
                Some(result) => return Poll::Ready(result),
                None => waits(&state),
            }
        };
        if known {
            return Poll::Pending;
        }
        // Outside of the lock: a clone of a waker is user code.
        let waker = Foreign::new(call::out(|| cx.waker().clone()));
        let mut state = self.lock();
        // It may have been delivered meanwhile, if its executor has ended.
        if let Some(result) = state.take_delivered() {
            drop(state);
            return Poll::Ready(result);
        }
        let previous = state.waker.replace(waker);
        drop(state);
        drop(previous);
        Poll::Pending
    }

    /// Notes that no thread will call the job.
    pub(super) fn fail(&self, error: std::io::Error) {
        let failed = Some(Err(Failure::NoThread(error)));
        let dropped = mem::replace(&mut self.lock().result, failed);
        drop(dropped);
    }

    /// Notes that nothing takes the result. Drops what there is of it.
    pub(super) fn abandon(&self) {
        let (result, waker) = {
            let mut state = self.lock();
            state.is_abandoned = true;
            (state.result.take(), state.waker.take())
        };
        drop(waker);
        call::in_drop(|| drop(result));
    }

    fn is_abandoned(&self) -> bool {
        self.lock().is_abandoned
    }

    fn store(&self, result: Result<T, Failure>) {
        let unwanted = {
            let mut state = self.lock();
            if state.is_abandoned {
                Some(result)
            } else {
                state.result.replace(result)
            }
        };
        // On the thread of the job: a panic of this destructor is nobody's.
        call::quietly(|| drop(unwanted));
    }
}

impl<T> State<T> {
    fn take_delivered(&mut self) -> Option<Result<T, Failure>> {
        self.is_delivered.then(|| self.result.take()).flatten()
    }
}

/// Lets the future take the result of its job when it is dropped, and wakes it.
pub(super) struct Delivery(Arc<dyn Deliver + Send + Sync>);

trait Deliver {
    fn deliver(&self);
}

impl<T: Send> Deliver for Slot<T> {
    fn deliver(&self) {
        let waker = {
            let mut state = self.lock();
            state.is_delivered = true;
            state.waker.take()
        };
        if let Some(waker) = waker {
            call::quietly(|| waker.into_inner().wake());
        }
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        self.0.deliver();
    }
}

/// A job, until it has been called or dropped.
pub(super) struct Work<F, T: Send + 'static> {
    job: Option<F>,
    slot: Arc<Slot<T>>,
    ticket: Ticket,
}

impl<T: Send + 'static, F: FnOnce() -> T> Work<F, T> {
    pub(super) fn new(job: F, slot: Arc<Slot<T>>, ticket: Ticket) -> Self {
        Work {
            job: Some(job),
            slot,
            ticket,
        }
    }

    /// Calls the job, unless nothing takes its result any more. Never unwinds: that could end the
    /// thread of a pool, or the program.
    pub(super) fn run(mut self) {
        let job = self.job.take();
        if let Some(job) = job.filter(|_| !self.slot.is_abandoned()) {
            let called = call::catch(job);
            let result = called.map_err(|payload| Failure::Panicked(Foreign::new(payload)));
            self.slot.store(result);
        }
    }
}

impl<F, T: Send + 'static> Drop for Work<F, T> {
    fn drop(&mut self) {
        if let Some(job) = self.job.take() {
            call::quietly(|| drop(job));
            self.slot.store(Err(Failure::Dropped));
        }
        // Those behind it in the line wait for it all the same.
        if self.ticket.number().is_some() || !self.slot.is_abandoned() {
            self.ticket.arrive(Delivery(self.slot.clone()));
        }
    }
}
