//! What wakers cost.

#![allow(missing_docs)] // what the macros make

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use framestep::prelude::*;

/// A length that is exact in binary: 64 frames a second.
const DT: f64 = 1.0 / 64.0;

/// `wake/host/<coroutines>`: the host wakes them between two frames.
fn from_the_host(c: &mut Criterion) {
    let mut group = c.benchmark_group("wake");
    for size in [1, 1_000] {
        let wakers = Rc::new(RefCell::new(Vec::<Waker>::new()));
        let mut executor = Executor::new();
        for _ in 0..size {
            let wakers = Rc::clone(&wakers);
            executor.spawn(poll_fn(move |cx| {
                wakers.borrow_mut().push(cx.waker().clone());
                Poll::<()>::Pending
            }));
        }
        executor.run_frame(DT);
        group.throughput(Throughput::Elements(size));
        group.bench_function(BenchmarkId::new("host", size), |b| {
            b.iter(|| {
                let woken = wakers.take();
                woken.into_iter().for_each(Waker::wake);
                executor.run_frame(DT);
            });
        });
    }
    group.finish();
}

/// `wake/pair/<passes>`: two coroutines wake each other in turn within a frame.
fn from_one_another(c: &mut Criterion) {
    let mut group = c.benchmark_group("wake");
    let passes: u64 = 100;
    let turn = Rc::new(Cell::new(0_usize));
    let wakers = Rc::new(RefCell::new([const { None::<Waker> }; 2]));
    let mut executor = Executor::new();
    for me in 0..2 {
        let turn = Rc::clone(&turn);
        let wakers = Rc::clone(&wakers);
        executor.spawn(async move {
            loop {
                for _ in 0..passes / 2 {
                    poll_fn(|cx| {
                        if turn.get() == me {
                            return Poll::Ready(());
                        }
                        wakers.borrow_mut()[me] = Some(cx.waker().clone());
                        Poll::Pending
                    })
                    .await;
                    turn.set(1 - me);
                    let other = wakers.borrow_mut()[1 - me].take();
                    if let Some(other) = other {
                        other.wake();
                    }
                }
                next_frame().await;
            }
        });
    }
    executor.run_frame(DT);
    group.throughput(Throughput::Elements(passes));
    group.bench_function(BenchmarkId::new("pair", passes), |b| {
        b.iter(|| executor.run_frame(DT));
    });
    group.finish();
}

/// `wake/combinator/<waits>`: a `join_all` of waits, each with a waker of its own.
fn through_a_combinator(c: &mut Criterion) {
    let mut group = c.benchmark_group("wake");
    let waits: u64 = 64;
    let mut executor = Executor::new();
    executor.spawn(async move {
        loop {
            futures::future::join_all((0..waits).map(|_| next_frame())).await;
        }
    });
    executor.run_frame(DT);
    group.throughput(Throughput::Elements(waits));
    group.bench_function(BenchmarkId::new("combinator", waits), |b| {
        b.iter(|| executor.run_frame(DT));
    });
    group.finish();
}

criterion_group!(
    benches,
    from_the_host,
    from_one_another,
    through_a_combinator
);
criterion_main!(benches);
