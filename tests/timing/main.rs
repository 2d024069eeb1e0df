//! When waits are due, what the clocks read, and the order of a run:
//! docs/contract.md, mostly as timing diagrams.

mod bad_time;
mod clocks;
mod engine_time;
mod fixed_step;
mod law;
mod one_run;
mod order;
mod ready_only;
mod realtime;
mod rounding;
mod scenarios;
mod times;
