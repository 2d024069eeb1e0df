//! Tickets: what stands in queues, wheels and joiner lists for one wait.

#![forbid(unsafe_code)]

/// One registration of one wait, as a queue, a wheel or a list of joiners
/// holds it: 8 bytes, copied freely, and stale rather than removed when the
/// wait is dropped.
///
/// It names either a task, for the one wait that may register with the task
/// itself, or a record of [`Records`](crate::records::Records), for every
/// other. The stamp says which registration of that task or record it is; a
/// ticket whose stamp has passed is skipped.
///
/// ```text
/// 63            32  31      30            0
/// [ stamp         ][ record ][ index       ]
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

const RECORD: u64 = 1 << 31;
const INDEX: u64 = RECORD - 1;

impl Ticket {
    /// Of a wait that is not registered (any more).
    pub(crate) const NONE: Ticket = Ticket(u64::MAX);
    /// Of a wait that has not been polled yet.
    pub(crate) const NEW: Ticket = Ticket(u64::MAX - 1);
    /// Of a wait that has been ready.
    pub(crate) const DONE: Ticket = Ticket(u64::MAX - 2);
    /// Equals no ticket that a wait can have.
    pub(crate) const VOID: Ticket = Ticket(u64::MAX - 3);
    /// One more than the largest index a ticket can hold.
    pub(crate) const MAX_INDEX: usize = (1 << 30) - 1;

    #[inline]
    pub(crate) const fn task(index: u32, stamp: u32) -> Self {
        Ticket(index as u64 | (stamp as u64) << 32)
    }

    #[inline]
    pub(crate) const fn record(index: u32, stamp: u32) -> Self {
        Ticket(index as u64 | RECORD | (stamp as u64) << 32)
    }

    /// Whether it names a registration, be it a stale one.
    #[inline]
    pub(crate) const fn is_registered(self) -> bool {
        self.0 < Self::VOID.0
    }

    /// The same task or record with the next stamp.
    #[inline]
    pub(crate) const fn next(self) -> Self {
        Ticket(self.0.wrapping_add(1 << 32))
    }

    #[inline]
    pub(crate) const fn is_record(self) -> bool {
        self.0 & RECORD != 0
    }

    #[inline]
    pub(crate) const fn index(self) -> u32 {
        (self.0 & INDEX) as u32
    }

    #[inline]
    pub(crate) const fn stamp(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    pub(crate) const fn from_bits(bits: u64) -> Self {
        Ticket(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::Ticket;

    #[test]
    fn parts_do_not_touch_each_other() {
        for (index, stamp) in [(0, 0), (7, u32::MAX), ((1 << 30) - 2, 5)] {
            let task = Ticket::task(index, stamp);
            assert_eq!((task.index(), task.stamp()), (index, stamp));
            assert!(!task.is_record());
            let record = Ticket::record(index, stamp);
            assert_eq!((record.index(), record.stamp()), (index, stamp));
            assert!(record.is_record());
            assert_ne!(record, Ticket::NONE);
        }
    }
    #[test]
    fn the_stamp_after_the_last_one_is_the_first_of_the_same_place() {
        for of in [Ticket::task, Ticket::record] {
            for index in [0, 7, (1 << 30) - 2] {
                assert_eq!(of(index, u32::MAX).next(), of(index, 0));
                assert!(of(index, u32::MAX).is_registered());
            }
        }
    }
}
