//! Access to missing entities and components.

use std::any::type_name;
use std::error::Error;
use std::fmt;

use bevy_ecs::entity::Entity;

/// A script accessed an entity or a component that does not exist.
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
    },
    /// The entity does not have the component.
    Component {
        /// The entity.
        entity: Entity,
        /// The type of the component.
        component: &'static str,
    },
}

impl Missing {
    pub(crate) fn entity(entity: Entity) -> Self {
        Missing::Entity { entity }
    }

    pub(crate) fn component<C>(entity: Entity) -> Self {
        Missing::Component {
            entity,
            component: type_name::<C>(),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Entity { entity } => write!(f, "there is no entity {entity}"),
            Missing::Component { entity, component } => {
                write!(f, "entity {entity} has no {component}")
            }
        }
    }
}

impl Error for Missing {}
