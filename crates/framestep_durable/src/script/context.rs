//! How the waits and effects of a script find the script and its runtime.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::rc::Rc;

use framestep::durable::{is_recorded_by, record, replay};

use crate::places::GoneOver;
use crate::places::note::{self, Here};
use crate::places::watch;
use crate::script::ScriptCell;

/// A script, or none.
type Current = ManuallyDrop<Option<Rc<ScriptCell>>>;

thread_local! {
    /// The script that is being polled, replayed or dropped: the innermost one.
    ///
    /// Without a destructor it is there until the thread has ended: the destructors of other
    /// thread-locals may drop a runtime. Nothing leaks, since each [`Entered`] puts back what was
    /// there before, which is none at last.
    static CURRENT: Cell<Current> = const { Cell::new(ManuallyDrop::new(None)) };
}

fn replace(script: Option<Rc<ScriptCell>>) -> Option<Rc<ScriptCell>> {
    let before = CURRENT.with(|current| current.replace(ManuallyDrop::new(script)));
    ManuallyDrop::into_inner(before)
}

/// Makes a script the current one until it is dropped.
struct Entered {
    before: Option<Rc<ScriptCell>>,
    /// The statement of that script.
    here: Here,
}

impl Entered {
    #[inline]
    fn new(cell: &Rc<ScriptCell>) -> Self {
        let before = replace(Some(Rc::clone(cell)));
        watch::enter(Some(cell));
        let here = note::replace(cell.here.get());
        Entered { before, here }
    }
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        watch::enter(self.before.as_deref());
        let entered = replace(self.before.take());
        let here = note::replace(self.here);
        if let Some(entered) = &entered {
            entered.here.set(here);
        }
        drop(entered);
    }
}

/// Calls `f`, in which the script is polled or dropped, as the current one.
#[inline]
pub(crate) fn within<R>(cell: &Rc<ScriptCell>, f: impl FnOnce() -> R) -> R {
    let _entered = Entered::new(cell);
    record(&**cell, cell.serial, cell.is_live(), f)
}

/// The same for one that has no coroutine, or must not reach it: it is replayed, or dropped silently.
pub(crate) fn within_replay<R>(cell: &Rc<ScriptCell>, f: impl FnOnce() -> R) -> R {
    let _entered = Entered::new(cell);
    replay(&**cell, cell.serial, f)
}

/// Calls `f` with the current script, if the caller is a part of it.
///
/// While it is polled, other code may run that is none: a hook of the host, the destructor of a plain coroutine, another
/// executor. A replay would not run that, so it must leave no entries.
#[inline]
fn with_current<R>(f: impl FnOnce(Option<&Rc<ScriptCell>>) -> R) -> R {
    CURRENT.with(|current| {
        let script = current.take();
        let records = |script: &&Rc<ScriptCell>| is_recorded_by(script.serial);
        let found = f(script.as_ref().filter(records));
        current.set(script);
        found
    })
}

/// The current script, if the caller is a part of one.
#[inline]
pub(crate) fn current() -> Option<Rc<ScriptCell>> {
    with_current(|script| script.map(Rc::clone))
}

/// The name of the durable script whose own code makes this call. `None` outside of durable
/// scripts, and in their closures, such as that of [`with()`](crate::with()).
///
/// For packages with functions that reach the world without this crate. What such a call does or
/// returns is not recorded: a script that is restored would make it again.
pub fn unrecorded() -> Option<&'static str> {
    with_current(|script| {
        let script = script.filter(|script| !script.is_in_closure());
        script.map(|script| script.name())
    })
}

/// Notes that a loop over a list begins, or its next turn. Only a replay of changed code counts them.
pub(crate) fn note_turn(number: u16, is_next: bool) {
    with_current(|script| {
        if let Some(cell) = script {
            cell.note_turn(number, is_next);
        }
    });
}

/// Notes what a loop goes over, for a script whose saves tell it.
pub(crate) fn note_loop(note: impl FnOnce(&mut GoneOver)) {
    with_current(|script| {
        if let Some(cell) = script {
            cell.note_loop(note);
        }
    });
}

/// The current script, for an effect.
///
/// # Panics
///
/// If there is none.
#[track_caller]
pub(crate) fn expect(name: &str) -> Rc<ScriptCell> {
    match current() {
        Some(script) => script,
        None => refuse(name, None, Location::caller()),
    }
}

/// The current script, for a wait or a guard.
///
/// # Panics
///
/// If there is none, or one of its closures is called, such as that of `with`.
#[inline]
#[track_caller]
pub(crate) fn expect_outside_of_closures(name: &str) -> Rc<ScriptCell> {
    match find_outside_of_closures(name) {
        Some(script) => script,
        None => refuse(name, None, Location::caller()),
    }
}

/// The current script, for a wait or a guard. `None` if there is none.
///
/// # Panics
///
/// If one of its closures is called, such as that of `with`.
#[inline]
#[track_caller]
pub(crate) fn find_outside_of_closures(name: &str) -> Option<Rc<ScriptCell>> {
    let script = current()?;
    if script.is_in_closure() {
        refuse(name, Some(&script), Location::caller());
    }
    Some(script)
}

#[cold]
#[track_caller]
pub(crate) fn refuse(name: &str, current: Option<&ScriptCell>, at: &Location<'_>) -> ! {
    panic!("{} (the call is at {at})", refusal(name, current))
}

/// Why a call is refused outside of a script, or in a closure of one.
#[cold]
pub(crate) fn refusal(name: &str, current: Option<&ScriptCell>) -> String {
    match current {
        None => format!(
            "`{name}` was called outside of a durable script: it belongs to a runtime of durable \
             scripts. Scripts that are not durable use framestep's own"
        ),
        Some(cell) => format!(
            "`{name}` was called inside of a closure of the script `{}`, such as that of `with`: \
             a restored script does not call it again, so what waits, or is kept for later, has \
             to begin outside of it. Call it before or after the `with`",
            cell.name()
        ),
    }
}
