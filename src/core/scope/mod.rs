//! Where user code finds the executor that runs it.
//!
//! Whenever an executor calls user code, it installs a [`Scope`] in a
//! thread-local. The scope names the executor and the coroutine. Scopes nest: a
//! coroutine that starts another, or steps another executor, adds one. Through
//! the scope, waits and free functions reach the executor from inside a poll.
//! Code that runs in no scope, such as a destructor, finds an executor of its thread by number.
//! This is the one knot of the crate: the place where modules depend on each
//! other in a circle.

#![expect(
    unsafe_code,
    reason = "finds scopes on the stack, and lends their wakers"
)]

pub(crate) mod named;
pub(crate) mod recording;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::ptr;
use std::rc::{Rc, Weak};
use std::task::{Context, RawWaker, RawWakerVTable, Waker};

use crate::core::Core;
use crate::core::base::call::{self, Foreign};
use crate::core::base::cell::Restore;
use crate::core::base::key::WaitKey;
use crate::core::owners::OwnerKey;
use crate::core::phase::state::PhaseState;
use crate::core::scope::recording::Recording;
use crate::core::task::{FreeKey, Task, TaskCell};
use crate::core::wake;
use crate::core::wake::waker::sync::thread_local;
use crate::core::wake::waker::{self, Order};
use crate::time::PhaseIndex;

#[cfg(all(test, framestep_loom))]
use crate::core::wake::waker::sync::LocalCell;

thread_local! {
    static INNERMOST: Cell<*const Scope<'static>> = const { Cell::new(ptr::null()) };
}

/// One call from an executor into user code.
pub(crate) struct Scope<'c> {
    core: &'c Core,
    /// The coroutine that is being polled or dropped. Other threads may read the cell.
    current: TaskCell<'c>,
    /// The key of the wait that resumes the coroutine. `NOT_A_WAIT` if it is not resumed
    /// by a wait.
    resumed: Cell<WaitKey>,
    /// The waker of this scope. It lives beside the scope in `enter_as`.
    waker: Cell<*const Waker>,
    /// The address of the waker in the `Context` of the poll under way: the waker of the
    /// scope, or the task waker. The address is only compared.
    lent: Cell<*const Waker>,
    /// The coroutine that is being polled, if it is known that no wait is registered with
    /// the task itself.
    free: TaskCell<'c>,
    /// The recorder of the coroutine that is being polled or dropped. Null without one.
    recording: Cell<*const Recording<'static>>,
    /// The phase of this run. Update for other user code.
    phase: &'c PhaseState,
    /// The owner of a behaviour, if this is a call of one of its callbacks.
    owner: Option<OwnerKey>,
    outer: *const Scope<'static>,
    /// How many scopes of this thread there are from here outwards.
    depth: u32,
}

impl<'c> Scope<'c> {
    #[inline(always)]
    pub(crate) fn core(&self) -> &'c Core {
        self.core
    }

    /// The coroutine that is being polled or dropped.
    #[inline(always)]
    pub(crate) fn current(&self) -> Option<Task<'c>> {
        self.current.get()
    }

    /// The coroutine that is being polled.
    pub(crate) fn polled(&self) -> Option<Task<'c>> {
        self.current().filter(|task| task.is_polled())
    }

    /// The home phase of the coroutine that is being polled or dropped. Update for other
    /// user code.
    #[inline]
    pub(crate) fn home(&self) -> PhaseIndex {
        self.current()
            .map_or(PhaseIndex::UPDATE, |task| task.home())
    }

    /// The phase of this run. Update for other user code.
    #[inline(always)]
    pub(crate) fn phase(&self) -> &'c PhaseState {
        self.phase
    }

    /// The state of a phase. Fast if it is the phase of this run.
    #[inline(always)]
    pub(crate) fn phase_of(&self, phase: PhaseIndex) -> &'c PhaseState {
        if phase == self.phase.index {
            self.phase
        } else {
            self.core.phases.get(phase)
        }
    }

    /// Notes that a coroutine is about to be polled, and the key of the wait that resumes
    /// it. No wait may be registered with the task itself.
    #[inline(always)]
    pub(crate) fn set_free(&self, task: Task<'c>, resumed: WaitKey) {
        debug_assert!(!task.is_registered());
        self.current.set(Some(task));
        self.resumed.set(resumed);
        self.free.set(Some(task));
    }

    /// The same, but a wait may be registered with the task itself.
    #[inline(always)]
    pub(crate) fn set_current(&self, task: Task<'c>, resumed: WaitKey) {
        self.current.set(Some(task));
        self.resumed.set(resumed);
        self.free.set(None);
    }

    #[inline(always)]
    pub(crate) fn clear_current(&self) {
        self.current.set(None);
        self.free.set(None);
    }

    /// The key under which a wait can be registered with the task itself: if `cx` carries
    /// the waker that this scope lends, and no other wait is registered with the task.
    /// `None` also if that cannot be known without a look at the task.
    #[inline(always)]
    pub(crate) fn free_key(&self, cx: &Context<'_>) -> Option<FreeKey<'c>> {
        if !self.lends(cx) {
            return None;
        }
        let free = self.free.get()?;
        self.free.set(None);
        Some(free.free_key())
    }

    /// The same after a look at `task`, which must be the task that is polled.
    #[inline]
    pub(crate) fn find_free_key(&self, task: Task<'c>) -> Option<FreeKey<'c>> {
        if task.is_registered() {
            return None;
        }
        self.free.set(None);
        Some(task.free_key())
    }

    /// Whether the wait with this key resumes the coroutine. If so, the wait is due, and
    /// not registered any more.
    #[inline(always)]
    pub(crate) fn is_resumed_by(&self, key: WaitKey) -> bool {
        self.resumed.get() == key
    }

    /// Whether a coroutine other than `task` is being polled here.
    #[inline(always)]
    pub(crate) fn is_polling_another(&self, task: Task<'_>) -> bool {
        let current = self.current.get();
        current.is_some_and(|current| current != task && current.is_polled())
    }

    /// The home and the owner of coroutines that are spawned here: those of the coroutine
    /// being polled, or Update and the owner of the callback.
    #[inline(always)]
    pub(crate) fn heritage(&self) -> (PhaseIndex, Option<OwnerKey>) {
        match self.current() {
            Some(task) => (task.home(), self.core.owners.of(task)),
            None => (PhaseIndex::UPDATE, self.owner),
        }
    }

    /// The context for a poll. It carries the waker of this scope.
    #[inline(always)]
    pub(crate) fn context(&self) -> Context<'_> {
        // SAFETY: the pointer is aligned and not null: `enter_as` made it from a
        // reference before it lent the scope. The waker lives in that call of `enter_as`,
        // like the scope, so it outlives all borrows of the scope. Only shared references
        // to it exist.
        Context::from_waker(unsafe { &*self.waker.get() })
    }

    /// Whether `cx` carries the waker that this scope lends. Addresses are
    /// compared, because a wrapper's waker may have to be called even if it wakes
    /// this coroutine.
    #[inline(always)]
    pub(crate) fn lends(&self, cx: &Context<'_>) -> bool {
        ptr::eq(cx.waker(), self.lent.get())
    }

    /// The coroutine being polled, if `cx` carries the waker that this scope lends.
    #[inline(always)]
    pub(crate) fn own_task(&self, cx: &Context<'_>) -> Option<Task<'c>> {
        if self.lends(cx) { self.current() } else { None }
    }

    /// Notes that the coroutine is polled with `own`, its task waker, until the result is dropped.
    #[inline(always)]
    pub(crate) fn lend(&self, own: &Waker) -> Restore<'_, *const Waker> {
        Restore::after_setting(&self.lent, ptr::from_ref(own))
    }

    /// Returns a waker of the current coroutine that may outlive the poll.
    ///
    /// May be called on another thread: a scoped thread may use the lent waker until the
    /// poll returns.
    fn task_waker(&self) -> Waker {
        if self.is_on_this_thread() {
            self.note_use_of_waker(false);
            match self.current() {
                Some(task) => wake::task_waker(self.core(), task),
                None => Waker::noop().clone(),
            }
        } else {
            self.remote_waker()
        }
    }

    /// Wakes the current coroutine. May be called on another thread, too.
    fn wake_current(&self) {
        if self.is_on_this_thread() {
            if let Some(task) = self.current() {
                self.note_use_of_waker(true);
                wake::wake(self.core(), task.task_key());
            }
        } else {
            self.remote_waker().wake();
        }
    }

    /// Makes a waker of the current coroutine on another thread. Reads only what other
    /// threads may read: the cell of the current coroutine, the key of its task, and the
    /// injection queue.
    #[cold]
    fn remote_waker(&self) -> Waker {
        match self.current.get() {
            None => Waker::noop().clone(),
            Some(task) => waker::remote_waker(self.core.host.injected.clone(), task.task_key()),
        }
    }

    fn is_on_this_thread(&self) -> bool {
        let this = ptr::from_ref(self).cast::<()>();
        each(|scope| (ptr::from_ref(scope).cast() == this).then_some(())).is_some()
    }
}

static LENT: RawWakerVTable = RawWakerVTable::new(clone_lent, wake_lent, wake_lent, |_| ());

unsafe fn clone_lent(scope: *const ()) -> RawWaker {
    // SAFETY: `enter_as` made the data pointer from a scope. The caller borrows the
    // waker, and the scope outlives the waker. So the scope is alive. Other threads read
    // only what they may (`remote_waker`).
    let scope = unsafe { &*scope.cast::<Scope<'_>>() };
    let waker = ManuallyDrop::new(scope.task_waker());
    RawWaker::new(waker.data(), waker.vtable())
}

unsafe fn wake_lent(scope: *const ()) {
    // SAFETY: as in `clone_lent`.
    let scope = unsafe { &*scope.cast::<Scope<'_>>() };
    scope.wake_current();
}

/// Calls `f` inside the executor. Where that runs the caller already, nothing changes: a
/// coroutine that calls this stays the current one, with its waits, owner and home.
pub(crate) fn call_in<R>(core: &Core, f: impl FnOnce() -> R) -> R {
    if with(|scope| scope.is_some_and(|scope| ptr::eq(scope.core, core))) {
        return call::out(f);
    }
    let _notifies = core.host.notifies();
    enter(core, |_| call::out(f))
}

/// Installs a scope while `f` runs.
#[inline]
pub(crate) fn enter<'c, R>(core: &'c Core, f: impl FnOnce(&Scope<'c>) -> R) -> R {
    enter_as(core, core.phases.update(), None, None, f)
}

/// Installs a scope for a run of `phase`.
#[inline]
pub(crate) fn enter_run<'c, R>(
    core: &'c Core,
    phase: &'c PhaseState,
    f: impl FnOnce(&Scope<'c>) -> R,
) -> R {
    enter_as(core, phase, None, None, f)
}

/// Installs a scope in which `task` is polled or dropped.
#[inline]
pub(crate) fn enter_task<'c, R>(
    core: &'c Core,
    task: Task<'c>,
    f: impl FnOnce(&Scope<'c>) -> R,
) -> R {
    enter_as(core, core.phases.update(), Some(task), None, f)
}

/// Installs a scope in which spawned coroutines belong to `owner`.
pub(crate) fn enter_owned<R>(core: &Core, owner: OwnerKey, f: impl FnOnce() -> R) -> R {
    enter_as(core, core.phases.update(), None, Some(owner), |_| f())
}

#[inline]
fn enter_as<'c, R>(
    core: &'c Core,
    phase: &'c PhaseState,
    current: Option<Task<'c>>,
    owner: Option<OwnerKey>,
    f: impl FnOnce(&Scope<'c>) -> R,
) -> R {
    /// Takes the scope out of the thread-local again, even when unwinding.
    struct Leave(*const Scope<'static>);
    impl Drop for Leave {
        #[inline]
        fn drop(&mut self) {
            INNERMOST.set(self.0);
        }
    }
    let outer = INNERMOST.get();
    let scope = Scope {
        core,
        current: TaskCell::new(current),
        resumed: Cell::new(WaitKey::NOT_A_WAIT),
        waker: Cell::new(ptr::null()),
        lent: Cell::new(ptr::null()),
        free: TaskCell::new(None),
        recording: Cell::new(ptr::null()),
        phase,
        owner,
        outer,
        depth: depth() + 1,
    };
    let data = (&raw const scope).cast();
    // SAFETY: the functions of the table uphold the contract of `RawWaker` while the
    // scope at `data` is alive. The scope does not move, and outlives this waker. The
    // waker is only lent.
    let waker = ManuallyDrop::new(unsafe { Waker::from_raw(RawWaker::new(data, &LENT)) });
    scope.waker.set(&raw const *waker);
    scope.lent.set(&raw const *waker);
    let _leave = Leave(outer);
    INNERMOST.set((&raw const scope).cast());
    f(&scope)
}

/// Calls `f` with the innermost scope, if the caller runs inside an executor.
///
/// `f` accepts any lifetime. So neither the scope nor its task can leave `f`.
#[inline(always)]
pub(crate) fn with<R>(f: impl FnOnce(Option<&Scope<'_>>) -> R) -> R {
    with_inlined(Closure(f))
}

/// Like [`with`], for the waits that are polled most often. Their code must be inlined
/// into the polls of coroutines, and a closure cannot have the attribute
/// `inline(always)`.
#[inline(always)]
#[track_caller]
pub(crate) fn with_inlined<I: Inside>(inside: I) -> I::Output {
    // SAFETY: the pointer is null, or points to an installed scope. That scope is alive
    // and only shared until `Leave` takes it out. `Leave` is further up the stack, so
    // this happens after `call` has returned.
    inside.call(unsafe { INNERMOST.get().cast::<Scope<'_>>().as_ref() })
}

/// A function of the innermost scope, for [`with_inlined`].
pub(crate) trait Inside {
    type Output;

    fn call(self, scope: Option<&Scope<'_>>) -> Self::Output;
}

struct Closure<F>(F);

impl<R, F: FnOnce(Option<&Scope<'_>>) -> R> Inside for Closure<F> {
    type Output = R;

    #[inline(always)]
    fn call(self, scope: Option<&Scope<'_>>) -> R {
        (self.0)(scope)
    }
}

/// How many scopes are installed on this thread, of all executors.
#[inline]
pub(crate) fn depth() -> u32 {
    with(|scope| match scope {
        Some(scope) => scope.depth,
        None => recording::with_replay(|replay| replay.map_or(0, |replay| replay.depth)),
    })
}

/// Calls `f` with the scopes of this thread, from the innermost outwards, until
/// it returns `Some`.
fn each<R>(mut f: impl FnMut(&Scope<'_>) -> Option<R>) -> Option<R> {
    let found = each_from(INNERMOST.get(), &mut f);
    found.or_else(|| recording::each_hidden(|hidden| each_from(hidden, &mut f)))
}

/// The same from a scope of this thread on, or from none.
fn each_from<R>(
    mut at: *const Scope<'static>,
    f: &mut impl FnMut(&Scope<'_>) -> Option<R>,
) -> Option<R> {
    // SAFETY: the pointer is null, or points to an installed scope or to a scope around
    // it. All of them are alive and only shared until they are taken out, the inner ones
    // first.
    while let Some(scope) = unsafe { at.as_ref() } {
        if let Some(found) = f(scope) {
            return Some(found);
        }
        at = scope.outer;
    }
    None
}

/// Calls `f` with the coroutines of `core` that are being polled or dropped,
/// from the innermost outwards, until it returns `Some`.
pub(crate) fn each_current<R>(core: &Core, mut f: impl FnMut(Task<'_>) -> Option<R>) -> Option<R> {
    each(|scope| {
        let task = scope.current().filter(|_| ptr::eq(scope.core, core))?;
        f(task)
    })
}

/// Whether a coroutine of `core` is being polled.
#[inline]
pub(crate) fn is_polling(core: &Core) -> bool {
    each_current(core, |task| task.is_polled().then_some(())).is_some()
}

/// Whether `task` is the innermost coroutine of `core` that is being polled.
pub(crate) fn is_innermost(core: &Core, task: Task<'_>) -> bool {
    let innermost = |current: Task<'_>| current.is_polled().then_some(current == task);
    each_current(core, innermost).unwrap_or(false)
}

std::thread_local! {
    /// The executors of this thread, by number. Without a destructor, so that executors
    /// still work in the destructors of other thread-locals.
    static EXECUTORS: ManuallyDrop<RefCell<BTreeMap<u32, Weak<Core>>>> =
        const { ManuallyDrop::new(RefCell::new(BTreeMap::new())) };
    /// The executor that was found last. Hosts that wake scripts ask for the same one again and
    /// again. It leaves with its executor, like the entry above.
    static LATEST: ManuallyDrop<RefCell<(u32, Weak<Core>)>> =
        const { ManuallyDrop::new(RefCell::new((0, Weak::new()))) };
}

/// Calls `f` with the executor of number `id`. Returns `None` if this thread has no such
/// executor.
#[inline]
pub(crate) fn with_executor<R>(id: u32, f: impl FnOnce(&Core) -> R) -> Option<R> {
    with(|scope| match scope {
        Some(scope) if scope.core().id == id => Some(f(scope.core())),
        _ => find(id).map(|core| f(&core)),
    })
}

/// A call of `f` with the executor that takes the order.
pub(crate) fn order(f: impl FnOnce(&Core) + Send + 'static) -> Foreign<Order> {
    let order: Order = Box::new(move |executor| {
        with_executor(executor, f);
    });
    Foreign::new(order)
}

#[inline]
fn find(id: u32) -> Option<Rc<Core>> {
    let latest = LATEST.with(|latest| {
        let (of, core) = &*latest.borrow();
        if *of == id { core.upgrade() } else { None }
    });
    latest.or_else(|| look_up(id))
}

#[cold]
fn look_up(id: u32) -> Option<Rc<Core>> {
    let found = EXECUTORS.with(|executors| executors.borrow().get(&id).cloned())?;
    let core = found.upgrade();
    // The one before is only an address: nothing is dropped but its memory.
    LATEST.with(|latest| latest.replace((id, found)));
    core
}

/// Makes an executor known to [`with_executor`] until it is dropped.
pub(crate) fn know(core: &Rc<Core>) {
    EXECUTORS.with(|executors| executors.borrow_mut().insert(core.id, Rc::downgrade(core)));
}

/// Removes an executor that is being dropped.
impl Drop for Core {
    fn drop(&mut self) {
        LATEST.with(|latest| {
            if latest.borrow().0 == self.id {
                latest.replace((0, Weak::new()));
            }
        });
        EXECUTORS.with(|executors| {
            let mut executors = executors.borrow_mut();
            executors.remove(&self.id);
            if executors.is_empty() {
                // Frees the memory of the map with the last executor.
                *executors = BTreeMap::new();
            }
        });
    }
}
