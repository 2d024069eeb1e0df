//! A game from the title to the end.

use framestep::prelude::*;

use crate::word::let_fall;
use crate::world::{Banner, Key, LIVES, World};
use crate::{boss, typing};

/// Plays game after game. It is outside the owner of the game, so that it can
/// end the game.
pub(crate) async fn direct() {
    ask(
        "LETTERFALL",
        "type what falls, before it lands: enter begins",
    )
    .await;
    loop {
        let (game, restart, lives) = with(|world: &mut World| {
            world.clear();
            world.score = 0;
            world.wave.set(0);
            world.lives.set(LIVES);
            let game = world.scripts.spawn(play()).named("game");
            (game, world.restart.wait(), world.lives.clone())
        });
        let (title, text) = select! {
            () = restart => continue,
            _ = lives.wait_for(|lives| *lives == 0) => ("THE GROUND WINS", "enter plays again"),
            _ = game => ("SILENCE. YOU WIN", "enter plays again"),
        };
        with(World::clear);
        ask(title, text).await;
    }
}

async fn play() {
    start(typing::words()).named("typing");
    for (wave, (count, gap, seconds)) in [(4, 1.5, 0.5), (7, 1.0, 0.45), (10, 1.0, 0.4)]
        .into_iter()
        .enumerate()
    {
        with(|world: &mut World| world.wave.set(wave + 1));
        banner(&format!("WAVE {}", wave + 1), "", 1.0).await;
        for _ in 0..count {
            with(|world: &mut World| let_fall(world, seconds));
            wait_seconds(gap).await;
        }
        let left = with_ref(|world: &World| world.left.clone());
        left.wait_for(|left| *left == 0).await;
    }
    banner("THE LAST LINE", "it has something to say", 1.5).await;
    boss::fight().await;
}

/// Writes a title, letter by letter, and shows it for some seconds.
async fn banner(title: &str, text: &str, seconds: f32) {
    unfold(title, text).await;
    wait_seconds(seconds).await;
    with(|world: &mut World| world.banner = None);
}

/// The same until enter is pressed.
async fn ask(title: &str, text: &str) {
    let mut keys = with_ref(|world: &World| world.keys.subscribe());
    unfold(title, text).await;
    while keys.next().await.is_some_and(|key| key != Key::Enter) {}
    with(|world: &mut World| world.banner = None);
}

async fn unfold(title: &str, text: &str) {
    let (title, text) = (title.to_owned(), text.to_owned());
    with(|world: &mut World| {
        world.banner = Some(Banner {
            title,
            text,
            shown: 0.0,
        });
    });
    animate(0.5, |t| {
        with(|world: &mut World| {
            if let Some(banner) = &mut world.banner {
                banner.shown = t;
            }
        });
    })
    .await;
}

/// Takes a life, and shows it for a moment.
pub(crate) fn hurt(world: &mut World) {
    world.lives.update(|lives| *lives = lives.saturating_sub(1));
    world.scripts.start(async {
        with(|world: &mut World| world.is_hurt = true);
        wait_seconds(0.5).await;
        with(|world: &mut World| world.is_hurt = false);
    });
}
