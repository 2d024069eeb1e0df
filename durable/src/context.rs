//! How the waits and effects of a script find the script and its runtime.

use std::cell::RefCell;
use std::rc::Rc;

use crate::cell::ScriptCell;

thread_local! {
    /// The scripts that are being polled, replayed or dropped: the innermost last.
    static STACK: RefCell<Vec<Rc<ScriptCell>>> = const { RefCell::new(Vec::new()) };
}

/// Makes a script the current one until it is dropped.
pub(crate) struct Entered(());

impl Drop for Entered {
    fn drop(&mut self) {
        // The thread may be ending: then nothing is current any more.
        let popped = STACK.try_with(|stack| stack.borrow_mut().pop());
        drop(popped);
    }
}

/// Makes a script the current one.
#[inline]
pub(crate) fn enter(cell: &Rc<ScriptCell>) -> Entered {
    STACK.with(|stack| stack.borrow_mut().push(Rc::clone(cell)));
    Entered(())
}

/// The current script, if there is one.
#[inline]
pub(crate) fn current() -> Option<Rc<ScriptCell>> {
    let current = STACK.try_with(|stack| stack.borrow().last().cloned());
    current.ok().flatten()
}

/// The current script.
///
/// # Panics
///
/// If there is none, or it is inside a step.
#[inline]
#[track_caller]
pub(crate) fn expect(name: &str) -> Rc<ScriptCell> {
    match current() {
        Some(cell) if !cell.is_in_step() => cell,
        current => refuse(name, current.as_deref()),
    }
}

#[cold]
#[track_caller]
fn refuse(name: &str, current: Option<&ScriptCell>) -> ! {
    match current {
        None => panic!(
            "`{name}` was called outside of a durable script: scripts that are not durable use \
             framestep's own"
        ),
        Some(cell) => panic!(
            "`{name}` was called inside of a step of the script `{}`: a step is one effect, which \
             is not done again when the script is restored. Call it before or after the step",
            cell.name()
        ),
    }
}
