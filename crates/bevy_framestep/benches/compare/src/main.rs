//! What a script costs in a frame of Bevy: `bevy_framestep` compared with `bevy_defer` and
//! `bevy_flurx`, in one process, in turns. Prints a table in Markdown.
//!
//! `cargo run --profile compare --ignore-rust-version [-- --rounds N] [--scripts N] [--row TEXT]`

mod measure;
mod subject;
mod workload;

use std::env;
use std::process::ExitCode;

use crate::measure::{Cost, costs};
use crate::subject::Subject;
use crate::workload::{FRAMES_PER_SECOND, Workload};

const USAGE: &str = "usage: [--rounds N] [--scripts N] [--row TEXT]";

const ROWS: [(Workload, &str); 11] = [
    (Workload::Move, "move a component in each frame"),
    (Workload::Frame, "wait for the next frame, and again"),
    (Workload::Ask, "check a condition on anything in each frame"),
    (
        Workload::Watch,
        "check a condition on a resource that changes",
    ),
    (Workload::Change, "wait for a change that does not come"),
    (Workload::Await, "wait for a message that does not come"),
    (Workload::Hear, "receive a message in each frame"),
    (
        Workload::Poke,
        "receive an event of the entity in each frame",
    ),
    (Workload::Sleep, "sleep, per frame"),
    (Workload::Fire, "sleep a second and go on, per timer"),
    (Workload::Live, "spawned and despawned with an entity"),
];

const EMPTY: &str = "an app without scripts, per update";

struct Options {
    /// With 10,000 scripts; more with fewer.
    rounds: usize,
    sizes: Vec<u64>,
    /// Part of the names of the rows that are measured.
    row: String,
}

impl Options {
    /// `None` if they make no sense.
    fn parse(mut args: impl Iterator<Item = String>) -> Option<Self> {
        let mut options = Options {
            rounds: 21,
            sizes: vec![1_000, 10_000],
            row: String::new(),
        };
        while let Some(arg) = args.next() {
            let value = args.next()?;
            match arg.as_str() {
                "--rounds" => options.rounds = value.parse().ok().filter(|&rounds| rounds > 0)?,
                "--scripts" => options.sizes = vec![value.parse().ok().filter(|&n| n > 0)?],
                "--row" => options.row = value,
                _ => return None,
            }
        }
        Some(options)
    }
}

fn main() -> ExitCode {
    let Some(options) = Options::parse(env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::FAILURE;
    };
    let peers = [Subject::Framestep, Subject::Defer, Subject::Flurx];
    let names = peers.map(|subject| format!("`{}`", subject.name()));
    println!("| each script, in ns | scripts | {} |", names.join(" | "));
    println!("|---|--:|--:|--:|--:|");
    let is_wanted = |name: &str| name.contains(&options.row);
    for (workload, name) in ROWS.into_iter().filter(|row| is_wanted(row.1)) {
        for &scripts in &options.sizes {
            // Of the scripts that sleep for a second, one in 64 resumes in a frame.
            let in_a_frame = if workload == Workload::Fire {
                scripts as f64 / FRAMES_PER_SECOND as f64
            } else {
                scripts as f64
            };
            let costs = costs(workload, scripts, options.rounds);
            let cells = peers.map(|subject| cell(&costs, subject, in_a_frame));
            println!("| {name} | {scripts} | {} |", cells.join(" | "));
        }
    }
    if is_wanted(EMPTY) {
        let costs = costs(Workload::Empty, 0, options.rounds);
        let cells = peers.map(|subject| cell(&costs, subject, 1.0));
        println!("| {EMPTY} | 0 | {} |", cells.join(" | "));
        let bare = of(&costs, Subject::Bare).map_or(f64::NAN, |cost| cost.ns);
        eprintln!("Bevy alone: {bare:.0} ns per update");
    }
    ExitCode::SUCCESS
}

fn cell(costs: &[Cost], subject: Subject, parts: f64) -> String {
    let Some(cost) = of(costs, subject) else {
        return "-".to_string();
    };
    let ns = cost.ns / parts;
    let ns = if ns < 9.95 {
        format!("{ns:.1}")
    } else {
        format!("{ns:.0}")
    };
    match subject {
        Subject::Framestep => format!("**{ns}**"),
        _ => format!("{ns} ({:.1}x)", cost.ratio),
    }
}

/// `None` if the package has nothing like that.
fn of(costs: &[Cost], subject: Subject) -> Option<&Cost> {
    costs.iter().find(|cost| cost.subject == subject)
}
