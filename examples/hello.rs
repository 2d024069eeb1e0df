//! The smallest game loop: one script, and one call a frame.

use std::thread::sleep;
use std::time::Duration;

use framestep::prelude::*;

async fn greet() {
    println!("hello ...");
    wait_seconds(0.5).await;
    println!("... half a second later, in frame {} ...", time().frame);
    next_frame().await;
    println!("... and in the frame after it");
}

fn main() {
    let mut executor = Executor::new();
    executor.start(greet());
    while !executor.is_empty() {
        // An engine passes in how long its frame took, and waits for the display.
        executor.run_frame(1.0 / 60.0);
        sleep(Duration::from_millis(16));
    }
}
