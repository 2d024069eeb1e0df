//! Random programs, run on framestep and on a naive reference of the contract:
//! both do the same, to the letter.
//!
//! `FRAMESTEP_MODEL_OPERATIONS=1000000` runs programs until that many polls,
//! resumes and calls have been compared; `FRAMESTEP_MODEL_SEED=7` begins at
//! another seed, and without the former runs that one alone.
//! `FRAMESTEP_MODEL_WITHOUT=pauses,moves` leaves some features of programs out,
//! and `FRAMESTEP_MODEL_DIFFERENCES=5` goes on until five programs differ.

mod features;
mod generator;
mod program;
mod real;
mod reference;
mod shrink;
mod system;
mod trace;
mod world;

use std::fmt::Write as _;
use std::rc::Rc;

use program::Program;
use real::Real;
use reference::Reference;
use trace::{Event, What, Who};

/// How many programs an ordinary run of the tests compares.
const PROGRAMS: u64 = 10_000;

/// Both traces of a program.
fn traces(program: &Program) -> (Vec<Event>, Vec<Event>) {
    let program = Rc::new(program.clone());
    let mut expected = world::trace::<Reference>(&program);
    let mut actual = world::trace::<Real>(&program);
    if program.settings.any_order {
        expected = without_order(expected);
        actual = without_order(actual);
    }
    (expected, actual)
}

/// The events of each run, each coroutine's by themselves, without polls.
fn without_order(mut events: Vec<Event>) -> Vec<Event> {
    events.retain(|event| event.what != What::Polled);
    let ends = |event: &Event| matches!(event.who, Who::Host(_));
    for run in events.chunk_by_mut(|one, other| !ends(one) && !ends(other)) {
        run.sort_by_key(|event| event.who);
    }
    events
}

/// What was compared.
#[derive(Default)]
struct Sum {
    programs: u64,
    operations: u64,
}

/// Compares one program, and tells how both differ.
fn compare(seed: u64, without: &[String], sum: &mut Sum) -> Result<(), String> {
    let program = generator::program(seed, without);
    let (expected, actual) = traces(&program);
    sum.programs += 1;
    sum.operations += expected.len() as u64;
    if expected == actual {
        return Ok(());
    }
    let smaller = shrink::minimised(program, |program| {
        let (expected, actual) = traces(program);
        expected != actual
    });
    let (expected, actual) = traces(&smaller);
    Err(format!(
        "framestep and the reference differ: FRAMESTEP_MODEL_SEED={seed}\n{smaller}\n{}",
        side_by_side(&expected, &actual)
    ))
}

/// Both traces around the first difference.
fn side_by_side(expected: &[Event], actual: &[Event]) -> String {
    let pairs = expected.iter().zip(actual);
    let same = pairs
        .take_while(|(expected, actual)| expected == actual)
        .count();
    let line = |events: &[Event], at: usize| {
        let event = events.get(at);
        event.map_or_else(String::new, ToString::to_string)
    };
    let mut text = format!("  {:60} | framestep\n", "reference");
    for at in same.saturating_sub(40)..(same + 6).min(expected.len().max(actual.len())) {
        let (left, right) = (line(expected, at), line(actual, at));
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

#[test]
fn random_programs_do_what_the_contract_says() {
    let seed = variable("FRAMESTEP_MODEL_SEED");
    let operations = variable("FRAMESTEP_MODEL_OPERATIONS");
    let without = std::env::var("FRAMESTEP_MODEL_WITHOUT").unwrap_or_default();
    let without: Vec<String> = without.split(',').map(str::to_owned).collect();
    let programs = match (operations, seed) {
        (Some(_), _) => u64::MAX,
        (None, Some(_)) => 1,
        (None, None) => PROGRAMS,
    };
    if operations.is_some() {
        // Many programs panic on purpose, and nothing else runs beside them.
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if info.location().is_some_and(|place| place.file() == file!()) {
                hook(info);
            }
        }));
    }
    let operations = operations.unwrap_or(u64::MAX);
    let most = variable("FRAMESTEP_MODEL_DIFFERENCES").unwrap_or(1);
    let most = usize::try_from(most).expect("it is small");
    let first = seed.unwrap_or(0);
    let mut sum = Sum::default();
    let mut differences = Vec::new();
    while sum.programs < programs && sum.operations < operations {
        let difference = compare(first + sum.programs, &without, &mut sum);
        differences.extend(difference.err());
        if differences.len() >= most {
            break;
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    println!(
        "{} operations of {} programs from seed {first} on",
        sum.operations, sum.programs
    );
}
