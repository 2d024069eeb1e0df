//! Futures that share one allocation, each of them pinned.

#![expect(unsafe_code, reason = "projects a pinned slice to its items")]

use std::pin::Pin;

/// The items of a pinned slice, each of them pinned.
#[inline]
pub(super) fn each<T>(items: Pin<&mut [T]>) -> impl Iterator<Item = Pin<&mut T>> {
    // SAFETY: the slice stays pinned because nothing is moved out of it: the
    // mutable reference to it ends here.
    let items = unsafe { items.get_unchecked_mut() };
    items.iter_mut().map(|item| {
        // SAFETY: the items of a pinned slice stay in place until they are
        // dropped, because they live in the slice itself. This is the only
        // reference to this item, and it leaves here pinned.
        unsafe { Pin::new_unchecked(item) }
    })
}

/// The item of that index, pinned.
pub(super) fn at<T>(items: Pin<&mut [T]>, index: usize) -> Pin<&mut T> {
    // SAFETY: as in `each`: nothing is moved out of the slice, and its items stay in place
    // until they are dropped.
    unsafe { items.map_unchecked_mut(|items| &mut items[index]) }
}
