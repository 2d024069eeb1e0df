//! Saves: the scripts, and the part of the world that the game names.

use std::collections::BTreeSet;

use bevy_ecs::prelude::*;
use framestep_durable::{OwnerId, Policy, Registry, Reloaded, Restored, SaveState};
use serde::{Deserialize, Serialize};

use super::clocks::Clocks;
use super::entity::{Durable, DurableEntities, DurableId};
use super::error::{LoadError, SaveError};
use super::runtime::DurableRuntime;
#[cfg(feature = "state")]
use super::states::{ReadState, Restoring};
use super::types::{InsertResource, MakeComponent, SavedTypes};
use super::whole;

/// The durable scripts of a world, its [`Durable`] entities with the components that the app
/// [saves](super::SaveAppExt), its saved resources, and Bevy's clocks.
///
/// [`save`](super::save()) makes one. [`to_bytes`](Self::to_bytes) turns it into a file. It
/// implements serde's traits, so it can also be part of the game's own file.
///
/// It shares the journals of scripts with the runtime, so it stays on the thread of the app.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Save {
    pub(super) world: Saved,
    pub(super) scripts: SaveState,
}

/// The part of the world.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Saved {
    clocks: Clocks,
    next_id: u64,
    entities: Vec<SavedEntity>,
    /// The names of the components. Entities refer to them by number.
    names: Vec<String>,
    /// The name of each resource, and its length in bytes.
    resources: Vec<(String, u32)>,
    /// The name of each state, and its length in bytes.
    states: Vec<(String, u32)>,
    /// The components of all entities, then the resources, then the states.
    data: Vec<u8>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct SavedEntity {
    id: DurableId,
    owner: Option<OwnerId>,
    /// Which component, and its length in bytes.
    components: Vec<(u32, u32)>,
}

impl Save {
    /// How many entities it has.
    pub fn entities(&self) -> usize {
        self.world.entities.len()
    }

    /// The part of the scripts.
    pub fn scripts(&self) -> &SaveState {
        &self.scripts
    }
}

/// Saves the durable scripts and entities of a world.
///
/// In debug builds, this verifies at once that the scripts can be restored, as
/// [`Runtime::save`](framestep_durable::Runtime::save) does.
///
/// # Errors
///
/// If scripts run or a fixed step is under way; if something cannot be saved.
///
/// # Panics
///
/// If the plugin is missing.
///
/// # Examples
///
/// See [the module](super).
pub fn save(world: &mut World) -> Result<Save, SaveError> {
    take(world, |runtime| runtime.save())
}

/// Does what [`save`](save()) does, without the check in debug builds: for [`rollback`], many
/// times a second.
///
/// # Errors
///
/// As [`save`](save()).
///
/// # Panics
///
/// If the plugin is missing.
pub fn save_state(world: &mut World) -> Result<Save, SaveError> {
    take(world, |runtime| runtime.save_state())
}

fn take(
    world: &mut World,
    scripts: impl FnOnce(&framestep_durable::Runtime) -> Result<SaveState, framestep_durable::SaveError>,
) -> Result<Save, SaveError> {
    let shared = DurableRuntime::of(world);
    let runtime = shared.idle().ok_or(SaveError::Running)?;
    let scripts = scripts(&runtime).map_err(SaveError::Scripts)?;
    // Functions that save components can read it.
    drop(runtime);
    let mut saved = Saved {
        clocks: Clocks::save(world, &shared.seen),
        ..Saved::default()
    };
    saved.write_entities(world)?;
    saved.write_resources(world)?;
    #[cfg(feature = "state")]
    saved.write_states(world)?;
    Ok(Save {
        world: saved,
        scripts,
    })
}

fn len(from: usize, data: &[u8]) -> u32 {
    u32::try_from(data.len() - from).expect("a component below 4 GiB")
}

impl Saved {
    fn write_entities(&mut self, world: &World) -> Result<(), SaveError> {
        let entities = world.resource::<DurableEntities>();
        let types = world.resource::<SavedTypes>();
        self.next_id = entities.next();
        // Only components that entities have.
        let mut numbers: Vec<Option<u32>> = vec![None; types.components.len()];
        for (id, entity) in entities.iter() {
            let mut components = Vec::new();
            for (of, number) in types.components.iter().zip(&mut numbers) {
                let from = self.data.len();
                let Some(written) = (of.save)(world, entity, &mut self.data) else {
                    continue;
                };
                written.map_err(|message| SaveError::Component {
                    entity: id,
                    name: of.name.to_string(),
                    message,
                })?;
                let names = &mut self.names;
                let number = number.get_or_insert_with(|| {
                    names.push(of.name.to_string());
                    u32::try_from(names.len() - 1).expect("fewer than 2^32 components")
                });
                components.push((*number, len(from, &self.data)));
            }
            self.entities.push(SavedEntity {
                id,
                owner: entities.owner(entity),
                components,
            });
        }
        Ok(())
    }

    fn write_resources(&mut self, world: &World) -> Result<(), SaveError> {
        for of in &world.resource::<SavedTypes>().resources {
            let from = self.data.len();
            let Some(written) = (of.save)(world, &mut self.data) else {
                continue;
            };
            written.map_err(|message| SaveError::Resource {
                name: of.name.to_string(),
                message,
            })?;
            let len = len(from, &self.data);
            self.resources.push((of.name.to_string(), len));
        }
        Ok(())
    }

    #[cfg(feature = "state")]
    fn write_states(&mut self, world: &World) -> Result<(), SaveError> {
        for of in &world.resource::<SavedTypes>().states {
            let from = self.data.len();
            let Some(written) = (of.save)(world, &mut self.data) else {
                continue;
            };
            written.map_err(|message| SaveError::State {
                name: of.name.to_string(),
                message,
            })?;
            let len = len(from, &self.data);
            self.states.push((of.name.to_string(), len));
        }
        Ok(())
    }

    /// Reads everything, before anything changes.
    fn read(&self, types: &SavedTypes) -> Result<Read, LoadError> {
        let known = |name: &String| {
            let known = types.components.iter().position(|of| of.name == *name);
            known.ok_or_else(|| LoadError::UnknownComponent { name: name.clone() })
        };
        let known = self.names.iter().map(known);
        let known: Vec<usize> = known.collect::<Result<_, _>>()?;
        let mut data = &self.data[..];
        let mut entities = Vec::with_capacity(self.entities.len());
        let mut ids = BTreeSet::new();
        for saved in &self.entities {
            if saved.id.0 >= self.next_id || !ids.insert(saved.id) {
                return Err(LoadError::Damaged);
            }
            let mut components = Vec::with_capacity(saved.components.len());
            for &(number, len) in &saved.components {
                let at = *known.get(number as usize).ok_or(LoadError::Damaged)?;
                let of = &types.components[at];
                // A bundle has each component once.
                if components.iter().any(|(known, _)| *known == at) {
                    return Err(LoadError::Damaged);
                }
                let component = (of.read)(cut(&mut data, len)?);
                let make = component.ok_or_else(|| LoadError::Component {
                    entity: saved.id,
                    name: of.name.to_string(),
                })?;
                components.push((at, make));
            }
            entities.push(ReadEntity {
                id: saved.id,
                owner: saved.owner,
                components,
            });
        }
        let mut resources = Vec::with_capacity(self.resources.len());
        for (name, len) in &self.resources {
            let at = types.resources.iter().position(|of| of.name == name);
            let at = at.ok_or_else(|| LoadError::UnknownResource { name: name.clone() })?;
            let resource = (types.resources[at].read)(cut(&mut data, *len)?);
            let insert = resource.ok_or_else(|| LoadError::Resource { name: name.clone() })?;
            resources.push((at, insert));
        }
        #[cfg(feature = "state")]
        let states = self.read_states(types, &mut data)?;
        #[cfg(not(feature = "state"))]
        if let Some((name, _)) = self.states.first() {
            return Err(LoadError::UnknownState { name: name.clone() });
        }
        let is_whole = data.is_empty() && self.clocks.are_sound();
        if !is_whole {
            return Err(LoadError::Damaged);
        }
        Ok(Read {
            entities,
            resources,
            #[cfg(feature = "state")]
            states,
        })
    }

    #[cfg(feature = "state")]
    fn read_states(
        &self,
        types: &SavedTypes,
        data: &mut &[u8],
    ) -> Result<Vec<Box<dyn ReadState>>, LoadError> {
        let mut states = Vec::with_capacity(self.states.len());
        for (name, len) in &self.states {
            let of = types.states.iter().find(|of| of.name == name);
            let of = of.ok_or_else(|| LoadError::UnknownState { name: name.clone() })?;
            let state = (of.read)(cut(data, *len)?);
            states.push(state.ok_or_else(|| LoadError::State { name: name.clone() })?);
        }
        Ok(states)
    }
}

fn cut<'a>(data: &mut &'a [u8], len: u32) -> Result<&'a [u8], LoadError> {
    let (part, rest) = data
        .split_at_checked(len as usize)
        .ok_or(LoadError::Damaged)?;
    *data = rest;
    Ok(part)
}

/// The contents of a save, ready to be put into the world.
struct Read {
    entities: Vec<ReadEntity>,
    resources: Vec<(usize, Box<InsertResource>)>,
    #[cfg(feature = "state")]
    states: Vec<Box<dyn ReadState>>,
}

struct ReadEntity {
    id: DurableId,
    owner: Option<OwnerId>,
    /// Each with the position of its type.
    components: Vec<(usize, Box<MakeComponent>)>,
}

/// Loads a save. All [`Durable`] entities of the world are despawned, those of the save are
/// spawned, and the scripts continue as they were saved. `policy` decides what happens to a
/// script that does not fit its save.
///
/// The current scripts are dropped, and their destructors have no effects. Entities that are
/// not durable stay, except children of durable entities. Resources that are not saved stay,
/// too.
///
/// The resources come first, then the entities by number. Each gets all its components at once, as
/// one bundle: a hook or an observer of one of them finds the others. Entities whose turn is still to
/// come exist, without components. In hooks and observers, [`DurableEntities::is_loading`] is true.
///
/// # Errors
///
/// If scripts run or a fixed step is under way; if the save contains something that the app
/// does not know or cannot read; if the scripts cannot be restored. Then nothing has changed.
///
/// # Panics
///
/// If the plugin is missing. A panic of a hook or an observer is passed on; the rest of the
/// save is not put into the world then, but it can be loaded again. After that, components are
/// inserted one by one: Bevy 0.20 cannot insert the same bundle after such a panic.
///
/// # Examples
///
/// See [the module](super).
pub fn load(world: &mut World, save: &Save, policy: Policy) -> Result<Restored, LoadError> {
    put(world, save, false, |runtime| {
        runtime.restore(&save.scripts, policy)
    })
}

/// Goes back to a save of the same run of the app.
///
/// Unlike [`load`], it keeps the entities that are also in the save: they stay the same
/// [`Entity`], and keep the components that are not saved. Saved components get their values
/// back, and count as changed. Scripts that have recorded nothing since keep their futures.
///
/// # Errors
///
/// As [`load`], if a script does not fit the save: it depends on what is not recorded.
///
/// # Panics
///
/// As [`load`].
///
/// # Examples
///
/// ```
/// use std::collections::VecDeque;
///
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::durable::{self, prelude::*};
///
/// /// The last seconds, to rewind them: a non-send resource.
/// struct Past(VecDeque<Save>);
///
/// /// In `Last`.
/// fn remember(world: &mut World) -> Result {
///     let now = durable::save_state(world)?;
///     let mut past = world.non_send_mut::<Past>();
///     past.0.push_back(now);
///     if past.0.len() > 300 {
///         past.0.pop_front();
///     }
///     Ok(())
/// }
///
/// /// Instead, while the player holds the button.
/// fn rewind(world: &mut World) -> Result {
///     match world.non_send_mut::<Past>().0.pop_back() {
///         Some(before) => Ok(durable::rollback(world, &before)?),
///         None => Ok(()),
///     }
/// }
/// ```
pub fn rollback(world: &mut World, save: &Save) -> Result<(), LoadError> {
    put(world, save, true, |runtime| runtime.rollback(&save.scripts))
}

/// Exchanges the code of the durable scripts while they wait: each goes on at its await in the code of
/// `registry`. See [`Runtime::reload`](framestep_durable::Runtime::reload). Entities and resources
/// stay as they are.
///
/// The types of components, resources and events must not be in the library that is loaded anew:
/// the world would have them in the earlier layout.
///
/// # Errors
///
/// If scripts run or a fixed step is under way; if a script does not fit and `policy` is
/// [`Policy::Fail`], or it cannot restart. Then nothing has changed.
///
/// # Panics
///
/// If the plugin is missing.
pub fn reload(
    world: &mut World,
    registry: Registry,
    policy: Policy,
) -> Result<Reloaded, LoadError> {
    let shared = DurableRuntime::of(world);
    let mut runtime = shared.idle().ok_or(LoadError::Running)?;
    let reloaded = runtime.reload(registry, policy);
    reloaded.map_err(LoadError::Scripts)
}

/// Exchanges the code and goes back to a save of the same run of the app, as [`rollback`] does: the
/// moment of `save`, with the new code.
///
/// # Errors
///
/// As [`reload`] and [`rollback`].
///
/// # Panics
///
/// As [`rollback`].
pub fn reload_at(
    world: &mut World,
    registry: Registry,
    save: &Save,
    policy: Policy,
) -> Result<Reloaded, LoadError> {
    put(world, save, true, |runtime| {
        runtime.reload_at(registry, &save.scripts, policy)
    })
}

fn put<R>(
    world: &mut World,
    save: &Save,
    keeps_entities: bool,
    scripts: impl FnOnce(&mut framestep_durable::Runtime) -> Result<R, framestep_durable::RestoreError>,
) -> Result<R, LoadError> {
    let shared = DurableRuntime::of(world);
    let mut runtime = shared.idle().ok_or(LoadError::Running)?;
    let types = world.resource::<SavedTypes>().clone();
    let read = save.world.read(&types)?;
    let restored = scripts(&mut runtime).map_err(LoadError::Scripts)?;
    // Hooks can read it.
    drop(runtime);
    let loading = Loading::begin(world);
    let world = &mut *loading.world;
    let mut entities = world.resource_mut::<DurableEntities>();
    entities.forget_owners();
    // This comes first, so that entities that hooks and observers spawn meanwhile get other
    // numbers.
    entities.set_next(save.world.next_id);
    #[cfg(feature = "state")]
    let states = {
        let kept = read.entities.iter().filter(|_| keeps_entities);
        let kept: Vec<Entity> = kept.filter_map(|saved| saved.id.find(world)).collect();
        Restoring::begin(world, &read.states, &kept)
    };
    make_place(world, &read, keeps_entities);
    put_resources(world, &types, read.resources);
    save.world.clocks.load(world, &shared.seen);
    let spawned: Vec<Entity> = read
        .entities
        .iter()
        .map(|saved| spawn(world, saved))
        .collect();
    for (entity, saved) in spawned.into_iter().zip(read.entities) {
        fill(world, &types, entity, saved, keeps_entities);
    }
    world.flush();
    shared.skip_feeds(world);
    #[cfg(feature = "state")]
    states.end(world);
    Ok(restored)
}

/// Marks a load as under way until it is dropped: a hook may panic.
struct Loading<'w> {
    world: &'w mut World,
}

impl<'w> Loading<'w> {
    fn begin(world: &'w mut World) -> Self {
        world.resource_mut::<DurableEntities>().set_loading(true);
        Loading { world }
    }
}

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        if let Some(mut entities) = self.world.get_resource_mut::<DurableEntities>() {
            entities.set_loading(false);
        }
    }
}

/// Despawns the entities that are not kept.
fn make_place(world: &mut World, read: &Read, keeps_entities: bool) {
    let saved = read.entities.iter().map(|saved| saved.id);
    let saved: BTreeSet<DurableId> = saved.collect();
    let entities = world.resource::<DurableEntities>();
    let leaves = entities.iter();
    let leaves = leaves.filter(|(id, _)| !keeps_entities || !saved.contains(id));
    let leaves: Vec<Entity> = leaves.map(|(_, entity)| entity).collect();
    for entity in leaves {
        // It may have been despawned with its parent.
        _ = world.try_despawn(entity);
        // It has no `Durable` yet if a hook has ended an earlier load with a panic.
        world.resource_mut::<DurableEntities>().leave(entity);
    }
}

/// The entity with a number, with the owner of its scripts. A new one has no component yet: nobody
/// hears of it before it is whole.
fn spawn(world: &mut World, saved: &ReadEntity) -> Entity {
    let Some(entity) = saved.id.find(world) else {
        let entity = world.spawn_empty().id();
        let mut entities = world.resource_mut::<DurableEntities>();
        entities.enter(entity, Some(saved.id), saved.owner);
        return entity;
    };
    let mut entities = world.resource_mut::<DurableEntities>();
    entities.set_owner(entity, saved.owner);
    if let Some(mut durable) = world.get_mut::<Durable>(entity) {
        durable.bypass_change_detection().owner = saved.owner;
    }
    entity
}

/// Gives an entity all its components, and takes away the saved ones that it had not.
fn fill(
    world: &mut World,
    types: &SavedTypes,
    entity: Entity,
    saved: ReadEntity,
    keeps_entities: bool,
) {
    let made = saved.components.into_iter();
    let made: Vec<_> = made.map(|(at, make)| (at, make(world))).collect();
    if keeps_entities {
        let has = |at: usize| made.iter().any(|(of, made)| *of == at && made.is_some());
        for (at, of) in types.components.iter().enumerate() {
            // What was removed before may have despawned it.
            if !has(at) && world.get_entity(entity).is_ok() {
                (of.remove)(world, entity);
            }
        }
    }
    let Ok(found) = world.get_entity(entity) else {
        // A hook or an observer of another entity has despawned it before its turn.
        let known = world.resource_mut::<DurableEntities>().leave(entity);
        if let Some(owner) = known.and_then(|known| known.owner) {
            DurableRuntime::of(world).remove_owner(owner);
        }
        return;
    };
    let durable = (!found.contains::<Durable>()).then_some(Durable {
        id: Some(saved.id),
        owner: saved.owner,
    });
    whole::insert(world, entity, |whole| {
        if let Some(durable) = durable {
            whole.push(durable);
        }
        for push in made.into_iter().filter_map(|(_, made)| made) {
            push(whole);
        }
    });
}

fn put_resources(
    world: &mut World,
    types: &SavedTypes,
    resources: Vec<(usize, Box<InsertResource>)>,
) {
    for (at, of) in types.resources.iter().enumerate() {
        if resources.iter().all(|(saved, _)| *saved != at) {
            (of.remove)(world);
        }
    }
    for (_, insert) in resources {
        insert(world);
    }
}
