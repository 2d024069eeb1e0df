//! `start` takes a future, not something that makes one when it is called.

use framestep::prelude::*;

async fn open_door() {
    wait_seconds(1).await;
}

fn main() {
    let executor = Executor::new();
    executor.start(async move || {
        wait_seconds(1).await;
    });
    executor.start(open_door);
}
