//! `Live`: what the loop of a game calls.

use std::any::type_name;
use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use framestep_durable::{Divergence, Policy, Registry, Reloaded, Restored, Runtime};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::builder::Kind;
use crate::cargo::Library;
use crate::game::Game;
use crate::history::{History, HistoryError};
use crate::loader;
use crate::replace;
use crate::worker::{Event, Worker, clean};

/// Watches the sources of a game, builds what has changed, and exchanges the code of the scripts
/// while they wait. See the [crate](crate) for the set-up.
///
/// Dropping it ends that, and a build under way. The exchanged code stays.
#[derive(Debug)]
pub struct Live {
    worker: Worker,
    exe: PathBuf,
    prints: bool,
    status: Status,
    building: Option<Building>,
    /// The names of the crates with the scripts.
    scripts_crates: Vec<String>,
    /// Further types that scripts reach.
    lends: Vec<String>,
    /// The latest code that was loaded but refused, and whether it is taken all the same.
    refused: Option<Loaded>,
    is_accepted: bool,
    /// What the process before this one has left, until the game goes on from it.
    left: Option<PathBuf>,
    has_tried: bool,
    /// What `wait` has heard.
    heard: Option<Event>,
}

/// Code that has been loaded.
#[derive(Clone, Debug)]
struct Loaded {
    registry: Registry,
    seen: Instant,
    built: Instant,
    since: Instant,
}

/// What [`Live`] has done last.
///
/// [`Display`](fmt::Display) prints one or several lines: the compiler's words, or which scripts have
/// continued.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Status {
    /// It finds out how the game is built.
    Starts,
    /// It watches, and nothing has changed.
    Watches {
        /// How many folders.
        folders: usize,
    },
    /// The code does not compile. The earlier code goes on.
    Failed {
        /// The compiler's words, one text for each error.
        errors: Vec<String>,
    },
    /// The code of the scripts has been exchanged.
    Exchanged {
        /// What has become of each script.
        reloaded: Reloaded,
        /// How long it took.
        timings: BuildTimings,
    },
    /// The new code was not taken, and why. The earlier code goes on.
    Refused {
        /// A sentence with the remedy.
        why: String,
        /// Whether [`Live::accept`] would take it, and lose scripts.
        can_be_accepted: bool,
    },
    /// Something else than the code does not work, and what can be done.
    Trouble {
        /// A sentence with the remedy.
        why: String,
    },
    /// This process has replaced an earlier one, and goes on with its game.
    Continued {
        /// What has become of its scripts.
        restored: Restored,
        /// At which frame.
        frame: u64,
    },
}

/// How long an exchange took, from the change of a file on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuildTimings {
    /// Until cargo had built the library.
    pub build: Duration,
    /// Until the loop called `update`, and the library was loaded.
    pub load: Duration,
    /// Until all scripts ran in the new code.
    pub exchange: Duration,
}

impl BuildTimings {
    /// All together.
    #[must_use]
    pub fn total(self) -> Duration {
        self.build + self.load + self.exchange
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::Starts => f.write_str("asks cargo how the game is built"),
            Status::Watches { folders } => write!(f, "watches {folders} folders"),
            Status::Failed { errors } => {
                write!(f, "does not compile, the earlier code goes on:")?;
                errors.iter().try_for_each(|error| write!(f, "\n{error}"))
            }
            Status::Exchanged { reloaded, timings } => {
                write!(
                    f,
                    "new code after {:.2} s: {reloaded}",
                    timings.total().as_secs_f64()
                )
            }
            Status::Refused { why, .. } => write!(f, "refused, the earlier code goes on: {why}"),
            Status::Trouble { why } => f.write_str(why),
            Status::Continued { restored, frame } => {
                write!(f, "the new program goes on at frame {frame}")?;
                for (what, scripts) in [
                    ("restarted", &restored.restarted),
                    ("dropped", &restored.dropped),
                ] {
                    scripts
                        .iter()
                        .try_for_each(|it| write!(f, "\n{what}: {it}"))?;
                }
                Ok(())
            }
        }
    }
}

/// A build under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Building {
    /// Whether the whole game is built, to replace this process.
    pub whole_game: bool,
    /// Since when.
    pub since: Instant,
}

/// What the loop of the game has to do.
enum Ready {
    Exchange(Loaded),
    Replace,
}

type PolicyFn<'a> = &'a mut dyn FnMut(&Divergence) -> Policy;

impl Live {
    /// Begins to watch the sources of the game.
    ///
    /// Nothing is ever an error that ends the game: what does not work is in the
    /// [`status`](Self::status), and printed to the standard error unless the game is
    /// [quiet](Game::quiet).
    pub fn watch(game: Game) -> Self {
        let prints = game.prints;
        let exe = std::env::current_exe().unwrap_or_default();
        clean(&exe);
        Live {
            worker: Worker::start(game, exe.clone()),
            exe,
            prints,
            status: Status::Starts,
            building: None,
            scripts_crates: Vec::new(),
            lends: Vec::new(),
            refused: None,
            is_accepted: false,
            left: replace::left(),
            has_tried: false,
            heard: None,
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

    /// Between two frames: exchanges the code of the scripts if new code has been built. Returns
    /// whether it has.
    ///
    /// If another crate than the scripts has changed, the game is built, and has to be started again
    /// by hand: only [`update_game`](Self::update_game) can keep the world.
    ///
    /// # Panics
    ///
    /// Inside of a run.
    #[track_caller]
    pub fn update(&mut self, runtime: &mut Runtime) -> bool {
        match self.next(runtime, None) {
            None => false,
            Some(Ready::Exchange(library)) => self.exchange(library, |registry, policy| {
                let reloaded = runtime.reload_with(registry, None, policy);
                reloaded.map_err(HistoryError::Restore)
            }),
            Some(Ready::Replace) => {
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
    /// changed: new fields need `#[serde(default)]`.
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
        self.update_any(runtime, world, reload)
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
        let reload = |runtime: &mut Runtime, world: &mut W, registry, policy: PolicyFn<'_>| {
            history.reload(registry, frames_back, runtime, world, policy, step)
        };
        self.update_any(runtime, world, reload)
    }

    fn update_any<W>(
        &mut self,
        runtime: &mut Runtime,
        world: &mut W,
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
        if let Some(file) = self.takes_over() {
            let restored = replace::read(&file, runtime, world);
            return self.has_taken_over(restored, runtime);
        }
        match self.next(runtime, Some(type_name::<W>())) {
            None => false,
            Some(Ready::Exchange(library)) => self.exchange(library, |registry, policy| {
                reload(runtime, world, registry, policy)
            }),
            Some(Ready::Replace) => {
                // A file that could not be read is handed on: the change may be the remedy.
                let file = match self.left.clone() {
                    Some(file) => Ok(file),
                    None => replace::write(runtime, world, &self.exe),
                };
                self.replace(file);
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

    /// Takes the code that was [refused](Status::Refused): scripts that do not fit restart their
    /// chapters, and those that cannot are dropped. Returns whether there is such code. The next
    /// update takes it.
    pub fn accept(&mut self) -> bool {
        self.is_accepted = self.refused.is_some();
        self.is_accepted
    }

    /// The file of an earlier process from which the game goes on now.
    fn takes_over(&mut self) -> Option<PathBuf> {
        if std::mem::replace(&mut self.has_tried, true) {
            return None;
        }
        self.left.clone()
    }

    fn has_taken_over(&mut self, restored: Result<Restored, String>, runtime: &Runtime) -> bool {
        match restored {
            Ok(restored) => {
                self.left = None;
                let frame = runtime.time().frame;
                self.set(Status::Continued { restored, frame });
                true
            }
            Err(why) => {
                self.trouble(format!(
                    "the game begins from the start, because the earlier one does not fit: {why}. \
                     Nothing is lost: the next program continues it"
                ));
                false
            }
        }
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
            return self.refused.take().map(Ready::Exchange);
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
                    self.scripts_crates = scripts_crates;
                    // That an earlier game goes on is not overwritten.
                    if matches!(self.status, Status::Starts) {
                        self.set(Status::Watches { folders });
                    }
                }
                Event::Begins(kind) => {
                    self.building = Some(Building {
                        whole_game: kind == Kind::Game,
                        since: Instant::now(),
                    });
                    continue;
                }
                Event::Unchanged => {}
                Event::Failed(errors) => self.set(Status::Failed { errors }),
                Event::Trouble(why) => self.trouble(why),
                Event::Replaces(why) => {
                    if self.prints {
                        eprintln!("live: {why}: the game is built, to replace this process");
                    }
                }
                Event::Game => {
                    self.building = None;
                    return Some(Ready::Replace);
                }
                Event::Library {
                    built_as,
                    seen,
                    built,
                } => {
                    self.building = None;
                    if let Some(library) = self.load(&built_as, seen, built, runtime, world) {
                        return Some(Ready::Exchange(library));
                    }
                }
            }
            self.building = None;
        }
        None
    }

    fn load(
        &mut self,
        library: &Library,
        seen: Instant,
        built: Instant,
        runtime: &Runtime,
        world: Option<&str>,
    ) -> Option<Loaded> {
        // Such a type has another layout in each library, and the same id: it must not be lent.
        let lent = runtime.lent_types();
        let others = self.lends.iter().map(String::as_str);
        let mut names = lent.into_iter().chain(world).chain(others);
        let in_scripts = names.find(|name| {
            let mut crates = self.scripts_crates.iter();
            crates.any(|scripts| is_in_crate(name, scripts))
        });
        if let Some(name) = in_scripts {
            self.refuse(format!(
                "the type `{name}`, which the game lends to scripts, is defined in the crate of the \
                 scripts: its layout may change with them. Move it to a crate of its own, on which \
                 both depend"
            ));
            return None;
        }
        match loader::load_built(library) {
            Ok(registry) => Some(Loaded {
                registry,
                seen,
                built,
                since: Instant::now(),
            }),
            Err(error) => {
                self.refuse(error.to_string());
                None
            }
        }
    }

    fn exchange(
        &mut self,
        library: Loaded,
        reload: impl FnOnce(Registry, PolicyFn<'_>) -> Result<Reloaded, HistoryError>,
    ) -> bool {
        let is_accepted = std::mem::take(&mut self.is_accepted);
        let mut lost = None;
        let mut policy = |divergence: &Divergence| {
            if is_accepted {
                return match divergence.entry {
                    Some(_) => Policy::Restart,
                    None => Policy::Drop,
                };
            }
            if divergence.entry.is_none() || divergence.has_panicked() {
                lost.get_or_insert_with(|| divergence.clone());
                return Policy::Fail;
            }
            Policy::Restart
        };
        let reloaded = reload(library.registry.clone(), &mut policy);
        match reloaded {
            Ok(reloaded) => {
                let timings = BuildTimings {
                    build: library.built - library.seen,
                    load: library.since - library.built,
                    exchange: library.since.elapsed(),
                };
                self.refused = None;
                self.set(Status::Exchanged { reloaded, timings });
                true
            }
            Err(error) => {
                let can_be_accepted = lost.is_some();
                let why = match lost {
                    Some(divergence) => why_lost(&divergence),
                    None => error.to_string(),
                };
                self.refused = can_be_accepted.then_some(library);
                self.set(Status::Refused {
                    why,
                    can_be_accepted,
                });
                false
            }
        }
    }

    fn replace(&mut self, file: Result<PathBuf, String>) {
        let why = match file {
            Ok(file) => replace::become_new(&self.exe, &file),
            Err(why) => format!("the game cannot be saved for the new program: {why}"),
        };
        self.trouble(why);
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

/// Says which script would be lost, and what can be done.
fn why_lost(divergence: &Divergence) -> String {
    let Divergence {
        script,
        name,
        recorded,
        found,
        ..
    } = divergence;
    if divergence.has_panicked() {
        return format!("the new code of `{name}` ({script}) {found}");
    }
    format!(
        "`{name}` ({script}) would be lost: it had {recorded}, and {found}. If it was renamed, give it \
         its earlier name: `#[durable(name = \"{name}\")]`; if it has other parameters, a version \
         that migrates; or accept that it is dropped (`Live::accept`)"
    )
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
