//! Lending state for the length of a closure.

use std::any::{TypeId, type_name};
use std::rc::Rc;

use crate::core::Core;

use super::key::Lend;
use super::note;
use super::own::Own;

/// Lends `state` while `f` runs. Coroutines find the state by its type.
pub(crate) fn plain<S: 'static, R>(core: Rc<Core>, state: &mut S, f: impl FnOnce() -> R) -> R {
    note::link::<Own<S>, R>(core, type_name::<S>(), state, f)
}

/// Lends `state` as `K` while `f` runs.
pub(crate) fn as_key<K: Lend, R>(
    core: Rc<Core>,
    state: &mut K::Of<'_>,
    f: impl FnOnce() -> R,
) -> R {
    note::link::<K, R>(core, type_name::<K>(), state, f)
}

/// Calls the closures that wait for an `S`, with `state`.
pub(crate) fn clean_up<S: 'static>(core: Rc<Core>, state: &mut S) {
    note::link_again::<Own<S>>(core, type_name::<S>(), state);
}

/// Whether closures wait for an `S`.
pub(crate) fn has_clean_up<S: 'static>(core: &Core) -> bool {
    core.lent.has_deferred(TypeId::of::<Own<S>>())
}
