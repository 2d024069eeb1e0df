//! `Live`: what the loop of a game calls.

use std::any::type_name;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use framestep_durable::{Policy, Registry, Reloaded, Restored, Runtime, SaveState};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::builder::Kind;
use crate::cargo::Library;
use crate::game::Game;
use crate::history::{History, HistoryError};
use crate::left::{self, Left, Why};
use crate::loader;
use crate::lost::{self, Lost};
use crate::panics::Panics;
use crate::status::{Balance, BuildTimings, Building, Status};
use crate::trial::{self, Verdict};
use crate::watchdog::Pulse;
use crate::worker::{Event, Worker};

/// Watches the sources of a game, builds what has changed, and exchanges the code of the scripts
/// while they wait. See the [crate](crate) for the set-up.
///
/// Dropping it ends that, and a build under way. The exchanged code stays.
#[derive(Debug)]
pub struct Live {
    worker: Worker,
    exe: PathBuf,
    /// Where the libraries of this process are, and what it leaves for the next one.
    folder: PathBuf,
    prints: bool,
    status: Status,
    building: Option<Building>,
    /// The names of the crates with the scripts, once it watches.
    scripts_crates: Option<Vec<String>>,
    /// Further types that scripts reach.
    lends: Vec<String>,
    /// What was refused, and whether it is taken all the same.
    refused: Option<Ready>,
    is_accepted: bool,
    /// What the process before this one has left, until the first update with a world.
    left: Option<Left>,
    /// The same, if the game did not go on from it: the next program may.
    kept: Option<Left>,
    /// The folder of the process whose game this one only tries to continue.
    tries: Option<PathBuf>,
    /// What `wait` has heard.
    heard: Option<Event>,
    pulse: Arc<Pulse>,
    /// The file of the library in use. `None` if the code is that of the program.
    library: Option<String>,
    /// Whether the next process goes on from before the latest exchange: until the next update.
    leaves: bool,
    panics: Panics,
}

/// A library that has been built.
#[derive(Clone, Debug)]
struct Built {
    library: Library,
    seen: Instant,
    at: Instant,
    modified: SystemTime,
}

/// What the loop of the game has to do.
#[derive(Clone, Debug)]
enum Ready {
    Exchange(Built),
    Replace {
        began: SystemTime,
    },
    /// Goes on from what an earlier process has left.
    Continue,
}

/// What the history of the game has: the frames, and whether they are played in a loop.
type Past = Option<(usize, bool)>;

type PolicyFn<'a> = &'a mut dyn FnMut(&framestep_durable::Divergence) -> Policy;

impl Live {
    /// Begins to watch the sources of the game.
    ///
    /// Nothing is ever an error that ends the game: what does not work is in the
    /// [`status`](Self::status), and printed to the standard error unless the game is
    /// [quiet](Game::quiet).
    ///
    /// The thread that calls this is that of the loop: if a script runs on it without an end after an exchange, that
    /// is noticed. See [`Game::hangs_after`].
    ///
    /// In a process that only [tries](Self::update_game) to go on with the game, it watches nothing.
    pub fn watch(game: Game) -> Self {
        let prints = game.prints;
        let exe = std::env::current_exe().unwrap_or_default();
        let pulse = Arc::new(Pulse::of_this_thread());
        let tries = trial::folder();
        let (folder, left, worker);
        if let Some(tried) = &tries {
            folder = tried.clone();
            left = Left::in_trial(&folder);
            worker = Worker::none();
        } else {
            left = left::adopt(&exe);
            folder = left::folder_of_process(&exe);
            worker = Worker::start(game, exe.clone(), Arc::clone(&pulse), left.clone());
        }
        Live {
            worker,
            exe,
            folder,
            prints,
            status: Status::Starts,
            building: None,
            scripts_crates: None,
            lends: Vec::new(),
            refused: None,
            is_accepted: false,
            left,
            tries,
            kept: None,
            heard: None,
            pulse,
            library: None,
            leaves: false,
            panics: Panics::default(),
        }
    }

    /// What it has done last.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// The build under way.
    pub fn building(&self) -> Option<Building> {
        self.building
    }

    /// Whether it watches: what is saved from now on is seen as a change of the running game. Before that, cargo is
    /// asked how the game is built.
    pub fn is_watching(&self) -> bool {
        self.scripts_crates.is_some()
    }

    /// Between two frames: exchanges the code of the scripts if new code has been built. Returns
    /// whether it has.
    ///
    /// If another crate than the scripts has changed, the game is built, and has to be started again
    /// by hand: only [`update_game`](Self::update_game) can keep the world. For the same reason, the game is lost if
    /// new code does not end.
    ///
    /// # Panics
    ///
    /// Inside of a run.
    #[track_caller]
    pub fn update(&mut self, runtime: &mut Runtime) -> bool {
        self.begin_update(runtime, None);
        match self.next(runtime, None) {
            None => false,
            Some(Ready::Continue) => {
                self.is_accepted = false;
                false
            }
            Some(Ready::Exchange(built)) => {
                let unsaved = "`update` does not know the world, `update_game` does".to_owned();
                let exchanged = self.exchange(built, None, Some(unsaved), |registry, policy| {
                    let reloaded = runtime.reload_with(registry, None, policy);
                    reloaded.map_err(HistoryError::Restore)
                });
                self.note_exchange(exchanged, runtime)
            }
            Some(Ready::Replace { .. }) => {
                self.is_accepted = false;
                self.trouble("the game has been built with the change: start it again".to_owned());
                false
            }
        }
    }

    /// The same with the world of the game. If another crate than the scripts has changed, such as
    /// that of the world, the game is built, saved, and replaced by the new program, which goes
    /// on at the same frame. Returns whether something has been exchanged, or the game has gone on
    /// from an earlier process: then also the world is another one.
    ///
    /// The first call in the new program restores the game, and drops the scripts that have been
    /// started before. The world is saved with the names of its fields, so its type may have
    /// changed: new fields need `#[serde(default)]`. Handles from before that call are void, and a history is empty.
    ///
    /// Before it replaces this process, the new program is tried: started beside it, up to its first call, which
    /// ends that process. If the game does not fit, the new program is [refused](Status::Refused), and this one goes
    /// on. So what a game opens before its first call, such as a window or a port, is opened twice for a moment.
    ///
    /// A save of the game is written before each exchange. If the new code does not end, the process
    /// goes on from it in the earlier code. See [`Game::hangs_after`].
    ///
    /// # Panics
    ///
    /// Inside of a run.
    #[track_caller]
    pub fn update_game<W>(&mut self, runtime: &mut Runtime, world: &mut W) -> bool
    where
        W: Serialize + DeserializeOwned + 'static,
    {
        let reload = |runtime: &mut Runtime, _: &mut W, registry, policy: PolicyFn<'_>| {
            let reloaded = runtime.reload_with(registry, None, policy);
            reloaded.map_err(HistoryError::Restore)
        };
        self.update_any(runtime, world, None, reload)
    }

    /// The same with a history. The code is exchanged at the moment `frames_back` frames ago, and
    /// the frames since are played again with their recorded input: the present becomes what it
    /// would be with the new code. In a [loop](History::begin_loop), that moment is the first one
    /// of the loop. So each save of a file shows the same moment in the new code.
    ///
    /// # Panics
    ///
    /// Inside of a run.
    #[track_caller]
    pub fn update_with<W, I>(
        &mut self,
        runtime: &mut Runtime,
        world: &mut W,
        history: &mut History<W, I>,
        frames_back: usize,
        step: impl FnMut(&mut Runtime, &mut W, &I),
    ) -> bool
    where
        W: Clone + Serialize + DeserializeOwned + 'static,
        I: Clone,
    {
        let past = Some((history.len(), history.in_loop().is_some()));
        let reload = |runtime: &mut Runtime, world: &mut W, registry, policy: PolicyFn<'_>| {
            history.reload(registry, frames_back, runtime, world, policy, step)
        };
        self.update_any(runtime, world, past, reload)
    }

    fn update_any<W>(
        &mut self,
        runtime: &mut Runtime,
        world: &mut W,
        past: Past,
        reload: impl FnOnce(
            &mut Runtime,
            &mut W,
            Registry,
            PolicyFn<'_>,
        ) -> Result<Reloaded, HistoryError>,
    ) -> bool
    where
        W: Serialize + DeserializeOwned + 'static,
    {
        self.begin_update(runtime, past);
        if let Some(tried) = self.tries.clone() {
            self.end_trial(&tried, runtime, world);
        }
        if self.left.is_some() {
            return self.go_on(runtime, world);
        }
        match self.next(runtime, Some(type_name::<W>())) {
            None => false,
            Some(Ready::Continue) => self.go_on(runtime, world),
            Some(Ready::Exchange(built)) => {
                let saved = left::write_save(runtime, world, &self.folder.join("before.save"));
                let (save, unsaved) = match saved {
                    Ok((save, why_compact)) => {
                        let left = self.left_before(&built, runtime, past);
                        let written = left.write(&self.folder);
                        self.leaves = written.is_ok();
                        (Some(save), written.err().or(why_compact))
                    }
                    Err(why) => (None, Some(why)),
                };
                let exchanged = self.exchange(built, save.as_ref(), unsaved, |registry, policy| {
                    reload(runtime, world, registry, policy)
                });
                self.note_exchange(exchanged, runtime)
            }
            Some(Ready::Replace { began }) => {
                self.replace(runtime, world, past, began);
                false
            }
        }
    }

    /// Sleeps until there is something to [update](Self::update), at most so long. Returns whether
    /// there is. For games that have no frames while nothing happens.
    pub fn wait(&mut self, at_most: Duration) -> bool {
        if self.heard.is_none() && !self.is_accepted {
            self.heard = self.worker.events.recv_timeout(at_most).ok();
        }
        self.heard.is_some() || self.is_accepted
    }

    /// Names a type that scripts reach in another way than through the `Runtime`, such as a component
    /// of an engine. If it is defined in the crate of the scripts, new code is refused: its layout
    /// would be another one.
    pub fn lends(&mut self, type_name: impl Into<String>) {
        self.lends.push(type_name.into());
    }

    /// Takes what was [refused](Status::Refused), code or a program: scripts that do not fit restart their
    /// chapters, and those that cannot are dropped. Returns whether there is such code. The next
    /// update takes it.
    pub fn accept(&mut self) -> bool {
        self.is_accepted = self.refused.is_some();
        self.is_accepted
    }

    fn begin_update(&mut self, runtime: &Runtime, past: Past) {
        self.pulse.update();
        if std::mem::take(&mut self.leaves) {
            left::goes_on(&self.folder);
        }
        if let Some(why) = self.panics.news(runtime, past.map(|(frames, _)| frames)) {
            self.set(Status::Panicked { why });
        }
    }

    fn note_exchange(&mut self, has_been: bool, runtime: &Runtime) -> bool {
        if has_been {
            self.panics.exchanged(runtime);
        }
        has_been
    }

    /// What the next process goes on from if the new code does not end.
    fn left_before(&self, built: &Built, runtime: &Runtime, past: Past) -> Left {
        Left {
            save: "before.save".to_owned(),
            frame: runtime.time().frame,
            library: self.library.clone(),
            program_built: self.worker.built,
            tried: built.modified,
            why: Why::Exchange,
            build_began: None,
            is_accepted: false,
            panicked: self.panics.count(),
            history: past,
        }
    }

    fn end_trial<W: DeserializeOwned>(&self, tried: &Path, runtime: &mut Runtime, world: &mut W) {
        let verdict = match &self.left {
            None => Verdict::Refused {
                why: "what the game has left cannot be read".to_owned(),
                can_be_accepted: false,
            },
            Some(left) => {
                let mut lost = Lost::new(left.is_accepted);
                match left::read(left, [tried, &self.exe], runtime, world, &mut lost) {
                    Ok(_) => Verdict::Fits,
                    Err(why) => Verdict::Refused {
                        why,
                        can_be_accepted: lost.why().is_some(),
                    },
                }
            }
        };
        trial::end(tried, &verdict)
    }

    /// Goes on from what an earlier process has left.
    fn go_on<W: DeserializeOwned>(&mut self, runtime: &mut Runtime, world: &mut W) -> bool {
        let is_accepted = std::mem::take(&mut self.is_accepted);
        let Some(mut left) = self.left.take().or_else(|| self.kept.take()) else {
            return false;
        };
        let mut lost = Lost::new(is_accepted || left.is_accepted);
        let void_handles = runtime.valid_handles();
        // The trial has not seen it, or the program was started by hand.
        self.pulse.begin_exchange(true);
        let read = left::read(&left, [&self.folder, &self.exe], runtime, world, &mut lost);
        self.pulse.end_exchange();
        match read {
            Ok((restored, library)) => {
                self.library = library;
                left::goes_on(&self.folder);
                self.refused = None;
                self.has_gone_on(&left, restored, void_handles, runtime);
                true
            }
            Err(why) => {
                left::keep(&self.folder, &mut left);
                self.kept = Some(left);
                self.refused = lost.why().map(|_| Ready::Continue);
                self.trouble(format!(
                    "the game begins from the start, because the earlier one does not fit: {why}. \
                     Nothing is lost: the next program continues it"
                ));
                false
            }
        }
    }

    fn has_gone_on(
        &mut self,
        left: &Left,
        restored: Restored,
        void_handles: usize,
        runtime: &Runtime,
    ) {
        let lost = restored.restarted.len() + restored.waiting.len();
        let migrated = restored.restarted.iter().filter(|it| it.entry == Some(0));
        let (lost_history, lost_loop) = left.history.unwrap_or_default();
        let balance = Balance {
            continued: runtime.scripts().len() - lost,
            migrated: migrated.clone().count(),
            restarted: lost - migrated.count(),
            dropped: restored.dropped.len(),
            panicked: left.panicked,
            void_handles,
            lost_history,
            lost_loop,
            ..Balance::default()
        };
        let frame = runtime.time().frame;
        self.panics.exchanged(runtime);
        let why = match &left.why {
            Why::Replacement => "it was built with the change".to_owned(),
            Why::Exchange => format!(
                "the game was ended after new code came in frame {}, and before it went on",
                left.frame
            ),
            Why::Hang(place) if self.library == left.library && self.has_same_program(left) => {
                format!(
                    "new code has not come to its end, {place}. Its scripts have the earlier code: mend it, and save"
                )
            }
            Why::Hang(place) => format!("new code has not come to its end, {place}"),
        };
        self.set(Status::Continued {
            why,
            restored,
            frame,
            balance,
        });
    }

    fn has_same_program(&self, left: &Left) -> bool {
        left.tried_by(self.worker.built).is_some()
    }

    fn set(&mut self, status: Status) {
        if self.prints {
            eprintln!("live: {status}");
        }
        self.status = status;
    }

    fn refuse(&mut self, why: String) {
        self.set(Status::Refused {
            why,
            can_be_accepted: false,
        });
    }

    fn trouble(&mut self, why: String) {
        self.set(Status::Trouble { why });
    }

    /// Hears what the worker has done, and returns what is ready.
    fn next(&mut self, runtime: &Runtime, world: Option<&str>) -> Option<Ready> {
        if self.is_accepted {
            return self.refused.take();
        }
        while let Some(event) = self
            .heard
            .take()
            .or_else(|| self.worker.events.try_recv().ok())
        {
            match event {
                Event::Watches {
                    folders,
                    scripts_crates,
                } => {
                    self.scripts_crates = Some(scripts_crates);
                    // That an earlier game goes on is not overwritten.
                    if matches!(self.status, Status::Starts) {
                        self.set(Status::Watches { folders });
                    }
                }
                Event::Begins { kind, why } => {
                    let whole_game = kind == Kind::Game;
                    if self.prints && whole_game {
                        eprintln!("live: {why}: builds the game, to replace this process");
                    }
                    self.building = Some(Building {
                        whole_game,
                        since: Instant::now(),
                    });
                    continue;
                }
                Event::Unchanged => {}
                Event::Failed(errors) => self.set(Status::Failed { errors }),
                Event::Trouble(why) => self.trouble(why),
                Event::Game { began } => {
                    self.building = None;
                    return Some(Ready::Replace { began });
                }
                Event::Library {
                    library,
                    seen,
                    built,
                    modified,
                } => {
                    self.building = None;
                    if let Some(name) = self.lent_type_of_scripts(runtime, world) {
                        self.refuse(format!(
                            "the type `{name}`, which the game lends to scripts, is defined in the crate of the \
                             scripts: its layout may change with them. Move it to a crate of its own, on which \
                             both depend"
                        ));
                        continue;
                    }
                    return Some(Ready::Exchange(Built {
                        library,
                        seen,
                        at: built,
                        modified,
                    }));
                }
            }
            self.building = None;
        }
        None
    }

    /// A type that the game lends and the scripts define: it has another layout in each library, and the same id.
    fn lent_type_of_scripts(&self, runtime: &Runtime, world: Option<&str>) -> Option<String> {
        let lent = runtime.lent_types();
        let others = self.lends.iter().map(String::as_str);
        let mut names = lent.into_iter().chain(world).chain(others);
        let in_scripts = names.find(|name| {
            let mut crates = self.scripts_crates.iter().flatten();
            crates.any(|scripts| is_in_crate(name, scripts))
        });
        in_scripts.map(str::to_owned)
    }

    fn exchange(
        &mut self,
        built: Built,
        save: Option<&SaveState>,
        unsaved: Option<String>,
        reload: impl FnOnce(Registry, PolicyFn<'_>) -> Result<Reloaded, HistoryError>,
    ) -> bool {
        let mut lost = Lost::new(std::mem::take(&mut self.is_accepted));
        self.pulse.begin_exchange(false);
        let exchanged = loader::load_built(&built.library).map_err(|error| error.to_string());
        let exchanged = exchanged.and_then(|registry| {
            let loaded = Instant::now();
            if let Some(save) = save {
                lost::check_parameters(&registry, save, &mut lost)?;
            }
            let reloaded = reload(registry, &mut |divergence| lost.policy(divergence));
            Ok((reloaded.map_err(|error| error.to_string())?, loaded))
        });
        self.pulse.end_exchange();
        match exchanged {
            Ok((reloaded, loaded)) => {
                let timings = BuildTimings {
                    build: built.at - built.seen,
                    load: loaded - built.at,
                    exchange: loaded.elapsed(),
                };
                self.refused = None;
                let name = built.library.path().file_name();
                self.library = name.map(|it| it.to_string_lossy().into_owned());
                let balance = Balance {
                    continued: reloaded.continued.len(),
                    restarted: reloaded.restarted.len() + reloaded.waiting.len(),
                    migrated: reloaded.migrated.len(),
                    dropped: reloaded.dropped.len(),
                    panicked: self.panics.count(),
                    unsaved,
                    ..Balance::default()
                };
                self.set(Status::Exchanged {
                    reloaded,
                    timings,
                    balance,
                });
                true
            }
            Err(error) => {
                // The code that goes on has gone on before.
                if std::mem::take(&mut self.leaves) {
                    left::goes_on(&self.folder);
                }
                let why = lost.why();
                let can_be_accepted = why.is_some();
                self.refused = can_be_accepted.then_some(Ready::Exchange(built));
                self.set(Status::Refused {
                    why: why.unwrap_or(error),
                    can_be_accepted,
                });
                false
            }
        }
    }

    /// Replaces this process with the program that was built, if the game fits it.
    fn replace<W: Serialize>(
        &mut self,
        runtime: &Runtime,
        world: &W,
        past: Past,
        began: SystemTime,
    ) {
        let is_accepted = std::mem::take(&mut self.is_accepted);
        // What could not be continued is handed on: the change may be the remedy.
        let left = match self.left_for_next(runtime, world, is_accepted, past) {
            Ok(left) => Left {
                build_began: Some(began),
                ..left
            },
            Err(why) => {
                let why = format!("the game cannot be saved for the new program: {why}");
                return self.trouble(why);
            }
        };
        if !is_accepted {
            if self.prints {
                eprintln!("live: tries the new program");
            }
            let verdict = trial::of(&self.exe, &self.folder, trial::AT_MOST);
            if let Verdict::Refused {
                why,
                can_be_accepted,
            } = verdict
            {
                self.refused = can_be_accepted.then_some(Ready::Replace { began });
                return self.set(Status::Refused {
                    why,
                    can_be_accepted,
                });
            }
        }
        let why = match left.write(&self.folder) {
            Ok(()) => left::become_next(&self.exe),
            Err(why) => why,
        };
        self.trouble(why);
    }
}

impl Live {
    /// What the program that was built goes on from.
    fn left_for_next<W: Serialize>(
        &self,
        runtime: &Runtime,
        world: &W,
        is_accepted: bool,
        past: Past,
    ) -> Result<Left, String> {
        // What could not be continued is handed on: the change may be the remedy.
        let left = if let Some(kept) = self.kept.clone() {
            Left {
                is_accepted,
                ..kept
            }
        } else {
            let save = "continue.save".to_owned();
            left::write_save(runtime, world, &self.folder.join(&save))?;
            Left {
                save,
                frame: runtime.time().frame,
                library: None,
                program_built: self.worker.built,
                tried: self.worker.built,
                why: Why::Replacement,
                build_began: None,
                is_accepted,
                panicked: self.panics.count(),
                history: past,
            }
        };
        left.write_for_trial(&self.folder)?;
        Ok(left)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // A game that ends by itself begins from the start. One that unwinds may do so because of the new code.
        if self.leaves && !thread::panicking() {
            left::goes_on(&self.folder);
        }
    }
}

/// Whether the name of a type contains one of this crate.
fn is_in_crate(type_name: &str, crate_name: &str) -> bool {
    let mut found = type_name.match_indices(crate_name);
    found.any(|(at, name)| {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let (before, after) = (&type_name[..at], &type_name[at + name.len()..]);
        !crate_name.is_empty() && !before.ends_with(is_word) && after.starts_with("::")
    })
}

#[cfg(test)]
mod tests {
    use super::is_in_crate;

    #[test]
    fn a_type_of_the_scripts_is_recognised_by_its_name() {
        let names = [
            ("scripts::World", true),
            ("world::World<scripts::Boss>", true),
            ("(i32, scripts::fight::State)", true),
            ("world::World", false),
            ("my_scripts::World", false),
            ("world::scripts::World", false),
            ("scriptsx::World", false),
            ("scripts", false),
        ];
        for (name, is_there) in names {
            assert_eq!(is_in_crate(name, "scripts"), is_there, "{name}");
        }
        assert!(!is_in_crate("a::B", ""));
    }
}
