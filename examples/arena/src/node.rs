//! A node: what a studio would deploy.

use std::time::Duration;

use framestep_rooms::{Fault, Server};

use crate::game;
use crate::state::Arena;

pub(crate) const TICKS: u32 = 30;

/// The name of a build: nodes with the same name compute the same frames.
pub(crate) fn build_name(build: u8) -> String {
    format!("arena-{build}")
}

/// Runs until SIGTERM.
pub(crate) async fn run(
    url: &str,
    name: &str,
    build: u8,
    shards: u32,
    keeps_log: bool,
) -> Result<(), Fault> {
    game::set_build(build);
    let server = Server::at(url)
        .named(name)
        .build(build_name(build))
        .shards(shards)
        .threads(1)
        .ticks_per_second(TICKS)
        .save_every(Duration::from_secs(5))
        .hang_after(Duration::from_secs(3));
    let server = if keeps_log { server.keep_log() } else { server };
    server.run::<Arena>().await
}
