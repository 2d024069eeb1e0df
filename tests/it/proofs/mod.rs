//! Random programs against oracles, costs that must not grow, and the same program
//! twice or on two executors. `scripts/` runs most of it for longer.

mod chaos;
mod determinism;
mod growth;
mod metamorphic;
mod model;
mod own;
mod soak;
mod steady_state;
mod tokio_comparison;
mod waits_at_random;
