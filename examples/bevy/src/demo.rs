//! Plays by itself: a fixed number of frames of the same length, with pictures.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bevy::prelude::*;
use bevy::render::view::screenshot::{Screenshot, save_to_disk};
use bevy::time::TimeUpdateStrategy;
use bevy_framestep::prelude::*;

use crate::menu::Key;

const FRAME: Duration = Duration::from_micros(15_625);

/// How many frames a picture may take to be saved.
const PATIENCE: u64 = 600;

pub(crate) fn set_up(app: &mut App, folder: PathBuf) {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(FRAME));
    app.add_systems(Startup, move |mut commands: Commands| {
        let folder = folder.clone();
        commands.start_script(|| play(folder));
    });
}

async fn play(folder: PathBuf) {
    wait_frames(166).await;
    let playing = take_picture(&folder, "playing").await;
    write_message(Key::Menu);
    wait_frames(30).await;
    write_message(Key::Down);
    wait_frames(10).await;
    let paused = take_picture(&folder, "paused").await;
    write_message(Key::Choose);
    wait_frames(30).await;
    let exit = if playing && paused {
        println!("{} frames, 2 pictures", time().frame);
        AppExit::Success
    } else {
        error!("a picture was not taken");
        AppExit::error()
    };
    write_message(exit);
}

/// Whether it is there: Bevy despawns the entity when the picture has been saved.
async fn take_picture(folder: &Path, name: &str) -> bool {
    let path = folder.join(name).with_extension("png");
    let screenshot = commands(|commands| {
        let mut screenshot = commands.spawn(Screenshot::primary_window());
        screenshot.observe(save_to_disk(path.clone()));
        screenshot.id()
    });
    select! {
        () = screenshot.despawned() => path.exists(),
        () = wait_frames(PATIENCE) => false,
    }
}
