//! Waits of all types as one.

use std::cell::RefCell;
use std::fmt::Debug;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::LocalBoxFuture;
use futures::{FutureExt, Stream};

use framestep::prelude::*;
use framestep::sync::Subscription;
use framestep::wait::Interval;

use super::Given;
use super::row::StaysOnItsThread;

/// A wait of any type.
pub trait Wait {
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()>;
    fn print(&self) -> String;
}

impl<F: Future + Debug> Wait for F {
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Future::poll(self, cx).map(drop)
    }

    fn print(&self) -> String {
        format!("{self:?}")
    }
}

/// A wait in a box. It prints as the wait.
pub struct Boxed(pub Pin<Box<dyn Wait>>);

impl Future for Boxed {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

impl Debug for Boxed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.print())
    }
}

/// The next item of a stream.
pub(super) struct Item<S>(pub S);

impl<S: Stream + Debug + Unpin> Wait for Item<S> {
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.get_mut().0).poll_next(cx).map(drop)
    }

    fn print(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// A tick of an interval.
pub(super) struct Ticks(RefCell<Interval>);

impl Ticks {
    pub(super) fn of(interval: Interval) -> Self {
        Ticks(RefCell::new(interval))
    }
}

impl Wait for Ticks {
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.borrow_mut().tick().poll_unpin(cx).map(drop)
    }

    fn print(&self) -> String {
        format!("{:?}", self.0.borrow_mut().tick())
    }
}

/// All ticks of an interval that are due.
pub(super) struct AllTicks(RefCell<Interval>);

impl AllTicks {
    pub(super) fn of(interval: Interval) -> Self {
        AllTicks(RefCell::new(interval))
    }
}

impl Wait for AllTicks {
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.borrow_mut().ticks().poll_unpin(cx).map(drop)
    }

    fn print(&self) -> String {
        format!("{:?}", self.0.borrow_mut().ticks())
    }
}

/// An event of a subscription.
pub(super) struct Events(RefCell<Subscription<u64>>);

impl Events {
    pub(super) fn of(events: Subscription<u64>) -> Self {
        Events(RefCell::new(events))
    }
}

impl Wait for Events {
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.borrow_mut().next().poll_unpin(cx).map(drop)
    }

    fn print(&self) -> String {
        format!("{:?}", self.0.borrow_mut().next())
    }
}

/// A checkpoint, and the budget that it has spent: its job waits.
pub(super) struct Spent {
    budget: Budget,
    wait: LocalBoxFuture<'static, ()>,
}

impl Spent {
    pub(super) fn of(given: &Given) -> Self {
        let (budget, phase) = (given.budget.clone(), given.phase);
        let job = budget.clone();
        let wait = async move {
            let checkpoint = job.checkpoint_cost(2);
            StaysOnItsThread::check(&checkpoint);
            match phase {
                Some(phase) => checkpoint.in_phase(phase).await,
                None => checkpoint.await,
            }
        };
        let wait = wait.boxed_local();
        Spent { budget, wait }
    }
}

impl Wait for Spent {
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.wait.as_mut().poll(cx)
    }

    fn print(&self) -> String {
        format!("{:?}", self.budget.checkpoint())
    }
}
