//! Notes of lent state: its address, and how many closures borrow it.
//!
//! [`link`] puts a [`Lent`] on its stack and links it into the executor. The executor
//! finds it by type. This is sound for two reasons (invariant LENT):
//!
//! - The note is unlinked before the host's `&mut` ends, even when unwinding.
//! - The note counts the borrows. It lets either one closure borrow the state
//!   exclusively, or any number of closures share it.
//!
//! The functions with a type parameter have one copy for each closure of a game. So they
//! only convert the address of the state; [`Borrow`] does the rest.

#![expect(unsafe_code, reason = "finds the host's `&mut` by its type")]

use std::any::TypeId;
use std::cell::Cell;
use std::collections::VecDeque;
use std::mem;
use std::panic::Location;
use std::ptr::NonNull;
use std::rc::Rc;

use crate::core::Core;
use crate::core::base::call;
use crate::core::base::cell::{Guarded, Restore};
use crate::core::life::start;
use crate::core::scope;

use super::deferred;
use super::error::LendError;
use super::kept::{Deferred, Dismissed, Origin};
use super::key::Lend;

/// The note of one call of [`link`].
struct Lent {
    core: Rc<Core>,
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
    deferred: Guarded<VecDeque<Deferred>>,
    /// The next note outwards: that of a call further up the stack.
    outer: Option<Link>,
}

/// In [`Lent::borrows`]: one closure borrows the state exclusively.
const EXCLUSIVE: u32 = u32::MAX;

/// A link to a note that is alive.
///
/// Only the executor, an inner note and a [`Borrow`] have one. All of them give it up
/// before the call of [`link`] that made the note returns.
#[derive(Clone, Copy)]
struct Link(NonNull<Lent>);

impl Link {
    fn note(&self) -> LentRef<'_> {
        // SAFETY: LENT: the note is alive until the call of `link` that made it returns.
        // That call is further up the stack than any code that has the link. A note is
        // only shared.
        LentRef(unsafe { self.0.as_ref() })
    }
}

/// State that is lent: the note of a call that is under way.
#[derive(Clone, Copy)]
pub(super) struct LentRef<'n>(&'n Lent);

/// The notes of an executor, and the closures that wait for a lend.
#[derive(Default)]
pub(crate) struct Lending {
    /// The innermost note, which leads to the outer ones.
    innermost: Cell<Option<Link>>,
    /// Closures for state that is not lent.
    waiting: Guarded<Vec<Waiting>>,
    closed: Cell<bool>,
}

/// The closures for one `K` that is not lent, in order.
struct Waiting {
    /// The type id of that `K`.
    of: TypeId,
    closures: VecDeque<Deferred>,
}

impl Lending {
    /// Calls `f` with the innermost state that is lent as the key with the type id `of`.
    ///
    /// `f` accepts any lifetime. So the reference cannot leave `f`.
    pub(super) fn with_innermost<R>(
        &self,
        of: TypeId,
        f: impl FnOnce(Option<LentRef<'_>>) -> R,
    ) -> R {
        f(self.find(|lent| lent.0.of == of).as_ref().map(Link::note))
    }

    /// The names of the types that are lent, the innermost first.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        self.find(|lent| {
            names.push(lent.0.name);
            false
        });
        names
    }

    /// The name of the innermost type that is lent.
    fn innermost_name(&self) -> Option<&'static str> {
        self.innermost.get().map(|link| link.note().0.name)
    }

    /// The link to the innermost state for which `is_it` holds.
    fn find(&self, mut is_it: impl FnMut(LentRef<'_>) -> bool) -> Option<Link> {
        let mut next = self.innermost.get();
        while let Some(link) = next {
            let lent = link.note();
            if is_it(lent) {
                break;
            }
            next = lent.0.outer;
        }
        next
    }

    /// Keeps a closure for the next lend of its type.
    pub(super) fn keep(&self, deferred: Deferred) {
        self.with_waiting(deferred.of, |closures| closures.push_back(deferred));
    }

    /// Keeps closures for the next lend of their type, `of`. They come before the closures
    /// that wait for that type already.
    fn keep_first(&self, of: TypeId, mut first: VecDeque<Deferred>) {
        self.with_waiting(of, |closures| {
            first.append(closures);
            *closures = first;
        });
    }

    /// Calls `f` with the closures that wait for the type `of`.
    fn with_waiting(&self, of: TypeId, f: impl FnOnce(&mut VecDeque<Deferred>)) {
        let mut waiting = self.waiting.borrow_mut();
        let known = waiting.iter().position(|known| known.of == of);
        let index = known.unwrap_or_else(|| {
            let closures = VecDeque::new();
            waiting.push(Waiting { of, closures });
            waiting.len() - 1
        });
        f(&mut waiting[index].closures);
    }

    /// Whether closures wait for the type `of`: for its next lend, or for the end of the borrow
    /// of the innermost state of that type.
    pub(super) fn has_deferred(&self, of: TypeId) -> bool {
        let is_kept = |known: &Waiting| known.of == of && !known.closures.is_empty();
        self.with_innermost(of, |note| note.is_some_and(LentRef::has_deferred))
            || self.waiting.borrow().iter().any(is_kept)
    }

    /// Takes the closures that wait for the end of the borrow of the innermost state of the
    /// type `of`.
    fn take_borrowed(&self, of: TypeId) -> VecDeque<Deferred> {
        self.with_innermost(of, |note| {
            note.map_or_else(VecDeque::new, |note| note.0.deferred.take())
        })
    }

    /// Takes the closures that wait for the type `of`.
    fn take_waiting(&self, of: TypeId) -> VecDeque<Deferred> {
        let mut waiting = self.waiting.borrow_mut();
        let known = waiting.iter_mut().find(|known| known.of == of);
        known.map_or_else(VecDeque::new, |known| mem::take(&mut known.closures))
    }

    /// The origin of a closure that waits for a lend, or for the end of a borrow.
    pub(crate) fn first_deferred(&self) -> Option<Origin> {
        let of_first = |closures: &VecDeque<Deferred>| closures.front().map(|first| first.origin);
        let waiting = self.waiting.borrow();
        let kept = waiting.iter().find_map(|known| of_first(&known.closures));
        kept.or_else(|| {
            let borrowed = self.find(|note| !note.0.deferred.borrow().is_empty())?;
            let closures = borrowed.note().0.deferred.borrow();
            of_first(&closures)
        })
    }

    /// Takes all closures that wait, for the caller to drop.
    pub(crate) fn dismiss(&self) -> Dismissed {
        let waiting = self.waiting.take().into_iter();
        let mut taken: Vec<_> = waiting.flat_map(|known| known.closures).collect();
        self.find(|note| {
            taken.extend(note.0.deferred.take());
            false
        });
        Dismissed(taken)
    }

    /// Drops the closures that wait: the executor is gone.
    pub(crate) fn close(&self) {
        self.closed.set(true);
        drop(self.waiting.take());
    }
}

/// Lends `state` to an executor as `K` while `f` runs. Messages call the type of the state
/// `name`.
pub(super) fn link<K: Lend, R>(
    core: Rc<Core>,
    name: &'static str,
    state: &mut K::Of<'_>,
    f: impl FnOnce() -> R,
) -> R {
    let lent = Lent::new(core, TypeId::of::<K>(), name, NonNull::from(state).cast());
    let _linked = Linked::new(&lent);
    f()
}

/// Lends `state` as `K` until the closures that wait for such a state have been called: those
/// that wait for a lend, or for the end of the borrow around the caller.
pub(super) fn link_again<K: Lend>(core: Rc<Core>, name: &'static str, state: &mut K::Of<'_>) {
    let of = TypeId::of::<K>();
    let mut borrowed = core.lent.take_borrowed(of);
    let lent = Lent::new(core, of, name, NonNull::from(state).cast());
    lent.deferred.borrow_mut().append(&mut borrowed);
    drop(Linked::new(&lent));
}

impl Lent {
    fn new(core: Rc<Core>, of: TypeId, name: &'static str, state: NonNull<()>) -> Self {
        Lent {
            of,
            name,
            state,
            borrows: Cell::new(0),
            borrowed_at: Cell::new(None),
            deferred: Guarded::new(core.lent.take_waiting(of)),
            outer: core.lent.innermost.get(),
            core,
        }
    }
}

/// A note that is linked into its executor. Unlinks it when this is dropped, even when
/// unwinding.
struct Linked<'a>(&'a Lent);

impl<'a> Linked<'a> {
    /// Links a note, and calls the closures that wait for the state.
    fn new(lent: &'a Lent) -> Self {
        let link = Link(NonNull::from(lent));
        lent.core.lent.innermost.set(Some(link));
        let linked = Linked(lent);
        deferred::work_off(&lent.core, LentRef(lent));
        linked
    }
}

impl Drop for Linked<'_> {
    fn drop(&mut self) {
        let lent = self.0;
        let lending = &lent.core.lent;
        lending.innermost.set(lent.outer);
        let left = lent.deferred.take();
        if !left.is_empty() && !lending.closed.get() {
            // These closures exceeded the limit of this lend. They come first in the
            // next lend.
            lending.keep_first(lent.of, left);
        }
    }
}

/// Calls `f` with an exclusive borrow of the state that is lent as `K` to the executor that
/// runs the caller. Messages call the type of the state `name`.
///
/// `f` accepts any lifetime in `K::Of`. So it can neither keep a reference with that
/// lifetime nor store a reference that would need it.
#[track_caller]
pub(super) fn borrow_mut<K: Lend, R>(
    name: &'static str,
    f: impl FnOnce(&mut K::Of<'_>) -> R,
) -> Result<R, LendError> {
    match Borrow::begin(TypeId::of::<K>(), name, true, Location::caller()) {
        Ok(borrow) => Ok(borrow.link.note().call_mut::<K, R>(f)),
        Err(error) => Err(error),
    }
}

/// The same with a shared borrow.
#[track_caller]
pub(super) fn borrow<K: Lend, R>(
    name: &'static str,
    f: impl FnOnce(&K::Of<'_>) -> R,
) -> Result<R, LendError> {
    match Borrow::begin(TypeId::of::<K>(), name, false, Location::caller()) {
        // SAFETY: as in `call_mut`. While there are shared borrows, `begin` allows no
        // exclusive one.
        Ok(borrow) => Ok(f(unsafe {
            borrow.link.note().0.state.cast::<K::Of<'_>>().as_ref()
        })),
        Err(error) => Err(error),
    }
}

/// A borrow of lent state, which ends when this is dropped, even when unwinding. Meanwhile
/// starts are held. It does not leave the function that calls the closure.
struct Borrow {
    link: Link,
    /// [`Lent::borrows`] before this borrow.
    outer: u32,
    held: start::Held,
}

impl Borrow {
    /// Begins to borrow the state that is lent as the key with the type id `of`, for a
    /// closure that was passed at `place`.
    #[inline(never)]
    fn begin(
        of: TypeId,
        name: &'static str,
        is_exclusive: bool,
        place: &'static Location<'static>,
    ) -> Result<Borrow, LendError> {
        let not_lent = |core: Option<&Core>| LendError::NotLent {
            type_name: name,
            started_at: core.and_then(start::started_from_host),
            lent_here: core.and_then(|core| core.lent.innermost_name()),
        };
        let link = scope::with(|scope| {
            let core = scope.ok_or_else(|| not_lent(None))?.core();
            let link = core.lent.find(|lent| lent.0.of == of);
            link.ok_or_else(|| not_lent(Some(core)))
        })?;
        let lent = link.note().0;
        let outer = lent.borrows.get();
        let most = if is_exclusive { 0 } else { EXCLUSIVE - 2 };
        if outer > most {
            return Err(LendError::Borrowed {
                type_name: name,
                borrowed_at: lent.borrowed_at.get(),
            });
        }
        if outer == 0 {
            lent.borrowed_at.set(Some(place));
        }
        lent.borrows
            .set(if is_exclusive { EXCLUSIVE } else { outer + 1 });
        let held = start::hold(&lent.core);
        call::expect_no_borrow();
        Ok(Borrow { link, outer, held })
    }
}

impl Drop for Borrow {
    #[inline(never)]
    fn drop(&mut self) {
        let note = self.link.note();
        let core = &*note.0.core;
        note.0.borrows.set(self.outer);
        let _let_go = start::LetGo::new(core, self.held);
        deferred::work_off(core, note);
    }
}

impl<'n> LentRef<'n> {
    /// Whether no closure borrows the state.
    pub(super) fn is_free(self) -> bool {
        self.0.borrows.get() == 0
    }

    /// Whether closures wait for the state.
    pub(super) fn has_deferred(self) -> bool {
        !self.0.deferred.borrow().is_empty()
    }

    /// Keeps a closure until the state is free.
    pub(super) fn keep(self, deferred: Deferred) {
        self.0.deferred.borrow_mut().push_back(deferred);
    }

    /// Takes the next closure that waits.
    pub(super) fn next_deferred(self) -> Option<Deferred> {
        self.0.deferred.borrow_mut().pop_front()
    }

    /// Calls `f`, which was passed at `place`, with an exclusive borrow of the state. It
    /// must be lent as `K`, and free.
    pub(super) fn borrow_mut<K: Lend>(
        self,
        place: &'static Location<'static>,
        f: impl FnOnce(&mut K::Of<'_>),
    ) {
        let _borrow = self.begin_alone(TypeId::of::<K>(), place);
        self.call_mut::<K, ()>(f);
    }

    fn begin_alone(self, of: TypeId, place: &'static Location<'static>) -> Restore<'n, u32> {
        assert!(self.0.of == of && self.is_free());
        self.0.borrowed_at.set(Some(place));
        Restore::after_setting(&self.0.borrows, EXCLUSIVE)
    }

    /// Calls `f` with the state. The caller has begun an exclusive borrow of it, as `K`.
    #[inline(always)]
    fn call_mut<K: Lend, R>(self, f: impl FnOnce(&mut K::Of<'_>) -> R) -> R {
        // SAFETY: LENT: `link` made the pointer from a `&mut K::Of` of the same `K`: both
        // callers have compared the type ids. `link` holds that reference until this note
        // is unlinked. Meanwhile, only the closures that are called here and in `borrow`
        // use the state. None of them runs now: the count of borrows was 0, and no borrow
        // begins while there is an exclusive one. The lifetime in `K::Of` differs from the
        // lifetime in `link`. That changes neither the value nor its layout, and `f`
        // accepts any lifetime.
        f(unsafe { self.0.state.cast::<K::Of<'_>>().as_mut() })
    }
}
