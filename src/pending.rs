//! What a poll has registered, or that it has returned, in 64 bits.

#![forbid(unsafe_code)]

use std::task::Waker;

use crate::phase::PhaseIndex;
use crate::since::Since;
use crate::task::Primary;

/// What a poll under way has registered with its coroutine: one word, which a
/// wait compares once and stores once.
///
/// It is the address of the waker that may register, as long as nothing is
/// registered; then what the wait noted, whose low bits are a [`Primary`] and
/// odd, so no address of a waker. The run loop queues the coroutine when the
/// poll is over.
///
/// Invariant APART: during a poll the coroutine's own `primary` counts only if
/// this says that something stands elsewhere, or that the coroutine is being
/// stopped. It may still be that of the wait by which it was resumed: most wait
/// for the same again, and then it is right already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pending(u64);

/// Set in what is no address and the bits of no [`Primary`].
const NO_PRIMARY: u64 = 1 << 15;

impl Pending {
    /// Something is registered, and stands where it belongs.
    pub(crate) const ELSEWHERE: Pending = Pending(NO_PRIMARY | 1);
    /// Nothing can be registered any more.
    pub(crate) const STOPPING: Pending = Pending(NO_PRIMARY | 3);
    /// The future has returned. The coroutine's own `primary` counts.
    pub(crate) const RETURNED: Pending = Pending(NO_PRIMARY | 5);

    /// Whoever is polled with the waker at that address may register.
    #[inline(always)]
    pub(crate) fn free(waker: *const Waker) -> Self {
        Pending(waker.addr() as u64)
    }

    /// Waits for a phase; not queued yet.
    #[inline(always)]
    pub(crate) const fn phase(since: Since) -> Self {
        Pending(since.bits())
    }

    /// Whether it waits for the phase like one that `primary` has queued.
    #[inline(always)]
    pub(crate) const fn is_as(self, primary: Primary) -> bool {
        // Those of an address are even.
        self.primary().bits() == primary.bits()
    }

    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the low bits are asked for"
    )]
    const fn primary(self) -> Primary {
        Primary::from_bits(self.0 as u16)
    }

    /// Whether the coroutine's own `primary` does not count.
    #[inline]
    pub(crate) fn is_apart(self) -> bool {
        self.0 & (NO_PRIMARY | 1) != NO_PRIMARY | 1
    }

    /// The wait for a phase that is yet to be queued.
    #[inline]
    pub(crate) fn to_queue(self) -> Option<Primary> {
        const PHASE: u64 = Primary::queued(PhaseIndex::from_bits(0), false).bits() as u64;
        (self.0 & PHASE == PHASE).then(|| self.primary())
    }
}
