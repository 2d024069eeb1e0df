//! What it costs to wait for other coroutines.

#![allow(missing_docs)] // what the macros make

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use framestep::prelude::*;

/// A length that is exact in binary: 64 frames a second.
const DT: f64 = 1.0 / 64.0;

/// `join/at_once/<joins>`: starts and joins children that end at once.
fn children_that_end_at_once(c: &mut Criterion) {
    let mut group = c.benchmark_group("join");
    let joins = 1_000;
    let mut executor = Executor::new();
    executor.spawn(async move {
        loop {
            for _ in 0..joins {
                start(async { 1 }).await.expect("ends by itself");
            }
            next_frame().await;
        }
    });
    group.throughput(Throughput::Elements(joins));
    group.bench_function(BenchmarkId::new("at_once", joins), |b| {
        b.iter(|| executor.run_frame(DT));
    });
    group.finish();
}

/// `join/chain/<coroutines>`: each joins the one before; the first ends.
fn chains(c: &mut Criterion) {
    let mut group = c.benchmark_group("join");
    for size in [10, 1_000] {
        group.throughput(Throughput::Elements(size));
        group.bench_function(BenchmarkId::new("chain", size), |b| {
            b.iter_batched_ref(
                || {
                    let executor = Executor::new();
                    let mut below = executor.start(async { next_frame().await });
                    for _ in 1..size {
                        below = executor.start(async { below.await.expect("ends by itself") });
                    }
                    (executor, below)
                },
                |(executor, _top)| executor.run_frame(DT),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

/// `join_all/next_frame/<coroutines>`: one joins many that end in one frame.
fn all_of_many(c: &mut Criterion) {
    let mut group = c.benchmark_group("join_all");
    let size: u64 = 64;
    let mut executor = Executor::new();
    executor.spawn(async move {
        loop {
            let children = (0..size).map(|_| start(async { next_frame().await }));
            join_all(children).await;
        }
    });
    executor.run_frame(DT);
    group.throughput(Throughput::Elements(size));
    group.bench_function(BenchmarkId::new("next_frame", size), |b| {
        b.iter(|| executor.run_frame(DT));
    });
    group.finish();
}

/// `join_all/waits/<waits>`: one coroutine waits for many waits of its own.
fn all_of_many_waits(c: &mut Criterion) {
    let mut group = c.benchmark_group("join_all");
    let size: u64 = 64;
    let mut executor = Executor::new();
    executor.spawn(async move {
        loop {
            join_all((0..size).map(|_| next_frame())).await;
        }
    });
    executor.run_frame(DT);
    group.throughput(Throughput::Elements(size));
    group.bench_function(BenchmarkId::new("waits", size), |b| {
        b.iter(|| executor.run_frame(DT));
    });
    group.finish();
}

criterion_group!(
    benches,
    children_that_end_at_once,
    chains,
    all_of_many,
    all_of_many_waits
);
criterion_main!(benches);
