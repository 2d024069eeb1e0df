//! The executor in the world, and how its phases are run.

use std::any::TypeId;
use std::cell::{Cell, OnceCell, RefCell, RefMut};
use std::fmt;
use std::rc::{Rc, Weak};
use std::task::Waker;
use std::time::Duration;

use bevy_ecs::error::BevyError;
use bevy_ecs::prelude::{NonSend, Res};
use bevy_ecs::world::{World, WorldId};
use bevy_time::{Fixed, Real, Time, Virtual};
use framestep::{Executor, Handle, Phase, with_ref};

use crate::error::Missing;
use crate::output::{ScriptOutput, Unread, Witness};
use crate::query::Queries;
use crate::script::Speeds;
use crate::wait::{Condition, Conditions, Feed};

/// The executor of the scripts, as a non-send resource: [`NonSend<Framestep>`] in a
/// system.
///
/// It stays in the world while scripts run, so that systems, observers and hooks that
/// a script sets off find it.
///
/// [`NonSend<Framestep>`]: bevy_ecs::system::NonSend
///
/// # Examples
///
/// ```
/// use bevy_app::{App, Update};
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::Framestep;
/// use bevy_framestep::prelude::*;
/// use bevy_time::TimePlugin;
///
/// fn show(scripts: NonSend<Framestep>) {
///     println!("{}", scripts.handle().snapshot().unwrap());
/// }
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, FramestepPlugin::default()));
/// app.add_systems(Update, show);
/// app.update();
/// ```
pub struct Framestep {
    shared: Rc<Shared>,
}

/// What the resource, the runs and the waits share.
pub(crate) struct Shared {
    /// Borrowed for as long as it runs something.
    executor: RefCell<Executor>,
    handle: Handle,
    seen: Seen,
    /// By type, in the order in which they were first asked for.
    feeds: RefCell<Vec<(TypeId, Rc<dyn Feed>)>>,
    conditions: Conditions,
    speeds: Rc<Speeds>,
    queries: Queries,
    unread: Unread,
    /// Whether there was no script when the latest run of this frame began.
    was_empty: Cell<bool>,
    /// Asks for a frame, if the app sleeps meanwhile.
    wake: OnceCell<Waker>,
    /// Whether it has been called for a condition since the app last looked.
    is_told: Cell<bool>,
}

thread_local! {
    /// That of the world that was last asked for it. It is asked for in all that scripts do with
    /// the world, and to find a resource that is not `Send` takes as long as to run a phase.
    static LATEST: RefCell<Option<(WorldId, Weak<Shared>)>> = const { RefCell::new(None) };
}

/// How far Bevy's clocks had got when they were last read.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) real: Cell<Duration>,
    pub(crate) game: Cell<Duration>,
    pub(crate) fixed: Cell<Duration>,
}

impl Seen {
    /// What the clocks of `world` read now.
    pub(crate) fn now(world: &World) -> Self {
        let seen = Seen::default();
        see::<Real>(&seen.real, world);
        see::<Virtual>(&seen.game, world);
        see::<Fixed>(&seen.fixed, world);
        seen
    }

    /// How far realtime and the game clock have gone.
    #[track_caller]
    pub(crate) fn frame(
        &self,
        real: Option<Res<Time<Real>>>,
        game: Option<Res<Time<Virtual>>>,
    ) -> (Duration, Duration) {
        let (Some(real), Some(game)) = (real, game) else {
            panic!(
                "scripts need Bevy's clocks: add `TimePlugin`, which is part of `DefaultPlugins` \
                 and `MinimalPlugins`"
            )
        };
        (went(&self.real, &real), went(&self.game, &game))
    }

    /// How long the fixed step is that begins.
    pub(crate) fn step(&self, fixed: Option<Res<Time<Fixed>>>) -> Duration {
        let step = fixed.map(|fixed| went(&self.fixed, &fixed));
        step.unwrap_or_default()
    }
}

impl Framestep {
    /// Puts `executor` into the world. What Bevy's clocks read already is not counted.
    pub(crate) fn insert(world: &mut World, executor: Executor) {
        let seen = Seen::now(world);
        let handle = executor.handle();
        let unread = Unread::default();
        unread.hear::<Result<(), Missing>>(&handle);
        unread.hear::<Result<(), BevyError>>(&handle);
        world.insert_non_send(Framestep {
            shared: Rc::new(Shared {
                executor: RefCell::new(executor),
                handle,
                seen,
                feeds: RefCell::default(),
                conditions: Conditions::default(),
                speeds: Rc::default(),
                queries: Queries::default(),
                unread,
                was_empty: Cell::new(false),
                wake: OnceCell::new(),
                is_told: Cell::new(false),
            }),
        });
    }

    /// A weak handle of the executor: it starts and stops scripts that belong to no
    /// entity, makes owners, and takes snapshots.
    ///
    /// Nothing is lent to a script that is started with the handle alone, up to its
    /// first wait. Where that matters, use [`spawn`](Handle::spawn), or start it on the
    /// [world](crate::WorldScriptsExt).
    pub fn handle(&self) -> &Handle {
        &self.shared.handle
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Calls `f` with the executor: to set hooks, or to get a [`Remote`] for another
    /// thread.
    ///
    /// # Panics
    ///
    /// If the executor is running a phase: in a script, or in what a script sets off.
    ///
    /// [`Remote`]: framestep::Remote
    #[track_caller]
    pub fn with_executor<R>(&self, f: impl FnOnce(&Executor) -> R) -> R {
        match self.shared.executor.try_borrow() {
            Ok(executor) => f(&executor),
            Err(_) => already_running(),
        }
    }
}

impl fmt::Debug for Framestep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Framestep").finish_non_exhaustive()
    }
}

impl Shared {
    /// That of `world`.
    #[inline]
    #[track_caller]
    pub(crate) fn of(world: &World) -> Rc<Shared> {
        match Self::get(world) {
            Some(shared) => shared,
            None => panic!("scripts need `FramestepPlugin`: add it to the app"),
        }
    }

    /// That of `world`, if it has the plugin.
    #[inline]
    pub(crate) fn get(world: &World) -> Option<Rc<Shared>> {
        let id = world.id();
        let latest = LATEST.with_borrow(|latest| {
            let (of, shared) = latest.as_ref()?;
            (*of == id).then(|| shared.upgrade()).flatten()
        });
        latest.or_else(|| Self::found(world))
    }

    #[cold]
    fn found(world: &World) -> Option<Rc<Shared>> {
        let framestep = world.get_non_send::<Framestep>()?;
        let latest = (world.id(), Rc::downgrade(&framestep.shared));
        LATEST.set(Some(latest));
        Some(framestep.shared.clone())
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    pub(crate) fn speeds(&self) -> Rc<Speeds> {
        self.speeds.clone()
    }

    pub(crate) fn queries(&self) -> &Queries {
        &self.queries
    }

    /// For a script that returns `T`.
    pub(crate) fn witness<T: ScriptOutput>(&self) -> Option<Witness> {
        self.unread.hear::<T>(&self.handle);
        self.unread.witness::<T>()
    }

    /// Has a condition asked when runs of `phase` begin.
    pub(crate) fn add_condition(&self, phase: Phase, condition: Rc<Condition>) {
        self.conditions.add(phase, condition);
        // The executor does not know of conditions, so it does not wake the app.
        if let Some(wake) = self.wake.get()
            && !self.is_told.replace(true)
        {
            wake.wake_by_ref();
        }
    }

    /// Has `wake` called when something outside of a frame needs one.
    pub(crate) fn on_wake(&self, wake: Waker) {
        self.borrow_mut().on_wake(wake.clone());
        self.wake.get_or_init(|| wake);
    }

    #[track_caller]
    fn borrow_mut(&self) -> RefMut<'_, Executor> {
        match self.executor.try_borrow_mut() {
            Ok(executor) => executor,
            Err(_) => already_running(),
        }
    }

    /// The feed for `key`, made by `make` if there is none yet.
    pub(crate) fn feed(&self, key: TypeId, make: impl FnOnce() -> Rc<dyn Feed>) -> Rc<dyn Feed> {
        let mut feeds = self.feeds.borrow_mut();
        if let Some((_, feed)) = feeds.iter().find(|(of, _)| *of == key) {
            return feed.clone();
        }
        let feed = make();
        feeds.push((key, feed.clone()));
        feed
    }

    /// Calls `f` with each feed. It may run wakers.
    pub(crate) fn each_feed(&self, mut f: impl FnMut(&dyn Feed)) {
        let mut index = 0;
        loop {
            let feed = self.feeds.borrow().get(index).map(|(_, feed)| feed.clone());
            let Some(feed) = feed else {
                return;
            };
            f(&*feed);
            index += 1;
        }
    }

    /// Passes on what has been written since the last run. User code may ask for
    /// further feeds meanwhile.
    fn pass_on(&self, world: &World) {
        self.each_feed(|feed| feed.pass_on(world));
    }
}

#[cold]
#[track_caller]
fn already_running() -> ! {
    panic!(
        "the scripts are running already: a script cannot run a schedule in which scripts run, \
         nor use `with_executor`"
    )
}

/// What a clock reads already is not counted.
fn see<C: Default + Send + Sync + 'static>(seen: &Cell<Duration>, world: &World) {
    if let Some(time) = world.get_resource::<Time<C>>() {
        went(seen, time);
    }
}

/// How far a clock has gone since it was last read.
///
/// The difference of two readings, so that nothing is lost however a clock is advanced.
/// One that was set back counts as if its latest step had been made from there.
fn went<C: Default>(seen: &Cell<Duration>, time: &Time<C>) -> Duration {
    let now = time.elapsed();
    let before = seen.replace(now);
    now.checked_sub(before).unwrap_or_else(|| time.delta())
}

/// Begins a frame of the scripts, by how far Bevy's clocks have gone.
pub(crate) fn begin_frame(
    framestep: NonSend<Framestep>,
    real: Option<Res<Time<Real>>>,
    game: Option<Res<Time<Virtual>>>,
) {
    let shared = framestep.shared();
    let (real, game) = shared.seen.frame(real, game);
    shared.was_empty.set(false);
    shared.borrow_mut().begin_frame_with(real, game);
}

/// Begins a fixed step, by how far `Time<Fixed>` has gone.
pub(crate) fn begin_fixed_step(framestep: NonSend<Framestep>, fixed: Option<Res<Time<Fixed>>>) {
    let shared = framestep.shared();
    let step = shared.seen.step(fixed);
    shared.borrow_mut().begin_fixed_step_of(step);
}

/// Ends a fixed step: the clocks read the time of the frame again.
pub(crate) fn end_fixed_step(framestep: NonSend<Framestep>) {
    framestep.shared().borrow_mut().end_fixed_step();
}

/// Runs one phase of the scripts now, with the world lent to them, and applies the
/// commands that they leave behind.
///
/// For phases that stand in no schedule, such as a [`Phase::Custom`] in the middle of
/// an exclusive system. [`FramestepPlugin`](crate::FramestepPlugin) calls it for those
/// that do.
///
/// # Panics
///
/// If the scripts are running already, or if the plugin is missing.
///
/// # Examples
///
/// ```
/// use bevy_app::App;
/// use bevy_framestep::prelude::*;
/// use bevy_framestep::run_scripts;
/// use bevy_time::TimePlugin;
///
/// const PHYSICS: Phase = Phase::Custom(0);
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, FramestepPlugin::default()));
/// let script = app.world_mut().start_script(|| in_phase(PHYSICS));
/// app.update();
/// assert!(!script.is_finished());
/// run_scripts(app.world_mut(), PHYSICS);
/// assert!(script.is_finished());
/// ```
#[track_caller]
pub fn run_scripts(world: &mut World, phase: Phase) {
    let shared = Shared::of(world);
    let mut executor = shared.borrow_mut();
    // What is left for the next lend comes of scripts, or is taken in the first run of a frame.
    let is_empty = executor.is_empty();
    if is_empty && shared.was_empty.get() {
        return;
    }
    shared.was_empty.set(is_empty);
    shared.pass_on(world);
    executor.lend(world, |executor| {
        // In the executor, where the free functions work: as when a script asks.
        if shared.conditions.has_some(phase) {
            executor.enter(|| with_ref(|world: &World| shared.conditions.ask(world, phase)));
        }
        executor.run_phase(phase);
    });
    shared.unread.forget();
    drop(executor);
    world.flush();
}

/// When the scripts need the next frame, counted from the present one: zero as long as one
/// of them is awake, the time of the next timer if all sleep. `None`: they need no frame
/// until something wakes one of them.
///
/// For apps that sleep meanwhile. A script is awake if it waits for a frame, for a phase
/// or for a condition, or has something to read.
///
/// A timer on a clock that Bevy pauses or slows down looks closer than it is.
///
/// # Panics
///
/// If the scripts are running, or if the plugin is missing.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use bevy_app::App;
/// use bevy_framestep::next_frame_in;
/// use bevy_framestep::prelude::*;
/// use bevy_time::TimePlugin;
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, FramestepPlugin::default()));
/// let script = app.world_mut().start_script(|| wait_seconds(2));
/// app.update();
/// assert_eq!(next_frame_in(app.world()), Some(Duration::from_secs(2)));
/// script.stop();
/// assert_eq!(next_frame_in(app.world()), None);
/// ```
#[track_caller]
pub fn next_frame_in(world: &World) -> Option<Duration> {
    let shared = Shared::of(world);
    let Ok(executor) = shared.executor.try_borrow() else {
        already_running();
    };
    shared.is_told.set(false);
    let feeds = shared.feeds.borrow();
    let has_news = || feeds.iter().any(|(_, feed)| feed.has_news(world));
    if !shared.conditions.is_empty() || has_news() {
        return Some(Duration::ZERO);
    }
    executor.idle_until()
}
