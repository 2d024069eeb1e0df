//! The executor in the world, and how its phases are run.

use std::any::{Any, TypeId};
use std::cell::{Cell, OnceCell, RefCell, RefMut};
use std::collections::HashMap;
use std::fmt;
use std::mem::ManuallyDrop;
use std::rc::{Rc, Weak};
use std::task::Waker;
use std::time::Duration;

use bevy_ecs::error::BevyError;
use bevy_ecs::prelude::{Component, NonSend, Res, Resource};
use bevy_ecs::world::{World, WorldId};
use bevy_platform::hash::FixedHasher;
use bevy_time::{Fixed, Real, Time, Virtual};
use framestep::lend::with_ref;
use framestep::sync::Signal;
use framestep::{Executor, Handle, Phase};

use crate::error::Missing;
use crate::lost::LostSchedules;
use crate::output::{ScriptOutput, Unobserved, Witness};
use crate::pause::Pauser;
use crate::query::Queries;
use crate::script::Speeds;
use crate::system::Systems;
use crate::wait::{Condition, Conditions, Feed, Left, Scan, Watch};

/// The executor of the scripts, as a non-send resource: [`NonSend<Framestep>`] in a
/// system.
///
/// It stays in the world while scripts run, so that systems, observers and hooks that a
/// script triggers can use it.
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
    /// Borrowed while it runs something.
    executor: RefCell<Executor>,
    handle: Handle,
    seen: Seen,
    /// By type, in the order in which they were first used.
    feeds: RefCell<Vec<(TypeId, Rc<dyn Feed>)>>,
    conditions: Conditions,
    /// What knows of changes, by its type: a scan of a component, or the watch of a resource.
    gates: RefCell<HashMap<TypeId, Rc<dyn Any>, FixedHasher>>,
    left: Left,
    speeds: Rc<Speeds>,
    queries: Queries,
    systems: Systems,
    unobserved: Unobserved,
    /// How many events a stream keeps.
    kept: usize,
    /// Whether there was no script when the latest run of this frame began.
    was_empty: Cell<bool>,
    lost: LostSchedules,
    pauser: Pauser,
    /// Asks for a frame, if the app sleeps meanwhile.
    wake: OnceCell<Waker>,
    /// Whether it has been called for a condition since the app last checked.
    is_told: Cell<bool>,
}

/// A world, and what its scripts share.
type Latest = Option<(WorldId, Weak<Shared>)>;

thread_local! {
    /// A cache for the world that was used last. Every access of a script to the world needs
    /// it, and a lookup of a non-send resource takes as long as running a phase. Without a
    /// destructor, so that apps still work in the destructors of other thread-locals.
    static LATEST: ManuallyDrop<RefCell<Latest>> =
        const { ManuallyDrop::new(RefCell::new(None)) };
}

/// The last readings of Bevy's clocks.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) real: Cell<Duration>,
    pub(crate) game: Cell<Duration>,
    pub(crate) fixed: Cell<Duration>,
}

impl Seen {
    /// The current readings of the clocks of `world`.
    pub(crate) fn now(world: &World) -> Self {
        let seen = Seen::default();
        see::<Real>(&seen.real, world);
        see::<Virtual>(&seen.game, world);
        see::<Fixed>(&seen.fixed, world);
        seen
    }

    /// The advance of realtime and of the game clock.
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

    /// The length of the fixed step that begins.
    pub(crate) fn step(&self, fixed: Option<Res<Time<Fixed>>>) -> Duration {
        let step = fixed.map(|fixed| went(&self.fixed, &fixed));
        step.unwrap_or_default()
    }
}

impl Framestep {
    /// Puts `executor` into the world. The current readings of Bevy's clocks are not counted.
    /// Streams keep `kept` events.
    pub(crate) fn insert(world: &mut World, executor: Executor, kept: usize) {
        let seen = Seen::now(world);
        let handle = executor.handle();
        let unobserved = Unobserved::default();
        unobserved.hear::<Result<(), Missing>>(&handle);
        unobserved.hear::<Result<(), BevyError>>(&handle);
        let (pauser, pauses) = Pauser::new();
        world.insert_resource(pauses);
        world.insert_non_send(Framestep {
            shared: Rc::new(Shared {
                executor: RefCell::new(executor),
                handle,
                seen,
                feeds: RefCell::default(),
                conditions: Conditions::default(),
                gates: RefCell::default(),
                left: Left::default(),
                speeds: Rc::default(),
                queries: Queries::default(),
                systems: Systems::default(),
                unobserved,
                kept,
                was_empty: Cell::new(false),
                lost: LostSchedules::default(),
                pauser,
                wake: OnceCell::new(),
                is_told: Cell::new(false),
            }),
        });
    }

    /// A weak handle of the executor: it starts and stops scripts that belong to no
    /// entity, makes owners, and takes snapshots.
    ///
    /// If a script is started with the handle alone, the world is not lent up to its first
    /// wait. Where that matters, use [`spawn`](Handle::spawn), or start it on the
    /// [world](crate::WorldScriptsExt).
    pub fn handle(&self) -> &Handle {
        &self.shared.handle
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Calls `f` with the executor: to set hooks, or to get a [`RemoteHandle`] for another
    /// thread.
    ///
    /// # Panics
    ///
    /// If the executor is running a phase: in a script, or in code that a script triggers.
    ///
    /// [`RemoteHandle`]: framestep::task::RemoteHandle
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
    /// The shared state of `world`.
    #[inline]
    #[track_caller]
    pub(crate) fn of(world: &World) -> Rc<Shared> {
        match Self::get(world) {
            Some(shared) => shared,
            None => panic!("scripts need `FramestepPlugin`: add it to the app"),
        }
    }

    /// The shared state of `world`, if it has the plugin.
    #[inline]
    pub(crate) fn get(world: &World) -> Option<Rc<Shared>> {
        let id = world.id();
        let latest = LATEST.with(|latest| {
            let latest = latest.borrow();
            let (of, shared) = latest.as_ref()?;
            (*of == id).then(|| shared.upgrade()).flatten()
        });
        latest.or_else(|| Self::found(world))
    }

    #[cold]
    fn found(world: &World) -> Option<Rc<Shared>> {
        let framestep = world.get_non_send::<Framestep>()?;
        let latest = (world.id(), Rc::downgrade(&framestep.shared));
        // The one before is only an address: nothing is dropped but its memory.
        LATEST.with(|of| of.replace(Some(latest)));
        Some(framestep.shared.clone())
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// A signal for streams of scripts.
    pub(crate) fn signal<T: Clone + 'static>(&self) -> Signal<T> {
        Signal::with_limit(self.kept)
    }

    pub(crate) fn speeds(&self) -> Rc<Speeds> {
        self.speeds.clone()
    }

    pub(crate) fn left(&self) -> &Left {
        &self.left
    }

    pub(crate) fn queries(&self) -> &Queries {
        &self.queries
    }

    pub(crate) fn systems(&self) -> &Systems {
        &self.systems
    }

    /// Reports errors of this type that nothing can read any more.
    pub(crate) fn hear<T: ScriptOutput>(&self) {
        self.unobserved.hear::<T>(&self.handle);
    }

    /// For a script of an entity whose handle is returned.
    pub(crate) fn witness(&self) -> Witness {
        self.unobserved.witness()
    }

    /// Adds a condition to check when runs of `phase` begin.
    pub(crate) fn add_condition(&self, phase: Phase, condition: Rc<Condition>) {
        self.conditions.add(phase, condition);
        // The executor does not know of conditions, so it does not wake the app.
        if let Some(wake) = self.wake.get()
            && !self.is_told.replace(true)
        {
            wake.wake_by_ref();
        }
    }

    /// Sets a callback that is called when something outside a frame needs a frame.
    pub(crate) fn on_wake(&self, wake: Waker) {
        let called = wake.clone();
        self.borrow_mut().on_wake(move || called.wake_by_ref());
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

    /// The changes of a component.
    pub(crate) fn scan<C: Component>(&self, world: &mut World) -> Rc<Scan<C>> {
        self.gate(|| Scan::new(world))
    }

    /// What knows of the changes of a resource.
    pub(crate) fn watch<R: Resource>(&self) -> Rc<Watch<R>> {
        self.gate(Watch::default)
    }

    /// The gate of this type, made by `make` if there is none yet.
    fn gate<T: 'static>(&self, make: impl FnOnce() -> T) -> Rc<T> {
        let key = TypeId::of::<T>();
        let known = self.gates.borrow().get(&key).cloned();
        let gate = known.unwrap_or_else(|| {
            let made: Rc<dyn Any> = Rc::new(make());
            self.gates.borrow_mut().insert(key, made.clone());
            made
        });
        gate.downcast().expect("it was made for this type")
    }

    /// Calls `f` with each feed. `f` may call wakers.
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

    /// Whether scripts may wait for messages, or for conditions that are checked in `phase`.
    fn is_waited_for(&self, phase: Phase) -> bool {
        !self.feeds.borrow().is_empty() || self.conditions.has_some(phase)
    }

    /// Passes on what has been written since the last run. User code may add feeds meanwhile.
    fn pass_on(&self, world: &World) {
        self.each_feed(|feed| feed.pass_on(world));
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        LATEST.with(|latest| {
            let is_it = |(_, of): &mut (WorldId, Weak<Shared>)| std::ptr::eq(of.as_ptr(), self);
            _ = latest.borrow_mut().take_if(is_it);
        });
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

/// The current reading of a clock is not counted.
fn see<C: Default + Send + Sync + 'static>(seen: &Cell<Duration>, world: &World) {
    if let Some(time) = world.get_resource::<Time<C>>() {
        went(seen, time);
    }
}

/// The advance of a clock since it was last read.
///
/// The difference of two readings, so that nothing is lost however a clock is advanced. If
/// the clock was set back, only its latest step counts.
fn went<C: Default>(seen: &Cell<Duration>, time: &Time<C>) -> Duration {
    let now = time.elapsed();
    let before = seen.replace(now);
    now.checked_sub(before).unwrap_or_else(|| time.delta())
}

/// Begins a frame of the scripts, with the advance of Bevy's clocks.
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

/// Begins a fixed step, with the advance of `Time<Fixed>`.
pub(crate) fn begin_fixed_step(framestep: NonSend<Framestep>, fixed: Option<Res<Time<Fixed>>>) {
    let shared = framestep.shared();
    let step = shared.seen.step(fixed);
    shared.borrow_mut().begin_fixed_step_of(step);
}

/// Ends a fixed step: the clocks read the time of the frame again.
pub(crate) fn end_fixed_step(framestep: NonSend<Framestep>) {
    framestep.shared().borrow_mut().end_fixed_step();
}

/// Runs one phase of the scripts now, with the world lent to them, and applies the commands
/// that they queue.
///
/// For phases without a schedule, such as a [`Phase::Custom`] in the middle of an exclusive
/// system. [`FramestepPlugin`](crate::FramestepPlugin) calls it for the phases in schedules.
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
    shared.lost.check(world, phase, executor.panics());
    // Work for the next lend comes from scripts, or is done in the first run of a frame. Scripts of
    // another executor may wait for what is passed on here.
    let is_empty = executor.is_empty();
    let has_work = || shared.handle.has_clean_up::<World>() || shared.is_waited_for(phase);
    if is_empty && shared.was_empty.get() && !has_work() {
        drop(executor);
        shared.pauser.apply(world);
        return;
    }
    shared.was_empty.set(is_empty);
    shared.left.forget();
    shared.pass_on(world);
    shared.queries.begin_run(world);
    executor.lend(world, |executor| {
        // Inside the executor, where the free functions work, as in a script.
        if shared.conditions.has_some(phase) {
            executor.enter(|| with_ref(|world: &World| shared.conditions.ask(world, phase)));
        }
        executor.run_phase(phase);
    });
    shared.left.forget();
    drop(executor);
    shared.pauser.apply(world);
    world.flush();
}

/// The time until the scripts need the next frame: zero while a script is awake, the time to
/// the next timer if all sleep. `None` if they need no frame until something wakes a script.
///
/// For apps that sleep between frames. A script is awake if it waits for a frame, a phase or
/// a condition, or has something to read.
///
/// If Bevy pauses or slows down the clock of a timer, this returns less than the real time
/// left.
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
