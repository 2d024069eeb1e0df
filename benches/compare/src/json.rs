//! What the reports have in common as JSON.

use std::fmt::{Arguments, Write as _};

use crate::measure::Spread;

/// A report: where it was measured, then its results, each of them an object.
pub(crate) fn document(results: impl Iterator<Item = String>) -> String {
    let mut text = String::from("{\n");
    let mut put = |what: Arguments<'_>| text.write_fmt(what).expect("a String takes all");
    let allocator = if cfg!(feature = "mimalloc") {
        "mimalloc"
    } else {
        "system"
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let machine = [
        ("compiler", env!("COMPILER")),
        ("os", std::env::consts::OS),
        ("arch", std::env::consts::ARCH),
        ("allocator", allocator),
    ];
    for (name, value) in machine {
        put(format_args!("  \"{name}\": \"{value}\",\n"));
    }
    put(format_args!("  \"cores\": {cores},\n  \"results\": ["));
    let mut separator = "\n";
    for result in results {
        put(format_args!("{separator}    {result}"));
        separator = ",\n";
    }
    put(format_args!("\n  ]\n}}\n"));
    text
}

/// A median and how far it spreads.
pub(crate) fn spread(spread: Option<Spread>) -> String {
    spread.map_or(String::from("null"), |spread| {
        let Spread { p10, median, p90 } = spread;
        format!("{{\"median\": {median:.5}, \"p10\": {p10:.5}, \"p90\": {p90:.5}}}")
    })
}

/// A number, unless it could not be measured.
pub(crate) fn number(value: Option<f64>, digits: usize) -> String {
    value
        .filter(|value| value.is_finite())
        .map_or(String::from("null"), |value| format!("{value:.digits$}"))
}
