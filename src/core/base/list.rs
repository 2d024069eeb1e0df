//! Lists of plain values that change through a shared reference.
//!
//! A list only moves values in and out. It never hands out a reference to its
//! content. So no borrow can outlive a call, and borrows need no check.

#![expect(
    unsafe_code,
    reason = "changes a vector through a shared reference, and lends nothing of it"
)]

use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::mem;

/// A vector of `Copy` values.
pub(crate) struct List<T: Copy> {
    /// Only [`with`](List::with) accesses it.
    values: UnsafeCell<Vec<T>>,
}

impl<T: Copy> List<T> {
    /// Calls `f` with the vector. Each caller's `f` calls only methods of the vector, and
    /// only those that do not allocate: the allocator may be any code. Cloning or dropping
    /// a `Copy` value runs no code.
    #[inline(always)]
    fn with<R>(&self, f: impl FnOnce(&mut Vec<T>) -> R) -> R {
        // SAFETY: no other function borrows the vector. The type is not `Sync`, and no
        // `f` calls this function again. So the borrow is exclusive.
        f(unsafe { &mut *self.values.get() })
    }

    #[inline(always)]
    pub(crate) fn push(&self, value: T) {
        if !self.push_in_place(value) {
            self.grow(value);
        }
    }

    /// Pushes a value into a buffer that has no room for it.
    #[cold]
    #[inline(never)]
    fn grow(&self, value: T) {
        while !self.push_in_place(value) {
            self.make_room();
        }
    }

    /// Makes the buffer one of at least `capacity` values. The values stay in the list
    /// meanwhile: code of the allocator may use the list, and change it.
    fn reserve(&self, capacity: usize) {
        let mut other = Vec::with_capacity(capacity);
        self.with(|values| {
            // Only if the allocator's code has not made the list longer than that.
            if values.len() < other.capacity() && values.capacity() < other.capacity() {
                other.extend_from_slice(values);
                mem::swap(values, &mut other);
            }
        });
        // This calls the allocator, too.
        drop(other);
    }

    /// Makes room for one more value, for [`push_in_place`](List::push_in_place). Code of
    /// the allocator may use the room up.
    #[inline]
    pub(crate) fn make_room(&self) {
        if self.with(|values| values.len() == values.capacity()) {
            self.reserve(2 * self.len().max(2));
        }
    }

    /// Pushes a value if the buffer has room for it. Returns whether it has pushed it.
    #[inline(always)]
    pub(crate) fn push_in_place(&self, value: T) -> bool {
        self.with(|values| {
            let has_room = values.len() < values.capacity();
            if has_room {
                values.push(value);
            }
            has_room
        })
    }

    /// The value at an index that is in the list.
    #[inline(always)]
    pub(crate) fn at(&self, index: usize) -> T {
        match self.get(index) {
            Some(value) => value,
            None => out_of_range(index),
        }
    }

    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> Option<T> {
        self.with(|values| values.get(index).copied())
    }

    /// Replaces the value at an index that is in the list.
    #[inline(always)]
    pub(crate) fn set(&self, index: usize, value: T) {
        if !self.put(index, value) {
            out_of_range(index);
        }
    }

    /// Replaces the value at an index, if that is in the list. Returns whether it is.
    #[inline(always)]
    pub(crate) fn put(&self, index: usize, value: T) -> bool {
        let place = |values: &mut Vec<T>| values.get_mut(index).map(|place| *place = value);
        self.with(place).is_some()
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.with(|values| values.len())
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all values, and keeps the buffer.
    #[inline(always)]
    pub(crate) fn clear(&self) {
        self.with(Vec::clear);
    }

    /// Removes all values from the index `len` on.
    pub(crate) fn truncate(&self, len: usize) {
        self.with(|values| values.truncate(len));
    }

    /// Appends copies of `value` up to a length of `len`.
    pub(crate) fn grow_to(&self, len: usize, value: T) {
        self.reserve(len);
        while self.len() < len {
            self.push(value);
        }
    }

    /// Replaces the vector. Returns the earlier vector.
    #[inline]
    pub(crate) fn replace(&self, values: Vec<T>) -> Vec<T> {
        self.with(|old| mem::replace(old, values))
    }

    /// Takes the vector out, and leaves an empty one.
    #[inline]
    pub(crate) fn take(&self) -> Vec<T> {
        self.replace(Vec::new())
    }

    /// Keeps the values for which `keep` returns `true`. `keep` finds the list empty, and
    /// may push to it.
    pub(crate) fn retain(&self, keep: impl FnMut(&T) -> bool) {
        let mut values = self.take();
        values.retain(keep);
        for value in self.replace(values) {
            self.push(value);
        }
    }

    /// The values by position, up to the end that the list has by then.
    pub(crate) fn iter(&self) -> impl Iterator<Item = T> + '_ {
        let mut next = 0..;
        std::iter::from_fn(move || self.get(next.next()?))
    }
}

impl<T: Copy> Default for List<T> {
    fn default() -> Self {
        List {
            values: UnsafeCell::default(),
        }
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

// Outside of `with`: a panic calls the program's hook.
#[cold]
#[inline(never)]
fn out_of_range(index: usize) -> ! {
    panic!("no value at {index}")
}

/// A first-in-first-out list.
#[derive(Debug)]
pub(crate) struct Fifo<T: Copy> {
    values: List<T>,
    /// The position of the first value.
    first: Cell<usize>,
    /// How many values have been taken before those that the list begins with.
    taken: Cell<u64>,
}

impl<T: Copy> Fifo<T> {
    #[inline(always)]
    pub(crate) fn push(&self, value: T) {
        if !self.values.push_in_place(value) {
            self.grow(value);
        }
    }

    /// Makes room and pushes a value. Drops the values that have been taken, if they are
    /// at least half of the list. So the buffer grows only with the values in the list.
    #[cold]
    #[inline(never)]
    fn grow(&self, value: T) {
        if self.first.get() * 2 >= self.values.len() {
            let mut values = self.values.take();
            values.drain(..self.first.get());
            self.values.replace(values);
            self.forget_taken();
        }
        self.values.push(value);
    }

    /// Begins the list with the first value. Those before it have been taken.
    #[inline(always)]
    fn forget_taken(&self) {
        self.taken.set(self.taken());
        self.first.set(0);
    }

    /// How many values have been taken.
    #[inline(always)]
    pub(crate) fn taken(&self) -> u64 {
        self.taken.get() + self.first.get() as u64
    }

    #[inline(always)]
    pub(crate) fn pop(&self) -> Option<T> {
        let first = self.first.get();
        let value = self.values.get(first)?;
        self.first.set(first + 1);
        if first + 1 == self.values.len() {
            self.values.clear();
            self.forget_taken();
        }
        Some(value)
    }
}

impl<T: Copy> Default for Fifo<T> {
    fn default() -> Self {
        Fifo {
            values: List::default(),
            first: Cell::default(),
            taken: Cell::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fifo, List};

    #[test]
    fn what_is_kept_stays_in_order() {
        let list = List::default();
        (0..10).for_each(|value| list.push(value));
        list.retain(|value| value % 3 == 0);
        assert_eq!(list.iter().collect::<Vec<_>>(), [0, 3, 6, 9]);
        list.set(1, 4);
        assert_eq!((list.get(1), list.get(4), list.len()), (Some(4), None, 4));
    }

    #[test]
    fn values_leave_in_the_order_in_which_they_came_and_do_not_pile_up() {
        let fifo = Fifo::default();
        let (mut pushed, mut popped) = (0, 0);
        for round in 0..1_000 {
            for _ in 0..=round % 3 {
                fifo.push(pushed);
                pushed += 1;
            }
            for _ in 0..(round + 1) % 3 {
                if let Some(value) = fifo.pop() {
                    assert_eq!(value, popped);
                    popped += 1;
                }
            }
            assert!(fifo.values.len() <= 4 * (pushed - popped) + 8);
        }
        assert_eq!(std::iter::from_fn(|| fifo.pop()).count(), pushed - popped);
        assert_eq!(fifo.taken(), pushed as u64);
        assert!(fifo.values.is_empty());
    }
}
