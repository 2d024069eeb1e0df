//! How coroutines begin, pause and end, owners, and handles.

mod coroutine_limit;
mod ended;
mod groups;
mod handle_by_value;
mod handles;
mod held_starts;
mod outliving;
mod owner_clocks;
mod owner_handle;
mod owners;
mod pause;
mod send_owner;
mod spawn_start;
mod start_limits;
mod stop;
mod stop_requests;
mod stop_within;
