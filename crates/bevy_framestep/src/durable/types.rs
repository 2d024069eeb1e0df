//! Which parts of the world are saved: the components and resources that the game names.

use std::any::{TypeId, type_name};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use bevy_app::App;
use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

#[cfg(feature = "state")]
use super::states::SavedState;
use super::whole::Whole;

/// Names the saved parts of the world, on an `App`.
///
/// # Examples
///
/// ```
/// use bevy_app::App;
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::durable::prelude::*;
/// use bevy_time::TimePlugin;
///
/// #[derive(Component, Serialize, Deserialize)]
/// struct Health(u32);
///
/// #[derive(Resource, Serialize, Deserialize)]
/// struct Gold(u32);
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, DurableScriptsPlugin::new(Registry::new())));
/// app.save_component::<Health>("health");
/// app.save_resource::<Gold>("gold");
/// // A reference to another entity is saved as the number of that entity.
/// app.save_component_as(
///     "parent",
///     |child: &ChildOf, world| DurableId::of(world, child.parent()),
///     |parent: DurableId, world| parent.find(world).map(ChildOf),
/// );
/// ```
pub trait SaveAppExt {
    /// Saves the components `C` of all [`Durable`](super::Durable) entities, under a name
    /// that must not change as long as there are saves with it.
    ///
    /// All components of an entity are loaded as one bundle, so hooks and observers of one of them
    /// find the others.
    ///
    /// # Panics
    ///
    /// If another component has this name, or the component has another name.
    #[track_caller]
    fn save_component<C>(&mut self, name: &'static str) -> &mut Self
    where
        C: Component + Serialize + DeserializeOwned;

    /// Saves the components `C` as values of another type, if they refer to entities, or do
    /// not serialise.
    ///
    /// `save` returns `None` to skip the component of that entity. `load` is called when all
    /// saved entities exist and have their numbers, before this one has its components. It returns
    /// `None` to leave out the component.
    ///
    /// # Panics
    ///
    /// If another component has this name, or the component has another name.
    #[track_caller]
    fn save_component_as<C, V>(
        &mut self,
        name: &'static str,
        save: impl Fn(&C, &World) -> Option<V> + Send + Sync + 'static,
        load: impl Fn(V, &World) -> Option<C> + Send + Sync + 'static,
    ) -> &mut Self
    where
        C: Component,
        V: Serialize + DeserializeOwned + 'static;

    /// Saves a resource, under a name that must not change as long as there are saves with
    /// it. If the world did not have it at the time of the save, loading removes it.
    ///
    /// # Panics
    ///
    /// If another resource has this name, or the resource has another name.
    #[track_caller]
    fn save_resource<R>(&mut self, name: &'static str) -> &mut Self
    where
        R: Resource<Mutability = Mutable> + Serialize + DeserializeOwned;
}

impl SaveAppExt for App {
    #[track_caller]
    fn save_component<C>(&mut self, name: &'static str) -> &mut Self
    where
        C: Component + Serialize + DeserializeOwned,
    {
        let component = SavedComponent {
            name: name.into(),
            type_id: TypeId::of::<C>(),
            type_name: type_name::<C>(),
            save: Arc::new(|world, entity, data| Some(write(world.get::<C>(entity)?, data))),
            read: Arc::new(|data| {
                let component: C = read(data)?;
                Some(Box::new(move |_| Some(push(component))))
            }),
            remove: remove::<C>,
        };
        types(self).add(component);
        self
    }

    #[track_caller]
    fn save_component_as<C, V>(
        &mut self,
        name: &'static str,
        save: impl Fn(&C, &World) -> Option<V> + Send + Sync + 'static,
        load: impl Fn(V, &World) -> Option<C> + Send + Sync + 'static,
    ) -> &mut Self
    where
        C: Component,
        V: Serialize + DeserializeOwned + 'static,
    {
        let component = component_as(name.into(), save, load);
        types(self).add(component);
        self
    }

    #[track_caller]
    fn save_resource<R>(&mut self, name: &'static str) -> &mut Self
    where
        R: Resource<Mutability = Mutable> + Serialize + DeserializeOwned,
    {
        let resource = SavedResource {
            name,
            type_id: TypeId::of::<R>(),
            type_name: type_name::<R>(),
            save: |world, data| Some(write(world.get_resource::<R>()?, data)),
            read: |data| {
                let resource: R = read(data)?;
                Some(Box::new(move |world| world.insert_resource(resource)))
            },
            remove: |world| drop(world.remove_resource::<R>()),
        };
        types(self).add_resource(resource);
        self
    }
}

/// A component that is saved as values of type `V`.
pub(super) fn component_as<C, V>(
    name: Cow<'static, str>,
    save: impl Fn(&C, &World) -> Option<V> + Send + Sync + 'static,
    load: impl Fn(V, &World) -> Option<C> + Send + Sync + 'static,
) -> SavedComponent
where
    C: Component,
    V: Serialize + DeserializeOwned + 'static,
{
    let load = Arc::new(load);
    SavedComponent {
        name,
        type_id: TypeId::of::<C>(),
        type_name: type_name::<C>(),
        save: Arc::new(move |world, entity, data| {
            let value = save(world.get::<C>(entity)?, world)?;
            Some(write(&value, data))
        }),
        read: Arc::new(move |data| {
            let value: V = read(data)?;
            let load = load.clone();
            Some(Box::new(move |world| load(value, world).map(push)))
        }),
        remove: remove::<C>,
    }
}

pub(super) fn types(app: &mut App) -> Mut<'_, SavedTypes> {
    app.init_resource::<SavedTypes>();
    app.world_mut().resource_mut::<SavedTypes>()
}

fn remove<C: Component>(world: &mut World, entity: Entity) {
    world.entity_mut(entity).remove::<C>();
}

fn push<C: Component>(component: C) -> Box<PushComponent> {
    Box::new(move |whole| whole.push(component))
}

/// Appends a value. Returns the reason if that fails.
pub(super) fn write<T: Serialize>(value: &T, data: &mut Vec<u8>) -> Result<(), String> {
    let written = postcard::to_extend(value, std::mem::take(data));
    *data = written.map_err(|error| error.to_string())?;
    Ok(())
}

/// Reads a value that takes up all of `data`.
pub(super) fn read<T: DeserializeOwned>(data: &[u8]) -> Option<T> {
    match postcard::take_from_bytes(data) {
        Ok((value, [])) => Some(value),
        _ => None,
    }
}

/// Appends the component of an entity. `None` if it has none.
type SaveComponent =
    dyn Fn(&World, Entity, &mut Vec<u8>) -> Option<Result<(), String>> + Send + Sync;
/// Reads a component. `None` if it cannot be read.
type ReadComponent = dyn Fn(&[u8]) -> Option<Box<MakeComponent>> + Send + Sync;
/// Makes a component when all entities exist. `None` to leave it out.
pub(super) type MakeComponent = dyn FnOnce(&World) -> Option<Box<PushComponent>>;
/// Adds a component to those that its entity is about to get.
pub(super) type PushComponent = dyn FnOnce(&mut Whole<'_>);
/// Puts a resource into the world.
pub(super) type InsertResource = dyn FnOnce(&mut World);

#[derive(Clone)]
pub(super) struct SavedComponent {
    pub(super) name: Cow<'static, str>,
    type_id: TypeId,
    type_name: &'static str,
    pub(super) save: Arc<SaveComponent>,
    pub(super) read: Arc<ReadComponent>,
    pub(super) remove: fn(&mut World, Entity),
}

/// Writes a resource or a state, if the world has it.
pub(super) type SaveResource = fn(&World, &mut Vec<u8>) -> Option<Result<(), String>>;

#[derive(Clone, Copy)]
pub(super) struct SavedResource {
    pub(super) name: &'static str,
    type_id: TypeId,
    type_name: &'static str,
    pub(super) save: SaveResource,
    pub(super) read: fn(&[u8]) -> Option<Box<InsertResource>>,
    pub(super) remove: fn(&mut World),
}

/// The components and resources that are saved, in the order in which they were named.
#[derive(Resource, Clone, Default)]
pub(super) struct SavedTypes {
    pub(super) components: Vec<SavedComponent>,
    pub(super) resources: Vec<SavedResource>,
    /// The names of the messages and events that scripts hear.
    pub(super) heard: BTreeSet<&'static str>,
    #[cfg(feature = "state")]
    pub(super) states: Vec<SavedState>,
}

impl SavedTypes {
    #[track_caller]
    pub(super) fn add(&mut self, added: SavedComponent) {
        for known in &self.components {
            if (known.name == added.name) != (known.type_id == added.type_id) {
                clash(
                    (known.type_name, &known.name),
                    (added.type_name, &added.name),
                );
            }
        }
        let known = self.components.iter_mut();
        let mut known = known.filter(|known| known.name == added.name);
        match known.next() {
            Some(known) => *known = added,
            None => self.components.push(added),
        }
    }

    #[track_caller]
    fn add_resource(&mut self, added: SavedResource) {
        for known in &self.resources {
            if (known.name == added.name) != (known.type_id == added.type_id) {
                clash((known.type_name, known.name), (added.type_name, added.name));
            }
        }
        if self.resources.iter().all(|known| known.name != added.name) {
            self.resources.push(added);
        }
    }

    #[cfg(feature = "state")]
    #[track_caller]
    pub(super) fn add_state(&mut self, added: SavedState) {
        for known in &self.states {
            if (known.name == added.name) != (known.type_id == added.type_id) {
                clash((known.type_name, known.name), (added.type_name, added.name));
            }
        }
        if !self.has_state(added.type_id) {
            self.states.push(added);
        }
    }

    #[cfg(feature = "state")]
    pub(super) fn has_state(&self, state: TypeId) -> bool {
        self.states.iter().any(|known| known.type_id == state)
    }
}

#[cold]
#[track_caller]
fn clash((known, known_name): (&str, &str), (added, added_name): (&str, &str)) -> ! {
    panic!(
        "`{known}` is saved as `{known_name}`, and `{added}` as `{added_name}`: each type that is \
         saved has one name, and each name one type"
    )
}

impl fmt::Debug for SavedTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let components = self.components.iter();
        let components = components.map(|of| (&*of.name, of.type_name));
        let resources = self.resources.iter().map(|of| (of.name, of.type_name));
        f.debug_map()
            .entries(components)
            .entries(resources)
            .finish()
    }
}
