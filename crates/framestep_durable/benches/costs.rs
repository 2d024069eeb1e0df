//! What durable scripts cost, compared to plain ones:
//! `cargo bench -p framestep_durable`.
//!
//! Each figure is the median of many rounds. Plain and durable rounds alternate, so that a busy
//! machine slows down both.

use std::hint::black_box;
use std::time::{Duration, Instant};

use framestep_durable::prelude::*;

const SCRIPTS: u32 = 1_000;
const DT: f64 = 1.0 / 60.0;

#[derive(Clone, Default, Serialize)]
struct World {
    sum: u64,
}

/// Waits for frames, a hundred in each chapter.
#[derive(Serialize, Deserialize)]
struct Frames;

impl DurableScript for Frames {
    const NAME: &'static str = "frames";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        for _ in 0..100 {
            next_frame().await;
        }
        Chapter::Next(Frames)
    }
}

/// Waits for times that end in every frame.
#[derive(Serialize, Deserialize)]
struct Timers;

impl DurableScript for Timers {
    const NAME: &'static str = "timers";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        for _ in 0..100 {
            wait_seconds(0.01).await;
        }
        Chapter::Next(Timers)
    }
}

/// Changes the world in every frame.
#[derive(Serialize, Deserialize)]
struct Effects;

impl DurableScript for Effects {
    const NAME: &'static str = "effects";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        for _ in 0..100 {
            with(|world: &mut World| world.sum += 1);
            next_frame().await;
        }
        Chapter::Next(Effects)
    }
}

/// A typical game script: it does something every few frames, `entries` times in a chapter.
#[derive(Serialize, Deserialize)]
struct Actor {
    number: u32,
    entries: u32,
}

impl DurableScript for Actor {
    const NAME: &'static str = "actor";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        for at in 0..self.entries / 2 {
            wait_frames(u64::from(2 + (self.number + at) % 9)).await;
            with(|world: &mut World| world.sum += 1);
        }
        Chapter::Next(self)
    }
}

fn registry() -> Registry {
    let registry = Registry::new().with::<Frames>().with::<Timers>();
    registry.with::<Effects>().with::<Actor>()
}

fn runtime() -> Runtime {
    Runtime::new(registry())
}

fn median(mut rounds: Vec<Duration>) -> Duration {
    rounds.sort_unstable();
    rounds[rounds.len() / 2]
}

/// Nanoseconds of one poll: plain, durable.
fn polls(plain: impl Fn(&framestep::Executor), durable: impl Fn(&Runtime)) -> (f64, f64) {
    let mut executor = framestep::Executor::new();
    let mut runtime = runtime();
    for _ in 0..SCRIPTS {
        plain(&executor);
        durable(&runtime);
    }
    let mut world = World::default();
    let (mut plain, mut durable) = (Vec::new(), Vec::new());
    for _ in 0..600 {
        let begun = Instant::now();
        executor.run_frame_with(&mut world, DT);
        plain.push(begun.elapsed());
        let begun = Instant::now();
        runtime.run_frame_with(&mut world, DT);
        durable.push(begun.elapsed());
    }
    let each = |rounds| median(rounds).as_secs_f64() * 1e9 / f64::from(SCRIPTS);
    (each(plain), each(durable))
}

fn actors(entries: u32) -> (Runtime, World) {
    let (mut runtime, mut world) = (runtime(), World::default());
    for number in 0..100 {
        runtime.start(Actor { number, entries }).detach();
    }
    for _ in 0..entries * 20 {
        runtime.run_frame_with(&mut world, DT);
    }
    (runtime, world)
}

/// The parts of rolling back 100 scripts by 7 frames, in microseconds: a save, a rollback, the
/// whole tick of a rollback (1 rollback, 7 saves, 7 frames), a load into another runtime; and
/// the entries and bytes of a file.
fn rollback(entries: u32) -> [f64; 6] {
    let (mut runtime, mut world) = actors(entries);
    let (mut saves, mut rollbacks, mut ticks, mut loads) = (vec![], vec![], vec![], vec![]);
    let mut kept = std::collections::VecDeque::new();
    for _ in 0..300 {
        kept.push_back((runtime.save_state().unwrap(), world.clone()));
        runtime.run_frame_with(&mut world, DT);
        if kept.len() < 8 {
            continue;
        }
        kept.pop_front();
        let begun = Instant::now();
        let (save, before) = kept[0].clone();
        runtime.rollback(&save).unwrap();
        world = before;
        rollbacks.push(begun.elapsed());
        for place in &mut kept {
            let begins = Instant::now();
            let save = runtime.save_state().unwrap();
            saves.push(begins.elapsed());
            *place = (save, world.clone());
            runtime.run_frame_with(&mut world, DT);
        }
        ticks.push(begun.elapsed());
    }
    let file = runtime.save_state().unwrap().to_bytes();
    for _ in 0..100 {
        let mut other = self::runtime();
        let save = SaveState::from_bytes(&file).unwrap();
        let begun = Instant::now();
        other.restore(&save, Policy::Fail).unwrap();
        loads.push(begun.elapsed());
    }
    let scripts = runtime.scripts().into_iter();
    let entries: u32 = scripts.filter_map(|(id, _)| runtime.entries(id)).sum();
    let bytes = u32::try_from(file.len()).expect("a small file");
    black_box(world.sum);
    let micros = |rounds| median(rounds).as_secs_f64() * 1e6;
    [
        micros(saves),
        micros(rollbacks),
        micros(ticks),
        micros(loads),
        f64::from(entries) / 100.0,
        f64::from(bytes) / 100.0,
    ]
}

/// Microseconds of a save: on the thread of the runtime, and to a file, which another thread can do.
fn saves(scripts: u32, entries: u32) -> [f64; 4] {
    let (mut runtime, mut world) = (runtime(), World::default());
    for number in 0..scripts {
        runtime.start(Actor { number, entries }).detach();
    }
    for _ in 0..entries * 5 {
        runtime.run_frame_with(&mut world, DT);
    }
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..100 {
        let begun = Instant::now();
        let save = runtime.save_state().unwrap();
        times[0].push(begun.elapsed());
        let kept = save.clone();
        let begun = Instant::now();
        let sent = save.into_send();
        times[1].push(begun.elapsed());
        let begun = Instant::now();
        let file = kept.to_bytes_with(&world);
        times[2].push(begun.elapsed());
        let begun = Instant::now();
        let written = sent.into_save_state().to_bytes_with(&world);
        times[3].push(begun.elapsed());
        assert_eq!(file, written);
    }
    times.map(|rounds| median(rounds).as_secs_f64() * 1e6)
}

/// Microseconds of a frame of 100 scripts: without and with the sync test.
fn sync_test(entries: u32) -> [f64; 2] {
    [false, true].map(|is_tested| {
        let builder = Runtime::builder(registry());
        let mut runtime = if is_tested {
            builder.sync_test::<World>().build()
        } else {
            builder.build()
        };
        let mut world = World::default();
        for number in 0..100 {
            runtime.start(Actor { number, entries }).detach();
        }
        let mut frames = Vec::new();
        for _ in 0..entries * 20 {
            let begun = Instant::now();
            runtime.run_frame_with(&mut world, DT);
            frames.push(begun.elapsed());
        }
        median(frames).as_secs_f64() * 1e6
    })
}

fn main() {
    println!("one poll of {SCRIPTS} scripts, in nanoseconds: plain, durable, ratio");
    let show = |name: &str, (plain, durable): (f64, f64)| {
        println!(
            "  {name:14} {plain:6.1} {durable:6.1}  {:4.1}x",
            durable / plain
        );
    };
    let frames = polls(
        |executor| {
            executor.start(async {
                loop {
                    framestep::next_frame().await;
                }
            });
        },
        |runtime| runtime.start(Frames).detach(),
    );
    show("next_frame", frames);
    let timers = polls(
        |executor| {
            executor.start(async {
                loop {
                    framestep::wait_seconds(0.01).await;
                }
            });
        },
        |runtime| runtime.start(Timers).detach(),
    );
    show("wait_seconds", timers);
    let effects = polls(
        |executor| {
            executor.spawn(async {
                loop {
                    framestep::with(|world: &mut World| world.sum += 1);
                    framestep::next_frame().await;
                }
            });
        },
        |runtime| runtime.spawn(Effects).detach(),
    );
    show("with, frame", effects);
    println!(
        "100 scripts, 7 frames back, in microseconds: save, rollback, whole tick, load; entries \
         and bytes of a script"
    );
    for entries in [10, 74, 180] {
        let [save, back, tick, load, held, bytes] = rollback(entries);
        println!("  {save:6.1} {back:6.1} {tick:6.1} {load:6.1}  {held:5.1} {bytes:6.1}");
    }
    println!(
        "scripts, entries of a chapter, and microseconds: save_state, into_send, to_bytes; on \
         another thread into_save_state and to_bytes"
    );
    for (scripts, entries) in [(100, 10), (100, 74), (100, 300), (1_000, 74), (1_000, 300)] {
        let [save, sent, file, elsewhere] = saves(scripts, entries);
        println!("  {scripts:4} {entries:3} {save:6.1} {sent:6.1} {file:6.1} {elsewhere:6.1}");
    }
    println!("a frame of 100 scripts, in microseconds: without and with the sync test");
    for entries in [10, 74, 180] {
        let [plain, tested] = sync_test(entries);
        println!("  {plain:6.1} {tested:6.1}");
    }
}
