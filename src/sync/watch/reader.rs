//! The handle of a watch that cannot change the value.

use std::fmt;
use std::rc::Rc;

use super::waiter::Waiter;
use super::{Changed, Changes, Shared, WaitWatch};

/// A handle of a [`Watch`](super::Watch) that reads and waits, and cannot change the value.
/// Made by [`Watch::reader`](super::Watch::reader).
///
/// It is cheap to clone. It does not count as a `Watch`: when the last of those has been
/// dropped, the value stays as it is, and the streams of changes end.
///
/// # Examples
///
/// The owner of a door shows its state, and keeps it for itself:
///
/// ```
/// use framestep::sync::WatchReader;
/// use framestep::prelude::*;
///
/// struct Door {
///     is_open: Watch<bool>,
/// }
///
/// impl Door {
///     fn is_open(&self) -> WatchReader<bool> {
///         self.is_open.reader()
///     }
/// }
///
/// let mut executor = Executor::new();
/// let door = Door { is_open: Watch::new(false) };
/// let state = door.is_open();
/// assert!(!state.get());
/// let hero = executor.start(state.wait_for(|is_open| *is_open));
/// door.is_open.set(true);
/// executor.run_until(hero, 0.25).unwrap();
/// ```
///
/// # Source
///
/// `watch::Receiver` of tokio; `ReadOnlyReactiveProperty` of R3.
#[doc(alias = "ReadOnlyReactiveProperty")]
pub struct WatchReader<T> {
    shared: Rc<Shared<T>>,
}

impl<T> WatchReader<T> {
    pub(super) fn new(shared: Rc<Shared<T>>) -> Self {
        WatchReader { shared }
    }

    /// Like [`Watch::get`](super::Watch::get).
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Clone,
    {
        self.shared.with(T::clone)
    }

    /// Like [`Watch::with`](super::Watch::with).
    #[track_caller]
    pub fn with<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        self.shared.with(read)
    }

    /// Like [`Watch::changed`](super::Watch::changed).
    pub fn changed(&self) -> Changed<T>
    where
        T: Clone,
    {
        Changed::new(Waiter::new(&self.shared))
    }

    /// Like [`Watch::wait_for`](super::Watch::wait_for).
    pub fn wait_for<P: Fn(&T) -> bool>(&self, condition: P) -> WaitWatch<T, P>
    where
        T: Clone,
    {
        WaitWatch::new(Waiter::new(&self.shared), condition)
    }

    /// Like [`Watch::subscribe`](super::Watch::subscribe).
    pub fn subscribe(&self) -> Changes<T> {
        Changes::new(Waiter::new(&self.shared))
    }
}

impl<T> Clone for WatchReader<T> {
    fn clone(&self) -> Self {
        WatchReader::new(self.shared.clone())
    }
}

impl<T: fmt::Debug> fmt::Debug for WatchReader<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.write("WatchReader", f)
    }
}
