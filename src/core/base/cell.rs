//! A cell for the executor's state, which only this crate's own code borrows.
//!
//! Every borrow is checked, in all builds. Builds with debug assertions also
//! count the borrows of each thread. [`call`](super::call) uses the count to
//! check that nothing is borrowed when user code is called.

use std::cell::{Cell, Ref, RefCell, RefMut};
#[cfg(debug_assertions)]
use std::ops::{Deref, DerefMut};

/// Sets a cell back to its earlier value when this is dropped, even when unwinding.
/// Changes of the same cell nest, like the calls that make them.
pub(crate) struct Restore<'a, T: Copy>(&'a Cell<T>, T);

impl<'a, T: Copy> Restore<'a, T> {
    #[inline]
    pub(crate) fn after_setting(cell: &'a Cell<T>, value: T) -> Self {
        Restore(cell, cell.replace(value))
    }
}

impl<T: Copy> Drop for Restore<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.set(self.1);
    }
}

/// State that is not borrowed while user code runs.
#[derive(Debug, Default)]
pub(crate) struct Guarded<T>(RefCell<T>);

#[cfg(not(debug_assertions))]
pub(crate) type Borrowed<B> = B;

impl<T> Guarded<T> {
    pub(crate) const fn new(value: T) -> Self {
        Guarded(RefCell::new(value))
    }

    #[inline]
    pub(crate) fn borrow(&self) -> Borrowed<Ref<'_, T>> {
        counted(self.0.borrow())
    }

    #[inline]
    pub(crate) fn borrow_mut(&self) -> Borrowed<RefMut<'_, T>> {
        counted(self.0.borrow_mut())
    }
}

impl<T> Guarded<T> {
    /// Replaces the content. Returns the earlier content.
    pub(crate) fn replace(&self, value: T) -> T {
        self.0.replace(value)
    }
}

impl<T: Default> Guarded<T> {
    /// Takes the content out, for use while user code runs.
    pub(crate) fn take(&self) -> T {
        self.0.take()
    }
}

#[cfg(not(debug_assertions))]
#[inline]
fn counted<B>(borrow: B) -> Borrowed<B> {
    borrow
}

/// A borrow that is counted until it is dropped.
#[cfg(debug_assertions)]
pub(crate) struct Borrowed<B>(B);

#[cfg(debug_assertions)]
fn counted<B>(borrow: B) -> Borrowed<B> {
    BORROWS.set(BORROWS.get() + 1);
    Borrowed(borrow)
}

#[cfg(debug_assertions)]
thread_local! {
    static BORROWS: Cell<u32> = const { Cell::new(0) };
}

/// Whether this thread borrows state of an executor. Always `false` in builds
/// without debug assertions, which do not count.
#[inline]
pub(crate) fn is_borrowed() -> bool {
    #[cfg(debug_assertions)]
    return BORROWS.get() > 0;
    #[cfg(not(debug_assertions))]
    false
}

#[cfg(debug_assertions)]
impl<B> Drop for Borrowed<B> {
    fn drop(&mut self) {
        BORROWS.set(BORROWS.get() - 1);
    }
}

#[cfg(debug_assertions)]
impl<B: Deref> Deref for Borrowed<B> {
    type Target = B::Target;

    fn deref(&self) -> &B::Target {
        &self.0
    }
}

#[cfg(debug_assertions)]
impl<B: DerefMut> DerefMut for Borrowed<B> {
    fn deref_mut(&mut self) -> &mut B::Target {
        &mut self.0
    }
}
