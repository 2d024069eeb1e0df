//! How deep ends nest: those of coroutines and of executors.
//!
//! An end runs user code in the middle of other user code. A destructor may stop a
//! coroutine or drop an executor, whose destructors do the same. Such ends nest to a
//! depth of [`MAX_DEPTH`] on a thread, whichever executors they belong to. Deeper ones
//! are deferred, on a list of their executor. The outermost end of that executor carries
//! them out before it is over, and so does the end of the executor; without either, its
//! next run does. A task with a deferred stop is not polled any more, and neither are the
//! tasks of an executor with a deferred end.
//!
//! A destructor may spawn another coroutine and stop it, and so on without end. So the
//! ends that an outermost end causes in its executor have a limit: the number of tasks,
//! plus the polls that a run may take for spawns. The next run of any phase carries out
//! the rest, with a limit of its own.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use crate::core::base::call::{self, Foreign, Payload};
use crate::core::base::cell::Guarded;
use crate::core::base::key::TaskKey;
use crate::core::life::end::{self, requests};
use crate::core::report::{self, panics};
use crate::core::run::limits::{self, Reached};
use crate::core::task::{Reference, Stop};
use crate::core::{Core, observe, scope};

/// The depth to which starts nest on a thread, and ends. Deeper ones are deferred.
pub(crate) const MAX_DEPTH: u32 = 100;

thread_local! {
    /// How many ends are nested now on this thread.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The executor of the outermost of them.
    static OUTERMOST: Cell<u32> = const { Cell::new(0) };
}

/// The ends of an executor that are under way, and those that are deferred.
#[derive(Default)]
pub(crate) struct Ends {
    /// How many are nested.
    nested: Cell<u32>,
    /// How many more the outermost one may cause.
    left: Cell<u64>,
    deferred: Guarded<VecDeque<End>>,
}

/// An end that may be carried out later.
pub(crate) enum End {
    /// A stopped task. Its future has yet to be dropped.
    Stop(TaskKey),
    /// A reference to a task that has ended. The output has yet to be dropped, then the
    /// reference.
    Output(Reference),
    /// A payload that no join has returned.
    Payload(Foreign<Payload>),
    /// An executor that has been dropped. Its coroutines have yet to be stopped.
    Executor(Rc<Core>),
}

impl Ends {
    /// Whether an end is deferred.
    pub(crate) fn has_deferred(&self) -> bool {
        !self.deferred.borrow().is_empty()
    }

    fn push(&self, end: End) {
        self.deferred.borrow_mut().push_back(end);
    }

    fn pop(&self) -> Option<End> {
        self.deferred.borrow_mut().pop_front()
    }
}

/// Counts a nested end; undone on drop, even when unwinding. The outermost one of its
/// executor carries out the deferred ends.
pub(crate) struct Deeper<'a>(&'a Core);

impl<'a> Deeper<'a> {
    pub(crate) fn new(core: &'a Core) -> Self {
        if DEPTH.get() == 0 {
            OUTERMOST.set(core.id);
        }
        DEPTH.set(DEPTH.get() + 1);
        let Ends { nested, left, .. } = &core.ends;
        if nested.get() == 0 {
            left.set(core.runs.limits.most_in_sequence(core.tasks.len() as usize));
        }
        nested.set(nested.get() + 1);
        left.set(left.get().saturating_sub(1));
        Deeper(core)
    }
}

impl Drop for Deeper<'_> {
    fn drop(&mut self) {
        let Ends { nested, .. } = &self.0.ends;
        if nested.get() == 1 && self.0.ends.has_deferred() {
            work_off(self.0);
        }
        nested.set(nested.get() - 1);
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Whether the outermost end of an executor may cause another one. No task is spawned in a closed
/// executor, so it needs no limit.
fn has_left(core: &Core) -> bool {
    core.ends.left.get() > 0 || core.is_closed()
}

/// Whether an end may begin here. If not, it must be deferred.
fn may_begin(core: &Core) -> bool {
    DEPTH.get() < MAX_DEPTH && (core.ends.nested.get() == 0 || has_left(core))
}

/// Carries out an end, or defers it.
pub(crate) fn carry_out(core: &Core, end: End) {
    if may_begin(core) {
        carry_out_here(core, end);
        return;
    }
    core.ends.push(end);
    if core.ends.nested.get() > 0 {
        // The outermost one is under way.
    } else if core.is_closed() {
        defer_executor(core);
    } else {
        core.arrivals.note_news();
        core.host.note_due();
        core.host.notify();
    }
}

/// Leaves the ends of a closed executor to its outermost end, or, since it has no next run, to
/// the outermost one of the thread: there is room to nest again.
fn defer_executor(core: &Core) {
    let end = End::Executor(core.rc());
    if core.ends.nested.get() > 0 {
        core.ends.push(end);
    } else {
        scope::with_executor(OUTERMOST.get(), |outermost| outermost.ends.push(end));
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
        End::Executor(core) => {
            let _deeper = Deeper::new(&core);
            // This is a destructor: it raises no panic.
            drop(end_all(&core, false));
        }
    }
}

/// Carries out the deferred ends of an executor, up to the limit.
#[cold]
fn work_off(core: &Core) {
    while has_left(core) {
        let Some(next) = core.ends.pop() else {
            return;
        };
        carry_out_here(core, next);
    }
    if core.ends.has_deferred() {
        limits::leave_to_next_run(core, Reached::Polls);
        core.host.notify();
    }
}

/// Carries out the ends that are left to the run that begins.
pub(crate) fn work_off_rest(core: &Core) {
    if core.ends.has_deferred() {
        drop(Deeper::new(core));
    }
}

/// Ends all coroutines of an executor that is being dropped, or defers that. Returns the
/// payload of a panic that the drop must raise.
pub(crate) fn close(core: &Core) -> Option<Payload> {
    core.close();
    if may_begin(core) {
        let _deeper = Deeper::new(core);
        end_all(core, true)
    } else {
        defer_executor(core);
        None
    }
}

fn end_all(core: &Core, may_raise: bool) -> Option<Payload> {
    // Pending messages are dropped on this thread, outside of the lock.
    drop(core.host.injected.close());
    drop(core.arrivals.take_calls());
    // No task is inserted any more, so the loop ends.
    let mut indices = 0..core.tasks.len();
    while let Some(task) = indices.next().map(|index| core.tasks.at(index)) {
        if core.tasks.stop(task) == Stop::Begins {
            end::end(core, task, None);
        }
    }
    // All deferred ends, even if this call is nested in other ends.
    work_off(core);
    requests::clear(core);
    for entry in core.sources.take() {
        call::quietly(|| (entry.end)(&entry.state));
        call::quietly(|| drop(entry));
    }
    core.lent.close();
    report::close_unobserved(core);
    let panic = panics::close_panics(core, may_raise);
    observe::send_events(core);
    // The hooks, the stopwatch and the pool may own handles that keep this core alive.
    core.reports.close();
    core.instruments.close();
    core.pool.close();
    panic
}
