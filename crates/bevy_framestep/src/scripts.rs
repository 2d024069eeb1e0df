//! Scripts that belong to entities.

use std::cell::RefCell;
use std::fmt;
use std::mem::take;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use bevy_ecs::entity::{ComponentCloneCtx, SourceComponent};
use bevy_ecs::error::BevyError;
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::{DeferredWorld, WorldId};
use framestep::lend::with_ref;
use framestep::task::{CoroutineId, OwnerHandle, RemoteHandle, SendOwner};
use framestep::time::Clock;
use framestep::{Handle, Owner, with};

use crate::clean_up;
use crate::error::Missing;
use crate::executor::Shared;
use crate::output::{ScriptOutput, hand_over};
use crate::script::{ClockKey, EntityScriptFn};
use crate::start::start_unobserved;

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

/// The state for an entity in a world.
struct Live {
    owner: SendOwner,
    remote: RemoteHandle,
    entity: Entity,
    /// Whether they have another clock than the base.
    has_speed: AtomicBool,
    /// The scripts that a system or the host has started on the entity. Most entities have
    /// one.
    first: Option<Known>,
    others: Vec<Known>,
}

/// The clock that the scripts count on, unless they are slowed down.
#[derive(Default)]
enum Base {
    #[default]
    Game,
    Realtime,
    Other(ClockKey),
}

impl Base {
    /// On the thread of the app.
    fn clock(&self, handle: &Handle) -> Option<Clock> {
        match self {
            Base::Game => handle.clock(),
            Base::Realtime => handle.realtime(),
            Base::Other(key) => key.get(),
        }
    }
}

#[derive(Clone, Copy)]
struct Known {
    name: &'static str,
    id: CoroutineId,
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
        for known in live.first.iter().chain(&live.others) {
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
        let live = self.live.iter();
        live.flat_map(|live| live.first.iter().chain(&live.others))
    }

    /// Records a script that was started on the entity.
    pub(crate) fn note(&mut self, name: &'static str, id: CoroutineId, handle: &Handle) {
        let Some(live) = &mut self.live else {
            return;
        };
        let known = Known { name, id };
        match &mut live.first {
            Some(first) if handle.is_alive(first.id) => {
                // Amortised constant: ended scripts are removed when the list has doubled.
                if live.others.len() == live.others.capacity() {
                    live.others.retain(|of| handle.is_alive(of.id));
                    live.others.reserve(live.others.len() + 1);
                }
                live.others.push(known);
            }
            first => *first = Some(known),
        }
    }
}

impl Live {
    /// Ends the scripts of a value that was dropped without a hook. If another one was assigned
    /// in its place, no hook says so.
    fn end_in_place(self) {
        let (entity, remote) = (self.entity, self.remote.clone());
        drop(self);
        if entity != Entity::PLACEHOLDER {
            remote.call(move || {
                with(|world: &mut World| {
                    settle(&mut world.into(), entity);
                    world.flush();
                });
            });
        }
    }

    fn apply_speed(&self, speed: f64) {
        let entity = self.entity;
        self.has_speed.store(true, Ordering::Relaxed);
        self.remote.call(move || {
            with_ref(|world: &World| {
                let scripts = world.get::<Scripts>(entity);
                if let Some(scripts) = scripts.filter(|scripts| scripts.live.is_some()) {
                    let shared = Shared::of(world);
                    let base = || scripts.base.clock(shared.handle());
                    shared.speeds().set_speed(entity, base, speed);
                }
            });
        });
    }
}

/// Says that a clone of the entity has no scripts, or that they end with a move.
fn cloned(source: &SourceComponent<'_>, context: &mut ComponentCloneCtx<'_, '_>) {
    let Some(scripts) = source.read::<Scripts>() else {
        return;
    };
    let begin = scripts.begin.lock();
    let begins = begin.unwrap_or_else(PoisonError::into_inner).is_some();
    let started: Vec<CoroutineId> = scripts.known().map(|known| known.id).collect();
    let (from, to, is_moved) = (context.source(), context.target(), context.moving());
    context.queue_deferred(move |world, _| {
        let executor = Shared::of(world);
        let is_alive = |id: &CoroutineId| executor.handle().is_alive(*id);
        if !begins && !started.iter().any(is_alive) {
            return;
        }
        let error = BevyError::warning(if is_moved {
            format!(
                "the scripts of entity {from} end, because its components are moved to entity \
                 {to}: a script has its entity for good. Start scripts for the other entity, or \
                 deny `Scripts` in the `EntityCloner`"
            )
        } else {
            format!(
                "the scripts of entity {from} were not cloned to entity {to}: a script in the \
                 middle of its code has no copy. Start scripts for the clone, or deny `Scripts` in \
                 the `EntityCloner`"
            )
        });
        hand_over(world, error, "clone of Scripts");
    });
}

fn is_named(full: &str, name: &str) -> bool {
    let end = full.strip_suffix(name);
    end.is_some_and(|path| path.is_empty() || path.ends_with("::"))
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

thread_local! {
    /// The scripts of entities whose component has been replaced, until the new one is there.
    static REPLACED: RefCell<Vec<Replaced>> = const { RefCell::new(Vec::new()) };
}

struct Replaced {
    world: WorldId,
    live: Live,
    base: Base,
    is_paused: bool,
    speed: f64,
}

/// Takes over the scripts of a component that was replaced.
fn take_replaced(world: WorldId, entity: Entity) -> Option<Replaced> {
    REPLACED.with_borrow_mut(|all| {
        let is_it = |of: &Replaced| of.world == world && of.live.entity == entity;
        let index = all.iter().rposition(is_it)?;
        Some(all.swap_remove(index))
    })
}

/// Only the next hook shows whether it is replaced or removed.
fn discarded(mut world: DeferredWorld<'_>, context: HookContext) {
    let id = world.id();
    if let Some(mut scripts) = world.get_mut::<Scripts>(context.entity) {
        scripts.bypass_change_detection().discarded = Some(id);
    }
}

impl Drop for Scripts {
    fn drop(&mut self) {
        // If the component was removed, they have been taken.
        let Some(live) = self.live.take() else {
            return;
        };
        let Some(world) = self.discarded else {
            live.end_in_place();
            return;
        };
        let replaced = Replaced {
            world,
            live,
            base: take(&mut self.base),
            is_paused: self.is_paused(),
            speed: self.speed(),
        };
        REPLACED.with_borrow_mut(|all| all.push(replaced));
    }
}

fn removed(mut world: DeferredWorld<'_>, context: HookContext) {
    let entity = context.entity;
    let Some(mut scripts) = world.get_mut::<Scripts>(entity) else {
        return;
    };
    let scripts = scripts.bypass_change_detection();
    scripts.base = Base::Game;
    let Some(live) = scripts.live.take() else {
        return;
    };
    if live.has_speed.load(Ordering::Relaxed)
        && let Some(framestep) = world.get_non_send::<crate::Framestep>()
    {
        framestep.shared().speeds().forget(entity);
    }
    let is_at_home = live.owner.get().is_some();
    // This runs destructors.
    drop(live);
    // On another thread, the scripts are still to end.
    if is_at_home && let Some(shared) = Shared::get(&world) {
        clean_up::queue(&mut world, shared.handle());
    }
}

fn inserted(mut world: DeferredWorld<'_>, context: HookContext) {
    settle(&mut world, context.entity);
}

/// Sets up a component that was put there, unless it is there already.
fn settle(world: &mut DeferredWorld<'_>, entity: Entity) {
    let Some(mut scripts) = world.get_mut::<Scripts>(entity) else {
        return;
    };
    let scripts = scripts.bypass_change_detection();
    scripts.discarded = None;
    let is_whole = scripts
        .live
        .as_ref()
        .is_some_and(|live| live.entity == entity);
    if !is_whole {
        complete(world, entity);
    }
}

/// Sets up a component that was inserted by hand, or that replaced another one.
fn complete(world: &mut DeferredWorld<'_>, entity: Entity) {
    let shared = Shared::of(world);
    let before = take_replaced(world.id(), entity);
    let name = OwnerName::of(world.get(entity), entity);
    let Some(mut scripts) = world.get_mut::<Scripts>(entity) else {
        return;
    };
    let begin = scripts.begin_mut().take();
    let live = match (before, scripts.live.take()) {
        // Running scripts continue, on the clock of the new component.
        (Some(before), _) => {
            if matches!(scripts.base, Base::Game) {
                scripts.base = before.base;
                if is_normal(scripts.speed()) {
                    *scripts.speed.get_mut() = before.speed.to_bits();
                }
            } else {
                if let Some(clock) = scripts.base.clock(shared.handle()) {
                    shared.speeds().set(entity, clock);
                }
                before.live.has_speed.store(true, Ordering::Relaxed);
            }
            if before.is_paused {
                *scripts.is_paused.get_mut() = true;
            }
            Some(before.live)
        }
        (None, Some(brought)) => Some(brought),
        (None, None) => Live::new(&shared, &scripts.base, name).map(|(live, _)| live),
    };
    // There is none if the app is ending.
    let Some(mut live) = live else {
        return;
    };
    live.entity = entity;
    if scripts.is_paused()
        && let Some(owner) = live.owner.get()
    {
        owner.pause();
    }
    if !is_normal(scripts.speed()) {
        live.apply_speed(scripts.speed());
    }
    scripts.live = Some(live);
    if let Some(begin) = begin {
        let begin = move |world: &mut World| begin(world, entity);
        world.commands().queue(begin);
    }
}

fn is_normal(speed: f64) -> bool {
    speed == NORMAL
}

impl Live {
    /// And a handle to the owner. `None` if the app is ending.
    fn new(shared: &Shared, base: &Base, name: OwnerName) -> Option<(Self, OwnerHandle)> {
        let handle = shared.handle();
        let owner = match base {
            Base::Realtime => handle.owner_on(&handle.realtime()?)?,
            Base::Other(clock) => handle.owner_on(&clock.get()?)?,
            Base::Game => handle.owner()?,
        };
        let owner = name.give(owner);
        let of_owner = owner.handle();
        Some((Self::of(owner, handle.remote()?), of_owner))
    }

    fn of(owner: Owner, remote: RemoteHandle) -> Self {
        Live {
            owner: owner.into_send(),
            remote,
            entity: Entity::PLACEHOLDER,
            has_speed: AtomicBool::new(false),
            first: None,
            others: Vec::new(),
        }
    }
}

/// The name of an entity in snapshots.
struct OwnerName(Option<String>);

impl OwnerName {
    /// Entities without a [`Name`] have one only in debug builds, because there are many.
    fn of(name: Option<&Name>, entity: Entity) -> Self {
        OwnerName(match name {
            Some(name) => Some(format!("{name} {entity}")),
            None if cfg!(debug_assertions) => Some(format!("entity {entity}")),
            None => None,
        })
    }

    fn give(self, owner: Owner) -> Owner {
        match self.0 {
            Some(name) => owner.named(name),
            None => owner,
        }
    }
}

/// The owner of an entity's scripts, which is made if there is none.
pub(crate) fn owner_of(
    world: &mut World,
    shared: &Shared,
    entity: Entity,
) -> Result<OwnerHandle, Missing> {
    let missing = Missing::entity(entity);
    let mut found = world.get_entity_mut(entity).map_err(|_| missing)?;
    if let Some(owner) = found.get::<Scripts>().and_then(Scripts::owner) {
        return Ok(owner.handle());
    }
    let name = OwnerName::of(found.get(), entity);
    let (mut live, owner) = Live::new(shared, &Base::Game, name).ok_or(missing)?;
    live.entity = entity;
    let mut scripts = Scripts::default();
    scripts.live = Some(live);
    found.insert(scripts);
    Ok(owner)
}

/// A handle that refuses every start.
pub(crate) fn nobody(handle: &Handle) -> Option<OwnerHandle> {
    Some(handle.owner()?.handle())
}
