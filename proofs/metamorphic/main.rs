//! Random programs whose trace must not change when something else does: a trace hook, other
//! scripts, a wrapper around each wait, the place where the program runs. No expected results are
//! needed.
//!
//! A failure prints its seed and the variant, and a smaller program that shows it. [`Search::of`]
//! names the variables that lengthen the search, here with `METAMORPHIC`.
//! `FRAMESTEP_METAMORPHIC_VARIANTS=Noise,Paused` chooses variants.

mod variants;

use std::rc::Rc;

use framestep_testkit::program::{self, Judge, Program, Search, Trace};
use variants::Variant;

/// How many programs an ordinary run of the tests compares.
const PROGRAMS: u64 = 200;

/// The trace of a program and that of a variant of it, if they differ.
fn difference(program: &Program, variant: Variant, plain: &Trace) -> Option<(Trace, Trace)> {
    let program = Rc::new(program.clone());
    let expected = variant.comparable(plain.clone());
    let traces = variant.traces(&program).into_iter();
    let mut others = traces.map(|trace| variant.comparable(trace));
    let other = others.find(|trace| *trace != expected)?;
    Some((expected, other))
}

fn plain(program: &Program) -> Trace {
    let program = Rc::new(program.clone());
    Variant::Plain.traces(&program).remove(0)
}

/// How many lines were compared, and the differences.
fn compare(seed: u64, without: &[String], variants: &[Variant]) -> (u64, Vec<String>) {
    let program = program::program(Judge::Itself, seed, without);
    let trace = plain(&program);
    let variants = variants.iter();
    let (mut lines, mut differences) = (0, Vec::new());
    for &variant in variants.filter(|variant| variant.applies_to(&program)) {
        lines += trace.len() as u64;
        if difference(&program, variant, &trace).is_some() {
            let differs = |program: &Program| difference(program, variant, &plain(program));
            let smaller = program::minimised(program.clone(), |program| differs(program).is_some());
            let (expected, other) = differs(&smaller).expect("it still differs");
            let name = variant.to_string();
            differences.push(format!(
                "a program and its variant differ: FRAMESTEP_METAMORPHIC_SEED={seed} \
                 FRAMESTEP_METAMORPHIC_VARIANTS={name}\n{smaller}\n{}",
                program::difference(["the program itself", &name], &expected, &other)
            ));
        }
    }
    (lines, differences)
}

/// The variants that are named in the environment, or all.
fn chosen() -> Vec<Variant> {
    let named = std::env::var("FRAMESTEP_METAMORPHIC_VARIANTS").unwrap_or_default();
    let is_chosen = |variant: &Variant| {
        named.is_empty() || named.split(',').any(|name| name == variant.to_string())
    };
    Variant::ALL.iter().copied().filter(is_chosen).collect()
}

#[test]
fn no_variant_of_a_program_changes_its_trace() {
    let search = Search::of("METAMORPHIC", PROGRAMS);
    let variants = chosen();
    let found = search.run(|seed| compare(seed, &search.without, &variants));
    assert!(
        found.differences.is_empty(),
        "{}",
        found.differences.join("\n")
    );
}
