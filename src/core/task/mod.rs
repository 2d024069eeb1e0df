//! The one door to futures and their outputs: insert, poll, drop, take.
//!
//! [`Tasks`] owns the blocks that futures live in. Its interface is safe: it
//! keeps the state of each task, and refuses what the state forbids.
//!
//! - Only an idle task is polled.
//! - A future is dropped only if its task is idle, or its stop is deferred.
//! - A future or an output that is gone is not touched.
//! - An output is taken only by the handle that was made with its task, or by code that
//!   compares the types.
//!
//! Code outside holds keys, handles, and [`Task`]s, which live no longer than a
//! borrow of the table.
//!
//! # Safety
//!
//! ## Who may touch what, and when
//!
//! - **The block.** [`Pool`] allocates it, and frees it when the table is dropped. Until
//!   then the block keeps its address and its class. If a block may still hold a future
//!   by then, the pool leaks: futures are pinned.
//! - **The header.** `carve` writes it once, before anything else knows the block. From
//!   then on all code has shared references only, and each field is a cell or an atomic.
//!   So a reference to a header stays valid even after its task has ended. Other threads
//!   read two fields, through a [`TaskCell`] of a scope: the key and the generation, which
//!   are atomic. The executor's thread alone writes them. In detail:
//!   - The *vtable* changes only in `insert`, together with the future that it fits.
//!   - The *index* in the key never changes: a wait key of another task cannot be
//!     registered, because a [`FreeKey`] carries the task that it was made from.
//!   - The *generation* changes only in `insert`.
//!   - The *state* is written by this module and by `block` only.
//!   - The *references* are counted by this module only. While a [`Reference`] exists, the
//!     block is not released. At its limit the count stays, and the block is never released.
//!   - *Flags*, *registered wait*, *member* and *joiners* may be changed by the whole
//!     core. No unsafe code relies on them.
//! - **The future.** It is in the block from `insert` on, until `block::poll` or
//!   `drop_future` drops it in place. Only the functions of its [`VTable`] refer to it,
//!   and only this module calls these. Before the call, the state says that the future
//!   is there; during the call, the state refuses every other access.
//! - **The output.** It is in the same place while the state is `Finished`. It leaves
//!   through `take_output`, which reads it, or `drop_output`: both first store `Taken`.
//!   An output without a destructor may also stay behind when its block is released.
//! - **The vacant list.** A released block is in the list of its class. The list's
//!   links are in the header's `cold`. Only `take_vacant` and `add_vacant` change the
//!   list, with their variants for strict alignments. An occupied block has the index of
//!   its cold data there, which no unsafe code relies on: `set_cold` and `take_cold`
//!   refuse a vacant block, and `release` refuses a task that has cold data.
//!
//! ## Why each function is safe to call
//!
//! A caller may keep a [`Task`] while user code runs. By then the task may have ended,
//! and its block may have another occupant. Even so each function acts on the present
//! occupant, with the present state and vtable: the call may be a mistake, but memory
//! stays sound. The lifetime of a `Task` ends before its table does.
//!
//! - `insert` writes only into a vacant block, of the class of the future's vtable.
//!   Nothing in a vacant block has to be dropped: see `release`.
//! - `poll` begins in state `Idle` only, and stores `Polling`. Inside the poll, `poll`,
//!   `drop_future`, `take_output`, `drop_output` and `release` refuse.
//!   `stop` stores `PollingStopped`, which they refuse, too.
//! - `stop` and `end` only move between states that agree on what is in
//!   the block.
//! - `drop_future` begins in states `Idle`, `Stopping` and `Unwound` only. It stores
//!   `Dropping`, which the others refuse, and after that `Dropped`.
//! - `take_output` needs a [`TaskOf`], which knows the type. `open` makes it from a
//!   [`TaskHandle`], which it borrows. So the handle keeps the block, and with it the
//!   type. `of` compares the executor, and panics if it differs.
//! - `take_unobserved` compares the type's id with that of the output.
//! - `drop_output` keeps a reference during the call: the output may own the last handle.
//! - `refer`, `release`: both check that the task is of this table. Indices have a
//!   meaning in one table only.
//! - `release` needs a task that has ended, with no reference, no cold data, and no
//!   output that has to be dropped.
//! - `get`, `waiting` and `at` find blocks by index, with a check of the bounds.

#![expect(
    unsafe_code,
    reason = "the one door to futures: the states of tasks guard the blocks"
)]

pub(crate) mod block;
mod header;
mod pool;

use std::any::TypeId;
use std::cell::Cell;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::mem;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::task::Context;

use crate::time::PhaseIndex;

use crate::core::base::call::{self, Payload};
use crate::core::base::cell::Guarded;
use crate::core::base::key::{TaskKey, WaitKey};
use crate::core::base::list::List;

pub(crate) use block::{MoveIn, Moved, Moving, move_in};
pub(crate) use header::{Flags, Header, NO_JOINER, State};

use block::VTable;
use pool::{Class, Pool};

/// A task, while its table is borrowed. Its block may receive another occupant. The
/// generation tells the occupants apart.
#[derive(Clone, Copy)]
pub(crate) struct Task<'t> {
    block: NonNull<Header>,
    table: PhantomData<&'t Tasks>,
}

impl Deref for Task<'_> {
    type Target = Header;

    #[inline(always)]
    fn deref(&self) -> &Header {
        // SAFETY: `carve` wrote the header before the first `Task` of the block was
        // made. Since then the header is only shared: it changes through cells. The
        // block does not move while its table exists, and the table outlives the
        // `Task`.
        unsafe { self.block.as_ref() }
    }
}

impl PartialEq for Task<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.block == other.block
    }
}

impl<'t> Task<'t> {
    /// The key under which a wait can be registered with the task. No wait must be
    /// registered with it yet.
    #[inline(always)]
    pub(crate) fn free_key(self) -> FreeKey<'t> {
        FreeKey {
            task: self,
            key: self.wait_key().registered(),
        }
    }

    /// The address of the future or the output in the block, if its table is this one.
    #[inline(always)]
    fn content(self, vtable: &VTable) -> *mut () {
        let block = self.block.as_ptr().cast::<u8>();
        block.wrapping_add(vtable.content_at).cast()
    }
}

/// A key under which a wait can be registered. It belongs to one task. So a task
/// never gets a key with the index of another task.
#[derive(Clone, Copy)]
pub(crate) struct FreeKey<'t> {
    task: Task<'t>,
    key: WaitKey,
}

impl<'t> FreeKey<'t> {
    #[inline(always)]
    pub(crate) fn task(self) -> Task<'t> {
        self.task
    }

    #[inline(always)]
    pub(crate) fn get(self) -> WaitKey {
        self.key
    }

    /// Registers a wait under the key.
    #[inline(always)]
    pub(crate) fn register(self, frame_bound: bool) -> WaitKey {
        self.task.register(self.key, frame_bound);
        self.key
    }
}

/// A cell that holds a task. Other threads may read the cell: they find a task of the
/// same lifetime, and may read its key.
#[derive(Debug)]
pub(crate) struct TaskCell<'t> {
    block: AtomicPtr<Header>,
    /// Makes the lifetime invariant: a task of another lifetime cannot be put in.
    task: PhantomData<Cell<Option<Task<'t>>>>,
}

impl<'t> TaskCell<'t> {
    #[inline(always)]
    pub(crate) fn new(task: Option<Task<'t>>) -> Self {
        TaskCell {
            block: AtomicPtr::new(pointer(task)),
            task: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> Option<Task<'t>> {
        let block = NonNull::new(self.block.load(Ordering::Relaxed))?;
        Some(Task {
            block,
            table: PhantomData,
        })
    }

    #[inline(always)]
    pub(crate) fn set(&self, task: Option<Task<'t>>) {
        self.block.store(pointer(task), Ordering::Relaxed);
    }
}

#[inline(always)]
fn pointer(task: Option<Task<'_>>) -> *mut Header {
    task.map_or(ptr::null_mut(), |task| task.block.as_ptr())
}

/// Keeps a block from being used for another task. The table makes references and
/// takes them back.
#[derive(Debug)]
pub(crate) struct Reference {
    executor: u32,
    block: NonNull<Header>,
}

/// A [`Reference`] to a task whose future has the output `T`. Only two functions make
/// a handle: `insert`, which knows the type, and `take_unobserved`, which compares it.
#[derive(Debug)]
pub(crate) struct TaskHandle<T> {
    reference: Reference,
    output: PhantomData<fn() -> T>,
}

/// A task whose future has the output `T`, while its handle is borrowed.
pub(crate) struct TaskOf<'t, T> {
    task: Task<'t>,
    output: PhantomData<fn() -> T>,
}

impl<'t, T> TaskOf<'t, T> {
    #[inline(always)]
    pub(crate) fn get(self) -> Task<'t> {
        self.task
    }
}

impl<T> Clone for TaskOf<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for TaskOf<'_, T> {}

impl<T> TaskHandle<T> {
    pub(crate) fn reference(&self) -> &Reference {
        &self.reference
    }
}

/// The result of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Polled {
    /// The task waits.
    Pending,
    /// The task has returned, and its output is there.
    Returned,
    /// The task was stopped during the poll. The caller must drop its future.
    Stopped,
    /// The task could not be polled: it is being polled, or it has ended.
    Refused,
}

/// The result of a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Stop {
    /// The caller must drop the future, now or later.
    Begins,
    /// The end of the poll under way stops the task, unless it returns.
    AfterPoll,
    /// The task has ended, or its end is under way.
    TooLate,
}

/// All tasks of an executor.
pub(crate) struct Tasks {
    executor: u32,
    /// The block of each index.
    blocks: List<NonNull<Header>>,
    /// The first vacant block of each class. Its header has the index of the next
    /// one.
    vacant: Box<[Cell<u32>; Class::COUNT]>,
    store: Guarded<Store>,
    alive: Cell<usize>,
}

/// Executors are numbered from 1.
static NEXT_EXECUTOR: AtomicU32 = AtomicU32::new(1);

/// The memory of blocks.
struct Store {
    /// The first vacant block of each layout with an alignment too strict for the
    /// numbered classes.
    aligned: HashMap<Class, u32>,
    pool: Pool,
}

/// Ends the list of vacant blocks.
const NONE_VACANT: u32 = u32::MAX;

#[allow(
    clippy::unused_self,
    clippy::needless_pass_by_value,
    reason = "the table is the door, and what is given back is consumed"
)]
impl Tasks {
    /// Makes a table with a number that no other table has: the number of its executor.
    pub(crate) fn new() -> Self {
        // Numbers stay unique even if `expect` panics and the panic is caught.
        let order = Ordering::Relaxed;
        let number = NEXT_EXECUTOR.fetch_update(order, order, |number| number.checked_add(1));
        Tasks {
            executor: number.expect("fewer than 2^32 executors are made"),
            blocks: List::default(),
            vacant: Box::new([const { Cell::new(NONE_VACANT) }; Class::COUNT]),
            store: Guarded::new(Store {
                aligned: HashMap::new(),
                pool: Pool::default(),
            }),
            alive: Cell::new(0),
        }
    }

    /// Stores a future as an idle task with the home phase `home`.
    #[inline(always)]
    pub(crate) fn insert<'f>(&self, future: Moving<'f>, home: PhaseIndex) -> (Task<'_>, Moved<'f>) {
        let vtable = future.vtable;
        let task = match self.take_vacant(vtable) {
            Some(task) => task,
            None => self.carve(vtable),
        };
        // SAFETY: the block was carved for the class of the future's table: only `release`
        // adds a block to the list of a class. So the future fits its content, and moves
        // only when the block is vacant again. The block is vacant: nothing in it has to be
        // dropped.
        unsafe { future.write_to(task.content(vtable)) };
        task.occupy(vtable, home);
        self.alive.set(self.alive.get() + 1);
        // `occupy` has counted it.
        let reference = Reference {
            executor: self.executor,
            block: task.block,
        };
        let moved = Moved {
            reference,
            call: PhantomData,
        };
        (task, moved)
    }

    /// Takes a vacant block of a class.
    #[inline]
    fn take_vacant(&self, vtable: &VTable) -> Option<Task<'_>> {
        let Class::Numbered(number) = vtable.class else {
            return self.take_aligned(vtable);
        };
        let vacant = &self.vacant[usize::from(number)];
        if vacant.get() == NONE_VACANT {
            return None;
        }
        let task = self.at(vacant.get());
        vacant.set(task.cold.get());
        Some(task)
    }

    /// Adds a block to the vacant ones of its class.
    #[inline]
    fn add_vacant(&self, task: Task<'_>) {
        let Class::Numbered(number) = task.vtable().class else {
            return self.add_aligned(task);
        };
        let vacant = &self.vacant[usize::from(number)];
        task.cold.set(vacant.replace(task.index()));
    }

    #[cold]
    #[inline(never)]
    fn take_aligned(&self, vtable: &VTable) -> Option<Task<'_>> {
        let mut store = self.store.borrow_mut();
        let vacant = store.aligned.get_mut(&vtable.class)?;
        if *vacant == NONE_VACANT {
            return None;
        }
        let task = self.at(*vacant);
        *vacant = task.cold.get();
        Some(task)
    }

    #[cold]
    #[inline(never)]
    fn add_aligned(&self, task: Task<'_>) {
        let mut store = self.store.borrow_mut();
        let class = task.vtable().class;
        let vacant = store.aligned.entry(class).or_insert(NONE_VACANT);
        task.cold.set(mem::replace(vacant, task.index()));
    }

    /// Makes a block, which is vacant and in no list.
    #[cold]
    #[inline(never)]
    fn carve(&self, vtable: &'static VTable) -> Task<'_> {
        let block = self.store.borrow_mut().pool.carve(vtable.class);
        let block = block.cast::<Header>();
        let first_stamp = WaitKey::first_stamp(self.executor);
        // Code of the allocator may spawn, and so use up the room and the index. From the
        // index to the push, nothing is allocated.
        loop {
            self.blocks.make_room();
            let index = self.len();
            assert!(
                (index as usize) < WaitKey::MAX_INDEX,
                "more than 2^31 coroutines at once"
            );
            // SAFETY: a block of any class has room for a header and is aligned for it.
            // Nothing else refers to a new block.
            unsafe { block.write(Header::vacant(vtable, index, first_stamp)) };
            if self.blocks.push_in_place(block) {
                break;
            }
        }
        Task {
            block,
            table: PhantomData,
        }
    }

    /// The task of an index that this table has assigned.
    #[inline(always)]
    pub(crate) fn at(&self, index: u32) -> Task<'_> {
        Task {
            block: self.blocks.at(index as usize),
            table: PhantomData,
        }
    }

    /// Panics if a task is of another table. Indices have a meaning in one table
    /// only.
    #[inline(always)]
    fn expect_mine(&self, task: Task<'_>) {
        let at_index = self.blocks.get(task.index() as usize);
        assert!(at_index == Some(task.block), "a task of another executor");
    }

    /// The task of a key. `None` if the block is vacant or has another occupant.
    #[inline]
    pub(crate) fn get(&self, key: TaskKey) -> Option<Task<'_>> {
        if key.index >= self.len() {
            return None;
        }
        let task = self.at(key.index);
        (task.generation() == key.generation && !task.is_in(State::Vacant)).then_some(task)
    }

    /// The task of a reference.
    ///
    /// # Panics
    ///
    /// If the reference is one of another executor.
    #[inline]
    pub(crate) fn of(&self, reference: &Reference) -> Task<'_> {
        assert!(
            reference.executor == self.executor,
            "a task of another executor"
        );
        Task {
            block: reference.block,
            table: PhantomData,
        }
    }

    /// The task with which the wait under `key` is registered. `None` if the key is
    /// stale.
    #[inline]
    pub(crate) fn waiting(&self, key: WaitKey) -> Option<Task<'_>> {
        let block = self.blocks.get(key.task_index() as usize)?;
        let task = Task {
            block,
            table: PhantomData,
        };
        (task.wait_key() == key).then_some(task)
    }

    /// How many indices have been assigned.
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.blocks.len()).expect("below 2^31")
    }

    /// The number of the executor, unique in the program.
    pub(crate) fn executor(&self) -> u32 {
        self.executor
    }

    /// How many tasks are alive.
    #[inline]
    pub(crate) fn alive(&self) -> usize {
        self.alive.get()
    }

    /// Polls a task, if the task is idle. If the poll unwinds, the caller must end the
    /// task. By then the task is idle again, or has no future any more.
    #[inline(always)]
    pub(crate) fn poll(&self, task: Task<'_>, cx: &mut Context<'_>) -> Polled {
        if !task.begin_poll() {
            return Polled::Refused;
        }
        let unwinds = Unwinds(task);
        // SAFETY: the table is that of the block's future. The task was idle, so
        // the future is there. Since then its state refuses all other accesses.
        let returned = call::out(|| unsafe { (task.vtable().poll)(task.block, cx) });
        mem::forget(unwinds);
        if returned {
            task.set_state(State::Finished);
            self.alive.set(self.alive.get() - 1);
            Polled::Returned
        } else if task.end_poll() {
            Polled::Pending
        } else {
            Polled::Stopped
        }
    }

    /// Stops a task. If it is idle, it is not polled any more.
    #[inline]
    pub(crate) fn stop(&self, task: Task<'_>) -> Stop {
        match task.state() {
            State::Idle => {
                task.set_state(State::Stopping);
                self.alive.set(self.alive.get() - 1);
                return Stop::Begins;
            }
            State::Polling => task.set_state(State::PollingStopped),
            State::PollingStopped | State::Returning => {}
            _ => return Stop::TooLate,
        }
        Stop::AfterPoll
    }

    /// Drops the future of a task that is idle, was stopped, or has unwound from its poll.
    /// Returns the payload if the destructor panics. Returns `None` if the state of the
    /// task forbids it.
    pub(crate) fn drop_future(&self, task: Task<'_>) -> Option<Result<(), Payload>> {
        match task.state() {
            State::Idle | State::Unwound => self.alive.set(self.alive.get() - 1),
            State::Stopping => {}
            _ => return None,
        }
        let is_there = !task.is_in(State::Unwound);
        task.set_state(State::Dropping);
        let dropped = if is_there {
            // SAFETY: the table is that of the block's future. The state said that
            // the future is there and not being polled. Now the state says that the
            // future is being dropped, and refuses all other accesses.
            call::catch(|| unsafe { (task.vtable().drop_future)(task.content(task.vtable())) })
        } else {
            Ok(())
        };
        task.set_state(State::Dropped);
        Some(dropped)
    }

    /// Records how a task ended, once its future is dropped.
    pub(crate) fn end(&self, task: Task<'_>, panicked: bool) {
        if task.is_in(State::Dropped) {
            task.set_state(if panicked {
                State::Panicked
            } else {
                State::Stopped
            });
        }
    }

    /// The task of a handle.
    #[inline]
    pub(crate) fn open<'t, T>(&'t self, handle: &'t TaskHandle<T>) -> TaskOf<'t, T> {
        TaskOf {
            task: self.of(&handle.reference),
            output: PhantomData,
        }
    }

    /// Takes the output of a task, if it is there.
    #[inline]
    pub(crate) fn take_output<T>(&self, task: TaskOf<'_, T>) -> Option<T> {
        let task = task.task;
        if !task.is_in(State::Finished) {
            return None;
        }
        task.set_state(State::Taken);
        // SAFETY: the state said that the output is there. Now it says that the output
        // is taken, so the output is read once. It is in the content, initialised and
        // aligned. `task` borrows a handle that was made for this task. The handle keeps
        // the block from being used for another task, so `T` is the output's type.
        Some(unsafe { task.content(task.vtable()).cast::<T>().read() })
    }

    /// The type of the output of a task, if the output is there.
    pub(crate) fn output_type(&self, task: Task<'_>) -> Option<TypeId> {
        task.is_in(State::Finished)
            .then(|| (task.vtable().output_type)())
    }

    /// Takes the output of a task that has no handle, if the output is there and of type
    /// `T`.
    pub(crate) fn take_unobserved<T: 'static>(&self, task: Task<'_>) -> Option<T> {
        if self.output_type(task) != Some(TypeId::of::<T>()) {
            return None;
        }
        let handle = TaskHandle {
            reference: self.refer(task),
            output: PhantomData,
        };
        let output = self.take_output(self.open(&handle));
        self.drop_reference(handle.reference);
        output
    }

    /// Drops the output of a task, if it is there.
    pub(crate) fn drop_output(&self, task: Task<'_>) -> Result<(), Payload> {
        if !task.is_in(State::Finished) {
            return Ok(());
        }
        task.set_state(State::Taken);
        if !task.vtable().output_needs_drop {
            return Ok(());
        }
        // The output may own the last handle.
        task.add_reference();
        // SAFETY: the table is that of the block's future. The state said that the
        // output is there. Now it says that the output is taken, so the output is
        // dropped once.
        let dropped =
            call::catch(|| unsafe { (task.vtable().drop_output)(task.content(task.vtable())) });
        task.remove_reference();
        dropped
    }

    /// Whether the output of a task is there and has a destructor.
    #[inline]
    pub(crate) fn has_output_to_drop(&self, task: Task<'_>) -> bool {
        task.vtable().output_needs_drop && task.is_in(State::Finished)
    }

    /// Makes a reference to a task.
    pub(crate) fn refer(&self, task: Task<'_>) -> Reference {
        self.expect_mine(task);
        assert!(!task.is_in(State::Vacant), "a task that has been released");
        task.add_reference();
        Reference {
            executor: self.executor,
            block: task.block,
        }
    }

    pub(crate) fn add_reference(&self, reference: &Reference) -> Reference {
        self.of(reference).add_reference();
        Reference { ..*reference }
    }

    /// Takes a reference back. The caller must then try to [release](Tasks::release)
    /// the block.
    #[inline]
    pub(crate) fn drop_reference(&self, reference: Reference) -> Task<'_> {
        let task = self.of(&reference);
        task.remove_reference();
        task
    }

    /// Takes back the handle that could take the output.
    #[inline]
    pub(crate) fn drop_handle<T>(&self, handle: TaskHandle<T>) -> Task<'_> {
        let task = self.drop_reference(handle.reference);
        task.clear(Flags::HANDLE);
        task
    }

    /// Turns the handle that could take the output into a plain reference.
    pub(crate) fn give_up_output<T>(&self, handle: TaskHandle<T>) -> Reference {
        self.of(&handle.reference).clear(Flags::HANDLE);
        handle.reference
    }

    /// Whether a task has ended, no reference to its block is left, and no output has to
    /// be dropped.
    #[inline]
    pub(crate) fn is_unneeded(&self, task: Task<'_>) -> bool {
        task.has_ended() && !task.is_referenced() && !self.has_output_to_drop(task)
    }

    /// Makes the block of a task vacant, if the task is unneeded and has no cold data.
    /// Returns whether the block is vacant now.
    #[inline(always)]
    pub(crate) fn release(&self, task: Task<'_>) -> bool {
        if !self.is_unneeded(task) || task.has_cold() {
            return false;
        }
        self.expect_mine(task);
        debug_assert!(task.member().is_none() && task.joiners.get() == NO_JOINER);
        if task.is_registered() {
            // Its wait was moved to another coroutine, or leaked.
            task.deregister();
        }
        task.set_state(State::Vacant);
        self.add_vacant(task);
        true
    }

    /// The name of the type of a task's future.
    pub(crate) fn type_name(&self, task: Task<'_>) -> &'static str {
        (task.vtable().type_name)()
    }

    /// Fetches the header of a task into the cache, and its future if that is small.
    #[inline(always)]
    pub(crate) fn prefetch(&self, index: u32) {
        if let Some(block) = self.blocks.get(index as usize) {
            pool::prefetch(block);
        }
    }
}

/// Exists during a poll. If the poll unwinds, the task is idle again, or `Unwound` if
/// its future is gone.
struct Unwinds<'t>(Task<'t>);

impl Drop for Unwinds<'_> {
    fn drop(&mut self) {
        let is_gone = self.0.is_in(State::Returning);
        self.0
            .set_state(if is_gone { State::Unwound } else { State::Idle });
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        let holds_future = |index| self.at(index).may_hold_future();
        if (0..self.len()).any(holds_future) {
            // Futures are pinned: their memory must not be reused before they are
            // dropped. An executor ends all tasks before it drops its table. If a
            // task is left even so, its memory leaks.
            mem::forget(mem::take(&mut self.store.borrow_mut().pool));
        }
    }
}
