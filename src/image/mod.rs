//! Images: the state of an executor as plain numbers.

mod clocks;

use std::fmt;

pub use clocks::ClockNames;

/// Writes numbers to an image.
#[derive(Debug, Default)]
pub struct Writer {
    numbers: Vec<u64>,
}

impl Writer {
    /// Makes room for so many more numbers.
    pub fn reserve(&mut self, numbers: usize) {
        self.numbers.reserve(numbers);
    }

    /// Adds a number.
    #[inline]
    pub fn put(&mut self, number: u64) {
        self.numbers.push(number);
    }

    /// Adds some numbers.
    #[inline]
    pub fn put_each<const N: usize>(&mut self, numbers: [u64; N]) {
        self.put_slice(&numbers);
    }

    /// Adds some numbers.
    #[inline]
    pub fn put_slice(&mut self, numbers: &[u64]) {
        self.numbers.extend_from_slice(numbers);
    }

    /// Adds a `bool`.
    #[inline]
    pub fn put_flag(&mut self, flag: bool) {
        self.put(u64::from(flag));
    }

    /// Adds a length, or an index.
    #[inline]
    pub fn put_len(&mut self, len: usize) {
        self.put(len as u64);
    }

    /// Adds the number of items, then each item with `put`.
    pub fn put_all<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut put: impl FnMut(&mut Self, T),
    ) {
        self.put_counted(|out| {
            let mut len = 0;
            for item in items {
                put(out, item);
                len += 1;
            }
            len
        });
    }

    /// Adds the number of items that `put` returns, then the items that it adds.
    pub fn put_counted(&mut self, put: impl FnOnce(&mut Self) -> u64) {
        let at = self.numbers.len();
        self.put(0);
        self.numbers[at] = put(self);
    }

    /// The numbers so far.
    #[must_use]
    pub fn numbers(&self) -> &[u64] {
        &self.numbers
    }

    /// Removes all numbers, and keeps their memory.
    pub fn clear(&mut self) {
        self.numbers.clear();
    }

    /// The numbers, in order.
    #[must_use]
    pub fn into_numbers(self) -> Vec<u64> {
        self.numbers
    }
}

/// Reads the numbers of an image, in the order in which they were written.
#[derive(Debug)]
pub struct Reader<'a> {
    left: &'a [u64],
}

/// The image was changed, or was not written by an executor of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the image of the executor is damaged")
    }
}

impl std::error::Error for Damaged {}

impl<'a> Reader<'a> {
    /// Reads `numbers` from the start.
    #[must_use]
    pub fn new(numbers: &'a [u64]) -> Self {
        Reader { left: numbers }
    }

    /// Takes the next number.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[inline]
    pub fn take(&mut self) -> Result<u64, Damaged> {
        let (&first, left) = self.left.split_first().ok_or(Damaged)?;
        self.left = left;
        Ok(first)
    }

    /// Takes the value of a counter, which must be far from overflow.
    ///
    /// # Errors
    ///
    /// If there is none.
    #[inline]
    pub fn take_count(&mut self) -> Result<u64, Damaged> {
        let count = self.take()?;
        if count < u64::MAX / 2 {
            Ok(count)
        } else {
            Err(Damaged)
        }
    }

    /// Takes a `bool`.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn take_flag(&mut self) -> Result<bool, Damaged> {
        match self.take()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Damaged),
        }
    }

    /// Takes an index below `len`.
    ///
    /// # Errors
    ///
    /// If the next number is not one.
    pub fn take_index(&mut self, len: usize) -> Result<usize, Damaged> {
        let index = usize::try_from(self.take()?).map_err(|_| Damaged)?;
        if index < len { Ok(index) } else { Err(Damaged) }
    }

    /// Takes an index of a list that the caller checks.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn take_number(&mut self) -> Result<usize, Damaged> {
        usize::try_from(self.take()?).map_err(|_| Damaged)
    }

    /// Takes the number of the items that follow. No more can follow than there are
    /// numbers left.
    ///
    /// # Errors
    ///
    /// If more would have to follow.
    pub fn take_len(&mut self) -> Result<usize, Damaged> {
        let len = usize::try_from(self.take()?).map_err(|_| Damaged)?;
        if len <= self.left.len() {
            Ok(len)
        } else {
            Err(Damaged)
        }
    }

    /// Whether all numbers have been taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }
}
