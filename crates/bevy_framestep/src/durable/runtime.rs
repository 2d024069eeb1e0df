//! The runtime in the world, and how its phases are run.

use std::cell::{Cell, RefCell, RefMut};
use std::fmt;
use std::rc::Rc;

use bevy_ecs::prelude::*;
use bevy_time::{Fixed, Real, Time, Virtual};
use framestep::{Handle, Phase};
use framestep_durable::{OwnerId, Runtime, RuntimeHandle};

use super::hear::Feed;
use crate::executor::Seen;
use crate::lost::LostSchedules;
use crate::query::Queries;

/// The runtime of the durable scripts, as a non-send resource: [`NonSend<DurableRuntime>`] in a
/// system.
///
/// It stays in the world while scripts run, so that systems, observers and hooks that a `with`
/// triggers can use it.
///
/// [`NonSend<DurableRuntime>`]: bevy_ecs::system::NonSend
///
/// # Examples
///
/// A system that passes a key on to the scripts that wait for it:
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::durable::prelude::*;
///
/// const SKIP: Signal<()> = signal("skip");
///
/// #[derive(Message)]
/// struct KeyPressed;
///
/// fn skip(mut keys: MessageReader<KeyPressed>, scripts: NonSend<DurableRuntime>) {
///     for _ in keys.read() {
///         scripts.host().executor().enter(|| SKIP.emit(()));
///     }
/// }
/// ```
pub struct DurableRuntime {
    shared: Rc<Shared>,
}

pub(crate) struct Shared {
    /// Borrowed while it runs something: mutably by a run, shared while a script starts.
    runtime: RefCell<Runtime>,
    host: RuntimeHandle,
    executor: Handle,
    pub(super) seen: Seen,
    queries: Queries,
    lost: LostSchedules,
    /// What is passed on to the scripts when a run begins.
    feeds: RefCell<Vec<Box<dyn Feed>>>,
    is_in_step: Cell<bool>,
}

impl DurableRuntime {
    /// Puts `runtime` into the world. The current readings of Bevy's clocks are not counted.
    pub(super) fn insert(world: &mut World, runtime: Runtime) {
        let shared = Shared {
            host: runtime.host().clone(),
            executor: runtime.executor().handle(),
            runtime: RefCell::new(runtime),
            seen: Seen::now(world),
            queries: Queries::default(),
            lost: LostSchedules::default(),
            feeds: RefCell::default(),
            is_in_step: Cell::new(false),
        };
        world.insert_non_send(DurableRuntime {
            shared: Rc::new(shared),
        });
    }

    pub(super) fn shared(&self) -> Rc<Shared> {
        self.shared.clone()
    }

    /// That of `world`, if it has the plugin.
    pub(crate) fn get(world: &World) -> Option<Rc<Shared>> {
        world.get_non_send::<DurableRuntime>().map(Self::shared)
    }

    #[track_caller]
    pub(super) fn of(world: &World) -> Rc<Shared> {
        match world.get_non_send::<DurableRuntime>() {
            Some(runtime) => runtime.shared.clone(),
            None => panic!("durable scripts need `DurableScriptsPlugin`: add it to the app"),
        }
    }

    /// What a game can do at any time, even in systems, observers and hooks that a `with`
    /// triggers: emit signals, set values, answer questions, stop and pause scripts and
    /// owners. A clock is made inside of the [runtime](Self::with_runtime):
    /// `with_runtime(|runtime| runtime.enter(|| ClockId::GAME.child()))`.
    ///
    /// If a script is started with it, the world is not lent up to its first wait. So start
    /// scripts on the [world](super::WorldDurableExt) or on
    /// [entities](super::EntityWorldDurableExt).
    pub fn host(&self) -> &RuntimeHandle {
        &self.shared.host
    }

    /// Calls `f` with the runtime, to exchange the code of its scripts: `Live::update` of the package
    /// `framestep_live`. [`reload`](super::reload) does so with other loaders.
    ///
    /// # Panics
    ///
    /// If the scripts are running: in a `with`, or in code that it triggers.
    #[track_caller]
    pub fn with_runtime_mut<R>(&self, f: impl FnOnce(&mut Runtime) -> R) -> R {
        f(&mut self.shared.borrow_mut())
    }

    /// Calls `f` with the runtime: for its [executor](Runtime::executor), with traces,
    /// reports and snapshots.
    ///
    /// To save and to restore it, use [`save`](super::save()) and [`load`](super::load), which
    /// do the same to the world.
    ///
    /// # Panics
    ///
    /// If the scripts are running: in a `with`, or in code that it triggers.
    #[track_caller]
    pub fn with_runtime<R>(&self, f: impl FnOnce(&Runtime) -> R) -> R {
        match self.shared.runtime.try_borrow() {
            Ok(runtime) => f(&runtime),
            Err(_) => already_running(),
        }
    }
}

impl fmt::Debug for DurableRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DurableRuntime")
            .field("host", &self.shared.host)
            .finish_non_exhaustive()
    }
}

impl Shared {
    pub(super) fn host(&self) -> &RuntimeHandle {
        &self.host
    }

    pub(super) fn add_feed(&self, feed: Box<dyn Feed>) {
        self.feeds.borrow_mut().push(feed);
    }

    /// Leaves out what the feeds have not passed on: another moment of the game is restored.
    pub(super) fn skip_feeds(&self, world: &World) {
        for feed in &*self.feeds.borrow() {
            feed.skip(world);
        }
    }

    pub(crate) fn queries(&self) -> &Queries {
        &self.queries
    }

    pub(crate) fn executor(&self) -> &Handle {
        &self.executor
    }

    /// Calls `f` with the world lent to the scripts that it starts.
    pub(super) fn lend<R>(&self, world: &mut World, f: impl FnOnce(&RuntimeHandle) -> R) -> R {
        // In a run, it is borrowed already.
        let _starting = self.runtime.try_borrow();
        let lent = self.executor.lend(world, |_| f(&self.host));
        lent.expect("the world holds the runtime")
    }

    /// Removes the owner of an entity's scripts.
    #[track_caller]
    pub(super) fn remove_owner(&self, owner: OwnerId) {
        let removed = self.executor.enter(|| owner.remove());
        removed.expect("the world holds the runtime");
    }

    #[track_caller]
    fn borrow_mut(&self) -> RefMut<'_, Runtime> {
        match self.runtime.try_borrow_mut() {
            Ok(runtime) => runtime,
            Err(_) => already_running(),
        }
    }

    /// The runtime to save or to load. `None` while scripts run or start, and in a fixed step.
    pub(super) fn idle(&self) -> Option<RefMut<'_, Runtime>> {
        let runtime = self.runtime.try_borrow_mut().ok()?;
        (!self.is_in_step.get()).then_some(runtime)
    }
}

/// What has the queries of an app that has durable scripts alone.
pub(crate) fn queries(world: &World) -> Rc<Shared> {
    DurableRuntime::of(world)
}

#[cold]
#[track_caller]
fn already_running() -> ! {
    panic!(
        "the durable scripts are running already: a `with` cannot run a schedule in which they run, \
         nor use `with_runtime`"
    )
}

/// Begins a frame of the scripts, with the advance of Bevy's clocks.
pub(super) fn begin_frame(
    runtime: NonSend<DurableRuntime>,
    real: Option<Res<Time<Real>>>,
    game: Option<Res<Time<Virtual>>>,
) {
    let shared = &runtime.shared;
    let (real, game) = shared.seen.frame(real, game);
    shared.borrow_mut().begin_frame_with(real, game);
}

/// Begins a fixed step, with the advance of `Time<Fixed>`.
pub(super) fn begin_fixed_step(runtime: NonSend<DurableRuntime>, fixed: Option<Res<Time<Fixed>>>) {
    let shared = &runtime.shared;
    let step = shared.seen.step(fixed);
    shared.borrow_mut().begin_fixed_step_of(step);
    shared.is_in_step.set(true);
}

/// Ends a fixed step.
pub(super) fn end_fixed_step(runtime: NonSend<DurableRuntime>) {
    let shared = &runtime.shared;
    shared.borrow_mut().end_fixed_step();
    shared.is_in_step.set(false);
}

/// Runs one phase of the durable scripts now, with the world lent to them, and applies the
/// commands that they queue.
///
/// For phases without a schedule, like [`run_scripts`](crate::run_scripts).
///
/// # Panics
///
/// If the scripts are running already, or if the plugin is missing.
#[track_caller]
pub fn run_durable_scripts(world: &mut World, phase: Phase) {
    let shared = DurableRuntime::of(world);
    let mut runtime = shared.borrow_mut();
    shared.lost.check(world, phase, runtime.executor().panics());
    for feed in &*shared.feeds.borrow() {
        feed.pass_on(world, &shared.host);
    }
    shared.queries.begin_run(world);
    runtime.lend(world, |runtime| runtime.run_phase(phase));
    drop(runtime);
    world.flush();
}
