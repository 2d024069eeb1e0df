//! The thread that watches the sources and builds.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use framestep_durable::__private::Running;
use notify::{EventKind, RecursiveMode, Watcher};

use crate::builder::{Act, Builder, Kind};
use crate::cargo::{self, Library, Verdict};
use crate::game::Game;
use crate::left::{self, Left, Why, folder_of_process};
use crate::linked::Linked;
use crate::metadata::{self, Layout};
use crate::process::{self, Build, Ended};
use crate::sources::{Sources, files};
use crate::watchdog::{Hang, News, Pulse, Watchdog};

/// What the worker tells the game.
#[derive(Debug)]
pub(crate) enum Event {
    /// It watches, and knows the names of the crates with the scripts.
    Watches {
        folders: usize,
        scripts_crates: Vec<String>,
    },
    Begins {
        kind: Kind,
        /// Which change the game is built for.
        why: String,
    },
    /// Files have been written, but nothing that is built has changed.
    Unchanged,
    /// The code does not compile.
    Failed(Vec<String>),
    /// A library with new scripts.
    Library {
        library: Library,
        /// When the first of the changes was seen.
        seen: Instant,
        built: Instant,
        /// When cargo has written it.
        modified: SystemTime,
    },
    /// The game has been built.
    Game {
        /// When that began.
        began: SystemTime,
    },
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
    /// When the program was built.
    pub(crate) built: SystemTime,
}

impl Worker {
    /// One that does nothing.
    pub(crate) fn none() -> Self {
        Worker {
            events: channel().1,
            stop: channel().0,
            built: SystemTime::UNIX_EPOCH,
        }
    }

    /// Starts it for the program `exe`, which goes on from what was left.
    pub(crate) fn start(game: Game, exe: PathBuf, pulse: Arc<Pulse>, left: Option<Left>) -> Self {
        let built = modified(&exe).unwrap_or(SystemTime::UNIX_EPOCH);
        let (tell, events) = channel();
        let (stop, inputs) = channel();
        let to_self = stop.clone();
        let thread = thread::Builder::new().name("framestep live".to_owned());
        let failed = tell.clone();
        let started = thread.spawn(move || {
            let refuse = tell.clone();
            let of = (&game, &*exe, &*pulse, left.as_ref());
            if let Err(why) = work(of, &inputs, to_self, tell) {
                // Nobody listens any more if the game ends.
                let _ = refuse.send(Event::Trouble(why));
            }
        });
        if let Err(error) = started {
            let _ = failed.send(Event::Trouble(format!("no thread can be started: {error}")));
        }
        Worker {
            events,
            stop,
            built,
        }
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
    running: cargo::Running,
    builder: Builder,
    build: Option<(u64, Build)>,
    /// All times of the builder are counted from here.
    began: Instant,
    /// When the first change was seen that is not built yet.
    seen: Option<Instant>,
    /// What has changed, of which the game is built.
    why: String,
    sources: Sources,
    /// What the game itself uses of the scripts, as it was linked. `None` if that is not known, because the sources
    /// were written during its build.
    linked: Option<Linked>,
    /// When the build under way, or the last one, began.
    build_began: SystemTime,
    /// Sources that were written later may not be in the program.
    newest_source: SystemTime,
    pulse: &'a Pulse,
    watchdog: Watchdog,
    /// Whether the code that has come to no end is that of the program.
    program_hangs: bool,
    /// Whether new code may be in use: before that, the loop of the game is not looked at.
    looks: bool,
    libraries: u32,
    /// Whether no build has come to its end, and no source has changed since it watches.
    is_untouched: bool,
    to_self: Sender<Input>,
    tell: Sender<Event>,
}

/// When a file was written.
pub(crate) fn modified(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).and_then(|it| it.modified()).ok()
}

fn work(
    (game, exe, pulse, left): (&Game, &Path, &Pulse, Option<&Left>),
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
    let mut work = Work {
        running: cargo::Running {
            scripts: layout.scripts.clone(),
            parts: layout.parts.clone(),
            game: layout.game.clone(),
            built,
            // Code that has not come to its end is not taken again.
            loaded: left.and_then(|it| it.tried_by(built)).unwrap_or(built),
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
        why: String::new(),
        sources: Sources::default(),
        linked: None,
        build_began: built,
        newest_source: left
            .and_then(|it| it.build_began)
            .map_or(built, |began| began.min(built)),
        pulse,
        watchdog: Watchdog::new(game.hangs_after),
        program_hangs: false,
        looks: left.is_some(),
        libraries: 0,
        is_untouched: true,
        to_self,
        tell,
    };
    work.begins();
    work.run(inputs);
    Ok(())
}

impl Work<'_> {
    /// Reads the sources as they are, and notes what is to be built first.
    fn begins(&mut self) {
        let built = self.running.built;
        for file in self.files() {
            self.sources.has_changed(&file);
        }
        // What has been written between the build and now. Without that, a look at how cargo builds.
        let newer = self.newer_sources();
        self.linked = left::read_linked(self.exe, built);
        if self.linked.is_none() && newer.is_none() {
            let linked = self.read_linked();
            left::write_linked(self.exe, built, &linked);
            self.linked = Some(linked);
        }
        self.tell(Event::Watches {
            folders: self.layout.folders.len() + self.game.more_folders.len(),
            scripts_crates: self.layout.scripts_crates.clone(),
        });
        let (kind, why) = newer.unwrap_or((Kind::Scripts, String::new()));
        self.note(kind, why);
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn note(&mut self, kind: Kind, why: String) {
        self.seen.get_or_insert_with(Instant::now);
        if kind == Kind::Game {
            self.why = why;
        }
        self.builder.changed(kind, self.now());
    }

    /// All sources.
    fn files(&self) -> Vec<PathBuf> {
        let of_game = self.layout.folders.iter();
        let of_game = of_game.flat_map(|it| files(&it.path, it.with_those_below));
        let others = self.game.more_folders.iter().flat_map(|it| files(it, true));
        of_game.chain(others).collect()
    }

    /// What the game itself uses of the scripts, as the sources are now.
    fn read_linked(&self) -> Linked {
        let mut sources: [Vec<(String, String)>; 2] = Default::default();
        for file in self.files() {
            let Some(kind) = self.layout.kind_of(&file) else {
                continue;
            };
            let is_of_scripts = kind == Kind::Scripts;
            let is_rust = file.extension().is_some_and(|it| it == "rs");
            if is_rust && (is_of_scripts || self.layout.uses_scripts(&file)) {
                let text = fs::read_to_string(&file).unwrap_or_default();
                sources[usize::from(is_of_scripts)].push((self.shown(&file), text));
            }
        }
        let [game, scripts] = &sources;
        let game = game.iter().map(|(name, text)| (&**name, &**text));
        let scripts = scripts.iter().map(|(_, text)| &**text);
        Linked::read(&self.layout.scripts_crates, game, scripts)
    }

    /// Why the game does not fit new scripts: what it uses of them has changed, or is not known.
    fn change_of_linked(&mut self, is_first: bool) -> Option<String> {
        if is_first && self.newer_sources().is_none() {
            // Cargo has built something although nothing has been written since the program was: it was written
            // while that was built.
            left::forget_linked(self.exe);
            self.linked = None;
        }
        match &self.linked {
            Some(linked) => linked.change_to(&self.read_linked()),
            None => Some("sources of the scripts have changed while the game was built".to_owned()),
        }
    }

    /// A file, from the folder of the game.
    fn shown(&self, file: &Path) -> String {
        let file = file.strip_prefix(&self.folder).unwrap_or(file);
        file.display().to_string()
    }

    /// Looks whether the game stands still in new code.
    fn look(&mut self) {
        if !self.looks {
            return;
        }
        let news = self.watchdog.look(self.pulse.look(), self.now());
        let folder = folder_of_process(self.exe);
        match news {
            None => {}
            Some(News::GoesOn) => {
                left::goes_on(&folder);
                self.say("the game goes on after all");
            }
            Some(News::Hangs(hang)) => self.hangs(&hang, &folder),
        }
    }

    fn hangs(&mut self, hang: &Hang, folder: &Path) {
        self.program_hangs = hang.is_of_program;
        let seconds = hang.lasts.as_secs_f64();
        let place = match &hang.running {
            None => format!("outside of scripts: {seconds:.1} s"),
            Some(Running { script, place, .. }) => {
                let at = place
                    .as_deref()
                    .map_or(String::new(), |it| format!(" in or after {it}"));
                format!("{script}{at}: {seconds:.1} s without a wait")
            }
        };
        let left = Left::of_exchange(folder).map(|left| Left {
            why: Why::Hang(place.clone()),
            ..left
        });
        let kept = left.and_then(|left| left.write(folder).ok().map(|()| left));
        let Some(Left { frame, tried, .. }) = kept else {
            return self.say(&format!(
                "new code does not come to its end, {place}. There is no save from before it: `update_game` writes one"
            ));
        };
        // The mended code may have been built before anybody noticed.
        let is_mended = !self.program_hangs && self.running.loaded > tried;
        if (hang.is_first && !is_debugged()) || is_mended {
            self.say(&format!(
                "new code does not come to its end, {place}. The game goes on at frame {frame}, before the exchange"
            ));
            return self.become_next();
        }
        self.say(&format!(
            "new code does not come to its end, {place}. Mend it and save: the game goes on at frame {frame}, before \
             the exchange. It also does when it is started the next time"
        ));
    }

    /// Becomes the program that is there, which goes on from what was left.
    fn become_next(&self) {
        if has_newer_framestep(self.exe) {
            return self.say(
                "framestep has been built since the program was: end the game, and start it with cargo. It goes on",
            );
        }
        self.say(&left::become_next(self.exe));
    }

    /// Prints something while the loop of the game does not hear.
    fn say(&self, words: &str) {
        if self.game.prints {
            eprintln!("live: {words}");
        }
    }

    fn run(&mut self, inputs: &Receiver<Input>) {
        loop {
            let next_build = self.builder.wakes_at();
            let next_build = next_build.map(|at| at.saturating_sub(self.now()));
            let next_look = self.looks.then_some(self.watchdog.interval());
            let input = match [next_build, next_look].into_iter().flatten().min() {
                None => inputs.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(wait) => inputs.recv_timeout(wait),
            };
            self.look();
            match input {
                Ok(Input::Changed(paths)) => {
                    let kind_of = |path: &PathBuf| {
                        let is_also = self.game.more_folders.iter().any(|it| path.starts_with(it));
                        self.layout
                            .kind_of(path)
                            .or(is_also.then_some(Kind::Scripts))
                    };
                    let changed = paths.into_iter().filter_map(|it| Some((kind_of(&it)?, it)));
                    let changed: Vec<_> = changed.collect();
                    let changed = changed
                        .into_iter()
                        .filter(|(_, path)| self.sources.has_changed(path));
                    if let Some((kind, path)) = changed.max_by_key(|(kind, _)| *kind) {
                        self.is_untouched = false;
                        self.note(kind, format!("{} has changed", self.shown(&path)));
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
                        let build = self.build.as_mut();
                        if let Some((_, build)) = build.filter(|(running, _)| *running == number) {
                            build.cancel();
                        }
                    }
                }
            }
        }
        if let Some((_, mut build)) = self.build.take() {
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
        self.build_began = SystemTime::now();
        let ended = move |ended| {
            let _ = to_self.send(Input::Ended(number, ended));
        };
        match Build::begin(&self.command(kind), ended) {
            Ok(build) => {
                self.build = Some((number, build));
                let why = self.why.clone();
                self.tell(Event::Begins { kind, why });
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
        let is_first = std::mem::replace(&mut self.is_untouched, false);
        if !ended.is_success {
            return self.tell(Event::Failed(self.shortened(&ended.errors())));
        }
        if kind == Kind::Game {
            let is_new = modified(self.exe) > Some(self.running.built);
            self.looks |= is_new;
            if is_new && self.watchdog.hangs() {
                return self.become_next();
            }
            return self.tell(if is_new {
                Event::Game {
                    began: self.build_began,
                }
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
            Verdict::Load(library) => {
                if let Some(why) = self.change_of_linked(is_first) {
                    return self.note(Kind::Game, why);
                }
                if self.watchdog.hangs() {
                    if self.program_hangs {
                        return self.note(Kind::Game, "the program itself hangs".to_owned());
                    }
                    // The next process builds and loads it.
                    return self.become_next();
                }
                match self.keep(&library) {
                    Ok((library, modified)) => {
                        self.running.loaded = modified;
                        self.looks = true;
                        self.tell(Event::Library {
                            library,
                            seen,
                            built,
                            modified,
                        });
                    }
                    Err(why) => self.tell(Event::Trouble(why)),
                }
            }
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
                // Without another change, at once.
                self.note(Kind::Game, why);
            }
        }
    }

    /// What is to be built because of sources that have been written since the program was built, even
    /// before they were watched, and of which.
    fn newer_sources(&self) -> Option<(Kind, String)> {
        let folders = self.layout.folders.iter();
        let files = folders.flat_map(|it| files(&it.path, it.with_those_below));
        let newer = files.filter(|it| modified(it) > Some(self.newest_source));
        let newer = newer.filter_map(|it| Some((self.layout.kind_of(&it)?, it)));
        let (kind, file) = newer.max_by_key(|(kind, _)| *kind)?;
        let why = format!(
            "{} was written after the build of the game",
            self.shown(&file)
        );
        Some((kind, why))
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
        let path = library.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let mut copy;
        loop {
            self.libraries += 1;
            copy = folder.join(format!(
                "{name}-{}.{}",
                self.libraries,
                std::env::consts::DLL_EXTENSION
            ));
            // That of an earlier process may be in use.
            if !copy.exists() {
                break;
            }
        }
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

/// Whether a `dylib` of framestep was built that this program was not linked with: after a build that has failed
/// behind it.
fn has_newer_framestep(exe: &Path) -> bool {
    let folder = exe.parent().unwrap_or(Path::new("."));
    let dylib = format!(
        "{}framestep_live{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let mut dylibs = [folder.join(&dylib), folder.join("deps").join(&dylib)].into_iter();
    dylibs.any(|dylib| modified(&dylib) > modified(exe))
}

/// Whether a debugger has stopped this process, or may do so. Only Linux says so without more dependencies.
fn is_debugged() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let tracer = lines.find_map(|line| line.strip_prefix("TracerPid:"));
    tracer.is_some_and(|pid| pid.trim() != "0")
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
