//! A script that another one starts cannot borrow from that one.

use framestep::prelude::*;

async fn show(health: &Watch<u32>) {
    health.changed().await;
}

async fn boss() {
    let health = Watch::new(10);
    start(show(&health));
    wait_seconds(1).await;
    health.set(5);
}

fn main() {
    let executor = Executor::new();
    executor.spawn(boss());
}
