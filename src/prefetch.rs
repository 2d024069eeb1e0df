//! Asking for memory before it is needed.

use std::ptr::NonNull;

/// Has the cache line at `address` fetched, where the processor can be asked.
#[inline(always)]
pub(crate) fn prefetch<T>(address: NonNull<T>) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[allow(unused_unsafe, reason = "safe to call from some compiler versions on")]
        // SAFETY: prefetching has no effect but on the caches.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(address.as_ptr().cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
