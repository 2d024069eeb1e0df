//! What can be seen from outside: snapshots, traces, names, slow polls, what is
//! printed.

mod named;
mod printing;
mod slow_poll;
mod snapshots;
mod trace;
