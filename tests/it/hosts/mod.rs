//! What the host of an executor does: it steps frames, lends state, sleeps, keeps
//! scenes of behaviours. And whole games.

mod enter;
mod first_game;
mod game;
mod host_calls;
mod lend;
mod local_set;
mod on_wake;
mod prelude;
mod run_until;
mod scene;
mod stopwatch;
mod with_soon;
