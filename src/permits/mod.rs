//! Permits: a limited number of coroutines that do something at the same time.

mod acquire;
mod permit;

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::task::Context;

use crate::core::inspect::named::Source;
use crate::waiters::{Waiters, Waiting};

pub use acquire::Acquire;
pub use permit::Permit;

/// A number of permits that coroutines share: two enemies may attack at the same
/// time, one line of dialogue is spoken at a time.
///
/// [`acquire`](Permits::acquire) waits for a permit. The permit is a guard, which
/// returns it when it is dropped: at the end of the script, or when the script is
/// stopped or panics.
///
/// The handle is cheap to clone, and all clones share the permits. It stays on the
/// thread that made it.
///
/// # Order
///
/// First come, first served: coroutines get permits in the order they began to wait.
/// A returned permit belongs at once to the first coroutine that waits, even if that
/// coroutine resumes later or is paused.
///
/// # Resumes
///
/// As with a [`Signal`](crate::Signal): a coroutine that returns a permit is like one
/// that emits.
///
/// # Examples
///
/// Two attack tokens for three goblins:
///
/// ```
/// use framestep::prelude::*;
///
/// async fn attack(tokens: Permits) -> u64 {
///     let _token = tokens.acquire().await;
///     let began = time().frame;
///     wait_seconds(1).await;
///     began
/// }
///
/// let mut executor = Executor::new();
/// let tokens = Permits::new(2);
/// let goblins = [0, 1, 2].map(|_| executor.start(attack(tokens.clone())));
/// assert_eq!(tokens.available(), 0);
/// let began = executor.run_until(try_join_all(goblins), 0.25);
/// assert_eq!(began.unwrap(), [0, 0, 4]);
/// assert_eq!(tokens.available(), 2);
/// ```
///
/// # Source
///
/// `tokio::sync::Semaphore`; attack tokens, as in the AI of many action games.
#[doc(alias = "Semaphore")]
#[doc(alias = "Mutex")]
#[derive(Clone)]
pub struct Permits {
    shared: Rc<Shared>,
}

/// The state that permits and their waits share.
struct Shared {
    /// Borrowed only for bookkeeping. Wakers are cloned, called and dropped outside
    /// the borrow.
    state: RefCell<State>,
}

struct State {
    /// The available permits. While it is not 0, nothing waits.
    free: usize,
    /// Each waiter knows whether it has been granted a permit, which it has not taken
    /// yet.
    waiters: Waiters<bool>,
}

impl Permits {
    /// Makes `count` permits. Without any, each wait lasts until it is stopped.
    pub fn new(count: usize) -> Self {
        Permits {
            shared: Rc::new(Shared {
                state: RefCell::new(State {
                    free: count,
                    waiters: Waiters::new(),
                }),
            }),
        }
    }

    /// Names the permits, for all clones, and returns them.
    /// [Snapshots](crate::Wait::Permit) show which coroutines wait for named permits,
    /// and [traces](crate::Traced::Resumed) show which coroutines they have woken.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let executor = Executor::new();
    /// let tokens = Permits::new(0).named("attack tokens");
    /// executor.start(tokens.acquire()).named("goblin");
    /// assert_eq!(
    ///     executor.snapshot().to_string(),
    ///     "\
    /// frame 0, 0ns: 1 coroutine
    ///   id   name    state
    ///   0v1  goblin  a permit of attack tokens
    /// "
    /// );
    /// ```
    #[must_use = "the permits are returned with their name: use them"]
    pub fn named(self, name: impl Into<Cow<'static, str>>) -> Self {
        let source = Source::permits(name.into());
        self.shared.state.borrow_mut().waiters.set_source(source);
        self
    }

    /// Waits for a permit.
    ///
    /// The place in the queue counts from the first poll. The future borrows nothing:
    /// it may be started as a coroutine or kept in a field.
    ///
    /// # Resumes
    ///
    /// At once, without a wait, if a permit is available. Otherwise when one is
    /// returned, as described at [`Permits`].
    ///
    /// # Output
    ///
    /// The [`Permit`]. Bind it to a variable, as in `let _permit = ..`, because
    /// `let _ = ..` returns it at once.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses its place in the queue. If it was granted a permit
    /// that it has not returned yet, the next in the queue gets that permit.
    ///
    /// # Examples
    ///
    /// See [`Permits`].
    pub fn acquire(&self) -> Acquire {
        Acquire::new(self.shared.clone())
    }

    /// Takes a permit if one is available, without waiting.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let tokens = Permits::new(1);
    /// let token = tokens.try_acquire();
    /// assert!(token.is_some());
    /// assert!(tokens.try_acquire().is_none());
    /// drop(token);
    /// assert!(tokens.try_acquire().is_some());
    /// ```
    pub fn try_acquire(&self) -> Option<Permit> {
        self.shared.take_free().then(|| self.shared.permit())
    }

    /// How many permits [`try_acquire`](Permits::try_acquire) would return.
    pub fn available(&self) -> usize {
        self.shared.state.borrow().free
    }
}

impl Shared {
    /// A guard of a permit that has been taken.
    fn permit(self: &Rc<Self>) -> Permit {
        Permit::new(self.clone())
    }

    fn take_free(&self) -> bool {
        let mut state = self.state.borrow_mut();
        let is_free = state.free > 0;
        state.free -= usize::from(is_free);
        is_free
    }

    /// Adds a waiter that does not wait yet.
    fn add_waiter(&self) -> usize {
        self.state.borrow_mut().waiters.add(false)
    }

    fn is_granted(&self, waiter: usize) -> bool {
        *self.state.borrow().waiters.data(waiter)
    }

    /// Waits with the waker in `cx`. Calls user code, so the waiter may have been
    /// granted a permit afterwards.
    #[track_caller]
    fn wait(&self, waiter: usize, cx: &Context<'_>) {
        let (is_waiting, source) = {
            let waiters = &self.state.borrow().waiters;
            (waiters.waits_with(waiter, cx.waker()), waiters.source())
        };
        if !is_waiting {
            let waiting = Waiting::new(cx, source.as_ref());
            let unneeded = self.state.borrow_mut().wait(waiter, waiting);
            drop(unneeded);
        }
    }

    /// Removes the waiter if it has been granted a permit: its future takes it.
    fn take_granted(&self, waiter: usize) -> bool {
        let is_granted = self.is_granted(waiter);
        if is_granted {
            let (_, waiting) = self.state.borrow_mut().waiters.remove(waiter);
            debug_assert!(waiting.is_none(), "it has been woken");
        }
        is_granted
    }

    /// Removes a waiter. A permit that it has been granted goes to the next one.
    fn remove_waiter(&self, waiter: usize) {
        let (is_granted, waiting) = self.state.borrow_mut().waiters.remove(waiter);
        if is_granted {
            self.put_back();
        }
        drop(waiting);
    }

    /// Grants a permit to the first waiter, or makes it available.
    fn put_back(&self) {
        let waiting = self.state.borrow_mut().put_back();
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }
}

impl State {
    /// Makes a waiter wait, unless the clone of its waker has made a permit
    /// available. Returns a value for the caller to drop.
    fn wait(&mut self, waiter: usize, waiting: Waiting) -> Option<Waiting> {
        if self.free > 0 {
            self.free -= 1;
            *self.waiters.data_mut(waiter) = true;
        }
        if *self.waiters.data(waiter) {
            return Some(waiting);
        }
        self.waiters.wait(waiter, waiting)
    }

    /// Returns the waiter that is to be woken.
    fn put_back(&mut self) -> Option<Waiting> {
        let Some((waiting, is_granted)) = self.waiters.next_with_data(u64::MAX) else {
            self.free += 1;
            return None;
        };
        *is_granted = true;
        Some(waiting)
    }
}

impl fmt::Debug for Permits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The writer is user code: no borrow during the write.
        let (source, available) = {
            let state = self.shared.state.borrow();
            (state.waiters.source(), state.free)
        };
        let mut shown = f.debug_struct("Permits");
        if let Some(source) = source {
            shown.field("name", &source.name());
        }
        shown.field("available", &available).finish_non_exhaustive()
    }
}
