//! Replacing the process with the one that has been built anew: the world and the scripts are
//! written to a file, and the new process reads it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use framestep_durable::{Divergence, Policy, Restored, Runtime, SaveState};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::worker::folder_of_process;

/// The file, for the new process.
const VARIABLE: &str = "FRAMESTEP_LIVE_CONTINUE";

/// What the earlier process has left. A form in which fields have names: a new `World` may have
/// others, with `#[serde(default)]`.
#[derive(Serialize, Deserialize)]
struct Left<W> {
    scripts: Vec<u8>,
    world: W,
}

/// The file that an earlier process has left for this one.
pub(crate) fn left() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).map(PathBuf::from)
}

/// Writes the game to a file.
pub(crate) fn write<W: Serialize>(
    runtime: &Runtime,
    world: &W,
    exe: &Path,
) -> Result<PathBuf, String> {
    let scripts = runtime.save_state().map_err(|error| error.to_string())?;
    let left = Left {
        scripts: scripts.to_bytes(),
        world,
    };
    let bytes = rmp_serde::to_vec_named(&left);
    let bytes = bytes.map_err(|error| format!("the world does not serialise: {error}"))?;
    write_file(exe, &bytes)
}

fn write_file(exe: &Path, bytes: &[u8]) -> Result<PathBuf, String> {
    let folder = folder_of_process(exe);
    let file = folder.join("continue.save");
    let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&file, bytes));
    let failed = |error| format!("{} cannot be written: {error}", file.display());
    written.map_err(failed)?;
    Ok(file)
}

/// Continues the game of a file.
pub(crate) fn read<W: DeserializeOwned>(
    file: &Path,
    runtime: &mut Runtime,
    world: &mut W,
) -> Result<Restored, String> {
    let bytes = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let left: Left<W> = rmp_serde::from_slice(&bytes).map_err(|error| {
        format!(
            "the world that was saved is not a `{}` any more: {error}. Give a new field \
             `#[serde(default)]`, and save the file",
            std::any::type_name::<W>()
        )
    })?;
    let restored = restore(&left.scripts, runtime)?;
    *world = left.world;
    Ok(restored)
}

fn restore(scripts: &[u8], runtime: &mut Runtime) -> Result<Restored, String> {
    let save = SaveState::from_bytes(scripts).map_err(|error| error.to_string())?;
    let restored = runtime.restore_with(&save, restart_or_drop);
    restored.map_err(|error| error.to_string())
}

/// Whatever does not fit restarts, or is dropped if it cannot.
fn restart_or_drop(divergence: &Divergence) -> Policy {
    match divergence.entry {
        Some(_) => Policy::Restart,
        None => Policy::Drop,
    }
}

/// Becomes the program that was built, with the same arguments. Returns only if that fails.
pub(crate) fn become_new(exe: &Path, file: &Path) -> String {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let mut command = Command::new(exe);
    command.args(args).env(VARIABLE, file);
    let error = start(&mut command);
    format!(
        "the new program {} cannot be started: {error}",
        exe.display()
    )
}

#[cfg(unix)]
fn start(command: &mut Command) -> std::io::Error {
    std::os::unix::process::CommandExt::exec(command)
}

#[cfg(not(unix))]
fn start(command: &mut Command) -> std::io::Error {
    match command.spawn() {
        Ok(_) => std::process::exit(0),
        Err(error) => error,
    }
}
