//! Several components at once, and queries that a script can keep.

use std::any::{Any, TypeId, type_name};
use std::cell::{Cell, RefCell, RefMut};
use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::rc::Rc;

use bevy_ecs::change_detection::{MAX_CHANGE_AGE, Tick};
use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use bevy_ecs::query::{
    IterQueryData, QueryData, QueryEntityError, QueryFilter, QuerySingleError, QueryState,
    SingleEntityQueryData,
};

use crate::borrow::{Call, Place, with};
use crate::error::Missing;
use crate::executor::Shared;

/// An argument of a closure for [`ScriptEntity::with`](crate::ScriptEntity::with): `&C`,
/// `&mut C`, `Option<&C>`, `Option<&mut C>` or [`Entity`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of `ScriptEntity::with`",
    note = "the arguments are `&C`, `&mut C`, `Option<&C>`, `Option<&mut C>` or `Entity`"
)]
pub trait EntityParam {
    #[doc(hidden)]
    type Data: SingleEntityQueryData + 'static;
    #[doc(hidden)]
    type Item<'w>;
    #[doc(hidden)]
    fn item<'w>(item: <Self::Data as QueryData>::Item<'w, '_>) -> Self::Item<'w>;
    /// The name of the component, if the entity must have it and does not.
    #[doc(hidden)]
    fn missing(entity: EntityRef<'_>) -> Option<&'static str>;
}

fn missing<C: Component>(entity: EntityRef<'_>) -> Option<&'static str> {
    (!entity.contains::<C>()).then(type_name::<C>)
}

impl<C: Component> EntityParam for &C {
    type Data = &'static C;
    type Item<'w> = &'w C;

    fn item<'w>(item: <Self::Data as QueryData>::Item<'w, '_>) -> Self::Item<'w> {
        item
    }

    fn missing(entity: EntityRef<'_>) -> Option<&'static str> {
        missing::<C>(entity)
    }
}

impl<C: Component<Mutability = Mutable>> EntityParam for &mut C {
    type Data = &'static mut C;
    type Item<'w> = &'w mut C;

    fn item<'w>(item: <Self::Data as QueryData>::Item<'w, '_>) -> Self::Item<'w> {
        item.into_inner()
    }

    fn missing(entity: EntityRef<'_>) -> Option<&'static str> {
        missing::<C>(entity)
    }
}

impl<C: Component> EntityParam for Option<&C> {
    type Data = Option<&'static C>;
    type Item<'w> = Option<&'w C>;

    fn item<'w>(item: <Self::Data as QueryData>::Item<'w, '_>) -> Self::Item<'w> {
        item
    }

    fn missing(_: EntityRef<'_>) -> Option<&'static str> {
        None
    }
}

impl<C: Component<Mutability = Mutable>> EntityParam for Option<&mut C> {
    type Data = Option<&'static mut C>;
    type Item<'w> = Option<&'w mut C>;

    fn item<'w>(item: <Self::Data as QueryData>::Item<'w, '_>) -> Self::Item<'w> {
        item.map(Mut::into_inner)
    }

    fn missing(_: EntityRef<'_>) -> Option<&'static str> {
        None
    }
}

impl EntityParam for Entity {
    type Data = Entity;
    type Item<'w> = Entity;

    fn item<'w>(item: <Self::Data as QueryData>::Item<'w, '_>) -> Self::Item<'w> {
        item
    }

    fn missing(_: EntityRef<'_>) -> Option<&'static str> {
        None
    }
}

/// A closure for [`ScriptEntity::with`](crate::ScriptEntity::with), with up to six arguments,
/// each of which is an [`EntityParam`].
#[diagnostic::on_unimplemented(
    message = "this closure cannot be called with components",
    note = "its arguments have types: `|health: &mut Health, name: &Name| ..`",
    note = "they are `&C`, `&mut C`, `Option<&C>`, `Option<&mut C>` or `Entity`, six at most"
)]
pub trait EntityFn<Args, R> {
    #[doc(hidden)]
    fn call(self, world: &mut World, entity: Entity, place: Place) -> Result<R, Missing>;
}

macro_rules! entity_fn {
    ($($param:ident $item:ident),*) => {
        impl<F, R, $($param),*> EntityFn<($($param,)*), R> for F
        where
            $($param: EntityParam,)*
            F: FnOnce($($param),*) -> R,
            F: for<'w> FnOnce($($param::Item<'w>),*) -> R,
        {
            fn call(self, world: &mut World, entity: Entity, place: Place) -> Result<R, Missing> {
                // Only in here is it clear which of the two signatures is called.
                fn call<$($item,)* R>(f: impl FnOnce($($item),*) -> R, $($item: $item),*) -> R {
                    f($($item),*)
                }

                let state = state::<($($param::Data,)*), ()>(world, place);
                let found = borrow(&state).get_mut(world, entity).map(|($($item,)*)| {
                    call(self, $($param::item($item)),*)
                });
                found.map_err(|error| {
                    let missing = |entity: EntityRef<'_>| [$($param::missing(entity)),*];
                    why(world, entity, &error, missing).at(place)
                })
            }
        }
    };
}

#[allow(non_camel_case_types, reason = "a macro names types as their values")]
mod functions {
    use super::{
        Entity, EntityFn, EntityParam, EntityRef, Missing, Place, World, borrow, state, why,
    };

    entity_fn!(A a);
    entity_fn!(A a, B b);
    entity_fn!(A a, B b, C c);
    entity_fn!(A a, B b, C c, D d);
    entity_fn!(A a, B b, C c, D d, E e);
    entity_fn!(A a, B b, C c, D d, E e, G g);
}

/// Why the entity does not match.
#[cold]
fn why<const N: usize>(
    world: &World,
    entity: Entity,
    error: &QueryEntityError,
    missing: impl FnOnce(EntityRef<'_>) -> [Option<&'static str>; N],
) -> Missing {
    let found = match error {
        QueryEntityError::NotSpawned(_) => None,
        _ => world.get_entity(entity).ok(),
    };
    let component = found.and_then(|found| missing(found).into_iter().flatten().next());
    match component {
        Some(component) => Missing::component_named(entity, component),
        None => Missing::entity(entity),
    }
}

type State<D, F> = Rc<RefCell<QueryState<D, F>>>;

/// The queries of the scripts of a world.
#[derive(Default)]
pub(crate) struct Queries {
    /// Their states, by type.
    states: RefCell<HashMap<TypeId, Rc<dyn Any>>>,
    clock: Rc<Clock>,
}

/// Tells runs of the scripts apart, and the age of changes.
#[derive(Default)]
struct Clock {
    run: Cell<u64>,
    /// The change tick of the world when it was last read, and how many have passed until then:
    /// the world's own number begins anew.
    tick: Cell<u32>,
    passed: Cell<u64>,
}

impl Clock {
    /// How many change ticks have passed.
    fn read(&self, tick: Tick) -> u64 {
        let before = self.tick.replace(tick.get());
        let passed = u64::from(tick.get().wrapping_sub(before));
        self.passed.set(self.passed.get() + passed);
        self.passed.get()
    }
}

impl Queries {
    /// Notes that a run of the scripts begins.
    pub(crate) fn begin_run(&self, world: &mut World) {
        let clock = &self.clock;
        clock.run.set(clock.run.get() + 1);
        clock.read(world.change_tick());
    }

    fn state<D, F>(&self, world: &mut World, place: Place) -> State<D, F>
    where
        D: QueryData + 'static,
        F: QueryFilter + 'static,
    {
        let key = TypeId::of::<State<D, F>>();
        let known = self.states.borrow().get(&key).cloned();
        let state = known.unwrap_or_else(|| {
            let made = Rc::new(RefCell::new(new_state::<D, F>(world, place)));
            self.states.borrow_mut().insert(key, made.clone());
            made
        });
        state.downcast().expect("it was made for this type")
    }
}

/// A query that conflicts with itself panics in a line of Bevy. The report of the script gets
/// its own line.
#[cold]
fn new_state<D: QueryData, F: QueryFilter>(world: &mut World, place: Place) -> QueryState<D, F> {
    let made = catch_unwind(AssertUnwindSafe(|| QueryState::new(world)));
    made.unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        resume_unwind(match text {
            Some(text) => Box::new(format!("the query at {place}: {text}")),
            None => payload,
        })
    })
}

/// The state of a query. The world has one for each type.
fn state<D, F>(world: &mut World, place: Place) -> State<D, F>
where
    D: QueryData + 'static,
    F: QueryFilter + 'static,
{
    // An app can have only durable scripts.
    #[cfg(feature = "durable")]
    if Shared::get(world).is_none() {
        return crate::durable::queries(world).queries().state(world, place);
    }
    Shared::of(world).queries().state(world, place)
}

fn clock(world: &World) -> Rc<Clock> {
    #[cfg(feature = "durable")]
    if Shared::get(world).is_none() {
        return crate::durable::queries(world).queries().clock.clone();
    }
    Shared::of(world).queries().clock.clone()
}

#[track_caller]
fn borrow<D: QueryData, F: QueryFilter>(state: &State<D, F>) -> RefMut<'_, QueryState<D, F>> {
    state
        .try_borrow_mut()
        .expect("a script borrows the world once at a time")
}

/// Whether an entity has what a query without a filter finds.
#[cold]
#[track_caller]
fn matches<D: QueryData + 'static>(entity: Entity) -> bool {
    let place = Location::caller();
    with(USE, |world| {
        let state = state::<D, ()>(world, place);
        let mut state = borrow(&state);
        state.query_mut(world).contains(entity)
    })
}

/// A query that a script can keep, made by [`query`] and [`query_filtered`].
///
/// All methods borrow the world for the length of the call, as [`with`](framestep::with())
/// does, and panic where `with` does. They also panic in a durable script, which would not
/// record them.
///
/// # Changes
///
/// For the filters [`Changed`] and [`Added`], and for [`Ref`] and [`Mut`], a change is new if it
/// was made since this query was last used in an earlier run of the scripts. That is what a
/// system sees of its last run: a query that a script keeps misses nothing, of scripts and
/// of systems, and in each order in which the scripts run. What its own closure changes is not new to
/// it. Before its first use everything is new, as in the first run of a system.
///
/// So make the query before the loop. One that is made anew in each frame finds everything in
/// each frame. A clone counts for itself from then on. In [`with`](framestep::with()), the
/// world's own queries see only what has changed since the last run of the scripts' phase, and
/// miss what scripts have changed in it later.
///
/// For one entity, [`changed`](crate::ScriptEntity::changed) waits without a poll in each frame.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
///
/// #[derive(Component)]
/// struct Health(u32);
///
/// async fn health_bars() {
///     let changed = query_filtered::<(Entity, &Health), Changed<Health>>();
///     loop {
///         changed.for_each(|(entity, health)| println!("{entity}: {}", health.0));
///         next_frame().await;
///     }
/// }
/// ```
pub struct ScriptQuery<D: QueryData + 'static, F: QueryFilter + 'static = ()> {
    state: State<D, F>,
    clock: Rc<Clock>,
    uses: Cell<Uses>,
}

/// When a query was used, in change ticks that have passed.
#[derive(Clone, Copy, Default)]
struct Uses {
    /// The run of the last use.
    run: u64,
    last: u64,
    /// The last use in an earlier run.
    before: u64,
}

/// A query over the world, which a script can keep. It is made once for each type, and shared
/// by all scripts.
///
/// # Panics
///
/// If the query conflicts with itself, as `(&mut C, &C)` does; in a durable script; and where
/// [`with`](framestep::with()) does.
///
/// # Examples
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::prelude::*;
///
/// #[derive(Component)]
/// struct Position(f32);
///
/// #[derive(Component)]
/// struct Speed(f32);
///
/// #[derive(Component)]
/// struct Falling;
///
/// async fn wind() {
///     let leaves = query_filtered::<(&mut Position, &Speed), With<Falling>>();
///     loop {
///         next_frame().await;
///         leaves.for_each(|(mut position, speed)| position.0 += speed.0 * delta_seconds());
///     }
/// }
/// ```
#[track_caller]
pub fn query<D: QueryData + 'static>() -> ScriptQuery<D> {
    query_filtered()
}

/// A query with a filter. See [`query`]; and [`ScriptQuery`] for the filters [`Changed`] and
/// [`Added`].
///
/// # Panics
///
/// See [`query`].
#[track_caller]
pub fn query_filtered<D, F>() -> ScriptQuery<D, F>
where
    D: QueryData + 'static,
    F: QueryFilter + 'static,
{
    const CALL: Call = Call::new("query", "take a `Query<..>` as a parameter");
    let place = Location::caller();
    with(CALL, |world| ScriptQuery {
        state: state(world, place),
        clock: clock(world),
        uses: Cell::default(),
    })
}

const USE: Call = Call::new("ScriptQuery", "take a `Query<..>` as a parameter");

impl<D: QueryData + 'static, F: QueryFilter + 'static> ScriptQuery<D, F> {
    /// Calls `f` with the query, for which changes are new since its last use in an earlier run.
    #[track_caller]
    fn look<R>(&self, f: impl FnOnce(Query<'_, '_, D, F>) -> R) -> R {
        with(USE, |world| {
            let tick = world.change_tick();
            let (run, now) = (self.clock.run.get(), self.clock.read(tick));
            let uses = self.uses.get();
            let before = if uses.run == run {
                uses.before
            } else {
                uses.last
            };
            let age = match before {
                0 => MAX_CHANGE_AGE,
                _ => u32::try_from(now - before)
                    .map_or(MAX_CHANGE_AGE, |age| age.min(MAX_CHANGE_AGE)),
            };
            let since = Tick::new(tick.get().wrapping_sub(age));
            let mut state = borrow(&self.state);
            let result = world.last_change_tick_scope(since, |world| f(state.query_mut(world)));
            self.uses.set(Uses {
                run,
                last: now,
                before,
            });
            // What others change from here on has a later tick than what `f` has changed.
            world.increment_change_tick();
            result
        })
    }

    /// Calls `f` with what the query finds on an entity.
    ///
    /// # Errors
    ///
    /// If the entity does not exist, or does not match the query. If only the filter does not
    /// match, the error names the filter.
    #[track_caller]
    pub fn get<R>(
        &self,
        entity: Entity,
        f: impl FnOnce(D::Item<'_, '_>) -> R,
    ) -> Result<R, Missing> {
        let found = self.look(|query| match query.get_inner(entity) {
            Ok(item) => Ok(f(item)),
            Err(error) => Err(matches!(error, QueryEntityError::NotSpawned(_))),
        });
        match found {
            Ok(result) => Ok(result),
            Err(true) => Err(Missing::entity(entity)),
            Err(false) if matches::<D>(entity) => Err(Missing::component::<F>(entity)),
            Err(false) => Err(Missing::component::<D>(entity)),
        }
    }

    /// Whether the query finds nothing.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        self.look(|query| query.is_empty())
    }
}

impl<D: IterQueryData + 'static, F: QueryFilter + 'static> ScriptQuery<D, F> {
    /// Calls `f` with what the query finds, one entity after another.
    #[track_caller]
    pub fn for_each(&self, f: impl FnMut(D::Item<'_, '_>)) {
        self.look(|query| query.iter_inner().for_each(f));
    }

    /// Calls `f` with what the query finds on the only entity that matches.
    ///
    /// # Errors
    ///
    /// If no entity matches, or more than one.
    #[track_caller]
    pub fn single<R>(&self, f: impl FnOnce(D::Item<'_, '_>) -> R) -> Result<R, QuerySingleError> {
        self.look(|query| query.single_inner().map(f))
    }

    /// How many entities match.
    #[track_caller]
    pub fn count(&self) -> usize {
        self.look(|query| query.iter_inner().count())
    }
}

impl<D: QueryData + 'static, F: QueryFilter + 'static> Clone for ScriptQuery<D, F> {
    fn clone(&self) -> Self {
        ScriptQuery {
            state: self.state.clone(),
            clock: self.clock.clone(),
            uses: self.uses.clone(),
        }
    }
}

impl<D: QueryData + 'static, F: QueryFilter + 'static> fmt::Debug for ScriptQuery<D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptQuery").finish_non_exhaustive()
    }
}
