//! Spawning and starting coroutines.
//!
//! A start polls user code in the middle of other user code. It is deferred:
//!
//! - inside a closure that borrows lent state, until the outermost such closure returns,
//! - deep in the stack, until an outer start continues,
//! - beyond the limit on the polls of a run.
//!
//! A run of any phase begins with the starts that are still deferred.

pub(crate) mod deferred;

use std::borrow::Cow;
use std::cell::Cell;
use std::future::Future;
use std::mem::{self, ManuallyDrop};
use std::panic::Location;

use crate::core::Core;
use crate::core::call;
use crate::core::cell::Restore;
use crate::core::end;
use crate::core::end::deferred::MAX_DEPTH;
use crate::core::inspect::observe;
use crate::core::owners::OwnerKey;
use crate::core::phase::schedule;
use crate::core::registration::key::WaitKey;
use crate::core::report::unread;
use crate::core::run::poll;
use crate::core::run::runaway;
use crate::core::scope::{self, Scope};
use crate::core::task::{Flags, Polled, Task, TaskHandle, TaskKey};
use crate::core::wake;
use crate::inspect::Refusal;
use crate::time::{Phase, PhaseIndex};

/// The home phase of a new coroutine.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Home {
    /// The call names it.
    Named(PhaseIndex),
    /// It is that of the calling coroutine, or else Update.
    Inherited(PhaseIndex),
}

impl Home {
    /// The home of a coroutine that the host starts.
    pub(crate) const HOST: Home = Home::Inherited(PhaseIndex::UPDATE);

    pub(crate) fn named(phase: Phase) -> Self {
        Home::Named(PhaseIndex::new(phase))
    }

    /// The home of a coroutine that the running code starts in `core`: that of the
    /// coroutine of `core` that is being polled.
    #[inline]
    pub(crate) fn in_call(core: Option<&Core>) -> Self {
        scope::with(|scope| match (scope, core) {
            (Some(scope), Some(core)) if scope.core().id == core.id => {
                Home::Inherited(scope.home())
            }
            _ => Home::HOST,
        })
    }

    #[inline]
    fn phase(self) -> PhaseIndex {
        match self {
            Home::Named(phase) | Home::Inherited(phase) => phase,
        }
    }
}

/// The name that a coroutine is given when it is made.
pub(crate) type Name = Option<Cow<'static, str>>;

/// For a coroutine without a given name.
pub(crate) fn unnamed() -> Name {
    None
}

/// Stores a future, for a first poll in the next run of its home phase. If the call does
/// not name that phase, and a run is under way, that run polls it. Just before, the
/// caller must have called [`accepts_after_messages`], which must have returned `true`.
#[inline]
pub(crate) fn spawn<F: Future + 'static>(
    core: &Core,
    name: impl FnOnce() -> Name,
    future: F,
    home: Home,
    owner: Option<OwnerKey>,
    place: &'static Location<'static>,
) -> TaskHandle<F::Output> {
    let soon = matches!(home, Home::Inherited(_)) && core.runs.phase().is_some();
    let (task, handle) = store(core, name, future, home, owner);
    schedule::new(core, task, soon);
    if core.instruments.is_on() {
        observe::note_spawned(core, task, place);
    }
    core.host.notify();
    handle
}

/// Stores a future and polls it up to its first wait. On a paused owner, the future is
/// queued as by `spawn`. Just before, [`accepts`] must have returned `true`.
#[inline]
pub(crate) fn start<F: Future + 'static>(
    core: &Core,
    name: impl FnOnce() -> Name,
    future: F,
    home: Home,
    owner: Option<OwnerKey>,
    place: &'static Location<'static>,
) -> TaskHandle<F::Output> {
    let (task, handle) = store(core, name, future, home, owner);
    let key = handle.key();
    if core.instruments.is_on() {
        observe::note_spawned(core, task, place);
    }
    if task.has(Flags::PAUSED) && !holds_starts(core) {
        if core.runs.phase().is_none() {
            // Queued like a spawn, after the messages that arrived before it.
            wake::take_messages(core);
        }
        // The trace hook may have stopped the coroutine.
        if task.is_alive() {
            core.pauses.remember_wake(&core.tasks, task, task.home());
        }
        observe::send_events(core);
    } else if let Some(depth) = start_depth(core) {
        if core.runs.phase().is_some() {
            start_and_go_on(core, task, depth);
        } else {
            start_outside(core, task, depth);
        }
        core.host.notify_of_start(&core.tasks, key);
    } else {
        defer_start(core, key);
    }
    handle
}

/// Stores a future, with its name and its owner.
#[inline(always)]
pub(crate) fn store<F: Future + 'static>(
    core: &Core,
    name: impl FnOnce() -> Name,
    future: F,
    home: Home,
    owner: Option<OwnerKey>,
) -> (Task<'_>, TaskHandle<F::Output>) {
    // No user code is called before the future is stored. So no panic can leave the
    // future undropped, and the compiler can build it in its block instead of on the
    // stack.
    let future = ManuallyDrop::new(future);
    let (task, handle) = core.tasks.insert(future, home.phase());
    if let Some(name) = name() {
        core.name(task, name);
    }
    if let Some(owner) = owner {
        core.owners.adopt(task, owner);
    }
    (task, handle)
}

/// How many scopes of the executor are around a start here. `None` if the start must be
/// deferred.
#[inline(always)]
fn start_depth(core: &Core) -> Option<u32> {
    let depth = scope::depth_of(core);
    (core.starts.holds.get() == 0 && depth < MAX_DEPTH).then_some(depth)
}

/// Begins a start outside of a run, within the limits of the outermost call.
#[inline(never)]
fn start_outside(core: &Core, task: Task<'_>, depth: u32) {
    count_starts(core, || start_and_go_on(core, task, depth));
}

/// Begins a start, then the starts that are deferred meanwhile.
#[inline]
fn start_and_go_on(core: &Core, task: Task<'_>, depth: u32) {
    let deferred = core.starts.deferred.len();
    start_within_limits(core, task, depth);
    start_deferred_since(core, deferred);
}

/// Begins a start. If the run, or the outermost call outside of runs, has no polls left,
/// leaves the start to the next run instead.
#[inline]
fn start_within_limits(core: &Core, task: Task<'_>, depth: u32) {
    if core.runs.limits.spend() {
        start_now(core, task, depth);
    } else {
        leave_start_to_next_run(core, task.task_key());
    }
}

#[cold]
#[inline(never)]
fn leave_start_to_next_run(core: &Core, key: TaskKey) {
    core.starts.for_next_run.push(key);
    core.arrivals.note_news();
    core.host.note_due();
    runaway::report_runaway(core);
}

#[cold]
#[inline(never)]
fn defer_start(core: &Core, key: TaskKey) {
    core.starts.deferred.push(key);
    core.arrivals.note_news();
    if !holds_starts(core) {
        runaway::report_runaway(core);
    }
}

/// Calls `f`, which begins starts outside of a run. The outermost such call may take as
/// many polls as a run.
fn count_starts(core: &Core, f: impl FnOnce()) {
    if core.starts.counts.get() {
        f();
    } else {
        let _counts = Restore::after_setting(&core.starts.counts, true);
        core.runs.limits.begin(core.tasks.alive());
        f();
    }
}

/// Starts a coroutine for the host. Outside of a run, records the line of the host's
/// call, for messages: the coroutine finds no state that is lent only later. The
/// outermost such call counts.
#[inline]
pub(crate) fn start_by_host<F: Future + 'static>(
    core: &Core,
    name: impl FnOnce() -> Name,
    future: F,
    home: Home,
    owner: Option<OwnerKey>,
    place: &'static Location<'static>,
) -> TaskHandle<F::Output> {
    let from_host = &core.starts.from_host;
    let outer = from_host.get();
    let in_run = core.runs.phase().is_some();
    let place_now = if in_run { outer } else { outer.or(Some(place)) };
    let _from_host = Restore::after_setting(from_host, place_now);
    start(core, name, future, home, owner, place)
}

/// Whether a spawn is accepted. Outside of a run, first takes the messages that arrived
/// before the spawn.
#[inline]
pub(crate) fn accepts_after_messages(core: &Core, owner: Option<OwnerKey>) -> bool {
    if core.runs.phase().is_none() {
        wake::take_messages(core);
    }
    accepts(core, owner)
}

/// Whether a new coroutine is accepted: the executor is not closed, and `owner` is open.
#[inline]
pub(crate) fn accepts(core: &Core, owner: Option<OwnerKey>) -> bool {
    !core.is_closed() && owner.is_none_or(|owner| core.owners.borrow().is_open(owner))
}

/// Why a new coroutine is not [accepted](accepts).
#[cold]
pub(crate) fn refusal(core: &Core, owner: Option<OwnerKey>) -> Refusal {
    match owner {
        _ if core.is_closed() => Refusal::ExecutorGone,
        Some(owner) if !core.owners.borrow().is_leaving(owner) => Refusal::OwnerInactive,
        _ => Refusal::OwnerGone,
    }
}

/// Calls `f`, which borrows state that coroutines may borrow, too. Coroutines that `f`
/// starts begin when the outermost such call returns.
pub(crate) fn hold_starts<R>(core: &Core, f: impl FnOnce() -> R) -> R {
    struct LetGo<'a> {
        core: &'a Core,
        deferred: usize,
    }

    impl Drop for LetGo<'_> {
        fn drop(&mut self) {
            let holds = &self.core.starts.holds;
            holds.set(holds.get() - 1);
            start_deferred_since(self.core, self.deferred);
            unread::flush(self.core);
        }
    }

    let holds = &core.starts.holds;
    holds.set(holds.get() + 1);
    let _let_go = LetGo {
        core,
        deferred: core.starts.deferred.len(),
    };
    call::out(f)
}

/// Whether a call of [`hold_starts`] is under way.
pub(crate) fn holds_starts(core: &Core) -> bool {
    core.starts.holds.get() > 0
}

/// How many starts are deferred now, for [`start_deferred_since`].
pub(crate) fn deferred_starts(core: &Core) -> usize {
    core.starts.deferred.len()
}

/// Begins the deferred starts beyond the first `deferred` ones, unless they must be
/// deferred here, too. The first ones are left to a caller further up the stack: here
/// they would begin inside a poll that has not started them.
#[inline]
pub(crate) fn start_deferred_since(core: &Core, deferred: usize) {
    if core.starts.deferred.len() > deferred {
        start_deferred(core, deferred);
    }
}

/// Begins each of these as if it were started here: the starts that it defers in turn
/// come before the next one.
#[cold]
fn start_deferred(core: &Core, from: usize) {
    let _notifies = core.host.notifies();
    let Some(depth) = start_depth(core) else {
        return;
    };
    if core.runs.phase().is_some() {
        start_each_deferred(core, from, depth);
    } else {
        count_starts(core, || start_each_deferred(core, from, depth));
    }
}

fn start_each_deferred(core: &Core, from: usize, depth: u32) {
    // From this index on, the starts are new and in order. Below it the order is
    // reversed: the last start is next.
    let mut in_order = from;
    loop {
        let key = {
            let mut deferred = core.starts.deferred.take();
            let len = deferred.len();
            deferred[in_order.min(len)..].reverse();
            let key = if len > from { deferred.pop() } else { None };
            core.starts.deferred.replace(deferred);
            if len <= from {
                return;
            }
            in_order = len - 1;
            key
        };
        let task = key.and_then(|key| core.tasks.get(key));
        let Some(task) = task.filter(|task| task.is_alive()) else {
            continue;
        };
        if task.has(Flags::PAUSED) {
            core.pauses.remember_wake(&core.tasks, task, task.home());
        } else {
            let key = task.task_key();
            start_within_limits(core, task, depth);
            core.host.note_start(&core.tasks, key);
        }
    }
}

/// The line at which the host called `start`, if that call polls a coroutine now.
pub(crate) fn started_from_host(core: &Core) -> Option<&'static Location<'static>> {
    core.starts.from_host.get()
}

/// Polls a new coroutine, inside `depth` scopes of this executor.
#[inline]
fn start_now<'c>(core: &'c Core, task: Task<'c>, depth: u32) {
    if task.has(Flags::SLOW_PATH) || core.clock.has_view() {
        start_slowly(core, task, depth);
        return;
    }
    poll_start(core, task, depth, |scope| {
        core.tasks.poll(task, &mut scope.context())
    });
}

/// The same for a coroutine that is observed or counts on a clock of its own.
#[cold]
#[inline(never)]
fn start_slowly<'c>(core: &'c Core, task: Task<'c>, depth: u32) {
    let _kept = observe::keep(core, task);
    poll_start(core, task, depth, |scope| {
        if task.has(Flags::OBSERVED) {
            // Its waits begin where they are noted.
            scope.set_current(task, WaitKey::NOT_A_WAIT);
        }
        poll::poll_slowly(core, scope, task)
    });
}

#[inline(always)]
fn poll_start<'c>(
    core: &'c Core,
    task: Task<'c>,
    depth: u32,
    poll: impl FnOnce(&Scope<'c>) -> Polled,
) {
    let polled = scope::enter_deeper(core, depth, |scope| {
        scope.set_free(task, WaitKey::NOT_A_WAIT);
        call::catch(|| poll(scope))
    });
    match polled {
        Ok(polled) => poll::after_poll(core, task, polled),
        Err(payload) => end::end(core, task, Some(payload)),
    }
}

/// Drops a future or a closure that no executor accepts. Its destructor may spawn another
/// one, and so on without end. The one at depth [`MAX_DEPTH`] leaks instead.
pub(crate) fn refuse<F>(refused: F) {
    thread_local! {
        static DEPTH: Cell<u32> = const { Cell::new(0) };
    }
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            DEPTH.set(DEPTH.get() - 1);
        }
    }
    if DEPTH.get() == MAX_DEPTH {
        mem::forget(refused);
        return;
    }
    DEPTH.set(DEPTH.get() + 1);
    let _leave = Leave;
    call::in_drop(|| drop(refused));
}
