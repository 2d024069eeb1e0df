//! A join returns a `Result`, which an `if` without `else` cannot return.

use framestep::prelude::*;

async fn rest() {
    wait_seconds(1).await;
}

async fn walk(hurt: bool) {
    if hurt {
        // A simple wait returns `()`.
        wait_seconds(1).await
    }
    if hurt {
        start(rest()).await
    }
}

fn main() {
    drop(walk(true));
}
