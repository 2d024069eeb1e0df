//! Closures that wait for lent state.

use std::any::{Any, TypeId};
use std::panic::Location;

use crate::core::call::Foreign;

use super::key::Lend;

/// The stored type of a closure for a `K`.
pub(super) type Closure<K> = Box<dyn FnOnce(&mut <K as Lend>::Of<'_>)>;

/// A closure that waits for its state.
pub(super) struct Soon {
    /// The type id of the `K` whose state the closure borrows.
    of: TypeId,
    /// A [`Closure`] for the `K` with that type id.
    pub(super) closure: Foreign<Box<dyn Any>>,
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

impl Soon {
    pub(super) fn new<K: Lend>(f: impl FnOnce(&mut K::Of<'_>) + 'static, origin: Origin) -> Self {
        let closure: Closure<K> = Box::new(f);
        Soon {
            of: TypeId::of::<K>(),
            closure: Foreign::new(Box::new(closure)),
            origin,
        }
    }

    /// The type id of the `K` whose state the closure borrows.
    pub(super) fn key(&self) -> TypeId {
        self.of
    }
}
