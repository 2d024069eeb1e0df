//! When a wait began, in which phase it resumes and whose it is, in 64 bits.

use crate::phase::PhaseIndex;

/// What a wait notes at its first poll.
///
/// ```text
/// 63                23 22       14 13         0
/// [ frame or run count][ phase    ][ executor  ]
/// ```
///
/// Waits live inside the futures of scripts, and those are what the executor
/// streams through in every frame: packed, a wait takes 16 bytes. The count is
/// compared modulo 2^41, half of which no wait outlives; executors are told
/// apart modulo 2^14, of which a thread has not that many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Since(u64);

const EXECUTOR_BITS: u32 = 14;
const PHASE_BITS: u32 = 9;
const COUNT_SHIFT: u32 = EXECUTOR_BITS + PHASE_BITS;
const EXECUTOR: u64 = (1 << EXECUTOR_BITS) - 1;

impl Since {
    /// Of a wait in `phase` that has not begun.
    #[inline]
    pub(crate) const fn never(phase: PhaseIndex) -> Self {
        Since((phase.bits() as u64) << EXECUTOR_BITS)
    }

    /// What all waits have in common that begin at `count` in `executor`.
    #[inline]
    pub(crate) const fn mark(count: u64, executor: u32) -> Self {
        Since(count << COUNT_SHIFT | executor as u64 & EXECUTOR)
    }

    /// A wait in the phase of `self` that begins at `mark`.
    #[inline]
    pub(crate) const fn begin(self, mark: Since) -> Self {
        let phase = self.0 & (((1 << PHASE_BITS) - 1) << EXECUTOR_BITS);
        Since(mark.0 | phase)
    }

    #[inline]
    pub(crate) const fn phase(self) -> PhaseIndex {
        PhaseIndex::from_bits((self.0 >> EXECUTOR_BITS) as u16 & PhaseIndex::MASK)
    }

    /// Whether `count` has been passed since the wait began.
    #[inline]
    pub(crate) const fn is_before(self, count: u64) -> bool {
        let passed = (count << COUNT_SHIFT).wrapping_sub(self.0 >> COUNT_SHIFT << COUNT_SHIFT);
        passed != 0 && passed < 1 << 63
    }

    #[inline]
    pub(crate) const fn is_of(self, executor: u32) -> bool {
        self.0 & EXECUTOR == executor as u64 & EXECUTOR
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
        let since = Since::never(phase).begin(Since::mark(7, 0x3fff));
        assert_eq!(since.phase(), phase);
        assert!(since.is_of(0x3fff) && !since.is_of(0x3ffe));
        assert!(!since.is_before(6) && !since.is_before(7));
        assert!(since.is_before(8) && since.is_before(1 << 40));
    }

    #[test]
    fn counts_compare_across_their_wrap() {
        let phase = PhaseIndex::UPDATE;
        for begun in [(1 << 41) - 1, (1 << 41) + 5, u64::MAX >> 1] {
            let since = Since::never(phase).begin(Since::mark(begun, 3));
            assert!(!since.is_before(begun));
            assert!(since.is_before(begun + 1));
            assert!(!since.is_before(begun - 1));
        }
    }
}
