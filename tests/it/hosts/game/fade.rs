//! A fade to black and back, around a change of rooms.

use framestep::prelude::*;

use super::{Game, digit, show};

struct World {
    light: f32,
    room: &'static str,
}

async fn go_to(room: &'static str) {
    fade_to(0.0).await;
    with(|world: &mut World| world.room = room);
    show(format_args!("enters the {room}"));
    fade_to(1.0).await;
}

async fn fade_to(light: f32) {
    let from = with_ref(|world: &World| world.light);
    animate(1, |t| {
        with(|world: &mut World| world.light = from + (light - from) * t);
    })
    .await;
}

#[test]
fn the_room_changes_in_the_dark() {
    let mut game = Game::new(World {
        light: 1.0,
        room: "hall",
    });
    game.executor.spawn(go_to("cellar"));
    let light = game.film("..........", |_, _| (), |world| digit(world.light, 4.0));
    assert_eq!(light, "4321012344");
    assert_eq!(game.world.room, "cellar");
    game.check(&["F5: enters the cellar"]);
}
