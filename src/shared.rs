//! A cell for the executor's state.
//!
//! Invariant EXCLUSIVE: what a [`Shared`] holds is borrowed by this crate's own
//! code alone, for the length of one statement or block in which no user code
//! (poll, destructor, waker, closure) runs and no overlapping borrow is made.
//!
//! Builds with debug assertions, so all tests, check every borrow. In others
//! the check is left out: it took a fifth of the instructions of a resume.

use std::ops::{Deref, DerefMut};

#[cfg(debug_assertions)]
type Inner<T> = std::cell::RefCell<T>;
#[cfg(not(debug_assertions))]
type Inner<T> = std::cell::UnsafeCell<T>;

/// State that user code cannot get between.
#[derive(Default)]
pub(crate) struct Shared<T>(Inner<T>);

/// A borrow of a [`Shared`].
pub(crate) struct Borrowed<B>(B);

impl<T> Shared<T> {
    pub(crate) const fn new(value: T) -> Self {
        Shared(Inner::new(value))
    }
}

#[cfg(debug_assertions)]
impl<T> Shared<T> {
    pub(crate) fn borrow(&self) -> Borrowed<std::cell::Ref<'_, T>> {
        Borrowed(self.0.borrow())
    }

    pub(crate) fn borrow_mut(&self) -> Borrowed<std::cell::RefMut<'_, T>> {
        Borrowed(self.0.borrow_mut())
    }
}

#[cfg(not(debug_assertions))]
impl<T> Shared<T> {
    #[inline(always)]
    pub(crate) fn borrow(&self) -> Borrowed<&T> {
        // SAFETY: EXCLUSIVE: no mutable borrow is alive.
        Borrowed(unsafe { &*self.0.get() })
    }

    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "a cell, by the invariant EXCLUSIVE")]
    pub(crate) fn borrow_mut(&self) -> Borrowed<&mut T> {
        // SAFETY: EXCLUSIVE: no other borrow is alive.
        Borrowed(unsafe { &mut *self.0.get() })
    }
}

impl<B: Deref> Deref for Borrowed<B> {
    type Target = B::Target;

    #[inline(always)]
    fn deref(&self) -> &B::Target {
        &self.0
    }
}

impl<B: DerefMut> DerefMut for Borrowed<B> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut B::Target {
        &mut self.0
    }
}
