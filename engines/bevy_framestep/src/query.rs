//! Several components at once, and queries that a script can keep.

use std::any::{Any, TypeId, type_name};
use std::cell::{RefCell, RefMut};
use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::rc::Rc;

use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use bevy_ecs::query::{
    IterQueryData, QueryData, QueryEntityError, QueryFilter, QuerySingleError, QueryState,
    SingleEntityQueryData,
};
use framestep::with;

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
    fn call(self, world: &mut World, entity: Entity) -> Result<R, Missing>;
}

macro_rules! entity_fn {
    ($($param:ident $item:ident),*) => {
        impl<F, R, $($param),*> EntityFn<($($param,)*), R> for F
        where
            $($param: EntityParam,)*
            F: FnOnce($($param),*) -> R,
            F: for<'w> FnOnce($($param::Item<'w>),*) -> R,
        {
            fn call(self, world: &mut World, entity: Entity) -> Result<R, Missing> {
                // Only in here is it clear which of the two signatures is called.
                fn call<$($item,)* R>(f: impl FnOnce($($item),*) -> R, $($item: $item),*) -> R {
                    f($($item),*)
                }

                let state = state::<($($param::Data,)*), ()>(world);
                let found = borrow(&state).get_mut(world, entity).map(|($($item,)*)| {
                    call(self, $($param::item($item)),*)
                });
                found.map_err(|error| {
                    let missing = |entity: EntityRef<'_>| [$($param::missing(entity)),*];
                    why(world, entity, &error, missing)
                })
            }
        }
    };
}

#[allow(non_camel_case_types, reason = "a macro names types as their values")]
mod functions {
    use super::{Entity, EntityFn, EntityParam, EntityRef, Missing, World, borrow, state, why};

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

/// The states of the queries of scripts, by type.
#[derive(Default)]
pub(crate) struct Queries(RefCell<HashMap<TypeId, Rc<dyn Any>>>);

impl Queries {
    fn state<D, F>(&self, world: &mut World) -> State<D, F>
    where
        D: QueryData + 'static,
        F: QueryFilter + 'static,
    {
        let key = TypeId::of::<State<D, F>>();
        let known = self.0.borrow().get(&key).cloned();
        let state = known.unwrap_or_else(|| {
            let made = Rc::new(RefCell::new(QueryState::<D, F>::new(world)));
            self.0.borrow_mut().insert(key, made.clone());
            made
        });
        state.downcast().expect("it was made for this type")
    }
}

/// The state of a query. The world has one for each type.
fn state<D, F>(world: &mut World) -> State<D, F>
where
    D: QueryData + 'static,
    F: QueryFilter + 'static,
{
    // An app can have only durable scripts.
    #[cfg(feature = "durable")]
    if Shared::get(world).is_none() {
        return crate::durable::with_queries(world, |world, queries| queries.state(world));
    }
    Shared::of(world).queries().state(world)
}

#[track_caller]
fn borrow<D: QueryData, F: QueryFilter>(state: &State<D, F>) -> RefMut<'_, QueryState<D, F>> {
    state
        .try_borrow_mut()
        .expect("a script borrows the world once at a time")
}

/// A query that a script can keep, made by [`query`] and [`query_filtered`].
///
/// All methods borrow the world for the length of the call, as [`with`](framestep::with())
/// does, and panic where `with` does.
pub struct ScriptQuery<D: QueryData + 'static, F: QueryFilter + 'static = ()> {
    state: State<D, F>,
}

/// A query over the world, which a script can keep. It is made once for each type, and shared
/// by all scripts.
///
/// # Panics
///
/// If the query conflicts with itself, as `(&mut C, &C)` does; and where
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

/// A query with a filter. See [`query`].
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
    ScriptQuery {
        state: with(state::<D, F>),
    }
}

impl<D: QueryData + 'static, F: QueryFilter + 'static> ScriptQuery<D, F> {
    /// Calls `f` with what the query finds on an entity.
    ///
    /// # Errors
    ///
    /// If the entity does not exist, or does not match the query.
    #[track_caller]
    pub fn get<R>(
        &self,
        entity: Entity,
        f: impl FnOnce(D::Item<'_, '_>) -> R,
    ) -> Result<R, Missing> {
        let at = Location::caller();
        with(|world: &mut World| {
            let mut state = borrow(&self.state);
            let found = state.get_mut(world, entity).map(f);
            found.map_err(|error| match error {
                QueryEntityError::NotSpawned(_) => Missing::entity(entity).at(at),
                _ => Missing::component::<D>(entity).at(at),
            })
        })
    }

    /// Whether the query finds nothing.
    #[track_caller]
    pub fn is_empty(&self) -> bool {
        with(|world: &mut World| borrow(&self.state).query_mut(world).is_empty())
    }
}

impl<D: IterQueryData + 'static, F: QueryFilter + 'static> ScriptQuery<D, F> {
    /// Calls `f` with what the query finds, one entity after another.
    #[track_caller]
    pub fn for_each(&self, f: impl FnMut(D::Item<'_, '_>)) {
        with(|world: &mut World| borrow(&self.state).iter_mut(world).for_each(f));
    }

    /// Calls `f` with what the query finds on the only entity that matches.
    ///
    /// # Errors
    ///
    /// If no entity matches, or more than one.
    #[track_caller]
    pub fn single<R>(&self, f: impl FnOnce(D::Item<'_, '_>) -> R) -> Result<R, QuerySingleError> {
        with(|world: &mut World| borrow(&self.state).single_mut(world).map(f))
    }

    /// How many entities match.
    #[track_caller]
    pub fn count(&self) -> usize {
        with(|world: &mut World| borrow(&self.state).iter_mut(world).count())
    }
}

impl<D: QueryData + 'static, F: QueryFilter + 'static> Clone for ScriptQuery<D, F> {
    fn clone(&self) -> Self {
        ScriptQuery {
            state: self.state.clone(),
        }
    }
}

impl<D: QueryData + 'static, F: QueryFilter + 'static> fmt::Debug for ScriptQuery<D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptQuery").finish_non_exhaustive()
    }
}
