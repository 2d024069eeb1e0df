//! The plugin of durable scripts.

use std::fmt;

use bevy_app::{App, Plugin};
use bevy_ecs::schedule::ScheduleLabel;
use framestep::inspect::Report;
use framestep::{Builder, Phase};
use framestep_durable::{Registry, Runtime};

use super::entity::DurableEntities;
use super::runtime::{
    DurableRuntime, begin_fixed_step, begin_frame, end_fixed_step, run_durable_scripts,
};
use super::types::SavedTypes;
use super::whole::Bundles;
use crate::last::Runs;
use crate::schedules::add_main_schedules;
use crate::setup::Setup;

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
    setup: Setup,
}

impl DurableScriptsPlugin {
    /// A plugin for the scripts of `registry`: those that the game starts, and finds in saves.
    pub fn new(registry: Registry) -> Self {
        DurableScriptsPlugin {
            registry,
            setup: Setup::default(),
        }
    }

    /// Runs the scripts of `phase` after the systems of `schedule`, like
    /// [`FramestepPlugin::run_after`](crate::FramestepPlugin::run_after).
    pub fn run_after(mut self, phase: Phase, schedule: impl ScheduleLabel) -> Self {
        self.setup.run_after(phase, schedule);
        self
    }

    /// Sets up the executor of the scripts. What it says of time has no effect: Bevy's clocks
    /// count.
    pub fn executor(mut self, setup: impl Fn(Builder) -> Builder + Send + Sync + 'static) -> Self {
        self.setup.executor(setup);
        self
    }

    /// Has `hook` called with every [`Report`], such as a script that panicked and that nobody
    /// joins.
    pub fn on_report(mut self, hook: impl Fn(&Report) + Send + Sync + 'static) -> Self {
        self.setup.on_report(hook);
        self
    }
}

impl Plugin for DurableScriptsPlugin {
    fn build(&self, app: &mut App) {
        add_main_schedules(app);

        let runtime = Runtime::with(self.setup.builder(), self.registry.clone());
        self.setup.listen(runtime.executor());
        DurableRuntime::insert(app.world_mut(), runtime);
        app.init_resource::<DurableEntities>();
        app.init_resource::<SavedTypes>();
        app.insert_resource(Bundles::new());
        self.setup.add_systems(
            app,
            Runs::Durable,
            begin_frame,
            (begin_fixed_step, end_fixed_step),
            run_durable_scripts,
        );
        #[cfg(feature = "state")]
        {
            crate::transitions::add(app);
            super::states::save_scopes(app);
        }
    }
}

impl fmt::Debug for DurableScriptsPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DurableScriptsPlugin")
            .field("registry", &self.registry)
            .field("setup", &self.setup)
            .finish_non_exhaustive()
    }
}
