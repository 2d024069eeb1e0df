//! What the recorder costs: nanoseconds and bytes for each event.
//!
//! `cargo run --release --example cost`

#![expect(clippy::cast_precision_loss, reason = "for people")]

use std::time::{Duration, Instant};

use framestep::inspect::TraceEvent;
use framestep::prelude::*;
use framestep_timeline::{Filter, Recorder};

const FRAMES: u64 = 400;
const ROUNDS: usize = 7;

fn scripts(executor: &Executor, kind: &str) {
    for number in 0..1_000_u32 {
        let length = 0.1 + 0.001 * f64::from(number % 100);
        match kind {
            "awake" => drop(executor.script("awake").start(async {
                loop {
                    next_frame().await;
                }
            })),
            "timers" => drop(
                executor
                    .script(format!("timer {number}"))
                    .start(async move {
                        loop {
                            wait_seconds(length).await;
                        }
                    }),
            ),
            _ => drop(executor.script("parent").start(async {
                loop {
                    drop(script("child").start(next_frame()).await);
                }
            })),
        }
    }
}

/// How long some frames take.
fn run(kind: &str, watch: impl FnOnce(&Executor)) -> Duration {
    let mut executor = Executor::new();
    watch(&executor);
    scripts(&executor, kind);
    executor.run_frames(20, 0.016);
    let start = Instant::now();
    executor.run_frames(FRAMES, 0.016);
    start.elapsed()
}

/// The fastest of several runs. The others are slowed down by other programs.
fn fastest(mut run: impl FnMut() -> Duration) -> Duration {
    (0..ROUNDS).map(|_| run()).min().unwrap_or_default()
}

fn main() {
    println!(
        "{:8} {:>10} {:>12} {:>12} {:>12} {:>9} {:>9}",
        "scripts", "events", "no hook", "empty hook", "recorder", "ns/event", "B/event"
    );
    for kind in ["awake", "timers", "children"] {
        let plain = fastest(|| run(kind, |_| ()));
        let mut events = 0_u64;
        let empty = fastest(|| {
            run(kind, |executor| {
                executor.on_full_trace(|event: &TraceEvent| {
                    std::hint::black_box(event);
                });
            })
        });
        let mut bytes = 0.0;
        let recorded = fastest(|| {
            let recorder = Recorder::new().keep_events(1 << 18);
            let took = run(kind, |executor| _ = recorder.watch(executor));
            events = recorder.dropped().events + recorder.len() as u64;
            bytes = recorder.bytes() as f64 / recorder.len() as f64;
            took
        });
        let timed = events as f64 * FRAMES as f64 / (FRAMES + 20) as f64;
        let each = |with: Duration, without: Duration| {
            (with.as_secs_f64() - without.as_secs_f64()) * 1e9 / timed
        };
        println!(
            "{kind:8} {events:>10} {plain:>12.2?} {empty:>12.2?} {recorded:>12.2?} {:>9.1} {bytes:>9.1}",
            each(recorded, empty)
        );
    }
    let filtered = fastest(|| {
        let recorder = Recorder::new().only(Filter::new().name("nobody"));
        run("awake", |executor| _ = recorder.watch(executor))
    });
    println!("awake, with a filter that chooses no script: {filtered:.2?}");
}
