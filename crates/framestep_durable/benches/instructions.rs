//! The rows that `instructions.sh` counts under valgrind. Without arguments, it prints their names
//! and does each of them once, uncounted.
//!
//! `instructions ROW` prints how many items it did, and for what unit a figure is. Only what happens
//! inside of `counted` counts.

use std::collections::VecDeque;
use std::hint::black_box;

use framestep_durable::prelude::*;

const DT: f64 = 1.0 / 60.0;

#[derive(Clone, Default, Serialize)]
struct World {
    sum: u64,
}

/// Valgrind counts while this runs.
#[inline(never)]
fn counted(work: &mut dyn FnMut()) {
    work();
    black_box(());
}

/// Waits for frames, a hundred in each chapter.
#[durable]
async fn frames() -> Chapter {
    for _ in 0..100 {
        next_frame().await;
    }
    Chapter::Next(frames())
}

/// Changes the world in every frame.
#[durable]
async fn changes() -> Chapter {
    for _ in 0..100 {
        with(|world: &mut World| world.sum += 1);
        next_frame().await;
    }
    Chapter::Next(changes())
}

/// Waits for times that end in every frame.
#[durable]
async fn timers() -> Chapter {
    for _ in 0..100 {
        wait_seconds(0.01).await;
    }
    Chapter::Next(timers())
}

/// Starts a script in every frame, and joins it.
#[durable]
async fn parents() -> Chapter {
    for number in 0..100 {
        let joined = start(child(number)).await;
        black_box(joined.unwrap_or_default());
    }
    Chapter::Next(parents())
}

#[durable]
async fn child(number: u32) -> u32 {
    next_frame().await;
    number
}

/// A typical script of a game: it does something every few frames, up to `length` entries in a
/// chapter. The first chapter is shorter, so that not all scripts begin one at the same time.
#[durable]
async fn actor(number: u32, length: u32, skipped: u32) -> Chapter {
    for at in skipped / 2..length / 2 {
        wait_frames(u64::from(2 + (number + at) % 9)).await;
        with(|world: &mut World| world.sum += 1);
    }
    Chapter::Next(actor(number, length, 0))
}

/// Waits for a condition that never holds.
#[durable]
async fn until() -> Chapter {
    wait_until(|| black_box(false)).await;
    Chapter::Next(until())
}

/// Waits for one frame, by number.
#[durable]
async fn counts() -> Chapter {
    for _ in 0..100 {
        wait_frames(1).await;
    }
    Chapter::Next(counts())
}

/// Reads the time in every frame.
#[durable]
async fn times() -> Chapter {
    for _ in 0..50 {
        black_box(time());
        next_frame().await;
    }
    Chapter::Next(times())
}

fn runtime() -> Runtime {
    let registry = Registry::new().script(frames).script(changes);
    let registry = registry.script(timers).script(actor);
    let registry = registry.script(until).script(counts).script(times);
    Runtime::new(registry.script(parents).script(child))
}

/// 100 actors, whose chapters have `entries` entries on average.
fn actors(entries: u32) -> (Runtime, World) {
    let (mut runtime, mut world) = (runtime(), World::default());
    let length = 2 * entries;
    for number in 0..100 {
        runtime
            .start(actor(number, length, number * length / 100))
            .detach();
    }
    // A whole chapter of each: then the scripts are anywhere in theirs.
    for _ in 0..length * 3 {
        runtime.run_frame_with(&mut world, DT);
    }
    (runtime, world)
}

/// Frames with 1,000 scripts that are polled in each.
fn polls(make: impl Fn(&Runtime)) -> u32 {
    let (mut runtime, mut world) = (runtime(), World::default());
    for _ in 0..1_000 {
        make(&runtime);
    }
    let mut frames = |count| {
        for _ in 0..count {
            runtime.run_frame_with(&mut world, DT);
        }
    };
    frames(150);
    counted(&mut || frames(100));
    100_000
}

/// The same with scripts that are not durable.
fn plain<F: Future<Output = ()> + 'static>(script: impl Fn() -> F) -> u32 {
    let mut executor = framestep::Executor::new();
    for _ in 0..1_000 {
        executor.start(script());
    }
    let mut frames = |count| {
        for _ in 0..count {
            executor.run_frame(DT);
        }
    };
    frames(50);
    counted(&mut || frames(100));
    100_000
}

/// Save states, one after each frame.
fn saves() -> u32 {
    let (mut runtime, mut world) = actors(52);
    for _ in 0..50 {
        runtime.run_frame_with(&mut world, DT);
        counted(&mut || drop(black_box(runtime.save_state().unwrap())));
    }
    50
}

/// Ticks of netcode: a rollback by eight frames, which are saved and run again.
fn ticks(entries: u32) -> u32 {
    let (mut runtime, mut world) = actors(entries);
    let mut kept = VecDeque::new();
    for frame in 0..58 {
        kept.push_back((runtime.save_state().unwrap(), world.clone()));
        runtime.run_frame_with(&mut world, DT);
        if frame < 8 {
            continue;
        }
        kept.pop_front();
        counted(&mut || {
            let (save, before) = &kept[0];
            runtime.rollback(save).unwrap();
            world = before.clone();
            for place in &mut kept {
                *place = (runtime.save_state().unwrap(), world.clone());
                runtime.run_frame_with(&mut world, DT);
            }
        });
    }
    50
}

/// What a room of a server does: a frame, a save state and its checksum.
fn rooms(entries: u32) -> u32 {
    let (mut runtime, mut world) = actors(entries);
    let mut frame = || {
        runtime.run_frame_with(&mut world, DT);
        let save = runtime.save_state().unwrap();
        black_box(save.checksum_with(&world));
    };
    frame();
    counted(&mut || (0..50).for_each(|_| frame()));
    50
}

/// A load of 1,000 scripts in another runtime.
fn loads() -> u32 {
    let mut from = runtime();
    let mut world = World::default();
    for number in 0..1_000 {
        from.start(actor(number, 20, number % 20)).detach();
    }
    for _ in 0..60 {
        from.run_frame_with(&mut world, DT);
    }
    let file = from.save_state().unwrap().to_bytes();
    let mut to = runtime();
    counted(&mut || {
        let save = SaveState::from_bytes(&file).unwrap();
        to.restore(&save, Policy::Fail).unwrap();
    });
    1_000
}

async fn plain_seconds() {
    loop {
        framestep::wait_seconds(0.01).await;
    }
}

async fn plain_frames() {
    loop {
        framestep::wait_frames(1).await;
    }
}

async fn plain_phase() {
    loop {
        framestep::wait::in_phase(framestep::Phase::Update).await;
    }
}

async fn plain_time() {
    loop {
        black_box(framestep::time());
        framestep::next_frame().await;
    }
}

async fn plain_until() {
    framestep::wait_until(|| black_box(false)).await;
}

async fn plain_join() {
    loop {
        framestep::join!(framestep::next_frame(), framestep::next_frame());
    }
}

async fn plain_timeout() {
    loop {
        let _ = framestep::wait::timeout(9, framestep::next_frame()).await;
    }
}

type Row = (&'static str, &'static str, fn() -> u32);

const ROWS: [Row; 24] = [
    ("plain", "poll", || {
        plain(|| async {
            loop {
                framestep::next_frame().await;
            }
        })
    }),
    ("plain-start", "child", || {
        plain(|| async {
            for number in 0_u32.. {
                let child = framestep::start(async move {
                    framestep::next_frame().await;
                    number
                });
                black_box(child.await.unwrap_or_default());
            }
        })
    }),
    ("plain-seconds", "poll", || plain(plain_seconds)),
    ("plain-frames", "poll", || plain(plain_frames)),
    ("plain-phase", "poll", || plain(plain_phase)),
    ("plain-time", "poll", || plain(plain_time)),
    ("plain-until", "poll", || plain(plain_until)),
    ("plain-join", "poll", || plain(plain_join)),
    ("plain-timeout", "poll", || plain(plain_timeout)),
    ("start", "child", || {
        polls(|it| it.start(parents()).detach())
    }),
    ("next_frame", "poll", || {
        polls(|it| it.start(frames()).detach())
    }),
    ("with", "poll", || polls(|it| it.spawn(changes()).detach())),
    ("wait_seconds", "poll", || {
        polls(|it| it.start(timers()).detach())
    }),
    ("until", "poll", || polls(|it| it.start(until()).detach())),
    ("counts", "poll", || polls(|it| it.start(counts()).detach())),
    ("times", "poll", || polls(|it| it.start(times()).detach())),
    ("save", "100 scripts", saves),
    ("tick-2", "100 scripts", || ticks(2)),
    ("tick-52", "100 scripts", || ticks(52)),
    ("tick-239", "100 scripts", || ticks(239)),
    ("room-2", "100 scripts", || rooms(2)),
    ("room-52", "100 scripts", || rooms(52)),
    ("room-239", "100 scripts", || rooms(239)),
    ("load", "script", loads),
];

fn main() {
    // cargo adds `--bench`.
    let name = std::env::args().skip(1).find(|name| !name.starts_with('-'));
    for (row, unit, work) in ROWS {
        match &name {
            Some(name) if name == row => println!("{} {unit}", work()),
            Some(_) => {}
            None => {
                println!("{row}");
                work();
            }
        }
    }
}
