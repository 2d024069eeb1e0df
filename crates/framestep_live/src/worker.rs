//! The thread that watches the sources and builds.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use notify::{EventKind, RecursiveMode, Watcher};

use crate::builder::{Act, Builder, Kind};
use crate::cargo::{Library, Running, Verdict};
use crate::game::Game;
use crate::metadata::{self, Layout};
use crate::process::{self, Build, Ended};

/// What the worker tells the game.
#[derive(Debug)]
pub(crate) enum Event {
    /// It watches, and knows the names of the crates with the scripts.
    Watches {
        folders: usize,
        scripts_crates: Vec<String>,
    },
    Begins(Kind),
    /// Files have been written, but nothing that is built has changed.
    Unchanged,
    /// The code does not compile.
    Failed(Vec<String>),
    /// A library with new scripts.
    Library {
        built_as: Library,
        /// When the first of the changes was seen.
        seen: Instant,
        built: Instant,
    },
    /// The game is built anew, because this has changed.
    Replaces(String),
    /// The game has been built.
    Game,
    /// Nothing can be done until the user does something else.
    Trouble(String),
}

/// What the worker is told.
enum Input {
    Changed(Vec<PathBuf>),
    Ended(u64, Ended),
    Stop,
}

/// The worker, as the game sees it.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) events: Receiver<Event>,
    stop: Sender<Input>,
}

impl Worker {
    /// Starts it for the program `exe`.
    pub(crate) fn start(game: Game, exe: PathBuf) -> Self {
        let (tell, events) = channel();
        let (stop, inputs) = channel();
        let to_self = stop.clone();
        let thread = thread::Builder::new().name("framestep live".to_owned());
        let failed = tell.clone();
        let started = thread.spawn(move || {
            let refuse = tell.clone();
            if let Err(why) = work(&game, &exe, &inputs, to_self, tell) {
                // Nobody listens any more if the game ends.
                let _ = refuse.send(Event::Trouble(why));
            }
        });
        if let Err(error) = started {
            let _ = failed.send(Event::Trouble(format!("no thread can be started: {error}")));
        }
        Worker { events, stop }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.stop.send(Input::Stop);
    }
}

/// How this program was built.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Program {
    /// `--bin game`, or `--example game`.
    target: [String; 2],
    /// `--profile`, `--target`, `--target-dir`, where they are not the usual ones.
    args: Vec<OsString>,
}

impl Program {
    /// Reads it from the place of the program in a target folder.
    fn of(exe: &Path, usual_target: &Path) -> Option<Self> {
        let name = exe.file_stem()?.to_str()?.to_owned();
        let mut folder = exe.parent()?;
        let is_example = folder.ends_with("examples");
        if is_example {
            folder = folder.parent()?;
        }
        let (profile, mut root) = (folder.file_name()?.to_str()?, folder.parent()?);
        let mut args = Vec::new();
        if profile != "debug" {
            args.extend(["--profile".into(), profile.into()]);
        }
        // target/x86_64-unknown-linux-gnu/debug
        let last = root.file_name().and_then(|it| it.to_str());
        let triple = last.filter(|it| it.starts_with(std::env::consts::ARCH) && it.contains('-'));
        if let Some(triple) = triple {
            args.extend(["--target".into(), triple.into()]);
            root = root.parent()?;
        }
        if root != usual_target {
            args.extend(["--target-dir".into(), root.into()]);
        }
        let kind = if is_example { "--example" } else { "--bin" };
        Some(Program {
            target: [kind.to_owned(), name],
            args,
        })
    }
}

struct Work<'a> {
    game: &'a Game,
    exe: &'a Path,
    /// The folder of the game.
    folder: PathBuf,
    layout: Layout,
    program: Program,
    running: Running,
    builder: Builder,
    build: Option<(u64, Build)>,
    /// All times of the builder are counted from here.
    began: Instant,
    /// When the first change was seen that is not built yet.
    seen: Option<Instant>,
    libraries: u32,
    /// Whether a build has come to its end.
    has_built: bool,
    to_self: Sender<Input>,
    tell: Sender<Event>,
}

/// When a file was written.
fn modified(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).and_then(|it| it.modified()).ok()
}

fn work(
    game: &Game,
    exe: &Path,
    inputs: &Receiver<Input>,
    to_self: Sender<Input>,
    tell: Sender<Event>,
) -> Result<(), String> {
    let built = modified(exe).ok_or_else(|| {
        format!(
            "the program {} is gone: build and start the game again",
            exe.display()
        )
    })?;
    let folder = game.folder.canonicalize().map_err(|error| {
        format!(
            "the sources of the game are not in {}, where it was built: {error}",
            game.folder.display()
        )
    })?;
    let mut command = process::cargo();
    command
        .current_dir(&folder)
        .args(["metadata", "--format-version", "1"]);
    command.arg("--features").arg(game.features.join(","));
    let json =
        process::output(command).map_err(|error| format!("`cargo metadata` fails: {error}"))?;
    let layout = metadata::read(&json, &folder, &game.scripts, &game.parts)?;
    let program = Program::of(exe, &layout.target_directory);
    let program = program.ok_or_else(|| {
        format!(
            "the program {} is in no target folder of cargo",
            exe.display()
        )
    })?;

    let changes = to_self.clone();
    let heard = move |event: notify::Result<notify::Event>| {
        if let Ok(event) = event {
            if !matches!(event.kind, EventKind::Access(_)) {
                let _ = changes.send(Input::Changed(event.paths));
            }
        }
    };
    let mut watcher = notify::recommended_watcher(heard)
        .map_err(|error| format!("the system does not watch files: {error}"))?;
    let mut watch = |folder: &Path, mode| {
        let begun = watcher.watch(folder, mode);
        begun.map_err(|error| format!("{} cannot be watched: {error}", folder.display()))
    };
    for folder in &layout.folders {
        let mode = if folder.with_those_below {
            RecursiveMode::Recursive
        } else {
            RecursiveMode::NonRecursive
        };
        watch(&folder.path, mode)?;
    }
    for folder in &game.more_folders {
        watch(folder, RecursiveMode::Recursive)?;
    }
    let _ = tell.send(Event::Watches {
        folders: layout.folders.len() + game.more_folders.len(),
        scripts_crates: layout.scripts_crates.clone(),
    });
    let mut work = Work {
        running: Running {
            scripts: layout.scripts.clone(),
            parts: layout.parts.clone(),
            game: layout.game.clone(),
            built,
            loaded: built,
        },
        game,
        exe,
        folder,
        layout,
        program,
        builder: Builder::default(),
        build: None,
        began: Instant::now(),
        seen: None,
        libraries: 0,
        has_built: false,
        to_self,
        tell,
    };
    // What has been written between the build and now. Without that, a look at how cargo builds.
    let kind = work.newer_sources().unwrap_or(Kind::Scripts);
    work.note(kind);
    work.run(inputs);
    Ok(())
}

impl Work<'_> {
    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn note(&mut self, kind: Kind) {
        self.seen.get_or_insert_with(Instant::now);
        self.builder.changed(kind, self.now());
    }

    fn run(&mut self, inputs: &Receiver<Input>) {
        loop {
            let input = match self.builder.wakes_at() {
                None => inputs.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(at) => inputs.recv_timeout(at.saturating_sub(self.now())),
            };
            match input {
                Ok(Input::Changed(paths)) => {
                    let kind_of = |path: &PathBuf| {
                        let is_also = self.game.more_folders.iter().any(|it| path.starts_with(it));
                        self.layout
                            .kind_of(path)
                            .or(is_also.then_some(Kind::Scripts))
                    };
                    if let Some(kind) = paths.iter().filter_map(kind_of).max() {
                        self.note(kind);
                    }
                }
                Ok(Input::Ended(number, ended)) => {
                    self.build.take_if(|(running, _)| *running == number);
                    if let Some(kind) = self.builder.ended(number) {
                        self.ended(kind, ended);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Input::Stop) | Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Some(act) = self.builder.next(self.now()) {
                match act {
                    Act::Begin(number, kind) => self.begin(number, kind),
                    Act::Cancel(number) => {
                        let build = self
                            .build
                            .as_ref()
                            .filter(|(running, _)| *running == number);
                        if let Some((_, build)) = build {
                            build.cancel();
                        }
                    }
                }
            }
        }
        if let Some((_, build)) = self.build.take() {
            build.cancel();
        }
    }

    fn command(&self, kind: Kind) -> Command {
        let mut command = process::cargo();
        command.current_dir(&self.game.folder).arg("build");
        command.args(["--message-format", "json", "-p", &self.game.package]);
        // With the game selected, too, its dependencies have the same features as in the game.
        match kind {
            Kind::Scripts => command.args(["-p", &self.game.scripts, "--lib"]),
            Kind::Game => command.args(&self.program.target),
        };
        if !self.game.features.is_empty() {
            command.arg("--features").arg(self.game.features.join(","));
        }
        command.args(&self.game.cargo).args(&self.program.args);
        command
    }

    fn begin(&mut self, number: u64, kind: Kind) {
        let to_self = self.to_self.clone();
        let ended = move |ended| {
            let _ = to_self.send(Input::Ended(number, ended));
        };
        match Build::begin(self.command(kind), ended) {
            Ok(build) => {
                self.build = Some((number, build));
                self.tell(Event::Begins(kind));
            }
            Err(why) => {
                self.builder.ended(number);
                self.tell(Event::Trouble(why));
            }
        }
    }

    fn tell(&self, event: Event) {
        // Nobody listens any more if the game ends.
        let _ = self.tell.send(event);
    }

    fn ended(&mut self, kind: Kind, ended: Ended) {
        let seen = self.seen.take().unwrap_or_else(Instant::now);
        let built = Instant::now();
        let is_first = !std::mem::replace(&mut self.has_built, true);
        if !ended.is_success {
            return self.tell(Event::Failed(self.shortened(&ended.errors())));
        }
        if kind == Kind::Game {
            let is_new = modified(self.exe) > Some(self.running.built);
            return self.tell(if is_new {
                Event::Game
            } else {
                Event::Unchanged
            });
        }
        match self.running.judge(&ended.output, modified) {
            Verdict::Unchanged => self.tell(Event::Unchanged),
            Verdict::NoLibrary => {
                let command = process::shown(&self.command(kind));
                self.tell(Event::Trouble(format!(
                    "`{command}` has built no library of the package `{}`",
                    self.game.scripts
                )));
            }
            Verdict::Load(library) => match self.keep(&library) {
                Ok((built_as, at)) => {
                    self.running.loaded = at;
                    self.tell(Event::Library {
                        built_as,
                        seen,
                        built,
                    });
                }
                Err(why) => self.tell(Event::Trouble(why)),
            },
            // Nothing has been written yet: the game was built in another way.
            Verdict::Replace(changed)
                if is_first && changed.in_this_build && self.newer_sources().is_none() =>
            {
                let command = process::shown(&self.command(Kind::Game));
                self.tell(Event::Trouble(format!(
                    "`{command}` builds the crate `{}` in another way than the running game was \
                     built: name its features in `game!(..).features([..])`, and other arguments \
                     in `cargo_args`",
                    changed.name
                )));
            }
            Verdict::Replace(changed) => {
                let when = if changed.in_this_build {
                    "has changed"
                } else {
                    "has been built since the game was"
                };
                let why = format!("the crate `{}` {when}", changed.name);
                self.tell(Event::Replaces(why));
                // Without another change, at once.
                self.note(Kind::Game);
            }
        }
    }

    /// What is to be built because of sources that have been written since the program was built, even
    /// before they were watched.
    fn newer_sources(&self) -> Option<Kind> {
        let mut open: Vec<(PathBuf, bool)> = Vec::new();
        for folder in &self.layout.folders {
            open.push((folder.path.clone(), folder.with_those_below));
        }
        let mut newer = None;
        while let Some((folder, with_those_below)) = open.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    if with_those_below {
                        open.push((path, true));
                    }
                } else if modified(&path) > Some(self.running.built) {
                    newer = newer.max(self.layout.kind_of(&path));
                }
            }
        }
        newer
    }

    /// The compiler's words with shorter paths: from the folder of the game.
    fn shortened(&self, errors: &[String]) -> Vec<String> {
        let folder = format!("{}{}", self.folder.display(), std::path::MAIN_SEPARATOR);
        let shortened = errors.iter().map(|error| error.replace(&folder, ""));
        shortened.collect()
    }

    /// Copies a library to a place where it stays: the system does not load a file of the same
    /// name twice, and cargo writes the next one to the same place.
    fn keep(&mut self, library: &Library) -> Result<(Library, SystemTime), String> {
        let folder = folder_of_process(self.exe);
        self.libraries += 1;
        let path = library.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let copy = folder.join(format!(
            "{name}-{}.{}",
            self.libraries,
            std::env::consts::DLL_EXTENSION
        ));
        let copied = fs::create_dir_all(&folder).and_then(|()| {
            let copied = library.copy(copy.clone())?;
            Ok((copied, fs::metadata(path)?.modified()?))
        });
        copied.map_err(|error| {
            format!(
                "the library {} cannot be copied to {}: {error}. Save a file of the scripts again",
                path.display(),
                copy.display()
            )
        })
    }
}

/// Where the libraries of this process are, and what it hands over to its successor.
pub(crate) fn folder_of_process(exe: &Path) -> PathBuf {
    folder_of_libraries(exe).join(std::process::id().to_string())
}

fn folder_of_libraries(exe: &Path) -> PathBuf {
    exe.parent()
        .unwrap_or(Path::new("."))
        .join("framestep_live")
}

/// Deletes what processes have left that are gone.
pub(crate) fn clean(exe: &Path) {
    let processes = Path::new("/proc");
    // Elsewhere, nothing says which processes there are without more dependencies.
    if !processes.join("self").exists() {
        return;
    }
    for folder in fs::read_dir(folder_of_libraries(exe))
        .into_iter()
        .flatten()
        .flatten()
    {
        let name = folder.file_name();
        let is_pid = name.to_str().is_some_and(|it| it.parse::<u32>().is_ok());
        let is_this = name.to_str() == Some(&*std::process::id().to_string());
        if is_pid && !is_this && !processes.join(&name).exists() {
            let _ = fs::remove_dir_all(folder.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Program;

    #[test]
    fn the_place_of_a_program_says_how_it_was_built() {
        let arch = std::env::consts::ARCH;
        let cross = format!("/g/target/{arch}-x-y/debug/game");
        let program = |exe: &str| {
            let program = Program::of(Path::new(exe), Path::new("/g/target")).unwrap();
            let args: Vec<_> = program.args.iter().map(|it| it.to_str().unwrap()).collect();
            format!("{} {}", program.target.join(" "), args.join(" "))
        };
        assert_eq!(program("/g/target/debug/game"), "--bin game ");
        assert_eq!(program("/g/target/debug/examples/film"), "--example film ");
        assert_eq!(program("/g/target/fast/game"), "--bin game --profile fast");
        assert_eq!(program("/t/debug/game"), "--bin game --target-dir /t");
        assert_eq!(program(&cross), format!("--bin game --target {arch}-x-y"));
        assert_eq!(Program::of(Path::new("/"), Path::new("/")), None);
    }
}
