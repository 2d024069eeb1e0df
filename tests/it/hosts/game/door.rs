//! A door that changes direction when somebody comes or goes.

use framestep::prelude::*;

use super::{Game, digit};

#[derive(Default)]
struct World {
    somebody_near: bool,
    /// From 0, shut, to 1.
    door: f32,
}

fn somebody_near() -> bool {
    with_ref(|world: &World| world.somebody_near)
}

async fn door() {
    loop {
        let near = somebody_near();
        let goal = if near { 1.0 } else { 0.0 };
        select! {
            // Somebody comes or goes: the door changes direction where it stands.
            () = wait_until(|| somebody_near() != near) => {}
            () = slide_to(goal) => wait_until(|| somebody_near() != near).await,
        }
    }
}

/// Moves the door by a quarter in each quarter of a second.
async fn slide_to(goal: f32) {
    while with_ref(|world: &World| (world.door - goal).abs() > 0.01) {
        next_frame().await;
        with(|world: &mut World| {
            let step = delta_seconds();
            world.door += (goal - world.door).clamp(-step, step);
        });
    }
}

#[test]
fn a_door_changes_direction_where_it_stands() {
    let mut game = Game::new(World::default());
    game.executor.spawn(door());
    let door = game.film(
        ".HHH..HHHHHH......", // `H` is the hero at the door
        |world, key| world.somebody_near = key == 'H',
        |world| digit(world.door, 4.0),
    );
    assert_eq!(door, "001221123444432100");
}
