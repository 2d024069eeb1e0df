//! An event that knows no executor: it wakes its waiters.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

#[derive(Default)]
pub(super) struct Bell {
    rung: Cell<u64>,
    wakers: RefCell<Vec<Waker>>,
}

impl Bell {
    pub(super) fn ring(&self) {
        self.rung.set(self.rung.get() + 1);
        self.wakers.take().into_iter().for_each(Waker::wake);
    }

    /// Waits until it rings.
    pub(super) async fn rings(self: Rc<Self>) {
        let from = self.rung.get();
        poll_fn(|cx| {
            if self.rung.get() > from {
                return Poll::Ready(());
            }
            let mut wakers = self.wakers.borrow_mut();
            if !wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
                wakers.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    pub(super) fn forget(&self) {
        drop(self.wakers.take());
    }
}
