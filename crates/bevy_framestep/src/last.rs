//! Scripts run after the systems of a schedule, inside the schedule: a separate schedule for
//! each phase would cost more than the scripts.

use std::collections::HashMap;

use bevy_app::App;
use bevy_ecs::intern::Interned;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::graph::DiGraph;
use bevy_ecs::schedule::{
    FlattenedDependencies, NodeId, ScheduleBuildError, ScheduleBuildPass, ScheduleGraph,
    ScheduleLabel, SystemKey, SystemSetKey,
};
use bevy_platform::hash::FixedHasher;
use framestep::Phase;
use indexmap::IndexSet;

use crate::schedules::ScriptSystems;

/// The systems that run the scripts in a schedule.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct RunPhases;

/// Which scripts run.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Runs {
    /// The durable scripts. They run first, because the others show what they change.
    #[cfg(feature = "durable")]
    Durable,
    /// The scripts of the executor.
    Plain,
}

/// Runs the scripts of `phases` after the systems of `schedule`, in this order.
pub(crate) fn add(
    app: &mut App,
    schedule: Interned<dyn ScheduleLabel>,
    phases: impl Iterator<Item = Phase>,
    runs: Runs,
    run_phase: fn(&mut World, Phase),
) {
    #[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
    struct Place(Runs, usize);

    for (place, phase) in phases.enumerate() {
        let run = move |world: &mut World| run_phase(world, phase);
        let run = run.in_set(ScriptSystems::Run).in_set(RunPhases);
        let mut systems = run.in_set(runs).in_set(Place(runs, place));
        if let Some(before) = place.checked_sub(1) {
            systems = systems.after(Place(runs, before));
        }
        #[cfg(feature = "durable")]
        if runs == Runs::Durable {
            systems = systems.before(Runs::Plain);
        }
        app.add_systems(schedule, systems);
    }
    app.edit_schedule(schedule, |schedule| {
        schedule.add_build_pass(RunLast::default());
    });
}

/// Orders all systems before those of [`RunPhases`], except systems that are explicitly
/// ordered after the scripts.
#[derive(Debug, Default)]
struct RunLast {
    /// The systems of each set.
    sets: HashMap<SystemSetKey, Vec<SystemKey>>,
    /// Applies the commands of the systems before the scripts, if there are any.
    apply: Option<SystemKey>,
}

impl ScheduleBuildPass for RunLast {
    type EdgeOptions = ();

    fn add_dependency(&mut self, _: NodeId, _: NodeId, _: Option<&()>) {}

    fn collapse_set(
        &mut self,
        set: SystemSetKey,
        systems: &IndexSet<SystemKey, FixedHasher>,
        _: &DiGraph<NodeId>,
    ) -> impl Iterator<Item = (NodeId, NodeId)> {
        self.sets.insert(set, systems.iter().copied().collect());
        std::iter::empty()
    }

    fn build(
        &mut self,
        _: &mut World,
        graph: &mut ScheduleGraph,
        mut order: FlattenedDependencies<'_>,
    ) -> Result<(), ScheduleBuildError> {
        let sets = std::mem::take(&mut self.sets);
        let key = graph.system_sets.get_key(RunPhases.intern());
        let Some(own) = key.and_then(|key| sets.get(&key)) else {
            return Ok(());
        };
        let edges = order.graph();
        let first = own.iter().copied().find(|&system| {
            let mut before = own.iter();
            !before.any(|&before| edges.contains_edge(before, system))
        });
        let Some(first) = first else {
            return Ok(());
        };
        // The scripts, and what comes after them.
        let mut after: Vec<SystemKey> = own.clone();
        let mut next = 0;
        while let Some(&system) = after.get(next) {
            for later in edges.neighbors(system) {
                if !after.contains(&later) {
                    after.push(later);
                }
            }
            next += 1;
        }
        let before = edges.nodes().filter(|system| !after.contains(system));
        let before: Vec<SystemKey> = before.collect();
        let has_deferred = |&system: &SystemKey| {
            let system = graph.systems.get(system);
            system.is_some_and(|system| system.system().has_deferred())
        };
        let last = if before.iter().any(has_deferred) {
            let apply = *self.apply.get_or_insert_with(|| {
                let apply = Box::new(IntoSystem::into_system(ApplyDeferred));
                let apply = graph.systems.insert(apply, Vec::new());
                graph.ambiguous_with_all.insert(NodeId::System(apply));
                apply
            });
            order.add_edge(apply, first);
            apply
        } else {
            first
        };
        for system in before {
            if system != last {
                order.add_edge(system, last);
            }
        }
        Ok(())
    }
}
