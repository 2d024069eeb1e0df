//! What happens over time. Change this file while the game runs, and save it.

use framestep_durable::prelude::*;
use toy_world::{LAMPS, World, lamp_x};

/// The ship was hit, at this place.
pub const HIT: Signal<f32> = signal("hit");

/// All scripts of the game.
pub fn registry() -> Registry {
    Registry::new()
        .script(boss)
        .script(drift)
        .script(line)
        .script(lamp)
}

#[cfg(feature = "live")]
framestep_live::export!(registry);

/// Starts all scripts.
pub fn start_all(runtime: &Runtime) {
    runtime.start(boss(0)).detach();
    runtime.start(drift(0)).detach();
    for lamp in 0..LAMPS {
        runtime.start(self::lamp(lamp)).detach();
    }
}

/// The boss: one pattern after another.
#[durable]
async fn boss(round: u8) -> Chapter {
    match round {
        0 => spiral().await,
        1 => rings().await,
        _ => fans().await,
    }
    wait_seconds(0.8).await;
    Chapter::Next(boss((round + 1) % 3))
}

/// Arms that turn.
async fn spiral() {
    start(line("Round and round.".to_owned())).detach();
    for shot in 0..70_u8 {
        with(move |world: &mut World| {
            let arms = 3_u8; // change this line first: 5
            let speed = 150.0;
            for arm in 0..arms {
                let turns = f32::from(shot) / 37.0 + f32::from(arm) / f32::from(arms);
                world.shoot(turns, speed, 0.95);
            }
        });
        wait_seconds(0.07).await;
    }
}

/// Rings, each of them turned a little.
async fn rings() {
    start(line("Mind the gaps.".to_owned())).detach();
    for ring in 0..7_u8 {
        with(move |world: &mut World| {
            let shots = 22_u8;
            for shot in 0..shots {
                let turns = (f32::from(shot) + 0.37 * f32::from(ring)) / f32::from(shots);
                world.shoot(turns, 110.0, 0.08);
            }
        });
        wait_seconds(0.7).await;
    }
}

/// Fans that are aimed at the ship.
async fn fans() {
    start(line("I see you.".to_owned())).detach();
    for _ in 0..8 {
        animate(0.25, |t| {
            with(|world: &mut World| world.boss.open = 1.0 - t);
        })
        .await;
        with(|world: &mut World| {
            world.boss.open = 1.0;
            let aim = world.aim();
            for shot in -4..=4_i8 {
                let turns = aim + 0.018 * f32::from(shot);
                world.shoot(turns, 230.0 - 9.0 * f32::from(shot.abs()), 0.75);
            }
        });
        wait_seconds(0.35).await;
    }
}

/// The boss moves from place to place.
#[durable]
async fn drift(place: u8) -> Chapter {
    let places = [[480.0, 190.0], [690.0, 150.0], [270.0, 150.0]];
    let to = places[usize::from(place)];
    let from = with(|world: &mut World| world.boss.at);
    animate(1.6, move |t| {
        with(|world: &mut World| {
            let t = t * t * (3.0 - 2.0 * t);
            world.boss.at = [0, 1].map(|at| from[at] + (to[at] - from[at]) * t);
        });
    })
    .await;
    wait_seconds(1.5).await;
    Chapter::Next(drift((place + 1) % 3))
}

/// What the boss says, letter by letter.
#[durable]
async fn line(words: String) {
    for letters in 1..=words.len() {
        let typed = words[..letters].to_owned();
        with(move |world: &mut World| world.boss.words = typed);
        wait_seconds(0.05).await;
    }
    wait_seconds(1.5).await;
    with(|world: &mut World| world.boss.words.clear());
}

/// A lamp: a wave of light runs along the lamps when the ship is hit.
#[durable]
async fn lamp(lamp: u8) -> Chapter {
    let at = usize::from(lamp);
    let strength = select! {
        x = HIT.wait() => {
            wait_seconds((x - lamp_x(lamp)).abs() / 600.0).await;
            1.0
        }
        _ = wait_seconds(2.0 + 0.3 * f32::from(lamp % 7)) => 0.35,
    };
    animate(0.7, move |t| {
        with(|world: &mut World| {
            world.lamps[at] = strength * (1.0 - t);
        });
    })
    .await;
    Chapter::Next(self::lamp(lamp))
}
