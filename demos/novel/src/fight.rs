//! The fight with the dragon: it continues without input, while a torch burns down.

use framestep_durable::prelude::*;

use crate::story::{ENTER, tell};

/// An exchange of blows. In the end: whether the player has won.
#[durable]
pub(crate) async fn fight(dragon: u8, mut hearts: u8) -> Chapter<bool> {
    // It gets angry.
    let haste = if dragon == 1 { 2.0 } else { 1.0 };
    wait_seconds(1.0 / haste).await;
    tell(format!("(you {hearts}, dragon {dragon}) It breathes in."));
    if timeout(1.5 / haste, ENTER.wait()).await.is_ok() {
        tell("You jump aside.");
    } else {
        tell("It burns!");
        hearts -= 1;
    }
    if hearts == 0 {
        return Chapter::Done(false);
    }
    wait_seconds(0.5).await;
    tell("Its belly is bare.");
    let hits = timeout(1.5 / haste, ENTER.wait()).await.is_ok();
    tell(if hits { "A hit!" } else { "It turns around." });
    match dragon - u8::from(hits) {
        0 => Chapter::Done(true),
        dragon => Chapter::Next(fight(dragon, hearts)),
    }
}

/// The torch: it announces the seconds that are left.
#[durable]
pub(crate) async fn torch(seconds: u32) -> Chapter {
    wait_seconds(5).await;
    match seconds.saturating_sub(5) {
        0 => Chapter::Done(()),
        seconds => {
            tell(format!("The torch flickers: {seconds} seconds."));
            Chapter::Next(torch(seconds))
        }
    }
}
