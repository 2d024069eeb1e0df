//! When a sleeping host has to run again.

use crate::core::Core;
use crate::core::base::key::WaitKey;
use crate::core::life::end::requests;
use crate::core::phase::ready::{self, ReadyKey};
use crate::core::phase::skipped::Seen;
use crate::core::task::Flags;
use crate::core::timer::wheel::{Standing, TimerEntry};
use crate::time::ClockRef;

/// Whether something is due in the next runs: a coroutine that is not paused is ready, waits
/// for a phase, or counts frames or steps; a message, a call or a deferred start has arrived; or
/// the time of a request to stop begins. A phase that the host [skips](super::skipped) does not
/// count.
pub(crate) fn has_ready(core: &Core) -> bool {
    core.host.look(core.runs.phase().is_some());
    if core.host.injected.has_messages() || core.arrivals.has_news() || core.starts.has_any() {
        return true;
    }
    let is_ready = |key: ReadyKey| {
        let task = ready::task(core, key);
        task.is_some_and(|task| !task.has(Flags::PAUSED))
    };
    let waits = core.waits();
    let standing = |count: TimerEntry| {
        let key = WaitKey::from_bits(count.key);
        if !waits.is_live(key) {
            Standing::Dead
        } else if waits.is_held(key) {
            Standing::Held
        } else {
            Standing::Waiting
        }
    };
    let may_step = || core.clock.dt_until_step_at(0).is_some();
    let moment = core.timers.changes();
    let mut ready = false;
    core.phases.each(|_, state| {
        if state.seen_since_run() == Seen::Skipped {
            return;
        }
        ready |= state.ready.keys.iter().any(is_ready)
            || state.has_waits(moment, standing) && (!state.is_fixed || may_step());
    });
    ready || requests::wait_for_run(core)
}

/// The dt, in nanoseconds, after which the earliest timer is due, or the time of a request to stop
/// is over.
pub(crate) fn next_deadline(core: &Core) -> Option<u64> {
    core.host.look(core.runs.phase().is_some());
    let mut next: Option<u64> = None;
    core.phases.each(|_, state| {
        if state.seen_since_run() == Seen::Skipped {
            return;
        }
        let mut timers = state.timers.borrow_mut();
        let due_at = |clock: ClockRef<'_>, deadline_ns| {
            let dt = state.dt_until(&core.clock, clock, deadline_ns);
            next = next.into_iter().chain(dt).min();
        };
        let standing = |due| core.timers().standing(due);
        timers.each_earliest(core.timers.changes(), standing, due_at);
    });
    next.into_iter().chain(requests::next_deadline(core)).min()
}
