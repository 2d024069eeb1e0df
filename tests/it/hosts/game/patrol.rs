//! A guard who walks from post to post on fixed steps.

use framestep::prelude::*;

use super::Game;

#[derive(Default)]
struct World {
    guard: f32,
    /// Where the guard was after each step of a walk.
    trail: Vec<f32>,
}

async fn patrol() {
    for post in [1.0, 0.0].into_iter().cycle() {
        walk_to(post).await;
        wait_steps(4).await; // looks around for half a second
    }
}

async fn walk_to(post: f32) {
    while with_ref(|world: &World| (world.guard - post).abs() > 0.01) {
        fixed_update().await;
        with(|world: &mut World| {
            let step = 3.0 * delta_seconds();
            world.guard += (post - world.guard).clamp(-step, step);
            world.trail.push(world.guard);
        });
    }
}

/// The trail after three seconds, with eight steps a second.
fn trail(dt: f64, frames: u32) -> Vec<f32> {
    let mut game = Game::new(World::default());
    game.executor = Executor::builder().fixed_delta(0.125).max_delta(1).build();
    // In Update it would begin later, by the steps of the first frame.
    game.executor.spawn_in(Phase::FixedUpdate, patrol());
    for _ in 0..frames {
        game.frame(dt);
    }
    game.world.trail
}

#[test]
fn the_way_does_not_depend_on_the_frame_rate() {
    let there_and_back = [0.375, 0.75, 1.0, 0.625, 0.25, 0.0];
    let slow = trail(0.5, 6);
    assert_eq!(slow[..6], there_and_back);
    assert_eq!(slow, trail(0.25, 12));
    assert_eq!(slow, trail(0.0625, 48));
}
