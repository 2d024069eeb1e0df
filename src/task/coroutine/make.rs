//! Making coroutines: an executor stores the future, or the future is refused.

use std::borrow::Cow;
use std::future::Future;
use std::panic::Location;
use std::rc::Rc;

use crate::core::Core;
use crate::core::life::start;
use crate::core::life::start::{Home, Name};
use crate::core::owners::OwnerKey;
use crate::core::report;
use crate::core::scope::{self, Inside, Scope};
use crate::core::task::{MoveIn, Moved, Moving, move_in};
use crate::inspect::{Report, SpawnError, script_name};
use crate::time::Phase;

use super::handle::Coroutine;

/// Adds a coroutine to an executor. `maker` says to which one.
#[inline]
#[track_caller]
pub(crate) fn spawn<M, F>(maker: M, future: F) -> Coroutine<F::Output>
where
    F: Future + 'static,
    Spawn<M>: MoveIn<Beside = Rc<Core>>,
{
    match move_in(future, Spawn(maker)) {
        Some((core, task)) => Coroutine::of(core, task),
        None => Coroutine::of_refused(),
    }
}

/// Adds a coroutine to an executor, and polls it up to its first wait.
#[inline]
#[track_caller]
pub(crate) fn start<M, F>(maker: M, future: F) -> Coroutine<F::Output>
where
    F: Future + 'static,
    Start<M>: MoveIn<Beside = Rc<Core>>,
{
    match move_in(future, Start(maker)) {
        Some((core, task)) => Coroutine::of(core, task),
        None => Coroutine::of_refused(),
    }
}

/// A maker: a call of the free function with this name. The coroutine has the home and the
/// owner that the caller's coroutines inherit.
pub(crate) struct ByScript(pub(crate) &'static str);

/// A maker: a call of a method of this executor.
pub(crate) struct ByHost<'a>(pub(crate) &'a Rc<Core>);

/// A maker: any other call, and all that has to be known about its coroutine.
pub(crate) struct Resolved {
    /// `None` if the executor has been dropped.
    core: Option<Rc<Core>>,
    by_host: bool,
    home: Home,
    owner: Option<OwnerKey>,
    name: Name,
}

impl Resolved {
    /// Of a call of a method of an executor or its handle.
    #[inline]
    pub(crate) fn of_host(core: Option<Rc<Core>>) -> Self {
        Resolved {
            core,
            by_host: true,
            home: Home::HOST,
            owner: None,
            name: None,
        }
    }

    /// Of a call of a method of an owner.
    pub(crate) fn of_owner(core: Option<Rc<Core>>, owner: OwnerKey) -> Self {
        Resolved {
            home: Home::in_call(core.as_deref()),
            owner: Some(owner),
            ..Resolved::of_host(core)
        }
    }

    /// With `phase` as home.
    pub(crate) fn at(mut self, phase: Phase) -> Self {
        self.home = Home::named(phase);
        self
    }

    pub(super) fn named(mut self, name: Cow<'static, str>) -> Self {
        self.name = Some(name);
        self
    }

    pub(super) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }
}

/// A maker: a call of a method that has the line of its caller, and calls from within a closure.
pub(crate) struct Placed(pub(crate) Resolved, pub(crate) &'static Location<'static>);

impl MoveIn for Start<Placed> {
    type Beside = Rc<Core>;

    #[inline(never)]
    #[track_caller]
    fn move_in(self, future: Moving<'_>) -> Option<(Rc<Core>, Moved<'_>)> {
        let Placed(resolved, place) = self.0;
        start_resolved(resolved, future, place)
    }
}

/// Panics, because a free function was called outside of an executor.
#[cold]
#[track_caller]
pub(crate) fn outside(function: &str) -> ! {
    panic!(
        "`{function}` was called outside of an executor: call it in a coroutine or inside \
         `Executor::enter`, or use the method of the same name of `Executor` or `Handle`"
    )
}

impl ByScript {
    #[inline(always)]
    #[track_caller]
    pub(crate) fn resolve(self) -> Resolved {
        struct Heritage;

        impl Inside for Heritage {
            type Output = Option<Resolved>;

            #[inline(always)]
            fn call(self, scope: Option<&Scope<'_>>) -> Option<Resolved> {
                let scope = scope?;
                let (home, owner) = scope.heritage();
                Some(Resolved {
                    core: Some(scope.core().rc()),
                    by_host: false,
                    home: Home::Inherited(home),
                    owner,
                    name: None,
                })
            }
        }

        match scope::with_inlined(Heritage) {
            Some(resolved) => resolved,
            None => outside(self.0),
        }
    }
}

/// Spawns what a maker makes. Nothing of it is compiled for each future.
pub(crate) struct Spawn<M>(M);

/// The same for a start.
pub(crate) struct Start<M>(M);

macro_rules! maker {
    ($maker:ty, $maker_of:ident => $resolved:expr) => {
        impl MoveIn for Spawn<$maker> {
            type Beside = Rc<Core>;

            #[inline(never)]
            #[track_caller]
            fn move_in(self, future: Moving<'_>) -> Option<(Rc<Core>, Moved<'_>)> {
                let $maker_of = self.0;
                spawn_resolved($resolved, future, Location::caller())
            }
        }

        impl MoveIn for Start<$maker> {
            type Beside = Rc<Core>;

            #[inline(never)]
            #[track_caller]
            fn move_in(self, future: Moving<'_>) -> Option<(Rc<Core>, Moved<'_>)> {
                let $maker_of = self.0;
                start_resolved($resolved, future, Location::caller())
            }
        }
    };
}

maker!(ByScript, maker => maker.resolve());
maker!(ByHost<'_>, maker => Resolved::of_host(Some(Rc::clone(maker.0))));
maker!(Resolved, maker => maker);

#[inline(always)]
fn spawn_resolved<'f>(
    resolved: Resolved,
    future: Moving<'f>,
    place: &'static Location<'static>,
) -> Option<(Rc<Core>, Moved<'f>)> {
    let Resolved {
        core,
        home,
        owner,
        name,
        ..
    } = resolved;
    match core {
        Some(core) if start::accepts_after_messages(&core, owner) => {
            let task = start::spawn(&core, name, future, home, owner, place);
            Some((core, task))
        }
        core => {
            refuse(core.as_deref(), name, future, owner, place);
            None
        }
    }
}

#[inline(always)]
fn start_resolved<'f>(
    resolved: Resolved,
    future: Moving<'f>,
    place: &'static Location<'static>,
) -> Option<(Rc<Core>, Moved<'f>)> {
    let Resolved {
        core,
        by_host,
        home,
        owner,
        name,
    } = resolved;
    match core {
        Some(core) if start::accepts(&core, owner) => {
            let noted = by_host.then(|| start::note_host(&core, place));
            let task = start::start(&core, name, future, home, owner, place);
            drop(noted);
            Some((core, task))
        }
        core => {
            refuse(core.as_deref(), name, future, owner, place);
            None
        }
    }
}

/// Reports a coroutine that cannot run, and drops its future. Destructors in it find the
/// executor, if there is one.
#[cold]
#[inline(never)]
pub(crate) fn refuse(
    core: Option<&Core>,
    name: Name,
    future: Moving<'_>,
    owner: Option<OwnerKey>,
    place: &'static Location<'static>,
) {
    let report = Report::Refused {
        name: name.unwrap_or_else(|| script_name(future.type_name()).into()),
        place,
        reason: core.map_or(SpawnError::ExecutorGone, |core| {
            start::spawn_error(core, owner)
        }),
    };
    report::refused(core, &report);
    match core {
        Some(core) => scope::enter(core, |_| start::refuse(future)),
        None => start::refuse(future),
    }
}
