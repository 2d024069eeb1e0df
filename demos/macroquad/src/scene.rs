//! The scene from beginning to end, and its restart.

use framestep::prelude::*;

use crate::boss;
use crate::dialogue::{ask, say};
use crate::door::let_in;
use crate::enemy::Kind;
use crate::floor::Shock;
use crate::hero;
use crate::world::{ARENA, Chapter, World};

/// Plays the scene repeatedly. It is outside the scene's owner, so that it can end
/// the scene.
pub(crate) async fn direct() {
    loop {
        let (scene, fallen, restart) = with(|world: &mut World| {
            world.clear();
            let scene = world.owners.scene.spawn(play()).named("scene");
            (scene, world.hero.health.clone(), world.restart.wait())
        });
        select! {
            _ = scene => {}
            () = restart => {}
            _ = fallen.wait_for(|health| *health <= 0) => {
                let epilogue = with(|world: &mut World| {
                    world.clear();
                    world.chapter.set(Chapter::Fallen);
                    world.owners.scene.spawn(banner("YOU FELL".to_owned()))
                });
                // An error only if it was stopped.
                let _ = epilogue.await;
            }
        }
    }
}

fn begin(chapter: Chapter) {
    with(|world: &mut World| world.chapter.set(chapter));
}

async fn play() {
    start(hero::live()).named("hero");
    begin(Chapter::Welcome);
    wait_seconds(0.5).await;
    welcome().await;
    for number in 1..=3 {
        begin(Chapter::Wave(number));
        start(banner(format!("WAVE {number}")));
        wave(number).await;
        with(|world: &mut World| world.hero.health.set(hero::Hero::HEALTH));
    }
    say(
        "Keeper",
        "The floor shakes. Whatever comes now has three lives, and it will not wait for its turn.",
    )
    .await;
    let fight = with(|world: &mut World| world.owners.foes.spawn(boss::fight()).named("boss"));
    // Stopped with the scene, or not at all.
    let _ = fight.await;
    wait_seconds(2).await;
    begin(Chapter::Peace);
    farewell().await;
}

async fn welcome() {
    let question =
        "Three waves, and then the thing below. All that moves here is a coroutine. Ready?";
    let choices = &["Open the doors.", "What is the floor made of?"];
    while ask("Keeper", question, choices).await == 1 {
        with(|world: &mut World| world.shocks.emit(Shock::large(ARENA.center())));
        say(
            "Keeper",
            "1,271 tiles. Each is a script that sleeps until a wave or its timer wakes it.",
        )
        .await;
    }
}

async fn farewell() {
    let question = "It is quiet now. The scripts have ended, and their owners with them.";
    if ask("Keeper", question, &["Once more.", "Leave."]).await == 1 {
        with(World::leave);
    }
}

async fn wave(number: usize) {
    let (left, above, right) = (0, 1, 2);
    let groups = match number {
        1 => vec![let_in(above, Kind::Scout, 6)],
        2 => vec![let_in(left, Kind::Scout, 5), let_in(right, Kind::Scout, 5)],
        _ => vec![
            let_in(left, Kind::Scout, 4),
            let_in(above, Kind::Spinner, 4),
            let_in(right, Kind::Scout, 4),
        ],
    };
    join_all(groups).await;
    let left = with_ref(|world: &World| world.left.clone());
    left.wait_for(|left| *left == 0).await;
    wait_seconds(1).await;
}

/// Large letters for two seconds.
pub(crate) async fn banner(text: String) {
    struct Take;

    impl Drop for Take {
        fn drop(&mut self) {
            with_deferred(|world: &mut World| world.banner = None);
        }
    }

    let _take = Take;
    animate(2, |t| {
        // In, and out again.
        let visible = (4.0 * t).min(1.0).min(4.0 - 4.0 * t);
        with(|world: &mut World| world.banner = Some((text.clone(), visible)));
    })
    .await;
}
