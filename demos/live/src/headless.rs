//! Plays without a window and prints each world, for `scripts/proofs/exchange`.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use framestep_durable::prelude::*;

use crate::game::{Game, pilot, step};

/// Frames from one exchange to the next.
const EVERY: u64 = 7;

/// Plays so many frames. With libraries, exchanges their code in turn.
pub(crate) fn play(frames: u64, libraries: &[&str]) {
    let mut game = Game::new();
    let mut exchanges = 0;
    for frame in 0..frames {
        if !libraries.is_empty() && frame % EVERY == 0 {
            let which = usize::try_from(exchanges).unwrap_or(0) % libraries.len();
            let registry = load(libraries[which], exchanges);
            let reloaded = game.runtime.reload(registry, Policy::Fail);
            let reloaded = reloaded.expect("both are builds of the same scripts");
            assert_eq!(reloaded.continued.len(), game.runtime.scripts().len());
            exchanges += 1;
            if exchanges % 50 == 0 {
                eprintln!("{exchanges} exchanges: {} MB in memory", memory());
            }
        }
        let push = pilot(frame, &game.world);
        step(&mut game.runtime, &mut game.world, &push);
        let mut hasher = DefaultHasher::new();
        format!("{:?}", game.world).hash(&mut hasher);
        let scripts = game.runtime.scripts().len();
        println!("{frame}: {:016x}, {scripts} scripts", hasher.finish());
    }
}

/// Loads a copy of a library: a file is loaded once.
#[expect(
    unsafe_code,
    reason = "the libraries are those that the proof has built"
)]
fn load(library: &str, number: u64) -> Registry {
    let copy = Path::new(library).with_extension(format!("{number}.so"));
    fs::copy(library, &copy).expect("the library is there");
    // SAFETY: the proof has built it with cargo from the scripts of this game.
    let loaded = unsafe { framestep_live::load(&copy) };
    // It is loaded; only a debugger would look for the file.
    let _ = fs::remove_file(copy);
    loaded.expect("it is a library of these scripts")
}

/// The memory of this process in MB, where `/proc` says so.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = resident.and_then(|it| it.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}
