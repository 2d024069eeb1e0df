//! All components of an entity inserted as one bundle: each hook and observer finds all of them.
//!
//! Which components there are is known only when a save is read. Bevy has a safe function for a
//! bundle that is one type, and none for a bundle that is put together at run time.
#![expect(
    unsafe_code,
    reason = "Bevy's bundles that are put together at run time trust the caller"
)]

use bevy_ecs::bundle::{BundleScratch, BundleWriter};
use bevy_ecs::prelude::*;

/// Whether bundles may be put together.
///
/// A panic of a hook or an observer leaves what Bevy 0.20 knows of such a bundle incomplete: the
/// next entity with the same components would get them without values. So components are inserted
/// one by one after a panic, and where this resource is missing.
#[derive(Resource)]
pub(super) struct Bundles {
    /// Whether an insertion is under way, or a panic has ended one.
    is_inserting: bool,
}

impl Bundles {
    pub(super) fn new() -> Self {
        Bundles {
            is_inserting: false,
        }
    }
}

/// The components that an entity is about to get.
pub(super) struct Whole<'a> {
    /// Borrowed as long as there are components, so all calls are about one world.
    world: &'a mut World,
    into: Into<'a>,
}

enum Into<'a> {
    Bundle(BundleWriter<'a>),
    /// One by one.
    Entity(Entity),
}

/// Inserts the components that `push` puts together. No type may be pushed twice.
pub(super) fn insert(world: &mut World, entity: Entity, push: impl FnOnce(&mut Whole<'_>)) {
    let bundles = world.get_resource_mut::<Bundles>();
    let may_insert =
        bundles.is_some_and(|mut bundles| !std::mem::replace(&mut bundles.is_inserting, true));
    let mut scratch = BundleScratch::default();
    let mut whole = Whole {
        world,
        into: if may_insert {
            Into::Bundle(scratch.writer())
        } else {
            Into::Entity(entity)
        },
    };
    push(&mut whole);
    let Whole { world, into } = whole;
    let Into::Bundle(bundle) = into else {
        return;
    };
    if let Ok(mut entity) = world.get_entity_mut(entity)
        && !bundle.is_empty()
    {
        // SAFETY: the entity is of `world`, and so is the registrator of each push: `Whole` has held
        // the one borrow of that world since the writer was made. No insertion of this module has
        // ended with a panic in this world: `is_inserting` would still be set.
        unsafe { bundle.write(&mut entity) };
    }
    if let Some(mut bundles) = world.get_resource_mut::<Bundles>() {
        bundles.is_inserting = false;
    }
}

impl Whole<'_> {
    pub(super) fn push<C: Component>(&mut self, component: C) {
        match &mut self.into {
            Into::Bundle(bundle) => {
                let mut registrator = self.world.components_registrator();
                // SAFETY: `world` is the one of all other pushes and of the write, as said in
                // `insert`.
                unsafe { bundle.push_component(&mut registrator, component) };
            }
            Into::Entity(entity) => {
                // The component before may have despawned it.
                if let Ok(mut entity) = self.world.get_entity_mut(*entity) {
                    entity.insert(component);
                }
            }
        }
    }
}
