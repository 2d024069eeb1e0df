//! The host of an executor: stepping frames, lending state, sleeping, scenes of
//! behaviours, and whole games.

mod clean_up;
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
mod skipped_phases;
mod stopwatch;
mod test_kit;
mod with_deferred;
