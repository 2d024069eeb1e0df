//! What a frame costs whose coroutines are all awake.

#![allow(missing_docs)] // what the macros make

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use framestep::prelude::*;

/// A length that is exact in binary: 64 frames a second.
const DT: f64 = 1.0 / 64.0;

/// `next_frame/<phase>/<coroutines>`: everyone waits for the next frame.
fn waiting_for_the_next_frame(c: &mut Criterion) {
    let mut group = c.benchmark_group("next_frame");
    for (name, phases) in [
        ("one_phase", &[Phase::Update][..]),
        (
            "four_phases",
            &[
                Phase::EarlyUpdate,
                Phase::Update,
                Phase::LateUpdate,
                Phase::EndOfFrame,
            ],
        ),
    ] {
        for size in [100, 10_000, 100_000] {
            let mut executor = Executor::new();
            for index in 0..size {
                let phase = phases[index % phases.len()];
                executor.spawn(async move {
                    loop {
                        next_frame().in_phase(phase).await;
                    }
                });
            }
            executor.run_frame(DT);
            group.throughput(Throughput::Elements(size as u64));
            group.bench_function(BenchmarkId::new(name, size), |b| {
                b.iter(|| executor.run_frame(DT));
            });
        }
    }
    group.finish();
}

/// `wait_until/false/<coroutines>`: everyone asks a condition that stays false.
fn asking_a_condition(c: &mut Criterion) {
    let mut group = c.benchmark_group("wait_until");
    for size in [100, 10_000] {
        let mut executor = Executor::new();
        for _ in 0..size {
            executor.spawn(async {
                wait_until(|| std::hint::black_box(false)).await;
            });
        }
        executor.run_frame(DT);
        group.throughput(Throughput::Elements(size));
        group.bench_function(BenchmarkId::new("false", size), |b| {
            b.iter(|| executor.run_frame(DT));
        });
    }
    group.finish();
}

/// `frame/empty/0`: nobody is there.
fn empty(c: &mut Criterion) {
    let mut executor = Executor::new();
    c.bench_function("frame/empty/0", |b| b.iter(|| executor.run_frame(DT)));
}

criterion_group!(
    benches,
    waiting_for_the_next_frame,
    asking_a_condition,
    empty
);
criterion_main!(benches);
