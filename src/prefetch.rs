//! Asking for memory before it is needed.

use std::ptr::NonNull;

/// Has the cache line fetched that is `offset` bytes behind `address`, where the
/// processor can be asked. The line may be anything, or nothing.
#[inline(always)]
pub(crate) fn prefetch<T>(address: NonNull<T>, offset: usize) {
    let line = address.as_ptr().cast::<i8>().wrapping_add(offset);
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[allow(unused_unsafe, reason = "safe to call from some compiler versions on")]
        // SAFETY: prefetching has no effect but on the caches, and never faults.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(line);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}
