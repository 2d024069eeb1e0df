//! The part of a task that knows the type of its future.

use std::alloc::Layout;
use std::any::type_name;
use std::future::Future;
use std::mem::needs_drop;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use pin_project::pin_project;

use super::header::{Header, TaskRef};
use super::pool::Class;

/// What a task holds: its future, then its output, then nothing.
#[pin_project(project = StageProjection, project_replace = StageReplaced)]
enum Stage<F: Future> {
    Running(#[pin] F),
    Ended(F::Output),
    Empty,
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
    /// Polls the future. `true`: it returned, and the output stands in its
    /// place. The task must be alive.
    pub(crate) poll: unsafe fn(TaskRef, &mut Context<'_>) -> bool,
    /// Drops what the task holds, future or output.
    pub(crate) clear: unsafe fn(TaskRef),
    /// Moves the output to an `Option<F::Output>`; leaves it alone if there is
    /// none.
    pub(crate) take: unsafe fn(TaskRef, NonNull<()>),
    /// The name of the future's type.
    pub(crate) type_name: fn() -> &'static str,
    pub(crate) output_needs_drop: bool,
    pub(crate) class: Class,
}

impl VTable {
    pub(crate) const fn of<F: Future>() -> &'static VTable {
        &const {
            VTable {
                poll: poll::<F>,
                clear: clear::<F>,
                take: take::<F>,
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
pub(crate) unsafe fn write<F: Future>(block: NonNull<Header>, header: Header, future: F) {
    let stage = Stage::Running(future);
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
unsafe fn stage<'a, F: Future>(task: TaskRef) -> Pin<&'a mut Stage<F>> {
    let block = task.as_ptr().cast::<Block<F>>().as_ptr();
    // SAFETY: the caller promises the type and that the reference is the only
    // one; it covers the stage alone, never the header, which is shared. The
    // stage does not move: blocks keep their address until what is in them has
    // been dropped.
    unsafe { Pin::new_unchecked(&mut (*block).stage) }
}

unsafe fn poll<F: Future>(task: TaskRef, cx: &mut Context<'_>) -> bool {
    // SAFETY: promised by the caller.
    let mut stage = unsafe { stage::<F>(task) };
    let StageProjection::Running(future) = stage.as_mut().project() else {
        debug_assert!(false, "an ended task was polled");
        // SAFETY: the caller polls a task that is alive, and those run.
        unsafe { std::hint::unreachable_unchecked() }
    };
    match future.poll(cx) {
        Poll::Pending => false,
        Poll::Ready(output) => {
            stage.project_replace(Stage::Ended(output));
            true
        }
    }
}

unsafe fn clear<F: Future>(task: TaskRef) {
    // SAFETY: promised by the caller.
    unsafe { stage::<F>(task) }.project_replace(Stage::Empty);
}

unsafe fn take<F: Future>(task: TaskRef, output: NonNull<()>) {
    // SAFETY: promised by the caller.
    let mut stage = unsafe { stage::<F>(task) };
    if let StageProjection::Ended(_) = stage.as_mut().project() {
        if let StageReplaced::Ended(value) = stage.project_replace(Stage::Empty) {
            // SAFETY: the caller passes an `Option<F::Output>`.
            unsafe { *output.cast::<Option<F::Output>>().as_mut() = Some(value) };
        }
    }
}
