//! A loading screen: a bar that fills, and tips meanwhile.

use framestep::prelude::*;

use super::{Game, show};

/// Each with the number of frames that it takes.
const FILES: [(&str, u64); 4] = [("map", 2), ("music", 5), ("sprites", 2), ("voices", 3)];

const TIPS: [&str; 2] = ["Trolls fear the sun.", "Ogres do not."];

#[derive(Default)]
struct World {
    files: Vec<&'static str>,
}

async fn loading_screen() {
    select! {
        _ = join_all(FILES.map(load)) => show("ready"),
        () = tips() => {}
    }
}

async fn load((name, frames): (&'static str, u64)) {
    wait_frames(frames).await; // stands for the work
    with(|world: &mut World| world.files.push(name));
}

async fn tips() {
    for tip in TIPS.iter().cycle() {
        show(tip);
        wait_seconds(0.5).await;
    }
}

#[test]
fn the_bar_fills_file_by_file_and_tips_change_meanwhile() {
    let mut game = Game::new(World::default());
    game.executor.spawn(loading_screen());
    let done = |world: &World| char::from(b"01234"[world.files.len()]);
    let bar = game.film("........", |_, _| (), done);
    assert_eq!(bar, "00233444");
    assert_eq!(game.world.files, ["map", "sprites", "voices", "music"]);
    game.check(&[
        "F1: Trolls fear the sun.",
        "F3: Ogres do not.",
        "F5: Trolls fear the sun.",
        "F6: ready",
    ]);
}
