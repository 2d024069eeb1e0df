//! Waits that several scripts share.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use futures::FutureExt;

use crate::grenade::survive;

use super::waits::{Wait, own_wait};
use super::world::{Mood, World};

/// A wait that any number of scripts await, and its description.
#[derive(Clone)]
pub(super) struct Shared(By, Rc<str>);

#[derive(Clone)]
enum By {
    Theirs(futures::future::Shared<Wait>),
    Ours(Split),
}

impl Shared {
    /// If polls of a wait may panic, the test shares it itself: a future of
    /// `futures::future::Shared` that panics wakes no waiter.
    pub(super) fn new(world: &World, seat: usize) -> Self {
        let outer = world.said.take();
        let wait = own_wait(world, seat);
        let name = world.said.replace(outer).join(", ").into();
        let by = if world.mood == Mood::Shared && world.one_in(2) {
            By::Theirs(wait.shared())
        } else {
            By::Ours(Split::new(wait))
        };
        Shared(by, name)
    }

    pub(super) fn wait(self, world: &World) -> Wait {
        match self.0 {
            By::Theirs(shared) => {
                world.say(format!("shared by `Shared`: {}", self.1));
                UnderLock(Some(shared)).boxed_local()
            }
            By::Ours(split) => {
                world.say(format!("shared: {}", self.1));
                split.boxed_local()
            }
        }
    }
}

/// Like `futures::future::Shared`, but no lock is held while wakers are called.
#[derive(Clone)]
struct Split(Rc<Common>);

struct Common {
    wait: RefCell<Option<Wait>>,
    is_over: Cell<bool>,
    wakers: Arc<Wakers>,
}

#[derive(Default)]
struct Wakers(Mutex<Vec<Waker>>);

impl Wakers {
    fn add(&self, waker: Waker) {
        self.0.lock().expect("nothing panics here").push(waker);
    }
}

impl Wake for Wakers {
    fn wake(self: Arc<Self>) {
        let wakers = std::mem::take(&mut *self.0.lock().expect("nothing panics here"));
        for waker in wakers {
            survive(|| waker.wake());
        }
    }
}

impl Split {
    fn new(wait: Wait) -> Self {
        Split(Rc::new(Common {
            wait: RefCell::new(Some(wait)),
            is_over: Cell::new(false),
            wakers: Arc::default(),
        }))
    }
}

/// Ends a wait that is ready or has panicked, and wakes all waiters.
struct End<'a>(&'a Common);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.is_over.set(true);
        let wait = self.0.wait.take();
        survive(|| drop(wait));
        self.0.wakers.clone().wake();
    }
}

impl Future for Split {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let common = &*self.0;
        if common.is_over.get() {
            return Poll::Ready(());
        }
        common.wakers.add(cx.waker().clone());
        // Another poll of it may be under way, or have ended it in the clone.
        let Some(mut wait) = common
            .wait
            .try_borrow_mut()
            .ok()
            .and_then(|mut it| it.take())
        else {
            return if common.is_over.get() {
                Poll::Ready(())
            } else {
                Poll::Pending
            };
        };
        let end = End(common);
        let waker = Waker::from(common.wakers.clone());
        if wait
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
        {
            std::mem::forget(end);
            common.wait.replace(Some(wait));
            return Poll::Pending;
        }
        Poll::Ready(())
    }
}

/// Polls `futures::future::Shared`, which holds a lock while it calls, clones and
/// drops the wakers: these must not use it again.
struct UnderLock(Option<futures::future::Shared<Wait>>);

impl Future for UnderLock {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let waker = Waker::from(Arc::new(LockedWaker(Some(cx.waker().clone()))));
        let shared = self.0.as_mut().expect("it is not dropped");
        shared.poll_unpin(&mut Context::from_waker(&waker))
    }
}

struct LockedWaker(Option<Waker>);

impl Wake for LockedWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let _lock = Lock::new();
        self.0.as_ref().expect("it is not dropped").wake_by_ref();
    }
}

impl Drop for LockedWaker {
    fn drop(&mut self) {
        let _lock = Lock::new();
        drop(self.0.take());
    }
}

/// Marks that a lock is held.
struct Lock(Option<Rc<World>>);

impl Lock {
    fn new() -> Self {
        let world = World::find();
        if let Some(world) = &world {
            world.locks.set(world.locks.get() + 1);
        }
        Lock(world)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some(world) = &self.0 {
            world.locks.set(world.locks.get() - 1);
        }
    }
}
