//! Futures on their way into a block.
//!
//! Everything that starts a coroutine is generic over its future, so a game has a copy of
//! it for each script. [`move_in`] hands the future on as an address and a table, to code
//! that is compiled once.

use std::cell::Cell;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop};

use super::block::VTable;
use super::{Reference, TaskHandle};

/// A future that has not been stored yet. If this is dropped, the future is.
///
/// Its lifetime belongs to one call of [`move_in`].
pub(crate) struct Moving<'f> {
    future: *mut (),
    pub(super) vtable: &'static VTable,
    call: PhantomData<Cell<&'f ()>>,
}

/// A task whose future came as the [`Moving`] of the same lifetime.
pub(crate) struct Moved<'f> {
    pub(super) reference: Reference,
    pub(super) call: PhantomData<Cell<&'f ()>>,
}

/// Code that stores a future of any type, or drops it.
pub(crate) trait MoveIn {
    /// What the caller of [`move_in`] receives beside the handle.
    type Beside;

    #[track_caller]
    fn move_in(self, future: Moving<'_>) -> Option<(Self::Beside, Moved<'_>)>;
}

/// Hands `future` to `by`. Returns a handle if `by` has stored it.
#[inline]
#[track_caller]
pub(crate) fn move_in<F, S>(future: F, by: S) -> Option<(S::Beside, TaskHandle<F::Output>)>
where
    F: Future + 'static,
    S: MoveIn,
{
    let mut future = ManuallyDrop::new(future);
    // The code that drops this value drops or moves the future, once. `by` accepts any lifetime,
    // so it can keep neither this value nor `Moved` beyond the call.
    let moving = Moving {
        future: (&raw mut future).cast(),
        vtable: VTable::of::<F>(),
        call: PhantomData,
    };
    let (beside, moved) = by.move_in(moving)?;
    // Only `Tasks::insert` makes a `Moved`, of the `Moving` with its lifetime: so the
    // output of the task is that of `F`.
    let handle = TaskHandle {
        reference: moved.reference,
        output: PhantomData,
    };
    Some((beside, handle))
}

impl Moving<'_> {
    /// The name of the future's type.
    pub(crate) fn type_name(&self) -> &'static str {
        (self.vtable.type_name)()
    }

    /// Moves the future to `content`.
    ///
    /// # Safety
    ///
    /// `content` must be valid for a write of the future, which must not move from there.
    #[inline]
    pub(super) unsafe fn write_to(self, content: *mut ()) {
        // SAFETY: the table is that of the future. The future is on the stack of `move_in`,
        // and `content` is in a block, so they do not overlap. From here on, the future is
        // in the block: the other one is in a `ManuallyDrop`, and `self` is forgotten.
        unsafe { (self.vtable.move_future)(self.future, content) };
        mem::forget(self);
    }
}

impl Drop for Moving<'_> {
    fn drop(&mut self) {
        // SAFETY: the table is that of the future, which is in a `ManuallyDrop` of `move_in`.
        // It is dropped once: `write_to` forgets this value.
        unsafe { (self.vtable.drop_future)(self.future) };
    }
}
