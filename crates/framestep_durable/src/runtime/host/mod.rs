//! What a host does with a runtime, also while scripts run.

pub(crate) mod events;

use std::fmt;
use std::rc::Rc;

use framestep::durable::refuse;
use serde::de::DeserializeOwned;

use crate::events::Loss;
use crate::ids::{OwnerId, ScriptId};
use crate::journal::long::LongChapter;
use crate::runtime::ScriptHandle;
use crate::script::{Code, DurableScript, Given, JoinError, Making, Registry, Shared, begin};

/// The part of a [`Runtime`](crate::Runtime) that needs no exclusive access: its scripts, its questions, and what it
/// reports.
///
/// `start`, `spawn`, `owner` and `is_alive` are those of framestep's [`Handle`](framestep::Handle), for durable scripts.
/// All else is what a host alone does. What scripts do, the host does with the same functions, inside of
/// [`enter`](crate::Runtime::enter) or [`executor().enter`](framestep::Handle::enter), such as
/// `runtime.enter(|| start_in(Phase::LateUpdate, camera()))`, `level.start(torch())`, `level.pause()`, `stop(id)` or
/// `slow.clock()`. In a callback of a script, that is a part of the script: what it starts has the owner and the home
/// of the script.
///
/// A durable script does not act through it: a load would start, make or answer the same again. Such a call panics,
/// except in a closure of `with` or `effect`, which a load does not call.
///
/// Engines call back while a script runs: for example, a `with` despawns an entity, and the
/// engine calls the code that manages the entity's scripts. During a run, the runtime is
/// mutably borrowed. A clone of its [`host`](crate::Runtime::host) is not.
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
/// use framestep_durable::{RuntimeHandle, prelude::*};
///
/// /// The world of an engine, which manages the scripts of its doors.
/// struct World {
///     host: RuntimeHandle,
///     door: Option<OwnerId>,
/// }
///
/// impl World {
///     fn remove_door(&mut self) {
///         if let Some(owner) = self.door.take() {
///             self.host.executor().enter(|| owner.remove()); // its scripts end with it
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
/// let creak = runtime.enter(|| door.start(Creak)).id();
/// runtime.start(Bomb);
/// let mut world = World { host: runtime.host().clone(), door: Some(door) };
/// runtime.run_frame_with(&mut world, 0.25);
/// assert!(!runtime.is_alive(creak));
/// ```
#[derive(Clone)]
pub struct RuntimeHandle {
    shared: Rc<Shared>,
}

impl RuntimeHandle {
    pub(crate) fn of(shared: Rc<Shared>) -> Self {
        RuntimeHandle { shared }
    }

    pub(crate) fn shared(&self) -> &Rc<Shared> {
        &self.shared
    }

    /// The executor of the runtime, for what both have in common: [`enter`](framestep::Handle::enter), to use signals,
    /// watches and semaphores as scripts do, [`named`](framestep::Handle::named), and the time.
    pub fn executor(&self) -> &framestep::Handle {
        &self.shared.executor
    }

    /// Starts a script for the host: it runs up to its first wait. If it needs the world
    /// before that, start it inside [`Runtime::lend`](crate::Runtime::lend). With a phase as home:
    /// `runtime.enter(|| start_in(Phase::LateUpdate, camera()))`.
    ///
    /// # Panics
    ///
    /// If the script is not in the registry.
    #[track_caller]
    pub fn start<S: DurableScript>(&self, script: S) -> ScriptHandle<S::Output> {
        self.make(script, Making::STARTS)
    }

    /// Spawns a script: the next run of Update polls it first.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[track_caller]
    pub fn spawn<S: DurableScript>(&self, script: S) -> ScriptHandle<S::Output> {
        self.make(script, Making::SPAWNS)
    }

    #[track_caller]
    fn make<S: DurableScript>(&self, script: S, making: Making) -> ScriptHandle<S::Output> {
        refuse(if making.starts {
            "RuntimeHandle::start"
        } else {
            "RuntimeHandle::spawn"
        });
        let mut script = Given::new(script);
        let code = Code::of::<S>();
        let shared = &self.shared;
        ScriptHandle::of(shared.make_for_host(making, code, &mut || begin(script.take())))
    }

    /// Makes an owner below none, also in a callback of a script. It exists until it is [removed](OwnerId::remove). What
    /// scripts do with an owner, the host does in [`enter`](crate::Runtime::enter): `runtime.enter(|| level.pause())`.
    ///
    /// # Panics
    ///
    /// If the runtime has been dropped.
    #[track_caller]
    pub fn owner(&self) -> OwnerId {
        refuse("RuntimeHandle::owner");
        self.shared.expect_alive("owner");
        let owner = self.shared.add_owner(None, None);
        owner.expect("it is below none")
    }

    /// The result of a script, if it has ended. Otherwise the script is detached.
    #[track_caller]
    pub fn take<T: DeserializeOwned>(
        &self,
        handle: ScriptHandle<T>,
    ) -> Option<Result<T, JoinError>> {
        refuse("RuntimeHandle::take");
        let result = self.result(&handle);
        drop(handle);
        result
    }

    /// The result of a script, if it has ended.
    ///
    /// # Panics
    ///
    /// If the result is not a `T`.
    pub fn result<T: DeserializeOwned>(
        &self,
        handle: &ScriptHandle<T>,
    ) -> Option<Result<T, JoinError>> {
        if handle.is_void(&self.shared) {
            return None;
        }
        // The host receives its panic.
        let result = self.shared.join(handle.id())?;
        Some(result.map(|output| {
            let read = output.value().read();
            read.unwrap_or_else(|| panic!("the result is not a `{}`", std::any::type_name::<T>()))
        }))
    }

    /// Whether a script is alive.
    pub fn is_alive(&self, id: ScriptId) -> bool {
        self.shared.scripts.get(id).is_some()
    }

    /// The scripts that are alive, in the order in which they were made, with their names.
    pub fn scripts(&self) -> Vec<(ScriptId, &'static str)> {
        let scripts = self.shared.scripts.alive.borrow();
        let scripts = scripts.values().map(|cell| (cell.id, cell.name()));
        scripts.collect()
    }

    /// The registry: that of the last restore of changed code, or else the one with which the runtime
    /// was made.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// # fn main() -> Result<(), SaveError> {
    /// let runtime = Runtime::new(Registry::new());
    /// let file = runtime.save()?.described(&runtime.registry())?.to_bytes();
    /// # Ok(())
    /// # }
    /// ```
    pub fn registry(&self) -> Rc<Registry> {
        self.shared.registry()
    }

    /// Where a script was that has panicked: the file and the line of the last call that its chapter
    /// had recorded, such as a wait that was over or a `with`. For a hook of
    /// [`on_report`](framestep::Executor::on_report), which receives the panics that no join returns.
    /// `None` if the chapter had recorded nothing, or if the script is not among the last 16 that have
    /// panicked.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::{cell::Cell, rc::Rc};
    /// use framestep_durable::prelude::*;
    ///
    /// #[durable]
    /// async fn fuse() {
    ///     wait_seconds(1).await;
    ///     panic!("it is wet");
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().script(fuse));
    /// let panicked = Rc::new(Cell::new(None));
    /// let hook = panicked.clone();
    /// runtime.executor().on_report(move |report| {
    ///     if let framestep::inspect::Report::CoroutinePanicked { id, .. } = report {
    ///         hook.set(Some(*id));
    ///     }
    /// });
    /// runtime.spawn(fuse());
    /// for _ in 0..9 {
    ///     runtime.run_frame(0.125);
    /// }
    /// let place = runtime.panicked_after(panicked.get().unwrap()).unwrap();
    /// assert!(place.contains(".rs:"), "{place}"); // the line of `wait_seconds`
    /// ```
    pub fn panicked_after(&self, id: framestep::task::CoroutineId) -> Option<String> {
        self.shared.ends.panicked_after(id)
    }

    /// How many entries the journal of a script has.
    pub fn entries(&self, id: ScriptId) -> Option<u32> {
        Some(self.shared.scripts.get(id)?.journal().entries())
    }

    /// Takes the present for the furthest that the runtime has come: the next runs are not
    /// [resimulated](crate::is_resimulated), and do again what was done
    /// [once in their frames](crate::effect_once_per_frame). For a game that rewinds, when it goes on from
    /// an earlier point.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut runtime = Runtime::new(Registry::new());
    /// let save = runtime.save_state()?;
    /// runtime.run_frame(0.1);
    /// runtime.rollback(&save)?;
    /// assert!(runtime.enter(is_resimulated));
    /// runtime.forget_future();
    /// assert!(!runtime.enter(is_resimulated));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn forget_future(&self) {
        refuse("RuntimeHandle::forget_future");
        self.shared.reached.forget_future();
    }

    /// Calls `hook` with each script whose chapter has become long: at 1,000 entries, and again at
    /// each power of ten; and if it has [too many](crate::RuntimeBuilder::max_entries). Without a
    /// hook, a line is printed. A panic of the hook is reported, and the script goes on.
    pub fn on_long_chapter(&self, hook: impl FnMut(&LongChapter) + 'static) {
        self.shared.long_chapters.hook.set(Box::new(hook));
    }

    /// Calls `hook` with each [`Loss`]: events, answers and values that came for a script, and that it
    /// does not receive. Without a hook, losses are printed to standard error: the first of each kind
    /// for each script and signal, and at most 20. A panic of the hook is reported, and the script
    /// goes on.
    ///
    /// What a script that ends has not read is no loss, and neither is an event for which nothing
    /// waits.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::{cell::RefCell, rc::Rc};
    /// use framestep_durable::prelude::*;
    ///
    /// const HIT: Signal<u32> = signal_with_limit("hit", 2);
    ///
    /// #[durable]
    /// async fn hero() {
    ///     let mut hits = HIT.subscribe();
    ///     wait_seconds(60).await;
    ///     hits.next().await;
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().script(hero));
    /// let heard = Rc::new(RefCell::new(Vec::new()));
    /// let log = heard.clone();
    /// runtime.on_loss(move |loss| log.borrow_mut().push(loss.to_string()));
    /// runtime.start(hero());
    /// for hit in [1, 2, 3] {
    ///     runtime.named(&HIT).emit(hit);
    /// }
    /// assert!(heard.borrow()[0].starts_with("the script `hero` (#1) has missed 1 events"));
    /// ```
    pub fn on_loss(&self, hook: impl FnMut(&Loss) + 'static) {
        self.shared.losses.hook.set(Box::new(hook));
    }
}

impl fmt::Debug for RuntimeHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeHandle")
            .field("scripts", &self.scripts())
            .finish_non_exhaustive()
    }
}
