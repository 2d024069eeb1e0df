//! Small futures and readers that more than one module needs.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

use framestep::prelude::*;
use framestep::{Executor, JoinError};

use crate::timeline::Log;

/// A small generator: the same seed produces the same numbers everywhere.
#[derive(Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        // SplitMix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// Wakes its own task and is ready at the next poll, like every `yield_now`.
pub(crate) async fn yield_now() {
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
pub(crate) async fn count_frames(frames: Rc<Cell<u64>>) {
    loop {
        next_frame().await;
        frames.set(frames.get() + 1);
    }
}

/// Counts how often `future` is polled.
pub(crate) async fn counted<F: Future>(polls: Rc<Cell<u32>>, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|cx| {
        polls.set(polls.get() + 1);
        future.as_mut().poll(cx)
    })
    .await
}

/// Polls `future` with a waker that does nothing, as careless wrappers do.
pub(crate) async fn swallow<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|_| {
        future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
    })
    .await
}

/// Polls `future` once with the waker of the caller.
pub(crate) async fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx))).await
}

/// A future that notes each poll, is ready at the `polls`th, and notes its drop.
pub(crate) fn noted(
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
pub(crate) async fn forever() {
    std::future::pending::<()>().await;
}

/// The result of joining an ended coroutine, which must be there at once.
#[track_caller]
pub(crate) fn result_of<T: 'static>(
    executor: &Executor,
    coroutine: Coroutine<T>,
) -> Result<T, JoinError> {
    let slot = Rc::new(RefCell::new(None));
    let fill = slot.clone();
    executor.start(async move {
        let result = coroutine.await;
        *fill.borrow_mut() = Some(result);
    });
    let result = slot.borrow_mut().take();
    result.expect("joining what has ended takes no time")
}

/// The text of a panic.
#[track_caller]
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        return (*text).to_owned();
    }
    payload
        .downcast_ref::<String>()
        .expect("a panic with a text")
        .clone()
}

/// The text with which `f` panics.
#[track_caller]
pub(crate) fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
    panic_text(&*result.err().expect("a panic"))
}

/// Where `f` panics, as file and line.
pub(crate) fn place_of_panic<R>(f: impl FnOnce() -> R) -> String {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let alone = ONE_AT_A_TIME.lock();
    let _alone = alone.unwrap_or_else(PoisonError::into_inner);
    let place = Arc::new(Mutex::new(String::new()));
    let see = place.clone();
    // The tests beside this one panic on threads of their own.
    let this = std::thread::current().id();
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() != this {
            others(info);
        } else if let Some(location) = info.location() {
            *see.lock().unwrap() = format!("{}:{}", location.file(), location.line());
        }
    }));
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
    drop(std::panic::take_hook());
    // With the usual hook again, which says what failed.
    assert!(result.is_err(), "it did not panic");
    let place = place.lock().unwrap();
    place.clone()
}

/// All phases of `run_frame`, in its order.
pub(crate) const PHASES: [Phase; 5] = [
    Phase::EarlyUpdate,
    Phase::FixedUpdate,
    Phase::Update,
    Phase::LateUpdate,
    Phase::EndOfFrame,
];

/// A frame of a host without fixed steps, of which a long frame has many.
pub(crate) fn update(executor: &mut Executor, dt: impl Seconds) {
    executor.begin_frame(dt);
    executor.run_phase(Phase::Update);
}

/// What is called of a waker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum WakerCall {
    Clone,
    Wake,
    Drop,
}

/// A waker that wakes nothing, but calls `hear` with each call of it.
pub(crate) fn waker_that_tells(hear: fn(WakerCall)) -> Waker {
    fn tell(hear: *const (), call: WakerCall) {
        // SAFETY: the data is the function that `waker_that_tells` was given.
        let hear = unsafe { std::mem::transmute::<*const (), fn(WakerCall)>(hear) };
        hear(call);
    }
    fn clone(hear: *const ()) -> RawWaker {
        tell(hear, WakerCall::Clone);
        RawWaker::new(hear, &VTABLE)
    }
    fn wake(hear: *const ()) {
        tell(hear, WakerCall::Wake);
    }
    fn drop_raw(hear: *const ()) {
        tell(hear, WakerCall::Drop);
    }
    static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake, drop_raw);
    // SAFETY: the data is a function, which may be called on any thread.
    unsafe { Waker::from_raw(RawWaker::new(hear as *const (), &VTABLE)) }
}
