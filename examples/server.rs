//! An authoritative server: several rooms at 30 ticks a second, and a lobby that sleeps.
//!
//! Arguments: the number of seconds (5), and `--headless`, which runs without
//! sleeping and prints the same counts every time.

use std::cell::Cell;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use framestep::prelude::*;
use futures::StreamExt;
use futures::channel::mpsc::{self, UnboundedReceiver};

const TICKS_PER_SECOND: u32 = 30;
const ROOMS: u64 = 4;
const ENTITIES_OF_A_ROOM: u64 = 1_000;

/// The counts of a room's entities.
#[derive(Default)]
struct Counts {
    resumes: Cell<u64>,
    rounds: Cell<u64>,
}

impl Counts {
    fn resumed(&self) {
        self.resumes.set(self.resumes.get() + 1);
    }
}

struct Room {
    executor: Executor,
    counts: Rc<Counts>,
}

async fn walk(counts: Rc<Counts>, seconds: f64) {
    wait_seconds(seconds).await;
    counts.resumed();
}

/// Sleeps, walks and waits for the bell of its room, in a loop.
async fn entity(number: u64, bell: Signal<u64>, counts: Rc<Counts>) {
    loop {
        wait_seconds(Duration::from_millis(200 + number % 97 * 13)).await;
        counts.resumed();
        for _ in 0..number % 5 {
            next_frame().await;
            counts.resumed();
        }
        let legs = [0.1, 0.15].map(|seconds| start(walk(counts.clone(), seconds)));
        join_all(legs).await;
        counts.resumed();
        if timeout(1, bell.wait()).await.is_ok() {
            counts.rounds.set(counts.rounds.get() + 1);
        }
        counts.resumed();
    }
}

async fn ring(bell: Signal<u64>) {
    let mut rounds = interval(2);
    for round in 0.. {
        rounds.tick().await;
        bell.emit(round);
    }
}

fn room(number: u64) -> Room {
    let (executor, counts) = (Executor::new(), Rc::new(Counts::default()));
    let bell = Signal::new();
    for entity_number in 0..ENTITIES_OF_A_ROOM {
        let seed = entity_number * ROOMS + number;
        executor.start(entity(seed, bell.clone(), counts.clone()));
    }
    executor.start(ring(bell));
    Room { executor, counts }
}

/// Greets each player that arrives, and prints the time every two seconds.
async fn lobby(mut players: UnboundedReceiver<&'static str>) {
    start(async {
        let mut reports = interval(2);
        loop {
            reports.tick().await;
            println!("lobby: {} s have passed", time().elapsed.as_secs());
        }
    });
    while let Some(name) = players.next().await {
        println!("lobby: {name} has joined, frame {}", time().frame);
    }
}

/// The loop of the lobby's thread: it sleeps until a timer is due or a message
/// arrives, and runs no frame in between. Returns the number of frames.
fn run_lobby(players: UnboundedReceiver<&'static str>, until: Instant) -> u64 {
    let mut executor = Executor::builder().max_delta(f32::INFINITY).build();
    let host = thread::current();
    executor.on_wake(move || host.unpark());
    executor.start(lobby(players));
    let mut last = Instant::now();
    while last < until {
        let due = executor.idle_until().map(|left| last + left);
        let next = due.map_or(until, |due| due.min(until));
        thread::park_timeout(next.saturating_duration_since(Instant::now()));
        let now = Instant::now();
        executor.run_frame(now - last);
        last = now;
    }
    executor.time().frame
}

/// How long the ticks of one second took.
#[derive(Default)]
struct Load {
    total: Duration,
    worst: Duration,
}

/// Ticks all rooms once, and returns how long that took.
fn tick(rooms: &mut [Room], dt: Duration) -> Duration {
    let began = Instant::now();
    for room in rooms {
        room.executor.run_frame(dt);
    }
    began.elapsed()
}

fn counts(rooms: &[Room]) -> String {
    let alive: usize = rooms.iter().map(|room| room.executor.len()).sum();
    let resumes: u64 = rooms.iter().map(|room| room.counts.resumes.get()).sum();
    let rounds: u64 = rooms.iter().map(|room| room.counts.rounds.get()).sum();
    format!("{alive} coroutines, {resumes} resumes, {rounds} rounds")
}

fn shown(load: &Load, dt: Duration) -> String {
    let average = load.total / TICKS_PER_SECOND;
    let share = 100.0 * average.as_secs_f64() / dt.as_secs_f64();
    format!(
        "a tick takes {} us, at worst {} us: {share:.1} % of {} ms",
        average.as_micros(),
        load.worst.as_micros(),
        dt.as_millis()
    )
}

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let headless = args.iter().any(|arg| arg == "--headless");
    args.retain(|arg| arg != "--headless");
    let seconds: u32 = args
        .first()
        .map_or(5, |arg| arg.parse().expect("a number of seconds"));

    let dt = Duration::from_secs(1) / TICKS_PER_SECOND;
    let mut rooms: Vec<Room> = (0..ROOMS).map(room).collect();
    let began = Instant::now();
    let (arrive, players) = mpsc::unbounded();
    let lobby = (!headless).then(|| {
        let until = began + Duration::from_secs(seconds.into());
        thread::spawn(move || run_lobby(players, until))
    });

    for second in 1..=seconds {
        let mut load = Load::default();
        for frame in 0..TICKS_PER_SECOND {
            let took = tick(&mut rooms, dt);
            load.total += took;
            load.worst = load.worst.max(took);
            if !headless {
                // Measured from the beginning, so that a late tick does not shift
                // the next.
                let ticks = (second - 1) * TICKS_PER_SECOND + frame + 1;
                thread::sleep((dt * ticks).saturating_sub(began.elapsed()));
            }
        }
        // One call for the whole line, because the lobby's thread also prints.
        let counts = counts(&rooms);
        if headless {
            println!("second {second}: {counts}");
        } else {
            println!("second {second}: {counts}; {}", shown(&load, dt));
            // In the last second, the lobby may have ended.
            let _ = arrive.unbounded_send("a player");
        }
    }
    if let Some(lobby) = lobby {
        let frames = lobby.join().expect("the lobby does not panic");
        println!("the lobby has needed {frames} frames");
    }
}
