//! The scripts of the game.

use framestep_durable::prelude::*;
use world::World;

#[durable]
pub async fn clerk(number: u32) -> Chapter {
    wait_seconds(1).await;
    with(move |world: &mut World| world.log.push(format!("stamp {number}")));
    Chapter::Next(clerk(number + 1))
}

/// A type that only scripts should see.
#[derive(Default)]
pub struct Local(pub u8);

pub fn registry() -> Registry {
    Registry::new().script(clerk).script(town::mayor)
}

#[cfg(feature = "live")]
framestep_live::export!(registry);
