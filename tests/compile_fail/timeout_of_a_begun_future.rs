//! `timeout` takes a future, or a reference to one that may move.

use framestep::prelude::*;

async fn walk() {
    wait_seconds(2).await;
}

async fn hero() {
    let mut walk = walk();
    if timeout(1, &mut walk).await.is_err() {
        walk.await;
    }
}

fn main() {
    Executor::new().start(hero());
}
