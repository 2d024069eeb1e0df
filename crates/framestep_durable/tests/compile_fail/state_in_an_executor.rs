//! The executor of a plain game starts no state of a durable script.

use framestep_durable::prelude::*;

#[durable]
async fn door(seconds: f32) {
    wait_seconds(seconds).await;
}

fn main() {
    let runtime = Runtime::new(Registry::new());
    runtime.executor().start(door(1.0));
}
