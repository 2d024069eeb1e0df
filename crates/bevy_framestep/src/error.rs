//! Access to missing entities and components.

use std::any::type_name;
use std::error::Error;
use std::fmt;
use std::panic::Location;

use bevy_ecs::entity::Entity;

/// A script accessed an entity or a component that does not exist.
///
/// Its text says what is missing, and in which line of the script.
///
/// # Examples
///
/// A script that ends when its target does not exist any more:
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::Missing;
/// use bevy_framestep::prelude::*;
///
/// #[derive(Component)]
/// struct Health(u32);
///
/// async fn poison(target: Entity) -> Result<(), Missing> {
///     loop {
///         wait_seconds(1).await;
///         target.get_mut(|health: &mut Health| health.0 -= 1)?;
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// The entity was despawned.
    Entity {
        /// The entity.
        entity: Entity,
        /// The line that accessed it.
        at: &'static Location<'static>,
    },
    /// The entity does not have the component.
    Component {
        /// The entity.
        entity: Entity,
        /// The type of the component.
        component: &'static str,
        /// The line that accessed it.
        at: &'static Location<'static>,
    },
}

impl Missing {
    #[track_caller]
    pub(crate) fn entity(entity: Entity) -> Self {
        Missing::Entity {
            entity,
            at: Location::caller(),
        }
    }

    #[track_caller]
    pub(crate) fn component<C>(entity: Entity) -> Self {
        Self::component_named(entity, type_name::<C>())
    }

    #[track_caller]
    pub(crate) fn component_named(entity: Entity, component: &'static str) -> Self {
        Missing::Component {
            entity,
            component,
            at: Location::caller(),
        }
    }

    /// The same in another line.
    pub(crate) fn at(mut self, line: &'static Location<'static>) -> Self {
        match &mut self {
            Missing::Entity { at, .. } | Missing::Component { at, .. } => *at = line,
        }
        self
    }

    /// The same if there is no entity either.
    pub(crate) fn without_entity(self) -> Self {
        match self {
            Missing::Entity { entity, at } | Missing::Component { entity, at, .. } => {
                Missing::Entity { entity, at }
            }
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Entity { entity, at } => write!(f, "there is no entity {entity}, at {at}"),
            Missing::Component {
                entity,
                component,
                at,
            } => write!(f, "entity {entity} has no {component}, at {at}"),
        }
    }
}

impl Error for Missing {}
