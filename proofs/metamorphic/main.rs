//! Random programs whose log must not change when something else does: a trace hook,
//! other scripts, a wrapper around each wait, the place where the program runs. No
//! expected results are needed.
//!
//! A failure prints its seed and the variant, and a smaller program that shows it.
//! `FRAMESTEP_METAMORPHIC_PROGRAMS=100000` runs that many programs as each variant.
//! `FRAMESTEP_METAMORPHIC_SEED=7` begins at another seed; on its own, it runs only
//! that seed. `FRAMESTEP_METAMORPHIC_VARIANTS=Noise,Paused` chooses variants.

mod generator;
mod program;
mod shrink;
mod variants;
mod world;

use std::fmt::Write as _;
use std::rc::Rc;

use program::Program;
use variants::Variant;
use world::Log;

/// How many programs an ordinary run of the tests compares.
const PROGRAMS: u64 = 200;

/// The first difference between a program and a variant of it: the log without and
/// with the variant.
fn difference(program: &Program, variant: Variant, plain: &Log) -> Option<(Log, Log)> {
    let program = Rc::new(program.clone());
    let expected = variant.comparable(plain);
    let logs = variant.logs(&program).into_iter();
    let mut others = logs.map(|log| variant.comparable(&log));
    let other = others.find(|log| *log != expected)?;
    Some((expected, other))
}

fn plain(program: &Program) -> Log {
    let program = Rc::new(program.clone());
    Variant::Plain.logs(&program).remove(0)
}

/// What a seed shows, if a variant of its program differs.
fn check(seed: u64, variants: &[Variant], lines: &mut u64) -> Vec<String> {
    let program = generator::program(seed);
    let log = plain(&program);
    let applies = variants
        .iter()
        .filter(|variant| variant.applies_to(&program));
    let mut failures = Vec::new();
    for &variant in applies {
        *lines += log.len() as u64;
        if difference(&program, variant, &log).is_some() {
            let differs = |program: &Program| difference(program, variant, &plain(program));
            let smaller = shrink::minimised(program.clone(), |program| differs(program).is_some());
            let (expected, other) = differs(&smaller).expect("it still differs");
            failures.push(format!(
                "a program and its variant differ: FRAMESTEP_METAMORPHIC_SEED={seed} \
                 FRAMESTEP_METAMORPHIC_VARIANTS={variant}\n{smaller}\n{}",
                side_by_side(variant, &expected, &other)
            ));
        }
    }
    failures
}

/// Both logs around the first difference.
fn side_by_side(variant: Variant, expected: &Log, other: &Log) -> String {
    let pairs = expected.iter().zip(other);
    let same = pairs.take_while(|(one, other)| one == other).count();
    let line = |log: &Log, at: usize| log.get(at).map_or_else(String::new, ToString::to_string);
    let mut text = format!("  {:60} | {variant}\n", "the program itself");
    for at in same.saturating_sub(24)..(same + 10).min(expected.len().max(other.len())) {
        let (left, right) = (line(expected, at), line(other, at));
        let mark = if left == right { ' ' } else { '!' };
        let _ = writeln!(text, "{mark} {left:60} | {right}");
    }
    text
}

fn variable(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    let number = value.parse();
    Some(number.unwrap_or_else(|_| panic!("{name} is a number")))
}

/// The variants that are named in the environment, or all.
fn chosen() -> Vec<Variant> {
    let named = std::env::var("FRAMESTEP_METAMORPHIC_VARIANTS").unwrap_or_default();
    let is_chosen = |variant: &Variant| {
        named.is_empty() || named.split(',').any(|name| name == variant.to_string())
    };
    Variant::ALL.iter().copied().filter(is_chosen).collect()
}

/// Checks `count` programs from a seed on, on all cores, until `most` differ.
fn search(first: u64, count: u64, most: usize) -> (u64, Vec<String>) {
    let variants = chosen();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let core = |core: usize| {
        let (mut lines, mut failures) = (0, Vec::new());
        for seed in (first..first + count).skip(core).step_by(cores) {
            failures.extend(check(seed, &variants, &mut lines));
            if failures.len() >= most {
                break;
            }
        }
        (lines, failures)
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|at| scope.spawn(move || core(at))).collect();
        let found = (threads.into_iter()).map(|thread| thread.join().expect("no panic escapes"));
        found.fold((0, Vec::new()), |(lines, mut failures), (more, other)| {
            failures.extend(other);
            (lines + more, failures)
        })
    })
}

#[test]
fn no_variant_of_a_program_changes_its_log() {
    let seed = variable("FRAMESTEP_METAMORPHIC_SEED");
    let programs = variable("FRAMESTEP_METAMORPHIC_PROGRAMS");
    let most = variable("FRAMESTEP_METAMORPHIC_DIFFERENCES").unwrap_or(1);
    let first = seed.unwrap_or(0);
    let count = programs.unwrap_or(if seed.is_some() { 1 } else { PROGRAMS });
    let most = usize::try_from(most).expect("it is small");
    let (lines, failures) = search(first, count, most);
    println!("{lines} lines of {count} programs from seed {first} on");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
