//! Closures that wait for lent state.

use std::any::TypeId;
use std::fmt;
use std::panic::Location;

use crate::core::base::call::Foreign;

use super::key::Lend;
use super::note::LentRef;

/// Calls a closure with the state that it waited for.
type Call = Box<dyn FnOnce(LentRef<'_>)>;

/// A closure that waits for its state.
pub(super) struct Deferred {
    /// The type id of the `K` whose state the closure borrows.
    pub(super) of: TypeId,
    /// Calls the closure with that state, which must be free.
    pub(super) call: Foreign<Call>,
    pub(super) origin: Origin,
}

/// Closures that do not wait any more. They are dropped with this.
pub struct Dismissed(#[expect(dead_code, reason = "it is only dropped")] pub(super) Vec<Deferred>);

impl fmt::Debug for Dismissed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dismissed").finish_non_exhaustive()
    }
}

/// The origin of a closure, for the report of a panic.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    pub(crate) function: &'static str,
    pub(crate) state: &'static str,
    pub(crate) place: &'static Location<'static>,
}

impl Origin {
    pub(super) fn new(
        function: &'static str,
        state: &'static str,
        place: &'static Location<'static>,
    ) -> Self {
        Origin {
            function,
            state,
            place,
        }
    }
}

impl Deferred {
    pub(super) fn new<K: Lend>(f: impl FnOnce(&mut K::Of<'_>) + 'static, origin: Origin) -> Self {
        let place = origin.place;
        Deferred {
            of: TypeId::of::<K>(),
            call: Foreign::new(Box::new(move |note: LentRef<'_>| {
                note.borrow_mut::<K>(place, f);
            })),
            origin,
        }
    }
}
