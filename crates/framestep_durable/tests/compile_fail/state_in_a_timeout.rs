//! The state of a script is no future: it has to be started.

use framestep_durable::prelude::*;

#[durable]
async fn door(seconds: f32) {
    wait_seconds(seconds).await;
}

#[durable]
async fn impatient() {
    let _ = timeout(1, door(3.0)).await;
}

fn main() {}
