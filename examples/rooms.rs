//! A server for all cores: a thread for each, with many rooms of a thousand scripts at 30 ticks
//! a second. It opens rooms until a thread is busy for half of a tick, and prints how many that
//! were. Arguments: seconds for each row (5), `--threads N`, and `--headless` for fixed counts.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use framestep::Remote;
use framestep::prelude::*;

const TICKS_PER_SECOND: u32 = 30;
const TICK: Duration = Duration::from_nanos(1_000_000_000 / TICKS_PER_SECOND as u64);
/// How much of a tick a thread may be busy, in the slowest tick but one of a hundred.
const SHARE: f64 = 0.5;
const UNITS: usize = 1_000;
const MESSAGES_PER_SECOND: u64 = 10;

/// Marsaglia's xorshift, so that the same room does the same everywhere.
struct Random(u64);

impl Random {
    /// Never from 0, which it would not leave.
    fn new(seed: u64) -> Self {
        Random(seed | 1)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn seconds(&mut self, shortest: f64, longest: f64) -> f64 {
        let part = f64::from(u32::try_from(self.below(1_000)).unwrap_or(0)) / 1_000.0;
        shortest + (longest - shortest) * part
    }

    fn unit(&mut self) -> usize {
        usize::try_from(self.below(UNITS as u64)).unwrap_or(0)
    }
}

/// What the scripts of a room are lent.
struct World {
    units: Vec<Unit>,
    counts: Counts,
}

#[derive(Clone)]
struct Unit {
    x: i64,
    health: u64,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    scripts: usize,
    steps: u64,
    hits: u64,
    alarms: u64,
    messages: u64,
    health: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.scripts += other.scripts;
        self.steps += other.steps;
        self.hits += other.hits;
        self.alarms += other.alarms;
        self.messages += other.messages;
        self.health += other.health;
    }
}

impl World {
    fn new() -> Self {
        World {
            units: vec![Unit { x: 0, health: 100 }; UNITS],
            counts: Counts::default(),
        }
    }

    fn step(&mut self, unit: usize, by: i64) {
        self.units[unit].x += by;
        self.counts.steps += 1;
    }

    fn hit(&mut self, unit: usize) {
        self.units[unit].health = self.units[unit].health.saturating_sub(1);
        self.counts.hits += 1;
    }
}

/// Walks to and fro, and stops now and then to look around.
async fn patrol(unit: usize, mut random: Random) {
    let mut by = 1;
    loop {
        wait_seconds(random.seconds(0.1, 2.0)).await;
        with(|world: &mut World| world.step(unit, by));
        if random.below(4) == 0 {
            by = -by;
            // It fails only if somebody stops the child alone.
            let _ = start(look_around(unit)).await;
        }
    }
}

async fn look_around(unit: usize) {
    for turn in [1, -2, 1] {
        wait_seconds(0.1).await;
        with(|world: &mut World| world.step(unit, turn));
    }
}

/// Sleeps until the alarm, and has a look by itself if there is none.
async fn guard(unit: usize, alarm: Signal<()>, mut random: Random) {
    loop {
        if timeout(random.seconds(1.0, 2.0), alarm.wait())
            .await
            .is_err()
        {
            continue;
        }
        with(|world: &mut World| world.counts.alarms += 1);
        for _ in 0..5 {
            next_frame().await;
            with(|world: &mut World| world.step(unit, 1));
        }
    }
}

/// Shoots twice at a time, and waits for both arrows.
async fn tower(mut random: Random) {
    loop {
        wait_seconds(random.seconds(0.5, 2.0)).await;
        let arrows = [random.unit(), random.unit()].map(|target| start(arrow(target)));
        join_all(arrows).await;
    }
}

async fn arrow(target: usize) {
    wait_frames(3).await;
    for _ in 0..5 {
        next_frame().await;
    }
    with(|world: &mut World| world.hit(target));
}

async fn heal(mut random: Random) {
    wait_seconds(random.seconds(0.0, 0.5)).await;
    let mut rounds = interval(0.5);
    loop {
        rounds.tick().await;
        let unit = random.unit();
        with(|world: &mut World| world.units[unit].health += 1);
    }
}

async fn ring(alarm: Signal<()>, mut random: Random) {
    loop {
        wait_seconds(random.seconds(2.0, 4.0)).await;
        alarm.emit(());
    }
}

/// An executor and what its scripts are lent.
struct Room {
    executor: Executor,
    world: World,
}

impl Room {
    fn new(number: u64) -> Self {
        let executor = Executor::new();
        let alarm = Signal::new();
        for unit in 0..UNITS {
            let seed = (number * UNITS as u64 + unit as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let random = Random::new(seed);
            match unit {
                0 => drop(executor.spawn(ring(alarm.clone(), random))),
                1..50 => drop(executor.spawn(heal(random))),
                50..150 => drop(executor.spawn(tower(random))),
                150..400 => drop(executor.spawn(guard(unit, alarm.clone(), random))),
                _ => drop(executor.spawn(patrol(unit, random))),
            }
        }
        let world = World::new();
        Room { executor, world }
    }

    fn tick(&mut self) {
        let world = &mut self.world;
        self.executor
            .lend(world, |executor| executor.run_frame(TICK));
    }

    fn counts(&self) -> Counts {
        Counts {
            scripts: self.executor.len(),
            health: self.world.units.iter().map(|unit| unit.health).sum(),
            ..self.world.counts
        }
    }
}

/// What the thread of a core is told.
enum Order {
    /// Opens a room, and answers with the way to it.
    Open(u64, Sender<(u64, Remote)>),
    Close(u64),
    /// Makes so many ticks at once, and counts.
    Run(u32, Sender<Counts>),
    /// Answers with how long the ticks since the last such order took.
    Report(Sender<Vec<Duration>>),
}

/// What a thread has.
#[derive(Default)]
struct Core {
    rooms: BTreeMap<u64, Room>,
    took: Vec<Duration>,
}

impl Core {
    /// Ticks 30 times a second, until the other end of `orders` is gone.
    fn run(mut self, orders: &Receiver<Order>) {
        let (mut began, mut ticks) = (Instant::now(), 0);
        loop {
            loop {
                match orders.try_recv() {
                    Ok(order) => self.obey(order),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return,
                }
            }
            let tick_began = Instant::now();
            self.tick();
            self.took.push(tick_began.elapsed());
            ticks += 1;
            let next = TICK * ticks;
            if began.elapsed() > next + TICK {
                // Hopelessly late, as after opening rooms: it begins anew.
                (began, ticks) = (Instant::now(), 0);
            } else {
                thread::sleep(next.saturating_sub(began.elapsed()));
            }
        }
    }

    /// Ticks when it is told to.
    fn run_on_order(mut self, orders: &Receiver<Order>) {
        for order in orders {
            self.obey(order);
        }
    }

    fn tick(&mut self) {
        self.rooms.values_mut().for_each(Room::tick);
    }

    /// Answers that nobody waits for any more are dropped.
    fn obey(&mut self, order: Order) {
        match order {
            Order::Open(number, answer) => {
                let room = Room::new(number);
                let _ = answer.send((number, room.executor.remote()));
                self.rooms.insert(number, room);
            }
            Order::Close(number) => drop(self.rooms.remove(&number)),
            Order::Run(ticks, answer) => {
                (0..ticks).for_each(|_| self.tick());
                let mut counts = Counts::default();
                self.rooms.values().for_each(|room| counts += room.counts());
                let _ = answer.send(counts);
            }
            Order::Report(answer) => {
                let _ = answer.send(std::mem::take(&mut self.took));
            }
        }
    }
}

/// The way to the threads; it may go to any thread itself.
struct Cores {
    cores: Vec<(Sender<Order>, JoinHandle<()>)>,
    /// On which core each room is.
    places: BTreeMap<u64, usize>,
    opened: u64,
}

impl Cores {
    fn new(threads: usize, run: fn(Core, &Receiver<Order>)) -> Self {
        let core = |_| {
            let (orders, receiver) = mpsc::channel();
            (
                orders,
                thread::spawn(move || run(Core::default(), &receiver)),
            )
        };
        Cores {
            cores: (0..threads).map(core).collect(),
            places: BTreeMap::new(),
            opened: 0,
        }
    }

    /// Opens rooms, each on the core that has the fewest. Gives the ways to them, by number.
    fn open(&mut self, rooms: usize) -> BTreeMap<u64, Remote> {
        let (answer, remotes) = mpsc::channel();
        for _ in 0..rooms {
            let on = |core: &usize| self.places.values().filter(|place| *place == core).count();
            let least = (0..self.cores.len()).min_by_key(on).unwrap_or(0);
            self.places.insert(self.opened, least);
            self.tell(least, Order::Open(self.opened, answer.clone()));
            self.opened += 1;
        }
        drop(answer);
        remotes.iter().collect()
    }

    /// Closes the oldest rooms.
    fn close(&mut self, rooms: usize) {
        for _ in 0..rooms {
            if let Some((number, core)) = self.places.pop_first() {
                self.tell(core, Order::Close(number));
            }
        }
    }

    fn tell(&self, core: usize, order: Order) {
        let told = self.cores[core].0.send(order);
        assert!(told.is_ok(), "the thread of core {core} has ended");
    }

    /// Tells all cores, and collects their answers.
    fn ask<T>(&self, order: impl Fn(Sender<T>) -> Order) -> Vec<T> {
        let (answer, answers) = mpsc::channel();
        for core in 0..self.cores.len() {
            self.tell(core, order(answer.clone()));
        }
        drop(answer);
        answers.iter().collect()
    }

    fn end(self) {
        for (orders, thread) in self.cores {
            drop(orders);
            assert!(thread.join().is_ok(), "a thread of rooms has panicked");
        }
    }
}

/// What a player does, sent from another thread: it happens when the next tick of the room
/// begins. `false`: the room is closed.
fn message(room: &Remote, number: u64) -> bool {
    let unit = Random::new(number).unit();
    room.call(move || {
        with(|world: &mut World| {
            world.counts.messages += 1;
            world.hit(unit);
        });
        // A script of the player's own, now and then.
        if number % 5 == 0 {
            spawn(arrow(unit));
        }
    })
}

/// Sends messages to all rooms that it has heard of, until there are no more to hear of.
fn run_players(opened: &Receiver<BTreeMap<u64, Remote>>) {
    let mut rooms = BTreeMap::new();
    for round in 0.. {
        match opened.recv_timeout(Duration::from_secs(1) / 100) {
            Ok(more) => rooms.extend(more),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => return,
        }
        // A tenth of the rooms at a time, a hundred times a second.
        let every = 100 / MESSAGES_PER_SECOND;
        rooms.retain(|number, room| (number + round) % every != 0 || message(room, number + round));
    }
}

/// How long ticks take: in the middle, and at the 99th of a hundred.
fn quantiles(mut took: Vec<Duration>) -> (Duration, Duration) {
    took.sort_unstable();
    let at = |percent| took[(took.len() - 1) * percent / 100];
    (at(50), at(99))
}

/// Measures with so many rooms on each core; prints a row. `true`: they fit.
fn fits(
    cores: &mut Cores,
    rooms: usize,
    seconds: u64,
    players: &Sender<BTreeMap<u64, Remote>>,
) -> bool {
    let wanted = rooms * cores.cores.len();
    let there = cores.places.len();
    cores.close(there.saturating_sub(wanted));
    let opened = cores.open(wanted.saturating_sub(there));
    // It fails only if the players' thread has panicked, which its join tells.
    let _ = players.send(opened);
    thread::sleep(Duration::from_secs(2));
    cores.ask(Order::Report);
    thread::sleep(Duration::from_secs(seconds));
    let took: Vec<_> = cores.ask(Order::Report).into_iter().flatten().collect();
    let (median, slow) = quantiles(took);
    let share = |took: Duration| took.div_duration_f64(TICK);
    println!(
        "{rooms:>13} {:>12} {:>11.2} ms {:>10.2} ms {:>11.1} %",
        rooms * UNITS,
        median.as_secs_f64() * 1e3,
        slow.as_secs_f64() * 1e3,
        share(slow) * 100.0
    );
    share(slow) < SHARE
}

fn measure(threads: usize, seconds: u64) {
    let mut cores = Cores::new(threads, Core::run);
    let (players, opened) = mpsc::channel();
    let players_thread = thread::spawn(move || run_players(&opened));
    println!(
        "{threads} threads, {TICKS_PER_SECOND} ticks a second, {MESSAGES_PER_SECOND} messages a second for each room"
    );
    println!("rooms a core  scripts a core  median tick   99th of 100   of 33.3 ms");
    let (mut fit, mut rooms) = (0, 25);
    while fits(&mut cores, rooms, seconds, &players) {
        (fit, rooms) = (rooms, rooms * 2);
    }
    // Between the most that fit and the fewest that did not.
    let mut too_many = rooms;
    while too_many - fit > (fit / 10).max(1) {
        let between = fit.midpoint(too_many);
        if fits(&mut cores, between, seconds, &players) {
            fit = between;
        } else {
            too_many = between;
        }
    }
    println!("a core holds {fit} rooms of {UNITS} scripts in half of its time");
    drop(players);
    assert!(
        players_thread.join().is_ok(),
        "the players' thread has panicked"
    );
    cores.end();
}

/// Two threads whatever the machine; each second a room closes and another one opens.
fn headless(seconds: u64) {
    let mut cores = Cores::new(2, Core::run_on_order);
    let mut rooms = cores.open(5);
    for second in 1..=seconds {
        for round in 0..MESSAGES_PER_SECOND {
            let round = second * MESSAGES_PER_SECOND + round;
            rooms.retain(|number, room| message(room, number * 7 + round));
        }
        let mut sum = Counts::default();
        for counts in cores.ask(|answer| Order::Run(TICKS_PER_SECOND, answer)) {
            sum += counts;
        }
        println!(
            "second {second}: {} rooms, {} scripts, {} steps, {} hits, {} alarms, {} messages, {} health",
            rooms.len(),
            sum.scripts,
            sum.steps,
            sum.hits,
            sum.alarms,
            sum.messages,
            sum.health
        );
        cores.close(1);
        rooms.extend(cores.open(1));
    }
    cores.end();
}

fn main() {
    let mut seconds = 5;
    let mut threads = thread::available_parallelism().map_or(1, Into::into);
    let mut is_headless = false;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--headless" => is_headless = true,
            "--threads" => {
                let number = args.next().and_then(|number| number.parse().ok());
                threads = number.expect("a number of threads");
            }
            number => seconds = number.parse().expect("a number of seconds"),
        }
    }
    if is_headless {
        headless(seconds);
    } else {
        measure(threads.max(1), seconds.max(1));
    }
}
