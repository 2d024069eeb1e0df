//! Rounds in rotated order, checked counts, medians.

use std::time::{Duration, Instant};

use crate::actor::take_tally;
use crate::alloc;
use crate::systems::{System, World};
use crate::workloads::{Steps, Workload};

/// How long to measure.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// Rounds in all, shared out among the builds.
    pub(crate) rounds: usize,
    /// How often everything is built anew.
    pub(crate) builds: usize,
}

/// The result of one system in one workload of one size.
pub(crate) struct Row {
    pub(crate) system: &'static str,
    /// Nanoseconds per item, one a round, in the same order for all systems.
    pub(crate) ns: Vec<f64>,
    /// Calls to the allocator per item once everything has warmed up, if the
    /// system uses the one that counts.
    pub(crate) allocations: Option<f64>,
    /// What was counted and what should have been, if they differ.
    pub(crate) wrong: Option<(u64, u64)>,
}

/// A system at work.
struct Entry<'a> {
    system: &'a dyn System,
    world: Option<Box<dyn World>>,
    /// Steps of one sample, and steps made since the world was built.
    sample: u64,
    steps: u64,
    /// What the actors dropped so far had counted.
    counted: u64,
}

/// Runs all systems that can do the workload, round by round.
pub(crate) fn rounds(
    workload: &dyn Workload,
    size: usize,
    systems: &[Box<dyn System>],
    plan: Plan,
) -> Vec<Row> {
    let builds = plan.builds.min(plan.rounds);
    let rounds = plan.rounds.div_ceil(builds);
    // One sample more than rounds, for the pass that counts allocations.
    let longest = workload.warm_up() + (rounds as u64 + 1) * workload.sample(size);
    let items = workload.items(size, longest);

    let mut rows: Vec<Option<Row>> = systems.iter().map(|_| None).collect();
    for _build in 0..builds {
        alloc::settle();
        let mut entries = Vec::new();
        for index in in_building_order(systems) {
            let system = systems[index].as_ref();
            let Some(world) = workload.build(system, size) else {
                continue;
            };
            let mut entry = Entry {
                system,
                world: Some(world),
                sample: workload.sample(size),
                steps: 0,
                counted: 0,
            };
            entry.step(workload.warm_up());
            if workload.steps() == Steps::Calibrated {
                entry.calibrate();
            }
            rows[index].get_or_insert_with(|| Row {
                system: system.name(),
                ns: Vec::new(),
                allocations: None,
                wrong: None,
            });
            entries.push((index, entry));
        }
        for round in 0..rounds {
            for turn in rotated(entries.len(), round) {
                let (index, entry) = &mut entries[turn];
                let row = rows[*index].as_mut().expect("a row for every entry");
                let before = items(entry.steps);
                let elapsed = entry.step(entry.sample);
                let done = items(entry.steps) - before;
                row.ns.push(elapsed.as_nanos() as f64 / done as f64);
            }
        }
        for (index, mut entry) in entries {
            let row = rows[index].as_mut().expect("a row for every entry");
            let before = items(entry.steps);
            let system = entry.system;
            let (_, allocated) = alloc::counted(|| entry.step(entry.sample));
            let done = items(entry.steps) - before;
            row.allocations = system
                .is_counted()
                .then_some(allocated.calls as f64 / done as f64);
            let expected = workload.resumes(size, items(entry.steps));
            let counted = entry.finish();
            if is_wrong(workload, system, counted, expected) {
                row.wrong = Some((counted, expected));
            }
        }
    }
    rows.into_iter().flatten().collect()
}

/// Runs one system alone, without warming up, and returns the items done. It
/// ends the process if the system cannot do the work, or did other work.
pub(crate) fn count(workload: &dyn Workload, size: usize, system: &dyn System, steps: u64) -> u64 {
    let world = workload.build(system, size).unwrap_or_else(|| {
        eprintln!("{} does not do {}", system.name(), workload.id());
        std::process::exit(1);
    });
    let mut entry = Entry {
        system,
        world: Some(world),
        sample: steps,
        steps: 0,
        counted: 0,
    };
    entry.step(steps);
    let items = workload.items(size, steps)(steps);
    let expected = workload.resumes(size, items);
    let counted = entry.finish();
    if is_wrong(workload, system, counted, expected) {
        eprintln!("WRONG: {counted} resumes, not {expected}");
        std::process::exit(1);
    }
    // As many more or less as the clock of the system is tolerated to make.
    items + counted - expected
}

/// Whether the actors counted another amount of work than the workload has.
pub(crate) fn is_wrong(
    workload: &dyn Workload,
    system: &dyn System,
    counted: u64,
    expected: u64,
) -> bool {
    let off = counted.abs_diff(expected) as f64;
    off > expected as f64 * system.tolerance(workload.id())
}

impl Entry<'_> {
    fn step(&mut self, steps: u64) -> Duration {
        let world = self.world.as_mut().expect("not finished");
        self.steps += steps;
        let mut elapsed = Duration::ZERO;
        let mut left = steps;
        while left > 0 {
            let now = if world.prepare() { 1 } else { left };
            let begin = Instant::now();
            world.steps(now);
            elapsed += begin.elapsed();
            left -= now;
        }
        self.counted += take_tally();
        elapsed
    }

    /// Finds a number of steps that takes long enough to be timed.
    fn calibrate(&mut self) {
        self.sample = 1;
        while self.step(self.sample) < Duration::from_millis(2) {
            self.sample *= 2;
        }
    }

    /// Drops all actors and returns what they and those before had counted.
    fn finish(mut self) -> u64 {
        self.world = None;
        self.counted + take_tally()
    }
}

/// The systems that leave the heap as they found it, then the others: every
/// one finds room for a row of blocks.
fn in_building_order(systems: &[Box<dyn System>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..systems.len()).collect();
    order.sort_by_key(|&index| systems[index].leaves_gaps());
    order
}

/// The numbers below `n`, beginning at another one each turn; every other
/// turn backwards, so that not always the same one goes before another.
fn rotated(n: usize, turn: usize) -> impl Iterator<Item = usize> {
    (0..n).map(move |place| {
        let place = (place + turn / 2) % n;
        if turn % 2 == 0 { place } else { n - 1 - place }
    })
}

/// Median, and how far it spreads.
#[derive(Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) p10: f64,
    pub(crate) median: f64,
    pub(crate) p90: f64,
}

impl Spread {
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * (values.len() - 1) as f64;
            let (low, high) = (place.floor() as usize, place.ceil() as usize);
            values[low] + (values[high] - values[low]) * place.fract()
        };
        Self {
            p10: at(0.1),
            median: at(0.5),
            p90: at(0.9),
        }
    }

    /// In a unit so many times as large.
    pub(crate) fn over(self, unit: f64) -> Self {
        Self {
            p10: self.p10 / unit,
            median: self.median / unit,
            p90: self.p90 / unit,
        }
    }
}
