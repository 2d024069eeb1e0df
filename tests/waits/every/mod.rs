//! Tests that hold for every wait, and the check that the table has all of them.

mod complete;
mod elsewhere;
mod ends;
mod misuse;

use std::cell::RefCell;
use std::rc::Rc;

use framestep::Executor;
use framestep::prelude::*;

use framestep_testkit::Stage;
use framestep_testkit::waits::{Boxed, Case, When};

/// The number of frames that is enough for each case.
const FRAMES: u64 = 8;

/// When something was over.
#[derive(Clone, Default)]
struct Over(Rc<RefCell<Option<When>>>);

impl Over {
    fn now(&self) {
        let time = time();
        let when = When(time.frame, time.phase.expect("in a run"));
        let before = self.0.replace(Some(when));
        assert_eq!(before, None, "it is over once");
    }

    fn get(&self) -> Option<When> {
        *self.0.borrow()
    }
}

/// Starts a script that makes the wait of `case`, passes it to `script`, and notes when
/// that returns.
fn start<F: Future + 'static>(
    executor: &Executor,
    stage: &Stage,
    case: &Case,
    script: impl FnOnce(Boxed) -> F + 'static,
) -> (Coroutine<()>, Over) {
    let over = Over::default();
    let (note, given, case) = (over.clone(), stage.given.clone(), *case);
    let script = executor.start(async move {
        script(case.make(&given)).await;
        note.now();
    });
    (script, over)
}

/// Runs all frames that a case may need.
fn run(executor: &mut Executor, stage: &Stage) {
    stage.run_to(FRAMES, executor);
}
