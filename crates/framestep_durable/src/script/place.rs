//! Where a call is made: in a script, by the host, or in another executor.

use std::any::Any;
use std::rc::{Rc, Weak};

use framestep::durable::beside;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::Bytes;
use crate::events::{Events, Outside};
use crate::journal::site::Call;
use crate::script::{ScriptCell, context};

/// Where a call is made.
pub(crate) enum Place {
    /// In a durable script.
    Script(Rc<ScriptCell>),
    /// In the executor of a runtime, by its host.
    Runtime(Rc<Events>),
    /// In another executor.
    Outside(Rc<Outside>),
}

/// What an executor keeps.
enum Beside {
    Runtime(Weak<Events>),
    Outside(Rc<Outside>),
}

/// Notes which executor is that of a runtime.
pub(crate) fn beside_of(events: &Rc<Events>) -> Rc<dyn Any> {
    Rc::new(Beside::Runtime(Rc::downgrade(events)))
}

/// Where the caller is.
///
/// # Panics
///
/// Outside of an executor.
#[track_caller]
pub(crate) fn place(call: &str) -> Place {
    if let Some(cell) = context::current() {
        return Place::Script(cell);
    }
    let kept = beside(|| Rc::new(Beside::Outside(Outside::new())));
    match kept.as_deref().and_then(<dyn Any>::downcast_ref) {
        Some(Beside::Outside(outside)) => Place::Outside(Rc::clone(outside)),
        Some(Beside::Runtime(events)) => match events.upgrade() {
            Some(events) => Place::Runtime(events),
            None => refuse(call),
        },
        None => refuse(call),
    }
}

/// The same for something that the script keeps.
///
/// # Panics
///
/// Outside of an executor, or in a closure of a durable script.
#[track_caller]
pub(crate) fn place_outside_of_closures(call: &str) -> Place {
    context::find_outside_of_closures(call);
    place(call)
}

/// The table of the executor that polls a plain script.
///
/// # Panics
///
/// If it is that of a runtime, or there is none.
#[track_caller]
pub(crate) fn outside(call: &str) -> Rc<Outside> {
    match place(call) {
        Place::Outside(outside) => outside,
        Place::Script(_) | Place::Runtime(_) => panic!(
            "`{call}` was polled by a coroutine in the executor of a runtime that is not a durable \
             script: start it with `Runtime::start`, or in an executor of its own"
        ),
    }
}

/// Does something with the signals, values, permits and promises that the caller has. In a durable script,
/// that is an effect; its result is the default of its type if it must not be done.
///
/// # Panics
///
/// Outside of an executor.
#[track_caller]
pub(crate) fn in_place<R: Serialize + DeserializeOwned + Default>(
    caller: Call,
    in_runtime: impl FnOnce(&Events) -> R,
    in_other: impl FnOnce(&Outside) -> R,
) -> R {
    match place(caller.function) {
        Place::Script(cell) => {
            let caller = caller.giving::<R>();
            let done = cell.effect(caller, || Bytes::of(&in_runtime(cell.events())));
            done.and_then(|done| done.read()).unwrap_or_default()
        }
        Place::Runtime(events) => in_runtime(&events),
        Place::Outside(outside) => in_other(&outside),
    }
}

#[cold]
#[track_caller]
fn refuse(call: &str) -> ! {
    panic!(
        "`{call}` was called outside of a script. The host of a runtime calls the method of \
         `Runtime` or `RuntimeHandle`. The host of another executor calls it inside of `Executor::enter`"
    )
}

/// How many signals, values, permits and promises the executor of the caller keeps for plain
/// scripts. For tests.
#[doc(hidden)]
#[must_use]
#[track_caller]
pub fn entries_outside() -> [usize; 4] {
    outside("entries_outside").entries()
}
