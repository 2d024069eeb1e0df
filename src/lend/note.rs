//! Notes of what is lent: where it is, and who uses it.
//!
//! [`lend`] puts a [`Lent`] on its stack and links it into the executor, which
//! finds it by type. Two things make that sound. The note is taken out again
//! before the host's `&mut` ends, also by a panic. And its count of borrows lets
//! either one closure have the state, or any number of closures share it
//! (invariant LENT).

use std::any::TypeId;
use std::cell::Cell;
use std::collections::VecDeque;
use std::mem;
use std::ptr::NonNull;
use std::rc::Rc;

use crate::core::Core;
use crate::core::cell::Guarded;

use super::Lend;
use super::soon::{self, Soon};

/// What one call of [`lend`] lends.
struct Lent {
    /// The `K` of that call.
    of: TypeId,
    /// The `K::Of` of that call.
    state: NonNull<()>,
    /// How many closures share the state, or [`EXCLUSIVE`].
    borrows: Cell<u32>,
    /// Closures that wait for the end of the outermost borrow.
    soon: Guarded<VecDeque<Soon>>,
    outer: Option<LentRef>,
}

/// In [`Lent::borrows`]: one closure has the state for itself.
const EXCLUSIVE: u32 = u32::MAX;

/// A note of a call of [`lend`] further up the stack.
#[derive(Clone, Copy)]
pub(super) struct LentRef(NonNull<Lent>);

/// What an executor knows of what is lent.
#[derive(Default)]
pub(crate) struct Lending {
    /// The notes, the innermost first.
    innermost: Cell<Option<LentRef>>,
    /// Closures for states that are not lent, in order.
    waiting: Guarded<VecDeque<Soon>>,
}

impl Lending {
    /// The innermost state that is lent as `K`.
    pub(super) fn find<K: Lend>(&self) -> Option<LentRef> {
        let mut lents = std::iter::successors(self.innermost.get(), |lent| lent.get().outer);
        lents.find(|lent| lent.get().of == TypeId::of::<K>())
    }

    /// Keeps a closure for the next call of [`lend`] with its type.
    pub(super) fn keep(&self, soon: Soon) {
        self.waiting.borrow_mut().push_back(soon);
    }

    /// Takes the closures that wait for a `K`.
    fn take_waiting<K: Lend>(&self) -> VecDeque<Soon> {
        if self.waiting.borrow().is_empty() {
            return VecDeque::new();
        }
        let is_of_k = |soon: &Soon| soon.is_for(TypeId::of::<K>());
        let (taken, left) = self.waiting.take().into_iter().partition(is_of_k);
        self.waiting.replace(left);
        taken
    }

    /// Drops the closures that wait: the executor is gone.
    pub(crate) fn close(&self) {
        drop(self.waiting.take());
    }
}

/// Links `state` into an executor for the length of `f`.
pub(crate) fn lend<K: Lend, R>(core: &Rc<Core>, state: &mut K::Of<'_>, f: impl FnOnce() -> R) -> R {
    let lent = Lent {
        of: TypeId::of::<K>(),
        state: NonNull::from(state).cast(),
        borrows: Cell::new(0),
        soon: Guarded::new(core.lent.take_waiting::<K>()),
        outer: core.lent.innermost.get(),
    };
    let note = LentRef(NonNull::from(&lent));
    core.lent.innermost.set(Some(note));
    // Not the `Executor`, which the closure may put elsewhere.
    let _take_back = TakeBack { core, lent: &lent };
    soon::work_off::<K>(core, note);
    f()
}

/// Takes a note out, also when unwinding.
struct TakeBack<'a> {
    core: &'a Core,
    lent: &'a Lent,
}

impl Drop for TakeBack<'_> {
    fn drop(&mut self) {
        let lending = &self.core.lent;
        lending.innermost.set(self.lent.outer);
        let mut left = self.lent.soon.take();
        if !left.is_empty() && !self.core.is_closed() {
            // They were too many for this lend, and come first in the next one.
            let mut waiting = lending.waiting.borrow_mut();
            left.append(&mut waiting);
            mem::swap(&mut *waiting, &mut left);
        }
    }
}

impl LentRef {
    /// Good for the length of a call that finds it linked into its executor:
    /// `lend` takes it out before the note is gone.
    fn get(&self) -> &Lent {
        // SAFETY: LENT: what is linked into an executor is alive, and the calls
        // of `lend` are nested, so what it leads to is, too.
        unsafe { self.0.as_ref() }
    }

    /// Whether no closure has the state.
    pub(super) fn is_free(self) -> bool {
        self.get().borrows.get() == 0
    }

    /// Whether one closure has the state for itself.
    pub(super) fn is_exclusive(self) -> bool {
        self.get().borrows.get() == EXCLUSIVE
    }

    /// Whether closures wait for the state.
    pub(super) fn has_soon(self) -> bool {
        !self.get().soon.borrow().is_empty()
    }

    /// Keeps a closure until the state is free.
    pub(super) fn keep(self, soon: Soon) {
        self.get().soon.borrow_mut().push_back(soon);
    }

    /// The next closure that waits.
    pub(super) fn next_soon(self) -> Option<Soon> {
        self.get().soon.borrow_mut().pop_front()
    }

    /// Calls `f` with the state alone.
    ///
    /// `f` knows nothing of the lifetime in `K::Of`: it can neither keep what that
    /// covers nor put something in that it would have to cover.
    pub(super) fn borrow_mut<K: Lend, R>(self, f: impl FnOnce(&mut K::Of<'_>) -> R) -> R {
        let lent = self.get();
        assert!(lent.of == TypeId::of::<K>() && self.is_free());
        lent.borrows.set(EXCLUSIVE);
        let _give_back = GiveBack(&lent.borrows, 0);
        // SAFETY: LENT: `lend` made the pointer of a `&mut K::Of`, of the same `K`,
        // as the type tells, that it holds until this note is gone. Nobody uses
        // it meanwhile but closures that are called here and in `borrow`, and no
        // closure is called now: there were no borrows, and while there is an
        // exclusive one, both functions refuse. The lifetime in `K::Of` is another
        // one here than there, which changes neither the value nor its layout, and
        // `f` has to be good for any.
        f(unsafe { lent.state.cast::<K::Of<'_>>().as_mut() })
    }

    /// Calls `f` with the state, which other closures may share.
    pub(super) fn borrow<K: Lend, R>(self, f: impl FnOnce(&K::Of<'_>) -> R) -> R {
        let lent = self.get();
        let borrows = lent.borrows.get();
        assert!(lent.of == TypeId::of::<K>() && borrows < EXCLUSIVE - 1);
        lent.borrows.set(borrows + 1);
        let _give_back = GiveBack(&lent.borrows, borrows);
        // SAFETY: as in `borrow_mut`; while there are shared borrows, only this
        // function calls more closures.
        f(unsafe { lent.state.cast::<K::Of<'_>>().as_ref() })
    }
}

/// Ends a borrow, also when unwinding. Borrows nest like the calls that make them,
/// so there are as many as before.
struct GiveBack<'a>(&'a Cell<u32>, u32);

impl Drop for GiveBack<'_> {
    fn drop(&mut self) {
        self.0.set(self.1);
    }
}
