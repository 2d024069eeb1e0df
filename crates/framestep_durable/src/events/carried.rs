//! What the state of a chapter takes along.
//!
//! A state is serialised when its chapter begins. What it takes along notes itself while that
//! happens, and is read back from the bytes, as in a restore: what the live value knew of the chapter
//! before is gone.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::thread::LocalKey;

use crate::bytes::{Bytes, Mark, Topic};
use crate::ids::ScriptId;

/// A subscription in a state.
#[derive(Clone, Debug)]
pub(crate) struct Carried {
    /// The number that it has in its script.
    pub(crate) number: u64,
    pub(crate) topic: Topic,
    /// The most events that it stores. `None`: as many as the runtime says.
    pub(crate) limit: Option<u64>,
    /// The script that has had it. `None` if it begins with this state.
    pub(crate) from: Option<ScriptId>,
    /// As what other code than that which has stored its events reads them.
    pub(crate) read_as: Option<Mark>,
}

/// What a state has noted while it was serialised.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) subscriptions: Vec<Carried>,
    /// Whether it must be read back.
    pub(crate) is_any: bool,
}

/// What a call puts aside for the calls inside it.
///
/// Without a destructor it is there until the thread has ended: the destructors of other thread-locals may use a
/// runtime. Nothing leaks, since each [`PutBack`] puts back what was there before, which is none at last.
pub(crate) struct Aside<T>(RefCell<ManuallyDrop<Option<T>>>);

impl<T> Aside<T> {
    pub(crate) const fn new() -> Self {
        Aside(RefCell::new(ManuallyDrop::new(None)))
    }

    pub(crate) fn replace(&self, it: Option<T>) -> Option<T> {
        ManuallyDrop::into_inner(self.0.replace(ManuallyDrop::new(it)))
    }

    /// Calls `f`, which must call no user code.
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(Option<&mut T>) -> R) -> R {
        f(self.0.borrow_mut().as_mut())
    }
}

thread_local! {
    /// The state that is being serialised.
    static TAKING: Aside<Taken> = const { Aside::new() };
}

/// Puts back what was there before, even if user code panics.
pub(crate) struct PutBack<T: 'static>(&'static LocalKey<Aside<T>>, Option<T>);

impl<T> PutBack<T> {
    /// Puts `it` aside until this is dropped.
    pub(crate) fn after(aside: &'static LocalKey<Aside<T>>, it: T) -> Self {
        PutBack(aside, aside.with(|aside| aside.replace(Some(it))))
    }

    /// What is aside now.
    pub(crate) fn take(&self) -> Option<T> {
        self.0.with(|aside| aside.replace(None))
    }
}

impl<T> Drop for PutBack<T> {
    fn drop(&mut self) {
        let before = self.1.take();
        drop(self.0.with(|aside| aside.replace(before)));
    }
}

/// Calls `f`, which serialises a state, and returns what that takes along.
pub(crate) fn take(f: &mut dyn FnMut() -> Bytes) -> (Bytes, Taken) {
    let aside = PutBack::after(&TAKING, Taken::default());
    let state = f();
    (state, aside.take().unwrap_or_default())
}

/// What is known of the subscriptions of a state that other code has read since: those that this code
/// has in its state.
pub(crate) fn as_known(of_state: Vec<Carried>, before: &[Carried]) -> Vec<Carried> {
    let known = |it: Carried| {
        let mut before = before.iter();
        let known = before.find(|before| before.number == it.number);
        known.cloned().unwrap_or(it)
    };
    of_state.into_iter().map(known).collect()
}

/// Calls `f` with what the state that is being serialised has noted. `None` if none is.
pub(crate) fn taking<R>(f: impl FnOnce(Option<&mut Taken>) -> R) -> R {
    TAKING.with(|taken| taken.with_mut(f))
}
