//! Random programs, run on framestep and on a naive reference of the contract: both traces must
//! be equal.
//!
//! [`Search::of`] names the variables that lengthen the search, here with `MODEL`.

mod reference;

use std::collections::BTreeSet;
use std::rc::Rc;

use framestep_testkit::program::{
    self, Event, Judge, Program, Real, Search, Trace, What, Who, World,
};
use reference::Reference;

/// How many programs an ordinary run of the tests compares.
const PROGRAMS: u64 = 5_000;

/// Both traces of a program.
fn traces(program: &Program) -> (Trace, Trace) {
    let program = Rc::new(program.clone());
    let (mut expected, open_ended) = World::<Reference>::trace(&program);
    let (mut actual, _) = World::<Real>::trace(&program);
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
fn without_order(mut events: Trace) -> Trace {
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

/// An event of a wait that may have moved to any other coroutine: its order is open, too. Empty
/// for other events.
fn of_moved_wait(event: &Event) -> String {
    match event.what {
        What::Checked | What::Applied(_) | What::Item(_) => format!("{:?}", event.what),
        _ => String::new(),
    }
}

/// How many lines were compared, and the differences.
fn compare(seed: u64, without: &[String]) -> (u64, Vec<String>) {
    let program = program::program(Judge::Reference, seed, without);
    let (expected, actual) = traces(&program);
    let lines = expected.len() as u64;
    if expected == actual {
        return (lines, Vec::new());
    }
    let smaller = program::minimised(program, |program| {
        let (expected, actual) = traces(program);
        expected != actual
    });
    let (expected, actual) = traces(&smaller);
    let difference = format!(
        "framestep and the reference differ: FRAMESTEP_MODEL_SEED={seed}\n{smaller}\n{}",
        program::difference(["reference", "framestep"], &expected, &actual)
    );
    (lines, vec![difference])
}

#[test]
fn random_programs_do_what_the_contract_says() {
    let search = Search::of("MODEL", PROGRAMS);
    let found = search.run(|seed| compare(seed, &search.without));
    assert!(
        found.differences.is_empty(),
        "{}",
        found.differences.join("\n")
    );
}

#[test]
fn the_reference_judges_all_of_the_language_but_this() {
    let reference = program::words(Judge::Reference, 0..4_000);
    let itself = program::words(Judge::Itself, 0..4_000);
    let without = |all: &BTreeSet<String>, some: &BTreeSet<String>| {
        let rest: Vec<String> = all.difference(some).cloned().collect();
        rest.join(" ")
    };
    assert_eq!(
        without(&itself, &reference),
        "AtLeast Changed Changes Checkpoint Frames KeepPromise Many Promise Set This Yield"
    );
    assert_eq!(
        without(&reference, &itself),
        "Crowd Leave Loose OtherExecutor Remote RingElsewhere StopNext"
    );
}
