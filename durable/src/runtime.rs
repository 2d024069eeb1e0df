//! The runtime: an executor for durable scripts alone.

use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::rc::Rc;

use framestep::durable::length_ns;
use framestep::{Builder, Executor, Phase, Seconds, Time};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::{self, Bytes};
use crate::cell::ScriptId;
use crate::dry_run::DryRun;
use crate::error::{Divergence, RestoreError, SaveError};
use crate::events::Settled;
use crate::file::World;
use crate::handle::{Act, Handle, JoinError, Joins};
use crate::image::SaveState;
use crate::long::LongChapter;
use crate::outside::beside_of;
use crate::owner::{ClockId, OwnerId};
use crate::registry::Registry;
use crate::restore::{Policy, Restored};
use crate::script::{Begun, Code, DurableScript, begin_once};
use crate::shared::{ClockEntry, Making, OwnerEntry, Shared};
use crate::stop::Stopper;
use crate::sync::{Lent, SyncTest};
use crate::topic::EventName;
use crate::wait::{Permits, Request, RequestId, Resolver, Signal, Value, expect_countable};

/// Runs durable scripts, frame by frame, and saves and restores them.
///
/// It is driven like an [`Executor`], and contains one: everything that framestep says about
/// frames, phases, clocks and order holds. Scripts that are not durable (camera, sound,
/// interface) run in a separate executor beside it.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[derive(Serialize, Deserialize)]
/// struct Intro;
///
/// impl DurableScript for Intro {
///     const NAME: &'static str = "intro";
///     type Output = ();
///
///     async fn run(self) -> Chapter<Self> {
///         wait_seconds(0.25).await;
///         with(|lines: &mut Vec<String>| lines.push("Who goes there?".into()));
///         wait_seconds(0.25).await;
///         with(|lines: &mut Vec<String>| lines.push("Nobody.".into()));
///         Chapter::Done(())
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::new().with::<Intro>();
/// let mut runtime = Runtime::new(registry.clone());
/// let mut lines: Vec<String> = Vec::new();
/// runtime.start(Intro).detach();
/// runtime.run_frame_with(&mut lines, 0.25);
/// let file = runtime.save()?.to_bytes();
///
/// // Another day, another process.
/// let mut runtime = Runtime::new(registry);
/// runtime.restore(&SaveState::from_bytes(&file)?, Policy::Fail)?;
/// runtime.run_frame_with(&mut lines, 0.25);
/// assert_eq!(lines, ["Who goes there?", "Nobody."]);
/// # Ok(())
/// # }
/// ```
pub struct Runtime {
    executor: Executor,
    host: Host,
    sync_test: Option<SyncTest>,
}

impl Runtime {
    /// A runtime with the default settings of framestep.
    pub fn new(registry: Registry) -> Self {
        Self::builder(registry).build()
    }

    /// A runtime with other settings of framestep: lengths of fixed steps, limits, what is
    /// observed.
    pub fn with(builder: Builder, registry: Registry) -> Self {
        Self::builder(registry).executor(builder).build()
    }

    /// Sets up a runtime.
    pub fn builder(registry: Registry) -> RuntimeBuilder {
        RuntimeBuilder {
            executor: Executor::builder(),
            registry,
            max_entries: u32::MAX,
            lent: Vec::new(),
        }
    }

    /// The executor, to observe it: snapshots of what each script waits for, traces, reports,
    /// the time.
    ///
    /// Coroutines that are spawned on it directly are not durable. The runtime cannot be saved
    /// while there is one.
    pub fn executor(&self) -> &Executor {
        &self.executor
    }

    /// The part of the runtime that can be used while scripts run, such as in a callback of an
    /// engine that a `with` triggers. Between runs, the runtime has the same methods.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The present time.
    pub fn time(&self) -> Time {
        self.executor.time()
    }

    /// Runs a frame. See [`Executor::run_frame`].
    #[track_caller]
    pub fn run_frame(&mut self, dt: impl Seconds) {
        self.host.shared.begin_run("run_frame");
        let executor = &mut self.executor;
        match &self.sync_test {
            None => executor.run_frame(dt),
            Some(test) => {
                let shared = &self.host.shared;
                test.run(shared, "run_frame", &mut || executor.run_frame(dt));
            }
        }
    }

    /// Runs a frame with the world lent. See [`Executor::run_frame_with`].
    #[track_caller]
    pub fn run_frame_with<W: 'static>(&mut self, world: &mut W, dt: impl Seconds) {
        self.host.shared.begin_run("run_frame_with");
        self.host.shared.note_lent(std::any::type_name::<W>());
        let executor = &mut self.executor;
        match &self.sync_test {
            None => executor.run_frame_with(world, dt),
            Some(test) => {
                let shared = &self.host.shared;
                shared.door.assert_idle("run_frame_with");
                executor.lend(world, |executor| {
                    test.run(shared, "run_frame_with", &mut || executor.run_frame(dt));
                });
            }
        }
    }

    /// Begins a frame. See [`Executor::begin_frame`].
    #[track_caller]
    pub fn begin_frame(&mut self, dt: impl Seconds) {
        self.executor.begin_frame(dt);
    }

    /// Begins a frame by the clocks of an engine. See [`Executor::begin_frame_with`].
    #[track_caller]
    pub fn begin_frame_with(&mut self, dt: impl Seconds, game_dt: impl Seconds) {
        self.executor.begin_frame_with(dt, game_dt);
    }

    /// Begins a fixed step, if one is due. See [`Executor::begin_fixed_step`].
    #[track_caller]
    pub fn begin_fixed_step(&mut self) -> bool {
        self.executor.begin_fixed_step()
    }

    /// Begins a fixed step of the host's own. See [`Executor::begin_fixed_step_of`].
    #[track_caller]
    pub fn begin_fixed_step_of(&mut self, step: impl Seconds) {
        self.executor.begin_fixed_step_of(step);
    }

    /// Ends the fixed step under way. See [`Executor::end_fixed_step`].
    #[track_caller]
    pub fn end_fixed_step(&mut self) {
        self.executor.end_fixed_step();
    }

    /// Runs a phase. See [`Executor::run_phase`].
    #[track_caller]
    pub fn run_phase(&mut self, phase: Phase) {
        self.host.shared.begin_run("run_phase");
        let executor = &mut self.executor;
        match &self.sync_test {
            None => executor.run_phase(phase),
            Some(test) => {
                let shared = &self.host.shared;
                test.run(shared, "run_phase", &mut || executor.run_phase(phase));
            }
        }
    }

    /// Lends the world to the scripts while `f` runs. See [`Executor::lend`].
    pub fn lend<W: 'static, R>(&mut self, world: &mut W, f: impl FnOnce(&mut Runtime) -> R) -> R {
        self.host.shared.note_lent(std::any::type_name::<W>());
        let handle = self.executor.handle();
        let lent = handle.lend(world, |_| f(self));
        lent.expect("the executor exists")
    }

    /// Takes a save state, between two runs.
    ///
    /// # Errors
    ///
    /// If something cannot be saved.
    ///
    /// # Panics
    ///
    /// Inside of a run, or of a script.
    #[track_caller]
    #[doc(alias = "snapshot")]
    pub fn save_state(&self) -> Result<SaveState, SaveError> {
        self.host.shared.door.assert_idle("save_state");
        self.host.shared.save_state()
    }

    /// The [checksum](SaveState::checksum) of a save state taken now. It takes none, so it costs less:
    /// for servers and netcode that compare each frame.
    ///
    /// # Errors
    ///
    /// As [`save_state`](Self::save_state).
    ///
    /// # Panics
    ///
    /// Inside of a run, or of a script.
    #[track_caller]
    pub fn checksum(&self) -> Result<u64, SaveError> {
        self.host.shared.door.assert_idle("checksum");
        self.host.shared.checksum(&World::none())
    }

    /// The same with the game's own state, as [`SaveState::checksum_with`].
    ///
    /// # Errors
    ///
    /// As [`save_state`](Self::save_state).
    ///
    /// # Panics
    ///
    /// Inside of a run, or of a script; if the `Serialize` of `world` fails.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// #[derive(Serialize, Deserialize)]
    /// struct World {
    ///     gold: u32,
    /// }
    ///
    /// # fn main() -> Result<(), SaveError> {
    /// let mut world = World { gold: 7 };
    /// let mut runtime = Runtime::new(Registry::new());
    /// runtime.run_frame_with(&mut world, 1.0 / 60.0);
    /// let checksum = runtime.checksum_with(&world)?;
    /// assert_eq!(checksum, runtime.save_state()?.checksum_with(&world));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn checksum_with<W: Serialize>(&self, world: &W) -> Result<u64, SaveError> {
        self.host.shared.door.assert_idle("checksum_with");
        let write = |to: &mut Vec<u8>| bytes::try_write(world, to);
        self.host.shared.checksum(&World::of::<W>(&write))
    }

    /// Takes a save state for a file. In debug builds, it is [verified](Self::verify) at once,
    /// so a script that cannot be restored is found when it is saved.
    ///
    /// # Errors
    ///
    /// If something cannot be saved. In debug builds, the same if something could not be
    /// restored.
    ///
    /// # Panics
    ///
    /// Inside of a run, or of a script.
    #[track_caller]
    pub fn save(&self) -> Result<SaveState, SaveError> {
        self.host.shared.door.assert_idle("save");
        if cfg!(debug_assertions) {
            return self.host.shared.verified();
        }
        self.host.shared.save_state()
    }

    /// Checks that a save state taken now can be restored: replays each journal with a new
    /// future. Nothing changes.
    ///
    /// # Errors
    ///
    /// If it could not.
    ///
    /// # Panics
    ///
    /// Inside of a run, or of a script.
    #[track_caller]
    pub fn verify(&self) -> Result<(), SaveError> {
        self.host.shared.door.assert_idle("verify");
        self.host.shared.verified().map(drop)
    }

    /// What does not fit in a save state.
    pub(crate) fn dry_run(&self, save: &SaveState) -> DryRun {
        self.host.shared.dry_run(save)
    }

    /// Restores a save state from a file: everything becomes as it was. The current scripts are
    /// dropped, their destructors have no effects, and handles to them become invalid.
    ///
    /// If the host had a handle at the time of the save, it can get it back with
    /// [`handle`](Host::handle) before the next run. Results without a handle by then are
    /// dropped.
    ///
    /// # Errors
    ///
    /// If a script does not fit its journal, the file is damaged, or the runtime cannot be
    /// replaced. All this is found before the first script is dropped: nothing has changed then.
    ///
    /// # Panics
    ///
    /// Inside of a run, or of a script.
    #[track_caller]
    pub fn restore(&mut self, save: &SaveState, policy: Policy) -> Result<Restored, RestoreError> {
        self.restore_with(save, |_| policy)
    }

    /// The same with a policy for each script that does not fit its save: `policy` is called
    /// with the reason.
    ///
    /// If the state of a script cannot be read, or the script is not in the registry, the
    /// divergence has no [`entry`](Divergence::entry). This script cannot restart, so
    /// `Policy::Restart` is an error.
    ///
    /// # Errors
    ///
    /// As [`restore`](Self::restore), if a policy is [`Policy::Fail`].
    ///
    /// # Panics
    ///
    /// Inside of a run, or of a script.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// # fn load(runtime: &mut Runtime, save: &SaveState) -> Result<(), RestoreError> {
    /// let restored = runtime.restore_with(save, |divergence| match &*divergence.name {
    ///     "main quest" => Policy::Fail,
    ///     _ if divergence.entry.is_none() => Policy::Drop,
    ///     _ => Policy::Restart,
    /// })?;
    /// for lost in restored.dropped {
    ///     eprintln!("{lost}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn restore_with(
        &mut self,
        save: &SaveState,
        mut policy: impl FnMut(&Divergence) -> Policy,
    ) -> Result<Restored, RestoreError> {
        self.host.shared.door.assert_idle("restore");
        let shared = &self.host.shared;
        shared.restore_file(save, &mut policy, shared.is_of_this_build(save))
    }

    /// Goes back to a save state of this runtime. Scripts that have recorded nothing since keep
    /// their futures; the journals of the others are replayed with new futures. Later
    /// save states remain valid.
    ///
    /// # Errors
    ///
    /// If a script does not fit its journal: it depends on what is not recorded. Or if the
    /// save state is from a file, as those of [`restore`](Self::restore). Then nothing has changed.
    ///
    /// # Panics
    ///
    /// Inside of a run, or of a script.
    #[track_caller]
    pub fn rollback(&mut self, save: &SaveState) -> Result<(), RestoreError> {
        self.host.shared.door.assert_idle("rollback");
        self.host.shared.go_back(save)
    }
}

/// Sets up a [`Runtime`]: made by [`Runtime::builder`].
#[derive(Debug)]
#[must_use = "a builder does nothing before `build` is called"]
pub struct RuntimeBuilder {
    executor: Builder,
    registry: Registry,
    max_entries: u32,
    lent: Vec<Lent>,
}

impl RuntimeBuilder {
    /// Sets the settings of framestep: lengths of fixed steps, limits, what is observed.
    pub fn executor(mut self, builder: Builder) -> Self {
        self.executor = builder;
        self
    }

    /// Sets how many entries a chapter may have; there is no limit by default. A script that
    /// exceeds it is [reported](Host::on_long_chapter), and stopped where it waits next: a join
    /// returns [`JoinError::ChapterTooLong`]. So a chapter without end cannot use up the memory.
    ///
    /// # Panics
    ///
    /// If it is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Patrol;
    ///
    /// impl DurableScript for Patrol {
    ///     const NAME: &'static str = "patrol";
    ///     type Output = ();
    ///
    ///     async fn run(self) -> Chapter<Self> {
    ///         loop {
    ///             wait_frames(2).await; // without a new chapter
    ///         }
    ///     }
    /// }
    ///
    /// let registry = Registry::new().with::<Patrol>();
    /// let mut runtime = Runtime::builder(registry).max_entries(10).build();
    /// runtime.on_long_chapter(|chapter| assert!(chapter.is_stopped));
    /// let patrol = runtime.start(Patrol);
    /// for _ in 0..30 {
    ///     runtime.run_frame(0.1);
    /// }
    /// assert_eq!(runtime.take(patrol), Some(Err(JoinError::ChapterTooLong)));
    /// ```
    #[track_caller]
    pub fn max_entries(mut self, entries: u32) -> Self {
        assert!(entries > 0, "`max_entries` must be at least 1");
        self.max_entries = entries;
        self
    }

    /// Tests that scripts depend only on the world and on what is recorded: the *sync test* of
    /// netcode, for each run. `W` is the state that the host lends. For several, call this for
    /// each; without one, for `()`.
    ///
    /// Each run of the runtime (a frame of [`run_frame_with`](Runtime::run_frame_with), or a
    /// phase of [`run_phase`](Runtime::run_phase)) is done, taken back, and done again from the
    /// same state. The save states and the lent states after both must be equal. Chapters that
    /// have changed are replayed. The runtime continues from the second time.
    ///
    /// A test of a run needs nothing of the game, because the state before it has all inputs: what
    /// the host has changed in the world, emitted, set and answered. What the host itself does
    /// between two runs is not tested; the sync test session of a library such as GGRS does that.
    ///
    /// # Costs
    ///
    /// For debug builds and tests. A frame takes two runs, a rollback, three save states, two
    /// checksums of the runtime and of each lent state, and a replay of each chapter that has
    /// changed. Hooks are called twice, and so is everything outside of the world that an effect
    /// calls: a sound plays twice.
    ///
    /// # Panics
    ///
    /// The run panics, at its caller's line, if both times differ. The message says what differed
    /// first, with script, entry and line. To find it, the run is done twice more, which compares
    /// the lent states before and after each effect. The run also panics if the runtime cannot be
    /// saved, or lends a state that the test does not know.
    ///
    /// # Examples
    ///
    /// ```should_panic
    /// # use std::cell::Cell;
    /// use framestep_durable::prelude::*;
    ///
    /// #[derive(Clone, Serialize, Deserialize)]
    /// struct World {
    ///     gold: u32,
    /// }
    ///
    /// thread_local! {
    ///     static RANDOM: Cell<u32> = const { Cell::new(7) }; // should be in the world
    /// }
    ///
    /// #[durable]
    /// async fn treasure() {
    ///     wait_frames(3).await;
    ///     with(|world: &mut World| world.gold += RANDOM.replace(RANDOM.get() * 5));
    /// }
    ///
    /// let registry = Registry::new().with::<Treasure>();
    /// let mut runtime = Runtime::builder(registry).sync_test::<World>().build();
    /// runtime.spawn(treasure()).detach();
    /// let mut world = World { gold: 0 };
    /// for _ in 0..10 {
    ///     // In frame 4: the sync test of `run_frame_with` failed in frame 4: done again from the
    ///     // same state, it ends differently: script `treasure` (#1), entry 2: a `with` at
    ///     // treasure.rs:15 changed what the host lends in two ways. ..
    ///     runtime.run_frame_with(&mut world, 1.0 / 60.0);
    /// }
    /// ```
    pub fn sync_test<W: Clone + Serialize + 'static>(mut self) -> Self {
        self.lent.push(Lent::of::<W>());
        self
    }

    /// Makes the runtime.
    pub fn build(self) -> Runtime {
        let executor = self.executor.build();
        let (door, handle) = (executor.durable(), executor.handle());
        let shared = Shared::new(door, handle, self.registry, self.max_entries);
        shared.door.set_beside(beside_of(&shared));
        let host = Host { shared };
        let sync_test = (!self.lent.is_empty()).then(|| SyncTest::new(self.lent));
        Runtime {
            executor,
            host,
            sync_test,
        }
    }
}

impl Deref for Runtime {
    type Target = Host;

    fn deref(&self) -> &Host {
        &self.host
    }
}

/// The part of a [`Runtime`] that needs no exclusive access: scripts, signals, values,
/// questions, owners and clocks.
///
/// Engines call back while a script runs: for example, a `with` despawns an entity, and the
/// engine calls the code that manages the entity's scripts. During a run, the runtime is
/// mutably borrowed. A clone of its [`host`](Runtime::host) is not.
///
/// Calls inside a `with` are part of it: their effects are saved with the runtime, and
/// not done again when the script is restored.
///
/// A script that is started while another one borrows the world begins as soon as that borrow
/// ends. After the runtime is dropped, a script that is started is stopped at once.
///
/// # Examples
///
/// ```
/// use framestep_durable::{Host, prelude::*};
///
/// /// The world of an engine, which manages the scripts of its doors.
/// struct World {
///     host: Host,
///     door: Option<OwnerId>,
/// }
///
/// impl World {
///     fn remove_door(&mut self) {
///         if let Some(owner) = self.door.take() {
///             self.host.drop_owner(owner); // its scripts end with it
///         }
///     }
/// }
///
/// #[derive(Serialize, Deserialize)]
/// struct Bomb;
///
/// impl DurableScript for Bomb {
///     const NAME: &'static str = "bomb";
///     type Output = ();
///
///     async fn run(self) -> Chapter<Self> {
///         wait_seconds(0.25).await;
///         with(World::remove_door);
///         Chapter::Done(())
///     }
/// }
///
/// # #[derive(Serialize, Deserialize)]
/// # struct Creak;
/// # impl DurableScript for Creak {
/// #     const NAME: &'static str = "creak";
/// #     type Output = ();
/// #     async fn run(self) -> Chapter<Self> {
/// #         wait_seconds(60).await;
/// #         Chapter::Done(())
/// #     }
/// # }
/// let mut runtime = Runtime::new(Registry::new().with::<Bomb>().with::<Creak>());
/// let door = runtime.owner();
/// let creak = runtime.start_on(door, Creak).id();
/// runtime.start(Bomb).detach();
/// let mut world = World { host: runtime.host().clone(), door: Some(door) };
/// runtime.run_frame_with(&mut world, 0.25);
/// assert!(!runtime.is_alive(creak));
/// ```
#[derive(Clone)]
pub struct Host {
    shared: Rc<Shared>,
}

impl Host {
    pub(crate) fn shared(&self) -> &Rc<Shared> {
        &self.shared
    }

    /// Starts a script for the host: it runs up to its first wait. If it needs the world
    /// before that, start it inside [`Runtime::lend`].
    ///
    /// # Panics
    ///
    /// If the script is not in the registry.
    #[track_caller]
    pub fn start<S: DurableScript>(&self, script: S) -> Handle<S::Output> {
        self.make(
            script,
            Making {
                starts: true,
                ..Making::default()
            },
        )
    }

    /// Starts a script with `phase` as home.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[track_caller]
    pub fn start_in<S: DurableScript>(&self, phase: Phase, script: S) -> Handle<S::Output> {
        self.make(
            script,
            Making {
                starts: true,
                home: Some(phase),
                ..Making::default()
            },
        )
    }

    /// Starts a script on an owner.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[track_caller]
    pub fn start_on<S: DurableScript>(&self, owner: OwnerId, script: S) -> Handle<S::Output> {
        self.make(
            script,
            Making {
                starts: true,
                owner: Some(owner),
                ..Making::default()
            },
        )
    }

    /// Spawns a script: the next run of Update polls it first.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[track_caller]
    pub fn spawn<S: DurableScript>(&self, script: S) -> Handle<S::Output> {
        self.make(script, Making::default())
    }

    /// Spawns a script with `phase` as home: the next run of that phase polls it first.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[track_caller]
    pub fn spawn_in<S: DurableScript>(&self, phase: Phase, script: S) -> Handle<S::Output> {
        self.make(
            script,
            Making {
                home: Some(phase),
                ..Making::default()
            },
        )
    }

    /// Spawns a script on an owner.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[track_caller]
    pub fn spawn_on<S: DurableScript>(&self, owner: OwnerId, script: S) -> Handle<S::Output> {
        self.make(
            script,
            Making {
                owner: Some(owner),
                ..Making::default()
            },
        )
    }

    #[track_caller]
    fn make<S: DurableScript>(&self, script: S, making: Making) -> Handle<S::Output> {
        let mut script = Some(script);
        Handle::of(self.make_any(making, Code::of::<S>(), &mut || begin_once(&mut script)))
    }

    /// The part of [`make`](Self::make) that is the same for all scripts.
    #[track_caller]
    fn make_any(&self, making: Making, code: Code, chapter: &mut dyn FnMut() -> Begun) -> Joins {
        let begun = self.shared.begin(code, chapter);
        // The handle is counted first: a script may end as it starts.
        let next = ScriptId(self.shared.next_script.get());
        let joins = Joins::new(&self.shared, next);
        self.shared.make(code, begun, making, None);
        joins
    }

    /// A handle to a script that is alive, or that has ended and still has a handle. After a
    /// restore, the result of a script that had a handle at the save is kept until the next
    /// run begins. `None` if there is no such script.
    ///
    /// # Panics
    ///
    /// When its result is read, if that is not a `T`.
    pub fn handle<T>(&self, id: ScriptId) -> Option<Handle<T>> {
        let exists =
            self.shared.script(id).is_some() || self.shared.ended.borrow().contains_key(&id);
        exists.then(|| Handle::of(Joins::new(&self.shared, id)))
    }

    /// The result of a script, if it has ended. Otherwise the script is detached.
    pub fn take<T: DeserializeOwned>(&self, handle: Handle<T>) -> Option<Result<T, JoinError>> {
        let result = self.result(&handle);
        drop(handle);
        result
    }

    /// The result of a script, if it has ended.
    ///
    /// # Panics
    ///
    /// If the result is not a `T`.
    pub fn result<T: DeserializeOwned>(&self, handle: &Handle<T>) -> Option<Result<T, JoinError>> {
        if handle.is_void(&self.shared) {
            return None;
        }
        // The host receives its panic.
        let result = self.shared.join(handle.id())?;
        Some(result.map(|output| {
            let read = output.read();
            read.unwrap_or_else(|| panic!("the result is not a `{}`", std::any::type_name::<T>()))
        }))
    }

    /// Whether a script is alive.
    pub fn is_alive(&self, id: ScriptId) -> bool {
        self.shared.script(id).is_some()
    }

    /// The scripts that are alive, in the order in which they were made, with their names.
    pub fn scripts(&self) -> Vec<(ScriptId, &'static str)> {
        let scripts = self.shared.scripts.borrow();
        let scripts = scripts.values().map(|cell| (cell.id, cell.name()));
        scripts.collect()
    }

    /// How many entries the journal of a script has.
    pub fn entries(&self, id: ScriptId) -> Option<u32> {
        Some(self.shared.script(id)?.journal().entries())
    }

    /// Stops a script. Returns `false` if it has ended.
    pub fn stop(&self, id: ScriptId) -> bool {
        self.shared.act(id, Act::Stop)
    }

    /// Asks a script to stop: it ends in its own way once it reads the request, with
    /// [`stop_asked`](crate::stop_asked) or [`is_stop_asked`](crate::is_stop_asked). Returns `false`
    /// if it has been asked before, or has ended.
    pub fn ask_to_stop(&self, id: ScriptId) -> bool {
        self.shared.act(id, Act::Ask)
    }

    /// Whether a script is alive and has been asked to stop.
    pub fn is_stop_asked(&self, id: ScriptId) -> bool {
        self.shared.is_asked(id)
    }

    /// Pauses a script. Returns `false` if it was paused or has ended.
    pub fn pause(&self, id: ScriptId) -> bool {
        self.shared.act(id, Act::Pause)
    }

    /// Resumes a script that was paused. Returns `false` if it was not, or has ended.
    pub fn resume(&self, id: ScriptId) -> bool {
        self.shared.act(id, Act::Resume)
    }

    /// Emits an event for the host. The signal may have a key: `KNOCK.of(door)`.
    ///
    /// # Panics
    ///
    /// If the value does not serialise.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "as in framestep")]
    pub fn emit<T, N>(&self, signal: &Signal<T, N>, value: T)
    where
        T: Serialize + DeserializeOwned + 'static,
        N: EventName,
    {
        let value = Bytes::of(&value);
        self.shared.emit(signal.full_name(), &value);
    }

    /// Emits an event for the host to one script: the one that has waited longest. Returns the value if
    /// none waits. See [`Signal::emit_one`].
    ///
    /// # Panics
    ///
    /// If the value does not serialise.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// const JOBS: Signal<u32> = Signal::new("jobs");
    ///
    /// let runtime = Runtime::new(Registry::new());
    /// assert_eq!(runtime.emit_one(&JOBS, 3), Some(3)); // no script waits
    /// ```
    #[track_caller]
    pub fn emit_one<T, N>(&self, signal: &Signal<T, N>, value: T) -> Option<T>
    where
        T: Serialize + DeserializeOwned + 'static,
        N: EventName,
    {
        let bytes = Bytes::of(&value);
        let is_given = self.shared.emit_one(signal.full_name(), &bytes);
        (!is_given).then_some(value)
    }

    /// Sets a value for the host. It may have a key: `STAGE.of(quest)`.
    ///
    /// # Panics
    ///
    /// If it does not serialise.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "as in framestep")]
    pub fn set<T, N>(&self, value: &Value<T, N>, to: T)
    where
        T: Serialize + DeserializeOwned + Default + 'static,
        N: EventName,
    {
        let to = Bytes::of(&to);
        self.shared.set(value.full_name(), Some(to));
    }

    /// The current value.
    ///
    /// # Panics
    ///
    /// If another value of the same name has another type.
    pub fn get<T, N>(&self, value: &Value<T, N>) -> T
    where
        T: Serialize + DeserializeOwned + Default + 'static,
        N: EventName,
    {
        let (_, bytes) = self.shared.value(value.full_name());
        bytes.map_or_else(T::default, |bytes| {
            crate::wait::read_value(value.full_name(), &bytes)
        })
    }

    /// Removes a value: it is the default of its type again, and nothing is kept for it. If it was
    /// set, this is a change. Returns whether it was set.
    pub fn remove<T, N>(&self, value: &Value<T, N>) -> bool
    where
        T: Serialize + DeserializeOwned + Default + 'static,
        N: EventName,
    {
        self.shared.set(value.full_name(), None)
    }

    /// How many permits are free.
    pub fn available<N: EventName>(&self, permits: &Permits<N>) -> usize {
        let free = self
            .shared
            .free_permits(permits.full_name(), permits.declared());
        usize::try_from(free).unwrap_or(usize::MAX)
    }

    /// The scripts that have permits, one for each [`Permit`](crate::Permit), in the order of their
    /// numbers.
    pub fn holders<N: EventName>(&self, permits: &Permits<N>) -> Vec<ScriptId> {
        self.shared.holders(permits.full_name())
    }

    /// Sets how many permits there are, instead of the number in the code. This is kept, and saved,
    /// until it is set to that number again. Scripts keep the permits that they have, even if there
    /// are fewer now. If there are more, scripts that wait get them.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// const TOKENS: Permits = Permits::new("attack tokens", 2);
    ///
    /// let runtime = Runtime::new(Registry::new());
    /// runtime.set_permits(&TOKENS, 3); // the game is hard
    /// assert_eq!(runtime.available(&TOKENS), 3);
    /// assert!(runtime.holders(&TOKENS).is_empty());
    /// ```
    pub fn set_permits<N: EventName>(&self, permits: &Permits<N>, count: usize) {
        let declared = permits.declared();
        self.shared
            .set_permits(permits.full_name(), declared, count as u64);
    }

    /// Adds `count` permits for the host. See [`Permits::add`].
    ///
    /// # Panics
    ///
    /// If there would be more permits than can be counted.
    #[track_caller]
    pub fn add_permits<N: EventName>(&self, permits: &Permits<N>, count: usize) {
        let (name, declared) = (permits.full_name(), permits.declared());
        expect_countable(self.shared.add_permits(name, declared, count as u64));
    }

    /// Resolves a [promise](crate::promise) for the host. Returns `false` if it was dropped, or was
    /// resolved or cancelled before.
    ///
    /// # Panics
    ///
    /// If the value does not serialise.
    #[track_caller]
    pub fn resolve<T>(&self, resolver: &Resolver<T>, value: &T) -> bool
    where
        T: Serialize + DeserializeOwned + 'static,
    {
        let (promise, stamp) = resolver.key();
        let value = Settled::Resolved(Bytes::of(value));
        self.shared.settle(promise, stamp, value)
    }

    /// Cancels a [promise](crate::promise) for the host: it returns an error. Returns `false` if it
    /// was dropped, or was resolved or cancelled before.
    pub fn cancel<T>(&self, resolver: &Resolver<T>) -> bool
    where
        T: Serialize + DeserializeOwned + 'static,
    {
        let (promise, stamp) = resolver.key();
        self.shared.settle(promise, stamp, Settled::Cancelled)
    }

    /// The open questions of scripts that this call has not returned before, in the order in
    /// which they were asked. After a restore or a rollback, it returns all open questions again.
    ///
    /// # Panics
    ///
    /// If another type of request has the same name. Then the next call returns all of them
    /// again.
    pub fn requests<R: Request>(&self) -> Vec<(RequestId<R>, R)> {
        let found = self.shared.new_questions(R::NAME);
        let read = |(key, bytes): (_, Bytes)| {
            let request = bytes.read().unwrap_or_else(|| {
                panic!(
                    "another request is named `{}`, like `{}`",
                    R::NAME,
                    std::any::type_name::<R>()
                )
            });
            (RequestId::new(key), request)
        };
        let found: Vec<(RequestId<R>, R)> = found.into_iter().map(read).collect();
        // Only now: if one cannot be read, the host receives none of them.
        let keys = found.iter().map(|(id, _)| id.key);
        self.shared.receive(R::NAME, keys);
        found
    }

    /// Answers a question. Returns `false` if no script waits for the answer any more: the question
    /// was withdrawn, or has an answer, or is one that a rollback has taken back.
    ///
    /// # Panics
    ///
    /// If the answer does not serialise.
    #[track_caller]
    pub fn answer<R: Request>(&self, id: RequestId<R>, answer: &R::Answer) -> bool {
        self.shared.answer(id.key, R::NAME, &Bytes::of(answer))
    }

    /// Whether a script waits for the answer to a question, and it has none.
    pub fn is_open<R: Request>(&self, id: RequestId<R>) -> bool {
        self.shared.is_open(id.key, R::NAME)
    }

    /// The questions that [`requests`](Self::requests) has returned, and that were withdrawn before
    /// they had an answer: the script has dropped its [`ask`](crate::ask), was stopped, or was rolled
    /// back. Close their boxes. Each is returned once. For a host that does not call this, the latest
    /// 1,024 are kept.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Choice;
    ///
    /// impl Request for Choice {
    ///     const NAME: &'static str = "choice";
    ///     type Answer = u32;
    /// }
    ///
    /// #[durable]
    /// async fn quick() -> bool {
    ///     timeout(0.25, ask(|| Choice)).await.is_ok()
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().with::<Quick>());
    /// runtime.start(quick()).detach();
    /// let (box_of, _) = runtime.requests::<Choice>()[0];
    /// assert!(runtime.is_open(box_of));
    /// runtime.run_frame(0.25); // too late
    /// assert_eq!(runtime.withdrawn::<Choice>(), [box_of]);
    /// ```
    pub fn withdrawn<R: Request>(&self) -> Vec<RequestId<R>> {
        let withdrawn = self.shared.take_withdrawn(R::NAME);
        withdrawn.into_iter().map(RequestId::new).collect()
    }

    /// Makes an owner. It exists until it is [dropped](Self::drop_owner).
    pub fn owner(&self) -> OwnerId {
        self.make_owner(None, None)
    }

    /// Makes an owner whose scripts count on `clock`.
    ///
    /// # Panics
    ///
    /// If there is no such clock.
    #[track_caller]
    pub fn owner_on(&self, clock: ClockId) -> OwnerId {
        self.make_owner(None, Some(clock))
    }

    /// Makes an owner below another one. What happens to the parent also happens to it.
    ///
    /// # Panics
    ///
    /// If there is no such owner.
    #[track_caller]
    pub fn child_owner(&self, parent: OwnerId) -> OwnerId {
        self.make_owner(Some(parent), None)
    }

    #[track_caller]
    fn make_owner(&self, parent: Option<OwnerId>, clock: Option<ClockId>) -> OwnerId {
        let shared = &self.shared;
        let Some(owner) = shared.new_owner(parent, clock) else {
            panic!("the runtime has no owner {parent:?} or no clock {clock:?}");
        };
        let id = OwnerId(shared.next_owner.get());
        shared.next_owner.set(id.0 + 1);
        // Scripts of a child count on the clock of the parent.
        let entry = OwnerEntry {
            owner: Rc::new(owner),
            parent,
            clock,
            name: None,
            is_paused: false,
            is_active: true,
            is_heard: false,
        };
        shared.owners.borrow_mut().insert(id, entry);
        id
    }

    /// Drops an owner: its scripts are stopped, and it accepts no more scripts. Returns
    /// `false` if there is no such owner.
    pub fn drop_owner(&self, id: OwnerId) -> bool {
        self.shared.drop_owner(id)
    }

    /// Pauses the scripts of an owner. Returns `false` if it was paused.
    pub fn pause_owner(&self, id: OwnerId) -> bool {
        self.shared.pause_owner(id, true)
    }

    /// Resumes the scripts of an owner. Returns `false` if it was not paused.
    pub fn resume_owner(&self, id: OwnerId) -> bool {
        self.shared.pause_owner(id, false)
    }

    /// Stops the scripts of an owner.
    pub fn stop_all(&self, id: OwnerId) {
        self.shared.stop_all(id);
    }

    /// Asks the scripts of an owner, and of the owners below it, to stop. See
    /// [`OwnerId::ask_to_stop`].
    pub fn ask_owner_to_stop(&self, id: OwnerId) {
        self.shared.ask_owner(id);
    }

    /// [Asks](Self::ask_owner_to_stop) the scripts of an owner to stop, and stops those that are left
    /// after `seconds`, even if the handle is dropped. See [`OwnerId::stop_within`].
    ///
    /// The handle is that of a script which waits for that. It returns how many scripts had to be
    /// stopped.
    ///
    /// # Panics
    ///
    /// If `seconds` is NaN.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// #[durable]
    /// async fn forgetful() {
    ///     wait_seconds(60).await;
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().with::<Forgetful>());
    /// runtime.executor().on_report(|report| assert!(report.to_string().contains("read by none")));
    /// let level = runtime.owner();
    /// runtime.start_on(level, forgetful()).detach();
    /// let stopped = runtime.stop_owner_within(level, 0.5);
    /// for _ in 0..3 {
    ///     assert!(!runtime.is_owner_empty(level));
    ///     runtime.run_frame(0.25);
    /// }
    /// assert_eq!(runtime.take(stopped), Some(Ok(1)));
    /// assert!(runtime.is_owner_empty(level));
    /// ```
    #[track_caller]
    pub fn stop_owner_within(&self, id: OwnerId, seconds: impl Seconds) -> Handle<usize> {
        let length_ns = length_ns(seconds);
        let making = self.shared.making_of_stopper(id, None);
        let mut script = Some(self.shared.stopper(id, length_ns));
        let joins = self.make_any(making, Code::of::<Stopper>(), &mut || {
            self.shared.ask_owner(id);
            begin_once(&mut script)
        });
        self.shared.note_stop_place(joins.id(), Location::caller());
        Handle::of(joins)
    }

    /// Whether an owner and the owners below it have no script. True for an owner that has been
    /// dropped. Scripts await this with [`OwnerId::ended`].
    pub fn is_owner_empty(&self, id: OwnerId) -> bool {
        self.shared.is_owner_empty(id)
    }

    /// Activates or deactivates an owner. Deactivating stops its scripts; an inactive owner
    /// accepts none.
    pub fn set_owner_active(&self, id: OwnerId, active: bool) {
        self.shared.set_owner_active(id, active);
    }

    /// Makes a clock below another one.
    ///
    /// # Panics
    ///
    /// If there is no such clock.
    #[track_caller]
    pub fn child_clock(&self, parent: ClockId) -> ClockId {
        let clock = self.shared.expect_clock(parent).child();
        let mut clocks = self.shared.clocks.borrow_mut();
        clocks.push(ClockEntry { clock, parent });
        let number = u32::try_from(clocks.len()).expect("fewer than 2^31 clocks");
        ClockId(number - 1 + ClockId::FIRST)
    }

    /// The clock of this number, to scale and to pause it. Guards (`hold`, `scaled`) cannot be
    /// saved: use `pause` and `set_scale`.
    ///
    /// # Panics
    ///
    /// If there is no such clock.
    #[track_caller]
    pub fn clock(&self, id: ClockId) -> framestep::Clock {
        self.shared.expect_clock(id)
    }

    /// Calls `hook` with each script whose chapter has become long: at 1,000 entries, and again at
    /// each power of ten; and if it has [too many](RuntimeBuilder::max_entries). Without a hook, a
    /// line is printed. A panic of the hook is reported, and the script goes on.
    pub fn on_long_chapter(&self, hook: impl FnMut(&LongChapter) + 'static) {
        self.shared.long_chapters.set_hook(Box::new(hook));
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // Scripts refer to the runtime, and the runtime to them.
        let scripts: Vec<_> = self.host.shared.scripts.borrow().keys().copied().collect();
        for id in scripts {
            self.host.shared.act(id, Act::Stop);
        }
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("scripts", &self.scripts())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("scripts", &self.scripts())
            .finish_non_exhaustive()
    }
}
