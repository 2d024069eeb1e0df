//! A new program is tried before the running one ends: as a child process, which goes on from the same moment at its
//! first update, says how that went, and ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::left::{Left, with_same_arguments};
use crate::process::Build;

/// The folder of the process whose game is tried.
const TRIES: &str = "FRAMESTEP_LIVE_TRY";

/// How long a new program may take to its first update.
pub(crate) const AT_MOST: Duration = Duration::from_secs(20);

/// How the trial went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Verdict {
    /// The new program would go on.
    Fits,
    Refused {
        why: String,
        can_be_accepted: bool,
    },
}

fn verdict_file(folder: &Path) -> PathBuf {
    folder.join("verdict.json")
}

/// The folder of the game that this process is to try. `None` if it is no trial.
pub(crate) fn folder() -> Option<PathBuf> {
    std::env::var_os(TRIES).map(PathBuf::from)
}

/// Says how it went, and ends the process.
pub(crate) fn end(folder: &Path, verdict: &Verdict) -> ! {
    let json = serde_json::to_vec(verdict).unwrap_or_default();
    let new = verdict_file(folder).with_extension("new");
    let told = fs::write(&new, json).and_then(|()| fs::rename(&new, verdict_file(folder)));
    std::process::exit(i32::from(told.is_err()))
}

/// Starts the program that was built, in which [`Left::in_trial`] is what it goes on from, and waits for its
/// verdict, at most so long.
pub(crate) fn of(exe: &Path, folder: &Path, at_most: Duration) -> Verdict {
    let _ = fs::remove_file(verdict_file(folder));
    let (tell, told) = channel();
    let mut command = with_same_arguments(exe);
    command.env(TRIES, folder);
    // What it says last is told: a panic, not the calls that led to it.
    command.env("RUST_BACKTRACE", "0");
    let ended = move |ended| {
        let _ = tell.send(ended);
    };
    let refused = |why| Verdict::Refused {
        why,
        can_be_accepted: true,
    };
    let mut running = match Build::begin(&command, ended) {
        Ok(running) => running,
        Err(why) => return refused(why),
    };
    let Ok(ended) = told.recv_timeout(at_most) else {
        running.cancel();
        return refused(format!(
            "the new program has not come to its first `update_game` in {} s. If it only needs longer, accept it \
             (`Live::accept`)",
            at_most.as_secs()
        ));
    };
    let verdict = fs::read(verdict_file(folder)).ok();
    let verdict = verdict.and_then(|json| serde_json::from_slice(&json).ok());
    verdict.unwrap_or_else(|| {
        let words: Vec<_> = ended.words.lines().rev().take(6).collect();
        let words: Vec<_> = words.into_iter().rev().collect();
        refused(format!(
            "the new program has ended before its first `update_game`: {}",
            words.join("\n")
        ))
    })
}

impl Left {
    /// What a new program is to try.
    pub(crate) fn in_trial(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(folder.join("try.json")).ok()?).ok()
    }

    pub(crate) fn write_for_trial(&self, folder: &Path) -> Result<(), String> {
        self.write_as(folder, "try.json")
    }
}
