//! Inspection from outside: snapshots, traces, names, slow polls, printed
//! reports.

mod call_chains;
mod full_trace;
mod lines;
mod named;
mod notes;
mod printing;
mod profile;
mod slow_poll;
mod snapshots;
mod sources;
mod trace;
mod trace_hooks;
