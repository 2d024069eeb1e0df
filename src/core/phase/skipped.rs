//! Phases that the host does not run, although coroutines wait for them.
//!
//! A phase [is missing](is_missing) once a whole frame has passed in which the host owed it a run:
//! requests to stop do not wait for it.
//!
//! Every so many frames, all phases are looked at. A phase that has not been run since the
//! look before, and for which coroutines waited at both looks, is *skipped*: until it runs,
//! its waits do not keep a sleeping host awake.

use std::cell::Cell;
use std::panic::Location;

use crate::core::base::key::WaitKey;
use crate::core::phase::ready;
use crate::core::phase::state::{Listed, PhaseState, frame_of};
use crate::core::task::{Flags, Task};
use crate::core::view::Script;
use crate::core::wake::kept;
use crate::core::{Core, report};
use crate::inspect::{Report, WaitId};
use crate::task::coroutine::CoroutineId;
use crate::time::{Phase, PhaseIndex};

/// When a frame ends with a look at what nothing may ever end.
pub(crate) struct Looks {
    /// The earliest frame with a look.
    next: Cell<u64>,
    phases: Rounds,
    grants: Rounds,
}

/// A look that comes round.
struct Rounds {
    next: Cell<u64>,
    /// How many frames are between two looks. `u64::MAX` for no look at all.
    every: u64,
}

impl Looks {
    pub(crate) fn new(phases: u64, grants: u64) -> Self {
        Looks {
            next: Cell::new(phases.min(grants)),
            phases: Rounds::new(phases),
            grants: Rounds::new(grants),
        }
    }
}

impl Rounds {
    fn new(every: u64) -> Self {
        Rounds {
            next: Cell::new(every),
            every,
        }
    }

    /// Whether it is due in this frame. Then the next one is later.
    fn is_due(&self, frame: u64) -> bool {
        let is_due = frame >= self.next.get();
        if is_due {
            self.next.set(frame.saturating_add(self.every));
        }
        is_due
    }
}

/// What the looks at a phase have found since its latest run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Seen {
    #[default]
    NoWaiter,
    /// At the latest look, coroutines seemed to wait for it: keys may be stale.
    Waiters,
    /// At the look after that, coroutines waited for it.
    Skipped,
}

/// A frame has ended: looks at what waits, if it is time for that. Calls user code: the hook for
/// reports.
#[inline(always)]
pub(crate) fn end_frame(core: &Core) {
    if core.clock.frame() >= core.looks.next.get() {
        look(core);
    }
}

#[cold]
#[inline(never)]
fn look(core: &Core) {
    let Looks {
        next,
        phases,
        grants,
    } = &core.looks;
    let frame = core.clock.frame();
    let (at_phases, at_grants) = (phases.is_due(frame), grants.is_due(frame));
    next.set(phases.next.get().min(grants.next.get()));
    if at_phases {
        look_at_phases(core);
    }
    if at_grants {
        kept::report_untaken(core, grants.every);
    }
}

fn look_at_phases(core: &Core) {
    let mut reports = Vec::new();
    core.phases.each(|phase, state| {
        let seen = state.seen_since_run();
        if seen == Seen::Skipped {
            return;
        }
        let is_owed = is_owed(core, state);
        if seen == Seen::NoWaiter || !is_owed {
            let now = if is_owed && state.has_keys() {
                Seen::Waiters
            } else {
                Seen::NoWaiter
            };
            return state.see(now);
        }
        let waiters = Waiters::of(core, state);
        if waiters.first.is_none() {
            return state.see(Seen::NoWaiter);
        }
        state.see(Seen::Skipped);
        // A host that has run a custom phase knows it, and may run it seldom.
        let is_known = matches!(phase.phase(), Phase::Custom(_)) && state.runs.get() > 0;
        if !is_known {
            reports.extend(waiters.report(core, state));
        }
    });
    for report in reports {
        report::send(core, &report);
    }
}

/// Whether the host owes a phase a run in each frame: the fixed one only while a step is due.
fn is_owed(core: &Core, state: &PhaseState) -> bool {
    !state.is_fixed || core.clock.may_begin_step()
}

/// Whether the phase can be run: no fixed step begins while the game clock stands still.
fn may_run(core: &Core, state: &PhaseState) -> bool {
    !state.is_fixed || core.clock.dt_until_step_at(0).is_some()
}

/// For what asks whether a phase [is missing](is_missing): notes at the end of each run whether
/// the host owes the fixed phase a run.
pub(crate) fn note_unowed(core: &Core) {
    let fixed = core.phases.get(PhaseIndex::FIXED_UPDATE);
    if !is_owed(core, fixed) || !may_run(core, fixed) {
        fixed.unowed.set(fixed.frame());
    }
}

/// Whether the host does not run a phase: it cannot be run, or has not been for a whole frame in
/// which a run was owed. Only what comes after the moment `since` counts.
pub(crate) fn is_missing(core: &Core, phase: PhaseIndex, since: u64) -> bool {
    let state = core.phases.get(phase);
    let latest = frame_of(state.run_began.get().max(since)).max(state.unowed.get());
    !may_run(core, state) || state.frame() > latest.saturating_add(1)
}

/// The coroutines that a run of a phase would resume.
#[derive(Default)]
struct Waiters {
    /// The indices of their tasks, one for each wait.
    tasks: Vec<u32>,
    first: Option<(CoroutineId, Option<&'static Location<'static>>)>,
}

impl Waiters {
    fn of(core: &Core, state: &PhaseState) -> Self {
        let mut waiters = Waiters::default();
        for key in state.ready.keys.iter() {
            if let Some(task) = ready::task(core, key) {
                waiters.add(core, task, None);
            }
        }
        state.each_wait(&core.timers, |key, listed| {
            let is_due = match listed {
                Listed::Timer(clock, due_ns, _) => due_ns <= state.reached_ns(&core.clock, clock),
                Listed::Queue { .. } | Listed::Count(..) => true,
            };
            if let Some(task) = core.waits().task(key).filter(|_| is_due) {
                waiters.add(core, task, Some(key));
            }
        });
        waiters.tasks.sort_unstable();
        waiters.tasks.dedup();
        waiters
    }

    fn add(&mut self, core: &Core, task: Task<'_>, key: Option<WaitKey>) {
        if task.has(Flags::PAUSED) {
            return;
        }
        self.tasks.push(task.index());
        self.first.get_or_insert_with(|| {
            let line = key.and_then(|key| Script::new(core, task).line_of(WaitId::Registered(key)));
            (core.id_of(task), line)
        });
    }

    fn report(self, core: &Core, state: &PhaseState) -> Option<Report> {
        let (id, at) = self.first?;
        let task = core.tasks.get(core.key_of(id)?)?;
        Some(Report::PhaseSkipped {
            phase: state.index.phase(),
            frame: core.clock.frame(),
            frames: state.frame() - state.frame_of_run(),
            waiting: self.tasks.len(),
            id,
            name: core.name_of(task),
            at,
        })
    }
}
