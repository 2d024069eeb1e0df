//! Where the waits and effects of a script find it, and its runtime.

use std::cell::RefCell;
use std::rc::Rc;

use crate::cell::ScriptCell;
use crate::shared::Shared;

/// The script that is being polled, read its journal, or dropped.
#[derive(Clone)]
pub(crate) struct Current {
    pub(crate) shared: Rc<Shared>,
    pub(crate) cell: Rc<ScriptCell>,
}

thread_local! {
    static STACK: RefCell<Vec<Current>> = const { RefCell::new(Vec::new()) };
}

/// The current script, until it is dropped.
pub(crate) struct Entered(());

impl Drop for Entered {
    fn drop(&mut self) {
        // The thread may be ending: then nothing is current any more.
        let popped = STACK.try_with(|stack| stack.borrow_mut().pop());
        drop(popped);
    }
}

/// Makes a script the current one.
pub(crate) fn enter(shared: &Rc<Shared>, cell: &Rc<ScriptCell>) -> Entered {
    let current = Current {
        shared: Rc::clone(shared),
        cell: Rc::clone(cell),
    };
    STACK.with(|stack| stack.borrow_mut().push(current));
    Entered(())
}

/// Calls `f` with the current script.
pub(crate) fn with<R>(f: impl FnOnce(&Current) -> R) -> Option<R> {
    let current = STACK.try_with(|stack| stack.borrow().last().cloned());
    current.ok().flatten().as_ref().map(f)
}

/// The current script.
///
/// # Panics
///
/// If there is none, or it is inside of a step.
#[track_caller]
pub(crate) fn expect(call: &str) -> Current {
    let current = STACK.with(|stack| stack.borrow().last().cloned());
    let Some(current) = current else {
        panic!(
            "`{call}` was called outside of a durable script: scripts that are not durable use \
             framestep's own"
        )
    };
    assert!(
        !current.cell.is_in_step(),
        "`{call}` was called inside of a step of the script `{}`: a step is one effect, which \
         is not done again when the script is restored. Call it before or after the step",
        current.cell.name()
    );
    current
}
