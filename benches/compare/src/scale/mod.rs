//! `--scale`: how the cost of framestep, and of those it is measured by, grows
//! with the number of coroutines.
//!
//! - *awake*: a frame in which all of them resume grows with their number;
//!   *aged*, they resume in another order than they were allocated in.
//! - *asleep*: a frame in which none is due does not. Where it does, the
//!   system polls them all.
//! - *memory*: what each of them takes, parked.
//! - *drop*: how long it takes to end them all, by dropping the executor.

mod report;

use std::time::{Duration, Instant};

use crate::actor::take_tally;
use crate::alloc;
use crate::measure::{Spread, is_wrong};
use crate::systems::{Order, System};
use crate::table::{figure, known, short};
use crate::workloads::asleep::Idle;
use crate::workloads::awake::Awake;
use crate::workloads::{Workload, footprint};
use report::Figures;
pub(crate) use report::Report;

const SIZES: &[usize] = &[1_000, 10_000, 100_000, 1_000_000];

/// How long a frame is repeated for one measurement.
const AT_LEAST: Duration = Duration::from_millis(10);

/// How many frames a world runs at the most, however short they are: after
/// more of them, those who sleep for weeks would wake.
const MOST_FRAMES: u64 = 60_000_000;

/// Prints all of it; `rounds` measurements of each frame.
pub(crate) fn run(systems: &[Box<dyn System>], sizes: Option<&[usize]>, rounds: usize) -> Report {
    let sizes = sizes.unwrap_or(SIZES);
    let mut tables = Tables::new(systems, sizes);
    let unit = "us per frame, and ns for each coroutine";
    tables.fill("awake", unit, |system, figures| {
        figures.awake = frame_ns(&Awake::IN_ORDER, system, figures.size, rounds);
        Some(for_all_and_each(figures.awake?, 1e3, figures.size))
    });
    let unit = "the same, in another order than allocated";
    tables.fill("aged", unit, |system, figures| {
        figures.aged = frame_ns(&Awake::AGED, system, figures.size, rounds);
        Some(for_all_and_each(figures.aged?, 1e3, figures.size))
    });
    tables.fill("asleep", "us per frame, none due", |system, figures| {
        figures.asleep = frame_ns(&Idle, system, figures.size, rounds);
        Some(figure(figures.asleep?.median / 1e3))
    });
    tables.fill("memory", "bytes each: live, resident", |system, figures| {
        figures.memory = footprint::measure(system, figures.size);
        let memory = figures.memory?;
        let (live, resident) = (known(memory.live, 1), known(memory.resident, 1));
        Some(format!("{live}, {resident}"))
    });
    let unit = "ms for all of them, and ns for each";
    tables.fill("drop", unit, |system, figures| {
        figures.dropping = dropping_ns(system, figures.size, rounds.min(5));
        Some(for_all_and_each(figures.dropping?, 1e6, figures.size))
    });
    Report(tables.figures)
}

/// One table after another, about the same systems and sizes.
struct Tables<'a> {
    systems: &'a [Box<dyn System>],
    sizes: &'a [usize],
    /// By system, then by size.
    figures: Vec<Figures>,
}

impl<'a> Tables<'a> {
    fn new(systems: &'a [Box<dyn System>], sizes: &'a [usize]) -> Self {
        let names = systems.iter().map(|system| system.name());
        let of_one = |name| sizes.iter().map(move |&size| Figures::none(name, size));
        Self {
            systems,
            sizes,
            figures: names.flat_map(of_one).collect(),
        }
    }

    /// Prints a row for each system of which something could be measured.
    fn fill(
        &mut self,
        what: &str,
        unit: &str,
        measure: impl Fn(&dyn System, &mut Figures) -> Option<String>,
    ) {
        print!("\n{what}: {unit}\n{:<20}", "system");
        for &size in self.sizes {
            print!("{:>18}", short(size));
        }
        println!();
        let by_system = self.figures.chunks_mut(self.sizes.len());
        for (system, row) in self.systems.iter().zip(by_system) {
            let cell = |figures: &mut Figures| {
                alloc::settle();
                measure(system.as_ref(), figures)
            };
            let cells: Vec<Option<String>> = row.iter_mut().map(cell).collect();
            if cells.iter().all(Option::is_none) {
                continue;
            }
            print!("{:<20}", system.name());
            for cell in cells {
                print!("{:>18}", cell.as_deref().unwrap_or("-"));
            }
            println!();
        }
    }
}

/// The median, in another unit, and what it comes to for each.
fn for_all_and_each(ns: Spread, unit: f64, size: usize) -> String {
    let each = figure(ns.median / size as f64);
    format!("{} ({each})", figure(ns.median / unit))
}

/// The length of a frame, in nanoseconds, unless the system leaves the
/// workload out or does another amount of work.
fn frame_ns(
    workload: &dyn Workload,
    system: &dyn System,
    size: usize,
    rounds: usize,
) -> Option<Spread> {
    let mut world = workload.build(system, size)?;
    let mut steps = 0;
    let mut timed = |frames: u64| {
        steps += frames;
        let begin = Instant::now();
        world.steps(frames);
        begin.elapsed()
    };
    // The first frames are those in which all begin to wait, and in which
    // room is made for them.
    timed(2);
    let most = MOST_FRAMES / (rounds as u64 + 2);
    let mut frames = 1;
    while timed(frames) < AT_LEAST && frames * 2 <= most {
        frames *= 2;
    }
    let samples: Vec<f64> = (0..rounds)
        .map(|_| timed(frames).as_nanos() as f64 / frames as f64)
        .collect();
    drop(world);
    let counted = take_tally();
    let expected = workload.resumes(size, workload.items(size, steps)(steps));
    if is_wrong(workload, system, counted, expected) {
        let (id, name) = (workload.id(), system.name());
        eprintln!("WRONG: {name} in {id}: {counted} resumes, not {expected}");
        return None;
    }
    Some(Spread::of(samples.into_iter()))
}

/// How long it takes to drop a world of coroutines that wait for the next
/// frame, in nanoseconds.
fn dropping_ns(system: &dyn System, size: usize, times: usize) -> Option<Spread> {
    let took = |_| {
        let mut world = system.awake(size, Order::Allocated)?;
        world.steps(1);
        let begin = Instant::now();
        drop(world);
        let elapsed = begin.elapsed();
        take_tally();
        Some(elapsed.as_nanos() as f64)
    };
    let took: Option<Vec<f64>> = (0..times).map(took).collect();
    Some(Spread::of(took?.into_iter()))
}
