//! What is lent comes as `&mut`, also to a closure that only reads.

use framestep::prelude::*;

struct World {
    gold: u32,
}

fn main() {
    let gold = with(|world: &World| world.gold);
    println!("{gold}");
}
