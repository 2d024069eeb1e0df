//! The guide's first game in a window: docs/guide/first-game.md. The arrow keys walk.

#![cfg_attr(test, expect(clippy::float_cmp, reason = "sums of halves are exact"))]

use framestep::next_frame;
use framestep::prelude::*;
use macroquad::prelude::*;

struct World {
    hero: f32, // metres from the left end of the corridor
    door: f32, // 0 is closed, 1 is open
}

const DOOR_AT: f32 = 20.0;

fn hero_is_near() -> bool {
    with_ref(|world: &World| (world.hero - DOOR_AT).abs() < 2.0)
}

/// What the player wants: the loop reads the keyboard, and lends this beside the world.
#[derive(Default)]
struct Input {
    way: f32, // -1 is left, 1 is right
}

/// Walks at four metres a second, as the player wants, to the right end of the corridor.
async fn hero() {
    while with_ref(|world: &World| world.hero < 39.0) {
        next_frame().await;
        let step = 4.0 * delta_seconds() * with_ref(|input: &Input| input.way);
        with(|world: &mut World| {
            let next = (world.hero + step).max(1.0);
            let is_blocked = world.door < 1.0 && (next - DOOR_AT).abs() < 1.0;
            if !is_blocked {
                world.hero = next;
            }
        });
    }
}

/// Moves the door from where it is, in half a second for the whole way.
async fn move_door(to: f32) {
    let from = with_ref(|world: &World| world.door);
    let seconds = 0.5 * (to - from).abs();
    animate(seconds, |t| {
        with(|world: &mut World| world.door = from + (to - from) * t);
    })
    .await;
}

async fn close() {
    wait_seconds(1).await;
    move_door(0.0).await;
}

async fn door() {
    loop {
        wait_until(hero_is_near).await;
        move_door(1.0).await;
        wait_while(hero_is_near).await;
        select! {
            _ = wait_until(hero_is_near) => {} // back to the top, wherever the door is
            _ = close() => {}
        }
    }
}

/// The corridor is as wide as the window. The door rises into the ceiling.
fn draw(world: &World) {
    let metre = screen_width() / 40.0;
    let floor = screen_height() * 0.7;
    let height = 5.0 * metre;
    clear_background(BLACK);
    draw_rectangle(
        0.0,
        floor,
        screen_width(),
        screen_height() - floor,
        DARKGRAY,
    );
    draw_rectangle(0.0, 0.0, screen_width(), floor - height, DARKGRAY);
    let closed = height * (1.0 - world.door);
    draw_rectangle(
        (DOOR_AT - 0.3) * metre,
        floor - height,
        0.6 * metre,
        closed,
        BROWN,
    );
    draw_circle(
        world.hero * metre,
        floor - 0.8 * metre,
        0.8 * metre,
        SKYBLUE,
    );
    draw_text(
        "The arrow keys walk.",
        metre,
        floor - height - metre,
        30.0,
        WHITE,
    );
}

#[macroquad::main("corridor")]
async fn main() {
    let mut world = World {
        hero: 2.0,
        door: 0.0,
    };
    let mut input = Input::default();
    let mut executor = Executor::new();
    let hero = executor.spawn(hero());
    executor.spawn(door());

    // The window closes when the hero has arrived.
    while !hero.is_finished() {
        let held = |key| f32::from(u8::from(is_key_down(key)));
        input.way = held(KeyCode::Right) - held(KeyCode::Left);
        executor.lend(&mut world, |executor| {
            executor.lend(&mut input, |executor| executor.run_frame(get_frame_time()));
        });
        draw(&world);
        macroquad::window::next_frame().await; // macroquad's own: shows the frame
    }
}

#[test]
fn the_door_turns_around_for_a_hero_who_comes_back() {
    let mut world = World {
        hero: 0.0,
        door: 0.0,
    };
    let mut executor = Executor::new();
    executor.spawn(door());
    let mut run_frames = |world: &mut World, frames: u32| {
        for _ in 0..frames {
            executor.lend(world, |executor| executor.run_frame(0.25));
        }
        world.door
    };

    assert_eq!(run_frames(&mut world, 2), 0.0); // the hero is far away
    world.hero = 19.0;
    assert_eq!(run_frames(&mut world, 3), 1.0); // half a second later
    world.hero = 30.0;
    assert_eq!(run_frames(&mut world, 6), 0.5); // a second later it closes
    world.hero = 19.0;
    assert_eq!(run_frames(&mut world, 3), 1.0); // it opens from where it was
}

#[test]
fn the_hero_walks_as_the_player_wants_and_waits_at_the_door() {
    let mut world = World {
        hero: 17.0,
        door: 0.0,
    };
    let mut input = Input::default();
    let mut executor = Executor::new();
    executor.spawn(hero());
    executor.spawn(door());
    let mut run_frames = |way: f32, frames: u32| {
        input.way = way;
        for _ in 0..frames {
            executor.lend(&mut world, |executor| {
                executor.lend(&mut input, |executor| executor.run_frame(0.125));
            });
        }
        world.hero
    };

    assert_eq!(run_frames(0.0, 4), 17.0);
    assert_eq!(run_frames(1.0, 4), 19.0); // half a metre in each frame
    assert_eq!(run_frames(1.0, 1), 19.0); // the door is not open yet
    assert_eq!(run_frames(1.0, 4), 20.0);
    assert_eq!(run_frames(-1.0, 1), 19.5);
}
