//! From a task to what it has besides its header.

#![forbid(unsafe_code)]

/// In the header of a task: nothing, a place among the members of an owner, or
/// an [`Extra`](super::extra::Extra), which then also has the place.
///
/// In a vacant block: the next vacant one, see
/// [`TaskTable`](super::table::TaskTable).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link(u32);

/// What a [`Link`] leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Linked {
    Nothing,
    Member(u32),
    Extra(u32),
}

const MEMBER: u32 = 1 << 31;

impl Link {
    pub(crate) const NONE: Link = Link(u32::MAX);

    pub(super) fn member(index: u32) -> Self {
        debug_assert!(index < MEMBER - 1);
        Link(index | MEMBER)
    }

    pub(super) fn extra(index: u32) -> Self {
        debug_assert!(index < MEMBER);
        Link(index)
    }

    #[inline]
    pub(super) fn get(self) -> Linked {
        if self == Self::NONE {
            Linked::Nothing
        } else if self.0 & MEMBER != 0 {
            Linked::Member(self.0 & !MEMBER)
        } else {
            Linked::Extra(self.0)
        }
    }

    /// Of a vacant block: which is next, `u32::MAX` for none.
    #[inline]
    pub(super) fn vacant(next: u32) -> Self {
        Link(next)
    }

    #[inline]
    pub(super) fn next_vacant(self) -> u32 {
        self.0
    }
}
