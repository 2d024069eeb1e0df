//! Which phase of the scripts runs after which schedule.

use bevy_app::{
    App, AppExit, FixedUpdate, Last, Main, MainScheduleOrder, MainSchedulePlugin, PostUpdate,
    PreUpdate, Update,
};
use bevy_ecs::intern::Interned;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use framestep::Phase;

use crate::last::{self, Runs};

/// What the plugin adds to schedules, for systems that must run before or after.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScriptSystems {
    /// In [`First`], after [`TimeSystems`]: the frame begins, and the clocks of the scripts
    /// advance.
    ///
    /// [`First`]: bevy_app::First
    /// [`TimeSystems`]: bevy_time::TimeSystems
    BeginFrame,
    /// In each schedule that the plugin uses for a phase: the scripts run, after all systems
    /// of the schedule and their commands. Systems that are ordered after this set run after
    /// the scripts.
    Run,
}

/// The schedule after which the scripts of each phase run.
#[derive(Clone, Debug)]
pub(crate) struct Schedules(Vec<(Phase, Interned<dyn ScheduleLabel>)>);

impl Default for Schedules {
    fn default() -> Self {
        Schedules(vec![
            (Phase::EarlyUpdate, PreUpdate.intern()),
            (Phase::FixedUpdate, FixedUpdate.intern()),
            (Phase::Update, Update.intern()),
            (Phase::LateUpdate, PostUpdate.intern()),
            (Phase::EndOfFrame, Last.intern()),
        ])
    }
}

impl Schedules {
    pub(crate) fn set(&mut self, phase: Phase, schedule: impl ScheduleLabel) {
        let schedule = schedule.intern();
        match self.0.iter_mut().find(|(of, _)| *of == phase) {
            Some((_, place)) => *place = schedule,
            None => self.0.push((phase, schedule)),
        }
    }

    /// Calls `run_phase` for each phase.
    pub(crate) fn add(&self, app: &mut App, runs: Runs, run_phase: fn(&mut World, Phase)) {
        let mut schedules: Vec<Interned<dyn ScheduleLabel>> = Vec::new();
        for &(_, schedule) in &self.0 {
            if !schedules.contains(&schedule) {
                schedules.push(schedule);
            }
        }
        for schedule in schedules {
            let phases = self.0.iter().filter(|(_, of)| *of == schedule);
            let phases = phases.map(|(phase, _)| *phase);
            last::add(app, schedule, phases, runs, run_phase);
        }
    }
}

/// Adds the schedules of an app to a sub-app, which has none at first.
pub(crate) fn add_main_schedules(app: &mut App) {
    if !app.world().contains_resource::<MainScheduleOrder>() {
        app.add_plugins(MainSchedulePlugin);
        // `TimePlugin` expects it of an app.
        #[cfg(feature = "reflect")]
        app.init_resource::<AppTypeRegistry>();
        app.add_message::<AppExit>();
        app.main_mut().update_schedule.get_or_insert(Main.intern());
    }
}
