//! Misuse of an executor, and its effects. Each hostile input of
//! docs/reliability.md has a test here, or one that is named there.

mod aborts;
mod allocator;
mod combined_waits;
mod contexts;
mod corners;
mod deep_stack;
mod depth;
mod endless;
mod foreign_wakers;
mod forgotten;
mod hooks;
mod itself;
mod last_handle;
mod lent;
mod many_executors;
mod own_executor;
mod pauses;
mod pinned;
mod reentry;
mod sleepers;
mod stderr;
mod teardown;
mod times;
mod wakers;
mod watched_polls;
