//! Costs that grow linearly: twice as many take about twice as long.
//!
//! The suite runs each subject with a number so large that a quadratic cost would
//! take minutes, and reads no clock. `scripts/proofs/growth` measures them, and prints a
//! table of doublings. `items` has a row for each public type: which subjects measure it.

mod clocks;
mod ends;
mod events;
mod executors;
mod items;
mod pauses;
mod scenes;
mod shared;
mod stale;
mod waiters;

use std::time::{Duration, Instant};

/// An operation on `n` objects.
#[derive(Clone, Copy)]
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    /// A number that takes far less than a second in a debug build.
    pub(crate) large: usize,
    /// How many times as long eight times as many may take.
    most: f64,
    pub(crate) run: fn(usize),
}

/// A row of the tables of subjects.
pub(crate) const fn subject(name: &'static str, large: usize, run: fn(usize)) -> Subject {
    Subject {
        name,
        large,
        most: LINEAR,
        run,
    }
}

/// The same for an operation documented as quadratic.
pub(crate) const fn quadratic(name: &'static str, large: usize, run: fn(usize)) -> Subject {
    Subject {
        name,
        large,
        most: QUADRATIC,
        run,
    }
}

/// Runs each of `subjects` with its large number.
pub(crate) fn run_large(subjects: &[Subject]) {
    for subject in subjects {
        println!("{}", subject.name);
        (subject.run)(subject.large);
    }
}

/// The rows of all tables.
fn all_subjects() -> Vec<Subject> {
    let tables = [
        clocks::SUBJECTS,
        ends::SUBJECTS,
        events::SUBJECTS,
        executors::SUBJECTS,
        pauses::SUBJECTS,
        scenes::SUBJECTS,
        shared::SUBJECTS,
        stale::SUBJECTS,
        waiters::SUBJECTS,
    ];
    tables.concat()
}

/// Between 8, which is linear, and 64, which is quadratic, with room for memory that no
/// cache holds.
const LINEAR: f64 = 40.0;
/// Between 64 and 512, which is cubic.
const QUADRATIC: f64 = 150.0;
const ROUNDS: usize = 5;
/// More rounds of a longer subject tell no more.
const LONG: Duration = Duration::from_secs(1);

/// The shortest of several rounds, the one least disturbed by other work.
fn shortest(subject: &Subject, n: usize) -> Duration {
    let mut shortest = Duration::MAX;
    for _ in 0..ROUNDS {
        let began = Instant::now();
        (subject.run)(n);
        shortest = shortest.min(began.elapsed());
        if shortest > LONG {
            break;
        }
    }
    shortest
}

/// Measures doublings up to eight times a small number; returns whether the time
/// grows too fast.
fn grows_too_fast(subject: &Subject) -> bool {
    let n = subject.large / 4;
    let times = [n, 2 * n, 4 * n, 8 * n].map(|n| shortest(subject, n));
    let ratio = times[3].as_secs_f64() / times[0].as_secs_f64();
    // A subject that takes no time has no ratio.
    let too_fast = ratio > subject.most && times[3] > Duration::from_millis(5);
    let [first, second, third, fourth] = times.map(|time| time.as_secs_f64() * 1e3);
    println!(
        "{:58} {n:7} {first:8.2} {second:8.2} {third:8.2} {fourth:8.2} {ratio:6.1}{}",
        subject.name,
        if too_fast { "  TOO FAST" } else { "" }
    );
    too_fast
}

/// A minute or two: `scripts/proofs/growth`.
#[test]
#[ignore = "it reads the clock"]
fn eight_times_as_many_take_about_eight_times_as_long() {
    println!(
        "{:58} {:>7} {:>8} {:>8} {:>8} {:>8} {:>6}",
        "ms", "n", "n", "2n", "4n", "8n", "ratio"
    );
    let too_fast = all_subjects().into_iter().filter(|subject| {
        // Once more, because the machine may have been busy.
        grows_too_fast(subject) && grows_too_fast(subject)
    });
    let too_fast: Vec<&str> = too_fast.map(|subject| subject.name).collect();
    assert!(too_fast.is_empty(), "they grow too fast: {too_fast:?}");
}
