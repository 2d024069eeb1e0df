//! What a [`Scripts`] component has in a world: the owner of the scripts, their clock, and the
//! scripts that were started by name.

use std::sync::atomic::{AtomicBool, Ordering};

use bevy_ecs::prelude::*;
use framestep::lend::with_ref;
use framestep::task::{CoroutineId, OwnerHandle, RemoteHandle, SendOwner};
use framestep::time::Clock;
use framestep::{Handle, Owner, with};

use super::Scripts;
use super::hooks::settle;
use crate::error::Missing;
use crate::executor::Shared;
use crate::script::ClockKey;

/// The state for an entity in a world.
pub(super) struct Live {
    pub(super) owner: SendOwner,
    pub(super) remote: RemoteHandle,
    pub(super) entity: Entity,
    /// Whether they have another clock than the base.
    pub(super) has_speed: AtomicBool,
    /// The scripts that a system or the host has started on the entity. Most entities have
    /// one.
    first: Option<Known>,
    others: Vec<Known>,
}

/// The clock that the scripts count on, unless they are slowed down.
#[derive(Default)]
pub(super) enum Base {
    #[default]
    Game,
    Realtime,
    Other(ClockKey),
}

impl Base {
    /// On the thread of the app.
    pub(super) fn clock(&self, handle: &Handle) -> Option<Clock> {
        match self {
            Base::Game => handle.clock(),
            Base::Realtime => handle.realtime(),
            Base::Other(key) => key.get(),
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Known {
    pub(super) name: &'static str,
    pub(super) id: CoroutineId,
}

impl Live {
    /// And a handle to the owner. `None` if the app is ending.
    pub(super) fn new(
        shared: &Shared,
        base: &Base,
        name: OwnerName,
    ) -> Option<(Self, OwnerHandle)> {
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

    pub(super) fn of(owner: Owner, remote: RemoteHandle) -> Self {
        Live {
            owner: owner.into_send(),
            remote,
            entity: Entity::PLACEHOLDER,
            has_speed: AtomicBool::new(false),
            first: None,
            others: Vec::new(),
        }
    }

    /// Ends the scripts of a value that was dropped without a hook. If another one was assigned
    /// in its place, no hook says so.
    pub(super) fn end_in_place(self) {
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

    pub(super) fn apply_speed(&self, speed: f64) {
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

    /// The scripts that were started on the entity. They may have ended.
    pub(super) fn known(&self) -> impl Iterator<Item = &Known> {
        self.first.iter().chain(&self.others)
    }

    /// Records a script that was started on the entity.
    pub(super) fn note(&mut self, known: Known, handle: &Handle) {
        match &mut self.first {
            Some(first) if handle.is_alive(first.id) => {
                // Amortised constant: ended scripts are removed when the list has doubled.
                if self.others.len() == self.others.capacity() {
                    self.others.retain(|of| handle.is_alive(of.id));
                    self.others.reserve(self.others.len() + 1);
                }
                self.others.push(known);
            }
            first => *first = Some(known),
        }
    }
}

/// The name of an entity in snapshots.
pub(super) struct OwnerName(Option<String>);

impl OwnerName {
    /// Entities without a [`Name`] have one only in debug builds, because there are many.
    pub(super) fn of(name: Option<&Name>, entity: Entity) -> Self {
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
