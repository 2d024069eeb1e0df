//! Further scripts, in a package of their own.

use framestep_durable::prelude::*;
use world::World;

/// What the game itself says.
pub const GREETING: &str = "Good day";

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Pay {
    Little,
    Much,
}

#[durable]
pub async fn mayor(number: u32, pay: Pay) -> Chapter {
    wait_seconds(1).await;
    with(move |world: &mut World| world.log.push(format!("speech {number} for {pay:?}")));
    Chapter::Next(mayor(number + 1, pay))
}
