//! Lent state is found by its type: a struct of references has one for each lifetime.

use framestep::prelude::*;

struct World {
    _gold: u32,
}

struct View<'a> {
    _world: &'a mut World,
}

fn main() {
    let mut world = World { _gold: 0 };
    let mut executor = Executor::new();
    let mut view = View { _world: &mut world };
    executor.lend(&mut view, |executor| executor.run_frame(0.25));
}
