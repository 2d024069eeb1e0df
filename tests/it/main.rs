//! Tests of the public surface: what the timing contract promises, as timing
//! diagrams and traces.

mod abandoned;
mod bad_time;
mod clocks;
mod combinators;
mod compile_fail;
mod depth;
mod determinism;
mod enter;
mod fixed_step;
mod handles;
mod hostile;
mod join;
mod law;
mod order;
mod owner_clocks;
mod owners;
mod panics;
mod pause;
mod ready_only;
mod reentry;
mod rounding;
mod run_until;
mod scenarios;
mod spawn_start;
mod std_futures;
mod steady_state;
mod stop;
mod support;
mod timeline;
mod times;
mod tokio_comparison;
mod wakes;
