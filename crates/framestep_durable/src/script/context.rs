//! How the waits and effects of a script find the script and its runtime.

use std::rc::Rc;
use std::task::Context;

use framestep::durable::{poll_recorded, record, replay, with_recorder};

use crate::places::GoneOver;
use crate::places::note::{self, Here};
use crate::places::watch::{self, Before};
use crate::script::ScriptCell;

/// Makes a script the current one until it is dropped.
struct Entered<'a> {
    cell: &'a ScriptCell,
    /// The statement of the script before it.
    here: Here,
    before: Before,
}

impl<'a> Entered<'a> {
    #[inline]
    fn new(cell: &'a ScriptCell) -> Self {
        let before = watch::enter(cell);
        let here = note::replace(cell.here.get());
        Entered { cell, here, before }
    }
}

impl Drop for Entered<'_> {
    #[inline]
    fn drop(&mut self) {
        watch::leave(self.before);
        self.cell.here.set(note::replace(self.here));
    }
}

/// Calls `poll`, which polls the script, as the current one.
#[inline(always)]
pub(crate) fn polling<R>(cell: &Rc<ScriptCell>, poll: impl FnOnce(&mut Context<'_>) -> R) -> R {
    let _entered = Entered::new(cell);
    poll_recorded(&**cell, cell.serial, cell.is_live(), poll)
}

/// Calls `f`, in which the script is dropped, as the current one.
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

/// Calls `f` with the current script, if the caller is a part of one.
///
/// While a script is polled, other code may run that is none: a hook of the host, the destructor of a plain coroutine,
/// another executor. A replay would not run that, so it must leave no entries.
#[inline]
fn with_current<R>(f: impl FnOnce(&ScriptCell) -> R) -> Option<R> {
    with_recorder(|recorder| recorder.downcast_ref().map(f)).flatten()
}

/// The current script, if the caller is a part of one.
#[inline]
pub(crate) fn current() -> Option<Rc<ScriptCell>> {
    with_current(ScriptCell::this).flatten()
}

/// The name of the durable script whose own code makes this call. `None` outside of durable
/// scripts, and in their closures, such as that of [`with()`](crate::with()).
///
/// For packages with functions that reach the world without this crate. What such a call does or
/// returns is not recorded: a script that is restored would make it again.
pub fn unrecorded() -> Option<&'static str> {
    with_current(|script| (!script.is_in_closure()).then(|| script.name())).flatten()
}

/// Notes that a loop begins, or its next turn.
pub(crate) fn note_turn(number: u16, is_next: bool) {
    with_current(|script| script.note_turn(number, is_next));
}

/// Notes what a loop goes over, for a script whose saves tell it.
pub(crate) fn note_loop(note: impl FnOnce(&mut GoneOver)) {
    with_current(|script| script.note_loop(note));
}
