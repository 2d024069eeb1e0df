//! Making coroutines: an executor stores the future, or the future is refused.

use std::borrow::Cow;
use std::future::Future;
use std::panic::Location;
use std::rc::Rc;

use crate::core::Core;
use crate::core::life::start::{self, Home, Name};
use crate::core::owners::OwnerKey;
use crate::core::report;
use crate::core::scope::{self, Inside, Scope, recording};
use crate::core::task::{MoveIn, Moved, Moving, move_in};
use crate::inspect::{Line, Report, SpawnError, script_name};
use crate::time::Phase;

use super::handle::Coroutine;

/// Adds a coroutine where `maker` says.
#[inline]
#[track_caller]
pub(crate) fn spawn<F: Future + 'static>(maker: impl Maker, future: F) -> Coroutine<F::Output> {
    Coroutine::made(move_in(future, Make::<_, false>(maker)))
}

/// The same, and polls it up to its first wait.
#[inline]
#[track_caller]
pub(crate) fn start<F: Future + 'static>(maker: impl Maker, future: F) -> Coroutine<F::Output> {
    Coroutine::made(move_in(future, Make::<_, true>(maker)))
}

/// A call that makes a coroutine. What it says is resolved in code that is compiled once, and not
/// for each future.
pub(crate) trait Maker {
    #[track_caller]
    fn resolve(self) -> (Place, Line);
}

/// A call of the free function with this name. The coroutine has the home and the owner that the
/// caller's coroutines inherit.
pub(crate) struct ByScript(pub(crate) &'static str);

impl Maker for ByScript {
    #[inline(always)]
    #[track_caller]
    fn resolve(self) -> (Place, Line) {
        (Place::of_script(self.0), Location::caller())
    }
}

/// A call of a method of an executor.
impl Maker for &Rc<Core> {
    #[inline(always)]
    #[track_caller]
    fn resolve(self) -> (Place, Line) {
        (Place::of_host(Some(self.clone())), Location::caller())
    }
}

/// Any other call.
impl Maker for Place {
    #[inline(always)]
    #[track_caller]
    fn resolve(self) -> (Place, Line) {
        (self, Location::caller())
    }
}

/// The same, made for a call at this line.
impl Maker for (Place, Line) {
    #[inline(always)]
    fn resolve(self) -> (Place, Line) {
        self
    }
}

/// Where a coroutine is made: all that is to be known about it besides its future.
pub(crate) struct Place {
    /// `None` if the executor has been dropped.
    core: Option<Rc<Core>>,
    by_host: bool,
    home: Home,
    owner: Option<OwnerKey>,
    name: Name,
}

impl Place {
    /// Of a call of a method of an executor or its handle.
    #[inline]
    pub(crate) fn of_host(core: Option<Rc<Core>>) -> Self {
        Place {
            core,
            by_host: true,
            home: Home::HOST,
            owner: None,
            name: None,
        }
    }

    /// Of a call of a method of an owner.
    pub(crate) fn of_owner(core: Option<Rc<Core>>, owner: OwnerKey) -> Self {
        Place {
            home: Home::in_call(core.as_deref()),
            owner: Some(owner),
            ..Place::of_host(core)
        }
    }

    /// Of a call of the free function with this name.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn of_script(function: &'static str) -> Self {
        match scope::with_inlined(Heritage) {
            Some(place) => place,
            None => Self::of_recorded(function),
        }
    }

    /// The same in a script that records what it does, or outside of an executor.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn of_recorded(function: &'static str) -> Self {
        recording::refuse(function);
        match scope::with(|scope| scope.map(Self::in_scope)) {
            Some(place) => place,
            // In a destructor of a coroutine that is replayed and unwinds, a second panic would end the process.
            None if recording::is_recording() && std::thread::panicking() => Self::of_host(None),
            None => outside(function),
        }
    }

    #[inline(always)]
    fn in_scope(scope: &Scope<'_>) -> Self {
        let (home, owner) = scope.heritage();
        Place {
            core: Some(scope.core().rc()),
            by_host: false,
            home: Home::Inherited(home),
            owner,
            name: None,
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

struct Heritage;

impl Inside for Heritage {
    type Output = Option<Place>;

    #[inline(always)]
    fn call(self, scope: Option<&Scope<'_>>) -> Option<Place> {
        let plain = scope.filter(|scope| !scope.is_recorded());
        plain.map(Place::in_scope)
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

/// Starts a coroutine, or else spawns it.
struct Make<M, const STARTS: bool>(M);

impl<M: Maker, const STARTS: bool> MoveIn for Make<M, STARTS> {
    type Beside = Rc<Core>;

    #[inline(never)]
    #[track_caller]
    fn move_in(self, future: Moving<'_>) -> Option<(Rc<Core>, Moved<'_>)> {
        let (place, line) = self.0.resolve();
        make::<STARTS>(place, future, line)
    }
}

#[inline(always)]
fn make<const STARTS: bool>(
    place: Place,
    future: Moving<'_>,
    line: Line,
) -> Option<(Rc<Core>, Moved<'_>)> {
    let Place {
        core,
        by_host,
        home,
        owner,
        name,
    } = place;
    let accepts = |core: &Rc<Core>| {
        if STARTS {
            start::accepts(core, owner)
        } else {
            start::accepts_after_messages(core, owner)
        }
    };
    match core {
        Some(core) if accepts(&core) => {
            let task = if STARTS {
                let _noted = by_host.then(|| start::note_host(&core, line));
                start::start(&core, name, future, home, owner, line)
            } else {
                start::spawn(&core, name, future, home, owner, line)
            };
            Some((core, task))
        }
        core => {
            refuse(core.as_deref(), name, future, owner, line);
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
    place: Line,
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
