//! A shared borrow ends with its closure, too.

use framestep::prelude::*;

struct World {
    gold: u32,
}

fn main() {
    let mut kept: Option<&World> = None;
    with_ref(|world: &World| kept = Some(world));
    println!("{}", kept.unwrap().gold);
}
