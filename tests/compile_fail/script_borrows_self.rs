//! A script may outlive the call of the method that starts it, and so cannot
//! keep its `self`.

use framestep::prelude::*;

struct Door {
    scripts: Owner,
    height: f32,
}

impl Door {
    fn open(&mut self) {
        self.scripts.start(async {
            while self.height < 2.0 {
                next_frame().await;
                self.height += delta_seconds();
            }
        });
    }
}

fn main() {
    let executor = Executor::new();
    let mut door = Door {
        scripts: executor.owner(),
        height: 0.0,
    };
    door.open();
}
