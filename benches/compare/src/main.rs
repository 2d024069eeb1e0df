//! Compares framestep with its peers on the same work, in one process.
//!
//! ```text
//! cargo run --release                        every workload, size and system
//! cargo run --release -- --quick             a few minutes' worth of it
//! cargo run --release -- W1 W2 --sizes 10k,1M --systems bare,tokio,framestep
//! cargo run --release -- W1 --rounds 60 --builds 4 --csv
//! cargo run --release -- --report DIR        results.json and chart.svg, too
//! cargo run --release -- --scale --quick     how costs grow from 1k to 1M; with
//!                                            --report DIR, scale.json and scale.svg
//! cargo run --release --features mimalloc    all systems on another allocator
//! cargo run --release --no-default-features  the peers only
//! ./instructions.sh                          instructions per item (valgrind)
//! ```
//!
//! # Workloads
//!
//! | id      | what every system does                              | per    |
//! |---------|-----------------------------------------------------|--------|
//! | W1      | N coroutines `loop { next_frame().await }`          | resume |
//! | W1-aged | the same, queued in another order than allocated    | resume |
//! | W1c     | W1; 1 in 10,000 starts a child every second frame   | resume |
//! | W2      | N coroutines `loop { wait_seconds(0.5..5).await }`  | fire   |
//! | W2-idle | N coroutines that wait for weeks: an empty frame    | frame  |
//! | W3      | spawn N, each waits for one frame and ends          | spawn  |
//! | W4a     | one coroutine starts and joins N, one after another | join   |
//! | W4b     | one coroutine, N plain futures deep, resumes        | level  |
//! | W4c     | N coroutines, each joins the one before: all end    | level  |
//! | W5      | W1 in four phases, a quarter of N in each           | resume |
//! | W6      | memory per coroutine parked in `next_frame`         |        |
//! | W7      | N pairs wake each other 200 times a frame           | wake   |
//! | W8      | N coroutines join 64 `next_frame`s at once          | wait   |
//! | W9      | a snapshot of N coroutines in waits of all kinds    | look   |
//!
//! The child of W1c waits for one frame and ends; its resume is checked, and
//! its cost counts, but the figure is per resume of the N.
//!
//! # Systems
//!
//! *bare* is a `Vec` of boxed futures, all polled every frame with a waker
//! that does nothing: the least an executor of boxed futures can do.
//! *state machines* are enums written by hand: the physical limit. The files
//! in `systems` say at their top how they use the other systems, and what
//! makes that fair.
//!
//! # How it is measured
//!
//! - All systems of a row are alive at once and take turns, in an order that
//!   rotates every round, so that a slow moment of the machine hits all. A
//!   ratio is the median of the ratios within each round, not a ratio of
//!   medians; its spread is p10-p90. Only ratios carry over to other machines.
//! - Every few rounds all systems are built again (`--builds`), after
//!   everything from before has been freed. Where the heap places a million
//!   boxes is still a matter of luck.
//! - Coroutines are futures of 48 to 64 bytes, as far as the system's own
//!   waits allow. Each counts its resumes; the sum is compared with the exact
//!   number that the workload prescribes. A system that did another amount of
//!   work is shown as WRONG.
//! - A frame lasts 1/64 s and the waits are multiples of 1/512 s: exact in
//!   nanoseconds and in an `f32`, so that every clock agrees on what is due.
//! - Allocations are counted in a pass of their own, which is not timed.

mod actor;
mod alloc;
mod args;
mod axis;
mod chart;
mod json;
mod measure;
mod page;
mod plot;
mod random;
mod report;
mod scale;
mod scripts;
mod systems;
mod table;
mod workloads;

use std::io;
use std::path::Path;

use args::{Args, Command, USAGE};
use measure::Plan;
use systems::System;

fn main() {
    let args = match Args::parse(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(problem) => {
            eprintln!("{problem}\n\n{USAGE}");
            std::process::exit(2);
        }
    };
    match args.command {
        Command::Help => println!("{USAGE}"),
        Command::Count {
            workload,
            size,
            system,
            steps,
        } => {
            let items = measure::count(workload.as_ref(), size, system.as_ref(), steps);
            println!("{items}");
        }
        Command::Footprint { system, size } => {
            let footprint = workloads::footprint::measure_here(system.as_ref(), size);
            println!("{footprint}");
        }
        Command::Compare => compare(&args),
        Command::Scale => scale(&args),
    }
}

fn compare(args: &Args) {
    if !args.csv {
        println!("Bytes of a W1 future:{}\n", future_bytes(&args.systems));
    }
    let mut report = report::Report::default();
    let mut table = table::Table::new(args.csv);
    let plan = Plan {
        rounds: args.rounds,
        builds: args.builds,
    };
    for workload in &args.workloads {
        for &size in args.sizes_of(workload.sizes()) {
            let rows = measure::rounds(workload.as_ref(), size, &args.systems, plan);
            report.rows(workload.as_ref(), size, &rows);
            table.rows(workload.id(), workload.item(), size, &rows);
        }
    }
    if args.footprint {
        for &size in args.sizes_of(workloads::footprint::SIZES) {
            let rows = workloads::footprint::measure_all(&args.systems, size);
            table.footprints(size, &rows);
            report.footprints(size, &rows);
        }
    }
    write_report(args, |directory| report.write(directory));
}

fn scale(args: &Args) {
    let report = scale::run(&args.systems, args.own_sizes(), args.rounds);
    write_report(args, |directory| report.write(directory));
}

/// Ends the process if there is to be a report and it cannot be written.
fn write_report(args: &Args, write: impl FnOnce(&Path) -> io::Result<()>) {
    let Some(directory) = &args.report else {
        return;
    };
    if let Err(problem) = write(directory) {
        eprintln!("no report in {}: {problem}", directory.display());
        std::process::exit(1);
    }
}

fn future_bytes(systems: &[Box<dyn System>]) -> String {
    use std::fmt::Write as _;

    let mut text = String::new();
    for system in systems {
        let bytes = system.future_bytes();
        let mark = if (48..=64).contains(&bytes) { "" } else { "!" };
        let bytes = if bytes == 0 {
            String::from("unknown")
        } else {
            format!("{bytes}{mark}")
        };
        write!(text, " {} {bytes}", system.name()).expect("a String takes all");
    }
    text
}
