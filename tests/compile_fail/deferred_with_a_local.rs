//! A closure of `with_deferred` may be called later: it cannot borrow a local.

use framestep::prelude::*;

struct World {
    log: String,
}

fn main() {
    let name = String::from("door");
    with_deferred(|world: &mut World| world.log.push_str(&name));
}
