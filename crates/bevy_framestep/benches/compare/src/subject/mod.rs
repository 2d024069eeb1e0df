//! The packages that are compared, each as its documentation has it.

mod defer;
mod flurx;
mod framestep;

use bevy::app::TaskPoolPlugin;
use bevy::diagnostic::FrameCountPlugin;
use bevy::prelude::*;
use bevy::time::{TimePlugin, TimeUpdateStrategy};

use crate::workload::{FRAME, Open, Position, Workload, add_to_all, despawn_all};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Bevy alone, which is subtracted from the others.
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

    /// Whether it can do that.
    ///
    /// In `bevy_defer` one task gets a message, and in `bevy_flurx` the first reactor clears
    /// them all. `bevy_flurx` has no wait for an event.
    pub(crate) fn has(self, workload: Workload) -> bool {
        match self {
            Subject::Bare | Subject::Framestep => true,
            Subject::Defer => workload != Workload::Hear,
            Subject::Flurx => !matches!(workload, Workload::Hear | Workload::Poke),
        }
    }

    /// How many of `scripts` end their wait at the end of a row.
    pub(crate) fn ends(self, workload: Workload, scripts: u64) -> u64 {
        match (self, workload) {
            // The first one that reads the messages clears them.
            (Subject::Flurx, Workload::Await) => 1,
            _ => scripts,
        }
    }

    /// An app with this many scripts, all past their first wait.
    pub(crate) fn app(self, workload: Workload, scripts: u64) -> App {
        let mut app = App::new();
        app.add_plugins((TaskPoolPlugin::default(), FrameCountPlugin, TimePlugin));
        app.insert_resource(TimeUpdateStrategy::ManualDuration(FRAME));
        app.init_resource::<Open>();
        add_to_all(&mut app, workload);
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
    match workload {
        Workload::Live => {
            app.add_systems(PreUpdate, move |world: &mut World| {
                despawn_all(world);
                for _ in 0..scripts {
                    world.spawn(Position::default());
                }
            });
        }
        Workload::Poke => {
            for _ in 0..scripts {
                app.world_mut().spawn(Position::default());
            }
        }
        _ => {}
    }
}
