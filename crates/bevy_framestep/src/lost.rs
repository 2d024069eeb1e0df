//! Schedules that a panic has lost.
//!
//! Bevy takes a schedule out of the world while it runs it. If a system panics, the schedule is
//! dropped with the stack, and Bevy has none of that name any more. In an app, such a panic ends the
//! program. If a script or its clean-up ran the schedule, the panic ends that alone: the app goes on, and the
//! systems of that schedule never run again. Nothing can put it back, so it is reported.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use bevy_ecs::error::BevyError;
use bevy_ecs::intern::Interned;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::{ScheduleLabel, Schedules};
use framestep::Phase;

use crate::output::hand_over;

type Labels = HashSet<Interned<dyn ScheduleLabel>>;

/// Watches the schedules of a world.
#[derive(Default)]
pub(crate) struct LostSchedules {
    /// How many panics the executor had caught when it was last checked.
    panics: Cell<u64>,
    /// Which schedules run when the scripts of a phase do, and those that are known to be lost.
    running: RefCell<Vec<(Phase, Labels)>>,
    reported: RefCell<Labels>,
}

impl LostSchedules {
    /// Looks for lost schedules if something has panicked, before the scripts of `phase` run.
    #[inline]
    pub(crate) fn check(&self, world: &World, phase: Phase, panics: u64) {
        if self.panics.get() != panics {
            self.panics.set(panics);
            self.report(world, phase);
        } else if panics == 0 && self.running.borrow().iter().all(|(of, _)| *of != phase) {
            self.running.borrow_mut().push((phase, running(world)));
        }
    }

    #[cold]
    fn report(&self, world: &World, phase: Phase) {
        let now = running(world);
        let lost: Vec<_> = {
            let known = self.running.borrow();
            let known = known.iter().find(|(of, _)| *of == phase);
            // Without an earlier run to compare with, only states are told from what runs.
            let is_lost = |label: &Interned<dyn ScheduleLabel>| match known {
                Some((_, known)) => !known.contains(label),
                None => is_of_states(*label),
            };
            let mut reported = self.reported.borrow_mut();
            let lost = now.into_iter().filter(is_lost);
            lost.filter(|label| reported.insert(*label)).collect()
        };
        for label in lost {
            hand_over(
                world,
                BevyError::error(format!(
                    "the schedule `{label:?}` is lost, and its systems will not run again: a system \
                     in it panicked while a script ran it. Mend the panic; to end the app with it, \
                     set up the plugin with `.executor(|builder| builder.propagate_panics(true))`"
                )),
                "a run of scripts",
            );
        }
    }
}

#[cfg(feature = "state")]
fn is_of_states(label: Interned<dyn ScheduleLabel>) -> bool {
    label == bevy_state::state::StateTransition.intern()
}

#[cfg(not(feature = "state"))]
fn is_of_states(_: Interned<dyn ScheduleLabel>) -> bool {
    false
}

/// The schedules that run at present, and those that are lost.
fn running(world: &World) -> Labels {
    let schedules = world.get_resource::<Schedules>();
    let running = schedules.map(Schedules::get_temporarily_removed);
    running.into_iter().flatten().collect()
}
