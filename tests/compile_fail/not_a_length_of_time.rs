//! Lengths of time are numbers of seconds or `Duration`s.

use framestep::prelude::*;

async fn script(seconds: u8) {
    wait_seconds("1").await;
    wait_seconds(seconds).await;
    timeout(None::<f32>, next_frame()).await.ok();
}

fn main() {
    drop(script(1));
}
