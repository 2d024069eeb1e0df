//! Making coroutines: an executor stores the future, or the future is refused.

use std::future::Future;
use std::panic::Location;
use std::rc::Rc;

use crate::core::Core;
use crate::core::owners::OwnerKey;
use crate::core::report;
use crate::core::scope;
use crate::core::start;
use crate::core::start::{Home, Name, unnamed};
use crate::core::task::name_of;
use crate::inspect::{Refusal, Report};

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
            Some(core) if start::accepts_after_messages(&core, owner) => {
                let task = start::spawn(&core, name, future, home, owner, Location::caller());
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
            Some(core) if start::accepts(&core, owner) => {
                let place = Location::caller();
                let task = match maker {
                    Maker::Script => start::start(&core, name, future, home, owner, place),
                    Maker::Host => start::start_by_host(&core, name, future, home, owner, place),
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
            reason: core.map_or(Refusal::ExecutorGone, |core| start::refusal(core, owner)),
        };
        report::refused(core, &report);
        match core {
            Some(core) => scope::enter(core, |_| start::refuse(future)),
            None => start::refuse(future),
        }
        Self::of_refused()
    }
}
