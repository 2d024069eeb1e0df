//! Slot storage: first-in-first-out lists of fixed-size chunks in one pool.
//!
//! A buffer of its own in every slot would keep the capacity of its fullest
//! moment for ever, and as the wheel turns every slot has such a moment.
//! Chunks go back to the pool when a slot is drained, so the memory of the
//! wheel is that of the most entries it held at a time.

use super::Due;

/// Entries of a chunk. The chunk is then 504 bytes: long enough to stream
/// when a slot cascades, short enough to waste on a slot with one timer.
pub(super) const CHUNK: usize = 31;

/// In place of the index of a chunk: there is none.
pub(super) const NIL: u32 = u32::MAX;

/// A FIFO list of chunks. Not empty unless it is [`EMPTY`](Self::EMPTY): no
/// chunk in a list is empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    head: u32,
    tail: u32,
}

impl List {
    pub(super) const EMPTY: Self = Self {
        head: NIL,
        tail: NIL,
    };

    pub(super) fn is_empty(self) -> bool {
        self.head == NIL
    }
}

/// Some consecutive entries of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    /// The following chunk of the list, or of the free list.
    next: u32,
    len: u32,
    entries: [Due; CHUNK],
}

impl Chunk {
    const NEW: Self = Self {
        next: NIL,
        len: 0,
        entries: [Due {
            deadline_ns: 0,
            key: 0,
        }; CHUNK],
    };

    pub(super) fn entries(&self) -> &[Due] {
        &self.entries[..self.len as usize]
    }

    /// Drops the entries whose key `keep` rejects, keeping the order of the
    /// others. Returns how many went.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(u64) -> bool) -> usize {
        let len = self.len as usize;
        let mut kept = 0;
        for at in 0..len {
            let entry = self.entries[at];
            if keep(entry.key) {
                self.entries[kept] = entry;
                kept += 1;
            }
        }
        self.set_len(kept);
        len - kept
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "no more than CHUNK entries"
    )]
    fn set_len(&mut self, len: usize) {
        self.len = len as u32;
    }
}

/// All chunks of a wheel, those in lists and those free.
///
/// One vector: segments that never move would spare the copy when it grows,
/// but finding a chunk in them cost up to a tenth of a timer's whole life.
#[derive(Debug)]
pub(super) struct Pool {
    chunks: Vec<Chunk>,
    /// The first of the chunks that are in no list.
    free: u32,
}

impl Pool {
    pub(super) const fn new() -> Self {
        Self {
            chunks: Vec::new(),
            free: NIL,
        }
    }

    /// Adds `entry` at the end of `list`.
    pub(super) fn push(&mut self, list: &mut List, entry: Due) {
        if list.tail != NIL {
            let chunk = self.chunk_mut(list.tail);
            if let Some(free) = chunk.entries.get_mut(chunk.len as usize) {
                *free = entry;
                chunk.len += 1;
                return;
            }
        }
        self.push_in_new_chunk(list, entry);
    }

    #[inline(never)]
    fn push_in_new_chunk(&mut self, list: &mut List, entry: Due) {
        let index = self.allocate();
        let chunk = self.chunk_mut(index);
        chunk.next = NIL;
        chunk.len = 1;
        chunk.entries[0] = entry;
        if list.tail == NIL {
            list.head = index;
        } else {
            self.chunk_mut(list.tail).next = index;
        }
        list.tail = index;
    }

    /// Removes and frees the first chunk of `list`. Its contents are copied
    /// out so that the caller may fill the freed chunk again at once.
    pub(super) fn pop_chunk(&mut self, list: &mut List) -> Option<Chunk> {
        if list.is_empty() {
            return None;
        }
        let chunk = *self.chunk(list.head);
        self.unlink(list, NIL);
        Some(chunk)
    }

    /// Unlinks and frees the chunk after `previous` in `list`, or its first
    /// one if `previous` is [`NIL`].
    pub(super) fn unlink(&mut self, list: &mut List, previous: u32) {
        let index = self.after(*list, previous);
        let next = self.chunk(index).next;
        if previous == NIL {
            list.head = next;
        } else {
            self.chunk_mut(previous).next = next;
        }
        if list.tail == index {
            list.tail = previous;
        }
        self.chunk_mut(index).next = self.free;
        self.free = index;
    }

    /// Moves the entries of chunk `from` behind those of chunk `into` if all
    /// of them fit.
    pub(super) fn merge(&mut self, into: u32, from: u32) -> bool {
        let source = *self.chunk(from);
        let target = self.chunk_mut(into);
        let len = target.len as usize;
        let Some(room) = target.entries.get_mut(len..len + source.entries().len()) else {
            return false;
        };
        room.copy_from_slice(source.entries());
        target.len += source.len;
        true
    }

    /// The chunk after `previous` in `list`, or its first one if `previous`
    /// is [`NIL`].
    pub(super) fn after(&self, list: List, previous: u32) -> u32 {
        if previous == NIL {
            list.head
        } else {
            self.chunk(previous).next
        }
    }

    /// The chunks of `list`, in order.
    pub(super) fn chunks(&self, list: List) -> impl Iterator<Item = &Chunk> {
        let mut next = list.head;
        std::iter::from_fn(move || {
            if next == NIL {
                return None;
            }
            let chunk = self.chunk(next);
            next = chunk.next;
            Some(chunk)
        })
    }

    fn chunk(&self, index: u32) -> &Chunk {
        &self.chunks[index as usize]
    }

    pub(super) fn chunk_mut(&mut self, index: u32) -> &mut Chunk {
        &mut self.chunks[index as usize]
    }

    fn allocate(&mut self) -> u32 {
        let index = self.free;
        if index != NIL {
            self.free = self.chunk(index).next;
            return index;
        }
        let index = self.chunks.len();
        if index == self.chunks.capacity() {
            // By half, not by the whole, and from one chunk, not from four:
            // a wheel with few timers is small.
            self.chunks.reserve_exact((index / 2).max(1));
        }
        self.chunks.push(Chunk::NEW);
        u32::try_from(index)
            .ok()
            .filter(|&index| index != NIL)
            .expect("fewer than 2^32 chunks fit in memory")
    }
}

#[cfg(test)]
impl Pool {
    /// Chunks ever allocated.
    pub(super) fn count(&self) -> usize {
        self.chunks.len()
    }

    /// Chunks for which memory is reserved.
    pub(super) fn capacity(&self) -> usize {
        self.chunks.capacity()
    }

    /// Chunks that are in no list.
    pub(super) fn count_free(&self) -> usize {
        let mut free = 0;
        let mut next = self.free;
        while next != NIL {
            free += 1;
            next = self.chunk(next).next;
        }
        free
    }
}
