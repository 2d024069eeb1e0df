//! The part of a task that is the same for all futures.
//!
//! ```text
//!         insert         poll
//! Vacant ───────► Idle ─────────► Polling ── stop ──► PollingStopped
//!   ▲              │ ▲  Pending     │ │                    │ Pending, panic
//!   │              │ └──────────────┘ │ Ready, panic       │ (Ready: it finished)
//!   │         stop ▼                  │                    │
//!   │          StopDeferred              │                    │
//!   │              ▼                  ▼                    │
//!   │           Dropping ◄─────────────────────────────────┘
//!   │              ▼
//!   │           Dropped
//!   │              ▼
//!   │            Finished, Stopped, Panicked ── take ─► Taken
//!   └── last reference ◄─────────────────────────────────┘
//! ```
//!
//! Independent of the state, a task has flags, references and a registered
//! wait.
//!
//! A header is written once, when its block is carved. From then on it changes
//! only through cells, so that a reference to it may outlive its task.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::core::registration::key::WaitKey;
use crate::core::task::TaskKey;
use crate::coroutine::Outcome;
use crate::time::PhaseIndex;

use super::stage::VTable;

/// Where a task is in its life. The order matters: `Idle` to `Unwound` are
/// alive, `Finished` and the following have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum State {
    /// The block is free.
    Vacant,
    /// The future is there, and may be polled.
    Idle,
    /// The future is being polled.
    Polling,
    /// The future is being polled, and is dropped if it waits again.
    PollingStopped,
    /// The future has returned and is being dropped. Then its output takes its
    /// place.
    Returning,
    /// The future was dropped after it had returned, and its destructor panicked.
    Unwound,
    /// The task was stopped, and its future is dropped as soon as the stack allows.
    /// From here on the task is not alive.
    StopDeferred,
    /// The future is being dropped.
    Dropping,
    /// The future has been dropped.
    Dropped,
    /// The task has ended, and its output is there.
    Finished,
    /// The task has finished, and its output has been taken or dropped.
    Taken,
    /// The task has ended without an output.
    Stopped,
    Panicked,
}

/// What makes a task more than a plain waiter, so that a run must check it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flags(u8);

impl Flags {
    /// The task is in one list of ready tasks or in several.
    pub(crate) const READY: Flags = Flags(1);
    /// The task has a task waker, which its polls use.
    pub(crate) const TASK_WAKER: Flags = Flags(1 << 1);
    /// The task has waits in entries.
    pub(crate) const ENTRIES: Flags = Flags(1 << 2);
    /// The task is paused, or an owner above it is.
    pub(crate) const PAUSED: Flags = Flags(1 << 3);
    /// The task counts on another clock than the game clock.
    pub(crate) const CLOCK: Flags = Flags(1 << 4);
    /// The polls of the task are noted for snapshots and traces.
    pub(crate) const OBSERVED: Flags = Flags(1 << 5);
    /// The flags for which a poll has to prepare.
    pub(crate) const CLOCK_OR_OBSERVED: Flags = Flags(0b11_0000);
    /// The flags that a wake has to check.
    pub(crate) const READY_OR_PAUSED: Flags = Flags(0b1001);
    /// The flags that a poll has to check.
    pub(crate) const SLOW_PATH: Flags = Flags(0b11_1111);
    /// The same without those that only say that the task was woken.
    pub(crate) const SLOW_BUT_WOKEN: Flags = Flags(0b11_1100);
    /// The task's `Coroutine` handle exists, and may take the output.
    pub(crate) const HANDLE: Flags = Flags(1 << 7);
}

/// In [`Header::cold`]: no cold data.
pub(super) const NO_COLD: u32 = u32::MAX;
/// In [`Header::member`]: no owner.
const NO_OWNER: u32 = u32::MAX;
/// Ends the list of entries that join a task.
pub(crate) const NO_JOINER: u32 = u32::MAX;

/// The head of a task's block. Its 40 bytes are all that a run reads of a plain
/// waiter.
pub(crate) struct Header {
    vtable: Cell<&'static VTable>,
    /// The key of the wait that is registered with the task itself, or of the next
    /// one. Its stamp is odd while a wait is registered. Its index never changes.
    /// Atomic only because other threads read the index.
    key: AtomicU64,
    /// Tells the occupants of a block apart. Atomic only because other threads read
    /// it.
    generation: AtomicU32,
    /// The index of its cold data; in a vacant block, that of the next vacant one.
    pub(super) cold: Cell<u32>,
    /// The index of the task among the members of its owner.
    member: Cell<u32>,
    /// The latest entry in the joins of those that join the task.
    pub(crate) joiners: Cell<u32>,
    /// Its home phase. It changes only with the occupant of the block.
    home: Cell<PhaseIndex>,
    state: Cell<State>,
    /// Of the wait that is registered with the task itself: whether it is due in a
    /// later frame, and whether it checks a condition.
    registered: Cell<u8>,
    /// How many handles refer to the block.
    references: Cell<u16>,
    flags: Cell<Flags>,
}

const _: () = assert!(size_of::<Header>() == 40);

/// In `registered`: the wait is due in a later frame.
const FRAME_BOUND: u8 = 1;
/// In `registered`: the wait checks a condition.
const ASKS: u8 = 1 << 1;

impl Header {
    /// The head of a new, vacant block.
    pub(super) fn vacant(vtable: &'static VTable, index: u32, first_stamp: u32) -> Self {
        Header {
            vtable: Cell::new(vtable),
            key: AtomicU64::new(WaitKey::of_task(index, first_stamp).bits()),
            generation: AtomicU32::new(0),
            cold: Cell::new(NO_COLD),
            member: Cell::new(NO_OWNER),
            joiners: Cell::new(NO_JOINER),
            home: Cell::new(PhaseIndex::UPDATE),
            state: Cell::new(State::Vacant),
            registered: Cell::new(0),
            references: Cell::new(0),
            flags: Cell::new(Flags(0)),
        }
    }

    /// Makes the head of a vacant block that of a new task, with one reference: that
    /// of its handle. Returns its key.
    #[inline]
    pub(super) fn occupy(&self, vtable: &'static VTable, home: PhaseIndex) -> TaskKey {
        let index = self.index();
        let generation = self.generation().wrapping_add(1).max(1);
        self.generation.store(generation, Ordering::Relaxed);
        self.vtable.set(vtable);
        self.cold.set(NO_COLD);
        self.member.set(NO_OWNER);
        self.joiners.set(NO_JOINER);
        self.home.set(home);
        self.state.set(State::Idle);
        self.registered.set(0);
        self.references.set(1);
        self.flags.set(Flags::HANDLE);
        TaskKey { index, generation }
    }

    #[inline(always)]
    pub(super) fn vtable(&self) -> &'static VTable {
        self.vtable.get()
    }

    #[inline(always)]
    pub(super) fn generation(&self) -> u32 {
        self.generation.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn index(&self) -> u32 {
        self.wait_key().index()
    }

    #[inline]
    pub(crate) fn task_key(&self) -> TaskKey {
        TaskKey {
            index: self.index(),
            generation: self.generation(),
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

    /// Whether the task is in this state.
    #[inline(always)]
    pub(crate) fn is_in(&self, state: State) -> bool {
        self.state.get() == state
    }

    /// Whether the task is in one of the states from `first` to `last`.
    #[inline(always)]
    fn is_between(&self, first: State, last: State) -> bool {
        (first..=last).contains(&self.state.get())
    }

    /// Begins a poll. Returns `false` if the task is not idle.
    #[inline(always)]
    pub(super) fn begin_poll(&self) -> bool {
        let idle = self.is_in(State::Idle);
        if idle {
            self.set_state(State::Polling);
        }
        idle
    }

    /// Ends a poll. Returns `false` if the task was stopped during the poll.
    #[inline(always)]
    pub(super) fn end_poll(&self) -> bool {
        let undisturbed = self.is_in(State::Polling);
        self.set_state(State::Idle);
        undisturbed
    }

    /// The phase in which the task is resumed, unless a wait names another one.
    #[inline(always)]
    pub(crate) fn home(&self) -> PhaseIndex {
        self.home.get()
    }

    /// Whether the task is alive: not ended, not condemned, and not being dropped.
    #[inline]
    pub(crate) fn is_alive(&self) -> bool {
        self.is_between(State::Idle, State::Unwound)
    }

    /// Whether the task's future is being polled.
    #[inline]
    pub(crate) fn is_polled(&self) -> bool {
        self.is_between(State::Polling, State::Returning)
    }

    /// Whether a future may be in the block.
    pub(super) fn may_hold_future(&self) -> bool {
        self.is_between(State::Idle, State::Dropping)
    }

    /// Whether the task has ended, for any reason.
    #[inline]
    pub(crate) fn has_ended(&self) -> bool {
        self.is_between(State::Finished, State::Panicked)
    }

    /// How the task ended, if it has.
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

    /// The key of the wait that is registered with the task itself, or of the next
    /// one.
    #[inline(always)]
    pub(crate) fn wait_key(&self) -> WaitKey {
        WaitKey::from_bits(self.key.load(Ordering::Relaxed))
    }

    /// Whether a wait is registered with the task itself.
    #[inline(always)]
    pub(crate) fn is_registered(&self) -> bool {
        self.wait_key().is_registered()
    }

    /// Registers a wait under `key`, which must be the next one of this task.
    #[inline(always)]
    pub(super) fn register(&self, key: WaitKey, frame_bound: bool) {
        debug_assert!(key.is_registered() && key == self.wait_key().next());
        self.key.store(key.bits(), Ordering::Relaxed);
        self.registered.set(u8::from(frame_bound) * FRAME_BOUND);
    }

    /// Ends the registration of a wait that was served or cancelled.
    #[inline(always)]
    pub(crate) fn deregister(&self) {
        debug_assert!(self.is_registered());
        let next = self.wait_key().next();
        self.key.store(next.bits(), Ordering::Relaxed);
    }

    /// Whether the wait that is registered with the task itself is due in a later
    /// frame than that in which it began.
    #[inline]
    pub(crate) fn is_frame_bound(&self) -> bool {
        self.registered.get() & FRAME_BOUND != 0
    }

    /// Notes that the wait that is registered with the task itself checks a
    /// condition.
    pub(crate) fn note_condition(&self) {
        self.registered.set(self.registered.get() | ASKS);
    }

    pub(crate) fn asks_condition(&self) -> bool {
        self.registered.get() & ASKS != 0
    }

    /// The index of the task among the members of its owner.
    #[inline]
    pub(crate) fn member(&self) -> Option<u32> {
        Some(self.member.get()).filter(|&member| member != NO_OWNER)
    }

    pub(crate) fn set_member(&self, member: u32) {
        self.member.set(member);
    }

    /// Takes the task out of its owner.
    pub(crate) fn take_member(&self) -> Option<u32> {
        Some(self.member.replace(NO_OWNER)).filter(|&member| member != NO_OWNER)
    }

    /// Whether the task has cold data.
    #[inline]
    pub(crate) fn has_cold(&self) -> bool {
        self.cold.get() != NO_COLD
    }

    /// Counts another handle that refers to the block.
    pub(super) fn add_reference(&self) {
        // At the limit the count stays as it is. The block is then kept until the
        // executor is dropped.
        self.references.set(self.references.get().saturating_add(1));
    }

    /// Counts one handle less.
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
