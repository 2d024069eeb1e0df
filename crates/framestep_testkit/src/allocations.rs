//! An allocator that counts. Each thread has its own counters, so that tests on other
//! threads do not disturb them.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

/// Which allocation a call waits for.
#[derive(Clone, Copy)]
enum Which {
    /// The next one of so many bytes.
    Bytes(usize),
    /// The one with this number on its thread.
    Number(u64),
}

/// What is called, and in which allocation.
type Call = (Which, fn());

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static LIVE_BYTES: Cell<i64> = const { Cell::new(0) };
    static CALL: Cell<Option<Call>> = const { Cell::new(None) };
}

// While a thread ends its counters are dropped, and not read.

fn count(bytes: usize) {
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
    let is_now = |which| match which {
        Which::Bytes(of) => of == bytes,
        Which::Number(number) => ALLOCATIONS.try_with(Cell::get) == Ok(number),
    };
    let _ = CALL.try_with(|call| {
        if let Some((_, f)) = call.get().filter(|&(which, _)| is_now(which)) {
            call.set(None);
            f();
        }
    });
}

fn grow(from: usize, to: usize) {
    // Nothing is longer than `isize::MAX`.
    let [from, to] = [from, to].map(|bytes| i64::try_from(bytes).unwrap_or(0));
    let _ = LIVE_BYTES.try_with(|live| live.set(live.get() + to - from));
}

// SAFETY: passes every call on to the system's allocator, unchanged; counting uses a
// constant-initialised thread local and allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        grow(0, layout.size());
        // SAFETY: the caller's promises are those of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        grow(layout.size(), 0);
        // SAFETY: the caller's promises are those of `System`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        grow(layout.size(), size);
        // SAFETY: the caller's promises are those of `System`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// How often this thread allocates while `f` runs.
pub fn allocations_of(f: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    f();
    ALLOCATIONS.get() - before
}

/// The bytes that this thread has allocated, minus those that it has freed.
pub fn live_bytes() -> i64 {
    LIVE_BYTES.get()
}

/// Calls `f` inside the next allocation of `bytes` on this thread.
pub fn call_in_allocation(bytes: usize, f: fn()) {
    CALL.set(Some((Which::Bytes(bytes), f)));
}

/// Calls `f` inside the `nth` allocation from now on this thread, from 1.
pub fn call_in_nth_allocation(nth: u64, f: fn()) {
    CALL.set(Some((Which::Number(ALLOCATIONS.get() + nth), f)));
}

/// Whether no call has been left over. Removes it.
pub fn has_called() -> bool {
    CALL.take().is_none()
}
