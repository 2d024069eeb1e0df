//! When a wait began, what it waits for and whose it is, in 64 bits.

#![forbid(unsafe_code)]

use crate::phase::PhaseIndex;
use crate::task::Primary;

/// What a wait notes at its first poll.
///
/// ```text
/// 63                28 27       16 15                  0
/// [ frame or run count][ executor ][ phase, frame-bound ]
/// ```
///
/// Waits live inside the futures of scripts, and those are what the executor
/// streams through in every frame: packed, a wait takes 16 bytes. The count is
/// compared modulo 2^36, half of which no wait outlives; executors are told
/// apart modulo 2^12, and tickets of different executors differ besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Since(u64);

const EXECUTOR_SHIFT: u32 = 16;
const COUNT_SHIFT: u32 = 28;
const EXECUTOR: u64 = (1 << (COUNT_SHIFT - EXECUTOR_SHIFT)) - 1;

impl Since {
    /// Of a wait in `phase` that has not begun.
    #[inline]
    pub(crate) const fn never(phase: PhaseIndex, frame_bound: bool) -> Self {
        Since(Primary::queued(phase, frame_bound).bits() as u64)
    }

    /// What all waits have in common that begin at `count` in `executor`.
    #[inline]
    pub(crate) const fn mark(count: u64, executor: u32) -> Self {
        Since(count << COUNT_SHIFT | (executor as u64 & EXECUTOR) << EXECUTOR_SHIFT)
    }

    /// The wait of `self`, begun at `mark`.
    #[inline]
    pub(crate) const fn begin(self, mark: Since) -> Self {
        Since(mark.0 | self.primary().bits() as u64)
    }

    /// How it registers with a task that waits for nothing else.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the low bits are asked for"
    )]
    pub(crate) const fn primary(self) -> Primary {
        Primary::from_bits(self.0 as u16)
    }

    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) const fn phase(self) -> PhaseIndex {
        self.primary().phase()
    }

    /// Whether `count` has been passed since the wait began.
    #[inline]
    pub(crate) const fn is_before(self, count: u64) -> bool {
        let passed = (count << COUNT_SHIFT).wrapping_sub(self.0 >> COUNT_SHIFT << COUNT_SHIFT);
        passed != 0 && passed < 1 << 63
    }

    #[inline]
    pub(crate) const fn is_of(self, executor: u32) -> bool {
        self.0 >> EXECUTOR_SHIFT & EXECUTOR == executor as u64 & EXECUTOR
    }
}

#[cfg(test)]
mod tests {
    use super::Since;
    use crate::Phase;
    use crate::phase::PhaseIndex;

    #[test]
    fn parts_do_not_touch_each_other() {
        let phase = PhaseIndex::new(Phase::Custom(255));
        let since = Since::never(phase, true).begin(Since::mark(7, 0xfff));
        assert_eq!(since.phase(), phase);
        assert!(since.primary().is_frame_bound());
        assert!(since.is_of(0xfff) && !since.is_of(0xffe));
        assert!(!since.is_before(6) && !since.is_before(7));
        assert!(since.is_before(8) && since.is_before(1 << 35));
    }

    #[test]
    fn counts_compare_across_their_wrap() {
        let phase = PhaseIndex::UPDATE;
        for begun in [(1 << 36) - 1, (1 << 36) + 5, u64::MAX >> 1] {
            let since = Since::never(phase, false).begin(Since::mark(begun, 3));
            assert!(!since.is_before(begun));
            assert!(since.is_before(begun + 1));
            assert!(!since.is_before(begun - 1));
        }
    }
}
