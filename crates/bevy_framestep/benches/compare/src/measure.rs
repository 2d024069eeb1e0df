//! Rounds in which each subject has its turn. The time of Bevy itself is subtracted.

use std::time::{Duration, Instant};

use bevy::app::App;

use crate::subject::Subject;
use crate::workload::{FRAMES_PER_SECOND, Progress, Workload};

/// The number of updates in a turn: one second, in which all scripts that sleep for a second
/// are due once.
const UPDATES: u64 = FRAMES_PER_SECOND;

/// How much more an update with a subject costs than with Bevy alone.
pub(crate) struct Cost {
    pub(crate) subject: Subject,
    /// The median of the rounds, in nanoseconds.
    pub(crate) ns: f64,
    /// The median over the rounds of the ratio to `bevy_framestep`.
    pub(crate) ratio: f64,
}

/// Measures all subjects that have the workload, in turns. Each round begins with another
/// subject.
pub(crate) fn costs(workload: Workload, scripts: u64, rounds: usize) -> Vec<Cost> {
    // Short turns, so that all see the machine in the same state; the shorter, the more of
    // them.
    let rounds = rounds * (10_000 / scripts.clamp(100, 10_000)) as usize;
    let subjects = Subject::ALL.into_iter();
    let subjects: Vec<Subject> = subjects.filter(|of| of.has(workload)).collect();
    let apps = subjects.iter().map(|of| of.app(workload, scripts));
    let mut apps: Vec<App> = apps.collect();
    // By round and subject; only those of subjects that have the workload.
    let mut times = vec![[Duration::ZERO; Subject::ALL.len()]; rounds];
    for app in &mut apps {
        for _ in 0..FRAMES_PER_SECOND * 2 {
            app.update();
        }
    }
    for (round, times) in times.iter_mut().enumerate() {
        for turn in 0..apps.len() {
            let index = (turn + round) % apps.len();
            let app = &mut apps[index];
            let before = Progress::of(app);
            let start = Instant::now();
            for _ in 0..UPDATES {
                app.update();
            }
            times[index] = start.elapsed();
            let after = Progress::of(app);
            let of_bare = subjects[index] == Subject::Bare;
            let scripts = if of_bare { 0 } else { scripts };
            workload.check(scripts, UPDATES, &before, &after);
        }
    }
    for (subject, app) in subjects.iter().zip(&mut apps) {
        if *subject != Subject::Bare
            && let Some(ended) = workload.ended(scripts, app)
        {
            let expected = subject.ends(workload, scripts);
            assert_eq!(ended, expected, "{workload:?} of {}", subject.name());
        }
    }

    let of = |subject: Subject, times: &[Duration; Subject::ALL.len()]| {
        let index = subjects.iter().position(|of| *of == subject);
        times[index.expect("it is one of all")].as_nanos() as f64
    };
    let above_bare = |subject: Subject| {
        let of = |times| (of(subject, times) - of(Subject::Bare, times)) / UPDATES as f64;
        times.iter().map(of).collect::<Vec<f64>>()
    };
    let framestep = above_bare(Subject::Framestep);
    let cost = |subject: Subject| {
        let own = above_bare(subject);
        let ratios = own.iter().zip(&framestep).map(|(own, base)| own / base);
        Cost {
            subject,
            ratio: median(ratios.collect()),
            ns: median(own),
        }
    };
    let mut costs: Vec<Cost> = subjects.iter().map(|&subject| cost(subject)).collect();
    let bare = times.iter().map(|times| of(Subject::Bare, times));
    costs[0].ns = median(bare.map(|ns| ns / UPDATES as f64).collect());
    costs
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) {
        f64::midpoint(values[middle - 1], values[middle])
    } else {
        values[middle]
    }
}
