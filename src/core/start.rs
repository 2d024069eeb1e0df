//! Spawning and starting coroutines.
//!
//! A start polls user code in the middle of other user code. It is put off:
//!
//! - inside closures that borrow lent state, until the outermost one returns,
//! - deep in the stack, until an outer start continues,
//! - beyond the limit on the polls of a run.
//!
//! A run of any phase begins with the starts that are still put off.

#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::cell::Cell;
use std::future::Future;
use std::mem::{self, ManuallyDrop};
use std::panic::Location;

use crate::core::task::TaskKey;
use crate::inspect::Refusal;
use crate::core::owners::OwnerKey;
use crate::time::{Phase, PhaseIndex};

use super::Core;
use super::call;
use super::end::MAX_DEPTH;
use super::key::WaitKey;
use super::list::List;
use super::outside::Telling;
use super::scope::{self, Scope};
use super::task::{Flags, Polled, Task, TaskHandle};

/// Starts that are put off.
#[derive(Debug, Default)]
pub(super) struct Starts {
    /// The starts that continue as soon as the stack allows.
    put_off: List<TaskKey>,
    /// The starts beyond the limit, for the next run.
    for_next_run: List<TaskKey>,
    /// Whether a call outside of runs counts its starts.
    counts: Cell<bool>,
    /// How many calls of `hold_starts` are under way.
    holds: Cell<u32>,
    /// Where the host called `start`, while that call polls its coroutine outside
    /// of a run.
    from_host: Cell<Option<&'static Location<'static>>>,
}

impl Starts {
    /// Calls `f` with each task whose start is put off.
    pub(super) fn each(&self, mut f: impl FnMut(TaskKey)) {
        self.put_off.iter().for_each(&mut f);
        self.for_next_run.iter().for_each(f);
    }

    /// Whether a start is put off.
    #[inline]
    pub(super) fn has_any(&self) -> bool {
        !self.put_off.is_empty() || !self.for_next_run.is_empty()
    }

    /// Takes all starts that are put off, in order.
    pub(super) fn take(&self) -> Vec<TaskKey> {
        let mut all = self.for_next_run.take();
        all.append(&mut self.put_off.take());
        all
    }
}

/// The home phase of a new coroutine.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Home {
    /// The call names it.
    Named(PhaseIndex),
    /// It is that of the coroutine which makes the call, else Update.
    Inherited(PhaseIndex),
}

impl Home {
    /// The home of what the host starts.
    pub(crate) const HOST: Home = Home::Inherited(PhaseIndex::UPDATE);

    pub(crate) fn named(phase: Phase) -> Self {
        Home::Named(PhaseIndex::new(phase))
    }

    /// The home of what the running code starts in `core`: that of the coroutine of
    /// `core` that is being polled.
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

/// The name of a coroutine that is given none.
pub(crate) fn unnamed() -> Name {
    None
}

impl Core {
    /// Stores a future that is to be polled in the next run of its home phase. If
    /// the call does not name that phase, the run under way polls it. The caller
    /// must have called [`accepts_spawn`](Core::accepts_spawn) just before, and it
    /// must have returned `true`.
    #[inline]
    pub(crate) fn spawn<F: Future + 'static>(
        &self,
        name: impl FnOnce() -> Name,
        future: F,
        home: Home,
        owner: Option<OwnerKey>,
        place: &'static Location<'static>,
    ) -> TaskHandle<F::Output> {
        let future = ManuallyDrop::new(future);
        let soon = matches!(home, Home::Inherited(_)) && self.runs.phase().is_some();
        let (task, handle) = self.tasks.insert(future, home.phase());
        if let Some(name) = name() {
            self.name(task, name);
        }
        if let Some(owner) = owner {
            self.adopt(task, owner);
        }
        self.enlist_new(task, soon);
        if self.watch.is_on() {
            self.watch_spawned(task, place);
        }
        self.tell_host();
        handle
    }

    /// Stores a future and polls it up to its first wait. On a paused owner, the
    /// future is queued as by `spawn`. [`accepts`](Core::accepts) must have
    /// returned `true`.
    #[inline]
    pub(crate) fn start<F: Future + 'static>(
        &self,
        name: impl FnOnce() -> Name,
        future: F,
        home: Home,
        owner: Option<OwnerKey>,
        place: &'static Location<'static>,
    ) -> TaskHandle<F::Output> {
        // No user code is called before the future is stored, so a panic cannot
        // leave it undropped. The compiler can then build it in its block, and not
        // on the stack first.
        let future = ManuallyDrop::new(future);
        let (task, handle) = self.tasks.insert(future, home.phase());
        if let Some(name) = name() {
            self.name(task, name);
        }
        if let Some(owner) = owner {
            self.adopt(task, owner);
        }
        let key = handle.key();
        if self.watch.is_on() {
            self.watch_spawned(task, place);
        }
        if task.has(Flags::PAUSED) && !self.holds_starts() {
            if self.runs.phase().is_none() {
                // Queued like a spawn, after the messages that arrived before it.
                self.take_messages();
            }
            // The trace hook may have stopped it.
            if task.is_alive() {
                self.remember_wake(task, task.home());
            }
            self.tell_trace();
        } else if let Some(depth) = self.start_depth() {
            if self.runs.phase().is_some() {
                self.start_and_go_on(task, depth);
            } else {
                self.start_outside(task, depth);
            }
            self.tell_host_of_start(key);
        } else {
            self.put_off_start(key);
        }
        handle
    }

    /// How many scopes there are around a start that may begin here. `None` if none
    /// may.
    #[inline(always)]
    fn start_depth(&self) -> Option<u32> {
        let depth = scope::depth_of(self);
        (self.starts.holds.get() == 0 && depth < MAX_DEPTH).then_some(depth)
    }

    /// Begins a start outside of a run.
    #[inline(never)]
    fn start_outside(&self, task: Task<'_>, depth: u32) {
        self.count_starts(|| self.start_and_go_on(task, depth));
    }

    /// Begins a start, and those that are put off meanwhile.
    #[inline]
    fn start_and_go_on(&self, task: Task<'_>, depth: u32) {
        let put_off = self.starts.put_off.len();
        self.start_within_limits(task, depth);
        self.start_put_off_since(put_off);
    }

    /// Begins a start, or leaves it to the next run if this run, or the outermost
    /// call outside of runs, has had as many polls as it may have.
    #[inline]
    fn start_within_limits(&self, task: Task<'_>, depth: u32) {
        if self.spend() {
            self.start_now(task, depth);
        } else {
            self.leave_start_to_next_run(task.task_key());
        }
    }

    #[cold]
    #[inline(never)]
    fn leave_start_to_next_run(&self, key: TaskKey) {
        self.starts.for_next_run.push(key);
        self.note_due();
        self.report_runaway();
    }

    #[cold]
    #[inline(never)]
    fn put_off_start(&self, key: TaskKey) {
        self.starts.put_off.push(key);
        if !self.holds_starts() {
            self.report_runaway();
        }
    }

    /// Calls `f`, which begins starts outside of a run. The outermost such call has
    /// as many polls as a run.
    fn count_starts(&self, f: impl FnOnce()) {
        struct Ended<'a>(&'a Cell<bool>);
        impl Drop for Ended<'_> {
            fn drop(&mut self) {
                self.0.set(false);
            }
        }
        if self.starts.counts.get() {
            f();
        } else {
            self.starts.counts.set(true);
            let _ended = Ended(&self.starts.counts);
            self.runs.begin_limits(self.tasks.alive());
            f();
        }
    }

    /// Starts a coroutine for a host. Outside of a run, notes where the host
    /// called: the coroutine does not find what is lent later. The outermost such
    /// call counts.
    #[inline]
    pub(crate) fn start_by_host<F: Future + 'static>(
        &self,
        name: impl FnOnce() -> Name,
        future: F,
        home: Home,
        owner: Option<OwnerKey>,
        place: &'static Location<'static>,
    ) -> TaskHandle<F::Output> {
        struct Restore<'a>(&'a Starts, Option<&'static Location<'static>>);
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                self.0.from_host.set(self.1);
            }
        }
        let outer = self.starts.from_host.get();
        let _restore = Restore(&self.starts, outer);
        if self.runs.phase().is_none() {
            self.starts.from_host.set(outer.or(Some(place)));
        }
        self.start(name, future, home, owner, place)
    }

    /// Whether a spawn is accepted. Outside of a run, takes over the messages that
    /// arrived before it.
    #[inline]
    pub(crate) fn accepts_spawn(&self, owner: Option<OwnerKey>) -> bool {
        if self.runs.phase().is_none() {
            self.take_messages();
        }
        self.accepts(owner)
    }

    /// Whether a new coroutine is accepted: the executor is not closed, and neither
    /// is `owner`.
    #[inline]
    pub(crate) fn accepts(&self, owner: Option<OwnerKey>) -> bool {
        !self.is_closed() && owner.is_none_or(|owner| self.owners.borrow().is_open(owner))
    }

    /// Why a new coroutine is not [accepted](Core::accepts).
    #[cold]
    pub(crate) fn refusal(&self, owner: Option<OwnerKey>) -> Refusal {
        match owner {
            _ if self.is_closed() => Refusal::ExecutorGone,
            Some(owner) if !self.owners.borrow().is_leaving(owner) => Refusal::OwnerInactive,
            _ => Refusal::OwnerGone,
        }
    }

    /// Calls `f`, which borrows something that coroutines may also borrow.
    /// Coroutines that `f` starts begin when the outermost such call returns.
    pub(crate) fn hold_starts<R>(&self, f: impl FnOnce() -> R) -> R {
        struct LetGo<'a> {
            core: &'a Core,
            put_off: usize,
        }

        impl Drop for LetGo<'_> {
            fn drop(&mut self) {
                let holds = &self.core.starts.holds;
                holds.set(holds.get() - 1);
                self.core.start_put_off_since(self.put_off);
                self.core.tell_unread();
            }
        }

        let holds = &self.starts.holds;
        holds.set(holds.get() + 1);
        let _let_go = LetGo {
            core: self,
            put_off: self.starts.put_off.len(),
        };
        call::out(f)
    }

    /// Whether a call of [`hold_starts`](Core::hold_starts) is under way.
    pub(crate) fn holds_starts(&self) -> bool {
        self.starts.holds.get() > 0
    }

    /// How many starts are put off now, for
    /// [`start_put_off_since`](Core::start_put_off_since).
    pub(super) fn starts_put_off(&self) -> usize {
        self.starts.put_off.len()
    }

    /// Begins the starts that were put off since there were `put_off` of them,
    /// unless they have to be put off here too. Earlier ones are left to a caller
    /// further up the stack. Here, they would begin inside a poll that has not
    /// started them.
    #[inline]
    pub(super) fn start_put_off_since(&self, put_off: usize) {
        if self.starts.put_off.len() > put_off {
            self.start_put_off(put_off);
        }
    }

    /// Begins each of them as if it were started here: the starts that it puts off
    /// in turn come before the next one.
    #[cold]
    fn start_put_off(&self, from: usize) {
        let _telling = Telling(self);
        let Some(depth) = self.start_depth() else {
            return;
        };
        if self.runs.phase().is_some() {
            self.start_each_put_off(from, depth);
        } else {
            self.count_starts(|| self.start_each_put_off(from, depth));
        }
    }

    fn start_each_put_off(&self, from: usize, depth: u32) {
        // New starts are in order from this index on. Below it the order is
        // reversed: the last one is next.
        let mut in_order = from;
        loop {
            let key = {
                let mut put_off = self.starts.put_off.take();
                let len = put_off.len();
                put_off[in_order.min(len)..].reverse();
                let key = if len > from { put_off.pop() } else { None };
                self.starts.put_off.replace(put_off);
                if len <= from {
                    return;
                }
                in_order = len - 1;
                key
            };
            let task = key.and_then(|key| self.tasks.get(key));
            let Some(task) = task.filter(|task| task.is_alive()) else {
                continue;
            };
            if task.has(Flags::PAUSED) {
                self.remember_wake(task, task.home());
            } else {
                let key = task.task_key();
                self.start_within_limits(task, depth);
                self.note_start(key);
            }
        }
    }

    /// Where the host called `start`, if that call polls a coroutine now.
    pub(crate) fn started_from_host(&self) -> Option<&'static Location<'static>> {
        self.starts.from_host.get()
    }

    /// Polls a new coroutine, inside `depth` scopes of this executor.
    #[inline]
    fn start_now<'c>(&'c self, task: Task<'c>, depth: u32) {
        if task.has(Flags::SPECIAL) || self.clock.has_view() {
            self.start_special(task, depth);
            return;
        }
        self.poll_start(task, depth, |scope| {
            self.tasks.poll(task, &mut scope.context())
        });
    }

    /// The same for a coroutine that is watched or counts on a clock of its own.
    #[cold]
    #[inline(never)]
    fn start_special<'c>(&'c self, task: Task<'c>, depth: u32) {
        let _kept = self.keep_watched(task);
        self.poll_start(task, depth, |scope| self.poll_with_extras(scope, task));
    }

    #[inline(always)]
    fn poll_start<'c>(
        &'c self,
        task: Task<'c>,
        depth: u32,
        poll: impl FnOnce(&Scope<'c>) -> Polled,
    ) {
        let polled = scope::enter_deeper(self, depth, |scope| {
            scope.set_free(task, WaitKey::NOT_A_WAIT);
            self.runs.count_start(|| call::catch(|| poll(scope)))
        });
        match polled {
            Ok(polled) => self.after_poll(task, polled),
            Err(payload) => self.end(task, Some(payload)),
        }
    }
}

/// Drops a future or a closure that no executor accepts. If its destructor spawns
/// another one, and so on without end, the one at depth [`MAX_DEPTH`] leaks instead.
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
