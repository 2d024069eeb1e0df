//! `interval`: regular ticks without drift, and three ways to treat missed ticks.

use framestep::prelude::*;

async fn beat(name: &'static str, policy: MissedTicks) {
    let mut beats = interval(1).missed_ticks(policy);
    loop {
        let tick = beats.tick().await;
        println!(
            "frame {:2}, {:.1} s: {name} ticks, {:.1} s late, {} skipped",
            time().frame,
            time().elapsed.as_secs_f32(),
            tick.late.as_secs_f32(),
            tick.skipped
        );
    }
}

fn main() {
    for (name, policy) in [
        ("burst", MissedTicks::Burst),
        ("skip", MissedTicks::Skip),
        ("delay", MissedTicks::Delay),
    ] {
        // One frame is long: do not shorten it.
        let mut executor = Executor::builder().max_delta(f32::INFINITY).build();
        executor.start(beat(name, policy));
        for frame in 1..=14 {
            // A tick is due every second; frame 4 takes as long as three.
            executor.run_frame(if frame == 4 { 2.7 } else { 0.4 });
        }
        println!();
    }
}
