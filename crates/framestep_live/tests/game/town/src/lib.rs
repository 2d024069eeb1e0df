//! Further scripts, in a package of their own.

use framestep_durable::prelude::*;
use world::World;

#[durable]
pub async fn mayor(number: u32) -> Chapter {
    wait_seconds(1).await;
    with(move |world: &mut World| world.log.push(format!("speech {number}")));
    Chapter::Next(mayor(number + 1))
}
