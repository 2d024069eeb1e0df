//! Waves of goblins: the next one comes when the last goblin of a wave is gone.

use std::collections::BTreeMap;

use framestep::prelude::*;

use super::{Game, show};

struct World {
    /// Their health.
    goblins: BTreeMap<u32, i32>,
    village: u32,
}

async fn waves() {
    let mut numbers = 1..;
    for size in [2, 1] {
        show(format_args!("a wave of {size}"));
        let mut arrivals = interval(0.5);
        let mut wave = Vec::new();
        for number in numbers.by_ref().take(size) {
            arrivals.tick().await;
            wave.push(start(goblin(number)));
        }
        join_all(wave).await;
        wait_seconds(1).await;
    }
    show("peace");
}

async fn goblin(number: u32) {
    with(|world: &mut World| world.goblins.insert(number, 10));
    select! {
        () = wait_until(|| with_ref(|world: &World| world.goblins[&number] <= 0)) => {
            show(format_args!("goblin {number} falls"));
        }
        () = wait_seconds(1.5) => {
            with(|world: &mut World| world.village -= 1);
            show(format_args!("goblin {number} burns a house"));
        }
    }
    with(|world: &mut World| world.goblins.remove(&number));
}

#[test]
fn a_wave_ends_with_its_last_goblin() {
    let mut game = Game::new(World {
        goblins: BTreeMap::new(),
        village: 5,
    });
    game.executor.spawn(waves());
    // A digit is the goblin that is hit before the frame.
    game.play(".....1............3.....", |world, key| {
        if let Some(number) = key.to_digit(10) {
            *world.goblins.get_mut(&number).unwrap() -= 10;
        }
    });
    game.check(&[
        "F1: a wave of 2", // which arrive in frames 3 and 5
        "F6: goblin 1 falls",
        "F11: goblin 2 burns a house",
        "F15: a wave of 1", // in frame 17
        "F19: goblin 3 falls",
        "F23: peace",
    ]);
    assert_eq!((game.world.village, game.world.goblins.len()), (4, 0));
}
