//! Entities with numbers: these are saved, and durable scripts can refer to them.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use framestep_durable::{Key, OwnerId};
use serde::{Deserialize, Serialize};

use super::hear::entity_is_gone;
use super::runtime::DurableRuntime;
use crate::clean_up;

/// The number of an entity. Unlike an [`Entity`], it stays the same in saves and in other
/// processes.
///
/// A plain value: it can be part of the state of a script, and of saved components. No two
/// entities of a world ever have the same number, not even one after the other.
///
/// Scripts access the entity with the methods that are effects; the host uses
/// [`find`](Self::find).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "reflect", derive(bevy_reflect::Reflect))]
pub struct DurableId(pub(super) u64);

/// Its text is its number.
impl Key for DurableId {
    fn write(&self, text: &mut dyn fmt::Write) -> fmt::Result {
        self.0.write(text)
    }
}

impl DurableId {
    /// The entity. `None`: it was despawned.
    pub fn find(self, world: &World) -> Option<Entity> {
        world.get_resource::<DurableEntities>()?.entity(self)
    }

    /// The number of an entity, if it has the component [`Durable`].
    pub fn of(world: &World, entity: Entity) -> Option<Self> {
        world.get_resource::<DurableEntities>()?.id(entity)
    }
}

impl fmt::Display for DurableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// Marks an entity as saved, gives it a number, and owns its durable scripts: they end when
/// it is despawned, or when this component is removed.
///
/// The first durable script that is started on an entity adds it. To save all goblins, let
/// their component require it.
///
/// Inserting it again changes nothing. Clones of an entity do not have it, because they would
/// have the same number.
///
/// # Panics
///
/// When it is inserted, if the app has no [`DurableScriptsPlugin`](super::DurableScriptsPlugin).
///
/// # Examples
///
/// ```
/// use bevy_app::{App, Update};
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::durable::prelude::*;
/// use bevy_time::TimePlugin;
///
/// #[derive(Component)]
/// #[require(Durable)]
/// struct Goblin;
///
/// #[derive(Component)]
/// struct Frozen;
///
/// fn freeze(goblins: Query<&Durable, Added<Frozen>>, scripts: NonSend<DurableRuntime>) {
///     for goblin in &goblins {
///         if let Some(owner) = goblin.owner() {
///             scripts.host().executor().enter(|| owner.pause()).unwrap();
///         }
///     }
/// }
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, DurableScriptsPlugin::new(Registry::new())));
/// app.add_systems(Update, freeze);
/// let goblin = app.world_mut().spawn(Goblin).id();
/// let id = app.world().get::<Durable>(goblin).unwrap().id();
/// assert_eq!(id.find(app.world()), Some(goblin));
/// app.world_mut().despawn(goblin);
/// assert_eq!(id.find(app.world()), None);
/// ```
#[derive(Component, Debug, Default)]
#[component(on_insert = inserted, on_remove = removed, clone_behavior = Ignore)]
pub struct Durable {
    /// `None` until it is inserted, and after it was removed.
    pub(super) id: Option<DurableId>,
    pub(super) owner: Option<OwnerId>,
}

impl Durable {
    /// The number of the entity.
    ///
    /// # Panics
    ///
    /// If the component has not been inserted.
    #[track_caller]
    pub fn id(&self) -> DurableId {
        match self.id {
            Some(id) => id,
            None => panic!("an entity gets its number when `Durable` is inserted"),
        }
    }

    /// The owner of the scripts of the entity. Use it to pause, resume and stop them with the
    /// [`host`](DurableRuntime::host), or with the methods of [`OwnerId`] in a durable
    /// script. `None` if no script has been started on it.
    pub fn owner(&self) -> Option<OwnerId> {
        self.owner
    }
}

/// The entities with numbers, as a resource.
#[derive(Resource, Debug)]
pub struct DurableEntities {
    /// In the order in which they are saved.
    by_id: BTreeMap<DurableId, Entity>,
    known: HashMap<Entity, Known>,
    next: u64,
    is_loading: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    id: DurableId,
    pub(super) owner: Option<OwnerId>,
}

impl Default for DurableEntities {
    fn default() -> Self {
        DurableEntities {
            by_id: BTreeMap::new(),
            known: HashMap::new(),
            next: 1,
            is_loading: false,
        }
    }
}

impl DurableEntities {
    /// The entity with this number. `None` if it was despawned.
    pub fn entity(&self, id: DurableId) -> Option<Entity> {
        self.by_id.get(&id).copied()
    }

    /// The number of an entity.
    pub fn id(&self, entity: Entity) -> Option<DurableId> {
        self.known.get(&entity).map(|known| known.id)
    }

    /// All entities, by number.
    pub fn iter(&self) -> impl Iterator<Item = (DurableId, Entity)> {
        self.by_id.iter().map(|(&id, &entity)| (id, entity))
    }

    /// Whether a save is being loaded. Observers and hooks that start scripts for spawned
    /// entities must check this: the scripts of the save exist already.
    pub fn is_loading(&self) -> bool {
        self.is_loading
    }

    pub(super) fn set_loading(&mut self, is_loading: bool) {
        self.is_loading = is_loading;
    }

    pub(super) fn owner(&self, entity: Entity) -> Option<OwnerId> {
        self.known.get(&entity)?.owner
    }

    pub(super) fn set_owner(&mut self, entity: Entity, owner: Option<OwnerId>) {
        if let Some(known) = self.known.get_mut(&entity) {
            known.owner = owner;
        }
    }

    /// For a runtime that has been restored: the owners of these entities do not exist any
    /// more, and others have their numbers.
    pub(super) fn forget_owners(&mut self) {
        for known in self.known.values_mut() {
            known.owner = None;
        }
    }

    pub(super) fn next(&self) -> u64 {
        self.next
    }

    pub(super) fn set_next(&mut self, next: u64) {
        self.next = next;
    }

    /// Adds an entity. A loaded entity already has a number, and perhaps an owner.
    pub(super) fn enter(
        &mut self,
        entity: Entity,
        brought: Option<DurableId>,
        owner: Option<OwnerId>,
    ) -> Known {
        if let Some(&known) = self.known.get(&entity) {
            return known;
        }
        // If the component was swapped out of another entity, its scripts stay with that
        // entity.
        let brought = brought.filter(|id| self.is_loading && !self.by_id.contains_key(id));
        let known = if let Some(id) = brought {
            Known { id, owner }
        } else {
            let id = DurableId(self.next);
            self.next += 1;
            Known { id, owner: None }
        };
        self.by_id.insert(known.id, entity);
        self.known.insert(entity, known);
        known
    }

    pub(super) fn leave(&mut self, entity: Entity) -> Option<Known> {
        let known = self.known.remove(&entity)?;
        self.by_id.remove(&known.id);
        Some(known)
    }
}

fn inserted(mut world: DeferredWorld<'_>, context: HookContext) {
    let entity = context.entity;
    let Some(component) = world.get::<Durable>(entity) else {
        return;
    };
    let (brought, owner) = (component.id, component.owner);
    let Some(mut entities) = world.get_resource_mut::<DurableEntities>() else {
        panic!("durable entities need `DurableScriptsPlugin`: add it to the app");
    };
    let known = entities.enter(entity, brought, owner);
    if let Some(mut component) = world.get_mut::<Durable>(entity) {
        let component = component.bypass_change_detection();
        component.id = Some(known.id);
        component.owner = known.owner;
    }
}

fn removed(mut world: DeferredWorld<'_>, context: HookContext) {
    let entity = context.entity;
    if let Some(mut component) = world.get_mut::<Durable>(entity) {
        *component.bypass_change_detection() = Durable::default();
    }
    let Some(mut entities) = world.get_resource_mut::<DurableEntities>() else {
        return;
    };
    let is_loading = entities.is_loading;
    let known = entities.leave(entity);
    let (Some(known), Some(runtime)) = (known, world.get_non_send::<DurableRuntime>()) else {
        return;
    };
    let runtime = runtime.shared();
    // The entities of a save may have the same numbers.
    if !is_loading {
        entity_is_gone(runtime.host(), known.id);
    }
    if let Some(owner) = known.owner {
        // This runs destructors.
        runtime.remove_owner(owner);
        clean_up::queue(&mut world, runtime.executor());
    }
}

/// The owner of an entity's scripts, which is made if there is none. `None` if the entity
/// does not exist.
pub(super) fn owner_of(world: &mut World, entity: Entity) -> Option<(DurableId, OwnerId)> {
    let mut found = world.get_entity_mut(entity).ok()?;
    if !found.contains::<Durable>() {
        found.insert(Durable::default());
    }
    let id = found.get::<Durable>()?.id();
    if let Some(owner) = found.get::<Durable>()?.owner {
        return Some((id, owner));
    }
    let owner = DurableRuntime::of(world).host().owner();
    world
        .resource_mut::<DurableEntities>()
        .set_owner(entity, Some(owner));
    let mut component = world.get_mut::<Durable>(entity)?;
    component.bypass_change_detection().owner = Some(owner);
    Some((id, owner))
}
