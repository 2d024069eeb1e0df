//! What a script costs in a frame of Bevy: `bevy_framestep` beside `bevy_defer` and
//! `bevy_flurx`, in one process, in turns. Prints a table in Markdown.
//!
//! `cargo run --release [-- --rounds N] [--scripts N]`

mod measure;
mod subject;
mod workload;

use std::env;
use std::process::ExitCode;

use crate::measure::{Cost, costs};
use crate::subject::Subject;
use crate::workload::{FRAMES_PER_SECOND, Workload};

const ROWS: [(Workload, &str); 5] = [
    (Workload::Move, "move a component in each frame"),
    (Workload::Frame, "wait for the next frame, and again"),
    (Workload::Ask, "ask a condition in each frame"),
    (Workload::Sleep, "sleep, per frame"),
    (Workload::Fire, "sleep a second and go on, per timer"),
];

struct Options {
    rounds: usize,
    sizes: Vec<u64>,
}

impl Options {
    /// `None`: they make no sense.
    fn parse(mut args: impl Iterator<Item = String>) -> Option<Self> {
        let mut options = Options {
            rounds: 41,
            sizes: vec![1_000, 10_000],
        };
        while let Some(arg) = args.next() {
            let value = args.next()?;
            match arg.as_str() {
                "--rounds" => options.rounds = value.parse().ok().filter(|&rounds| rounds > 0)?,
                "--scripts" => options.sizes = vec![value.parse().ok().filter(|&n| n > 0)?],
                _ => return None,
            }
        }
        Some(options)
    }
}

fn main() -> ExitCode {
    let Some(options) = Options::parse(env::args().skip(1)) else {
        eprintln!("usage: [--rounds N] [--scripts N]");
        return ExitCode::FAILURE;
    };
    let peers = [Subject::Framestep, Subject::Defer, Subject::Flurx];
    let names: Vec<&str> = peers.iter().map(|subject| subject.name()).collect();
    println!("| each script, in ns | scripts | {} |", names.join(" | "));
    println!("|---|--:|--:|--:|--:|");
    for (workload, name) in ROWS {
        for &scripts in &options.sizes {
            // Of those that sleep a second, one in 64 goes on in a frame.
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
    let costs = costs(Workload::Empty, 0, options.rounds);
    let cells = peers.map(|subject| cell(&costs, subject, 1.0));
    println!(
        "| an app without scripts, per update | 0 | {} |",
        cells.join(" | ")
    );
    eprintln!(
        "Bevy alone: {:.0} ns per update",
        of(&costs, Subject::Bare).ns
    );
    ExitCode::SUCCESS
}

fn cell(costs: &[Cost], subject: Subject, parts: f64) -> String {
    let cost = of(costs, subject);
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

fn of(costs: &[Cost], subject: Subject) -> &Cost {
    let found = costs.iter().find(|cost| cost.subject == subject);
    found.expect("all are measured")
}
