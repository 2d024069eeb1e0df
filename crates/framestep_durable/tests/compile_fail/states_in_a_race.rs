//! A race takes futures: a state has to be started.

use framestep_durable::prelude::*;

#[durable]
async fn walk(seconds: f32) {
    wait_seconds(seconds).await;
}

#[durable]
async fn hurries() {
    race([walk(1.0), walk(2.0)]).await;
}

fn main() {}
