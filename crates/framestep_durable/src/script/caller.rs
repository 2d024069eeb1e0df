//! What makes a call: a script, the host, or code in another executor.

use std::any::Any;
use std::panic::Location;
use std::rc::{Rc, Weak};

use framestep::durable::{Refused, RuntimeHere, beside, known_beside};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::Bytes;
use crate::events::{Events, Outside};
use crate::journal::site::Call;
use crate::script::{ScriptCell, Shared, context};

/// What makes a call in a runtime.
pub(crate) enum Caller {
    /// A script.
    Script(Rc<ScriptCell>),
    /// The host, in its executor.
    Host(Rc<Shared>),
}

impl Caller {
    pub(crate) fn shared(&self) -> &Rc<Shared> {
        match self {
            Caller::Script(cell) => cell.shared(),
            Caller::Host(shared) => shared,
        }
    }

    pub(crate) fn events(&self) -> &Rc<Events> {
        &self.shared().events
    }
}

/// What an executor keeps.
enum Beside {
    Runtime(Weak<Shared>),
    Outside(Rc<Outside>),
}

/// Notes which executor is that of a runtime.
pub(crate) fn beside_of(shared: &Rc<Shared>) -> Rc<dyn Any> {
    Rc::new(Beside::Runtime(Rc::downgrade(shared)))
}

/// What makes this call, if it is in a runtime.
///
/// A script that steps another executor in a closure is not in its own runtime there. A script that is replayed is in
/// no executor.
#[inline]
pub(crate) fn caller() -> Option<Caller> {
    match context::current() {
        Some(cell) => Some(Caller::Script(cell)),
        None => Some(Caller::Host(runtime()?)),
    }
}

/// The runtime whose executor runs the caller.
fn runtime() -> Option<Rc<Shared>> {
    match known_beside()?.downcast_ref()? {
        Beside::Runtime(shared) => shared.upgrade(),
        Beside::Outside(_) => None,
    }
}

/// The runtime of the caller, for the sources that code finds by name.
#[derive(Debug)]
pub(crate) struct Here;

impl RuntimeHere for Here {
    fn is_here() -> bool {
        caller().is_some()
    }
}

/// Does something with the signals, watches, semaphores and promises of the runtime. In a script, that is an effect;
/// its result is the default of its type if it must not be done.
pub(crate) fn in_runtime<R: Serialize + DeserializeOwned + Default>(
    call: Call,
    act: impl FnOnce(&Rc<Events>) -> R,
) -> Result<R, Refused> {
    match caller() {
        Some(Caller::Script(cell)) => Ok(in_script(&cell, call, act)),
        Some(Caller::Host(shared)) => Ok(act(&shared.events)),
        None => Err(outside_of_runtimes(call.function)),
    }
}

fn in_script<R: Serialize + DeserializeOwned + Default>(
    cell: &Rc<ScriptCell>,
    call: Call,
    act: impl FnOnce(&Rc<Events>) -> R,
) -> R {
    let call = call.giving::<R>();
    let done = cell.effect(call, || Bytes::of(&act(cell.events())));
    done.and_then(|done| done.read()).unwrap_or_default()
}

/// The script of the caller, for a wait or what it keeps.
///
/// # Errors
///
/// If it is called by the host, by a coroutine that is no durable script, or in a closure.
#[inline]
pub(crate) fn in_script_of(call: &str) -> Result<Rc<ScriptCell>, Refused> {
    match caller() {
        Some(Caller::Script(cell)) if cell.is_in_closure() => Err(in_a_closure(call, cell.name())),
        Some(Caller::Script(cell)) => Ok(cell),
        Some(Caller::Host(_)) => Err(of_no_script(call)),
        None => Err(outside_of_scripts(call)),
    }
}

/// The same, of a call at `at` that panics if there is none.
#[inline]
pub(crate) fn expect_script(call: &str, at: &Location<'_>) -> Rc<ScriptCell> {
    in_script_of(call).unwrap_or_else(|why| refuse(&why, at))
}

#[cold]
pub(crate) fn refuse(why: &str, at: &Location<'_>) -> ! {
    panic!("{why} (the call is at {at})")
}

/// Why a call is refused in a closure of a script.
#[cold]
pub(crate) fn in_a_closure(call: &str, script: &str) -> Refused {
    format!(
        "`{call}` was called inside of a closure of the script `{script}`, such as that of `with`: a restored script does \
         not call it again, so what waits, or is kept for later, has to begin outside of it. Call it before or after the \
         `with`"
    )
}

#[cold]
pub(crate) fn outside_of_scripts(call: &str) -> Refused {
    format!(
        "`{call}` was called outside of a durable script: it belongs to a runtime of durable scripts. Scripts that are not \
         durable use framestep's own"
    )
}

#[cold]
fn of_no_script(call: &str) -> Refused {
    format!(
        "`{call}` was called by the host of a runtime, or by a coroutine in its executor that is not a durable script: \
         make the call in one that is started with `Runtime::start`, or in an executor of its own"
    )
}

#[cold]
fn outside_of_runtimes(call: &str) -> Refused {
    format!(
        "`{call}` was called outside of a script: the host calls it inside of `Runtime::enter` or `Executor::enter`"
    )
}

/// What the executor of the caller keeps for plain scripts.
///
/// # Panics
///
/// If it is that of a runtime, or there is none.
#[track_caller]
pub(crate) fn outside(call: &str) -> Rc<Outside> {
    let kept = beside(|| Rc::new(Beside::Outside(Outside::new())));
    match kept.as_deref().and_then(<dyn Any>::downcast_ref) {
        Some(Beside::Outside(outside)) => Rc::clone(outside),
        Some(Beside::Runtime(_)) => panic!("{}", of_no_script(call)),
        None => panic!("{}", outside_of_runtimes(call)),
    }
}

/// Does something with the promises that the caller has.
///
/// # Panics
///
/// Outside of an executor.
#[track_caller]
pub(crate) fn in_place<R: Serialize + DeserializeOwned + Default>(
    call: Call,
    in_runtime: impl FnOnce(&Events) -> R,
    in_other: impl FnOnce(&Outside) -> R,
) -> R {
    match caller() {
        Some(Caller::Script(cell)) => in_script(&cell, call, |events| in_runtime(events)),
        Some(Caller::Host(shared)) => in_runtime(&shared.events),
        None => in_other(&outside(call.function)),
    }
}

/// How many promises the executor of the caller keeps for plain scripts. For tests.
#[doc(hidden)]
#[must_use]
#[track_caller]
pub fn promises_outside() -> usize {
    outside("promises_outside").sweep()
}
