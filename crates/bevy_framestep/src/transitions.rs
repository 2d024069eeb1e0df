//! What the plugins add to Bevy's state transitions: clean-up in time, and transitions that do not
//! enter a state, for saves.

use bevy_app::{App, PreStartup};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::{ScheduleLabel, Schedules};
use bevy_state::state::{StateTransition, StateTransitionSystems};

use crate::clean_up::clean_up_scripts;

/// The systems in `StateTransition`. They are there once for the plugins of both kinds of scripts.
#[derive(Resource, Default)]
struct Transitions {
    are_added: bool,
    /// Whether states have been entered, so that they can be left.
    #[cfg(feature = "durable")]
    have_run: bool,
    /// What the transition under way does not run.
    #[cfg(feature = "durable")]
    quiet: Quiet,
}

/// The schedules that a transition leaves out.
#[cfg(feature = "durable")]
#[derive(Default)]
enum Quiet {
    #[default]
    No,
    /// All but the exit schedules, from here on.
    AfterExits,
    /// These, which are put back at the end.
    Hidden(Schedules),
}

/// Has scripts cleaned up between the parts of a state transition.
///
/// `StatesPlugin` gives the schedule its order, unless there is such a schedule already. So it is
/// not made here: if the plugin comes later, it is changed when the app begins.
pub(crate) fn add(app: &mut App) {
    if app.world().contains_resource::<Transitions>() {
        return;
    }
    app.init_resource::<Transitions>();
    if has_schedule(app.world()) {
        add_systems(app.world_mut());
    } else {
        app.add_systems(PreStartup, add_systems);
    }
}

fn has_schedule(world: &World) -> bool {
    let schedules = world.get_resource::<Schedules>();
    schedules.is_some_and(|schedules| schedules.contains(StateTransition))
}

/// Once, as soon as there is the schedule.
fn add_systems(world: &mut World) {
    use StateTransitionSystems::{EnterSchedules, ExitSchedules, TransitionSchedules};

    if !has_schedule(world) || world.resource::<Transitions>().are_added {
        return;
    }
    world.resource_mut::<Transitions>().are_added = true;
    world.schedule_scope(StateTransition.intern(), |_, schedule| {
        schedule.add_systems((
            clean_up_scripts
                .after(ExitSchedules)
                .before(TransitionSchedules),
            clean_up_scripts
                .after(TransitionSchedules)
                .before(EnterSchedules),
            clean_up_scripts.after(EnterSchedules),
        ));
        #[cfg(feature = "durable")]
        schedule.add_systems((
            hide_if_quiet
                .after(ExitSchedules)
                .before(TransitionSchedules),
            (note_run, show).chain().after(EnterSchedules),
        ));
    });
}

/// Whether the app has run a transition: its states have been entered, and can be left.
#[cfg(feature = "durable")]
pub(crate) fn has_entered(world: &World) -> bool {
    world.resource::<Transitions>().have_run
}

/// Runs a transition in which states are left, and none is entered: without `OnTransition` and
/// `OnEnter`. In an app that has not entered a state yet, none is left, either.
///
/// Does nothing if the app has no transitions, or one is under way.
#[cfg(feature = "durable")]
pub(crate) fn run_without_entering(world: &mut World) {
    /// Puts the schedules back, even if a hook panics.
    struct Shown<'w>(&'w mut World);

    impl Drop for Shown<'_> {
        fn drop(&mut self) {
            show(self.0);
        }
    }

    add_systems(world);
    let mut transitions = world.resource_mut::<Transitions>();
    if !transitions.are_added {
        return;
    }
    transitions.quiet = Quiet::AfterExits;
    let has_run = transitions.have_run;
    let shown = Shown(world);
    _ = shown
        .0
        .try_schedule_scope(StateTransition, |world, schedule| {
            if !has_run {
                hide_if_quiet(world);
            }
            schedule.run(world);
        });
}

#[cfg(feature = "durable")]
fn hide_if_quiet(world: &mut World) {
    if !matches!(world.resource::<Transitions>().quiet, Quiet::AfterExits) {
        return;
    }
    let hidden = std::mem::take(&mut *world.resource_mut::<Schedules>());
    world.resource_mut::<Transitions>().quiet = Quiet::Hidden(hidden);
}

#[cfg(feature = "durable")]
fn note_run(mut transitions: ResMut<Transitions>) {
    transitions.have_run = true;
}

/// Ends what [`run_without_entering`] has begun.
#[cfg(feature = "durable")]
fn show(world: &mut World) {
    let quiet = std::mem::take(&mut world.resource_mut::<Transitions>().quiet);
    if let Quiet::Hidden(hidden) = quiet {
        let meanwhile = std::mem::replace(&mut *world.resource_mut::<Schedules>(), hidden);
        drop(meanwhile);
    }
}
