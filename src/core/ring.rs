//! A queue that goes round in its memory.

#![forbid(unsafe_code)]

/// First in, first out. What `VecDeque` does, for small values and in fewer
/// instructions: the room is a power of two, and whoever pushes may leave the
/// growing to another place.
#[derive(Debug)]
pub(crate) struct Ring<T> {
    /// As many as a power of two, or none.
    slots: Vec<T>,
    /// Where the next one comes out. Counts on and on, like `tail`.
    head: usize,
    tail: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Ring {
            slots: Vec::new(),
            head: 0,
            tail: 0,
        }
    }
}

impl<T: Copy> Ring<T> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head)
    }

    #[inline(always)]
    fn slot_of(&self, count: usize) -> usize {
        count & self.slots.len().wrapping_sub(1)
    }

    /// `false`: there is no room, and `push` would make some.
    #[inline(always)]
    pub(crate) fn try_push(&mut self, value: T) -> bool {
        if self.len() == self.slots.len() {
            return false;
        }
        let index = self.slot_of(self.tail);
        let slot = self.slots.get_mut(index);
        let pushed = slot.map(|slot| *slot = value).is_some();
        self.tail = self.tail.wrapping_add(usize::from(pushed));
        pushed
    }

    #[inline]
    pub(crate) fn push(&mut self, value: T) {
        if !self.try_push(value) {
            self.push_growing(value);
        }
    }

    #[cold]
    fn push_growing(&mut self, value: T) {
        let mut slots = Vec::with_capacity((self.slots.len() * 2).max(16));
        while let Some(earlier) = self.pop() {
            slots.push(earlier);
        }
        slots.push(value);
        (self.head, self.tail) = (0, slots.len());
        // What lies behind them is never read before it is written.
        slots.resize(slots.len().next_power_of_two().max(16), value);
        self.slots = slots;
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<T> {
        if self.head == self.tail {
            return None;
        }
        let value = self.slots.get(self.slot_of(self.head)).copied();
        self.head = self.head.wrapping_add(1);
        value
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::Ring;

    #[test]
    fn what_was_pushed_first_comes_out_first_whatever_grows_and_wraps() {
        let (mut ring, mut queue) = (Ring::default(), VecDeque::new());
        let mut next = 0_u32;
        for round in 0..200_u32 {
            for _ in 0..round * 7 % 23 {
                ring.push(next);
                queue.push_back(next);
                next += 1;
            }
            for _ in 0..round * 5 % 19 {
                assert_eq!(ring.pop(), queue.pop_front());
            }
        }
        while let Some(value) = queue.pop_front() {
            assert_eq!(ring.pop(), Some(value));
        }
        assert_eq!(ring.pop(), None);
    }

    #[test]
    fn trying_never_grows() {
        let mut ring = Ring::default();
        assert!(!ring.try_push(1));
        ring.push(1);
        let room = (2..100).take_while(|&value| ring.try_push(value)).count();
        assert_eq!(room, 15);
        assert_eq!(ring.pop(), Some(1));
        assert!(ring.try_push(17));
        assert!(!ring.try_push(18));
    }
}
