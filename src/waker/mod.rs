//! Wakers: the one that polls borrow, and those that leave the executor.
//!
//! | kind | who has it | a clone of it is |
//! |---|---|---|
//! | [`borrowed`](borrowed()) | polls of a coroutine that never gave a waker away | an own one |
//! | [own] | polls from then on, and whoever cloned one on this thread | an own one; on another thread, an outside one |
//! | [`outside`](outside()) | other threads | an outside one |
//!
//! Nearly all wakers stay on the executor's thread, where one coroutine calls
//! another. So an own waker counts its clones there without atomic operations,
//! and leads straight to its task. It is made once for each coroutine, which is
//! polled with that very one, so that `will_wake` holds.
//!
//! Whatever other threads do goes through the inbox. What they hold has the
//! coroutine's key, never the coroutine: dropping it frees at most a few bytes.

mod borrowed;
mod outside;
mod own;

pub(crate) use borrowed::borrowed;
pub(crate) use outside::{Letter, outside};
pub(crate) use own::OwnWaker;
