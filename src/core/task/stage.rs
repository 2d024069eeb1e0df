//! The part of a task that knows the type of its future.
//!
//! What a block holds behind its header is told by the header's state: the
//! future until it is dropped, the output once the task has finished, nothing
//! otherwise. Only [`Tasks`](super::Tasks) calls what is here.

use std::alloc::Layout;
use std::any::type_name;
use std::future::Future;
use std::mem::{ManuallyDrop, needs_drop, offset_of};
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll};

use super::header::{Header, State};
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

/// What can be done with a task whose future is not known.
///
/// All functions ask that the block holds a `Block` of the future that the table
/// was made for, and that no other of them is at work on its stage.
pub(super) struct VTable {
    /// Polls the future, which must be there. `true`: it has returned, and its
    /// output stands in its place. If it unwinds in state `Returning`, the future
    /// is gone and there is no output.
    pub(super) poll: unsafe fn(NonNull<Header>, &mut Context<'_>) -> bool,
    /// Drops the future, which must be there.
    pub(super) drop_future: unsafe fn(NonNull<Header>),
    /// Drops the output, which must be there.
    pub(super) drop_output: unsafe fn(NonNull<Header>),
    /// How many bytes into the block the output stands.
    pub(super) output_at: usize,
    /// The name of the future's type.
    pub(super) type_name: fn() -> &'static str,
    pub(super) output_needs_drop: bool,
    pub(super) class: Class,
}

impl VTable {
    pub(super) const fn of<F: Future>() -> &'static VTable {
        &const {
            VTable {
                poll: poll::<F>,
                drop_future: drop_future::<F>,
                drop_output: drop_output::<F>,
                output_at: offset_of!(Block<F>, stage),
                type_name: type_name::<F>,
                output_needs_drop: needs_drop::<F::Output>(),
                class: Class::of(Layout::new::<Block<F>>()),
            }
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
pub(super) unsafe fn write<F: Future>(
    block: NonNull<Header>,
    header: Header,
    future: ManuallyDrop<F>,
) {
    let stage = Stage { future };
    // SAFETY: the class of `F` says that a `Block<F>` fits, size and alignment.
    unsafe { block.cast::<Block<F>>().write(Block { header, stage }) };
}

/// The stage of a task. A pointer, since what stands there may look at the header
/// while it is polled.
///
/// # Safety
///
/// The block must hold a `Block<F>`.
#[inline]
unsafe fn stage<F: Future>(block: NonNull<Header>) -> *mut Stage<F> {
    // SAFETY: the caller promises that the block is one of this type.
    unsafe { &raw mut (*block.cast::<Block<F>>().as_ptr()).stage }
}

unsafe fn poll<F: Future>(block: NonNull<Header>, cx: &mut Context<'_>) -> bool {
    // SAFETY: promised by the caller.
    let stage = unsafe { stage::<F>(block) };
    // SAFETY: the future is there, and nobody else has a reference to it. It does
    // not move: a block keeps its address until what is in it has been dropped in
    // place.
    let future = unsafe { Pin::new_unchecked(&mut *(*stage).future) };
    let Poll::Ready(output) = future.poll(cx) else {
        return false;
    };
    // SAFETY: the header is only ever shared.
    unsafe { block.as_ref() }.set_state(State::Returning);
    // SAFETY: the future is there, and as the state tells it is dropped here. If
    // that unwinds, the output is dropped by unwinding.
    unsafe { ptr::drop_in_place((&raw mut (*stage).future).cast::<F>()) };
    // SAFETY: nothing is there any more.
    unsafe { (&raw mut (*stage).output).write(ManuallyDrop::new(output)) };
    true
}

unsafe fn drop_future<F: Future>(block: NonNull<Header>) {
    // SAFETY: promised by the caller, who does this once.
    unsafe { ManuallyDrop::drop(&mut (*stage::<F>(block)).future) };
}

unsafe fn drop_output<F: Future>(block: NonNull<Header>) {
    // SAFETY: promised by the caller, who does this once.
    unsafe { ManuallyDrop::drop(&mut (*stage::<F>(block)).output) };
}
