//! Where user code finds the executor that is running it.
//!
//! Whenever an executor calls user code it installs a [`Level`] in a
//! thread-local: which executor, and which coroutine. Levels nest: a
//! coroutine that starts another, or steps another executor, adds one. This is
//! the narrow door through which waits and free functions reach the executor.

use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::task::{Context, Waker};

use crate::core::Core;
use crate::owner::OwnerIndex;
use crate::pending::Pending;
use crate::since::Since;
#[cfg(all(test, framestep_loom))]
use crate::sync::LocalCell;
use crate::sync::thread_local;
use crate::task::{Primary, TaskRef};
use crate::ticket::Ticket;
use crate::waker;

thread_local! {
    static INNERMOST: Cell<*const Level> = const { Cell::new(&raw const OUTSIDE.0) };
    /// The executors of this thread, a list linked through their cores.
    static CORES: Cell<*const Core> = const { Cell::new(ptr::null()) };
}

/// What is installed when no executor is at work: a level with nothing in it,
/// so that the fast paths need not ask whether there is one.
static OUTSIDE: Outside = Outside(Level {
    core: ptr::null(),
    current: Cell::new(None),
    waker: Cell::new(ptr::null()),
    pending: Cell::new(Pending::ELSEWHERE),
    resumed: Cell::new(Ticket::VOID),
    mark: Since::mark(0, 0),
    owner: None,
    outer: ptr::null(),
    depth: 0,
});

struct Outside(Level);

// SAFETY: only executors write to levels, each to those it made; nobody writes
// to this one.
unsafe impl Sync for Outside {}

/// One call from an executor into user code.
pub(crate) struct Level {
    core: *const Core,
    /// The coroutine that is being polled or dropped.
    pub(crate) current: Cell<Option<TaskRef>>,
    /// The waker in the `Context` of the poll under way, by address.
    pub(crate) waker: Cell<*const Waker>,
    /// What has been registered with the coroutine in the poll under way.
    pub(crate) pending: Cell<Pending>,
    /// The ticket by which the coroutine is being resumed. Never that of an
    /// unregistered wait: `Ticket::VOID` if it is polled for another reason.
    pub(crate) resumed: Cell<Ticket>,
    /// What waits note that begin in this level.
    pub(crate) mark: Since,
    /// Whose callback this is, if it is one of a behaviour.
    pub(crate) owner: Option<OwnerIndex>,
    outer: *const Level,
    depth: u32,
}

impl Level {
    /// The executor. Not to be asked of a level that `is_outside`.
    #[inline]
    pub(crate) fn core(&self) -> &Core {
        debug_assert!(!self.is_outside());
        // SAFETY: `enter` borrows the core for longer than the level lives.
        unsafe { &*self.core }
    }

    /// The coroutine that is being polled or dropped, if `core` does that.
    #[inline(always)]
    pub(crate) fn current_in(&self, core: *const Core) -> Option<(&Core, TaskRef)> {
        let current = self.current.get().filter(|_| ptr::eq(self.core, core))?;
        Some((self.core(), current))
    }

    /// Whether no executor is at work.
    #[inline]
    pub(crate) fn is_outside(&self) -> bool {
        self.core.is_null()
    }

    /// The ticket by which the coroutine is being resumed, which is not that of a
    /// wait that has not begun.
    #[inline(always)]
    pub(crate) fn resumed(&self) -> Ticket {
        let resumed = self.resumed.get();
        // SAFETY: it is set to `VOID` and by `lifecycle::poll` alone, to what came
        // out of a queue, a wheel or a list of joiners, or to `VOID`; only what is
        // registered gets there.
        unsafe { std::hint::assert_unchecked(resumed != Ticket::NEW) };
        resumed
    }

    /// What to poll with: the waker that this level lends.
    #[inline]
    pub(crate) fn context(&self) -> Context<'_> {
        // SAFETY: the waker is set for the length of the level and outlives it.
        Context::from_waker(unsafe { &*self.waker.get() })
    }

    /// The coroutine being polled, if `cx` carries its own waker.
    #[inline]
    pub(crate) fn own_task(&self, cx: &Context<'_>) -> Option<TaskRef> {
        // By address: a wrapper's waker, even one that wakes this coroutine,
        // may have to be told as well.
        if ptr::eq(cx.waker(), self.waker.get()) {
            debug_assert!(self.current.get().is_some());
            // SAFETY: the waker is handed out for polls alone, during which
            // there is a current coroutine. (An address may be reused by
            // something else only after the level is gone.)
            Some(unsafe { self.current.get().unwrap_unchecked() })
        } else {
            None
        }
    }

    /// The same, if a wait may register with the coroutine itself. Then it is
    /// for the caller to note in `pending` that it has.
    #[inline(always)]
    pub(crate) fn free_task(&self, cx: &Context<'_>) -> Option<TaskRef> {
        if self.pending.get() == Pending::free(cx.waker()) {
            debug_assert!(self.own_task(cx).is_some());
            // SAFETY: as in `own_task`: `pending` is the address of no other waker
            // than that of the level.
            Some(unsafe { self.current.get().unwrap_unchecked() })
        } else {
            None
        }
    }

    /// The poll under way, of `task`, is over, and it does not stay in a queue.
    #[inline]
    pub(crate) fn end_poll(&self, task: TaskRef) {
        self.current.set(None);
        if self.pending.get().is_apart() {
            task.primary.set(Primary::NONE);
        }
    }

    /// The future of `task` has returned in the poll under way.
    #[inline]
    pub(crate) fn note_returned(&self, task: TaskRef) {
        debug_assert!(self.current.get() == Some(task));
        if self.pending.replace(Pending::RETURNED).is_apart() {
            task.primary.set(Primary::NONE);
        }
    }

    /// What `pending` is when a poll begins.
    #[inline(always)]
    pub(crate) fn free(&self) -> Pending {
        Pending::free(self.waker.get())
    }

    /// A waker of the current coroutine that may leave the executor.
    ///
    /// Also called on other threads, which may hold the borrowed waker for as
    /// long as the poll lasts (a scoped thread does).
    pub(crate) fn owned_waker(&self) -> Waker {
        let Some(task) = self.current.get() else {
            return Waker::noop().clone();
        };
        if self.is_on_this_thread() {
            self.core().owned_waker(task)
        } else {
            // Nothing but what does not change during a poll may be read here:
            // the level, the task's key, the inbox.
            self.outside_waker(task)
        }
    }

    #[cold]
    fn outside_waker(&self, task: TaskRef) -> Waker {
        waker::outside(self.core().inbox.clone(), task.key())
    }

    /// Wakes the coroutine that is being polled.
    pub(crate) fn wake_current(&self) {
        let Some(task) = self.current.get() else {
            return;
        };
        if self.is_on_this_thread() {
            self.core().wake(task);
        } else {
            self.outside_waker(task).wake();
        }
    }

    fn is_on_this_thread(&self) -> bool {
        levels().any(|level| ptr::eq(&raw const *level, self))
    }
}

/// Installs a level for the length of `f`.
#[inline]
pub(crate) fn enter<R>(core: &Core, current: Option<TaskRef>, f: impl FnOnce(&Level) -> R) -> R {
    enter_as(core, current, None, f)
}

/// Installs a level in which what is spawned belongs to `owner`.
pub(crate) fn enter_owned<R>(core: &Core, owner: OwnerIndex, f: impl FnOnce() -> R) -> R {
    enter_as(core, None, Some(owner), |_| f())
}

#[inline]
fn enter_as<R>(
    core: &Core,
    current: Option<TaskRef>,
    owner: Option<OwnerIndex>,
    f: impl FnOnce(&Level) -> R,
) -> R {
    let outer = INNERMOST.get();
    let mut depth = 1;
    if let Some(outer) = level() {
        depth += outer.depth;
        // What the outer coroutine has begun to wait for comes before anything
        // that begins in here.
        if let Some(task) = outer.current.get() {
            outer.core().commit(&outer, task);
        }
    }
    let level = Level {
        core,
        current: Cell::new(current),
        waker: Cell::new(ptr::null()),
        pending: Cell::new(Pending::ELSEWHERE),
        resumed: Cell::new(Ticket::VOID),
        mark: core.mark(),
        owner,
        outer,
        depth,
    };
    // SAFETY: the level outlives the waker and stays where it is.
    let waker = ManuallyDrop::new(unsafe { waker::borrowed(&raw const level) });
    level.waker.set(&raw const *waker);
    let _uninstall = Uninstall {
        outer,
        level: PhantomData,
    };
    INNERMOST.set(&raw const level);
    f(&level)
}

/// Takes a level out of the thread-local again, also when unwinding.
struct Uninstall<'a> {
    outer: *const Level,
    level: PhantomData<&'a Level>,
}

impl Drop for Uninstall<'_> {
    #[inline]
    fn drop(&mut self) {
        INNERMOST.set(self.outer);
    }
}

/// A level that is installed.
///
/// Good for as long as the call lasts in which it was asked for: whoever asks
/// is called by the level, directly or not, and must not store it.
#[derive(Clone, Copy)]
pub(crate) struct LevelRef(NonNull<Level>);

impl Deref for LevelRef {
    type Target = Level;

    #[inline(always)]
    fn deref(&self) -> &Level {
        // SAFETY: a level is installed only while it is alive, and the code
        // that got this returns before the level does.
        unsafe { self.0.as_ref() }
    }
}

/// The innermost level, or the one outside of all executors.
#[inline(always)]
pub(crate) fn innermost() -> LevelRef {
    // SAFETY: what is installed is never null.
    LevelRef(unsafe { NonNull::new_unchecked(INNERMOST.get().cast_mut()) })
}

/// The innermost level, if the caller runs inside an executor.
#[inline(always)]
pub(crate) fn level() -> Option<LevelRef> {
    Some(innermost()).filter(|level| !level.is_outside())
}

/// How many levels this thread is in.
#[inline]
pub(crate) fn depth() -> u32 {
    innermost().depth
}

/// All levels of this thread, from the innermost outwards.
fn levels() -> impl Iterator<Item = LevelRef> {
    std::iter::successors(level(), |level| {
        // An outer level outlives the inner one.
        let outer = NonNull::new(level.outer.cast_mut()).map(LevelRef)?;
        Some(outer).filter(|outer| !outer.is_outside())
    })
}

/// The coroutine of `core` that is being polled innermost.
pub(crate) fn current_of(core: &Core) -> Option<TaskRef> {
    polled_of(core).next()
}

/// The coroutines of `core` that are being polled, from the innermost
/// outwards.
pub(crate) fn polled_of(core: &Core) -> impl Iterator<Item = TaskRef> {
    let of_core = levels().filter(move |level| ptr::eq(level.core, core));
    of_core.filter_map(|level| level.current.get())
}

/// The level that is polling the coroutine, if one is.
pub(crate) fn level_of(task: TaskRef) -> Option<LevelRef> {
    levels().find(|level| level.current.get() == Some(task))
}

/// What is registered with a coroutine, be it in a poll that is under way.
pub(crate) fn registered(task: TaskRef) -> Primary {
    let pending = level_of(task).map(|level| level.pending.get());
    match pending.filter(|pending| pending.is_apart()) {
        Some(pending) => pending.to_queue().unwrap_or(Primary::NONE),
        None => task.primary.get(),
    }
}

/// Calls `f` with the executor of a wait, if it still exists.
pub(crate) fn with_executor<R>(since: Since, f: impl FnOnce(&Core) -> R) -> Option<R> {
    // SAFETY: cores leave the list before they are dropped.
    let first = unsafe { CORES.get().as_ref() };
    // SAFETY: as above, and for the length of this call none leaves: `f` gets
    // a shared reference, and whoever owns the core is further up the stack or
    // is kept by it.
    let mut cores = std::iter::successors(first, |core| unsafe { core.next.get().as_ref() });
    cores.find(|core| since.is_of(core.id)).map(f)
}

/// Makes a core findable by [`with_executor`], until [`remove`].
pub(crate) fn add(core: &Core) {
    core.next.set(CORES.get());
    CORES.set(core);
}

/// Takes a core out of the list of its thread.
pub(crate) fn remove(core: &Core) {
    let next = core.next.get();
    if ptr::eq(CORES.get(), core) {
        CORES.set(next);
        return;
    }
    // SAFETY: cores leave the list before they are dropped.
    let first = unsafe { CORES.get().as_ref() };
    // SAFETY: as above.
    let mut cores = std::iter::successors(first, |core| unsafe { core.next.get().as_ref() });
    if let Some(previous) = cores.find(|previous| ptr::eq(previous.next.get(), core)) {
        previous.next.set(next);
    }
}
