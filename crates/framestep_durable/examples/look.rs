//! Prints what is in a file of a save state, or what differs between two of them.
//!
//! ```text
//! cargo run -p framestep_durable --example look -- FILE [FILE]
//! ```
//!
//! A world beside the save state is skipped.

use std::env;
use std::fs;
use std::process::ExitCode;

use framestep_durable::SaveState;

fn read(path: &str) -> Result<SaveState, String> {
    let bytes = fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    SaveState::from_bytes_without_world(&bytes).map_err(|error| format!("{path}: {error}"))
}

fn look(paths: &[String]) -> Result<(), String> {
    match paths {
        [path] => print!("{}", read(path)?),
        [here, there] => {
            let differences = read(here)?.diff(&read(there)?);
            for difference in &differences {
                println!("{difference}");
            }
            if differences.is_empty() {
                println!("no difference");
            }
        }
        _ => return Err("usage: look FILE [FILE]".to_owned()),
    }
    Ok(())
}

fn main() -> ExitCode {
    let paths: Vec<String> = env::args().skip(1).collect();
    match look(&paths) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
