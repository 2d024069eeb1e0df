//! How deep ends nest: those of coroutines and of executors.
//!
//! An end runs user code in the middle of other user code. A destructor may stop a
//! coroutine or drop an executor, whose destructors do the same. Such ends nest to a
//! depth of [`MAX_DEPTH`] on a thread, whichever executors they belong to. Deeper ones
//! are deferred. The outermost end carries them out before it is over, and so does the
//! end of their executor. A task with a deferred stop is not polled any more, and
//! neither are the tasks of an executor with a deferred end.
//!
//! A destructor may spawn another coroutine and stop it, and so on without end. So the
//! ends that one outermost end causes in an executor have a limit: the number of tasks,
//! plus the polls that a run may take for spawns. The next run of any phase carries out
//! the rest, with a limit of its own.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::rc::Rc;

use crate::core::Core;
use crate::core::life::end::deferred::End;
use crate::core::life::end::{self, close};
use crate::core::run::runaway::{self, Reached};

/// The depth to which starts nest on a thread, and ends. Deeper ones are deferred.
pub(crate) const MAX_DEPTH: u32 = 100;

thread_local! {
    /// How many ends are nested now on this thread.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The number of the latest outermost end.
    static OUTERMOST: Cell<u64> = const { Cell::new(0) };
    /// The executors with deferred ends. Without a destructor, so that executors can end
    /// in the destructors of other thread-locals. The list is empty by then.
    static LISTED: ManuallyDrop<RefCell<Vec<Rc<Core>>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// Counts a nested end; undone on drop, even when unwinding. The outermost one carries
/// out the deferred ends.
pub(crate) struct Deeper(());

impl Deeper {
    pub(crate) fn new(core: &Core) -> Self {
        let depth = DEPTH.get();
        DEPTH.set(depth + 1);
        if depth == 0 {
            OUTERMOST.set(OUTERMOST.get() + 1);
        }
        let left = left(core);
        left.set(left.get().saturating_sub(1));
        Deeper(())
    }
}

impl Drop for Deeper {
    fn drop(&mut self) {
        if DEPTH.get() == 1 {
            while let Some(core) = next_listed() {
                core.ends.is_listed.set(false);
                work_off(&core);
            }
        }
        DEPTH.set(DEPTH.get() - 1);
    }
}

fn next_listed() -> Option<Rc<Core>> {
    LISTED.with(|listed| {
        let mut listed = listed.borrow_mut();
        let next = listed.pop();
        if next.is_none() {
            // Frees its memory.
            *listed = Vec::new();
        }
        next
    })
}

/// How many more ends the outermost one may cause in an executor.
fn left(core: &Core) -> &Cell<u64> {
    let most = || core.runs.limits.most_in_sequence(core.tasks.len() as usize);
    let left = core.ends.left(OUTERMOST.get(), most);
    if core.is_closed() {
        // No task is spawned any more, so no limit is needed.
        left.set(u64::MAX);
    }
    left
}

/// Whether an end may begin here. If not, it must be [deferred](defer).
pub(super) fn may_begin(core: &Core) -> bool {
    let depth = DEPTH.get();
    depth == 0 || (depth < MAX_DEPTH && left(core).get() > 0)
}

/// Leaves an end to the outermost one.
pub(super) fn defer(core: &Core, end: End) {
    core.ends.defer(end);
    if !core.ends.is_listed.replace(true) {
        LISTED.with(|listed| listed.borrow_mut().push(core.rc()));
    }
}

/// Carries out an end, or defers it.
pub(crate) fn carry_out(core: &Core, end: End) {
    if may_begin(core) {
        carry_out_here(core, end);
    } else {
        defer(core, end);
    }
}

fn carry_out_here(core: &Core, end: End) {
    match end {
        End::Stop(key) => {
            if let Some(task) = core.tasks.get(key) {
                end::end(core, task, None);
            }
        }
        End::Output(reference) => {
            let _deeper = Deeper::new(core);
            end::drop_unwanted_output(core, core.tasks.of(&reference));
            end::drop_reference(core, reference);
        }
        End::Payload(payload) => {
            let _deeper = Deeper::new(core);
            drop(payload);
        }
        // This is a destructor: it raises no panic.
        End::Executor => drop(close::end_all(core, false)),
    }
}

/// Carries out the deferred ends of an executor, up to the limit.
fn work_off(core: &Core) {
    while left(core).get() > 0 {
        let Some(next) = core.ends.next() else {
            return;
        };
        carry_out_here(core, next);
    }
    if core.ends.leave_rest() {
        runaway::leave_to_next_run(core, Reached::Polls);
        core.host.notify();
    }
}

/// Carries out all ends of an executor that are deferred or left to the next run: a run
/// begins, or the executor ends.
pub(crate) fn work_off_rest(core: &Core) {
    if core.ends.has_deferred() {
        let _deeper = Deeper::new(core);
        core.ends.take_rest();
        work_off(core);
    }
}
