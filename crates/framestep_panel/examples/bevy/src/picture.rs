//! Opens the panel, saves a picture, and ends the app.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bevy::prelude::*;
use bevy::render::view::screenshot::{Screenshot, save_to_disk};
use bevy::time::TimeUpdateStrategy;
use bevy_framestep::prelude::*;
use framestep_panel::Panel;

/// The most frames that saving a picture can take.
const PATIENCE: u64 = 600;

pub(crate) fn set_up(app: &mut App, path: PathBuf) {
    let frame = Duration::from_millis(20);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
    app.add_systems(PostStartup, move |world: &mut World| {
        world.non_send_mut::<Panel>().open();
        let path = path.clone();
        world.start_script(|| film(path));
    });
}

async fn film(path: PathBuf) {
    wait_seconds_realtime(6).await;
    let screenshot = commands(|commands| {
        let mut screenshot = commands.spawn(Screenshot::primary_window());
        screenshot.observe(save_to_disk(path.clone()));
        screenshot.id()
    });
    // Bevy despawns it when the picture is saved.
    select! {
        () = screenshot.despawned() => {}
        () = wait_frames(PATIENCE) => {}
    }
    write_message(if is_picture(&path) {
        AppExit::Success
    } else {
        AppExit::error()
    });
}

fn is_picture(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.len() > 4096)
}
