//! Lending state for the length of a closure.

use std::any::type_name;
use std::rc::Rc;

use crate::core::Core;

use super::key::Lend;
use super::own::Own;
use super::soon;

/// Lends `state` while `f` runs. Coroutines find the state by its type.
pub(crate) fn plain<S: 'static, R>(core: &Rc<Core>, state: &mut S, f: impl FnOnce() -> R) -> R {
    lend::<Own<S>, R>(core, type_name::<S>(), state, f)
}

/// Lends `state` as `K` while `f` runs.
pub(crate) fn as_key<K: Lend, R>(
    core: &Rc<Core>,
    state: &mut K::Of<'_>,
    f: impl FnOnce() -> R,
) -> R {
    lend::<K, R>(core, type_name::<K>(), state, f)
}

fn lend<K: Lend, R>(
    core: &Rc<Core>,
    name: &'static str,
    state: &mut K::Of<'_>,
    f: impl FnOnce() -> R,
) -> R {
    // The note is linked into the core, not into the `Executor`, which `f` may move.
    core.lent.link::<K, R>(name, state, |note| {
        soon::work_off::<K>(core, note);
        f()
    })
}
