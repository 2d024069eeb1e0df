//! The guide's first game as it is at the end of the page. A test in `documents` compares
//! the pieces.

#![expect(clippy::float_cmp, reason = "a clamped step ends exactly at its goal")]

use framestep::prelude::*;

struct World {
    hero: f32,
    door: f32,
}

const DOOR_AT: f32 = 20.0;

fn hero_is_near() -> bool {
    with_ref(|world: &World| (world.hero - DOOR_AT).abs() < 2.0)
}

/// Walks at four metres a second. Waits in front of a closed door.
async fn walk_to(goal: f32) {
    while with_ref(|world: &World| world.hero != goal) {
        next_frame().await;
        with(|world: &mut World| {
            let step = 4.0 * delta_seconds();
            let next = world.hero + (goal - world.hero).clamp(-step, step);
            let is_blocked = world.door < 1.0 && (next - DOOR_AT).abs() < 1.0;
            if !is_blocked {
                world.hero = next;
            }
        });
    }
}

async fn hero() {
    walk_to(24.5).await;
    walk_to(5.0).await;
    walk_to(39.0).await;
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
fn the_hero_waits_for_the_door_and_the_door_turns_around_half_way() {
    let mut world = World {
        hero: 0.0,
        door: 0.0,
    };
    let mut executor = Executor::new();
    let hero = executor.spawn(hero());
    executor.spawn(door());
    let mut seen = Vec::new();
    while !hero.is_finished() {
        executor.lend(&mut world, |executor| executor.run_frame(0.05));
        seen.push((world.hero, world.door));
    }
    let in_front = |hero: f32| (18.8..=19.0).contains(&hero);
    let waits = seen
        .windows(2)
        .filter(|two| in_front(two[0].0) && two[0].0.to_bits() == two[1].0.to_bits());
    assert!(waits.count() > 4);
    let way_back = seen.iter().skip_while(|seen| seen.0 < 24.4);
    let doors = way_back.take_while(|seen| seen.0 > 20.5).map(|seen| seen.1);
    let least = doors.fold(1.0, f32::min);
    assert!((0.3..0.9).contains(&least), "{least}");
}
