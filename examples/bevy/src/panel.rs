//! The panel: figures about the scripts, from a snapshot of the executor.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bevy::prelude::*;
use bevy::sprite::Anchor;
use bevy_framestep::Missing;
use bevy_framestep::framestep::{Snapshot, Wait};
use bevy_framestep::prelude::*;

pub(crate) fn set_up(mut commands: Commands) {
    let font = TextFont {
        font_size: FontSize::Px(15.0),
        ..default()
    };
    let colour = TextColor(Color::srgb(0.75, 0.8, 0.95));
    let place = Transform::from_xyz(228.0, 250.0, 1.0);
    commands
        .spawn((Text2d::default(), font, colour, Anchor::TOP_LEFT, place))
        .start_script(show);
}

/// The script of the panel: updates the figures several times a second, even while
/// the game is paused.
async fn show(panel: Entity) -> Result<(), Missing> {
    loop {
        let snapshot = handle().snapshot().expect("the app is there");
        panel.get_mut(|text: &mut Text2d| text.0 = describe(&snapshot))?;
        wait_seconds_realtime(0.125).await;
    }
}

fn describe(snapshot: &Snapshot) -> String {
    let mut waits = BTreeMap::<&str, usize>::new();
    let mut scripts = BTreeMap::<&str, usize>::new();
    for script in snapshot {
        let name = script.name();
        let name = name.strip_prefix("framestep_bevy::").unwrap_or(name);
        *scripts.entry(name).or_default() += 1;
        for wait in script.waits() {
            *waits.entry(kind(wait)).or_default() += 1;
        }
    }
    let now = snapshot.time();
    let mut text = "framestep in Bevy\n\n".to_string();
    let mut row = |name: &str, value: &dyn std::fmt::Display| {
        writeln!(text, "{name:<19}{value:>7}").expect("a string takes everything");
    };
    row("frame", &now.frame);
    row("game time", &format!("{:.2}", now.elapsed.as_secs_f32()));
    row("scripts", &snapshot.len());
    row("", &"");
    row("WAITS", &"");
    for (kind, count) in waits {
        row(kind, &count);
    }
    row("", &"");
    row("SCRIPTS", &"");
    for (name, count) in scripts {
        row(name, &count);
    }
    row("", &"");
    row("escape", &"menu");
    text
}

fn kind(wait: &Wait) -> &'static str {
    match wait {
        Wait::Frame { .. } => "the next frame",
        Wait::Timer { .. } => "a time",
        Wait::Signal { .. } => "a message",
        Wait::Wake { .. } => "an event, the world",
        Wait::FrameCount { .. } => "some frames",
        Wait::Join { .. } => "another script",
        _ => "something else",
    }
}
