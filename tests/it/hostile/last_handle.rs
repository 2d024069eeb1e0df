//! User code that runs while a coroutine ends drops its last handle: the block is not reused
//! before the end is complete.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use framestep::prelude::*;

/// A future of the same size whatever its output, so that one block fits all.
struct Sized<T> {
    _room: [u64; 8],
    output: fn() -> Option<T>,
}

impl<T> Future for Sized<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        (self.output)().map_or(Poll::Pending, Poll::Ready)
    }
}

fn sized<T>(output: fn() -> Option<T>) -> Sized<T> {
    Sized {
        _room: [0; 8],
        output,
    }
}

type Slot<T> = Rc<RefCell<Option<Coroutine<T>>>>;

/// Drops a handle when it is dropped itself.
struct DropsHandle<T>(Slot<T>);

impl<T> Drop for DropsHandle<T> {
    fn drop(&mut self) {
        let handle = self.0.borrow_mut().take();
        drop(handle);
    }
}

type Fails = Result<u64, u64>;

struct Unread;

/// Leaves two vacant blocks, and a coroutine with an `on_error` handler.
fn crowd(executor: &Executor) -> Coroutine<Fails> {
    let vacant = executor.start(sized(|| Some(1_u64)));
    let failing = executor.start(sized(|| None::<Fails>));
    let second = executor.start(sized(|| Some(1_u64)));
    drop((vacant, second));
    failing.on_error(|_| ())
}

#[test]
fn by_what_its_error_handler_holds() {
    let executor = Executor::new();
    let _crowd = crowd(&executor);
    let slot: Slot<Fails> = Slot::default();
    let holds = DropsHandle(slot.clone());
    let failing = executor.start(sized(|| None::<Fails>)).on_error(move |_| {
        let _ = &holds;
    });
    let id = failing.id();
    *slot.borrow_mut() = Some(failing);
    let later: Slot<u64> = Slot::default();
    let (handle, keep) = (executor.handle(), later.clone());
    executor.on_unread(move |_: Unread| {
        assert!(handle.stop(id));
        *keep.borrow_mut() = Some(handle.start(sized(|| Some(42))));
    });
    drop(executor.start(async { Unread }));
    let text = executor.start(sized(|| Some("text")));
    let later = later.borrow_mut().take();
    assert_eq!(later.and_then(|later| later.take()).unwrap().unwrap(), 42);
    assert_eq!(text.take().unwrap().unwrap(), "text");
}

thread_local! {
    static JOINED: RefCell<Option<Coroutine<u64>>> = const { RefCell::new(None) };
}

struct DropsJoined;

impl Wake for DropsJoined {
    fn wake(self: Arc<Self>) {
        drop(JOINED.with_borrow_mut(Option::take));
    }
}

#[test]
fn by_the_waker_of_a_join() {
    let executor = Executor::new();
    let _crowd = crowd(&executor);
    let later: Slot<u64> = Slot::default();
    let (handle, keep) = (executor.handle(), later.clone());
    executor.on_unread(move |_: Unread| {
        handle.lend(&mut 0_u32, |handle| {
            handle.enter(|| {
                with(|_: &mut u32| {
                    // It begins when the closure has returned.
                    let mut joined = handle.start(sized(|| Some(7_u64)));
                    let waker = Waker::from(Arc::new(DropsJoined));
                    let join = Pin::new(&mut joined).poll(&mut Context::from_waker(&waker));
                    assert!(join.is_pending());
                    JOINED.set(Some(joined));
                });
            });
        });
        assert!(JOINED.take().is_none(), "the waker has dropped it");
        *keep.borrow_mut() = Some(handle.start(sized(|| Some(42))));
    });
    drop(executor.start(async { Unread }));
    let text = executor.start(sized(|| Some("text")));
    let later = later.borrow_mut().take();
    assert_eq!(later.and_then(|later| later.take()).unwrap().unwrap(), 42);
    assert_eq!(text.take().unwrap().unwrap(), "text");
}

/// As large for every `f`.
async fn with_room<T>(room: [u64; 32], f: impl AsyncFnOnce() -> T) -> T {
    let output = f().await;
    std::hint::black_box(&room);
    output
}

#[test]
fn by_the_hook_that_hears_of_its_error_handlers_panic() {
    for is_owned in [false, true] {
        let mut executor = Executor::new();
        let owner = executor.owner();
        let failing: Slot<Fails> = Slot::default();
        let later: Slot<u64> = Slot::default();
        let (handle, slot, keep) = (executor.handle(), failing.clone(), later.clone());
        executor.on_report(move |_| {
            let failing = slot.borrow_mut().take();
            drop(failing);
            let next = with_room([0; 32], async || {
                next_frame().await;
                5_u64
            });
            *keep.borrow_mut() = Some(handle.start(next));
        });
        let script = with_room([0; 32], async || {
            next_frame().await;
            Err(1)
        });
        let coroutine: Coroutine<Fails> = if is_owned {
            owner.start(script)
        } else {
            executor.start(script)
        };
        *failing.borrow_mut() = Some(coroutine.on_error(|_| panic!("on purpose")));
        executor.run_frames(5, 0.25);
        let later = later.borrow_mut().take().expect("the hook was called");
        assert_eq!(later.take().unwrap().unwrap(), 5);
    }
}
