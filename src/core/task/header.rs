//! The part of a task that is the same for all futures.
//!
//! ```text
//!         insert         poll
//! Vacant ───────► Idle ─────────► Polling ── stop ──► PollingStopped
//!   ▲              │ ▲  Pending     │ │                    │ Pending, panic
//!   │              │ └──────────────┘ │ Ready, panic       │ (Ready: it finished)
//!   │         stop ▼                  │                    │
//!   │          Condemned              │                    │
//!   │              ▼                  ▼                    │
//!   │           Dropping ◄─────────────────────────────────┘
//!   │              ▼
//!   │            Finished, Stopped, Panicked ── take ─► Taken
//!   └── last reference ◄─────────────────────────────────┘
//! ```
//!
//! Beside it, and independent of it: flags, references, what is registered.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::core::key::WaitKey;
use crate::coroutine::{Outcome, TaskKey};
use crate::time::PhaseIndex;

use super::stage::VTable;

/// Where a task is in its life. The order matters: alive are `Idle` to
/// `Returning`, ended are `Finished` and what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum State {
    /// The block is free.
    Vacant,
    /// The future is there, and may be polled.
    Idle,
    /// The future is being polled.
    Polling,
    /// The same, and it is dropped when it next waits.
    PollingStopped,
    /// The future has returned and is being dropped, before its output takes its
    /// place.
    Returning,
    /// It was stopped, and is dropped as soon as the stack allows. From here on
    /// it does not count as alive.
    Condemned,
    /// The future is being dropped.
    Dropping,
    /// It ended with its output, which is there.
    Finished,
    /// It finished, and the output has been taken or dropped.
    Taken,
    /// It ended without an output.
    Stopped,
    Panicked,
}

/// What makes a task more than a plain waiter, so that a run has to look.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flags(u8);

impl Flags {
    /// It stands in a list of ready tasks.
    pub(crate) const READY: Flags = Flags(1);
    /// It has a waker of its own, which its polls use.
    pub(crate) const OWN_WAKER: Flags = Flags(1 << 1);
    /// Waits of it stand in entries.
    pub(crate) const ENTRIES: Flags = Flags(1 << 2);
    /// It is paused, or an owner above it is.
    pub(crate) const PAUSED: Flags = Flags(1 << 3);
    /// It counts on another clock than the game clock.
    pub(crate) const CLOCK: Flags = Flags(1 << 4);
    /// Its polls are noted for those who inspect it.
    pub(crate) const WATCHED: Flags = Flags(1 << 5);
    /// What a poll has to prepare.
    pub(crate) const CLOCK_OR_WATCHED: Flags = Flags(0b11_0000);
    /// A wake has to look at it.
    pub(crate) const READY_OR_PAUSED: Flags = Flags(0b1001);
    /// All that a poll has to look at.
    pub(crate) const SPECIAL: Flags = Flags(0b11_1111);
    /// Its `Coroutine` handle exists, and wants the output.
    pub(crate) const HANDLE: Flags = Flags(1 << 7);
}

/// In [`Header::cold`]: nothing but the header.
pub(super) const NO_COLD: u32 = u32::MAX;
/// In [`Header::member`]: no owner.
const NO_OWNER: u32 = u32::MAX;
/// Ends the list of entries that join a task.
pub(crate) const NO_JOINER: u32 = u32::MAX;

/// The head of a task's block: 40 bytes, with all that a run touches of a plain
/// waiter.
pub(crate) struct Header {
    pub(super) vtable: &'static VTable,
    /// The key of the wait that is, or will be, registered with the task itself.
    /// Its stamp is odd while one is. Atomic only because the index is read on other
    /// threads.
    key: AtomicU64,
    /// Which occupant of its block it is.
    pub(super) generation: u32,
    /// Where its cold data stands; in a vacant block, the next vacant one.
    pub(super) cold: Cell<u32>,
    /// Its place among the members of its owner.
    member: Cell<u32>,
    /// The last of the entries that join the task, which form a ring.
    pub(crate) joiners: Cell<u32>,
    /// The phase in which it was last polled.
    phase: Cell<PhaseIndex>,
    state: Cell<State>,
    /// Of the wait registered with the task itself: whether it is due in a later
    /// frame, and whether it asks a condition.
    registered: Cell<u8>,
    /// How many handles need the block.
    references: Cell<u16>,
    flags: Cell<Flags>,
}

const _: () = assert!(size_of::<Header>() == 40);

/// In `registered`: the wait is due in a later frame.
const FRAME_BOUND: u8 = 1;
/// In `registered`: the wait is one for a condition.
const ASKS: u8 = 1 << 1;

impl Header {
    /// The head of a new task, with one reference, that of its handle.
    #[inline]
    pub(super) fn new(
        vtable: &'static VTable,
        key: WaitKey,
        generation: u32,
        phase: PhaseIndex,
    ) -> Self {
        Header {
            vtable,
            key: AtomicU64::new(key.bits()),
            generation,
            cold: Cell::new(NO_COLD),
            member: Cell::new(NO_OWNER),
            joiners: Cell::new(NO_JOINER),
            phase: Cell::new(phase),
            state: Cell::new(State::Idle),
            registered: Cell::new(0),
            references: Cell::new(1),
            flags: Cell::new(Flags::HANDLE),
        }
    }

    #[inline]
    pub(crate) fn index(&self) -> u32 {
        self.wait_key().index()
    }

    #[inline]
    pub(crate) fn task_key(&self) -> TaskKey {
        TaskKey {
            index: self.index(),
            generation: self.generation,
        }
    }

    #[inline(always)]
    pub(crate) fn state(&self) -> State {
        self.state.get()
    }

    #[inline(always)]
    pub(super) fn set_state(&self, state: State) {
        self.state.set(state);
    }

    /// Whether it is in this state.
    #[inline(always)]
    pub(crate) fn is_in(&self, state: State) -> bool {
        self.state.get() == state
    }

    /// Whether it is in one of the states from `first` to `last`.
    #[inline(always)]
    fn is_between(&self, first: State, last: State) -> bool {
        (first..=last).contains(&self.state.get())
    }

    /// Begins a poll in a run of `phase`. `false`: it is not idle.
    #[inline(always)]
    pub(super) fn begin_poll(&self, phase: PhaseIndex) -> bool {
        let idle = self.is_in(State::Idle);
        if idle {
            self.set_state(State::Polling);
            self.phase.set(phase);
        }
        idle
    }

    /// Ends a poll. `false`: the task was stopped meanwhile.
    #[inline(always)]
    pub(super) fn end_poll(&self) -> bool {
        let undisturbed = self.is_in(State::Polling);
        self.set_state(State::Idle);
        undisturbed
    }

    /// The phase of the run in which it was last polled.
    #[inline]
    pub(crate) fn phase(&self) -> PhaseIndex {
        self.phase.get()
    }

    pub(crate) fn set_phase(&self, phase: PhaseIndex) {
        self.phase.set(phase);
    }

    /// Whether it has not ended, and nothing has stopped it for good.
    #[inline]
    pub(crate) fn is_alive(&self) -> bool {
        self.is_between(State::Idle, State::Returning)
    }

    /// Whether its future is being polled.
    #[inline]
    pub(crate) fn is_polled(&self) -> bool {
        self.is_between(State::Polling, State::Returning)
    }

    /// Whether it has ended, in whatever way.
    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        self.is_between(State::Finished, State::Panicked)
    }

    /// How it ended, if it has.
    #[inline]
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        match self.state() {
            State::Finished | State::Taken => Some(Outcome::Finished),
            State::Stopped => Some(Outcome::Stopped),
            State::Panicked => Some(Outcome::Panicked),
            _ => None,
        }
    }

    #[inline(always)]
    pub(crate) fn has(&self, flags: Flags) -> bool {
        self.flags.get().0 & flags.0 != 0
    }

    #[inline]
    pub(crate) fn set(&self, flags: Flags) {
        self.flags.set(Flags(self.flags.get().0 | flags.0));
    }

    #[inline]
    pub(crate) fn clear(&self, flags: Flags) {
        self.flags.set(Flags(self.flags.get().0 & !flags.0));
    }

    /// The key of the wait registered with the task itself, or of the next one.
    #[inline(always)]
    pub(crate) fn wait_key(&self) -> WaitKey {
        WaitKey::from_bits(self.key.load(Ordering::Relaxed))
    }

    /// Whether a wait is registered with the task itself.
    #[inline(always)]
    pub(crate) fn is_registered(&self) -> bool {
        self.wait_key().is_registered()
    }

    /// The key for a wait to [register](Header::register) under, if none is.
    #[inline(always)]
    pub(crate) fn free_key(&self) -> Option<WaitKey> {
        Some(self.wait_key().next()).filter(|key| key.is_registered())
    }

    /// Registers a wait under its [free key](Header::free_key).
    #[inline(always)]
    pub(crate) fn register(&self, key: WaitKey, frame_bound: bool) {
        debug_assert_eq!(self.free_key(), Some(key));
        self.key.store(key.bits(), Ordering::Relaxed);
        self.registered.set(u8::from(frame_bound) * FRAME_BOUND);
    }

    /// The registration has served, or is taken back.
    #[inline(always)]
    pub(crate) fn deregister(&self) {
        debug_assert!(self.is_registered());
        let next = self.wait_key().next();
        self.key.store(next.bits(), Ordering::Relaxed);
    }

    /// Whether the wait registered with the task itself is due in a later frame
    /// than that in which it began.
    #[inline]
    pub(crate) fn is_frame_bound(&self) -> bool {
        self.registered.get() & FRAME_BOUND != 0
    }

    /// Notes that the wait registered with the task itself asks a condition.
    pub(crate) fn note_condition(&self) {
        self.registered.set(self.registered.get() | ASKS);
    }

    pub(crate) fn asks_condition(&self) -> bool {
        self.registered.get() & ASKS != 0
    }

    /// Its place among the members of its owner.
    #[inline]
    pub(crate) fn member(&self) -> Option<u32> {
        Some(self.member.get()).filter(|&member| member != NO_OWNER)
    }

    pub(crate) fn set_member(&self, member: u32) {
        self.member.set(member);
    }

    /// It leaves its owner.
    pub(crate) fn take_member(&self) -> Option<u32> {
        Some(self.member.replace(NO_OWNER)).filter(|&member| member != NO_OWNER)
    }

    /// Whether it has cold data.
    #[inline]
    pub(crate) fn has_cold(&self) -> bool {
        self.cold.get() != NO_COLD
    }

    /// Another handle needs the block.
    pub(super) fn add_reference(&self) {
        // So many are never counted down again: the block then stays until the
        // executor is gone.
        self.references.set(self.references.get().saturating_add(1));
    }

    /// One handle less needs the block.
    #[inline]
    pub(super) fn remove_reference(&self) {
        let references = self.references.get();
        if references != u16::MAX {
            self.references.set(references - 1);
        }
    }

    #[inline]
    pub(super) fn is_referenced(&self) -> bool {
        self.references.get() > 0
    }
}
