//! A script that is called and not awaited or started does not run.

#![deny(unused_must_use)]

use framestep::prelude::*;

async fn open_door() {
    wait_seconds(1).await;
}

async fn script() {
    open_door();
}

fn main() {
    drop(script());
}
