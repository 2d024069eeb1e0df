//! The part of a task that the executor works with, the same for all futures.
//!
//! ```text
//!            spawn, start            returns, panics, is stopped
//!   Vacant ───────────────► Alive ───────────────────────────────► Ending
//!     ▲                                                              │
//!     │ no handle left            future and its locals are dropped  │
//!     └──────────────── Finished, Stopped, Panicked ◄────────────────┘
//!                           │ output taken
//!                           └► Taken
//! ```

use std::cell::Cell;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Outcome;
use crate::key::TaskKey;
use crate::phase::PhaseIndex;
use crate::prefetch::prefetch;
use crate::ticket::Ticket;

use super::link::Link;
use super::stage::VTable;

/// Where a task is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lifecycle {
    /// The block is free.
    Vacant,
    /// The future is there, and may be polled unless it is being polled.
    Alive,
    /// The future has returned in the poll under way, and is being dropped; the
    /// output is about to take its place.
    Returning,
    /// The future is being dropped. It does not count as alive any more.
    Ending,
    /// It ended with its output, which is there.
    Finished,
    /// It finished, and the output has been taken or dropped.
    Taken,
    /// It ended without an output.
    Stopped,
    Panicked,
}

impl Lifecycle {
    #[inline]
    pub(crate) const fn ended(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Finished => Lifecycle::Finished,
            Outcome::Stopped => Lifecycle::Stopped,
            Outcome::Panicked => Lifecycle::Panicked,
        }
    }
}

/// What makes a task more than a plain waiter: whoever polls it has to look.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flags(u8);

impl Flags {
    /// It stands in a list of those to poll, for being new or woken.
    pub(crate) const QUEUED: Flags = Flags(1);
    /// That list is for the next run of its phase, and was so already while one
    /// was under way.
    pub(crate) const LATER: Flags = Flags(1 << 1);
    /// A waker has left the executor: polls use that one.
    pub(crate) const OWN_WAKER: Flags = Flags(1 << 2);
    /// Waits of it stand in records.
    pub(crate) const RECORDS: Flags = Flags(1 << 3);
    /// It stands in a list, whichever.
    pub(crate) const LISTED: Flags = Flags(0b11);
    /// A queue may hold a ghost of it, see [`PhaseQueue`](crate::queue).
    pub(crate) const GHOSTS: Flags = Flags(1 << 4);
    /// It is paused, or an owner of it is.
    pub(crate) const PAUSED: Flags = Flags(1 << 5);
    /// It counts on another clock than the game clock.
    pub(crate) const CLOCK: Flags = Flags(1 << 6);
    /// What a poll with the own waker has to look at.
    pub(crate) const MORE_THAN_CALLED: Flags = Flags(0b110_1000);
    /// All that a poll has to look at.
    pub(crate) const SPECIAL: Flags = Flags(0b111_1111);
    /// Its `Coroutine` handle exists, and wants the output.
    pub(crate) const HANDLE: Flags = Flags(1 << 7);

    #[inline]
    pub(crate) const fn has(self, flags: Flags) -> bool {
        self.0 & flags.0 != 0
    }
}

/// What is registered with the task itself.
///
/// At most one wait is: the first to be polled with the coroutine's own waker.
/// While a poll is under way it stands in the level, see
/// [`Pending`](crate::pending::Pending), invariant APART.
///
/// Odd, unless it is `NONE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Primary(u16);

impl Primary {
    pub(crate) const NONE: Primary = Primary(0);
    /// Registered with a wheel or with the coroutine that it joins.
    pub(crate) const ELSEWHERE: Primary = Primary(ODD | 1 << 13);
    /// To be dropped when its poll returns.
    pub(crate) const STOPPING: Primary = Primary(ODD | 1 << 12);

    /// Waits for a phase, in its queue.
    #[inline]
    pub(crate) const fn queued(phase: PhaseIndex, frame_bound: bool) -> Self {
        let frame_bound = if frame_bound { FRAME_BOUND } else { 0 };
        Primary(ODD | QUEUED | frame_bound | phase.bits() << PHASE_SHIFT)
    }

    pub(crate) const fn from_bits(bits: u16) -> Self {
        Primary(bits)
    }

    pub(crate) const fn bits(self) -> u16 {
        self.0
    }

    /// Whether its ticket stands in the queue of its phase.
    #[inline]
    pub(crate) const fn is_queued(self) -> bool {
        self.0 & QUEUED != 0
    }

    #[inline]
    pub(crate) const fn is_frame_bound(self) -> bool {
        self.0 & FRAME_BOUND != 0
    }

    #[inline]
    pub(crate) const fn phase(self) -> PhaseIndex {
        PhaseIndex::from_bits(self.0 >> PHASE_SHIFT)
    }
}

const FRAME_BOUND: u16 = 1 << 14;
const QUEUED: u16 = 1 << 11;
const PHASE_SHIFT: u32 = 1;
const ODD: u16 = 1;

/// The head of a task's block.
///
/// 40 bytes; what the run loop touches for a plain waiter is all here.
#[repr(C)]
pub(crate) struct Header {
    /// See [`watch`](Header::watch) for why it may change.
    vtable: Cell<&'static VTable>,
    /// The ticket of the wait that is, or will be, registered with the task:
    /// its index, and a stamp that passes with every registration. Atomic only
    /// because the index is read on other threads, see `Level::owned_waker`.
    ticket: AtomicU64,
    /// Who joins this task, if it is one only.
    pub(crate) joiner: Cell<Ticket>,
    /// Which occupant of its slot it is. Written only while nobody else can see
    /// the block.
    pub(crate) generation: u32,
    /// To what else it has; in a vacant block, to the next vacant one.
    pub(crate) link: Cell<Link>,
    pub(crate) primary: Cell<Primary>,
    /// The phase of the run in which it was last polled, see `last_phase`; and
    /// a bit that each poll clears, see `note_condition`.
    pub(crate) phase: Cell<PhaseIndex>,
    /// How many handles, and ghosts in queues, need the block.
    pub(crate) handles: Cell<u16>,
    pub(crate) lifecycle: Cell<Lifecycle>,
    pub(crate) flags: Cell<Flags>,
}

impl Header {
    /// The head of a new task, which has one handle.
    #[inline]
    pub(crate) fn new(
        vtable: &'static VTable,
        ticket: Ticket,
        generation: u32,
        phase: PhaseIndex,
    ) -> Self {
        Header {
            vtable: Cell::new(vtable),
            ticket: AtomicU64::new(ticket.bits()),
            joiner: Cell::new(Ticket::NONE),
            generation,
            link: Cell::new(Link::NONE),
            primary: Cell::new(Primary::NONE),
            phase: Cell::new(phase),
            lifecycle: Cell::new(Lifecycle::Alive),
            flags: Cell::new(Flags::HANDLE),
            handles: Cell::new(1),
        }
    }

    /// What the executor can do with the task's future.
    #[inline(always)]
    pub(crate) fn vtable(&self) -> &'static VTable {
        self.vtable.get()
    }

    /// From now on the task is polled under watch: it gets the table that is
    /// the same but for that, so that a task nobody watches is not asked.
    pub(crate) fn watch(&self) {
        if let Some(watched) = self.vtable().watched {
            self.vtable.set(watched);
        }
    }

    /// The phase of the run in which it was last polled.
    #[inline]
    pub(crate) fn last_phase(&self) -> PhaseIndex {
        self.phase.get().plain()
    }

    /// Notes that the wait that is registered with the task is one for a
    /// condition: until the next poll, or `forget_condition`.
    pub(crate) fn note_condition(&self) {
        self.phase.set(self.phase.get().asking());
    }

    /// That wait is gone.
    pub(crate) fn forget_condition(&self) {
        self.phase.set(self.last_phase());
    }

    /// Whether the wait that is registered with the task is one for a condition.
    pub(crate) fn waits_for_condition(&self) -> bool {
        self.phase.get().is_asking()
    }

    #[inline]
    pub(crate) fn set(&self, flags: Flags) {
        self.flags.set(Flags(self.flags.get().0 | flags.0));
    }

    #[inline]
    pub(crate) fn clear(&self, flags: Flags) {
        self.flags.set(Flags(self.flags.get().0 & !flags.0));
    }

    #[inline]
    pub(crate) fn has(&self, flags: Flags) -> bool {
        self.flags.get().has(flags)
    }

    pub(crate) fn is_alive(&self) -> bool {
        matches!(
            self.lifecycle.get(),
            Lifecycle::Alive | Lifecycle::Returning
        )
    }

    /// How it ended, if it has.
    #[inline]
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        match self.lifecycle.get() {
            Lifecycle::Finished | Lifecycle::Taken => Some(Outcome::Finished),
            Lifecycle::Stopped => Some(Outcome::Stopped),
            Lifecycle::Panicked => Some(Outcome::Panicked),
            _ => None,
        }
    }

    /// Whether it has ended, in whatever way.
    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        self.lifecycle.get() >= Lifecycle::Finished
    }

    /// Whether a wait or something less common belongs to it.
    #[inline]
    pub(crate) fn is_linked(&self) -> bool {
        self.primary.get() != Primary::NONE || self.link.get() != Link::NONE
    }

    /// Another handle needs the block.
    pub(crate) fn add_handle(&self) {
        // So many handles are never counted down again: the block then stays
        // until the executor is gone.
        self.handles.set(self.handles.get().saturating_add(1));
    }

    /// One handle less needs the block. `true`: no other does.
    #[inline]
    pub(crate) fn remove_handle(&self) -> bool {
        let handles = self.handles.get();
        if handles != u16::MAX {
            self.handles.set(handles - 1);
        }
        handles == 1
    }

    /// The task's index and generation, also for other threads.
    #[inline]
    pub(crate) fn key(&self) -> TaskKey {
        TaskKey {
            index: self.ticket().index(),
            generation: self.generation,
        }
    }

    /// The ticket of the wait that is, or will be, registered with the task.
    #[inline]
    pub(crate) fn ticket(&self) -> Ticket {
        Ticket::from_bits(self.ticket.load(Ordering::Relaxed))
    }

    /// Makes the ticket of the current registration stale.
    #[inline]
    pub(crate) fn pass_ticket(&self) {
        let next = self.ticket().next();
        self.ticket.store(next.bits(), Ordering::Relaxed);
    }
}

/// A task, by the address of its block.
///
/// Blocks are never freed before the table that made them, so a `TaskRef` stays
/// good for as long as the executor's core does; what it refers to may have
/// become another task, which the key tells.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct TaskRef(NonNull<Header>);

impl TaskRef {
    /// # Safety
    ///
    /// `header` must be the initialised head of a block of a task table, and
    /// the result must not be used after that table is dropped.
    #[inline]
    pub(crate) unsafe fn new(header: NonNull<Header>) -> Self {
        TaskRef(header)
    }

    #[inline]
    pub(crate) fn as_ptr(self) -> NonNull<Header> {
        self.0
    }

    /// Has it fetched into the cache: its head, and its future if that is a
    /// small one.
    #[inline(always)]
    pub(crate) fn prefetch(self) {
        prefetch(self.0, 0);
        prefetch(self.0, 64);
    }
}

impl Deref for TaskRef {
    type Target = Header;

    #[inline]
    fn deref(&self) -> &Header {
        // SAFETY: by the contract of `new` the header is initialised and its
        // block has not been freed. It is only ever shared: what changes is in
        // cells, and the rest is written while the block is vacant.
        unsafe { self.0.as_ref() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Header, Primary};
    use crate::Phase;
    use crate::phase::PhaseIndex;

    #[test]
    fn a_header_takes_forty_bytes() {
        assert_eq!(size_of::<Header>(), 40);
    }

    #[test]
    fn a_primary_keeps_its_phase_and_its_flags_apart() {
        for phase in [Phase::EarlyUpdate, Phase::EndOfFrame, Phase::Custom(255)] {
            for frame_bound in [false, true] {
                let phase = PhaseIndex::new(phase);
                let primary = Primary::queued(phase, frame_bound);
                assert!(primary.is_queued());
                assert_eq!(primary.phase(), phase);
                assert_eq!(primary.is_frame_bound(), frame_bound);
                assert_eq!(primary.bits() & 1, 1);
            }
        }
        for other in [Primary::NONE, Primary::ELSEWHERE, Primary::STOPPING] {
            assert!(!other.is_queued());
            if other != Primary::NONE {
                assert_eq!(other.bits() & 1, 1);
            }
        }
    }
}
