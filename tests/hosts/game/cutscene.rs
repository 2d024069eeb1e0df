//! A cutscene that a button skips.

use framestep::prelude::*;

use super::{Game, digit, show};

#[derive(Default)]
struct World {
    skip_pressed: bool,
    letterbox: bool,
    camera: f32,
    gate_open: bool,
}

/// The black bars, for as long as this lives.
struct Letterbox;

impl Letterbox {
    fn show() -> Self {
        with(|world: &mut World| world.letterbox = true);
        Letterbox
    }
}

impl Drop for Letterbox {
    fn drop(&mut self) {
        with_deferred(|world: &mut World| world.letterbox = false);
    }
}

async fn cutscene() {
    let _bars = Letterbox::show();
    select! {
        () = wait_until(|| with_ref(|world: &World| world.skip_pressed)) => {}
        () = scenes() => {}
    }
    // The game continues from the same state, whether the scenes were played or
    // skipped.
    with(|world: &mut World| {
        world.camera = 1.0;
        world.gate_open = true;
    });
}

async fn scenes() {
    line("It has been quiet at the mill.").await;
    join!(pan(), line("Too quiet."));
}

async fn line(text: &str) {
    show(text);
    wait_seconds(0.5).await;
}

async fn pan() {
    animate(1, |t| with(|world: &mut World| world.camera = t)).await;
}

/// The camera's position in quarters, frame by frame.
fn camera(game: &mut Game<World>, keys: &str) -> String {
    game.film(
        keys,
        |world, key| world.skip_pressed = key == 'S',
        |world| digit(world.camera, 4.0),
    )
}

#[test]
fn a_cutscene_that_is_seen_ends_with_its_last_part() {
    let mut game = Game::new(World::default());
    game.executor.spawn(cutscene());
    assert_eq!(camera(&mut game, "......"), "000123");
    assert!(game.world.letterbox);
    assert_eq!(camera(&mut game, ".."), "44");
    assert!(game.world.gate_open && !game.world.letterbox);
    game.check(&["F1: It has been quiet at the mill.", "F3: Too quiet."]);
}

#[test]
fn a_cutscene_that_is_skipped_leaves_the_same_world() {
    let mut game = Game::new(World::default());
    game.executor.spawn(cutscene());
    assert_eq!(camera(&mut game, "....S."), "000144");
    assert!(game.world.gate_open && !game.world.letterbox);
    assert!(game.executor.is_empty());
}

#[test]
fn the_bars_go_with_a_cutscene_that_is_stopped() {
    let mut game = Game::new(World::default());
    let cutscene = game.executor.spawn(cutscene());
    game.run(2);
    cutscene.stop();
    game.run(1);
    assert!(!game.world.letterbox && !game.world.gate_open);
}
