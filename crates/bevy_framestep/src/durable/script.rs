//! What durable scripts do with entities.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use framestep::Phase;
use framestep_durable::{
    ChangesNoLocal, DurableScript, ScriptHandle, WaitUntil, wait_until, with, with_ref,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::entity::{DurableId, owner_of};
use super::error::Missing;
use super::hear::fingerprint;
use crate::query::EntityFn;

/// Effects of durable scripts, each a [`with`](framestep_durable::with()): what it returns is
/// recorded, and when the script is restored, it is not done again.
///
/// In a script that is not durable, they do the same without a record. They panic outside of
/// scripts, and inside a `with`. There, use the world and [`find`](DurableId::find).
impl DurableId {
    /// Calls `f` with a component.
    ///
    /// # Errors
    ///
    /// If the entity or its component does not exist.
    #[track_caller]
    pub fn get<C: Component, R>(
        self,
        f: impl FnOnce(&C) -> R + ChangesNoLocal,
    ) -> Result<R, Missing>
    where
        R: Serialize + DeserializeOwned,
    {
        let f = Cell::new(Some(f));
        with(|world: &mut World| {
            let entity = self.entity(world)?;
            let component = world.get::<C>(entity);
            component
                .map(taken(&f))
                .ok_or_else(|| Missing::component::<C>(self))
        })
    }

    /// Calls `f` with a component, to change it. It always counts as changed.
    ///
    /// # Errors
    ///
    /// If the entity or its component does not exist.
    #[track_caller]
    pub fn get_mut<C, R>(self, f: impl FnOnce(&mut C) -> R + ChangesNoLocal) -> Result<R, Missing>
    where
        C: Component<Mutability = Mutable>,
        R: Serialize + DeserializeOwned,
    {
        let f = Cell::new(Some(f));
        with(|world: &mut World| {
            let entity = self.entity(world)?;
            match world.get_mut::<C>(entity) {
                Some(mut component) => Ok(taken(&f)(&mut component)),
                None => Err(Missing::component::<C>(self)),
            }
        })
    }

    /// Calls `f` with several components, like
    /// [`ScriptEntity::with`](crate::ScriptEntity::with).
    ///
    /// # Errors
    ///
    /// If the entity or one of the components does not exist.
    #[track_caller]
    pub fn with<Args, R>(self, f: impl EntityFn<Args, R> + ChangesNoLocal) -> Result<R, Missing>
    where
        R: Serialize + DeserializeOwned,
    {
        let place = Location::caller();
        let f = Cell::new(Some(f));
        with(|world: &mut World| {
            let entity = self.entity(world)?;
            taken(&f)
                .call(world, entity, place)
                .map_err(|missing| match missing {
                    crate::Missing::Entity { .. } => Missing::entity(self),
                    crate::Missing::Component { component, .. } => Missing::Component {
                        entity: self,
                        component: component.to_owned(),
                    },
                })
        })
    }

    /// Whether the entity has a component of this type.
    #[track_caller]
    pub fn has<C: Component>(self) -> bool {
        with(|world: &mut World| check::<C>(world, self).is_ok())
    }

    /// Whether the entity exists.
    #[track_caller]
    pub fn exists(self) -> bool {
        with(|world: &mut World| self.find(world).is_some())
    }

    /// Adds components to the entity, or replaces those it has.
    ///
    /// # Errors
    ///
    /// If the entity does not exist.
    #[track_caller]
    pub fn insert(self, bundle: impl Bundle) -> Result<(), Missing> {
        // Components need not be `Clone`.
        let bundle = Cell::new(Some(bundle));
        with(|world: &mut World| {
            let entity = self.entity(world)?;
            if let Some(bundle) = bundle.take() {
                world.entity_mut(entity).insert(bundle);
            }
            Ok(())
        })
    }

    /// Removes components of the entity, if it has them.
    ///
    /// # Errors
    ///
    /// If the entity does not exist.
    #[track_caller]
    pub fn remove<B: Bundle>(self) -> Result<(), Missing> {
        with(|world: &mut World| {
            let entity = self.entity(world)?;
            world.entity_mut(entity).remove::<B>();
            Ok(())
        })
    }

    /// Despawns the entity, which ends its scripts. If the calling script is one of them, it
    /// continues to its next wait.
    ///
    /// # Errors
    ///
    /// If the entity does not exist.
    #[track_caller]
    pub fn despawn(self) -> Result<(), Missing> {
        with(|world: &mut World| {
            let entity = self.entity(world)?;
            world.despawn(entity);
            Ok(())
        })
    }

    /// Starts a script that ends with the entity, up to its first wait.
    ///
    /// # Errors
    ///
    /// If the entity does not exist.
    #[track_caller]
    pub fn start<S: DurableScript>(self, script: S) -> Result<ScriptHandle<S::Output>, Missing> {
        let owner = with(|world: &mut World| {
            let entity = self.entity(world)?;
            let owner = owner_of(world, entity);
            owner.map(|(_, owner)| owner).ok_or(Missing::entity(self))
        });
        Ok(owner?.start(script))
    }

    /// Waits until a condition on a component holds. It is checked once in each run of the
    /// home phase, from the next frame on.
    ///
    /// # Errors
    ///
    /// When the entity or its component does not exist.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_framestep::durable::{Missing, prelude::*};
    ///
    /// #[derive(Component)]
    /// struct Health(u32);
    ///
    /// async fn second_phase(boss: DurableId) -> Result<(), Missing> {
    ///     boss.wait_until(|health: &Health| health.0 < 50).await?;
    ///     boss.get_mut(|health: &mut Health| health.0 += 20)
    /// }
    /// ```
    pub fn wait_until<C: Component>(
        self,
        condition: impl Fn(&C) -> bool + 'static,
    ) -> ComponentUntil {
        self.until(check::<C>, move |found| {
            let component = found.and_then(|found| found.get::<C>());
            component.is_none_or(&condition)
        })
    }

    /// Waits until a component has another value than at this call. This is checked once in each run
    /// of the home phase, from the next frame on.
    ///
    /// Values are compared by what they serialise to, and not by Bevy's change detection, which a load
    /// and a rollback would set off: to write the same value is no change, nor is one that is taken back
    /// before the next check.
    ///
    /// # Errors
    ///
    /// When the entity or its component does not exist.
    ///
    /// # Examples
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_framestep::durable::{Missing, prelude::*};
    ///
    /// #[derive(Component, Serialize, Deserialize)]
    /// struct Health(u32);
    ///
    /// async fn groan(boss: DurableId) -> Result<(), Missing> {
    ///     boss.changed::<Health>().await?;
    ///     effect(|| println!("ouch"));
    ///     Ok(())
    /// }
    /// ```
    #[track_caller]
    pub fn changed<C: Component + Serialize>(self) -> ComponentUntil {
        let before = self.get(|component: &C| fingerprint(component)).ok();
        self.until(check::<C>, move |found| {
            let component = found.and_then(|found| found.get::<C>());
            component.map(fingerprint) != before || before.is_none()
        })
    }

    /// Waits until the entity has no component of this type. This is checked once in each run of the
    /// home phase, from the next frame on.
    ///
    /// # Errors
    ///
    /// When the entity does not exist.
    pub fn removed<C: Component>(self) -> ComponentUntil {
        let exists = |world: &World, id: DurableId| id.entity(world).map(drop);
        self.until(exists, |found| {
            found.is_none_or(|found| !found.contains::<C>())
        })
    }

    fn until(
        self,
        check: fn(&World, DurableId) -> Result<(), Missing>,
        holds: impl Fn(Option<EntityRef<'_>>) -> bool + 'static,
    ) -> ComponentUntil {
        let holds = move || {
            with_ref(|world: &World| {
                let found = self.find(world);
                holds(found.and_then(|entity| world.get_entity(entity).ok()))
            })
        };
        ComponentUntil {
            entity: self,
            wait: wait_until(Box::new(holds)),
            check,
        }
    }

    /// Waits until the entity is despawned. This is checked once in each run of the home
    /// phase, from the next frame on.
    pub fn despawned(self) -> WaitUntil<impl Fn() -> bool> {
        wait_until(move || with_ref(|world: &World| self.find(world).is_none()))
    }

    fn entity(self, world: &World) -> Result<Entity, Missing> {
        self.find(world).ok_or(Missing::entity(self))
    }
}

fn check<C: Component>(world: &World, id: DurableId) -> Result<(), Missing> {
    let entity = id.entity(world)?;
    let component = world.get::<C>(entity);
    component
        .map(drop)
        .ok_or_else(|| Missing::component::<C>(id))
}

/// The closure that an effect calls. The effect borrows it, because that it changes no local variable
/// is known of it, but not that it is `Clone`.
fn taken<F>(f: &Cell<Option<F>>) -> F {
    f.take().expect("an effect is done once")
}

/// The condition on the world.
type Condition = Box<dyn Fn() -> bool>;

/// The future of [`DurableId::wait_until`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct ComponentUntil {
    entity: DurableId,
    wait: WaitUntil<Condition>,
    check: fn(&World, DurableId) -> Result<(), Missing>,
}

impl ComponentUntil {
    /// Checks the condition, and resumes, in `phase`.
    ///
    /// # Panics
    ///
    /// If the wait has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.wait = self.wait.in_phase(phase);
        self
    }
}

impl Future for ComponentUntil {
    type Output = Result<(), Missing>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        ready!(Pin::new(&mut self.wait).poll(cx));
        let (check, entity) = (self.check, self.entity);
        Poll::Ready(with(|world: &mut World| check(world, entity)))
    }
}

impl fmt::Debug for ComponentUntil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ComponentUntil")
            .field("entity", &self.entity)
            .finish_non_exhaustive()
    }
}
