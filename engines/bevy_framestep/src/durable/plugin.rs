//! The plugin of durable scripts.

use std::fmt;
use std::sync::Arc;

use bevy_app::{App, First, FixedMain, Plugin};
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use bevy_time::TimeSystems;
use framestep::{Builder, Executor, Phase, Report};
use framestep_durable::{Registry, Runtime};

use super::entity::DurableEntities;
use super::runtime::{
    DurableRuntime, begin_fixed_step, begin_frame, end_fixed_step, run_durable_scripts,
};
use super::types::SavedTypes;
use crate::last::Runs;
use crate::plugin::{OnReport, Schedules, ScriptSystems, Setup, add_main_schedules};

/// Runs durable scripts in an app, on Bevy's clocks.
///
/// They run after the systems of the same schedules as those of
/// [`FramestepPlugin`](crate::FramestepPlugin), whose scripts come after them: what shows the
/// game runs when the game has gone on. An app may have one of the plugins, or both.
///
/// Clocks are read as that plugin reads them.
///
/// # Panics
///
/// In the first frame, if the app has no `TimePlugin`.
///
/// # Examples
///
/// See [the module](super).
#[derive(Clone)]
#[must_use = "a plugin does nothing until it is added to an app"]
pub struct DurableScriptsPlugin {
    registry: Registry,
    schedules: Schedules,
    setup: Vec<Arc<Setup>>,
    on_report: Option<Arc<OnReport>>,
}

impl DurableScriptsPlugin {
    /// A plugin for the scripts of `registry`: those that the game starts, and finds in saves.
    pub fn new(registry: Registry) -> Self {
        DurableScriptsPlugin {
            registry,
            schedules: Schedules::default(),
            setup: Vec::new(),
            on_report: None,
        }
    }

    /// Runs the scripts of `phase` after the systems of `schedule`, like
    /// [`FramestepPlugin::run_after`](crate::FramestepPlugin::run_after).
    pub fn run_after(mut self, phase: Phase, schedule: impl ScheduleLabel) -> Self {
        self.schedules.set(phase, schedule);
        self
    }

    /// Sets up the executor of the scripts. What it says of time has no effect: Bevy's clocks
    /// count.
    pub fn executor(mut self, setup: impl Fn(Builder) -> Builder + Send + Sync + 'static) -> Self {
        self.setup.push(Arc::new(setup));
        self
    }

    /// Has `hook` called with every [`Report`], such as a script that panicked and that nobody
    /// joins.
    pub fn on_report(mut self, hook: impl Fn(&Report) + Send + Sync + 'static) -> Self {
        self.on_report = Some(Arc::new(hook));
        self
    }
}

impl Plugin for DurableScriptsPlugin {
    fn build(&self, app: &mut App) {
        add_main_schedules(app);

        let builder = Executor::builder();
        let setup = self.setup.iter();
        let builder = setup.fold(builder, |builder, setup| setup(builder));
        let runtime = Runtime::with(builder, self.registry.clone());
        if let Some(hook) = self.on_report.clone() {
            runtime.executor().on_report(move |report| hook(report));
        }
        DurableRuntime::insert(app.world_mut(), runtime);
        app.init_resource::<DurableEntities>();
        app.init_resource::<SavedTypes>();

        app.add_systems(
            First,
            begin_frame
                .in_set(ScriptSystems::BeginFrame)
                .after(TimeSystems),
        );
        // Around all schedules of a step.
        app.add_systems(
            FixedMain,
            (
                begin_fixed_step.before(FixedMain::run_fixed_main),
                end_fixed_step.after(FixedMain::run_fixed_main),
            ),
        );
        self.schedules.add(app, Runs::Durable, run_durable_scripts);
    }
}

impl fmt::Debug for DurableScriptsPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DurableScriptsPlugin")
            .field("registry", &self.registry)
            .field("schedules", &self.schedules)
            .finish_non_exhaustive()
    }
}
