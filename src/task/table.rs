//! All tasks of an executor: from index to block, and from free block to task.

use std::alloc::Layout;
use std::collections::HashMap;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::task::Waker;

use slab::Slab;

use crate::key::TaskKey;
use crate::phase::PhaseIndex;
use crate::prefetch::prefetch;
use crate::ticket::Ticket;

use super::extra::Extra;
use super::header::{Flags, Header, Lifecycle, TaskRef};
use super::link::{Link, Linked};
use super::pool::{Class, Pool};
use super::stage::{self, VTable};

impl std::fmt::Debug for TaskRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TaskRef({:?})", self.key())
    }
}

/// The task of an entry in a list of those to poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wakeup {
    index: u32,
    stamp: u32,
}

/// Ends the list of free blocks.
const NONE_FREE: u32 = u32::MAX;

/// Slots are counted in 32 bits: there are less than [`Ticket::MAX_INDEX`].
fn index_of(index: usize) -> u32 {
    u32::try_from(index).expect("more than 2^32 of one kind")
}

/// Stores tasks.
///
/// A task's index and its block belong together for ever: a free block waits,
/// with its index, its generation and its stamps, for the next future of its
/// size. Whatever still names an earlier occupant is told apart by those.
pub(crate) struct TaskTable {
    /// The block of each index.
    blocks: Vec<TaskRef>,
    /// Which entry of each in the lists of those to poll is current.
    wake_stamps: Vec<u32>,
    extras: Slab<Extra>,
    /// The first free block of each class; the next one stands in its header.
    free: Box<[u32; Class::COUNT]>,
    /// The same for layouts too strictly aligned for a class.
    special_free: HashMap<Layout, u32>,
    pool: Pool,
    alive: usize,
    /// Stamps of different executors start apart, so that tickets differ, too.
    first_stamp: u32,
}

impl TaskTable {
    pub(crate) fn new(first_stamp: u32) -> Self {
        TaskTable {
            first_stamp,
            blocks: Vec::new(),
            wake_stamps: Vec::new(),
            extras: Slab::new(),
            free: Box::new([NONE_FREE; Class::COUNT]),
            special_free: HashMap::new(),
            pool: Pool::default(),
            alive: 0,
        }
    }

    /// Stores a future as a task that has one handle.
    #[inline]
    pub(crate) fn insert<F: Future + 'static>(
        &mut self,
        future: ManuallyDrop<F>,
        phase: PhaseIndex,
    ) -> TaskRef {
        let vtable = VTable::of::<F>();
        let free = self.free_list(vtable.class);
        let index = *free;
        let (block, ticket, generation) = if index == NONE_FREE {
            self.carve(vtable)
        } else {
            let task = self.at(index);
            *self.free_list(vtable.class) = task.link.get().next_vacant();
            (task, task.ticket(), task.generation.wrapping_add(1).max(1))
        };
        let header = Header::new(vtable, ticket, generation, phase);
        // SAFETY: the block was carved for this class; it is vacant, so nothing
        // in it has to be dropped and nobody looks at it.
        unsafe { stage::write(block.as_ptr(), header, future) };
        self.alive += 1;
        block
    }

    /// The first free block of a class.
    #[inline]
    fn free_list(&mut self, class: Class) -> &mut u32 {
        match class {
            Class::Numbered(number) => &mut self.free[usize::from(number)],
            Class::Special(layout) => self.special_free_list(layout),
        }
    }

    #[cold]
    #[inline(never)]
    fn special_free_list(&mut self, layout: Layout) -> &mut u32 {
        self.special_free.entry(layout).or_insert(NONE_FREE)
    }

    /// A new block, and the ticket and generation of its first occupant.
    #[cold]
    fn carve(&mut self, vtable: &VTable) -> (TaskRef, Ticket, u32) {
        let index = self.blocks.len();
        assert!(
            index < Ticket::MAX_INDEX,
            "more than 2^30 coroutines at once"
        );
        let block = self.pool.carve(vtable.class).cast::<Header>();
        // SAFETY: blocks live as long as the pool, which lives as long as the
        // table; `insert` initialises this one before anybody looks at it.
        let task = unsafe { TaskRef::new(block) };
        self.blocks.push(task);
        self.wake_stamps.push(0);
        (task, Ticket::task(index_of(index), self.first_stamp), 1)
    }

    /// Gives a block back whose task has ended and left nothing behind.
    #[inline]
    pub(crate) fn release(&mut self, task: TaskRef) {
        debug_assert!(task.has_ended() || task.lifecycle.get() == Lifecycle::Returning);
        debug_assert!(task.link.get() == Link::NONE && task.handles.get() == 0);
        let free = self.free_list(task.vtable().class);
        task.lifecycle.set(Lifecycle::Vacant);
        task.link.set(Link::vacant(*free));
        *free = task.key().index;
    }

    /// One task less counts as alive.
    pub(crate) fn note_ended(&mut self) {
        self.alive -= 1;
    }

    /// How many tasks are alive.
    pub(crate) fn alive(&self) -> usize {
        self.alive
    }

    /// The task of a ticket, which may be stale, or any task by its index.
    #[inline]
    pub(crate) fn at(&self, index: u32) -> TaskRef {
        debug_assert!((index as usize) < self.blocks.len());
        // SAFETY: indices are never given back, and nothing but those that were
        // given out is asked for.
        *unsafe { self.blocks.get_unchecked(index as usize) }
    }

    #[inline]
    fn wake_stamp(&self, index: u32) -> u32 {
        debug_assert!((index as usize) < self.wake_stamps.len());
        // SAFETY: as in `at`: there is a stamp for each index.
        *unsafe { self.wake_stamps.get_unchecked(index as usize) }
    }

    /// Has what leads to a ticket's task fetched into the cache.
    #[inline(always)]
    pub(crate) fn prefetch_at(&self, index: u32) {
        if let Some(block) = self.blocks.get(index as usize) {
            prefetch(NonNull::from(block), 0);
        }
    }

    /// The task of a key, unless the block has another occupant by now.
    #[inline]
    pub(crate) fn get(&self, key: TaskKey) -> Option<TaskRef> {
        let task = *self.blocks.get(key.index as usize)?;
        (task.generation == key.generation && task.lifecycle.get() != Lifecycle::Vacant)
            .then_some(task)
    }

    /// Whether the registration of a task's ticket is still the current one. It
    /// may be the ticket of another executor, if their numbers look alike.
    pub(crate) fn is_current(&self, ticket: Ticket) -> bool {
        self.current(ticket).is_some()
    }

    /// The task of a ticket, if that is the current one.
    #[inline]
    pub(crate) fn current(&self, ticket: Ticket) -> Option<TaskRef> {
        let task = *self.blocks.get(ticket.index() as usize)?;
        (task.ticket() == ticket).then_some(task)
    }

    /// The entry that stands for a task in a list of those to poll.
    #[inline(always)]
    pub(crate) fn wakeup(&self, task: TaskRef) -> Wakeup {
        let index = task.key().index;
        let stamp = self.wake_stamp(index);
        Wakeup { index, stamp }
    }

    /// Makes the entries made so far stale.
    pub(crate) fn pass_wakeup(&mut self, task: TaskRef) {
        let stamp = &mut self.wake_stamps[task.key().index as usize];
        *stamp = stamp.wrapping_add(1);
    }

    /// The task of an entry, if it is the current one.
    #[inline]
    pub(crate) fn woken(&self, wakeup: Wakeup) -> Option<TaskRef> {
        let task = self.at(wakeup.index);
        let current = self.wake_stamp(wakeup.index) == wakeup.stamp && task.has(Flags::QUEUED);
        current.then_some(task)
    }

    #[inline]
    pub(crate) fn extra(&self, task: TaskRef) -> Option<&Extra> {
        match task.link.get().get() {
            Linked::Extra(index) => self.extras.get(index as usize),
            _ => None,
        }
    }

    /// The waker that the task is polled with, once it has one of its own. Good
    /// as long as the task lives.
    #[inline]
    pub(crate) fn own_waker(&self, task: TaskRef) -> Option<*const Waker> {
        let own = self.extra(task)?.waker.as_ref()?;
        Some(own.lent())
    }

    /// The task's `Extra`, if it has one.
    pub(crate) fn some_extra_mut(&mut self, task: TaskRef) -> Option<&mut Extra> {
        match task.link.get().get() {
            Linked::Extra(index) => self.extras.get_mut(index as usize),
            _ => None,
        }
    }

    /// The task's `Extra`, made if it has none.
    pub(crate) fn extra_mut(&mut self, task: TaskRef) -> &mut Extra {
        let member = match task.link.get().get() {
            Linked::Extra(index) => return &mut self.extras[index as usize],
            Linked::Member(member) => Some(member),
            Linked::Nothing => None,
        };
        let index = self.extras.insert(Extra::of_member(member));
        task.link.set(Link::extra(index_of(index)));
        &mut self.extras[index]
    }

    /// Takes the task's `Extra` away. The task is no member any more.
    pub(crate) fn remove_extra(&mut self, task: TaskRef) -> Option<Extra> {
        match task.link.replace(Link::NONE).get() {
            Linked::Extra(index) => Some(self.extras.remove(index as usize)),
            _ => None,
        }
    }

    /// The task's place among the members of its owner.
    #[inline]
    pub(crate) fn member(&self, task: TaskRef) -> Option<u32> {
        match task.link.get().get() {
            Linked::Nothing => None,
            Linked::Member(member) => Some(member),
            Linked::Extra(index) => self.extras[index as usize].member,
        }
    }

    /// Makes a task that has just been inserted a member of its owner.
    #[expect(clippy::unused_self, reason = "whoever may change links has the table")]
    pub(crate) fn set_member(&mut self, task: TaskRef, member: u32) {
        debug_assert!(task.link.get() == Link::NONE);
        task.link.set(Link::member(member));
    }

    /// Takes the task's place among the members of its owner.
    pub(crate) fn take_member(&mut self, task: TaskRef) -> Option<u32> {
        match task.link.get().get() {
            Linked::Nothing => None,
            Linked::Member(member) => {
                task.link.set(Link::NONE);
                Some(member)
            }
            Linked::Extra(index) => self.extras[index as usize].member.take(),
        }
    }

    /// How many indices are in use, by tasks and by free blocks.
    pub(crate) fn len(&self) -> u32 {
        index_of(self.blocks.len())
    }
}

#[cfg(test)]
mod tests {
    use std::mem::ManuallyDrop;

    use super::TaskTable;
    use crate::phase::PhaseIndex;
    use crate::ticket::Ticket;
    use crate::{CoroutineId, Executor, Phase};

    /// The slot's next occupant has the generation after this one.
    fn set_generation(executor: &Executor, index: u32, generation: u32) {
        let task = executor.core().tasks.borrow().at(index);
        assert!(executor.is_empty(), "the block must be vacant");
        // SAFETY: the block is there for as long as the executor, and while it is
        // vacant only the table has it.
        unsafe { (*task.as_ptr().as_ptr()).generation = generation };
    }

    #[test]
    fn a_generation_that_wraps_is_told_from_those_before_and_is_never_zero() {
        let executor = Executor::new();
        let occupy = || {
            let coroutine = executor.spawn(std::future::pending::<()>());
            let id = coroutine.id();
            // Each names its own occupant, and nobody else.
            assert!(executor.stop(id));
            id
        };
        let first = occupy();
        set_generation(&executor, 0, u32::MAX - 2);
        let late: Vec<CoroutineId> = (0..4).map(|_| occupy()).collect();
        let names: Vec<String> = late.iter().map(CoroutineId::to_string).collect();
        assert_eq!(names, ["0v4294967294", "0v4294967295", "0v1", "0v2"]);

        let occupant = executor.spawn(std::future::pending::<()>());
        for stale in &late {
            assert!(!executor.stop(*stale));
        }
        assert!(!occupant.is_finished());
        // Four billion occupants later an id is given out again.
        assert_eq!(late[2], first);
    }

    #[test]
    fn a_stamp_that_wraps_is_told_from_those_before() {
        let mut table = TaskTable::new(u32::MAX - 1);
        let phase = PhaseIndex::new(Phase::Update);
        let task = table.insert(ManuallyDrop::new(std::future::pending::<()>()), phase);
        let mut stale: Vec<Ticket> = Vec::new();
        for stamp in [u32::MAX - 1, u32::MAX, 0, 1] {
            let ticket = task.ticket();
            assert_eq!((ticket.index(), ticket.stamp()), (0, stamp));
            assert_eq!(table.current(ticket), Some(task));
            assert!(stale.iter().all(|&ticket| !table.is_current(ticket)));
            task.pass_ticket();
            stale.push(ticket);
        }
    }
}
