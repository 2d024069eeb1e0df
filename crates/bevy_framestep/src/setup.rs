//! The common settings of both plugins, and the systems that they add.

use std::fmt;
use std::sync::Arc;

use bevy_app::{App, First, FixedMain};
use bevy_ecs::message::MessageUpdateSystems;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use bevy_ecs::system::ScheduleSystem;
use bevy_time::TimeSystems;
use framestep::inspect::Report;
use framestep::{Builder, Executor, Phase};

use crate::last::Runs;
use crate::schedules::{Schedules, ScriptSystems};

type Change = dyn Fn(Builder) -> Builder + Send + Sync;
type OnReport = dyn Fn(&Report) + Send + Sync;

/// The settings of a plugin that runs scripts.
#[derive(Clone, Default)]
pub(crate) struct Setup {
    schedules: Schedules,
    changes: Vec<Arc<Change>>,
    on_report: Option<Arc<OnReport>>,
}

impl Setup {
    pub(crate) fn run_after(&mut self, phase: Phase, schedule: impl ScheduleLabel) {
        self.schedules.set(phase, schedule);
    }

    pub(crate) fn executor(&mut self, change: impl Fn(Builder) -> Builder + Send + Sync + 'static) {
        self.changes.push(Arc::new(change));
    }

    pub(crate) fn on_report(&mut self, hook: impl Fn(&Report) + Send + Sync + 'static) {
        self.on_report = Some(Arc::new(hook));
    }

    /// A builder with all changes made to it.
    pub(crate) fn builder(&self) -> Builder {
        let changes = self.changes.iter();
        changes.fold(Executor::builder(), |builder, change| change(builder))
    }

    /// Passes the reports of `executor` to the hook.
    pub(crate) fn listen(&self, executor: &Executor) {
        if let Some(hook) = self.on_report.clone() {
            executor.on_report(move |report| hook(report));
        }
    }

    /// Adds the systems that begin a frame, begin and end a fixed step, and run a phase.
    pub(crate) fn add_systems<F, B, E>(
        &self,
        app: &mut App,
        runs: Runs,
        begin_frame: impl IntoScheduleConfigs<ScheduleSystem, F>,
        (begin_step, end_step): (
            impl IntoScheduleConfigs<ScheduleSystem, B>,
            impl IntoScheduleConfigs<ScheduleSystem, E>,
        ),
        run_phase: fn(&mut World, Phase),
    ) {
        let begin_frame = begin_frame.in_set(ScriptSystems::BeginFrame);
        // After the messages, so that no order of systems is left to chance.
        let begin_frame = begin_frame.after(TimeSystems).after(MessageUpdateSystems);
        app.add_systems(First, begin_frame);
        // These systems run around all schedules of a step.
        let begin_step = begin_step.before(FixedMain::run_fixed_main);
        let end_step = end_step.after(FixedMain::run_fixed_main);
        app.add_systems(FixedMain, (begin_step, end_step));
        self.schedules.add(app, runs, run_phase);
    }
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("schedules", &self.schedules)
            .finish_non_exhaustive()
    }
}
