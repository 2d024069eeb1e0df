//! The number of this thread. No two threads of a program have the same number.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(all(test, framestep_loom))]
use super::sync::LocalCell;
use super::sync::thread_local;

/// The number of no thread.
pub(crate) const NONE: u64 = u64::MAX;

/// Stands for the number of a thread that has none yet.
const NEW: u64 = 0;

thread_local! {
    static HERE: Cell<u64> = const { Cell::new(NEW) };
}

static NEXT: AtomicU64 = AtomicU64::new(1);

/// The number of this thread. The first call assigns it.
pub(crate) fn here() -> u64 {
    let here = HERE.get();
    if here != NEW {
        return here;
    }
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    HERE.set(next);
    next
}

/// Whether `number` is that of this thread. It may be [`NONE`].
#[inline]
pub(crate) fn is_here(number: u64) -> bool {
    HERE.get() == number
}
