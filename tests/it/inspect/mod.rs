//! Inspection from outside: snapshots, traces, names, slow polls, printed
//! reports.

mod named;
mod printing;
mod slow_poll;
mod snapshots;
mod trace;
