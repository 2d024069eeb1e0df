//! Which components of a type have changed, for many scripts that wait for changes.
//!
//! To look at one component of one entity takes as long as to look at twenty in a row. So if
//! a good part of the entities with a component is waited for, all of them are looked at
//! once, when the first wait is checked in a run. Then each wait only has to know whether its
//! entity is one of those that have changed, which are few.

use std::cell::{Cell, RefCell};

use bevy_ecs::change_detection::Tick;
use bevy_ecs::entity_disabling::{DefaultQueryFilters, Disabled};
use bevy_ecs::prelude::*;
use framestep::Phase;

use super::until::Run;

/// Scans are worth it from this share of the entities on: one in eight.
const SHARE: usize = 8;

/// The changes of a component, in the phases in which scripts wait for them.
pub(crate) struct Scan<C: Component> {
    all: RefCell<All<C>>,
    /// How many scripts wait for changes of this component.
    pub(super) waits: Cell<usize>,
    phases: RefCell<Vec<InPhase>>,
    /// The latest run in which nothing had changed, and the one before it in that phase.
    quiet: Cell<[u64; 2]>,
}

type All<C> = QueryState<(Entity, Ref<'static, C>), Allow<Disabled>>;

/// What the latest run of a phase has found.
struct InPhase {
    phase: Phase,
    run: u64,
    /// The run before that in which all entities were looked at.
    previous: u64,
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
            quiet: Cell::default(),
        }
    }

    /// The quick answer of nearly all waits in nearly all runs: nothing has changed since the
    /// wait was checked in the run with this number. Not in each run, so that the waits keep
    /// their ticks recent.
    #[inline]
    pub(super) fn is_quiet_in(&self, run: &Run, checked: u64) -> bool {
        self.quiet.get() == [run.number, checked] && !run.number.is_multiple_of(1024)
    }

    /// Whether the component of an entity may have changed, or may be gone, since the wait was
    /// last checked, in the run with this number. In each run, the first call looks at all
    /// entities.
    pub(super) fn may_have_changed(
        &self,
        world: &World,
        run: &Run,
        entity: Entity,
        checked: u64,
    ) -> bool {
        let mut phases = self.phases.borrow_mut();
        let index = phases.iter().position(|of| of.phase == run.phase);
        let index = index.unwrap_or_else(|| {
            phases.push(InPhase {
                phase: run.phase,
                run: 0,
                previous: 0,
                found: Found::Unknown,
                before: None,
            });
            phases.len() - 1
        });
        let known = &mut phases[index];
        if known.run != run.number {
            known.previous = std::mem::replace(&mut known.run, run.number);
            self.look(world, known);
        }
        match &known.found {
            Found::Unknown => true,
            // What happened to its entity before that is not known.
            Found::Only(_) if checked != known.previous => true,
            Found::Only(changed) => changed.binary_search(&entity).is_ok(),
        }
    }

    fn look(&self, world: &World, known: &mut InPhase) {
        let mut all = self.all.borrow_mut();
        let all = all.iter(world);
        let now = world.read_change_tick();
        // The upper limit is exact: the filter lets all pass.
        let count = all.size_hint().1.unwrap_or(usize::MAX);
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
        for (entity, component) in all {
            if component.last_changed().is_newer_than(since, now) {
                changed.push(entity);
                added += usize::from(component.added().is_newer_than(since, now));
            }
        }
        // Otherwise some have lost the component, or were despawned. One that was added in
        // the tick of the previous run may be counted twice: then nothing is known, either.
        if count_before + added == count {
            if changed.is_empty() {
                self.quiet.set([known.run, known.previous]);
            }
            changed.sort_unstable();
            known.found = Found::Only(changed);
        }
    }
}

/// Whether queries leave out entities that are disabled in a way of the app's own.
fn has_other_filters(world: &World) -> bool {
    let filters = world.get_resource::<DefaultQueryFilters>();
    filters.is_some_and(|filters| filters.disabling_ids().count() > 1)
}

/// Ticks of very different age cannot be compared.
fn is_old(tick: Tick, now: Tick) -> bool {
    now.get().wrapping_sub(tick.get()) > u32::MAX / 2
}
