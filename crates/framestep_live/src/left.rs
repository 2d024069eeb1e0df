//! What a process leaves for the next one: the game as it was at one moment, in files.
//!
//! A process writes one before each exchange, and when it is replaced. The next one goes on from it after a
//! replacement; if new code has not come to its end; or if the process was ended in between, when the game is
//! started the next time. All files are in the [folder of the process](folder_of_process), under names without
//! folders, and each is there as a whole or not at all.
//!
//! - `left.json`: the next process goes on from what is said here.
//! - `before.json`: the same, of an exchange after which the game has gone on.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use framestep_durable::{Registry, Restored, Runtime, SaveState};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cargo::Library;
use crate::linked::Linked;
use crate::loader;
use crate::lost::{self, Lost};

/// The number of the process that this one replaces. On Unix, it is the same one.
const CONTINUES: &str = "FRAMESTEP_LIVE_CONTINUE";

const LEFT: &str = "left.json";
const BEFORE: &str = "before.json";

/// What a process has left.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Left {
    /// The file with the world and the scripts.
    pub(crate) save: String,
    pub(crate) frame: u64,
    /// The library whose code the scripts had. `None` if it was that of the program.
    pub(crate) library: Option<String>,
    /// When the program was built that this library belongs to.
    pub(crate) program_built: SystemTime,
    /// When the latest library was built that was tried.
    pub(crate) tried: SystemTime,
    pub(crate) why: Why,
    /// When the build of the next program began. What was written since may not be in it.
    pub(crate) build_began: Option<SystemTime>,
    /// Whether scripts may be lost.
    pub(crate) is_accepted: bool,
    /// How many scripts had ended by a panic since the exchange before.
    pub(crate) panicked: usize,
    /// How many frames the history had, and whether they were played in a loop.
    pub(crate) history: Option<(usize, bool)>,
}

/// Why a process has left something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Why {
    /// It was about to exchange code.
    Exchange,
    /// The new code does not end, and where.
    Hang(String),
    /// It is replaced by the program that was built.
    Replacement,
}

/// The game at one moment. In a form in which fields have names: a new `World` may have others, with
/// `#[serde(default)]`.
#[derive(Serialize, Deserialize)]
struct Moment<W> {
    scripts: Vec<u8>,
    world: W,
}

/// Writes a file as a whole.
fn write_file(file: &Path, bytes: &[u8]) -> Result<(), String> {
    let new = file.with_extension("new");
    let folder = file.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(folder)
        .and_then(|()| fs::write(&new, bytes))
        .and_then(|()| fs::rename(&new, file));
    written.map_err(|error| format!("{} cannot be written: {error}", file.display()))
}

/// Writes the game to a file in this folder. Returns the scripts, described as far as that is possible, and why it
/// is not.
pub(crate) fn write_save<W: Serialize>(
    runtime: &Runtime,
    world: &W,
    file: &Path,
) -> Result<(SaveState, Option<String>), String> {
    let save = runtime.save_state().map_err(|error| error.to_string())?;
    let (save, why_compact) = match save.described(&runtime.registry()) {
        Ok(described) => (described, None),
        Err(error) => (save, Some(error.to_string())),
    };
    let moment = Moment {
        scripts: save.to_bytes(),
        world,
    };
    let bytes = rmp_serde::to_vec_named(&moment);
    let bytes = bytes.map_err(|error| format!("the world does not serialise: {error}"))?;
    write_file(file, &bytes)?;
    Ok((save, why_compact))
}

impl Left {
    /// Writes what the next process goes on from.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), String> {
        self.write_as(folder, LEFT)
    }

    pub(crate) fn write_as(&self, folder: &Path, name: &str) -> Result<(), String> {
        let json = serde_json::to_vec_pretty(self);
        let json = json.map_err(|error| format!("{name} cannot be written: {error}"))?;
        write_file(&folder.join(name), &json)
    }

    fn read(file: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(file).ok()?).ok()
    }

    /// That of the latest exchange.
    pub(crate) fn of_exchange(folder: &Path) -> Option<Self> {
        Left::read(&folder.join(LEFT)).or_else(|| Left::read(&folder.join(BEFORE)))
    }

    /// Whether a program that was built then is the one that the library belongs to.
    fn has_program(&self, built: Option<SystemTime>) -> bool {
        built == Some(self.program_built)
    }

    /// When the latest library was built that is not to be loaded again.
    pub(crate) fn tried_by(&self, built: SystemTime) -> Option<SystemTime> {
        self.has_program(Some(built)).then_some(self.tried)
    }
}

const LINKED: &str = "linked.json";

/// Notes what the program uses of the scripts that was built then: a later process of it cannot read that, if the
/// sources have changed.
pub(crate) fn write_linked(exe: &Path, built: SystemTime, linked: &Linked) {
    if let Ok(json) = serde_json::to_vec(&(built, linked)) {
        // Without it, a change of the scripts builds the game.
        let _ = write_file(&folder_of_processes(exe).join(LINKED), &json);
    }
}

pub(crate) fn read_linked(exe: &Path, built: SystemTime) -> Option<Linked> {
    let json = fs::read(folder_of_processes(exe).join(LINKED)).ok()?;
    let (of, linked): (SystemTime, Linked) = serde_json::from_slice(&json).ok()?;
    (of == built).then_some(linked)
}

pub(crate) fn forget_linked(exe: &Path) {
    let _ = fs::remove_file(folder_of_processes(exe).join(LINKED));
}

/// The game has gone on after an exchange: the next process begins from the start.
pub(crate) fn goes_on(folder: &Path) {
    // It is there only after an exchange.
    let _ = fs::rename(folder.join(LEFT), folder.join(BEFORE));
}

/// Where the libraries of this process are, and what it leaves.
pub(crate) fn folder_of_process(exe: &Path) -> PathBuf {
    folder_of_processes(exe).join(std::process::id().to_string())
}

fn folder_of_processes(exe: &Path) -> PathBuf {
    let folder = exe.parent().unwrap_or(Path::new("."));
    folder.join("framestep_live")
}

/// What a process before this one has left: the one that this one replaces, or the last one that was ended before
/// it went on. Deletes what others have left.
pub(crate) fn adopt(exe: &Path) -> Option<Left> {
    static IS_DONE: AtomicBool = AtomicBool::new(false);
    if IS_DONE.swap(true, Ordering::Relaxed) {
        return None;
    }
    let folder = folder_of_process(exe);
    let replaced = std::env::var(CONTINUES).ok();
    let replaced = replaced.map(|it| folder_of_processes(exe).join(it));
    // Where the variable was inherited from the game, it is of another process.
    let replaced = replaced.filter(|it| *it == folder || !cfg!(unix));
    let ended = ended_processes(exe);
    let from = replaced.or_else(|| {
        let written = |of: &&PathBuf| {
            fs::metadata(of.join(LEFT))
                .and_then(|it| it.modified())
                .ok()
        };
        let left = ended.iter().filter(|it| written(it).is_some());
        left.max_by_key(written).cloned()
    });
    if from.as_ref() != Some(&folder) {
        // Of another process that had the same number.
        let _ = fs::remove_dir_all(&folder);
        if let Some(from) = from {
            let _ = fs::rename(from, &folder);
        }
    }
    for other in ended {
        let _ = fs::remove_dir_all(other);
    }
    let left = Left::read(&folder.join(LEFT))?;
    let is_needed = |name: &str| name == left.save || Some(name) == left.library.as_deref();
    for file in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let name = file.file_name();
        if !name.to_str().is_some_and(|it| it == LEFT || is_needed(it)) {
            let _ = fs::remove_file(file.path());
        }
    }
    Some(left)
}

/// The folders of processes that are gone. Only Linux says so without more dependencies.
fn ended_processes(exe: &Path) -> Vec<PathBuf> {
    let processes = Path::new("/proc");
    if !processes.join("self").exists() {
        return Vec::new();
    }
    let folders = fs::read_dir(folder_of_processes(exe));
    let folders = folders.into_iter().flatten().flatten();
    let ended = folders.filter(|folder| {
        let name = folder.file_name();
        let is_pid = name.to_str().is_some_and(|it| it.parse::<u32>().is_ok());
        is_pid && !processes.join(&name).exists()
    });
    ended.map(|folder| folder.path()).collect()
}

/// Keeps what could not be read, for the next program: the change may be the remedy.
pub(crate) fn keep(folder: &Path, left: &mut Left) {
    let kept = "kept.save";
    if left.save != kept && fs::rename(folder.join(&left.save), folder.join(kept)).is_ok() {
        kept.clone_into(&mut left.save);
    }
    goes_on(folder);
}

/// Goes on from what was left in this folder. The code is that which the scripts had, if this is still its program; or else that
/// of the program. Returns the file of the library in use, too.
pub(crate) fn read<W: DeserializeOwned>(
    left: &Left,
    [folder, exe]: [&Path; 2],
    runtime: &mut Runtime,
    world: &mut W,
    lost: &mut Lost,
) -> Result<(Restored, Option<String>), String> {
    let file = folder.join(&left.save);
    let bytes = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let moment: Moment<W> = rmp_serde::from_slice(&bytes).map_err(|error| {
        format!(
            "the world that was saved is not a `{}` any more: {error}. Give a new field \
             `#[serde(default)]`, and save the file",
            std::any::type_name::<W>()
        )
    })?;
    let save = SaveState::from_bytes(&moment.scripts).map_err(|error| error.to_string())?;
    let mut used = None;
    if let (Some(library), Some(registry)) = (&left.library, earlier_code(left, exe, folder)) {
        // The scripts that the game has just started end with the restore.
        let reloaded = runtime.reload_with(registry, None, |_| framestep_durable::Policy::Drop);
        reloaded.map_err(|error| error.to_string())?;
        used = Some(library.clone());
    }
    lost::check_parameters(&runtime.registry(), &save, lost)?;
    let restored = runtime.restore_with(&save, |divergence| lost.policy(divergence));
    match restored {
        Ok(restored) => {
            *world = moment.world;
            Ok((restored, used))
        }
        Err(error) => Err(lost.why().unwrap_or_else(|| error.to_string())),
    }
}

/// The code that the scripts had, if its library is there and belongs to this program.
fn earlier_code(left: &Left, exe: &Path, folder: &Path) -> Option<Registry> {
    let built = fs::metadata(exe).and_then(|it| it.modified()).ok();
    let library = left
        .library
        .as_deref()
        .filter(|_| left.has_program(built))?;
    let library = Library::of_earlier_process(folder.join(library));
    loader::load_built(&library).ok()
}

/// Becomes the program that is there, with the same arguments, which goes on from what was left. Returns only if
/// that fails.
pub(crate) fn become_next(exe: &Path) -> String {
    let mut command = with_same_arguments(exe);
    command.env(CONTINUES, std::process::id().to_string());
    let error = start(&mut command);
    format!("the program {} cannot be started: {error}", exe.display())
}

pub(crate) fn with_same_arguments(exe: &Path) -> Command {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let mut command = Command::new(exe);
    command.args(args).env_remove(CONTINUES);
    command
}

#[cfg(unix)]
fn start(command: &mut Command) -> io::Error {
    std::os::unix::process::CommandExt::exec(command)
}

#[cfg(not(unix))]
fn start(command: &mut Command) -> io::Error {
    match command.spawn() {
        Ok(_) => std::process::exit(0),
        Err(error) => error,
    }
}
