//! Nor can a script borrow what a function was given, or may have been given.

use std::future::Future;

use framestep::prelude::*;

async fn greet(name: &str) {
    wait_seconds(1).await;
    println!("hello {name}");
}

fn welcome(executor: &Executor, name: &str) {
    executor.start(greet(name));
}

fn start_later<F: Future>(executor: &Executor, script: F) {
    executor.start(async {
        wait_seconds(1).await;
        script.await;
    });
}

fn main() {
    let executor = Executor::new();
    welcome(&executor, "Ada");
    start_later(&executor, greet("Ada"));
}
