//! The part of a task that knows the type of its future, and futures on their way into a block.
//!
//! The state in the header says what the block holds behind its header: the future
//! until that is dropped, the output once the task has finished, and nothing
//! otherwise. Only [`Tasks`](super::Tasks) calls these functions.
//!
//! Everything that starts a coroutine is generic over its future, so a game has a copy of
//! it for each script. [`move_in`] hands the future on as an address and a table, to code
//! that is compiled once.

#![expect(
    unsafe_code,
    reason = "reads and writes the future and the output in a block"
)]

use std::alloc::Layout;
use std::any::{TypeId, type_name};
use std::cell::Cell;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop, needs_drop, offset_of};
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll};

use crate::core::base::call::Foreign;

use super::header::{Header, State};
use super::pool::Class;
use super::{Reference, TaskHandle};

/// The file with the line that polls the futures of coroutines.
pub(crate) const FILE: &str = file!();

/// The content of a task: its future, later its output. Both begin at offset 0.
#[repr(C)]
union Content<F: Future> {
    future: ManuallyDrop<F>,
    output: ManuallyDrop<F::Output>,
}

/// A task in memory. The header comes first, so a pointer to the block is a
/// pointer to the header.
#[repr(C)]
struct Block<F: Future> {
    header: Header,
    content: Content<F>,
}

/// The operations on a task of any future.
///
/// The callers of its functions must ensure that the block holds a `Block` of the
/// table's future, and that none of the other functions is working on the same content.
/// Those that drop receive the address of the content.
pub(super) struct VTable {
    /// Polls the future, which must be there. Returns `true` if the future has
    /// returned: then the output is in its place. If the poll unwinds in state
    /// `Returning`, the future is gone and there is no output.
    pub(super) poll: unsafe fn(NonNull<Header>, &mut Context<'_>) -> bool,
    /// Drops the future, which must be there.
    pub(super) drop_future: unsafe fn(*mut ()),
    /// Drops the output, which must be there.
    pub(super) drop_output: unsafe fn(*mut ()),
    /// Moves a future from the first address to the second.
    pub(super) move_future: unsafe fn(*mut (), *mut ()),
    /// The offset of the content in the block, in bytes.
    pub(super) content_at: usize,
    /// The name of the future's type.
    pub(super) type_name: fn() -> &'static str,
    /// The type of the output.
    pub(super) output_type: fn() -> TypeId,
    pub(super) output_needs_drop: bool,
    pub(super) class: Class,
}

impl VTable {
    pub(super) const fn of<F: Future + 'static>() -> &'static VTable {
        &const {
            VTable {
                poll: poll::<F>,
                drop_future: drop_content::<F>,
                drop_output: drop_content::<F::Output>,
                move_future: move_value::<F>,
                content_at: offset_of!(Block<F>, content),
                type_name: type_name::<F>,
                output_type: TypeId::of::<F::Output>,
                output_needs_drop: needs_drop::<F::Output>(),
                class: Class::of(Layout::new::<Block<F>>()),
            }
        }
    }
}

/// The content of a task, as a pointer: while the future or the output in the content is
/// used, other code accesses the header. The pointer must not be used unless the block
/// was carved for the class of `F`'s table.
#[inline]
fn content<F: Future>(block: NonNull<Header>) -> *mut Content<F> {
    let offset = offset_of!(Block<F>, content);
    block.cast::<u8>().as_ptr().wrapping_add(offset).cast()
}

unsafe fn poll<F: Future>(block: NonNull<Header>, cx: &mut Context<'_>) -> bool {
    let content = content::<F>(block);
    // SAFETY: the caller ensures that the block holds a `Block<F>` with its future,
    // and that no other reference to the future exists. The future does not move: a
    // block keeps its address until its content has been dropped in place.
    let future = unsafe { Pin::new_unchecked(&mut *(*content).future) };
    let Poll::Ready(output) = future.poll(cx) else {
        return false;
    };
    // If the destructor of the future unwinds, this drops the output, and catches a second
    // panic: it would end the program.
    let output = Foreign::new(output);
    // SAFETY: the block holds a header, to which only shared references exist.
    unsafe { block.as_ref() }.set_state(State::Returning);
    // SAFETY: the future is there. It is dropped only once: from state `Returning` on,
    // it counts as gone.
    unsafe { ptr::drop_in_place((&raw mut (*content).future).cast::<F>()) };
    // SAFETY: the future is gone, so the content holds nothing that has to be
    // dropped. No other reference to it exists.
    unsafe { (&raw mut (*content).output).write(ManuallyDrop::new(output.into_inner())) };
    true
}

unsafe fn move_value<T>(from: *mut (), to: *mut ()) {
    // SAFETY: the caller ensures that a `T` is at `from`, and that there is room for it at
    // `to`, which is somewhere else.
    unsafe { from.cast::<T>().copy_to_nonoverlapping(to.cast(), 1) };
}

unsafe fn drop_content<T>(content: *mut ()) {
    // SAFETY: the caller ensures that a `T` is there, and that it is dropped only once.
    unsafe { ptr::drop_in_place(content.cast::<T>()) };
}

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
