//! A battle in turns: fallen fighters leave the queue.

use std::collections::VecDeque;

use framestep::prelude::*;

use super::{Game, show};

struct Fighter {
    name: &'static str,
    health: i32,
}

struct World {
    /// The hero is number 0.
    fighters: Vec<Fighter>,
}

/// Returns the name of the winner. `choice` is the number of the fighter that the player hits.
async fn battle(choice: Signal<usize>) -> &'static str {
    let mut queue: VecDeque<usize> = with_ref(|world: &World| (0..world.fighters.len()).collect());
    while queue.len() > 1 && queue.contains(&0) {
        match queue[0] {
            0 => hero_turn(&choice).await,
            goblin => goblin_turn(goblin).await,
        }
        queue.rotate_left(1);
        with_ref(|world: &World| queue.retain(|&number| world.fighters[number].health > 0));
    }
    with_ref(|world: &World| world.fighters[queue[0]].name)
}

/// The player has a second to choose.
async fn hero_turn(choice: &Signal<usize>) {
    show("your turn");
    match timeout(1, choice.wait()).await {
        Ok(goblin) => hit(0, goblin).await,
        Err(_) => show("you hesitate"),
    }
}

async fn goblin_turn(goblin: usize) {
    wait_seconds(0.5).await; // it thinks
    hit(goblin, 0).await;
}

async fn hit(by: usize, target: usize) {
    with(|world: &mut World| {
        world.fighters[target].health -= 5;
        let (by, target) = (&world.fighters[by].name, &world.fighters[target].name);
        show(format_args!("{by} hits {target}"));
    });
    wait_seconds(0.25).await;
}

#[test]
fn a_battle_goes_round_until_one_is_left() {
    let fighter = |name, health| Fighter { name, health };
    let mut game = Game::new(World {
        fighters: vec![fighter("Ada", 20), fighter("Zog", 5), fighter("Gok", 5)],
    });
    let choice = Signal::new();
    let battle = game.executor.spawn(battle(choice.clone()));
    // A digit is the player's choice. The 1 in frame 5 is out of turn.
    game.play("..2.1............1..", |_, key| {
        if let Some(number) = key.to_digit(10) {
            choice.emit(number as usize);
        }
    });
    game.check(&[
        "F1: your turn",
        "F3: Ada hits Gok",
        "F6: Zog hits Ada",
        "F7: your turn",
        "F11: you hesitate",
        "F13: Zog hits Ada",
        "F14: your turn",
        "F18: Ada hits Zog", // at the last moment
    ]);
    assert_eq!(battle.take().unwrap().unwrap(), "Ada");
    assert_eq!(game.world.fighters[0].health, 10);
}
