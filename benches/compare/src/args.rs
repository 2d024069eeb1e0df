//! The command line.

use std::path::PathBuf;

use crate::systems::{self, System};
use crate::workloads::{self, Workload};

pub(crate) const USAGE: &str = "\
compare [WORKLOAD...] [--sizes 1k,10k,..] [--systems a,b,..] [--rounds N]
        [--builds N] [--quick] [--csv] [--report DIR]
compare --count WORKLOAD SIZE SYSTEM STEPS    one system alone; prints the items
compare --scale [--sizes ..] [--systems ..] [--rounds N] [--quick]
        [--report DIR]                        how costs grow with the size
compare --footprint SYSTEM SIZE               memory of one system; prints bytes

workloads: W1 W1-aged W1c W2 W2-idle W3 W4a W4b W4c W5 W6 W7 W8 W9
systems:   bare state-machines c++20 tokio framestep
           framestep-join-all (W8 only); not with --quick:
           koryto simple-async-local cosync async-task async-executor
           futures-localpool; and only when named:
           bare-all-phases moirai tokio-notify tokio-yield tokio-self-wake, and
           bevy-malek-async with the feature `bevy`";

/// What to do.
pub(crate) enum Command {
    Help,
    Compare,
    Scale,
    Count {
        workload: Box<dyn Workload>,
        size: usize,
        system: Box<dyn System>,
        steps: u64,
    },
    Footprint {
        system: Box<dyn System>,
        size: usize,
    },
}

/// What to do, and with what.
pub(crate) struct Args {
    pub(crate) command: Command,
    pub(crate) workloads: Vec<Box<dyn Workload>>,
    /// Whether W6 is asked for: it is no workload of steps.
    pub(crate) footprint: bool,
    pub(crate) systems: Vec<Box<dyn System>>,
    pub(crate) rounds: usize,
    pub(crate) builds: usize,
    pub(crate) csv: bool,
    /// Where to write results.json and chart.svg, or scale.json and scale.svg.
    pub(crate) report: Option<PathBuf>,
    sizes: Vec<usize>,
    quick: bool,
}

impl Args {
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut args = Self {
            command: Command::Compare,
            workloads: Vec::new(),
            footprint: false,
            systems: Vec::new(),
            rounds: 0,
            builds: 0,
            csv: false,
            report: None,
            sizes: Vec::new(),
            quick: false,
        };
        let mut words = words;
        while let Some(word) = words.next() {
            let mut next = || {
                let missing = || format!("{word} needs more arguments");
                words.next().ok_or_else(missing)
            };
            match word.as_str() {
                "--help" | "-h" => args.command = Command::Help,
                "--scale" => args.command = Command::Scale,
                "--quick" => args.quick = true,
                "--csv" => args.csv = true,
                "--report" => args.report = Some(next()?.into()),
                "--rounds" => args.rounds = number(&next()?)?,
                "--builds" => args.builds = number(&next()?)?,
                "--sizes" => args.sizes = list(&next()?, number)?,
                "--systems" => args.systems = list(&next()?, system)?,
                "--count" => {
                    args.command = Command::Count {
                        workload: workload(&next()?)?,
                        size: number(&next()?)?,
                        system: system(&next()?)?,
                        steps: number(&next()?)? as u64,
                    };
                }
                "--footprint" => {
                    args.command = Command::Footprint {
                        system: system(&next()?)?,
                        size: number(&next()?)?,
                    };
                }
                "W6" => args.footprint = true,
                id => args.workloads.push(workload(id)?),
            }
        }
        if args.workloads.is_empty() && !args.footprint {
            args.workloads = workloads::all();
            args.footprint = true;
        }
        if args.systems.is_empty() {
            args.systems = if args.quick {
                systems::quick()
            } else {
                systems::usual()
            };
        }
        let (rounds, builds) = if args.quick { (6, 1) } else { (30, 3) };
        args.rounds = if args.rounds == 0 {
            rounds
        } else {
            args.rounds
        };
        args.builds = if args.builds == 0 {
            builds
        } else {
            args.builds
        };
        Ok(args)
    }

    /// The sizes asked for, if any.
    pub(crate) fn own_sizes(&self) -> Option<&[usize]> {
        (!self.sizes.is_empty()).then_some(&self.sizes)
    }

    /// The sizes asked for, else those of the workload; quick ones stop at
    /// 100k.
    pub(crate) fn sizes_of<'a>(&'a self, usual: &'a [usize]) -> &'a [usize] {
        if !self.sizes.is_empty() {
            return &self.sizes;
        }
        let quick = usual.partition_point(|&size| size <= 100_000).max(1);
        if self.quick { &usual[..quick] } else { usual }
    }
}

fn system(name: &str) -> Result<Box<dyn System>, String> {
    systems::named(name).ok_or_else(|| format!("no system {name}"))
}

fn workload(id: &str) -> Result<Box<dyn Workload>, String> {
    workloads::named(id).ok_or_else(|| format!("no workload {id}"))
}

fn list<T>(text: &str, one: fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    text.split(',').map(one).collect()
}

/// A positive number, with `k` and `M` for thousands and millions.
fn number(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.as_bytes() {
        [.., b'k'] => (&text[..text.len() - 1], 1_000),
        [.., b'M'] => (&text[..text.len() - 1], 1_000_000),
        _ => (text, 1),
    };
    match digits.parse::<usize>() {
        Ok(number) if number > 0 => Ok(number * unit),
        _ => Err(format!("not a positive number: {text}")),
    }
}
