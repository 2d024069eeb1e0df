//! Slot storage: first-in-first-out lists of fixed-size chunks in one pool.
//!
//! If each slot had a buffer of its own, the buffer would keep the capacity of
//! the slot's fullest moment. As the wheel turns, every slot has such a moment. Chunks
//! return to the pool when a slot is drained. So the wheel takes memory for the most
//! entries that it ever held at once.

use super::TimerEntry;

/// How many entries a chunk has. A chunk takes half a kilobyte: long enough to stream
/// when a slot cascades, and short enough to waste on a slot with one timer.
pub(super) const CHUNK: usize = 32;

/// The index of no chunk.
pub(super) const NIL: u32 = u32::MAX;

/// A FIFO list of chunks. No chunk in a list is empty, so only [`EMPTY`](Self::EMPTY) is
/// an empty list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkList {
    head: u32,
    /// The number of the place behind the last entry, counted through all chunks of
    /// the pool. The next entry goes there, unless a chunk ends there. So a push
    /// reads only the list, and writes only the list and the entry.
    end: u32,
}

impl ChunkList {
    pub(super) const EMPTY: Self = Self { head: NIL, end: 0 };

    pub(super) fn is_empty(self) -> bool {
        self.head == NIL
    }

    /// The number of the next entry's place, if there is room in the last chunk.
    #[inline]
    fn room(self) -> Option<usize> {
        let end = self.end as usize;
        (end % CHUNK != 0).then_some(end)
    }

    /// The last chunk, and how many entries it has. The list must not be empty.
    fn last(self) -> (u32, usize) {
        let last = self.end - 1;
        (last / SIZE, (last % SIZE) as usize + 1)
    }

    /// Sets the last chunk of the list and how many entries it has.
    #[expect(clippy::cast_possible_truncation, reason = "no more than CHUNK")]
    fn end_with(&mut self, index: u32, len: usize) {
        self.end = index * SIZE + len as u32;
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a small constant")]
const SIZE: u32 = CHUNK as u32;

/// The data of a chunk besides its entries.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// The following chunk of the list, or of the free list.
    next: u32,
    /// How many entries the chunk has. For the last chunk, the list has this number.
    len: u32,
}

/// All chunks of a wheel: those in lists and the free ones.
///
/// They are in one vector. Segments that never move would avoid the copy when the vector
/// grows. But finding a chunk in them took up to a tenth of a timer's whole cost.
#[derive(Debug)]
pub(super) struct ChunkPool {
    entries: Vec<[TimerEntry; CHUNK]>,
    links: Vec<Link>,
    /// The first of the free chunks, which are in no list.
    free: u32,
}

impl ChunkPool {
    pub(super) const fn new() -> Self {
        Self {
            entries: Vec::new(),
            links: Vec::new(),
            free: NIL,
        }
    }

    /// Appends `entry` to `list`. Returns `false` if the last chunk has no room.
    #[inline(always)]
    pub(super) fn push(&mut self, list: &mut ChunkList, entry: TimerEntry) -> bool {
        let room = list.room();
        let entries = self.entries.as_flattened_mut();
        let Some(free) = room.and_then(|room| entries.get_mut(room)) else {
            return false;
        };
        *free = entry;
        list.end += 1;
        true
    }

    /// Appends `entry` to `list`, in a new chunk.
    pub(super) fn push_in_new_chunk(&mut self, list: &mut ChunkList, entry: TimerEntry) {
        let index = self.allocate();
        self.entries[index as usize][0] = entry;
        if list.is_empty() {
            list.head = index;
        } else {
            let (last, _) = list.last();
            *self.link_mut(last) = Link {
                next: index,
                len: SIZE,
            };
        }
        list.end_with(index, 1);
    }

    /// The numbers of the entries in the first chunk of `list`.
    pub(super) fn first(&self, list: ChunkList) -> std::ops::Range<usize> {
        let first = list.head as usize * CHUNK;
        first..first + self.len(list, list.head)
    }

    /// The entry of that number.
    #[inline]
    pub(super) fn entry(&self, number: usize) -> TimerEntry {
        self.entries.as_flattened()[number]
    }

    /// Removes and frees the first chunk of `list`. Its entries can be read until
    /// the next push.
    pub(super) fn pop_chunk(&mut self, list: &mut ChunkList) -> Option<&[TimerEntry]> {
        if list.is_empty() {
            return None;
        }
        let entries = self.first(*list);
        self.unlink(list, NIL);
        Some(&self.entries.as_flattened()[entries])
    }

    /// Unlinks and frees the chunk after `previous` in `list`, or its first
    /// one if `previous` is [`NIL`].
    pub(super) fn unlink(&mut self, list: &mut ChunkList, previous: u32) {
        let index = self.after(*list, previous);
        let is_last = index == list.last().0;
        let next = if is_last { NIL } else { self.link(index).next };
        if previous == NIL {
            list.head = next;
        } else {
            self.link_mut(previous).next = next;
        }
        if is_last {
            match previous {
                NIL => *list = ChunkList::EMPTY,
                _ => list.end_with(previous, self.link(previous).len as usize),
            }
        }
        self.link_mut(index).next = self.free;
        self.free = index;
    }

    /// Removes the entries of a chunk of `list` with keys that `keep` rejects. The other
    /// entries keep their order. Returns how many entries there were, and how many were
    /// removed. If all were removed, the caller must unlink the chunk.
    pub(super) fn retain(
        &mut self,
        list: &mut ChunkList,
        index: u32,
        mut keep: impl FnMut(TimerEntry) -> bool,
    ) -> (usize, usize) {
        let len = self.len(*list, index);
        let entries = &mut self.entries[index as usize];
        let mut kept = 0;
        for at in 0..len {
            let entry = entries[at];
            if keep(entry) {
                entries[kept] = entry;
                kept += 1;
            }
        }
        if kept > 0 {
            self.set_len(list, index, kept);
        }
        (len, len - kept)
    }

    /// Moves the entries of the chunk after `previous` into `previous`, if all of them
    /// fit. If so, the caller must then unlink the empty chunk.
    pub(super) fn merge(&mut self, list: &mut ChunkList, previous: u32) -> bool {
        let index = self.after(*list, previous);
        let (into, from) = (self.len(*list, previous), self.len(*list, index));
        if into + from > CHUNK {
            return false;
        }
        let source = self.entries[index as usize];
        self.entries[previous as usize][into..into + from].copy_from_slice(&source[..from]);
        self.set_len(list, previous, into + from);
        true
    }

    /// The chunk after `previous` in `list`, or its first one if `previous`
    /// is [`NIL`].
    pub(super) fn after(&self, list: ChunkList, previous: u32) -> u32 {
        match previous {
            NIL => list.head,
            _ if list.last().0 == previous => NIL,
            _ => self.link(previous).next,
        }
    }

    /// The chunks of `list`, in order.
    pub(super) fn chunks(&self, list: ChunkList) -> impl Iterator<Item = &[TimerEntry]> {
        let mut index = list.head;
        std::iter::from_fn(move || {
            if index == NIL {
                return None;
            }
            let entries = &self.entries[index as usize][..self.len(list, index)];
            index = self.after(list, index);
            Some(entries)
        })
    }

    /// How many entries a chunk of `list` has.
    fn len(&self, list: ChunkList, index: u32) -> usize {
        match list.last() {
            (last, len) if last == index => len,
            _ => self.link(index).len as usize,
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "no more than CHUNK entries"
    )]
    fn set_len(&mut self, list: &mut ChunkList, index: u32, len: usize) {
        if list.last().0 == index {
            list.end_with(index, len);
        } else {
            self.link_mut(index).len = len as u32;
        }
    }

    fn link(&self, index: u32) -> Link {
        self.links[index as usize]
    }

    fn link_mut(&mut self, index: u32) -> &mut Link {
        &mut self.links[index as usize]
    }

    fn allocate(&mut self) -> u32 {
        let index = self.free;
        if index != NIL {
            self.free = self.link(index).next;
            return index;
        }
        let index = self.links.len();
        if index == self.entries.capacity() {
            // Grows by half, and from one chunk on: a wheel with few timers stays
            // small.
            self.entries.reserve_exact((index / 2).max(1));
        }
        self.entries.push([TimerEntry::NEVER; CHUNK]);
        self.links.push(Link { next: NIL, len: 0 });
        u32::try_from(index)
            .ok()
            .filter(|&index| index < u32::MAX / SIZE)
            .expect("fewer than 2^32 timers fit in memory")
    }
}

#[cfg(test)]
impl ChunkPool {
    /// How many chunks were ever allocated.
    pub(super) fn count(&self) -> usize {
        self.links.len()
    }

    /// For how many chunks memory is reserved.
    pub(super) fn capacity(&self) -> usize {
        self.entries.capacity()
    }

    /// How many chunks are in no list.
    pub(super) fn count_free(&self) -> usize {
        let mut free = 0;
        let mut next = self.free;
        while next != NIL {
            free += 1;
            next = self.link(next).next;
        }
        free
    }
}
