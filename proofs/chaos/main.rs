//! Random operations from every place that calls user code: polls, destructors,
//! wakers, conditions, hooks, payloads of panics, and the host between runs.
//!
//! There is no model of the right results. Instead, all values know whether they are
//! alive, and futures know when they must not be polled. Bystanders in every phase,
//! which no operation touches, must not miss a run.
//!
//! A few seeds run with every `cargo test`. `scripts/proofs/chaos` runs many, set by
//! `FRAMESTEP_CHAOS_SEEDS=FIRST..LAST`.

mod grenade;
mod host;
mod liveness;
mod operations;
mod script;
mod waits;
mod wakers;
mod world;

use std::ops::Range;

use framestep_testkit::watched::{forget_all, names_alive, take_faults};

use grenade::survive;
use host::Host;
use world::{Mood, World};

/// The seeds of every `cargo test`.
const SEEDS: Range<u64> = 0..6;
const FRAMES: u64 = 30;
/// Operations nest, each with a few stack frames of a debug build.
const STACK: usize = 512 << 20;

/// Set to `FIRST..LAST` for other seeds, which are printed as they begin.
const SEEDS_VARIABLE: &str = "FRAMESTEP_CHAOS_SEEDS";

fn seeds() -> Option<Range<u64>> {
    let text = std::env::var(SEEDS_VARIABLE).ok()?;
    let seeds = text.split_once("..").and_then(|(first, last)| {
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        Some(first..last)
    });
    assert!(
        seeds.is_some(),
        "{SEEDS_VARIABLE} is FIRST..LAST, not {text:?}"
    );
    seeds
}

/// The faults of one run of a seed.
fn run(seed: u64, mood: Mood) -> Vec<String> {
    forget_all();
    let faults = survive(|| {
        let host = Host::new(World::new(seed, mood));
        let mut faults = Vec::new();
        for frame in 1..=FRAMES {
            host.frame();
            let seen = take_faults().into_iter();
            faults.extend(seen.map(|text| format!("frame {frame}: {text}")));
            if !faults.is_empty() {
                break;
            }
        }
        host.end();
        faults.extend(take_faults());
        let left = names_alive();
        if !left.is_empty() && faults.is_empty() {
            faults.push(format!("never dropped: {left:?}"));
        }
        faults
    });
    World::leave();
    faults.unwrap_or_else(|| vec!["a panic that nothing caught".into()])
}

/// Fails with the faults of `run`, for the seeds of the variable, else for those of
/// `few`.
fn for_seeds(few: Range<u64>, run: impl Fn(u64) -> Vec<String>) {
    let say = std::env::var_os(SEEDS_VARIABLE).is_some();
    let mut failures = Vec::new();
    for seed in seeds().unwrap_or(few) {
        if say {
            println!("seed {seed}");
        }
        failures.extend((run(seed).into_iter()).map(|fault| format!("seed {seed}, {fault}")));
        if failures.len() > 20 {
            break;
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Calls `f` where operations may nest deep.
fn on_a_deep_stack(f: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK);
    if let Err(panic) = thread.spawn(f).unwrap().join() {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn random_operations_from_every_callback_break_nothing() {
    let moods = |seed| {
        let faults = |mood| {
            let faults = run(seed, mood).into_iter();
            faults.map(move |fault| format!("{mood:?}: {fault}"))
        };
        Mood::ALL.into_iter().flat_map(faults).collect()
    };
    on_a_deep_stack(move || for_seeds(SEEDS, moods));
}

#[test]
fn every_operation_and_every_callback_occurs() {
    on_a_deep_stack(|| {
        let mut counts = operations::Counts::default();
        for seed in 0..6 {
            let host = Host::new(World::new(seed, Mood::Panics));

            for _ in 0..20 {
                host.frame();
            }
            counts.add(host.counts());
            host.end();
            World::leave();
        }
        assert_eq!(counts.missing(), [""; 0]);
    });
}
