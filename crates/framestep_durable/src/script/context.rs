//! How the waits and effects of a script find the script and its runtime.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::rc::Rc;

use framestep::durable::{is_recorded_by, record, replay};

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
