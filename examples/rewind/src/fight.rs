//! The fight with the guardian: a chapter for each of its lives.

use framestep_durable::prelude::*;

use crate::guardian::{Guardian, LIVES, STRIKES};
use crate::world::World;

/// The ball is close to the guardian.
pub(crate) const NEAR: Signal<()> = Signal::new("near");
/// The ball struck the guardian.
pub(crate) const STRUCK: Signal<()> = Signal::new("struck");

/// The guardian, from its sleep to its fall, in a loop.
#[derive(Serialize, Deserialize)]
pub(crate) enum Fight {
    Sleeps,
    Fights { lives: u8 },
    Falls,
}

impl DurableScript for Fight {
    const NAME: &'static str = "fight";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        match self {
            Fight::Sleeps => {
                NEAR.wait().await;
                animate(0.6, |world: &mut World, t| world.guardian.open = t).await;
                Chapter::Next(Fight::Fights { lives: LIVES })
            }
            Fight::Fights { lives: 0 } => Chapter::Next(Fight::Falls),
            Fight::Fights { lives } => {
                start(Line { lives }).detach();
                let volleys = start(Volleys { lives, turns: 0.0 });
                let is_lost = timeout(9, strikes()).await.is_ok();
                stop(volleys.id());
                if is_lost {
                    wait_seconds(0.8).await;
                    return Chapter::Next(Fight::Fights { lives: lives - 1 });
                }
                // Nobody has taken it.
                animate(1, |world: &mut World, t| world.guardian.open = 1.0 - t).await;
                step(|world: &mut World| world.guardian = Guardian::new());
                Chapter::Next(Fight::Sleeps)
            }
            Fight::Falls => {
                for _ in 0..8 {
                    step(|world: &mut World| world.guardian.flash = 1.0);
                    wait_seconds(0.15).await;
                }
                animate(0.5, |world: &mut World, t| world.guardian.open = 1.0 - t).await;
                step(|world: &mut World| world.score += 10);
                wait_seconds(8).await;
                step(|world: &mut World| world.guardian = Guardian::new());
                Chapter::Next(Fight::Sleeps)
            }
        }
    }
}

/// Waits until a life is lost.
async fn strikes() {
    for strike in 1..=STRIKES {
        STRUCK.wait().await;
        step(move |world: &mut World| world.guardian.strikes = strike);
    }
    step(|world: &mut World| {
        world.guardian.lives -= 1;
        world.guardian.strikes = 0;
        world.guardian.bullets.clear();
    });
}

/// What the guardian shoots in one of its lives: rings, a spiral, both.
#[derive(Serialize, Deserialize)]
struct Volleys {
    lives: u8,
    turns: f32,
}

impl DurableScript for Volleys {
    const NAME: &'static str = "volleys";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let Volleys { lives, turns } = self;
        if lives != 2 {
            step(move |world: &mut World| {
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
                step(move |world: &mut World| world.guardian.shoot(turns, 130.0));
            }
        } else {
            wait_seconds(0.9).await;
        }
        let turns = (turns + 0.29).fract();
        Chapter::Next(Volleys { lives, turns })
    }
}

/// What it says at the beginning of each life, letter by letter.
#[derive(Serialize, Deserialize)]
struct Line {
    lives: u8,
}

impl DurableScript for Line {
    const NAME: &'static str = "line";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        let line = match self.lives {
            3 => "Who wakes me?",
            2 => "You may take it back, and still lose.",
            _ => "Time is on nobody's side.",
        };
        let letters = line.len();
        let type_out = move |world: &mut World, t: f32| {
            let typed = (1..letters).filter(|letter| share(*letter, letters) <= t);
            let typed = if t < 1.0 { typed.count() } else { letters };
            line[..typed].clone_into(&mut world.guardian.words);
        };
        animate(1.5, type_out).await;
        wait_seconds(2).await;
        step(|world: &mut World| world.guardian.words.clear());
        Chapter::Done(())
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a line has some dozens of letters"
)]
fn share(part: usize, whole: usize) -> f32 {
    part as f32 / whole as f32
}

pub(crate) fn add_to(registry: Registry) -> Registry {
    registry.with::<Fight>().with::<Volleys>().with::<Line>()
}
