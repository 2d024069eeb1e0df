//! A game server: the executor is one task on a tokio `LocalSet`, beside the sockets.
//! Arguments: an address to listen on (127.0.0.1:8080), or `--demo` for a scenario that
//! checks itself.
//!
//! ```sh
//! curl -X POST localhost:8080/rooms              # 1
//! curl localhost:8080/rooms/1                    # playing 0:0
//! curl -d left localhost:8080/rooms/1/kicks      # kicked
//! curl localhost:8080/rooms/1/result             # waits, then: over 1:0
//! ```

mod app;
mod client;
mod demo;
mod driver;
mod game;
mod server;
#[cfg(test)]
mod tests;
mod world;

use std::error::Error;
use std::time::Duration;

use tokio::runtime;
use tokio::task::LocalSet;
use tokio::time::timeout;

use app::App;

/// The demo takes about four seconds. This is for one that hangs.
const DEMO_LIMIT: Duration = Duration::from_secs(600);

/// Serves until the user presses Ctrl-C.
async fn serve(address: &str) -> Result<(), Box<dyn Error>> {
    let app = App::begin(address).await?;
    println!("listening on http://{}, Ctrl-C ends it", app.address);
    tokio::signal::ctrl_c().await?;
    app.server.end().await??;
    app.driver.end().await?;
    println!("{} frames", app.frames.count());
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let argument = std::env::args().nth(1);
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    LocalSet::new().block_on(&runtime, async {
        match argument.as_deref() {
            Some("--demo") => timeout(DEMO_LIMIT, demo::play()).await?,
            address => serve(address.unwrap_or("127.0.0.1:8080")).await,
        }
    })
}
