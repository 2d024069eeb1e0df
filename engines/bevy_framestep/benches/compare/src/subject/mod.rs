//! The packages that are compared, each as its documentation has it.

mod defer;
mod flurx;
mod framestep;

use bevy::app::TaskPoolPlugin;
use bevy::diagnostic::FrameCountPlugin;
use bevy::prelude::*;
use bevy::time::{TimePlugin, TimeUpdateStrategy};

use crate::workload::{FRAME, Open, Position, Workload, despawn_all};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Bevy alone, which is taken off the others.
    Bare,
    Framestep,
    Defer,
    Flurx,
}

impl Subject {
    pub(crate) const ALL: [Subject; 4] = [
        Subject::Bare,
        Subject::Framestep,
        Subject::Defer,
        Subject::Flurx,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Subject::Bare => "Bevy alone",
            Subject::Framestep => "bevy_framestep",
            Subject::Defer => "bevy_defer",
            Subject::Flurx => "bevy_flurx",
        }
    }

    /// An app with that many scripts, all past their first wait.
    pub(crate) fn app(self, workload: Workload, scripts: u64) -> App {
        let mut app = App::new();
        app.add_plugins((TaskPoolPlugin::default(), FrameCountPlugin, TimePlugin));
        app.insert_resource(TimeUpdateStrategy::ManualDuration(FRAME));
        app.init_resource::<Open>();
        match self {
            Subject::Bare => add_bare(&mut app, workload, scripts),
            Subject::Framestep => framestep::add(&mut app, workload, scripts),
            Subject::Defer => defer::add(&mut app, workload, scripts),
            Subject::Flurx => flurx::add(&mut app, workload, scripts),
        }
        app.finish();
        app.cleanup();
        app
    }
}

fn add_bare(app: &mut App, workload: Workload, scripts: u64) {
    if workload == Workload::Live {
        app.add_systems(PreUpdate, move |world: &mut World| {
            despawn_all(world);
            for _ in 0..scripts {
                world.spawn(Position::default());
            }
        });
    }
}
