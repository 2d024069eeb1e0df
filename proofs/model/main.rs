//! Random programs, run on framestep and on a naive reference of the contract:
//! both traces must be equal.
//!
//! `FRAMESTEP_MODEL_OPERATIONS=1000000` runs programs until that many polls,
//! resumes and calls have been compared. `FRAMESTEP_MODEL_SEED=7` begins at
//! another seed; on its own, it runs only that seed.
//! `FRAMESTEP_MODEL_WITHOUT=pauses,moves` excludes some features of programs,
//! and `FRAMESTEP_MODEL_DIFFERENCES=5` continues until five programs differ.

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
const PROGRAMS: u64 = 5_000;

/// Both traces of a program.
fn traces(program: &Program) -> (Vec<Event>, Vec<Event>) {
    let program = Rc::new(program.clone());
    let (mut expected, open_ended) = world::trace::<Reference>(&program);
    let (mut actual, _) = world::trace::<Real>(&program);
    if open_ended {
        actual.truncate(expected.len());
    }
    if program.settings.any_order {
        expected = without_order(expected);
        actual = without_order(actual);
    }
    (expected, actual)
}

/// The events of each run, separately for each coroutine, without polls.
fn without_order(mut events: Vec<Event>) -> Vec<Event> {
    events.retain(|event| event.what != What::Polled);
    for event in &mut *events {
        event.what.sort();
    }
    let ends = |event: &Event| matches!(event.who, Who::Host(_));
    for run in events.chunk_by_mut(|one, other| !ends(one) && !ends(other)) {
        run.sort_by_key(|event| (event.who, of_moved_wait(event)));
    }
    events
}

/// An event of a wait that may have moved to any other coroutine: its order is
/// open, too. Empty for other events.
fn of_moved_wait(event: &Event) -> String {
    match event.what {
        What::Asked | What::Applied(_) | What::Item(_) => format!("{:?}", event.what),
        _ => String::new(),
    }
}

/// The scope of a comparison.
#[derive(Clone, Copy)]
struct Search<'a> {
    /// The first seed, and the step to the next one.
    first: u64,
    stride: u64,
    programs: u64,
    operations: u64,
    /// How many differences to find.
    most: usize,
    /// Excluded features.
    without: &'a [String],
}

/// Counts of what was compared.
#[derive(Default)]
struct Found {
    programs: u64,
    operations: u64,
    differences: Vec<String>,
}

impl Search<'_> {
    fn run(self) -> Found {
        let mut found = Found::default();
        while found.programs < self.programs && found.operations < self.operations {
            let seed = self.first + found.programs * self.stride;
            self.compare(seed, &mut found);
            if found.differences.len() >= self.most {
                break;
            }
        }
        found
    }

    /// The same on all cores, each with different seeds.
    fn run_on_all_cores(self) -> Found {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
        let search = |core: u64| Search {
            first: self.first + core,
            stride: cores,
            operations: self.operations.div_ceil(cores),
            ..self
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..cores)
                .map(|core| scope.spawn(move || search(core).run()))
                .collect();
            let mut all = Found::default();
            for thread in threads {
                let found = thread.join().expect("it catches what programs panic with");
                all.programs += found.programs;
                all.operations += found.operations;
                all.differences.extend(found.differences);
            }
            all
        })
    }

    /// Compares one program.
    fn compare(self, seed: u64, found: &mut Found) {
        let program = generator::program(seed, self.without);
        let (expected, actual) = traces(&program);
        found.programs += 1;
        found.operations += expected.len() as u64;
        if expected == actual {
            return;
        }
        let smaller = shrink::minimised(program, |program| {
            let (expected, actual) = traces(program);
            expected != actual
        });
        let (expected, actual) = traces(&smaller);
        found.differences.push(format!(
            "framestep and the reference differ: FRAMESTEP_MODEL_SEED={seed}\n{smaller}\n{}",
            side_by_side(&expected, &actual)
        ));
    }
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
    for at in same.saturating_sub(24)..(same + 10).min(expected.len().max(actual.len())) {
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
    let most = variable("FRAMESTEP_MODEL_DIFFERENCES").unwrap_or(1);
    let without = std::env::var("FRAMESTEP_MODEL_WITHOUT").unwrap_or_default();
    let without: Vec<String> = without.split(',').map(str::to_owned).collect();
    let search = Search {
        first: seed.unwrap_or(0),
        stride: 1,
        programs: match (operations, seed) {
            (Some(_), _) => u64::MAX,
            (None, Some(_)) => 1,
            (None, None) => PROGRAMS,
        },
        operations: operations.unwrap_or(u64::MAX),
        most: usize::try_from(most).expect("it is small"),
        without: &without,
    };
    let found = if operations.is_some() {
        // Many programs panic on purpose, and no other test runs at the same
        // time.
        std::panic::set_hook(Box::new(|_| ()));
        let found = search.run_on_all_cores();
        drop(std::panic::take_hook());
        found
    } else {
        search.run()
    };
    println!(
        "{} operations of {} programs from seed {} on",
        found.operations, found.programs, search.first
    );
    let differences = found.differences;
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
