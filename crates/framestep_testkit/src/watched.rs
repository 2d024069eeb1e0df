//! Values that detect faults of an executor: use after drop, double drop, a poll
//! inside a poll, a poll after the end, a move, and memory that is reused before
//! its future is dropped.
//!
//! The records are per thread, so that tests do not affect each other.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project::{pin_project, pinned_drop};

thread_local! {
    static NEXT: RefCell<u64> = const { RefCell::new(1) };
    /// The live values, by serial number.
    static ALIVE: RefCell<BTreeMap<u64, &'static str>> = const { RefCell::new(BTreeMap::new()) };
    static FUTURES: RefCell<BTreeMap<u64, Life>> = const { RefCell::new(BTreeMap::new()) };
    static FAULTS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Records a fault. A panic would end in the executor that is being tested.
pub fn fault(text: impl Into<String>) {
    let text = text.into();
    let _ = FAULTS.try_with(|faults| faults.borrow_mut().push(text));
}

/// An assertion for places where panics are caught, such as destructors.
#[track_caller]
pub fn expect(holds: bool, what: &str) {
    if !holds {
        let place = std::panic::Location::caller();
        fault(format!("{place}: {what}"));
    }
}

/// Takes the faults of this thread.
pub fn take_faults() -> Vec<String> {
    FAULTS.take()
}

/// Fails if there were faults, or if a token of this thread is alive.
#[track_caller]
pub fn check_all_dropped() {
    check_no_faults();
    assert_eq!(alive(), 0, "tokens that were not dropped");
}

#[track_caller]
pub fn check_no_faults() {
    assert_eq!(take_faults(), [""; 0]);
}

/// How many tokens of this thread are alive, including those inside futures.
pub fn alive() -> usize {
    ALIVE.with_borrow(BTreeMap::len)
}

/// The live values, by name.
pub fn names_alive() -> Vec<&'static str> {
    ALIVE.with_borrow(|alive| alive.values().copied().collect())
}

/// Forgets the values that an earlier, failed part of this thread has left.
pub fn forget_all() {
    ALIVE.take();
    FUTURES.take();
    FAULTS.take();
}

/// A value that knows whether it is alive.
#[derive(Debug)]
pub struct Token {
    serial: u64,
    /// A mark that freed memory does not have.
    mark: u64,
}

impl Token {
    pub fn new(name: &'static str) -> Self {
        let serial = NEXT.with_borrow_mut(|next| {
            *next += 1;
            *next
        });
        ALIVE.with_borrow_mut(|alive| alive.insert(serial, name));
        let mark = !serial;
        Token { serial, mark }
    }

    /// Whether this is a value that has not been dropped.
    pub fn is_alive(&self) -> bool {
        self.mark == !self.serial && ALIVE.with_borrow(|alive| alive.contains_key(&self.serial))
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        let serial = self.serial;
        let marked = std::mem::take(&mut self.mark) == !serial;
        let known = ALIVE.try_with(|alive| alive.borrow_mut().remove(&serial));
        if !marked || known == Ok(None) {
            fault("a value is dropped twice");
        }
        let _ = FUTURES.try_with(|futures| futures.borrow_mut().remove(&serial));
    }
}

#[derive(Debug)]
struct Life {
    stage: Stage,
    /// Where the future was first polled.
    place: usize,
    size: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Idle,
    Polling,
    Ended,
    Dropping,
}

/// A future that records every fault in how it is polled and dropped.
#[pin_project(PinnedDrop)]
pub struct Watched<F> {
    #[pin]
    future: F,
    #[pin]
    pinned: PhantomPinned,
    /// The last field: it is dropped after the future.
    token: Token,
}

/// Watches `future`.
pub fn watched<F: Future>(future: F) -> Watched<F> {
    Watched {
        future,
        pinned: PhantomPinned,
        token: Token::new("a future"),
    }
}

fn enter(token: &Token, place: usize, size: usize) -> Result<(), String> {
    if !token.is_alive() {
        return Err("a future is polled after its drop".into());
    }
    FUTURES.with_borrow_mut(|futures| {
        if !futures.contains_key(&token.serial) {
            // A future being polled may hold this one.
            let overlaps = |life: &Life| {
                life.stage != Stage::Polling
                    && life.place < place + size
                    && place < life.place + life.size
            };
            if futures.values().any(overlaps) {
                return Err("a future stands in memory of one that was not dropped".into());
            }
        }
        let life = futures.entry(token.serial).or_insert(Life {
            stage: Stage::Idle,
            place,
            size,
        });
        if life.place != place {
            return Err("a future has moved".into());
        }
        if life.stage != Stage::Idle {
            return Err(format!("a future is polled while it is {:?}", life.stage));
        }
        life.stage = Stage::Polling;
        Ok(())
    })
}

fn set_stage(serial: u64, stage: Stage) -> Option<Stage> {
    let set = FUTURES.try_with(|futures| {
        let mut futures = futures.borrow_mut();
        let life = futures.get_mut(&serial)?;
        Some(std::mem::replace(&mut life.stage, stage))
    });
    set.ok().flatten()
}

/// Ends a poll, even one that unwinds.
struct EndOfPoll(u64, Stage);

impl Drop for EndOfPoll {
    fn drop(&mut self) {
        if set_stage(self.0, self.1) != Some(Stage::Polling) {
            fault("a future is gone at the end of its own poll");
        }
    }
}

impl<F: Future> Future for Watched<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let place = &raw const *self as usize;
        let this = self.project();
        if let Err(text) = enter(this.token, place, size_of::<Self>()) {
            fault(text);
            // Nothing behind this is touched: it may be freed.
            return Poll::Pending;
        }
        let mut end = EndOfPoll(this.token.serial, Stage::Ended);
        let poll = this.future.poll(cx);
        if poll.is_pending() {
            end.1 = Stage::Idle;
        }
        poll
    }
}

#[pinned_drop]
impl<F> PinnedDrop for Watched<F> {
    fn drop(self: Pin<&mut Self>) {
        match set_stage(self.token.serial, Stage::Dropping) {
            Some(Stage::Polling) => fault("a future is dropped while it is polled"),
            Some(Stage::Dropping) => fault("a future is dropped twice"),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::mem::ManuallyDrop;
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_double_drop_is_noticed() {
        let mut token = ManuallyDrop::new(Token::new("a value"));
        assert!(token.is_alive());
        // SAFETY: a token owns nothing, and only these two use it.
        unsafe {
            ManuallyDrop::drop(&mut token);
            ManuallyDrop::drop(&mut token);
        }
        assert_eq!(take_faults(), ["a value is dropped twice"]);
        assert!(!token.is_alive());
        check_all_dropped();
    }

    #[test]
    fn a_poll_after_the_end_is_noticed() {
        {
            let mut future = pin!(watched(async {}));
            assert!(poll(future.as_mut()).is_ready());
            assert!(poll(future.as_mut()).is_pending());
            assert_eq!(take_faults(), ["a future is polled while it is Ended"]);
        }
        check_all_dropped();
    }

    #[test]
    fn a_poll_inside_a_poll_is_noticed() {
        let token = Token::new("a value");
        assert_eq!(enter(&token, 64, 8), Ok(()));
        let again = enter(&token, 64, 8);
        assert!(again.unwrap_err().contains("while it is Polling"));
        drop(token);
        check_all_dropped();
    }

    #[test]
    fn a_move_and_memory_that_is_used_too_early_are_noticed() {
        let (first, second) = (Token::new("a value"), Token::new("a value"));
        assert_eq!(enter(&first, 64, 8), Ok(()));
        set_stage(first.serial, Stage::Idle);
        assert!(enter(&first, 128, 8).unwrap_err().contains("moved"));
        assert!(enter(&second, 71, 8).unwrap_err().contains("not dropped"));
        drop(first);
        assert_eq!(enter(&second, 71, 8), Ok(()));
    }

    #[test]
    fn a_value_that_is_kept_is_noticed() {
        let token = Token::new("a value");
        assert_eq!(alive(), 1);
        forget_all();
        assert_eq!(alive(), 0);
        std::mem::forget(token);
    }
}
