//! A quest: events drive it, and all scripts can read a counter.

use framestep::prelude::*;

use super::{Game, show};

#[derive(Clone, Copy, PartialEq)]
enum Event {
    Talked(&'static str),
    Entered(&'static str),
}

#[derive(Default)]
struct World {
    events: Signal<Event>,
    wolves_killed: Watch<u32>,
    gold: u32,
}

/// Waits until the event happens.
async fn on(event: Event) {
    with_ref(|world: &World| world.events.wait_for(move |it| *it == event)).await;
}

async fn wolf_hunt() {
    on(Event::Talked("elder")).await;
    show("quest: kill three wolves in the wood");
    on(Event::Entered("wood")).await;
    let kills = with_ref(|world: &World| world.wolves_killed.clone());
    let goal = kills.get() + 3;
    // A watch remembers: wolves that fall in one frame count, each of them.
    select! {
        _ = kills.wait_for(|&killed| killed >= goal) => {}
        () = tracker(&kills) => {}
    }
    show("quest: go back to the elder");
    on(Event::Talked("elder")).await;
    with(|world: &mut World| world.gold += 50);
    show("quest: done");
}

async fn tracker(kills: &Watch<u32>) {
    loop {
        let killed = kills.changed().await;
        show(format_args!("wolves: {killed}"));
    }
}

#[test]
fn a_quest_continues_with_what_happens() {
    let mut game = Game::new(World::default());
    game.executor.spawn(wolf_hunt());
    // The hero enters the wood, talks, enters it again, and kills one wolf, then two at once.
    game.play("..ETEw.2.T.", |world, key| match key {
        'T' => world.events.emit(Event::Talked("elder")),
        'E' => world.events.emit(Event::Entered("wood")),
        'w' => world.wolves_killed.update(|killed| *killed += 1),
        '2' => world.wolves_killed.update(|killed| *killed += 2),
        _ => {}
    });
    game.check(&[
        "F4: quest: kill three wolves in the wood",
        "F6: wolves: 1",
        "F8: quest: go back to the elder",
        "F10: quest: done",
    ]);
    assert_eq!(game.world.gold, 50);
}
