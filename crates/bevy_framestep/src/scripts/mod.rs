//! Scripts that belong to entities.

mod hooks;
mod live;

use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use bevy_ecs::prelude::*;
use bevy_ecs::world::WorldId;
use framestep::lend::with_ref;
use framestep::task::{CoroutineId, OwnerHandle};
use framestep::time::Clock;
use framestep::{Handle, Owner};

use crate::output::ScriptOutput;
use crate::script::{ClockKey, EntityScriptFn};
use crate::start::start_unobserved;
use hooks::{cloned, discarded, inserted, removed};
use live::{Base, Known, Live};

pub(crate) use live::{nobody, owner_of};

/// The scripts of an entity. They end with it: when it is despawned, or when this
/// component is removed.
///
/// It is added with the first script that is started on the entity. As part of a bundle, it
/// [starts scripts](Self::of) with the entity, or sets the clock that they count on.
/// Inserting it again adds its scripts, and does not affect running scripts. Assigning another
/// value, `*scripts = Scripts::of(flee)` with a `Query<&mut Scripts>`, ends the running ones.
/// Those of the new value begin in the next run of Update, which may be that of the same frame.
///
/// The scripts end at once, before `despawn` returns. A script that despawns its own entity
/// continues to its next wait. Destructors cannot borrow the world then: they use
/// [`with_deferred`](framestep::lend::with_deferred()).
///
/// # In systems
///
/// All methods take `&self`, and work on any thread:
///
/// | method | takes effect |
/// |---|---|
/// | [`pause`](Self::pause), [`resume`](Self::resume), [`stop_all`](Self::stop_all) | at once on the app's thread; on another one, before the next run of scripts |
/// | [`stop`](Self::stop), [`set_speed`](Self::set_speed) | before the next run of scripts |
///
/// A system runs before the scripts of its schedule, so it sees no difference.
///
/// # Clones, moves, and disabled entities
///
/// Scripts are not cloned: a future has no copy. A clone of the entity, by `clone_and_spawn` for
/// example, has no scripts, and Bevy's error handler gets a warning. Start them again for the
/// clone, or deny this component in the `EntityCloner`. `move_components` ends the scripts of the
/// entity, with a warning, too: a script belongs to its entity.
///
/// Bevy's `Disabled` hides an entity from queries. Its scripts go on, and reach it:
/// [`pause`](Self::pause) them together with it, if it is to stand still.
///
/// # Examples
///
/// ```
/// use bevy_app::{App, Update};
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
/// use bevy_time::TimePlugin;
///
/// #[derive(Component)]
/// struct Frozen;
///
/// async fn patrol(_guard: Entity) {
///     loop {
///         wait_seconds(1).await;
///     }
/// }
///
/// fn freeze(guards: Query<&Scripts, Added<Frozen>>) {
///     for scripts in &guards {
///         scripts.pause();
///     }
/// }
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, FramestepPlugin::default()));
/// app.add_systems(Update, freeze);
/// let mut guard = app.world_mut().spawn(Frozen);
/// let patrol = guard.start_script(patrol);
/// let guard = guard.id();
/// app.update();
/// assert!(app.world().get::<Scripts>(guard).unwrap().is_paused());
/// app.world_mut().despawn(guard);
/// assert!(patrol.is_finished());
/// ```
#[derive(Component)]
#[component(storage = "SparseSet", on_insert = inserted, on_discard = discarded, on_remove = removed)]
#[component(clone_behavior = Custom(cloned))]
pub struct Scripts {
    /// `None` until it is inserted. Not in a box: most entities that have scripts have the
    /// component, and a box takes as long as the rest of it.
    live: Option<Live>,
    base: Base,
    /// What is done when it is inserted. The mutex is never contended; it only makes the
    /// component `Sync`.
    begin: Mutex<Option<Box<Begin>>>,
    is_paused: AtomicBool,
    /// The bits of a float.
    speed: AtomicU64,
    /// The world in which it is about to be replaced or removed.
    discarded: Option<WorldId>,
}

/// Starts scripts, one after the other.
type Begin = dyn FnOnce(&mut World, Entity) + Send;

const NORMAL: f64 = 1.0;

impl Default for Scripts {
    fn default() -> Self {
        Scripts {
            live: None,
            base: Base::Game,
            begin: Mutex::new(None),
            is_paused: AtomicBool::new(false),
            speed: AtomicU64::new(NORMAL.to_bits()),
            discarded: None,
        }
    }
}

impl Scripts {
    /// Scripts of an entity that has none yet.
    ///
    /// # Panics
    ///
    /// When it is inserted, if the plugin is missing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a script with the entity: as part of a bundle, including bundles in
    /// `children![]`. It begins when the commands of the code that spawns the entity are
    /// applied, with the whole bundle in place.
    ///
    /// An error of the script goes to [Bevy's error handler](ScriptOutput).
    ///
    /// # Panics
    ///
    /// When it is inserted, if the plugin is missing.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_framestep::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Tank;
    ///
    /// #[derive(Component)]
    /// struct Turret;
    ///
    /// async fn drive(_tank: Entity) {}
    /// async fn aim(_turret: Entity) {}
    /// async fn shoot(_turret: Entity) {}
    ///
    /// fn spawn_tank(mut commands: Commands) {
    ///     commands.spawn((
    ///         Tank,
    ///         Scripts::of(drive),
    ///         children![(Turret, Scripts::of(aim).and(shoot))],
    ///     ));
    /// }
    /// ```
    #[must_use]
    #[track_caller]
    pub fn of<S, F>(script: S) -> Self
    where
        S: EntityScriptFn<F> + Send + 'static,
        F: Future<Output: ScriptOutput> + 'static,
    {
        Self::default().and(script)
    }

    /// Starts another script with the entity, like [`of`](Self::of). They begin in this order.
    ///
    /// On a component that `take` has returned, it has no effect until the component is
    /// inserted again.
    #[must_use]
    #[track_caller]
    pub fn and<S, F>(mut self, script: S) -> Self
    where
        S: EntityScriptFn<F> + Send + 'static,
        F: Future<Output: ScriptOutput> + 'static,
    {
        let place = Location::caller();
        let begin = self.begin_mut();
        *begin = Some(match begin.take() {
            None => Box::new(move |world, entity| start_unobserved(world, entity, place, script)),
            Some(first) => Box::new(move |world, entity| {
                first(world, entity);
                start_unobserved(world, entity, place, script);
            }),
        });
        self
    }

    /// Scripts that count on `clock`, for example a clock for all enemies. `None` if the app
    /// does not exist any more.
    ///
    /// `handle` is the handle of [`Framestep`](crate::Framestep).
    ///
    /// If it is inserted while scripts of the entity run, it changes their clock as
    /// [`set_speed`](Self::set_speed) does.
    ///
    /// # Panics
    ///
    /// If the clock belongs to another executor.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_framestep::Framestep;
    /// use bevy_framestep::prelude::*;
    ///
    /// fn spawn_enemies(scripts: NonSend<Framestep>, mut commands: Commands) {
    ///     let enemies = scripts.handle().clock().unwrap().child();
    ///     enemies.set_scale(0.5);
    ///     for _ in 0..10 {
    ///         commands.spawn(Scripts::on_clock(scripts.handle(), &enemies).unwrap());
    ///     }
    /// }
    /// ```
    #[track_caller]
    pub fn on_clock(handle: &Handle, clock: &Clock) -> Option<Self> {
        let owner = handle.owner_on(clock)?;
        let remote = handle.remote()?;
        let mut scripts = Self::default();
        scripts.live = Some(Live::of(owner, remote));
        scripts.base = Base::Other(ClockKey::new(clock));
        Some(scripts)
    }

    /// Scripts that count on realtime, which continues while the game is paused: for a menu.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_framestep::prelude::*;
    ///
    /// async fn slide_in(_menu: Entity) {
    ///     animate(0.3, |t| println!("the menu is at {t}")).await;
    /// }
    ///
    /// fn open_menu(mut commands: Commands) {
    ///     commands.spawn(Scripts::on_realtime().and(slide_in));
    /// }
    /// ```
    #[must_use]
    pub fn on_realtime() -> Self {
        let mut scripts = Self::default();
        scripts.base = Base::Realtime;
        scripts
    }

    /// Pauses the scripts: none of them is polled, and their timers stand still.
    pub fn pause(&self) {
        self.set_paused(true);
    }

    /// Ends the pause. What became due meanwhile resumes in the next run.
    pub fn resume(&self) {
        self.set_paused(false);
    }

    /// Whether [`pause`](Self::pause) was called later than [`resume`](Self::resume).
    pub fn is_paused(&self) -> bool {
        self.is_paused.load(Ordering::Relaxed)
    }

    fn begin_mut(&mut self) -> &mut Option<Box<Begin>> {
        let begin = self.begin.get_mut();
        begin.unwrap_or_else(PoisonError::into_inner)
    }

    fn set_paused(&self, paused: bool) {
        self.is_paused.store(paused, Ordering::Relaxed);
        self.order(move |owner| {
            if paused {
                owner.pause();
            } else {
                owner.resume();
            }
        });
    }

    /// Stops all scripts of the entity. Their destructors run. Other scripts can be started
    /// on it.
    pub fn stop_all(&self) {
        self.order(OwnerHandle::stop_all);
    }

    /// Stops the scripts with this name that were started on the entity with `start_script`,
    /// [`Scripts::of`] or [`ScriptEntity::start`]. Returns whether there is one that may be
    /// running.
    ///
    /// The name of an `async fn` is its path; the last part of it is enough. A closure has the
    /// name of the function around it, and `{{closure}}`.
    ///
    /// [`ScriptEntity::start`]: crate::ScriptEntity::start
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_framestep::prelude::*;
    ///
    /// async fn patrol(_guard: Entity) {}
    ///
    /// fn alarm(guards: Query<&Scripts>) {
    ///     for scripts in &guards {
    ///         scripts.stop("patrol");
    ///     }
    /// }
    /// # let _ = patrol;
    /// ```
    pub fn stop(&self, name: &str) -> bool {
        let Some(live) = &self.live else {
            return false;
        };
        let mut found = false;
        for known in live.known() {
            if is_named(known.name, name) {
                found |= live.remote.stop(known.id);
            }
        }
        found
    }

    /// Runs the scripts at another speed: 0.5 is slow motion, 0 stands still.
    ///
    /// The speed multiplies the scale of the clock that they count on. It applies to scripts
    /// that were started on the entity by a system, the host or [`ScriptEntity::start`],
    /// including running ones: to their `delta_seconds()`, and to the waits that begin from
    /// now on. A pending wait continues on the clock on which it began. Scripts that they
    /// start with `start` count on the clock without this speed; use [`ScriptEntity::start`]
    /// instead.
    ///
    /// Each entity with a speed has its own clock, which takes kilobytes while timers run on
    /// it. To slow down a whole group of enemies, put them on one clock with
    /// [`on_clock`](Self::on_clock).
    ///
    /// [`ScriptEntity::start`]: crate::ScriptEntity::start
    ///
    /// # Panics
    ///
    /// If the speed is negative or not finite.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_framestep::prelude::*;
    ///
    /// #[derive(EntityEvent)]
    /// struct Slowed(Entity);
    ///
    /// fn on_slowed(slowed: On<Slowed>, scripts: Query<&Scripts>) {
    ///     if let Ok(scripts) = scripts.get(slowed.event_target()) {
    ///         scripts.set_speed(0.25);
    ///     }
    /// }
    /// ```
    #[track_caller]
    pub fn set_speed(&self, speed: impl Into<f64>) {
        let speed = speed.into();
        assert!(
            speed.is_finite() && speed >= 0.0,
            "the speed of scripts must be finite and not negative, but it is {speed}"
        );
        self.speed.store(speed.to_bits(), Ordering::Relaxed);
        if let Some(live) = &self.live {
            live.apply_speed(speed);
        }
    }

    /// The speed that was last [set](Self::set_speed), or 1.
    pub fn speed(&self) -> f64 {
        f64::from_bits(self.speed.load(Ordering::Relaxed))
    }

    /// The owner of the scripts: to start a script, or to hold them with a guard. `None` if
    /// the component was not inserted, or on another thread than the app's.
    pub fn owner(&self) -> Option<&Owner> {
        self.live.as_ref()?.owner.get()
    }

    fn order(&self, order: impl FnOnce(&OwnerHandle) + Send + 'static) {
        let Some(live) = &self.live else {
            return;
        };
        if let Some(owner) = live.owner.get() {
            order(&owner.handle());
        } else {
            let entity = live.entity;
            live.remote.call(move || {
                // Outside the borrow, because destructors use the world.
                let owner = with_ref(|world: &World| Some(Self::found(world, entity)?.handle()));
                owner.inspect(order);
            });
        }
    }

    fn found(world: &World, entity: Entity) -> Option<&Owner> {
        world.get::<Scripts>(entity)?.owner()
    }

    /// The scripts that were started on the entity. They may have ended.
    fn known(&self) -> impl Iterator<Item = &Known> {
        self.live.iter().flat_map(Live::known)
    }

    /// Records a script that was started on the entity.
    pub(crate) fn note(&mut self, name: &'static str, id: CoroutineId, handle: &Handle) {
        if let Some(live) = &mut self.live {
            live.note(Known { name, id }, handle);
        }
    }
}

fn is_named(full: &str, name: &str) -> bool {
    let end = full.strip_suffix(name);
    end.is_some_and(|path| path.is_empty() || path.ends_with("::"))
}

fn is_normal(speed: f64) -> bool {
    speed == NORMAL
}

impl fmt::Debug for Scripts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripts")
            .field(
                "started",
                &self.known().map(|of| of.name).collect::<Vec<_>>(),
            )
            .field("paused", &self.is_paused())
            .field("speed", &self.speed())
            .finish_non_exhaustive()
    }
}
