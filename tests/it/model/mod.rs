//! Random programs, run on framestep and on a naive reference of the contract:
//! both do the same, to the letter.
//!
//! `FRAMESTEP_MODEL_OPERATIONS=1000000` runs programs until that many steps,
//! resumes and calls have been compared; `FRAMESTEP_MODEL_SEED=7` begins at
//! another seed, and without the former runs that one alone.

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
use trace::Event;

/// How many programs an ordinary run of the tests compares.
const PROGRAMS: u64 = 20_000;

/// Both traces of a program.
fn traces(program: &Program) -> (Vec<Event>, Vec<Event>) {
    let program = Rc::new(program.clone());
    let (expected, settled) = world::trace::<Reference>(&program);
    let (mut actual, _) = world::trace::<Real>(&program);
    if !settled {
        actual.truncate(expected.len());
    }
    (expected, actual)
}

/// Compares one program; gives how many events it has.
fn compare(seed: u64) -> usize {
    let program = generator::program(seed);
    let (expected, actual) = traces(&program);
    if expected == actual {
        return expected.len();
    }
    let smaller = shrink::minimised(program, |program| {
        let (expected, actual) = traces(program);
        expected != actual
    });
    let (expected, actual) = traces(&smaller);
    panic!(
        "framestep and the reference differ: FRAMESTEP_MODEL_SEED={seed}\n{smaller}\n{}",
        side_by_side(&expected, &actual)
    );
}

/// Both traces around the first difference.
fn side_by_side(expected: &[Event], actual: &[Event]) -> String {
    let pairs = expected.iter().zip(actual);
    let same = pairs
        .take_while(|(expected, actual)| expected == actual)
        .count();
    let line = |events: &[Event], at: usize| {
        let event = events.get(at);
        event.map_or_else(String::new, |event| {
            let phase = event
                .phase
                .map_or_else(String::new, |phase| format!(".{phase}"));
            let who = event.who.map_or("host".to_owned(), |who| who.to_string());
            format!("F{}{phase} {who}: {:?}", event.frame, event.what)
        })
    };
    let mut text = format!("  {:60} | framestep\n", "reference");
    for at in same.saturating_sub(12)..(same + 6).min(expected.len().max(actual.len())) {
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
    let first = seed.unwrap_or(0);
    if let Some(operations) = operations {
        let (mut seed, mut done) = (first, 0);
        while done < operations {
            done += compare(seed) as u64;
            seed += 1;
        }
        println!("{done} operations of seeds {first} to {}", seed - 1);
        return;
    }
    let programs = if seed.is_some() { 1 } else { PROGRAMS };
    let events: usize = (first..first + programs).map(compare).sum();
    println!("{events} operations of {programs} programs from seed {first} on");
}
