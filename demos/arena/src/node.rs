//! A node: what a studio would deploy.

use std::time::Duration;

use framestep_rooms::{Server, ServerError};

use crate::game::BUILD;
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
    shards: u32,
    keeps_log: bool,
    is_attached: bool,
) -> Result<(), ServerError> {
    let server = Server::at(url)
        .named(name)
        .build_id(build_name(BUILD))
        .shards(shards)
        .threads(1)
        .ticks_per_second(TICKS)
        .snapshot_interval(Duration::from_secs(5))
        .watchdog_timeout(Duration::from_secs(3));
    let server = if keeps_log { server.keep_log() } else { server };
    if !is_attached {
        return server.run::<Arena>().await;
    }
    let stop = async {
        end_with_parent();
        crate::stop_signal().await;
    };
    server.room::<Arena>().serve(stop).await
}

/// Ends this process when its standard input ends, as it does when the process that has started it
/// is killed.
fn end_with_parent() {
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        std::process::exit(3);
    });
}
