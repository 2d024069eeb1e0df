//! State of `framestep_durable` that lives as long as an executor.

use std::any::Any;
use std::rc::Rc;

use crate::core::scope;

use super::door::Door;

/// What the executor of the caller keeps for `framestep_durable`. The first call makes it. `None`
/// outside of an executor.
#[must_use]
pub fn beside(make: impl FnOnce() -> Rc<dyn Any>) -> Option<Rc<dyn Any>> {
    scope::with(|scope| {
        let core = scope?.core();
        Some(Rc::clone(core.beside.get_or_init(make)))
    })
}

/// The same, if it has been made.
#[must_use]
pub fn known_beside() -> Option<Rc<dyn Any>> {
    scope::with(|scope| scope?.core().beside.get().cloned())
}

impl Door {
    /// Sets what [`beside`] returns. Only the first call for an executor has an effect.
    pub fn set_beside(&self, kept: Rc<dyn Any>) {
        let _ = self.core().beside.set(kept);
    }
}
