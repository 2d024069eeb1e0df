//! The pilot: scripts that play the game until a key is pressed.

use framestep::next_frame;
use framestep::prelude::*;
use macroquad::prelude::*;

use crate::bullet::Side;
use crate::floor::Shock;
use crate::input::{Input, Key};
use crate::world::{ARENA, Chapter, World};

/// Plays, until it is stopped.
pub(crate) async fn play() {
    join!(steer(), talk());
}

/// Takes pictures of each chapter, and ends the game after the last one.
pub(crate) async fn tour() {
    let chapter = with_ref(|world: &World| world.chapter.clone());
    picture(1.2, "dialogue").await;
    chapter.wait_for(|it| *it >= Chapter::Wave(1)).await;
    picture(1.6, "door").await;
    chapter.wait_for(|it| *it >= Chapter::Wave(2)).await;
    picture(3.2, "wave").await;
    chapter.wait_for(|it| *it >= Chapter::Wave(3)).await;
    wait_seconds(4).await;
    for key in [Key::Menu, Key::Down] {
        press(key);
        wait_seconds(0.4).await;
    }
    picture(0.1, "menu").await;
    press(Key::Menu);
    chapter.wait_for(|it| *it >= Chapter::Boss(1)).await;
    picture(4.5, "rings").await;
    with_ref(|world: &World| world.shocks.wait_for(Shock::is_large)).await;
    picture(0.45, "shock").await;
    chapter.wait_for(|it| *it >= Chapter::Boss(2)).await;
    picture(5.5, "spirals").await;
    chapter.wait_for(|it| *it >= Chapter::Boss(3)).await;
    picture(6.4, "flower").await;
    chapter.wait_for(|it| *it >= Chapter::Peace).await;
    picture(2.5, "farewell").await;
    with(|world: &mut World| world.is_over = true);
}

async fn picture(seconds: f32, name: &'static str) {
    wait_seconds(seconds).await;
    with(|world: &mut World| world.pictures.push(name));
    next_frame().await;
}

fn press(key: Key) {
    with_ref(|world: &World| world.press(key));
}

/// Confirms each text two seconds after it is typed.
async fn talk() {
    loop {
        wait_until(|| {
            with_ref(|world: &World| {
                let speech = world.speech.as_ref();
                speech.is_some_and(|speech| speech.waits) && world.menu.is_none()
            })
        })
        .await;
        wait_seconds(2).await;
        press(Key::Confirm);
    }
}

async fn steer() {
    loop {
        next_frame().await;
        with(|world: &mut World| world.input = decide(world));
    }
}

fn decide(world: &World) -> Input {
    let at = world.hero.at;
    let foes = world.enemies.iter().map(|enemy| enemy.at);
    let targets = foes.chain(world.boss.as_ref().map(|boss| boss.at));
    let target = targets.min_by(|a, b| (a.x - at.x).abs().total_cmp(&(b.x - at.x).abs()));

    // Towards a place below the target, away from bullets and walls.
    let home = vec2(target.map_or(ARENA.center().x, |target| target.x), 430.0);
    let mut push = (home - at) / 60.0;
    let mut close = 0;
    for bullet in world.bullets.iter().filter(|it| it.side == Side::Foe) {
        let away = at - bullet.at;
        let distance = away.length().max(1.0);
        if distance < 70.0 {
            push += away / distance * (26.0 / distance).powi(2);
            close += i32::from(distance < 45.0);
        }
    }
    let low = at - ARENA.point();
    let high = ARENA.point() + ARENA.size() - at;
    push += Vec2::splat(14.0) / low - Vec2::splat(14.0) / high;
    Input {
        stick: push.clamp_length_max(1.0),
        fires: target.is_some(),
        slows: close > 3,
    }
}
