//! A server for all cores: a thread for each, with many rooms of a thousand scripts at 30 ticks
//! a second. It opens rooms until a thread is busy for half of a tick, and prints how many rooms
//! that takes. Arguments: seconds for each row (5), `--threads N`, and `--headless` for fixed counts.

mod cores;
mod room;

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use framestep::task::RemoteHandle;

use cores::{Core, Cores, Order};
use room::{Counts, TICK, TICKS_PER_SECOND, UNITS, message};

/// The fraction of a tick that a thread may be busy, in the 99th of 100 ticks by duration.
const SHARE: f64 = 0.5;
const MESSAGES_PER_SECOND: u64 = 10;

/// Sends messages to all rooms of the maps that arrive, until the other end is gone.
fn run_players(opened: &Receiver<BTreeMap<u64, RemoteHandle>>) {
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

/// How long ticks take: the median, and the 99th of a hundred.
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
    players: &Sender<BTreeMap<u64, RemoteHandle>>,
) -> bool {
    let wanted = rooms * cores.threads();
    let there = cores.rooms();
    // The players' thread notices when a room does not take its message.
    for _ in wanted..there {
        cores.close_oldest();
    }
    let opened = cores.open(wanted.saturating_sub(there));
    // It fails only if the players' thread has panicked. The join in `measure` reports that.
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
    println!("{threads} threads; a room gets {MESSAGES_PER_SECOND} messages a second");
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

/// Two threads on any machine. Each second a room closes and another one opens.
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
        let Counts {
            scripts,
            steps,
            hits,
            alarms,
            messages,
            health,
        } = sum;
        println!(
            "second {second}: {} rooms, {scripts} scripts, {steps} steps, {hits} hits, \
             {alarms} alarms, {messages} messages, {health} health",
            rooms.len()
        );
        rooms.remove(&cores.close_oldest());
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
