//! What sleepers cost: those that are due, and those that are not.

#![allow(missing_docs)] // what the macros make

use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use framestep::prelude::*;

/// A length that is exact in binary: 64 frames a second.
const DT: f64 = 1.0 / 64.0;

/// `wait_seconds/frame/<coroutines>`: a frame in which some of the sleepers are
/// due, whose waits last from half a second to five.
fn some_due(c: &mut Criterion) {
    let mut group = c.benchmark_group("wait_seconds");
    for size in [1_000, 100_000] {
        let mut executor = Executor::new();
        for index in 0..size {
            executor.spawn(async move {
                // Milliseconds without a pattern, the same in every run.
                let mut length: u64 = index;
                loop {
                    length = (length * 7_919 + 12_553) % 4_500;
                    wait_seconds(Duration::from_millis(500 + length)).await;
                }
            });
        }
        // Nobody is in the first wait any more.
        for _ in 0..6 * 64 {
            executor.run_frame(DT);
        }
        group.bench_function(BenchmarkId::new("frame", size), |b| {
            b.iter(|| executor.run_frame(DT));
        });
    }
    group.finish();
}

/// `wait_seconds/idle/<coroutines>`: a frame in which no one is due.
fn none_due(c: &mut Criterion) {
    let mut group = c.benchmark_group("wait_seconds");
    for size in [1_000, 100_000] {
        let mut executor = Executor::new();
        for index in 0..size {
            executor.spawn(async move {
                wait_seconds(1_000_000_000 + index).await;
            });
        }
        executor.run_frame(DT);
        group.bench_function(BenchmarkId::new("idle", size), |b| {
            b.iter(|| executor.run_frame(DT));
        });
    }
    group.finish();
}

/// `wait_seconds/cancel/<coroutines>`: sleepers that are stopped.
fn cancelled(c: &mut Criterion) {
    let mut group = c.benchmark_group("wait_seconds");
    let size = 1_000;
    let executor = Executor::new();
    group.throughput(Throughput::Elements(size));
    group.bench_function(BenchmarkId::new("cancel", size), |b| {
        b.iter_batched(
            || -> Vec<_> {
                (0..size)
                    .map(|index| executor.start(async move { wait_seconds(1 + index).await }))
                    .collect()
            },
            |sleepers| sleepers.iter().filter(|sleeper| sleeper.stop()).count(),
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group!(benches, some_due, none_due, cancelled);
criterion_main!(benches);
