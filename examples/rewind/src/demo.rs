//! Plays by itself: forwards, back, and forwards again.

use std::path::Path;
use std::time::{Duration, Instant};

use macroquad::prelude::*;

use crate::draw::draw;
use crate::game::Game;
use crate::history::History;
use crate::world::{Coin, MIDDLE, PLATE, Push, RIGHT, WALLS, World};

/// Where the demo pushes the ball: to coins, through the next door once it is
/// open, and against the guardian of the last room.
pub(crate) fn push(world: &World) -> Push {
    let [x, y] = world.ball;
    let room = WALLS.iter().filter(|wall| **wall < x).count();
    let is_in_room = |at: f32| WALLS.iter().filter(|wall| **wall < at).count() == room;
    let wanted = |coin: &&Coin| world.score < PURSE && is_in_room(coin.at[0]);
    let mut coins = world.coins.iter().filter(wanted);
    let target = match (WALLS.get(room), coins.next()) {
        (Some(wall), _) if world.doors[room] > 0.6 => [wall + 60.0, MIDDLE],
        (None, _) if world.guardian.lives > 0 => world.guardian.at,
        (_, Some(coin)) => coin.at,
        (Some(wall), None) => [wall - PLATE.0, MIDDLE],
        (None, None) => [RIGHT, MIDDLE],
    };
    let [push_x, push_y] = [target[0] - x, target[1] - y].map(|way| way / 40.0);
    let [speed_x, speed_y] = world.speed.map(|speed| speed / 240.0);
    [push_x - speed_x, push_y - speed_y].map(|push| push.clamp(-1.0, 1.0))
}

/// How many coins are enough.
const PURSE: u32 = 2;

/// Frames forwards, and back.
const FORWARDS: u32 = 840;
const BACK: u32 = 300;

/// Plays, and ends with a panic if the second time is not like the first.
pub(crate) async fn play(folder: &Path) {
    let mut game = Game::new(1);
    let mut history = History::default();
    let mut spent = [Duration::ZERO; 3];
    for frame in 0..FORWARDS {
        let began = Instant::now();
        history.note(&game);
        spent[0] += began.elapsed();
        let began = Instant::now();
        game.step(push(&game.world));
        spent[1] += began.elapsed();
        draw(&game, &history, false);
        if frame == FORWARDS - 1 {
            take_picture(folder, "1-forwards");
        }
        next_frame().await;
    }
    let end = game.world.clone();
    for frame in 0..BACK {
        let began = Instant::now();
        assert!(history.rewind(&mut game), "ten seconds are remembered");
        spent[2] += began.elapsed();
        draw(&game, &history, true);
        if frame == BACK / 2 {
            take_picture(folder, "2-rewinding");
        }
        next_frame().await;
    }
    for frame in FORWARDS - BACK..FORWARDS {
        history.note(&game);
        game.step(push(&game.world));
        draw(&game, &history, false);
        if frame == FORWARDS - 1 {
            take_picture(folder, "3-forwards-again");
        }
        next_frame().await;
    }
    assert!(game.world == end, "the same pushes lead to another world");
    let us = |spent: Duration, times: u32| spent.as_secs_f64() * 1e6 / f64::from(times);
    println!(
        "{} scripts: a frame {:.0} us, remembering it {:.0} us, going back by one {:.0} us; a \
         save {} bytes",
        game.runtime.scripts().len(),
        us(spent[1], FORWARDS),
        us(spent[0], FORWARDS),
        us(spent[2], BACK),
        game.moment().scripts.to_bytes_with(&game.world).len(),
    );
}

fn take_picture(folder: &Path, name: &str) {
    let mut picture = get_screen_data();
    for [.., alpha] in picture.get_image_data_mut() {
        *alpha = u8::MAX;
    }
    picture.export_png(&folder.join(name).with_extension("png").to_string_lossy());
}
