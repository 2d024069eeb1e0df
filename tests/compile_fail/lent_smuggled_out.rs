//! Nor can one be put where it outlives the closure.

use framestep::prelude::*;

struct World {
    gold: u32,
}

fn main() {
    let mut kept: Option<&mut World> = None;
    with(|world: &mut World| kept = Some(world));
    kept.unwrap().gold += 1;
}
