//! Notes of lent state: its address, and how many closures borrow it.
//!
//! [`Lending::link`] puts a [`Lent`] on its stack and links it into the executor. The
//! executor finds it by type. This is sound for two reasons (invariant LENT):
//!
//! - The note is unlinked before the host's `&mut` ends, even when unwinding.
//! - The note counts the borrows. It lets either one closure borrow the state
//!   exclusively, or any number of closures share it.

#![expect(unsafe_code, reason = "finds the host's `&mut` by its type")]

use std::any::TypeId;
use std::cell::Cell;
use std::collections::VecDeque;
use std::mem;
use std::panic::Location;
use std::ptr::NonNull;

use crate::core::cell::{Guarded, Restore};

use super::kept::Soon;
use super::key::Lend;

/// The note of one call of [`Lending::link`].
struct Lent {
    /// The type id of the `K` of that call.
    of: TypeId,
    /// The name of the type, as users write it.
    name: &'static str,
    /// The `K::Of` of that call.
    state: NonNull<()>,
    /// The number of closures that share the state, or [`EXCLUSIVE`].
    borrows: Cell<u32>,
    /// The line at which the outermost of these closures was passed.
    borrowed_at: Cell<Option<&'static Location<'static>>>,
    /// Closures that wait for the end of the outermost borrow.
    soon: Guarded<VecDeque<Soon>>,
    /// The next note outwards: that of a call further up the stack.
    outer: Option<NonNull<Lent>>,
}

/// In [`Lent::borrows`]: one closure borrows the state exclusively.
const EXCLUSIVE: u32 = u32::MAX;

/// State that is lent: the note of a call that is under way.
#[derive(Clone, Copy)]
pub(super) struct LentRef<'n>(&'n Lent);

/// The notes of an executor, and the closures that wait for a lend.
#[derive(Default)]
pub(crate) struct Lending {
    /// The innermost note, which leads to the outer ones.
    innermost: Cell<Option<NonNull<Lent>>>,
    /// Closures for state that is not lent.
    waiting: Guarded<Vec<Waiting>>,
    closed: Cell<bool>,
}

/// The closures for one `K` that is not lent, in order.
struct Waiting {
    /// The type id of that `K`.
    of: TypeId,
    closures: VecDeque<Soon>,
}

impl Lending {
    /// Calls `f` with the innermost state that is lent as `K`.
    pub(super) fn find<K: Lend, R>(&self, f: impl FnOnce(Option<LentRef<'_>>) -> R) -> R {
        self.find_by(|lent| lent.0.of == TypeId::of::<K>(), f)
    }

    /// The names of the types that are lent, the innermost first.
    pub(super) fn names(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        let note = |lent: LentRef<'_>| {
            names.push(lent.0.name);
            false
        };
        self.find_by(note, |_| ());
        names
    }

    /// The name of the innermost type that is lent.
    pub(super) fn innermost_name(&self) -> Option<&'static str> {
        self.find_by(|_| true, |lent| lent.map(|lent| lent.0.name))
    }

    /// Calls `f` with the innermost state for which `is_it` holds.
    ///
    /// `f` accepts any lifetime. So the reference cannot leave `f`.
    #[inline]
    fn find_by<R>(
        &self,
        mut is_it: impl FnMut(LentRef<'_>) -> bool,
        f: impl FnOnce(Option<LentRef<'_>>) -> R,
    ) -> R {
        let mut next = self.innermost.get();
        let found = loop {
            let Some(note) = next else {
                break None;
            };
            // SAFETY: LENT: a linked note is alive until the call of `link` that linked
            // it ends. That call is further up the stack than this call, so it ends after
            // `f` has returned. The calls of `link` are nested, so the outer notes are
            // alive, too. A note is only shared.
            let lent = unsafe { note.as_ref() };
            if is_it(LentRef(lent)) {
                break Some(LentRef(lent));
            }
            next = lent.outer;
        };
        f(found)
    }

    /// Keeps a closure for the next lend of its type.
    pub(super) fn keep(&self, soon: Soon) {
        let of = soon.key();
        self.with_waiting(of, |closures| closures.push_back(soon));
    }

    /// Keeps closures for the next lend of their type, `of`. They come before the closures
    /// that wait for that type already.
    fn keep_first(&self, of: TypeId, mut first: VecDeque<Soon>) {
        self.with_waiting(of, |closures| {
            first.append(closures);
            *closures = first;
        });
    }

    /// Calls `f` with the closures that wait for the type `of`.
    fn with_waiting(&self, of: TypeId, f: impl FnOnce(&mut VecDeque<Soon>)) {
        let mut waiting = self.waiting.borrow_mut();
        let known = waiting.iter().position(|known| known.of == of);
        let index = known.unwrap_or_else(|| {
            let closures = VecDeque::new();
            waiting.push(Waiting { of, closures });
            waiting.len() - 1
        });
        f(&mut waiting[index].closures);
    }

    /// Takes the closures that wait for a `K`.
    fn take_waiting<K: Lend>(&self) -> VecDeque<Soon> {
        let mut waiting = self.waiting.borrow_mut();
        let of_k = waiting
            .iter_mut()
            .find(|known| known.of == TypeId::of::<K>());
        of_k.map_or_else(VecDeque::new, |known| mem::take(&mut known.closures))
    }

    /// Links a note of `state` into the executor while `f` runs, which receives the note.
    /// Messages call the type of the state `name`.
    pub(super) fn link<K: Lend, R>(
        &self,
        name: &'static str,
        state: &mut K::Of<'_>,
        f: impl FnOnce(LentRef<'_>) -> R,
    ) -> R {
        let lent = Lent {
            of: TypeId::of::<K>(),
            name,
            state: NonNull::from(state).cast(),
            borrows: Cell::new(0),
            borrowed_at: Cell::new(None),
            soon: Guarded::new(self.take_waiting::<K>()),
            outer: self.innermost.get(),
        };
        self.innermost.set(Some(NonNull::from(&lent)));
        let _unlink = Unlink(self, &lent);
        f(LentRef(&lent))
    }

    /// Drops the closures that wait: the executor is gone.
    pub(crate) fn close(&self) {
        self.closed.set(true);
        drop(self.waiting.take());
    }
}

/// Unlinks a note when it is dropped, even when unwinding.
struct Unlink<'a>(&'a Lending, &'a Lent);

impl Drop for Unlink<'_> {
    fn drop(&mut self) {
        let Unlink(lending, lent) = *self;
        lending.innermost.set(lent.outer);
        let left = lent.soon.take();
        if !left.is_empty() && !lending.closed.get() {
            // These closures exceeded the limit of this lend. They come first in the
            // next lend.
            lending.keep_first(lent.of, left);
        }
    }
}

impl LentRef<'_> {
    /// Whether no closure borrows the state.
    pub(super) fn is_free(self) -> bool {
        self.0.borrows.get() == 0
    }

    /// Whether a closure borrows the state exclusively.
    pub(super) fn is_exclusive(self) -> bool {
        self.0.borrows.get() == EXCLUSIVE
    }

    /// The line at which the outermost closure that borrows the state was passed.
    pub(super) fn borrowed_at(self) -> Option<&'static Location<'static>> {
        self.0.borrowed_at.get()
    }

    /// Whether closures wait for the state.
    pub(super) fn has_soon(self) -> bool {
        !self.0.soon.borrow().is_empty()
    }

    /// Keeps a closure until the state is free.
    pub(super) fn keep(self, soon: Soon) {
        self.0.soon.borrow_mut().push_back(soon);
    }

    /// Takes the next closure that waits.
    pub(super) fn next_soon(self) -> Option<Soon> {
        self.0.soon.borrow_mut().pop_front()
    }

    /// Calls `f`, which was passed at `place`, with an exclusive borrow of the state.
    ///
    /// `f` accepts any lifetime in `K::Of`. So it can neither keep a reference with that
    /// lifetime nor store a reference that would need it.
    pub(super) fn borrow_mut<K: Lend, R>(
        self,
        place: &'static Location<'static>,
        f: impl FnOnce(&mut K::Of<'_>) -> R,
    ) -> R {
        let lent = self.0;
        assert!(lent.of == TypeId::of::<K>() && self.is_free());
        lent.borrowed_at.set(Some(place));
        let _borrow = Restore::after_setting(&lent.borrows, EXCLUSIVE);
        // SAFETY: LENT: `link` made the pointer from a `&mut K::Of` of the same
        // `K`, as the type id shows, and holds that reference until this note is
        // unlinked. Meanwhile, only the closures that are called here and in
        // `borrow` use the state. None of them runs now: the count of borrows was
        // 0, and both functions refuse while there is an exclusive borrow. The
        // lifetime in `K::Of` differs from the lifetime in `link`. That changes
        // neither the value nor its layout, and `f` accepts any lifetime.
        f(unsafe { lent.state.cast::<K::Of<'_>>().as_mut() })
    }

    /// Calls `f`, which was passed at `place`, with a shared borrow of the state.
    pub(super) fn borrow<K: Lend, R>(
        self,
        place: &'static Location<'static>,
        f: impl FnOnce(&K::Of<'_>) -> R,
    ) -> R {
        let lent = self.0;
        let borrows = lent.borrows.get();
        assert!(lent.of == TypeId::of::<K>() && borrows < EXCLUSIVE - 1);
        if borrows == 0 {
            lent.borrowed_at.set(Some(place));
        }
        let _borrow = Restore::after_setting(&lent.borrows, borrows + 1);
        // SAFETY: as in `borrow_mut`. While there are shared borrows, only this
        // function calls closures.
        f(unsafe { lent.state.cast::<K::Of<'_>>().as_ref() })
    }
}
