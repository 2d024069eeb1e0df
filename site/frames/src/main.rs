//! Records what small scripts do, frame by frame, for the site: its pages go through the runs.
//!
//! `scripts` has the scripts. They are compiled here, as they are shown, and run on the crate's
//! executor, in frames of several lengths. A run becomes a file of JSON: `NAME-DT.json`.
//!
//! usage: `framestep-frames FOLDER`

mod record;
#[cfg(test)]
mod tests;

use std::env;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use framestep::Executor;

use crate::record::{Run, record};

/// What a script of the site prints is a part of the recording.
macro_rules! println {
    ($($arguments:tt)*) => {
        crate::record::note(format!($($arguments)*))
    };
}

/// The scripts of the files in `scripts`, by the names of the files.
macro_rules! scripts {
    ($($name:ident)*) => {
        $(mod $name {
            use framestep::prelude::*;

            use crate::record::World;

            include!(concat!("../scripts/", stringify!($name), ".rs"));

            pub(crate) fn begin(executor: &Executor) {
                drop(executor.script("game").start(game()));
            }
        })*

        /// Each with a function that starts its `game`.
        const SCRIPTS: &[(&str, fn(&Executor))] = &[$((stringify!($name), $name::begin)),*];
    };
}

scripts! { door several lever both owners title stunned dialogue phases stuck }

/// The lengths of frames: the name of each, and its nanoseconds.
const LENGTHS: [(&str, u64); 3] = [
    ("quarter", 250_000_000),
    ("tenth", 100_000_000),
    ("sixtieth", 16_666_667),
];

/// Enough to see what repeats: frames of a run.
const FRAMES: u64 = 150;

fn runs() -> impl Iterator<Item = (String, Run)> {
    SCRIPTS.iter().flat_map(|(name, begin)| {
        LENGTHS.iter().map(move |(length, nanoseconds)| {
            let run = record(Duration::from_nanos(*nanoseconds), FRAMES, begin);
            (format!("{name}-{length}"), run)
        })
    })
}

fn main() -> ExitCode {
    let Some(folder) = env::args().nth(1) else {
        eprintln!("usage: framestep-frames FOLDER");
        return ExitCode::from(2);
    };
    let folder = Path::new(&folder);
    let written = fs::create_dir_all(folder).and_then(|()| {
        runs().try_for_each(|(name, run)| {
            let text = serde_json::to_string(&run).expect("a run has no keys but texts");
            fs::write(folder.join(name).with_extension("json"), text)
        })
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot write into {}: {error}", folder.display());
            ExitCode::FAILURE
        }
    }
}
