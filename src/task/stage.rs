//! The part of a task that knows the type of its future.
//!
//! What a block holds behind its header is told by the header (invariant
//! CONTENT): the future while the task is `Alive`, and while it is `Ending`
//! until that is dropped; the output once it has `Finished`, and before
//! that while it is `Returning`, as soon as the poll is over; nothing in all
//! other stages of its life.

use std::alloc::Layout;
use std::any::type_name;
use std::future::Future;
use std::mem::{ManuallyDrop, needs_drop, offset_of};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use crate::context;
use crate::core::poll_watched;

use super::header::{Header, Lifecycle, TaskRef};
use super::pool::Class;

/// What a task holds: its future, then its output, both at its start.
#[repr(C)]
union Stage<F: Future> {
    future: ManuallyDrop<F>,
    output: ManuallyDrop<F::Output>,
}

/// A task in memory. The header comes first, so that a pointer to one is a
/// pointer to the other.
#[repr(C)]
struct Block<F: Future> {
    header: Header,
    stage: Stage<F>,
}

/// What the executor can do with a task whose future it does not know.
///
/// All functions ask that the task's block holds a `Block` of the future that
/// the table was made for, and that no other of them is at work on it.
pub(crate) struct VTable {
    /// Polls the future. If it returns, its output stands in its place, and the
    /// level knows. The task must be alive, and polled by the innermost level.
    pub(crate) poll: unsafe fn(TaskRef, &mut Context<'_>),
    /// The same, also where `poll` watches what it does.
    pub(crate) poll_future: unsafe fn(TaskRef, &mut Context<'_>),
    /// The table of a watched task, unless this is one.
    pub(crate) watched: Option<&'static VTable>,
    /// Drops the future, which must be there.
    pub(crate) drop_future: unsafe fn(TaskRef),
    /// How many bytes into the block the output stands.
    pub(crate) output_at: usize,
    /// Drops the output, which must be there.
    pub(crate) drop_output: unsafe fn(TaskRef),
    /// The name of the future's type.
    pub(crate) type_name: fn() -> &'static str,
    pub(crate) output_needs_drop: bool,
    pub(crate) class: Class,
}

impl VTable {
    pub(crate) const fn of<F: Future>() -> &'static VTable {
        &const {
            VTable {
                watched: Some(
                    &const {
                        VTable {
                            poll: poll_watched,
                            ..VTable::unwatched::<F>()
                        }
                    },
                ),
                ..VTable::unwatched::<F>()
            }
        }
    }

    const fn unwatched<F: Future>() -> VTable {
        VTable {
            poll: poll::<F>,
            poll_future: poll::<F>,
            watched: None,
            drop_future: drop_future::<F>,
            output_at: offset_of!(Block<F>, stage),
            drop_output: drop_output::<F>,
            type_name: type_name::<F>,
            output_needs_drop: needs_drop::<F::Output>(),
            class: Class::of(Layout::new::<Block<F>>()),
        }
    }
}

/// Puts a task into a block.
///
/// # Safety
///
/// `block` must be carved for the class of `F`'s table, hold nothing that has
/// to be dropped, and be visible to nobody else; `header.vtable` must be the
/// one of `F`.
#[inline]
pub(crate) unsafe fn write<F: Future>(
    block: NonNull<Header>,
    header: Header,
    future: ManuallyDrop<F>,
) {
    let stage = Stage { future };
    // SAFETY: the class of `F` says that a `Block<F>` fits, size and alignment.
    unsafe { block.cast::<Block<F>>().write(Block { header, stage }) };
}

/// The stage of a task.
///
/// # Safety
///
/// The block must hold a `Block<F>`, and nothing else may be using its stage
/// while the result lives.
#[inline]
unsafe fn stage<'a, F: Future>(task: TaskRef) -> &'a mut Stage<F> {
    let block = task.as_ptr().cast::<Block<F>>().as_ptr();
    // SAFETY: the caller promises the type and that the reference is the only
    // one; it covers the stage alone, never the header, which is shared.
    unsafe { &mut (*block).stage }
}

unsafe fn poll<F: Future>(task: TaskRef, cx: &mut Context<'_>) {
    debug_assert!(task.lifecycle.get() == Lifecycle::Alive);
    // SAFETY: promised by the caller.
    let stage = unsafe { stage::<F>(task) };
    // SAFETY: CONTENT: the task is alive, so the future is there. It does not
    // move: blocks keep their address until what is in them has been dropped,
    // and it is dropped in place.
    let future = unsafe { Pin::new_unchecked(&mut *stage.future) };
    if let Poll::Ready(output) = future.poll(cx) {
        task.lifecycle.set(Lifecycle::Returning);
        let replace = Replace {
            stage,
            output: ManuallyDrop::new(output),
        };
        // SAFETY: CONTENT: it is there, and from now on it is not.
        unsafe { ManuallyDrop::drop(&mut replace.stage.future) };
        drop(replace);
        context::innermost().note_returned(task);
    }
}

/// Puts the output in place of the future, also if that panics while it is
/// dropped.
struct Replace<'a, F: Future> {
    stage: &'a mut Stage<F>,
    output: ManuallyDrop<F::Output>,
}

impl<F: Future> Drop for Replace<'_, F> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: it is taken here alone.
        let output = unsafe { ManuallyDrop::take(&mut self.output) };
        self.stage.output = ManuallyDrop::new(output);
    }
}

unsafe fn drop_future<F: Future>(task: TaskRef) {
    // SAFETY: promised by the caller, who does this once.
    unsafe { ManuallyDrop::drop(&mut stage::<F>(task).future) };
}

unsafe fn drop_output<F: Future>(task: TaskRef) {
    // SAFETY: promised by the caller, who does this once.
    unsafe { ManuallyDrop::drop(&mut stage::<F>(task).output) };
}
