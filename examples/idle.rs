//! A host that sleeps until a timer is due or another thread wakes it.

use std::thread;
use std::time::{Duration, Instant};

use framestep::prelude::*;
use futures::channel::oneshot;

const FRAME: Duration = Duration::from_millis(16);

async fn editor(opened: oneshot::Receiver<&'static str>) {
    println!("frame {}: waits for a document", time().frame);
    if let Ok(name) = opened.await {
        println!(
            "frame {}: {name} was opened by another thread",
            time().frame
        );
    }

    for _ in 0..5 {
        next_frame().await;
    }
    println!("frame {}: it has faded in, frame by frame", time().frame);

    wait_seconds(0.5).await;
    println!("frame {}: half a second later it is saved", time().frame);
}

fn main() {
    // The host may sleep for long: do not shorten the frame after it.
    let mut executor = Executor::builder().max_delta(f32::INFINITY).build();
    let host = thread::current();
    executor.on_wake(move || host.unpark());

    let (open, opened) = oneshot::channel();
    executor.start(editor(opened));
    let user = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        // An error means that the editor has ended.
        let _ = open.send("a document");
    });

    let began = Instant::now();
    let mut last = began;
    while !executor.is_empty() {
        sleep_until_needed(&executor, last);
        let now = Instant::now();
        executor.run_frame(now - last);
        last = now;
    }
    user.join().expect("the user's thread only sends");

    let frames = executor.time().frame;
    let milliseconds = began.elapsed().as_millis();
    println!("{frames} frames in {milliseconds} ms");
}

/// Sleeps until the next frame is needed. `last` is the time of the last frame.
fn sleep_until_needed(executor: &Executor, last: Instant) {
    match executor.idle_until() {
        // A script waits for the next frame, or a timer is nearly due: keep the frame
        // rate.
        Some(left) if left < FRAME => thread::sleep(FRAME.saturating_sub(last.elapsed())),
        // If a wake has arrived since the check above, these return at once. They may
        // also return without a reason, which costs an empty frame.
        Some(left) => thread::park_timeout(left.saturating_sub(last.elapsed())),
        None => thread::park(),
    }
}
