//! The hooks of the [`Scripts`] component: when it is inserted, replaced, removed or cloned.

use std::cell::RefCell;
use std::mem::{ManuallyDrop, take};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use bevy_ecs::entity::{ComponentCloneCtx, SourceComponent};
use bevy_ecs::error::BevyError;
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::{DeferredWorld, WorldId};
use framestep::task::CoroutineId;

use super::live::{Base, Live, OwnerName};
use super::{Scripts, is_normal};
use crate::clean_up;
use crate::executor::Shared;
use crate::output::hand_over;

/// Says that a clone of the entity has no scripts, or that they end with a move.
pub(super) fn cloned(source: &SourceComponent<'_>, context: &mut ComponentCloneCtx<'_, '_>) {
    let Some(scripts) = source.read::<Scripts>() else {
        return;
    };
    let begin = scripts.begin.lock();
    let begins = begin.unwrap_or_else(PoisonError::into_inner).is_some();
    let started: Vec<CoroutineId> = scripts.known().map(|known| known.id).collect();
    let (from, to, is_moved) = (context.source(), context.target(), context.moving());
    context.queue_deferred(move |world, _| {
        let executor = Shared::of(world);
        let is_alive = |id: &CoroutineId| executor.handle().is_alive(*id);
        if !begins && !started.iter().any(is_alive) {
            return;
        }
        let error = BevyError::warning(if is_moved {
            format!(
                "the scripts of entity {from} end, because its components are moved to entity \
                 {to}: a script has its entity for good. Start scripts for the other entity, or \
                 deny `Scripts` in the `EntityCloner`"
            )
        } else {
            format!(
                "the scripts of entity {from} were not cloned to entity {to}: a script in the \
                 middle of its code has no copy. Start scripts for the clone, or deny `Scripts` in \
                 the `EntityCloner`"
            )
        });
        hand_over(world, error, "clone of Scripts");
    });
}

thread_local! {
    /// The scripts of entities whose component has been replaced, until the new one is there. Without
    /// a destructor, so that an app can end in the destructor of another thread-local.
    static REPLACED: ManuallyDrop<RefCell<Vec<Replaced>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

struct Replaced {
    world: WorldId,
    live: Live,
    base: Base,
    is_paused: bool,
    speed: f64,
}

/// Takes over the scripts of a component that was replaced.
fn take_replaced(world: WorldId, entity: Entity) -> Option<Replaced> {
    REPLACED.with(|all| {
        let mut all = all.borrow_mut();
        let is_it = |of: &Replaced| of.world == world && of.live.entity == entity;
        let index = all.iter().rposition(is_it)?;
        let found = all.swap_remove(index);
        if all.is_empty() {
            *all = Vec::new();
        }
        Some(found)
    })
}

/// Only the next hook shows whether it is replaced or removed.
pub(super) fn discarded(mut world: DeferredWorld<'_>, context: HookContext) {
    let id = world.id();
    if let Some(mut scripts) = world.get_mut::<Scripts>(context.entity) {
        scripts.bypass_change_detection().discarded = Some(id);
    }
}

impl Drop for Scripts {
    fn drop(&mut self) {
        // If the component was removed, they have been taken.
        let Some(live) = self.live.take() else {
            return;
        };
        let Some(world) = self.discarded else {
            live.end_in_place();
            return;
        };
        let replaced = Replaced {
            world,
            live,
            base: take(&mut self.base),
            is_paused: self.is_paused(),
            speed: self.speed(),
        };
        REPLACED.with(|all| all.borrow_mut().push(replaced));
    }
}

pub(super) fn removed(mut world: DeferredWorld<'_>, context: HookContext) {
    let entity = context.entity;
    let Some(mut scripts) = world.get_mut::<Scripts>(entity) else {
        return;
    };
    let scripts = scripts.bypass_change_detection();
    scripts.base = Base::Game;
    let Some(live) = scripts.live.take() else {
        return;
    };
    if live.has_speed.load(Ordering::Relaxed)
        && let Some(framestep) = world.get_non_send::<crate::Framestep>()
    {
        framestep.shared().speeds().forget(entity);
    }
    let is_at_home = live.owner.get().is_some();
    // This runs destructors.
    drop(live);
    // On another thread, the scripts are still to end.
    if is_at_home && let Some(shared) = Shared::get(&world) {
        clean_up::queue(&mut world, shared.handle());
    }
}

pub(super) fn inserted(mut world: DeferredWorld<'_>, context: HookContext) {
    settle(&mut world, context.entity);
}

/// Sets up a component that was put there, unless it is there already.
pub(super) fn settle(world: &mut DeferredWorld<'_>, entity: Entity) {
    let Some(mut scripts) = world.get_mut::<Scripts>(entity) else {
        return;
    };
    let scripts = scripts.bypass_change_detection();
    scripts.discarded = None;
    let is_whole = scripts
        .live
        .as_ref()
        .is_some_and(|live| live.entity == entity);
    if !is_whole {
        complete(world, entity);
    }
}

/// Sets up a component that was inserted by hand, or that replaced another one.
fn complete(world: &mut DeferredWorld<'_>, entity: Entity) {
    let shared = Shared::of(world);
    let before = take_replaced(world.id(), entity);
    let name = OwnerName::of(world.get(entity), entity);
    let Some(mut scripts) = world.get_mut::<Scripts>(entity) else {
        return;
    };
    let begin = scripts.begin_mut().take();
    let live = match (before, scripts.live.take()) {
        // Running scripts continue, on the clock of the new component.
        (Some(before), _) => {
            if matches!(scripts.base, Base::Game) {
                scripts.base = before.base;
                if is_normal(scripts.speed()) {
                    *scripts.speed.get_mut() = before.speed.to_bits();
                }
            } else {
                if let Some(clock) = scripts.base.clock(shared.handle()) {
                    shared.speeds().set(entity, clock);
                }
                before.live.has_speed.store(true, Ordering::Relaxed);
            }
            if before.is_paused {
                *scripts.is_paused.get_mut() = true;
            }
            Some(before.live)
        }
        (None, Some(brought)) => Some(brought),
        (None, None) => Live::new(&shared, &scripts.base, name).map(|(live, _)| live),
    };
    // There is none if the app is ending.
    let Some(mut live) = live else {
        return;
    };
    live.entity = entity;
    if scripts.is_paused()
        && let Some(owner) = live.owner.get()
    {
        owner.pause();
    }
    if !is_normal(scripts.speed()) {
        live.apply_speed(scripts.speed());
    }
    scripts.live = Some(live);
    if let Some(begin) = begin {
        let begin = move |world: &mut World| begin(world, entity);
        world.commands().queue(begin);
    }
}
