//! The same program twice, and for a long time: the same results, and no more memory.

mod determinism;
mod soak;
mod steady_state;
mod waits_at_random;
