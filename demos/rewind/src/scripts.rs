//! What happens over time. Nothing here depends on rewinding.

use framestep_durable::prelude::*;

use crate::fight::{self, guard};
use crate::world::{LAMPS, WALLS, World, lamp_x};

/// The ball hit a wall, at this place.
pub(crate) const BUMP: Signal<f32> = signal("bump");
/// The ball is on a plate of this door.
pub(crate) const PRESSED: Signal<u8> = signal("pressed");
/// The ball took the coin with this number.
pub(crate) const TAKEN: Signal<u32> = signal("taken");

pub(crate) fn registry() -> Registry {
    let registry = Registry::new()
        .script(door)
        .script(lamp)
        .script(mint)
        .script(coin);
    fight::add_to(registry)
}

/// Starts all scripts.
pub(crate) fn start_all(runtime: &Runtime) {
    for door in (0..).take(WALLS.len()) {
        runtime.start(self::door(door)).detach();
    }
    for lamp in 0..LAMPS {
        runtime.start(self::lamp(lamp)).detach();
    }
    runtime.start(mint()).detach();
    runtime.start(guard::sleeps()).detach();
}

/// A door that opens when something is on its plate.
#[durable]
async fn door(door: u8) -> Chapter {
    let at = usize::from(door);
    while PRESSED.wait().await != door {}
    animate(0.5, move |t| with(|world: &mut World| world.doors[at] = t)).await;
    wait_seconds(2).await;
    wait_while(move || with_ref(|world: &World| world.is_blocked(door))).await;
    animate(0.8, move |t| {
        with(|world: &mut World| world.doors[at] = 1.0 - t);
    })
    .await;
    Chapter::Next(self::door(door))
}

/// A lamp: a wave of light runs along the lamps when the ball hits a wall.
#[durable]
async fn lamp(lamp: u8) -> Chapter {
    let at = usize::from(lamp);
    let idle = with(|world: &mut World| 3.0 + 9.0 * world.random());
    let strength = select! {
        x = BUMP.wait() => {
            wait_seconds((x - lamp_x(lamp)).abs() / 500.0).await;
            1.0
        }
        _ = wait_seconds(idle) => 0.4,
    };
    animate(0.7, move |t| {
        with(|world: &mut World| {
            world.lamps[at] = strength * (1.0 - t);
        });
    })
    .await;
    Chapter::Next(self::lamp(lamp))
}

/// Makes a coin from time to time.
#[durable]
async fn mint() -> Chapter {
    wait_seconds(0.8).await;
    let number = with(World::place_coin);
    start(coin(number)).detach();
    Chapter::Next(mint())
}

/// A coin, until it is taken or times out.
#[durable]
async fn coin(number: u32) {
    animate(0.3, move |t| {
        with(|world: &mut World| {
            world.coin(number).alpha = t;
        });
    })
    .await;
    let is_taken = timeout(7, async { while TAKEN.wait().await != number {} });
    if is_taken.await.is_ok() {
        with(|world: &mut World| world.score += 1);
        let fly = move |t: f32| {
            with(|world: &mut World| {
                let coin = world.coin(number);
                (coin.size, coin.alpha) = (1.0 + 2.0 * t, 1.0 - t);
            });
        };
        animate(0.5, fly).await;
    } else {
        animate(1, move |t| {
            with(|world: &mut World| {
                world.coin(number).alpha = 1.0 - t;
            });
        })
        .await;
    }
    with(move |world: &mut World| world.coins.retain(|coin| coin.number != number));
}
