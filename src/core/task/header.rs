//! The part of a task that is the same for all futures.
//!
//! ```text
//!            1           2              4
//!    Vacant ───► Idle ──────► Polling ──────► PollingStopped
//!      ▲         │  │ ▲   3     │   │            │    │
//!      │         │  │ └─────────┴────────────────┘    │
//!      │         │  │               │        5        │
//!      │         │  │               └─────┬───────────┘
//!      │         │  │ 8                   ▼     7
//!      │         │  ▼                 Returning ───► Unwound
//!      │         │ Stopping             6 │           │
//!      │       9 │  │ 9                   │           │ 9
//!      │         ▼  ▼                     │           │
//!      │        Dropping ◄────────────────│───────────┘
//!      │         │ 10                     │
//!      │         ▼                        ▼     12
//!      │        Dropped                  Finished ───► Taken
//!      │         │ 11                     │             │
//!      │         ▼                        │             │
//!      │        Stopped, Panicked         │             │
//!      │         │ 13                     │ 13          │ 13
//!      └─────────┴────────────────────────┴─────────────┘
//! ```
//!
//! 1. [`Tasks::insert`](super::Tasks::insert) stores a future in a vacant block.
//! 2. [`Tasks::poll`](super::Tasks::poll) begins. In any other state it refuses.
//! 3. `Tasks::poll` ends without an output. If the future was pending and the task was
//!    not stopped, the task waits. Otherwise `poll` returns [`Polled::Stopped`] or
//!    unwinds (`Unwinds::drop`), and its caller goes on with 9.
//! 4. [`Tasks::stop`](super::Tasks::stop), during the poll.
//! 5. The `poll` of the task's vtable: the future has returned. The same function drops
//!    the future in this state.
//! 6. `Tasks::poll`: the future is dropped, and the output is in its place. A stop during
//!    the last poll comes too late: the task has finished.
//! 7. `Unwinds::drop`: the destructor of the future panicked. There is no output.
//! 8. `Tasks::stop`, outside of a poll.
//! 9. [`Tasks::drop_future`](super::Tasks::drop_future) begins. From `Unwound` there is
//!    no future to drop.
//! 10. `Tasks::drop_future` ends, even if the destructor panicked.
//! 11. [`Tasks::end`](super::Tasks::end) records how the task ended.
//! 12. [`Tasks::take_output`](super::Tasks::take_output), or
//!     [`Tasks::drop_output`](super::Tasks::drop_output).
//! 13. [`Tasks::release`](super::Tasks::release). From `Finished`, only if the output has
//!     no destructor.
//!
//! Beside the state, a task has flags, references and a registered wait.
//!
//! A header is written once, when its block is carved. From then on it changes
//! only through cells. So a reference to a header may outlive its task.
//!
//! [`Polled::Stopped`]: super::Polled::Stopped

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::core::base::key::{TaskKey, WaitKey};
use crate::time::PhaseIndex;

use super::block::VTable;

/// Where a task is in its life. The order matters: a task is alive from `Idle` to
/// `Unwound`, and has ended from `Finished` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum State {
    /// The block is free.
    Vacant,
    /// The future is there, and may be polled.
    Idle,
    /// The future is being polled.
    Polling,
    /// The future is being polled. If it waits again, it is dropped.
    PollingStopped,
    /// The future has returned and is being dropped. Then its output takes its place.
    Returning,
    /// The future has returned. Then its destructor panicked.
    Unwound,
    /// The task was stopped. Its future is dropped as soon as the stack allows. From
    /// here on the task is not alive.
    Stopping,
    /// The future is being dropped.
    Dropping,
    /// The future has been dropped.
    Dropped,
    /// The task has ended, and its output is there.
    Finished,
    /// The task has finished, and its output has been taken or dropped.
    Taken,
    /// The task was stopped, and has no output.
    Stopped,
    /// The task has panicked, and has no output.
    Panicked,
}

/// What a run, a wake or an end must check before it treats a task as a plain waiter.
/// A new task has the flag `HANDLE` alone. Its owner may add `PAUSED` and `CLOCK`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flags(u8);

impl Flags {
    /// The task is to be polled for another reason than a wait, and may be in one or
    /// several lists of ready tasks.
    ///
    /// Set when the task is added to such a list (`phase::ready`, and the deferred
    /// starts of a run). Cleared just before each poll by a run, because the poll serves
    /// all that made the task ready, and when the task ends.
    ///
    /// Without this flag every key of the task in a list of ready tasks is stale. With
    /// it, keys from before the latest time it was set are stale (`phase::ready`). A
    /// ready task is not polled the short way, except for that reason.
    pub(crate) const READY: Flags = Flags(1);
    /// The task has a task waker, which its polls use.
    ///
    /// Set when the first clone of the scope's waker is made (`wake::task_waker`).
    /// Cleared when the task ends (`end::clean_up`), which drops the executor's part of
    /// the waker.
    ///
    /// With this flag the cold data has the waker, and polls must lend that waker, so
    /// that `will_wake` returns `true`. If such a task becomes ready during a run, its
    /// poll counts as one for a wake, unless it has yielded.
    pub(crate) const TASK_WAKER: Flags = Flags(1 << 1);
    /// The task has or had waits in entries, so one run may find several of its waits
    /// due.
    ///
    /// Set when a poll registers a wait with an entry (`registration`), and when the task
    /// is resumed while another wait is registered with it (`run::resume`). Joins do not
    /// set it: they are not in the lists of a phase. Never cleared.
    ///
    /// With this flag each poll by a run notes the run in `Cold::polled_in`. So the run
    /// polls the task once for all its waits. A task without the flag has at most one
    /// wait in the lists of phases.
    pub(crate) const ENTRIES: Flags = Flags(1 << 2);
    /// The task is paused, or an owner above it is.
    ///
    /// Set when the task is spawned on a paused owner (`Owners::adopt`), and at each
    /// change of a pause that makes it paused (`pause::update_pause`). Cleared by the
    /// latter, and when the task ends (`end::clean_up`).
    ///
    /// A run does not poll a task with this flag. Instead the task remembers one wake.
    /// The task may be ready all the same: then it was ready before the pause.
    pub(crate) const PAUSED: Flags = Flags(1 << 3);
    /// The task counts on another clock than the game clock: that of its owner.
    ///
    /// Set when the task is spawned on an owner with a clock (`Owners::adopt`). Never
    /// cleared: neither the owner of a task nor the clock of an owner changes.
    ///
    /// With this flag, the polls and destructors of the task count on that clock.
    pub(crate) const CLOCK: Flags = Flags(1 << 4);
    /// The polls of the task are noted for snapshots and traces.
    ///
    /// Set when the task is spawned while the instruments are on, and for all live tasks
    /// when they are turned on (`core::observe`). Cleared for all live tasks when the
    /// instruments are turned off, with the last trace hook.
    ///
    /// With this flag the cold data has what is known about the task, until the task
    /// ends. Polls call the trace hook first, and are timed if slow polls are reported.
    pub(crate) const OBSERVED: Flags = Flags(1 << 5);
    /// The flags with which a wait for seconds does not begin the short way.
    pub(crate) const CLOCK_OR_OBSERVED: Flags = Flags(0b11_0000);
    /// The flags that a wake has to check.
    pub(crate) const SLOW_WAKE: Flags = Flags(0b10_1001);
    /// The flags that a poll has to check.
    pub(crate) const SLOW_PATH: Flags = Flags(0b10_1111);
    /// The same without those that only say that the task was woken.
    pub(crate) const SLOW_BUT_WOKEN: Flags = Flags(0b10_1100);
    /// The task is ready in the run under way because it has yielded.
    ///
    /// Set when a yield adds the task to the list of that run (`ready::yields`).
    /// Cleared with `READY` before each poll, and when the poll is left to the next run.
    ///
    /// The poll of such a task counts as one for a yield, and not as one for a wake or
    /// for a spawn.
    pub(crate) const YIELDED: Flags = Flags(1 << 6);
    /// The flags that a poll serves.
    pub(crate) const READY_OR_YIELDED: Flags = Flags(0b100_0001);
    /// The flags that a run has to check before it resumes a ready task.
    pub(crate) const PAUSED_OR_YIELDED: Flags = Flags(0b100_1000);
    /// The task's `Coroutine` handle exists, and may take the output.
    ///
    /// Set in a new task. Cleared when the handle is dropped (`Tasks::drop_handle`,
    /// `Tasks::give_up_output`).
    ///
    /// While this flag is set, the end of the task keeps the output for the handle.
    /// Without it, the output goes to the hook for unobserved outputs, or is dropped. The
    /// flag does not keep the block: the reference of the handle does.
    pub(crate) const HANDLE: Flags = Flags(1 << 7);
}

/// In [`Header::cold`]: no cold data.
pub(super) const NO_COLD: u32 = u32::MAX;
/// In [`Header::member`]: no owner.
const NO_OWNER: u32 = u32::MAX;
/// Ends the list of entries that join a task.
pub(crate) const NO_JOINER: u32 = u32::MAX;

/// The head of a task's block. Of a plain waiter, a run reads these 40 bytes and the
/// future.
pub(crate) struct Header {
    vtable: Cell<&'static VTable>,
    /// The key of the wait that is registered with the task itself, or, if none is,
    /// the key before that of the next wait. Its stamp is odd while a wait is registered.
    /// Its index never changes. Atomic only because other threads read the index.
    key: AtomicU64,
    /// Tells the occupants of a block apart. Atomic only because other threads read
    /// the generation.
    generation: AtomicU32,
    /// The index of the task's cold data. In a vacant block, the index of the next
    /// vacant block.
    pub(super) cold: Cell<u32>,
    /// The index of the task among the members of its owner.
    member: Cell<u32>,
    /// The latest entry in the list of joins of the task.
    pub(crate) joiners: Cell<u32>,
    /// The home phase. It changes only with the occupant of the block.
    home: Cell<PhaseIndex>,
    state: Cell<State>,
    /// Of the wait that is registered with the task itself: whether it must wait for a
    /// later frame, checks a condition, or waits for a time.
    registered: Cell<u8>,
    /// How many references to the block there are, the handle's included.
    references: Cell<u16>,
    flags: Cell<Flags>,
}

const _: () = assert!(size_of::<Header>() == 40);

/// In `registered`: the wait is due only in a later frame.
const FRAME_BOUND: u8 = 1;
/// In `registered`: the wait checks a condition.
const ASKS: u8 = 1 << 1;
/// In `registered`: the wait is a timer.
const TIMER: u8 = 1 << 2;

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

    /// Turns the head of a vacant block into that of a new task, with one reference: that
    /// of its handle.
    #[inline]
    pub(super) fn occupy(&self, vtable: &'static VTable, home: PhaseIndex) {
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

    /// Ends a poll that returned `Pending`. Returns `false` if the task was stopped
    /// during the poll.
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

    /// Whether the task is alive: in one of the states from `Idle` to `Unwound`.
    #[inline]
    pub(crate) fn is_alive(&self) -> bool {
        self.is_between(State::Idle, State::Unwound)
    }

    /// Whether the task's future is being polled, or has returned from its last poll.
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

    /// The key of the wait that is registered with the task itself. If none is, a key
    /// that no wait has.
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

    /// Whether the wait that is registered with the task itself must wait for a later
    /// frame.
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

    /// Notes that the wait that is registered with the task itself is a timer.
    #[inline(always)]
    pub(crate) fn note_timer(&self) {
        self.registered.set(self.registered.get() | TIMER);
    }

    pub(crate) fn waits_for_time(&self) -> bool {
        self.registered.get() & TIMER != 0
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

    /// The index of the task's cold data, if it has any.
    #[inline]
    pub(crate) fn cold(&self) -> Option<u32> {
        Some(self.cold.get()).filter(|&cold| cold != NO_COLD)
    }

    /// Whether the task has cold data.
    #[inline]
    pub(crate) fn has_cold(&self) -> bool {
        self.cold.get() != NO_COLD
    }

    /// Stores the index of the task's cold data.
    ///
    /// # Panics
    ///
    /// If the task has been released: then the field belongs to the list of vacant blocks.
    #[inline]
    pub(crate) fn set_cold(&self, index: u32) {
        assert!(!self.is_in(State::Vacant), "a task that has been released");
        self.cold.set(index);
    }

    /// Takes the index of the task's cold data, if it has any and was not released.
    pub(crate) fn take_cold(&self) -> Option<u32> {
        if self.is_in(State::Vacant) {
            return None;
        }
        Some(self.cold.replace(NO_COLD)).filter(|&cold| cold != NO_COLD)
    }

    /// Counts one more reference to the block.
    pub(super) fn add_reference(&self) {
        // At the limit the count stays as it is. Then the block is kept until the
        // executor is dropped.
        self.references.set(self.references.get().saturating_add(1));
    }

    /// Counts one reference less.
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
