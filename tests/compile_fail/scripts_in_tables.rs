//! Each `async fn` has a future of its own type: a table needs boxes.

use framestep::prelude::*;

trait Attack {
    async fn run(&self);
}

async fn stomp() {
    next_frame().await;
}

async fn spit() {
    next_frame().await;
}

fn main() {
    let _attacks: Vec<Box<dyn Attack>> = Vec::new();
    let _table = [stomp, spit];
}
