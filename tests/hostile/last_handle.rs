//! User code that runs while a coroutine ends drops its last handle: the block is not reused
//! before the end is complete.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use framestep::inspect::TraceKind;
use framestep::prelude::*;
use framestep::task::Outcome;

use framestep_testkit::forever;

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

struct Unobserved;

/// Leaves two vacant blocks, and a coroutine between them.
fn crowd(executor: &Executor) -> Coroutine<u64> {
    let vacant = executor.start(sized(|| Some(1_u64)));
    let asleep = executor.start(sized(|| None::<u64>));
    let second = executor.start(sized(|| Some(1_u64)));
    drop((vacant, second));
    asleep
}

/// As large for every `f`.
async fn with_room<T>(room: [u64; 32], f: impl AsyncFnOnce() -> T) -> T {
    let output = f().await;
    std::hint::black_box(&room);
    output
}

/// Returns `number` in the next frame.
fn after_a_frame(number: u64) -> impl Future<Output = u64> {
    with_room([0; 32], async move || {
        next_frame().await;
        number
    })
}

#[test]
fn by_what_its_future_holds() {
    let mut executor = Executor::new();
    let (slot, later) = (Slot::<u64>::default(), Slot::<u64>::default());
    let (holds, handle, keep) = (DropsHandle(slot.clone()), executor.handle(), later.clone());
    let next = defer_call(move || *keep.borrow_mut() = Some(handle.start(after_a_frame(5))));
    let script = with_room([0; 32], async || {
        let (_next, _holds) = (next, holds);
        forever().await;
        0
    });
    let script = executor.start(script);
    let id = script.id();
    *slot.borrow_mut() = Some(script);
    assert!(executor.stop(id));
    executor.run_frame(0.25);
    let later = later.borrow_mut().take().expect("the script has ended");
    assert_eq!(later.take_output().unwrap().unwrap(), 5);
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
    executor.on_unobserved(move |_: Unobserved, _| {
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
    drop(executor.start(async { Unobserved }));
    let text = executor.start(sized(|| Some("text")));
    let later = later.borrow_mut().take();
    assert_eq!(
        later
            .and_then(|later| later.take_output())
            .unwrap()
            .unwrap(),
        42
    );
    assert_eq!(text.take_output().unwrap().unwrap(), "text");
}

#[test]
fn by_the_hook_that_hears_of_its_end() {
    for is_owned in [false, true] {
        let mut executor = Executor::new();
        let owner = executor.owner();
        let (ends, later) = (Slot::<u64>::default(), Slot::<u64>::default());
        let (handle, slot, keep) = (executor.handle(), ends.clone(), later.clone());
        executor.on_trace(move |event| {
            let is_end = event.kind == TraceKind::Ended(Outcome::Finished);
            if let Some(ended) = slot.borrow_mut().take_if(|_| is_end) {
                drop(ended);
                *keep.borrow_mut() = Some(handle.start(after_a_frame(5)));
            }
        });
        let script = after_a_frame(1);
        *ends.borrow_mut() = Some(if is_owned {
            owner.start(script)
        } else {
            executor.start(script)
        });
        executor.run_frames(5, 0.25);
        let later = later.borrow_mut().take().expect("the hook was called");
        assert_eq!(later.take_output().unwrap().unwrap(), 5);
    }
}
