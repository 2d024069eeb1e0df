//! Tests of the public surface: what the timing contract promises, as timing
//! diagrams and traces.

mod abandoned;
mod animate;
mod bad_time;
mod budget;
mod clocks;
mod combinators;
mod compile_fail;
mod depth;
mod determinism;
mod enter;
mod fixed_step;
mod handles;
mod hostile;
mod interval;
mod join;
mod join_many;
mod law;
mod order;
mod panics;
mod ready_only;
mod reentry;
mod rounding;
mod run_until;
mod scenarios;
mod signal;
mod spawn_start;
mod std_futures;
mod steady_state;
mod stop;
mod support;
mod timeline;
mod timeout;
mod times;
mod tokio_comparison;
mod wakes;
