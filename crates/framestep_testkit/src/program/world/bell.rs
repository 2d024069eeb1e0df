//! An event without an executor: it wakes its waiters.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::World;
use crate::program::system::System;
use crate::program::trace::Got;

#[derive(Default)]
pub(super) struct Bell {
    rung: Cell<u64>,
    wakers: RefCell<Vec<Waker>>,
}

impl Bell {
    fn poll(&self, cx: &Context<'_>, from: u64) -> Poll<Got> {
        if self.rung.get() > from {
            return Poll::Ready(Got::Done);
        }
        let mut wakers = self.wakers.borrow_mut();
        if !wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
            wakers.push(cx.waker().clone());
        }
        Poll::Pending
    }

    fn listeners(&self) -> Vec<Waker> {
        self.rung.set(self.rung.get() + 1);
        self.wakers.take()
    }

    pub(super) fn ring(&self) {
        self.listeners().into_iter().for_each(Waker::wake);
    }

    pub(super) fn ring_elsewhere(&self) {
        let wakers = self.listeners();
        if !wakers.is_empty() {
            let ringer = std::thread::spawn(|| wakers.into_iter().for_each(Waker::wake));
            ringer.join().expect("wakers do not panic");
        }
    }

    pub(super) fn forget(&self) {
        drop(self.wakers.take());
    }
}

/// Waits for the bell of a number to ring from now on.
pub(super) fn wait<S: System>(
    world: Rc<World<S>>,
    number: usize,
) -> impl Future<Output = Got> + 'static {
    let from = world.bells[number].rung.get();
    std::future::poll_fn(move |cx| world.bells[number].poll(cx, from))
}
