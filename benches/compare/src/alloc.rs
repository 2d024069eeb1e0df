//! An allocator that counts while counting is on.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

#[cfg(feature = "mimalloc")]
static INNER: mimalloc::MiMalloc = mimalloc::MiMalloc;
#[cfg(not(feature = "mimalloc"))]
static INNER: std::alloc::System = std::alloc::System;

#[global_allocator]
static COUNTING: Counting = Counting;

static ACTIVE: AtomicBool = AtomicBool::new(false);
static CALLS: AtomicU64 = AtomicU64::new(0);
static LIVE_BYTES: AtomicI64 = AtomicI64::new(0);

/// What `f` allocated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allocated {
    /// Calls that handed out memory, reallocations included.
    pub(crate) calls: u64,
    /// Bytes asked for and not yet given back.
    pub(crate) live_bytes: i64,
}

/// Counts what `f` allocates. Not to be nested.
pub(crate) fn counted<R>(f: impl FnOnce() -> R) -> (R, Allocated) {
    CALLS.store(0, Relaxed);
    LIVE_BYTES.store(0, Relaxed);
    ACTIVE.store(true, Relaxed);
    let result = f();
    ACTIVE.store(false, Relaxed);
    let allocated = Allocated {
        calls: CALLS.load(Relaxed),
        live_bytes: LIVE_BYTES.load(Relaxed),
    };
    (result, allocated)
}

/// Merges what has been freed. glibc keeps small blocks apart in the order in
/// which they were freed: what comes after an aged world would find its
/// blocks shuffled, whatever order it asks for them in.
pub(crate) fn settle() {
    #[cfg(all(target_os = "linux", target_env = "gnu", not(feature = "mimalloc")))]
    {
        unsafe extern "C" {
            safe fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        malloc_trim(0);
    }
}

/// While timing, all it adds to a call is the test of one flag.
struct Counting;

fn note(calls: u64, bytes: i64) {
    if ACTIVE.load(Relaxed) {
        CALLS.fetch_add(calls, Relaxed);
        LIVE_BYTES.fetch_add(bytes, Relaxed);
    }
}

// SAFETY: every call is passed on as it is to an allocator that keeps the
// contract; counting touches none of the memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as i64);
        // SAFETY: the caller's promise, passed on.
        unsafe { INNER.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as i64);
        // SAFETY: the caller's promise, passed on.
        unsafe { INNER.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        note(0, -(layout.size() as i64));
        // SAFETY: the caller's promise, passed on; `block` is INNER's.
        unsafe { INNER.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note(1, new_size as i64 - layout.size() as i64);
        // SAFETY: the caller's promise, passed on; `block` is INNER's.
        unsafe { INNER.realloc(block, layout, new_size) }
    }
}
