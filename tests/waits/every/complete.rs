//! Each wait and combinator is named twice: in docs/guide/waits.md, for readers, and in a table of
//! the tests, which all tests of every wait are made from. Here the two are compared.

use std::collections::BTreeSet;

use framestep_testkit::combinators::COMBINATORS;
use framestep_testkit::exports::functions_of;
use framestep_testkit::waits::{Place, WAITS};

const PAGE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../docs/guide/waits.md"
));
const PRELUDE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../src/prelude.rs"));

/// Waits that the table of the tests cannot have: a request to stop needs an owner, a promise is
/// used up by one answer, and a job needs its pool. Their tests are in `lifetimes` and `events`.
const TESTED_ELSEWHERE: [&str; 3] = ["offload", "promise", "stop_requested"];

/// What the first column of the tables calls. A row is marked if its waits have `in_phase`.
struct Call {
    text: &'static str,
    is_marked: bool,
}

impl Call {
    /// `interval(s).tick()` names `interval` and `tick`; `clock.wait_until(t)` names `wait_until`.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        let is_name = |char: char| char.is_alphanumeric() || char == '_';
        let ends = self.text.match_indices(['(', '!']);
        ends.map(move |(end, _)| {
            self.text[..end]
                .rsplit(|char| !is_name(char))
                .next()
                .unwrap_or("")
        })
        .filter(|name| !name.is_empty())
    }
}

fn calls() -> Vec<Call> {
    let rows = PAGE.lines().filter(|line| line.starts_with("| "));
    let cells = rows.filter_map(|row| row.trim_start_matches("| ").split(" | ").next());
    let calls = cells.flat_map(|cell| {
        // The texts between backticks.
        let texts = cell.split('`').skip(1).step_by(2);
        texts.map(|text| Call {
            text,
            is_marked: cell.contains('¹'),
        })
    });
    calls.collect()
}

fn in_the_tests() -> BTreeSet<&'static str> {
    let waits = WAITS.iter().map(|row| row.call);
    let ours = COMBINATORS.iter().filter(|row| row.ours.is_some());
    let combinators = ours.map(|row| row.name.trim_end_matches('!'));
    waits.chain(combinators).collect()
}

#[test]
fn the_page_of_all_waits_has_the_waits_of_the_tests_and_no_others() {
    let tested = in_the_tests();
    let named: BTreeSet<&str> = calls().iter().flat_map(Call::names).collect();
    let missing: Vec<_> = tested.difference(&named).collect();
    assert!(missing.is_empty(), "docs/guide/waits.md has no {missing:?}");
    let known: BTreeSet<&str> = tested.into_iter().chain(TESTED_ELSEWHERE).collect();
    let untested: Vec<_> = named.difference(&known).collect();
    assert!(
        untested.is_empty(),
        "the table of waits, or of combinators, of the tests has no {untested:?}"
    );
}

#[test]
fn each_function_of_the_modules_of_waits_and_combinators_is_in_the_tests_and_the_prelude() {
    let tested = in_the_tests();
    let exports = PRELUDE.split(|char: char| !char.is_alphanumeric() && char != '_');
    let prelude: BTreeSet<&str> = exports.collect();
    for module in ["wait", "combine"] {
        for name in functions_of(module) {
            assert!(
                tested.contains(&*name),
                "`{module}::{name}`: the table of waits, or of combinators, of the tests needs a row"
            );
            assert!(prelude.contains(&*name), "src/prelude.rs has no `{name}`");
        }
    }
}

#[test]
fn the_waits_that_name_a_phase_are_marked_on_the_page() {
    for call in calls() {
        // The stream decides: `interval(s).tick()` has the phase of its `interval`.
        let Some(name) = call.names().next() else {
            continue;
        };
        let mut rows = WAITS.iter().filter(|row| row.call == name).peekable();
        if rows.peek().is_some() {
            assert_eq!(
                call.is_marked,
                rows.any(|row| row.place == Place::InPhase),
                "`{}`: the mark says that it has `in_phase`",
                call.text
            );
        }
    }
}
