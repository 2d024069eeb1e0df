//! Wakers that waits for events of this thread keep, and what such waits have been granted.
//!
//! A waker that such a wait keeps is called on this thread only. So if no coroutine has given
//! a waker to anything else, nothing outside of the executor can wake one.

use std::rc::Rc;
use std::task::Context;

use slab::Slab;

use crate::core::base::cell::Guarded;
use crate::core::base::key::TaskKey;
use crate::core::task::Flags;
use crate::core::{Core, report, scope};
use crate::inspect::{Line, Report, Source};

/// The wakers of an executor's coroutines that waits for events keep. Its clones count them.
#[derive(Debug)]
pub(crate) struct Keepers {
    executor: Rc<u32>,
}

impl Keepers {
    pub(crate) fn new(executor: u32) -> Self {
        Keepers {
            executor: Rc::new(executor),
        }
    }

    /// How many wakers are kept.
    pub(crate) fn count(&self) -> usize {
        Rc::strong_count(&self.executor) - 1
    }
}

/// A wait for an event that keeps the waker of its coroutine.
#[derive(Debug)]
pub(crate) struct Keeper {
    executor: Rc<u32>,
    task: TaskKey,
}

impl Keeper {
    /// The wait that is polled with `cx`. `None` if that does not carry the waker of the coroutine
    /// being polled, but that of a combinator.
    #[inline]
    pub(crate) fn of(cx: &Context<'_>) -> Option<Self> {
        scope::with(|scope| {
            let scope = scope?;
            let task = scope.own_task(cx)?;
            Some(Keeper {
                executor: scope.core().keepers.executor.clone(),
                task: task.task_key(),
            })
        })
    }

    /// Notes that the wait in `line`, if that is known, has been granted something of `source`,
    /// which it takes when it is polled. `None` if the executor is gone.
    pub(crate) fn grant(
        &self,
        line: Option<Line>,
        kind: GrantKind,
        source: Option<Source>,
    ) -> Option<Grant> {
        scope::with_executor(*self.executor, |core| {
            let index = core.grants.0.borrow_mut().insert(Granted {
                task: self.task,
                line,
                kind,
                source,
                frame: core.clock.frame(),
                is_reported: false,
            });
            Grant {
                executor: *self.executor,
                index,
            }
        })
    }
}

/// What one of several waits is granted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GrantKind {
    Permit,
    Event,
}

/// What the waits of an executor's coroutines have been granted and have not taken.
#[derive(Default)]
pub(crate) struct Grants(Guarded<Slab<Granted>>);

struct Granted {
    task: TaskKey,
    /// The line of the `.await` in which the wait was last polled.
    line: Option<Line>,
    kind: GrantKind,
    source: Option<Source>,
    /// When it was granted.
    frame: u64,
    is_reported: bool,
}

/// A wait has been granted something. When this is dropped, it has taken that, or is gone.
#[derive(Debug)]
pub(crate) struct Grant {
    executor: u32,
    index: usize,
}

impl Drop for Grant {
    fn drop(&mut self) {
        scope::with_executor(self.executor, |core| {
            let granted = core.grants.0.borrow_mut().try_remove(self.index);
            drop(granted);
        });
    }
}

/// Reports what was granted at least so many frames ago, to coroutines that have been polled
/// since and have not taken it. Calls user code: the hook for reports.
pub(crate) fn report_untaken(core: &Core, frames: u64) {
    let now = core.clock.frame();
    let mut reports = Vec::new();
    for (_, granted) in core.grants.0.borrow_mut().iter_mut() {
        let since = now.saturating_sub(granted.frame);
        let Some(task) = core.tasks.get(granted.task) else {
            continue;
        };
        // Else it takes the grant in its next poll.
        let has_looked = task.is_alive() && !task.has(Flags::READY) && !task.has(Flags::PAUSED);
        if since >= frames && has_looked && !granted.is_reported {
            granted.is_reported = true;
            reports.push(Report::GrantUntaken {
                what: granted.what(),
                frame: now,
                frames: since,
                id: core.id_of(task),
                name: core.name_of(task),
                at: granted.line,
            });
        }
    }
    for report in reports {
        report::send(core, &report);
    }
}

impl Granted {
    fn what(&self) -> String {
        let kind = match self.kind {
            GrantKind::Permit => "a permit",
            GrantKind::Event => "an event",
        };
        match &self.source {
            Some(source) => format!("{kind} of `{}`", source.name()),
            None => kind.to_owned(),
        }
    }
}
