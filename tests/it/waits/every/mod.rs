//! All waits in one table, and tests that hold for all of them.

mod complete;
mod elsewhere;
mod ends;
mod misuse;
mod table;

use std::cell::RefCell;
use std::rc::Rc;

use framestep::Executor;
use framestep::prelude::*;

use table::{Boxed, Row, When};
pub(crate) use table::{Stage, table};

/// The number of frames that is enough for each row.
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

/// Starts a script that makes `row`'s wait, passes it to `script`, and notes
/// when that returns.
fn start<F: Future + 'static>(
    executor: &Executor,
    stage: &Stage,
    row: &Row,
    script: impl FnOnce(Boxed) -> F + 'static,
) -> (Coroutine<()>, Over) {
    let over = Over::default();
    let (note, stage, make) = (over.clone(), stage.clone(), row.make);
    let script = executor.start(async move {
        script(make(&stage)).await;
        note.now();
    });
    (script, over)
}

/// Runs all frames that a row may need.
fn run(executor: &mut Executor, stage: &Stage) {
    while executor.time().frame < FRAMES {
        stage.frame(executor, |_| ());
    }
}
