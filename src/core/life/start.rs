//! Spawning and starting coroutines.
//!
//! A start polls user code in the middle of other user code. It is deferred:
//!
//! - inside a closure that borrows lent state, until the outermost such closure returns,
//! - deep in the stack, until an outer start continues,
//! - beyond the limit on the polls of a run.
//!
//! A run of any phase begins with the starts that are still deferred.

use std::borrow::Cow;
use std::cell::Cell;
use std::mem;
use std::panic::Location;

use crate::core::base::call;
use crate::core::base::cell::Restore;
use crate::core::base::key::{TaskKey, WaitKey};
use crate::core::base::list::List;
use crate::core::life::end;
use crate::core::life::end::depth::MAX_DEPTH;
use crate::core::owners::OwnerKey;
use crate::core::phase::ready;
use crate::core::run::limits::{self, Reached};
use crate::core::run::resume;
use crate::core::scope::{self, Scope};
use crate::core::task::{Flags, Moved, Moving, Polled, Task};
use crate::core::{Core, observe, report, wake};
use crate::inspect::SpawnError;
use crate::time::{Phase, PhaseIndex};

/// Starts that are deferred.
#[derive(Debug, Default)]
pub(crate) struct Starts {
    /// The starts that are deferred, in order. A call further up the stack begins them as
    /// soon as it may, or else the next run.
    pub(crate) deferred: List<TaskKey>,
    /// How many calls of `hold_starts` are under way.
    pub(crate) holds: Cell<u32>,
    /// The line at which the host called `start`, while that call polls its coroutine
    /// outside of a run.
    pub(crate) from_host: Cell<Option<&'static Location<'static>>>,
}

impl Starts {
    /// Whether a call of `hold_starts` is under way.
    #[inline]
    pub(crate) fn are_held(&self) -> bool {
        self.holds.get() > 0
    }

    /// Whether a start is deferred.
    #[inline]
    pub(crate) fn has_any(&self) -> bool {
        !self.deferred.is_empty()
    }
}

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

/// Stores a future, for a first poll in the next run of its home phase. If the call does
/// not name that phase, and a run is under way, that run polls it. Just before, the
/// caller must have called [`accepts_after_messages`], which must have returned `true`.
#[inline(always)]
pub(crate) fn spawn<'f>(
    core: &Core,
    name: Name,
    future: Moving<'f>,
    home: Home,
    owner: Option<OwnerKey>,
    place: &'static Location<'static>,
) -> Moved<'f> {
    let soon = matches!(home, Home::Inherited(_)) && core.runs.phase().is_some();
    let (task, moved) = store(core, name, future, home, owner);
    ready::new(core, task, soon);
    if core.instruments.is_on() {
        observe::spawned(core, task, place);
    }
    core.host.notify();
    moved
}

/// Stores a future and polls it up to its first wait. On a paused owner, the future is
/// queued as by `spawn`. Just before, [`accepts`] must have returned `true`.
#[inline(always)]
pub(crate) fn start<'f>(
    core: &Core,
    name: Name,
    future: Moving<'f>,
    home: Home,
    owner: Option<OwnerKey>,
    place: &'static Location<'static>,
) -> Moved<'f> {
    let (task, moved) = store(core, name, future, home, owner);
    if core.instruments.is_on() {
        observe::spawned(core, task, place);
    }
    if may_start(core) {
        let _counted = count_polls(core);
        start_and_go_on(core, task);
    } else {
        defer_start(core, task.task_key());
    }
    core.host.notify_of_start(task);
    moved
}

/// Stores a future, with its name and its owner.
#[inline(always)]
pub(crate) fn store<'c, 'f>(
    core: &'c Core,
    name: Name,
    future: Moving<'f>,
    home: Home,
    owner: Option<OwnerKey>,
) -> (Task<'c>, Moved<'f>) {
    let (task, moved) = core.tasks.insert(future, home.phase());
    if let Some(name) = name {
        core.name(task, name);
    }
    if let Some(owner) = owner {
        let maker = || {
            scope::with(|scope| {
                let scope = scope.filter(|scope| scope.core().id == core.id)?;
                scope.current()?.member()
            })
        };
        core.owners.adopt(task, owner, maker);
    }
    (task, moved)
}

/// Whether a start may begin here. If not, it must be deferred.
#[inline(always)]
fn may_start(core: &Core) -> bool {
    !core.starts.are_held() && scope::depth() < MAX_DEPTH
}

/// Begins a start, then the starts that are deferred meanwhile.
#[inline(always)]
fn start_and_go_on(core: &Core, task: Task<'_>) {
    let deferred = core.starts.deferred.len();
    begin(core, task);
    start_deferred_since(core, deferred);
}

/// Begins a start, or queues the coroutine if it is paused. If no polls are left, defers
/// the start.
#[inline(always)]
fn begin(core: &Core, task: Task<'_>) {
    if task.has(Flags::PAUSED) {
        wake::make_ready(core, task, task.home());
        observe::send_events(core);
    } else if core.runs.limits.spend() {
        start_now(core, task);
    } else {
        defer_start(core, task.task_key());
    }
}

#[cold]
#[inline(never)]
fn defer_start(core: &Core, key: TaskKey) {
    core.starts.deferred.push(key);
    if core.starts.are_held() {
        core.arrivals.note_news();
    } else {
        let reached = if scope::depth() < MAX_DEPTH {
            Reached::Polls
        } else {
            Reached::Depth
        };
        limits::leave_to_next_run(core, reached);
    }
}

/// For code that begins starts. Outside of a run, the outermost such code may take as many
/// polls as a run, until the result is dropped.
#[inline(always)]
fn count_polls(core: &Core) -> Option<Restore<'_, u64>> {
    let limits = &core.runs.limits;
    if limits.is_counting() {
        None
    } else {
        Some(limits.begin(core.tasks.alive()))
    }
}

/// Notes that the host starts a coroutine, until the result is dropped. Outside of a run,
/// records the line of the host's call, for messages: the coroutine finds no state that is
/// lent only later. The outermost such call counts.
#[inline]
pub(crate) fn note_host<'c>(
    core: &'c Core,
    place: &'static Location<'static>,
) -> Restore<'c, Option<&'static Location<'static>>> {
    let from_host = &core.starts.from_host;
    let outer = from_host.get();
    let in_run = core.runs.phase().is_some();
    let place_now = if in_run { outer } else { outer.or(Some(place)) };
    Restore::after_setting(from_host, place_now)
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

/// Whether a new coroutine is accepted: the executor has room for it, and `owner` is open.
#[inline]
pub(crate) fn accepts(core: &Core, owner: Option<OwnerKey>) -> bool {
    core.has_room() && owner.is_none_or(|owner| core.owners.borrow().is_open(owner))
}

/// Whether the executor is not closed, and `owner` is open.
pub(crate) fn is_open(core: &Core, owner: OwnerKey) -> bool {
    !core.is_closed() && core.owners.borrow().is_open(owner)
}

/// Why a new coroutine is not [accepted](accepts).
#[cold]
pub(crate) fn spawn_error(core: &Core, owner: Option<OwnerKey>) -> SpawnError {
    match owner {
        _ if core.is_closed() => SpawnError::ExecutorGone,
        Some(owner) if core.owners.borrow().is_leaving(owner) => SpawnError::OwnerGone,
        Some(owner) if !core.owners.borrow().is_open(owner) => SpawnError::OwnerInactive,
        _ => SpawnError::TooMany(core.room()),
    }
}

/// Calls `f`, which borrows state that coroutines may borrow, too. Coroutines that `f`
/// starts begin when the outermost such call returns.
pub(crate) fn hold_starts<R>(core: &Core, f: impl FnOnce() -> R) -> R {
    let _let_go = LetGo::new(core, hold(core));
    call::out(f)
}

/// Holds starts, as [`hold_starts`] does, until the [`LetGo`] of the result is dropped.
#[inline]
pub(crate) fn hold(core: &Core) -> Held {
    let holds = &core.starts.holds;
    holds.set(holds.get() + 1);
    Held {
        deferred: core.starts.deferred.len(),
    }
}

/// A hold of starts.
#[derive(Clone, Copy)]
pub(crate) struct Held {
    /// How many starts were deferred before it.
    deferred: usize,
}

/// Ends a hold of starts when it is dropped, even when unwinding.
pub(crate) struct LetGo<'a> {
    core: &'a Core,
    held: Held,
}

impl<'a> LetGo<'a> {
    #[inline]
    pub(crate) fn new(core: &'a Core, held: Held) -> Self {
        LetGo { core, held }
    }
}

impl Drop for LetGo<'_> {
    fn drop(&mut self) {
        let holds = &self.core.starts.holds;
        holds.set(holds.get() - 1);
        start_deferred_since(self.core, self.held.deferred);
        report::flush_unobserved(self.core);
    }
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

#[cold]
fn start_deferred(core: &Core, from: usize) {
    let _notifies = core.host.notifies();
    if may_start(core) {
        let _counted = count_polls(core);
        start_each_deferred(core, from);
    } else if !core.starts.are_held() {
        limits::leave_to_next_run(core, Reached::Depth);
    }
}

/// Begins each of these as if it were started here, those that are deferred meanwhile
/// last.
fn start_each_deferred(core: &Core, from: usize) {
    let deferred = &core.starts.deferred;
    let mut next = from;
    while let Some(key) = deferred.get(next) {
        if !core.runs.limits.has_left() {
            limits::leave_to_next_run(core, Reached::Polls);
            return;
        }
        deferred.set(next, TaskKey::NOBODY);
        next += 1;
        if next == deferred.len() {
            deferred.truncate(from);
            next = from;
        }
        if let Some(task) = core.tasks.get(key).filter(|task| task.is_alive()) {
            begin(core, task);
            if let Some(task) = core.tasks.get(key) {
                core.host.note_start(task);
            }
        }
    }
}

/// The line at which the host called `start`, if that call polls a coroutine now.
pub(crate) fn started_from_host(core: &Core) -> Option<&'static Location<'static>> {
    core.starts.from_host.get()
}

/// Polls a new coroutine.
#[inline(always)]
fn start_now<'c>(core: &'c Core, task: Task<'c>) {
    if task.has(Flags::SLOW_PATH) {
        start_slowly(core, task);
        return;
    }
    poll_start(core, task, |scope| {
        core.tasks.poll(task, &mut scope.context())
    });
}

/// The same for a coroutine that is observed.
#[cold]
#[inline(never)]
fn start_slowly<'c>(core: &'c Core, task: Task<'c>) {
    let _kept = observe::keep(core, task);
    poll_start(core, task, |scope| {
        if task.has(Flags::OBSERVED) {
            // Its waits begin where they are noted.
            scope.set_current(task, WaitKey::NOT_A_WAIT);
        }
        resume::poll_slowly(core, scope, task)
    });
}

#[inline(always)]
fn poll_start<'c>(core: &'c Core, task: Task<'c>, poll: impl FnOnce(&Scope<'c>) -> Polled) {
    let polled = scope::enter(core, |scope| {
        scope.set_free(task, WaitKey::NOT_A_WAIT);
        call::catch(|| poll(scope))
    });
    match polled {
        Ok(polled) => resume::after_poll(core, task, polled),
        Err(payload) => end::end(core, task, Some(payload)),
    }
}

/// Drops a future or a closure that no executor accepts. Its destructor may spawn another
/// one, and so on without end. The one at depth [`MAX_DEPTH`] leaks instead.
pub(crate) fn refuse<F>(refused: F) {
    thread_local! {
        static DEPTH: Cell<u32> = const { Cell::new(0) };
    }
    DEPTH.with(|depth| {
        if depth.get() == MAX_DEPTH {
            mem::forget(refused);
            return;
        }
        let _deeper = Restore::after_setting(depth, depth.get() + 1);
        call::in_drop(|| drop(refused));
    });
}
