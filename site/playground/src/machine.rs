//! What all scripts of a run share.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::mem::replace;
use std::rc::Rc;
use std::task::Poll;

use framestep::task::CoroutineId;

use crate::error::{Error, Place};
use crate::tree::Function;

/// Expressions that are evaluated in a frame. A loop without an `.await` has no end.
const STEPS: u32 = 100_000;
/// Scripts that are started in a frame.
const STARTS: u32 = 1_000;
/// Scripts that are alive at the same time. The page draws each of them in each frame.
pub(crate) const ALIVE: usize = 500;
/// Lines that are printed in a run.
const PRINTED: usize = 5_000;

/// The world of the scripts, which the page draws. Scripts borrow it with `with`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct World {
    /// Where the hero is: 0 at the left, 10 at the door.
    pub hero: f32,
    /// How far the door is open: from 0 to 1.
    pub door: f32,
    /// How bright the lamp is: from 0 to 1.
    pub lamp: f32,
    /// The hero's coins.
    pub coins: i64,
}

impl World {
    /// The names of its fields.
    pub(crate) const FIELDS: &str = "`hero`, `door`, `lamp` and `coins`";
}

/// A line that a script has printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The script.
    pub script: CoroutineId,
    /// The text.
    pub text: String,
}

/// Of the poll under way.
#[derive(Default)]
struct Polled {
    /// The line of the outermost `.await`, or macro, of the innermost function.
    line: u32,
    /// Where waits are pending so far.
    lines: Vec<u32>,
}

#[derive(Default)]
pub(crate) struct Machine {
    pub(crate) functions: BTreeMap<Rc<str>, Rc<Function>>,
    /// What has been printed since the last frame.
    pub(crate) printed: RefCell<Vec<Printed>>,
    count: Cell<usize>,
    /// The lines where each script waits.
    lines: RefCell<HashMap<CoroutineId, Vec<u32>>>,
    polled: RefCell<Polled>,
    pub(crate) errors: RefCell<Vec<(CoroutineId, Error)>>,
    steps: Cell<u32>,
    starts: Cell<u32>,
    /// The executor has refused a script, because so many are alive.
    pub(crate) refused: Cell<bool>,
    /// A `with` is under way.
    pub(crate) is_lent: Cell<bool>,
}

impl Machine {
    pub(crate) fn new(functions: BTreeMap<Rc<str>, Rc<Function>>) -> Self {
        Machine {
            functions,
            ..Machine::default()
        }
    }

    pub(crate) fn begin_frame(&self) {
        self.steps.set(0);
        self.starts.set(0);
    }

    /// Counts an expression.
    pub(crate) fn step(&self, place: Place) -> Result<(), Error> {
        self.steps.set(self.steps.get() + 1);
        if self.steps.get() <= STEPS {
            return Ok(());
        }
        // For the other scripts of the frame.
        self.steps.set(0);
        Err(Error::new(
            place,
            "the scripts do too much in this frame: is there a loop without an `.await`? A game would hang here",
        ))
    }

    /// Counts a script.
    pub(crate) fn start(&self, place: Place) -> Result<(), Error> {
        self.starts.set(self.starts.get() + 1);
        if self.starts.get() <= STARTS {
            return Ok(());
        }
        let words = format!("more than {STARTS} scripts are started in this frame");
        Err(Error::new(place, words))
    }

    /// A script has been started, unless too many are alive.
    pub(crate) fn started<R>(&self, place: Place, handle: R) -> Result<R, Error> {
        if !self.refused.take() {
            return Ok(handle);
        }
        let words = format!(
            "more than {ALIVE} scripts are alive: does each of them start others, without end? In a \
             game, `Builder::max_coroutines` sets such a limit"
        );
        Err(Error::new(place, words))
    }

    /// Polls a script. All that it waits for is polled each time, so its lines are those of this
    /// poll. It may be polled inside the poll of another one, which starts it.
    pub(crate) fn poll_script<R>(&self, poll: impl FnOnce() -> R) -> R {
        let outer = self.polled.take();
        let result = poll();
        let Polled { mut lines, .. } = self.polled.replace(outer);
        lines.sort_unstable();
        lines.dedup();
        self.lines
            .borrow_mut()
            .insert(framestep::task::current(), lines);
        result
    }

    /// Polls what an `.await` or a macro waits for. Waits have the line of the outermost of these
    /// in their function, as framestep notes it for compiled scripts.
    pub(crate) fn poll_awaited<R>(&self, line: u32, poll: impl FnOnce() -> Poll<R>) -> Poll<R> {
        let (outer, count) = {
            let mut polled = self.polled.borrow_mut();
            (replace(&mut polled.line, line), polled.lines.len())
        };
        let result = poll();
        let mut polled = self.polled.borrow_mut();
        polled.line = outer;
        if result.is_ready() {
            // What else was pending there is dropped.
            polled.lines.truncate(count);
        }
        result
    }

    /// A wait is pending.
    pub(crate) fn note_wait(&self) {
        let mut polled = self.polled.borrow_mut();
        let line = polled.line;
        polled.lines.push(line);
    }

    /// Where a script waits.
    pub(crate) fn lines_of(&self, script: CoroutineId) -> Vec<u32> {
        self.lines
            .borrow()
            .get(&script)
            .cloned()
            .unwrap_or_default()
    }

    pub(crate) fn print(&self, place: Place, text: String) -> Result<(), Error> {
        self.count.set(self.count.get() + 1);
        if self.count.get() > PRINTED {
            let words = format!("the scripts have printed more than {PRINTED} lines");
            return Err(Error::new(place, words));
        }
        let script = framestep::task::current();
        self.printed.borrow_mut().push(Printed { script, text });
        Ok(())
    }
}
