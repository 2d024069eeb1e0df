//! The fight with the guardian: a chapter for each of its lives.

use framestep_durable::prelude::*;

use crate::guardian::STRIKES;
use crate::world::World;

/// The ball is close to the guardian.
pub(crate) const NEAR: Signal<()> = signal("near");
/// The ball struck the guardian.
pub(crate) const STRUCK: Signal<()> = signal("struck");

/// The guardian, from its sleep to its fall, in a loop.
#[durable(name = "fight")]
pub(crate) mod guard {
    use framestep_durable::prelude::*;

    use super::{NEAR, line, strikes, volleys};
    use crate::guardian::{Guardian, LIVES};
    use crate::world::World;

    #[chapter]
    pub(crate) async fn sleeps() -> Chapter {
        NEAR.wait().await;
        animate(0.6, |t| with(|world: &mut World| world.guardian.open = t)).await;
        Chapter::Next(fights(LIVES))
    }

    #[chapter]
    async fn fights(lives: u8) -> Chapter {
        if lives == 0 {
            return Chapter::Next(falls());
        }
        start(line(lives)).detach();
        let volleys = start(volleys(lives, 0.0));
        let is_lost = timeout(9, strikes()).await.is_ok();
        stop(volleys.id());
        if is_lost {
            wait_seconds(0.8).await;
            return Chapter::Next(fights(lives - 1));
        }
        // Nobody has taken it.
        animate(1, |t| {
            with(|world: &mut World| world.guardian.open = 1.0 - t);
        })
        .await;
        with(|world: &mut World| world.guardian = Guardian::new());
        Chapter::Next(sleeps())
    }

    #[chapter]
    async fn falls() -> Chapter {
        for _ in 0..8 {
            with(|world: &mut World| world.guardian.flash = 1.0);
            wait_seconds(0.15).await;
        }
        animate(0.5, |t| {
            with(|world: &mut World| world.guardian.open = 1.0 - t);
        })
        .await;
        with(|world: &mut World| world.score += 10);
        wait_seconds(8).await;
        with(|world: &mut World| world.guardian = Guardian::new());
        Chapter::Next(sleeps())
    }
}

/// Waits until a life is lost.
async fn strikes() {
    for strike in 1..=STRIKES {
        STRUCK.wait().await;
        with(move |world: &mut World| world.guardian.strikes = strike);
    }
    with(|world: &mut World| {
        world.guardian.lives -= 1;
        world.guardian.strikes = 0;
        world.guardian.bullets.clear();
    });
}

/// What the guardian shoots in one of its lives: rings, a spiral, both.
#[durable]
async fn volleys(lives: u8, turns: f32) -> Chapter {
    if lives != 2 {
        with(move |world: &mut World| {
            for shot in 0..12_u8 {
                let shot = f32::from(shot) / 12.0;
                world.guardian.shoot(turns + shot, 90.0);
            }
        });
    }
    if lives < 3 {
        for shot in 0..9_u8 {
            wait_seconds(0.1).await;
            let turns = turns + f32::from(shot) / 24.0;
            with(move |world: &mut World| world.guardian.shoot(turns, 130.0));
        }
    } else {
        wait_seconds(0.9).await;
    }
    Chapter::Next(volleys(lives, (turns + 0.29).fract()))
}

/// What it says at the beginning of each life, letter by letter.
#[durable]
async fn line(lives: u8) {
    let line = match lives {
        3 => "Who wakes me?",
        2 => "You may take it back, and still lose.",
        _ => "Time is on nobody's side.",
    };
    let letters = line.len();
    let type_out = move |t: f32| {
        with(|world: &mut World| {
            let typed = (1..letters).filter(|letter| share(*letter, letters) <= t);
            let typed = if t < 1.0 { typed.count() } else { letters };
            line[..typed].clone_into(&mut world.guardian.words);
        });
    };
    animate(1.5, type_out).await;
    wait_seconds(2).await;
    with(|world: &mut World| world.guardian.words.clear());
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a line has some dozens of letters"
)]
fn share(part: usize, whole: usize) -> f32 {
    part as f32 / whole as f32
}

pub(crate) fn add_to(registry: Registry) -> Registry {
    registry.script(guard::sleeps).script(volleys).script(line)
}
