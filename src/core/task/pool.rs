//! Memory for tasks: blocks by size class, carved from chunks.
//!
//! A block keeps its address and its class until the pool is dropped. So the
//! rest of `task` can hold plain addresses, and a spawn only takes the first block of
//! a list.

#![expect(unsafe_code, reason = "cuts blocks out of chunks of raw memory")]

use std::alloc::{self, Layout};
use std::ptr::NonNull;

/// Blocks up to this size come from chunks, in classes 8 bytes apart. Larger blocks
/// are allocated one by one, in four classes for every doubling.
const LARGEST_SMALL: usize = 1024;
const SMALL_CLASSES: usize = LARGEST_SMALL / 8 + 1;
/// The largest alignment that classes serve.
const ALIGN: usize = 16;
/// A line of the cache.
const LINE: usize = 64;
const SMALLEST_CHUNK: usize = 1 << 10;
const LARGEST_CHUNK: usize = 1 << 18;

/// A set of blocks that can be used for the same tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Class {
    /// By number, below [`Class::COUNT`].
    Numbered(u8),
    /// For one layout with a stricter alignment than that of the numbered classes.
    Aligned(Layout),
}

impl Class {
    /// How many numbered classes there are.
    pub(super) const COUNT: usize = 256;

    #[expect(
        clippy::cast_possible_truncation,
        reason = "class numbers are below 256"
    )]
    pub(super) const fn of(layout: Layout) -> Class {
        if layout.align() > ALIGN {
            return Class::Aligned(layout);
        }
        // A multiple of the alignment keeps every block of a chunk aligned.
        let step = if layout.align() > 8 { 16 } else { 8 };
        let size = layout.size().next_multiple_of(step);
        if size <= LARGEST_SMALL {
            return Class::Numbered((size / 8) as u8);
        }
        let mut number = SMALL_CLASSES;
        while number < Class::COUNT {
            if Class::size_of_number(number) >= size {
                return Class::Numbered(number as u8);
            }
            number += 1;
        }
        Class::Aligned(layout)
    }

    const fn size_of_number(number: usize) -> usize {
        if number < SMALL_CLASSES {
            return number * 8;
        }
        let step = number - SMALL_CLASSES;
        let base = LARGEST_SMALL << (step / 4);
        base + (base / 4) * (step % 4 + 1)
    }
}

/// Owns all blocks.
#[derive(Debug, Default)]
pub(super) struct Pool {
    /// The allocations to free when the pool is dropped.
    allocations: Vec<(NonNull<u8>, Layout)>,
    /// For each class: the rest of its latest chunk.
    open: Vec<OpenChunk>,
}

#[derive(Clone, Copy, Debug)]
struct OpenChunk {
    next: NonNull<u8>,
    /// In bytes.
    left: usize,
    /// How many bytes of all chunks of the class were carved.
    carved: usize,
}

impl Pool {
    /// Returns a new block: uninitialised, of the class's size and alignment.
    pub(super) fn carve(&mut self, class: Class) -> NonNull<u8> {
        let number = match class {
            Class::Aligned(layout) => return self.allocate(layout),
            Class::Numbered(number) => usize::from(number),
        };
        let size = Class::size_of_number(number);
        if number >= SMALL_CLASSES {
            return self.allocate(block_layout(size));
        }
        if self.open.len() <= number {
            let empty = OpenChunk {
                next: NonNull::dangling(),
                left: 0,
                carved: 0,
            };
            self.open.resize(number + 1, empty);
        }
        if self.open[number].left < size {
            // A quarter of what the class has carved: few chunks, and little waste.
            let wanted = (self.open[number].carved / 4).clamp(SMALLEST_CHUNK, LARGEST_CHUNK);
            let length = (wanted / size).max(1) * size;
            let chunk = self.allocate(chunk_layout(length));
            self.open[number].next = chunk;
            self.open[number].left = length;
        }
        let open = &mut self.open[number];
        let block = open.next;
        // SAFETY: at least `size` bytes of the chunk's allocation are left from
        // `next` on, so the result is inside the allocation or one past its end.
        open.next = unsafe { block.add(size) };
        open.left -= size;
        open.carved += size;
        block
    }

    fn allocate(&mut self, layout: Layout) -> NonNull<u8> {
        debug_assert!(layout.size() > 0);
        // SAFETY: blocks start with a header, so no layout is empty.
        let block = unsafe { alloc::alloc(layout) };
        let Some(block) = NonNull::new(block) else {
            alloc::handle_alloc_error(layout);
        };
        self.allocations.push((block, layout));
        block
    }
}

/// Aligned to cache lines, so that blocks of 64 and 128 bytes, which are
/// common, take whole lines.
fn chunk_layout(length: usize) -> Layout {
    Layout::from_size_align(length, LINE).expect("a chunk is small")
}

fn block_layout(size: usize) -> Layout {
    Layout::from_size_align(size, ALIGN).expect("the size of a task overflows")
}

/// Fetches two cache lines of a block, on processors with an instruction for that.
#[inline(always)]
pub(super) fn prefetch<T>(block: NonNull<T>) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = block.as_ptr().cast::<i8>();
        #[allow(unused_unsafe, reason = "safe to call from some compiler versions on")]
        // SAFETY: a prefetch affects only the caches, and never faults, whatever the
        // address.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(line);
            _mm_prefetch::<_MM_HINT_T0>(line.wrapping_add(LINE));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = block;
}

impl Drop for Pool {
    fn drop(&mut self) {
        for (block, layout) in self.allocations.drain(..) {
            // SAFETY: `allocate` allocated the block with this layout, and it is
            // freed only here.
            unsafe { alloc::dealloc(block.as_ptr(), layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::Layout;

    use super::{Class, Pool};

    #[test]
    fn a_class_is_large_enough_and_wastes_little() {
        for size in 40..100_000 {
            let layout = Layout::from_size_align(size, 8).unwrap();
            let Class::Numbered(number) = Class::of(layout) else {
                panic!("{size} has no class");
            };
            let class_size = Class::size_of_number(usize::from(number));
            assert!(class_size >= size);
            assert!(class_size <= size + 8 + size / 4, "{size}: {class_size}");
        }
    }

    #[test]
    fn blocks_are_aligned_and_do_not_overlap() {
        let mut pool = Pool::default();
        for (size, align) in [(40, 8), (48, 16), (56, 8), (600, 16), (1100, 8), (64, 64)] {
            let layout = Layout::from_size_align(size, align).unwrap();
            let class = Class::of(layout);
            let mut blocks: Vec<usize> = (0..200)
                .map(|_| pool.carve(class).as_ptr() as usize)
                .collect();
            blocks.sort_unstable();
            assert!(blocks.iter().all(|block| block % align == 0));
            assert!(blocks.windows(2).all(|pair| pair[1] - pair[0] >= size));
        }
    }
}
