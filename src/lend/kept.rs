//! Closures that wait for lent state.

use std::any::TypeId;
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

/// The origin of a closure, for the report of a panic.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    pub(super) function: &'static str,
    pub(super) state: &'static str,
    pub(super) place: &'static Location<'static>,
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
