//! Settings that are saved once they have rested for half a second.

use framestep::prelude::*;

use super::{Game, show};

async fn autosave(volume: Watch<u32>) {
    loop {
        volume.changed().await;
        while timeout(0.5, volume.changed()).await.is_ok() {}
        show(format_args!("saves volume {}", volume.get()));
    }
}

#[test]
fn only_the_value_that_rests_is_saved() {
    let volume = Watch::new(5);
    let mut game = Game::new(());
    game.executor.spawn(autosave(volume.clone()));
    // A digit is what the slider is moved to before the frame.
    game.play("..678.9......3....", |(), key| {
        if let Some(moved_to) = key.to_digit(10) {
            volume.set(moved_to);
        }
    });
    game.check(&["F9: saves volume 9", "F16: saves volume 3"]);
}
