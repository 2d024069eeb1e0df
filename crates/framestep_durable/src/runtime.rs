//! The runtime: an executor for durable scripts alone.

use std::fmt;
use std::ops::Deref;

use framestep::time::Seconds;
use framestep::{Builder, Executor, Phase, Time};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes;
use crate::dry_run::DryRun;
use crate::error::{Divergence, RestoreError, SaveError};
use crate::file::World;
use crate::handle::Act;
use crate::host::Host;
use crate::image::SaveState;
use crate::outside::beside_of;
use crate::registry::Registry;
use crate::restore::{Policy, Restored};
use crate::shared::{Limits, Shared};
use crate::sync::{Lent, Summed, SyncTest};

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
            limits: Limits::default(),
            lent: Vec::new(),
            hashed: Vec::new(),
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
        let shared = self.host.shared();
        shared.begin_run("run_frame");
        let executor = &mut self.executor;
        let mut run = || {
            shared.begin_frame();
            executor.run_frame(dt);
        };
        match &self.sync_test {
            None => run(),
            Some(test) => test.run(shared, "run_frame", &mut run),
        }
    }

    /// Runs a frame with the world lent. See [`Executor::run_frame_with`].
    #[track_caller]
    pub fn run_frame_with<W: 'static>(&mut self, world: &mut W, dt: impl Seconds) {
        let shared = self.host.shared();
        shared.begin_run("run_frame_with");
        shared.note_lent(std::any::type_name::<W>());
        let executor = &mut self.executor;
        match &self.sync_test {
            None => {
                shared.begin_frame();
                executor.run_frame_with(world, dt);
            }
            Some(test) => {
                shared.door.assert_idle("run_frame_with");
                executor.lend(world, |executor| {
                    test.run(shared, "run_frame_with", &mut || {
                        shared.begin_frame();
                        executor.run_frame(dt);
                    });
                });
            }
        }
    }

    /// Begins a frame. See [`Executor::begin_frame`].
    #[track_caller]
    pub fn begin_frame(&mut self, dt: impl Seconds) {
        self.host.shared().begin_frame();
        self.executor.begin_frame(dt);
    }

    /// Begins a frame by the clocks of an engine. See [`Executor::begin_frame_with`].
    #[track_caller]
    pub fn begin_frame_with(&mut self, dt: impl Seconds, game_dt: impl Seconds) {
        self.host.shared().begin_frame();
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
        self.host.shared().begin_run("run_phase");
        self.host.shared().note_reached();
        let executor = &mut self.executor;
        match &self.sync_test {
            None => executor.run_phase(phase),
            Some(test) => {
                let shared = self.host.shared();
                test.run(shared, "run_phase", &mut || executor.run_phase(phase));
            }
        }
    }

    /// Lends the world to the scripts while `f` runs. See [`Executor::lend`].
    pub fn lend<W: 'static, R>(&mut self, world: &mut W, f: impl FnOnce(&mut Runtime) -> R) -> R {
        self.host.shared().note_lent(std::any::type_name::<W>());
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
        self.host.shared().door.assert_idle("save_state");
        self.host.shared().save_state()
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
        self.host.shared().door.assert_idle("checksum");
        self.host.shared().checksum(&World::none())
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
        self.host.shared().door.assert_idle("checksum_with");
        let write = |to: &mut Vec<u8>| bytes::try_write(world, to);
        self.host.shared().checksum(&World::of::<W>(&write))
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
        self.host.shared().door.assert_idle("save");
        if cfg!(debug_assertions) {
            return self.host.shared().verified();
        }
        self.host.shared().save_state()
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
        self.host.shared().door.assert_idle("verify");
        self.host.shared().verified().map(drop)
    }

    /// What does not fit in a save state.
    pub(crate) fn dry_run(&self, save: &SaveState) -> DryRun {
        self.host.shared().dry_run(save)
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
        self.host.shared().door.assert_idle("restore");
        let shared = self.host.shared();
        shared.restore_file(save, &mut policy, shared.is_of_this_build(save))
    }

    /// Goes back to a save state of this runtime. Scripts that have recorded nothing since keep
    /// their futures; the journals of the others are replayed with new futures. Later
    /// save states remain valid.
    ///
    /// [Handles](crate::Handle) of the host remain those of their scripts: of a script that is taken
    /// back, they do nothing, and those of a script that is there again are valid again. A save state
    /// that was read from bytes does not know which scripts it has: these are the present ones that
    /// have the same numbers and names.
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
        self.host.shared().door.assert_idle("rollback");
        self.host.shared().go_back(save)
    }
}

/// Sets up a [`Runtime`]: made by [`Runtime::builder`].
#[derive(Debug)]
#[must_use = "a builder does nothing before `build` is called"]
pub struct RuntimeBuilder {
    executor: Builder,
    registry: Registry,
    limits: Limits,
    lent: Vec<Lent>,
    hashed: Vec<Summed>,
}

impl RuntimeBuilder {
    /// Sets the settings of framestep: lengths of fixed steps, limits, what is observed.
    pub fn executor(mut self, builder: Builder) -> Self {
        self.executor = builder;
        self
    }

    /// Sets how many entries a chapter may have; there is no limit by default. A script that
    /// exceeds it is [reported](Host::on_long_chapter), and stopped where it waits next: a join
    /// returns [`JoinError::ChapterTooLong`](crate::JoinError::ChapterTooLong). So a chapter without
    /// end cannot use up the memory.
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
        self.limits.entries = entries;
        self
    }

    /// Sets how many events a subscription stores whose signal has no limit of its own
    /// ([`Signal::with_limit`](crate::Signal::with_limit)): 1,024 by default. At the limit, each new
    /// event replaces the oldest, which is [reported](Host::on_loss).
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
    /// const HIT: Signal<u32> = Signal::new("hit");
    ///
    /// #[durable]
    /// async fn hero() -> u32 {
    ///     let mut hits = HIT.subscribe();
    ///     wait_seconds(1).await;
    ///     hits.next().await
    /// }
    ///
    /// let registry = Registry::new().with::<Hero>();
    /// let mut runtime = Runtime::builder(registry).max_events(2).build();
    /// runtime.on_loss(|loss| assert!(loss.to_string().contains("`max_events`")));
    /// let hero = runtime.start(hero());
    /// for hit in [1, 2, 3] {
    ///     runtime.emit(&HIT, hit);
    /// }
    /// for _ in 0..4 {
    ///     runtime.run_frame(0.25);
    /// }
    /// assert_eq!(runtime.take(hero), Some(Ok(2)));
    /// ```
    #[track_caller]
    pub fn max_events(mut self, events: usize) -> Self {
        assert!(events > 0, "`max_events` must be at least 1");
        self.limits.events = events as u64;
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

    /// The [sync test](Self::sync_test) for a state that the game saves: between the two runs, it is
    /// written as bytes and read back, as a file would. So the test also finds what a clone hides: the
    /// order of a `HashMap`, a field with `#[serde(skip)]`, a `Deserialize` that does not read what its
    /// `Serialize` writes.
    ///
    /// # Costs
    ///
    /// Beside those of [`sync_test`](Self::sync_test): the state is written twice in each run, and read.
    ///
    /// # Panics
    ///
    /// The run panics as in the sync test. And if the state is another one after it was read back: the
    /// message names the field.
    ///
    /// # Examples
    ///
    /// ```should_panic
    /// use std::collections::HashMap;
    ///
    /// use framestep_durable::prelude::*;
    ///
    /// #[derive(Clone, Serialize, Deserialize)]
    /// struct World {
    ///     enemies: HashMap<u32, u32>, // should be a BTreeMap
    /// }
    ///
    /// let mut world = World { enemies: (0..50).map(|n| (n, n)).collect() };
    /// let builder = Runtime::builder(Registry::new());
    /// let mut runtime = builder.sync_test_through_bytes::<World>().build();
    /// // The sync test of `run_frame_with` failed in frame 1: a world of type `World` is another one after
    /// // it was written and read back: `enemies` has its items in another order. ..
    /// runtime.run_frame_with(&mut world, 1.0 / 60.0);
    /// ```
    pub fn sync_test_through_bytes<W>(mut self) -> Self
    where
        W: Clone + Serialize + DeserializeOwned + 'static,
    {
        self.lent.push(Lent::through_bytes::<W>());
        self
    }

    /// Hashes a state that the host lends before and after each effect. For two peers whose checksums
    /// differ: [`SaveState::diff`] then begins with the first effect that they have done differently,
    /// also if it returns nothing, and says whether their states differed before it.
    ///
    /// The hashes of the last 4,096 effects are in each save state, also in files, but in no checksum.
    /// Both peers need the switch. For several states, call this for each.
    ///
    /// # Costs
    ///
    /// For debug builds, and to look for a desync. Each effect takes two checksums of the state, and a
    /// file 50 to 100 bytes for each effect that is kept. Without the switch, it costs nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct World {
    ///     damage: u32,
    ///     bonus: u32,
    /// }
    ///
    /// #[durable]
    /// async fn hits() {
    ///     wait_frames(2).await;
    ///     with(|world: &mut World| world.damage += world.bonus);
    /// }
    ///
    /// let play = |bonus| {
    ///     let builder = Runtime::builder(Registry::new().with::<Hits>());
    ///     let mut runtime = builder.hash_effects::<World>().build();
    ///     runtime.spawn(hits()).detach();
    ///     let mut world = World { damage: 0, bonus };
    ///     for _ in 0..4 {
    ///         runtime.run_frame_with(&mut world, 0.1);
    ///     }
    ///     runtime.save_state().unwrap()
    /// };
    /// let difference = play(1).diff(&play(2))[0].to_string();
    /// assert!(difference.starts_with("script `hits` (#1), entry 2: before a `with` at "));
    /// assert!(play(1).diff(&play(1)).is_empty());
    /// ```
    pub fn hash_effects<W: Serialize + 'static>(mut self) -> Self {
        self.hashed.push(Summed::of::<W>());
        self
    }

    /// Makes the runtime.
    pub fn build(self) -> Runtime {
        let executor = self.executor.build();
        let (door, handle) = (executor.durable(), executor.handle());
        let shared = Shared::new(door, handle, self.registry, self.limits);
        shared.door.set_beside(beside_of(&shared));
        shared.trail.hash_effects(self.hashed);
        let host = Host::of(shared);
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

impl Drop for Runtime {
    fn drop(&mut self) {
        // What its scripts have not read is not lost to them.
        self.host.shared().losses.close();
        // Scripts refer to the runtime, and the runtime to them.
        let scripts: Vec<_> = self
            .host
            .shared()
            .scripts
            .borrow()
            .keys()
            .copied()
            .collect();
        for id in scripts {
            self.host.shared().act(id, Act::Stop(None));
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
