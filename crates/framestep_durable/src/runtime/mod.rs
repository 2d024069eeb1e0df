//! The runtime: an executor for durable scripts alone.

pub(crate) mod by_number;
mod ends;
pub(crate) mod group;
pub(crate) mod handle;
pub(crate) mod host;
pub(crate) mod owner;
pub(crate) mod questions;
pub(crate) mod resimulated;
pub(crate) mod start;
pub(crate) mod stop;
pub(crate) mod when_each;

pub(crate) use self::by_number::Act;
pub(crate) use self::handle::{Joins, ScriptHandle};
pub(crate) use self::host::RuntimeHandle;
pub(crate) use self::stop::expect_from_outside;

use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use framestep::sync::Named;
use framestep::time::Seconds;
use framestep::{Builder, Executor, Phase, Time};
use serde::Serialize;

use crate::script::caller::beside_of;
use crate::script::shared::trail::Summed;
use crate::script::{Lent, Limits, Registry, Shared};

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
/// runtime.start(Intro);
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
    host: RuntimeHandle,
    sync_test: Option<SyncTest>,
}

/// How each run is tested.
#[derive(Debug)]
struct SyncTest {
    lent: Vec<Lent>,
    run_twice: RunTwice,
}

/// Does a run twice, with the states that the host lends. Fails with what differs.
pub(crate) type RunTwice = fn(&Rc<Shared>, &[Lent], &mut dyn FnMut()) -> Result<(), String>;

impl SyncTest {
    /// # Panics
    ///
    /// If the test fails.
    #[track_caller]
    fn run(&self, shared: &Rc<Shared>, call: &str, run: &mut dyn FnMut()) {
        shared.door.assert_idle(call);
        let Err(why) = (self.run_twice)(shared, &self.lent, run) else {
            return;
        };
        let frame = shared.executor.time().map_or(0, |time| time.frame);
        panic!("the sync test of `{call}` failed in frame {frame}: {why}")
    }
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
            sync_test: None,
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

    /// Calls `f` inside of the runtime, where the host does what scripts do with the signals, watches and semaphores
    /// that are found by name. See [`Executor::enter`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// const GOLD: Watch<u32> = watch("gold", || 3);
    ///
    /// let runtime = Runtime::new(Registry::new());
    /// let gold = runtime.enter(|| {
    ///     GOLD.update(|gold| *gold += 4);
    ///     GOLD.get()
    /// });
    /// assert_eq!(gold, 7);
    /// ```
    #[track_caller]
    pub fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        self.executor.enter(f)
    }

    /// A handle of the signal, watch or semaphore of this name in the runtime. It works anywhere on this thread, until
    /// the runtime is dropped. See [`Executor::named`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// const JOBS: Signal<u32> = signal("jobs");
    ///
    /// let runtime = Runtime::new(Registry::new());
    /// let jobs = runtime.named(&JOBS);
    /// assert_eq!(jobs.emit_one(3), Some(3)); // no script waits
    /// ```
    #[track_caller]
    pub fn named<N: Named>(&self, source: &N) -> N {
        self.executor.named(source)
    }

    /// The part of the runtime that can be used while scripts run, such as in a callback of an
    /// engine that a `with` triggers. Between runs, the runtime has the same methods.
    pub fn host(&self) -> &RuntimeHandle {
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
            shared.reached.begin_frame();
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
                shared.reached.begin_frame();
                executor.run_frame_with(world, dt);
            }
            Some(test) => {
                shared.door.assert_idle("run_frame_with");
                executor.lend(world, |executor| {
                    test.run(shared, "run_frame_with", &mut || {
                        shared.reached.begin_frame();
                        executor.run_frame(dt);
                    });
                });
            }
        }
    }

    /// Begins a frame. See [`Executor::begin_frame`].
    #[track_caller]
    pub fn begin_frame(&mut self, dt: impl Seconds) {
        self.host.shared().reached.begin_frame();
        self.executor.begin_frame(dt);
    }

    /// Begins a frame by the clocks of an engine. See [`Executor::begin_frame_with`].
    #[track_caller]
    pub fn begin_frame_with(&mut self, dt: impl Seconds, game_dt: impl Seconds) {
        self.host.shared().reached.begin_frame();
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
        self.host.shared().reached.note_reached();
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
}

/// Sets up a [`Runtime`]: made by [`Runtime::builder`].
#[derive(Debug)]
#[must_use = "a builder does nothing before `build` is called"]
pub struct RuntimeBuilder {
    executor: Builder,
    registry: Registry,
    limits: Limits,
    sync_test: Option<SyncTest>,
    hashed: Vec<Summed>,
}

impl RuntimeBuilder {
    /// Sets the settings of framestep: lengths of fixed steps, limits, what is observed.
    pub fn executor(mut self, builder: Builder) -> Self {
        self.executor = builder;
        self
    }

    /// Sets how many entries a chapter may have; there is no limit by default. A script that
    /// exceeds it is [reported](RuntimeHandle::on_long_chapter), and stopped where it waits next: a join
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
    /// ([`signal_with_limit`](crate::signal_with_limit)): 1,024 by default. At the limit, each new
    /// event replaces the oldest, which is [reported](RuntimeHandle::on_loss).
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
    /// const HIT: Signal<u32> = signal("hit");
    ///
    /// #[durable]
    /// async fn hero() -> u32 {
    ///     let mut hits = HIT.subscribe();
    ///     wait_seconds(1).await;
    ///     hits.next().await.unwrap()
    /// }
    ///
    /// let registry = Registry::new().script(hero);
    /// let mut runtime = Runtime::builder(registry).max_events(2).build();
    /// runtime.on_loss(|loss| assert!(loss.to_string().contains("`max_events`")));
    /// let hero = runtime.start(hero());
    /// for hit in [1, 2, 3] {
    ///     runtime.named(&HIT).emit(hit);
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

    /// Hashes a state that the host lends before and after each effect. For two peers whose checksums
    /// differ: [`SaveState::diff`](crate::SaveState::diff) then begins with the first effect that they have done differently,
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
    ///     let builder = Runtime::builder(Registry::new().script(hits));
    ///     let mut runtime = builder.hash_effects::<World>().build();
    ///     runtime.spawn(hits());
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

    /// Tests each run with one more state.
    pub(crate) fn test_with(mut self, lent: Lent, run_twice: RunTwice) -> Self {
        let new = SyncTest {
            lent: Vec::new(),
            run_twice,
        };
        let test = self.sync_test.get_or_insert(new);
        test.lent.push(lent);
        self
    }

    /// Makes the runtime.
    pub fn build(self) -> Runtime {
        let executor = self.executor.build();
        let (door, handle) = (executor.durable(), executor.handle());
        let shared = Shared::new(door, handle, self.registry, self.limits);
        shared.door.set_beside(beside_of(&shared));
        shared.trail.hash_effects(self.hashed);
        let host = RuntimeHandle::of(shared);
        Runtime {
            executor,
            host,
            sync_test: self.sync_test,
        }
    }
}

impl Deref for Runtime {
    type Target = RuntimeHandle;

    fn deref(&self) -> &RuntimeHandle {
        &self.host
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // What its scripts have not read is not lost to them.
        self.host.shared().close_hooks();
        // Scripts refer to the runtime, and the runtime to them.
        let scripts: Vec<_> = self
            .host
            .shared()
            .scripts
            .alive
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
