//! Where a call is made: in a script, by the host, or in another executor.

use std::any::Any;
use std::rc::{Rc, Weak};

use framestep::durable::{Refused, RuntimeHere, beside, known_beside};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::Bytes;
use crate::events::{Events, Outside};
use crate::journal::site::Call;
use crate::script::{ScriptCell, Shared, context};

/// Where a call is made in a runtime.
pub(crate) enum Place {
    /// In a script.
    Script(Rc<ScriptCell>),
    /// In the executor, by the host.
    Host(Rc<Shared>),
}

impl Place {
    pub(crate) fn shared(&self) -> &Rc<Shared> {
        match self {
            Place::Script(cell) => cell.shared(),
            Place::Host(shared) => shared,
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

/// Where the caller is, if it is in a runtime.
///
/// A script that steps another executor in a closure is not in its own runtime there. A script that is replayed is in
/// no executor.
pub(crate) fn place() -> Option<Place> {
    if let Some(cell) = context::current() {
        return Some(Place::Script(cell));
    }
    match known_beside()?.downcast_ref()? {
        Beside::Runtime(shared) => Some(Place::Host(shared.upgrade()?)),
        Beside::Outside(_) => None,
    }
}

/// The runtime of the caller, for the sources that code finds by name.
#[derive(Debug)]
pub(crate) struct Here;

impl RuntimeHere for Here {
    fn is_here() -> bool {
        place().is_some()
    }
}

/// Does something with the signals, watches, semaphores and promises of the runtime. In a script, that is an effect;
/// its result is the default of its type if it must not be done.
pub(crate) fn in_runtime<R: Serialize + DeserializeOwned + Default>(
    call: Call,
    act: impl FnOnce(&Rc<Events>) -> R,
) -> Result<R, Refused> {
    match place() {
        Some(Place::Script(cell)) => Ok(in_script(&cell, call, act)),
        Some(Place::Host(shared)) => Ok(act(&shared.events)),
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
pub(crate) fn in_script_of(call: &str) -> Result<Rc<ScriptCell>, Refused> {
    match place() {
        Some(Place::Script(cell)) if cell.is_in_closure() => {
            Err(context::refusal(call, Some(&cell)))
        }
        Some(Place::Script(cell)) => Ok(cell),
        Some(Place::Host(_)) => Err(of_no_script(call)),
        None => Err(outside_of_runtimes(call)),
    }
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
    match place() {
        Some(Place::Script(cell)) => in_script(&cell, call, |events| in_runtime(events)),
        Some(Place::Host(shared)) => in_runtime(&shared.events),
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
