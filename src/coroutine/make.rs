//! Making coroutines: an executor stores the future, or the future is refused.

#![forbid(unsafe_code)]

use std::future::Future;
use std::panic::Location;
use std::rc::Rc;

use crate::core::task::name_of;
use crate::core::{self, Core, Home, Name, scope, unnamed};
use crate::inspect::{Refusal, Report};
use crate::core::owners::OwnerKey;

use super::handle::Coroutine;

/// Which code makes a coroutine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    /// Code that calls a free function, such as a script.
    Script,
    /// Code that calls a method, such as a host.
    Host,
}

impl<T> Coroutine<T> {
    /// Adds a coroutine to an executor. `None` if that has been dropped.
    #[inline]
    #[track_caller]
    pub(crate) fn spawn<F>(
        core: Option<Rc<Core>>,
        future: F,
        home: Home,
        owner: Option<OwnerKey>,
    ) -> Self
    where
        F: Future<Output = T> + 'static,
    {
        Self::spawn_named(core, unnamed, future, home, owner)
    }

    /// Starts a coroutine on an executor. `None` if that has been dropped.
    #[inline]
    #[track_caller]
    pub(crate) fn start<F>(
        core: Option<Rc<Core>>,
        maker: Maker,
        future: F,
        home: Home,
        owner: Option<OwnerKey>,
    ) -> Self
    where
        F: Future<Output = T> + 'static,
    {
        Self::start_named(core, maker, unnamed, future, home, owner)
    }

    #[inline]
    #[track_caller]
    pub(super) fn spawn_named<F>(
        core: Option<Rc<Core>>,
        name: impl FnOnce() -> Name,
        future: F,
        home: Home,
        owner: Option<OwnerKey>,
    ) -> Self
    where
        F: Future<Output = T> + 'static,
    {
        match core {
            Some(core) if core.accepts_spawn(owner) => {
                let task = core.spawn(name, future, home, owner, Location::caller());
                Self::of(core, task)
            }
            core => Self::refused(core.as_deref(), name(), future, owner),
        }
    }

    #[inline]
    #[track_caller]
    pub(super) fn start_named<F>(
        core: Option<Rc<Core>>,
        maker: Maker,
        name: impl FnOnce() -> Name,
        future: F,
        home: Home,
        owner: Option<OwnerKey>,
    ) -> Self
    where
        F: Future<Output = T> + 'static,
    {
        match core {
            Some(core) if core.accepts(owner) => {
                let place = Location::caller();
                let task = match maker {
                    Maker::Script => core.start(name, future, home, owner, place),
                    Maker::Host => core.start_by_host(name, future, home, owner, place),
                };
                Self::of(core, task)
            }
            core => Self::refused(core.as_deref(), name(), future, owner),
        }
    }

    /// Reports a coroutine that cannot run, and drops its future. Destructors in it
    /// find the executor, if there is one.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn refused<F>(core: Option<&Core>, name: Name, future: F, owner: Option<OwnerKey>) -> Self {
        let report = Report::Refused {
            name: name.unwrap_or_else(|| name_of::<F>().into()),
            place: Location::caller(),
            reason: core.map_or(Refusal::ExecutorGone, |core| core.refusal(owner)),
        };
        Core::report_refused(core, &report);
        match core {
            Some(core) => scope::enter(core, |_| core::refuse(future)),
            None => core::refuse(future),
        }
        Self::of_refused()
    }
}
