//! What is lent comes as a reference that is good for the closure alone: none
//! can be kept across an await.

use framestep::prelude::*;

struct World {
    gold: u32,
}

async fn dig() {
    let world = with(|world: &mut World| world);
    next_frame().await;
    world.gold += 1;
}

fn main() {
    Executor::new().spawn(dig());
}
