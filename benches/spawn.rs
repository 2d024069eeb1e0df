//! What the beginning and the end of a coroutine cost.

#![allow(missing_docs)] // what the macros make

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use framestep::prelude::*;

/// A length that is exact in binary: 64 frames a second.
const DT: f64 = 1.0 / 64.0;

/// `spawn/one_frame/<coroutines>`: spawned, waits for one frame and ends.
fn for_one_frame(c: &mut Criterion) {
    let mut group = c.benchmark_group("spawn");
    for size in [1, 1_000] {
        let mut executor = Executor::new();
        group.throughput(Throughput::Elements(size));
        group.bench_function(BenchmarkId::new("one_frame", size), |b| {
            b.iter(|| {
                for _ in 0..size {
                    executor.spawn(async { next_frame().await });
                }
                executor.run_frame(DT);
                executor.run_frame(DT);
            });
        });
    }
    group.finish();
}

/// `start/at_once/1`: ends at its first poll.
fn ends_at_once(c: &mut Criterion) {
    let executor = Executor::new();
    c.bench_function("start/at_once/1", |b| {
        b.iter(|| executor.start(async { 1 }));
    });
}

/// `stop/owner/<coroutines>`: stopped through an owner while they wait.
fn stopped(c: &mut Criterion) {
    let mut group = c.benchmark_group("stop");
    let size = 1_000;
    let executor = Executor::new();
    group.throughput(Throughput::Elements(size));
    group.bench_function(BenchmarkId::new("owner", size), |b| {
        b.iter_batched(
            || {
                let owner = executor.owner();
                for _ in 0..size {
                    owner.start(async { next_frame().await });
                }
                owner
            },
            drop,
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

criterion_group!(benches, for_one_frame, ends_at_once, stopped);
criterion_main!(benches);
