//! No wait in a closure that borrows: the borrow ends with the closure.

use framestep::prelude::*;

struct World {
    opened: Signal<()>,
}

async fn hero() {
    with_ref(|world: &World| world.opened.wait().await);
}

fn main() {
    let executor = Executor::new();
    executor.spawn(hero());
}
