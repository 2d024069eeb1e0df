//! Which components of a type have changed, for many scripts that wait for changes.
//!
//! To look at one component of one entity takes as long as to look at twenty in a row. So if
//! a good part of the entities with a component is waited for, all of them are looked at
//! once when a run begins. If none has changed, no wait is visited. Otherwise each wait only has
//! to know whether its entity is one of those that have changed, which are few.

use std::cell::{Cell, RefCell};

use bevy_ecs::change_detection::Tick;
use bevy_ecs::entity_disabling::{DefaultQueryFilters, Disabled};
use bevy_ecs::prelude::*;
use framestep::Phase;

use super::conditions::{Gate, Run};

/// Scans are worth it from this share of the entities on: one in eight.
const SHARE: usize = 8;

/// The changes of a component, in the phases in which scripts wait for them.
pub(crate) struct Scan<C: Component> {
    all: RefCell<All<C>>,
    /// How many scripts wait for changes of this component.
    pub(super) waits: Cell<usize>,
    phases: RefCell<Vec<InPhase>>,
}

type All<C> = QueryState<(Entity, Ref<'static, C>), Any>;

/// Disabled entities, too. `Allow<Disabled>` says the same, but not for whole tables.
type Any = Or<(With<Disabled>, Without<Disabled>)>;

/// What the latest run of a phase has found.
struct InPhase {
    phase: Phase,
    found: Found,
    /// The time of the run, and how many entities had the component then.
    before: Option<(Tick, usize)>,
}

enum Found {
    /// Each wait must look for itself.
    Unknown,
    /// Only these entities have changed, in order, and none has lost the component.
    Only(Vec<Entity>),
}

impl<C: Component> Scan<C> {
    pub(crate) fn new(world: &mut World) -> Self {
        Scan {
            all: RefCell::new(world.query_filtered()),
            waits: Cell::new(0),
            phases: RefCell::default(),
        }
    }

    /// Whether the component of an entity may have changed, or may be gone, since the latest run of
    /// the phase.
    pub(super) fn may_have_changed(&self, run: &Run<'_>, entity: Entity) -> bool {
        let phases = self.phases.borrow();
        let known = phases.iter().find(|of| of.phase == run.phase);
        known.is_none_or(|known| match &known.found {
            Found::Unknown => true,
            Found::Only(changed) => changed.binary_search(&entity).is_ok(),
        })
    }

    fn look(&self, world: &World, known: &mut InPhase) {
        let mut all = self.all.borrow_mut();
        let now = world.read_change_tick();
        // The upper limit is exact: the filter lets all pass.
        let count = all.iter(world).size_hint().1.unwrap_or(usize::MAX);
        // A later change can have the present tick.
        let before = known
            .before
            .replace((Tick::new(now.get().wrapping_sub(1)), count));
        known.found = Found::Unknown;
        let Some((since, count_before)) = before else {
            return;
        };
        if count / SHARE > self.waits.get() || has_other_filters(world) || is_old(since, now) {
            return;
        }
        let (mut changed, mut added) = (Vec::new(), 0);
        let mut see = |entity: Entity, ticks: [Tick; 2]| {
            if ticks[0].is_newer_than(since, now) {
                changed.push(entity);
                added += usize::from(ticks[1].is_newer_than(since, now));
            }
        };
        if let Ok(tables) = all.contiguous_iter(world) {
            for (entities, components) in tables {
                let ticks = components.changed_ticks_slice();
                // Without a way out, so that several are compared at once. Most tables have no change.
                let any = ticks
                    .iter()
                    .fold(false, |any, tick| any | tick.is_newer_than(since, now));
                if any {
                    let ticks = ticks.iter().zip(components.added_ticks_slice());
                    for (&entity, (&last, &added)) in entities.iter().zip(ticks) {
                        see(entity, [last, added]);
                    }
                }
            }
        } else {
            // Components in sparse sets.
            for (entity, component) in all.iter(world) {
                see(entity, [component.last_changed(), component.added()]);
            }
        }
        // Otherwise some have lost the component, or were despawned. One that was added in
        // the tick of the previous run may be counted twice: then nothing is known, either.
        if count_before + added == count {
            changed.sort_unstable();
            known.found = Found::Only(changed);
        }
    }
}

impl<C: Component> Gate for Scan<C> {
    fn may_hold(&self, world: &World, run: &Run<'_>) -> bool {
        let mut phases = self.phases.borrow_mut();
        let index = phases.iter().position(|of| of.phase == run.phase);
        let index = index.unwrap_or_else(|| {
            phases.push(InPhase {
                phase: run.phase,
                found: Found::Unknown,
                before: None,
            });
            phases.len() - 1
        });
        let known = &mut phases[index];
        self.look(world, known);
        let is_quiet = matches!(&known.found, Found::Only(changed) if changed.is_empty());
        // Not in each run, so that the waits keep their ticks recent.
        !is_quiet || run.number.is_multiple_of(1024)
    }
}

/// Whether queries leave out entities that are disabled in a way of the app's own.
fn has_other_filters(world: &World) -> bool {
    let filters = world.get_resource::<DefaultQueryFilters>();
    filters.is_some_and(|filters| filters.disabling_ids().count() > 1)
}

/// Ticks of very different age cannot be compared.
pub(super) fn is_old(tick: Tick, now: Tick) -> bool {
    now.get().wrapping_sub(tick.get()) > u32::MAX / 2
}
