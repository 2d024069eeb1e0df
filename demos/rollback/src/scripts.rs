//! What happens over time. Nothing here depends on rollback.
//!
//! Everything that repeats without end (rounds, volleys, lives) is a chapter each, so journals
//! stay short.

use framestep_durable::prelude::*;

use crate::world::{BOSS_HEALTH, HEIGHT, WIDTH, World};

/// A player was hit.
pub(crate) const HIT: Signal<u8> = signal("hit");
/// A power-up was taken, by a player.
pub(crate) const TAKEN: Signal<(u32, u8)> = signal("taken");

pub(crate) fn registry() -> Registry {
    Registry::new()
        .script(rounds)
        .script(life)
        .script(boss)
        .script(pattern)
        .script(spawner)
        .script(power_up)
}

/// Round after round. All scripts of a round belong to `stage`, and end with it.
#[durable(name = "match")]
pub(crate) async fn rounds(stage: OwnerId) -> Chapter {
    with(World::begin_round);
    for count in (1..=3).rev() {
        with(move |world: &mut World| world.banner = count.to_string());
        wait_seconds(0.5).await;
    }
    with(|world: &mut World| {
        world.banner.clear();
        world.is_running = true;
    });
    stage.start(spawner()).detach();
    let lives = [0, 1].map(|player| stage.start(life(player, 2)));
    let boss = stage.start(boss(1));
    let is_won = select! {
        _ = boss => true,
        _ = join_all(lives) => false,
    };
    stage.stop_all();
    with(move |world: &mut World| world.end_round(is_won));
    wait_seconds(1.5).await;
    Chapter::Next(rounds(stage))
}

impl World {
    fn begin_round(&mut self) {
        self.round += 1;
        self.boss_health = BOSS_HEALTH;
        self.bullets.clear();
        self.power_ups.clear();
        for (x, player) in [WIDTH / 3, 2 * WIDTH / 3]
            .into_iter()
            .zip(&mut self.players)
        {
            (player.x, player.y) = (x, HEIGHT - 20);
            player.is_alive = true;
            player.is_vulnerable = true;
            player.shields = 0;
            player.alpha = 255;
        }
    }

    fn end_round(&mut self, is_won: bool) {
        self.is_running = false;
        self.wins += u32::from(is_won);
        self.banner = if is_won { "Victory" } else { "Defeat" }.into();
    }
}

/// A life of a player. It ends with the last one.
#[durable]
async fn life(player: u8, left: u8) -> Chapter {
    let at = usize::from(player);
    while HIT.wait().await != player {}
    let is_last = left == 0;
    with(move |world: &mut World| {
        world.deaths += 1;
        world.players[at].is_alive = !is_last;
        world.players[at].is_vulnerable = false;
    });
    if is_last {
        return Chapter::Done(());
    }
    // Invulnerable while it blinks.
    animate(1.5, move |share| {
        with(|world: &mut World| {
            let is_visible = share >= 1.0 || (share * 10.0).fract() > 0.5;
            world.players[at].alpha = if is_visible { 255 } else { 60 };
        });
    })
    .await;
    with(move |world: &mut World| world.players[at].is_vulnerable = true);
    Chapter::Next(life(player, left - 1))
}

const PHASES: u8 = 3;

/// The boss, in a phase. It joins the pattern of the phase, which never ends by itself.
#[durable]
async fn boss(phase: u8) -> Chapter {
    let limit = BOSS_HEALTH * i32::from(PHASES - phase) / i32::from(PHASES);
    let pattern = start(pattern(phase, 0));
    wait_until(move || with_ref(|world: &World| world.boss_health <= limit)).await;
    stop(pattern.id());
    with(|world: &mut World| world.bullets.retain(|bullet| !bullet.is_of_boss));
    if phase == PHASES {
        return Chapter::Done(());
    }
    wait_seconds(0.75).await;
    Chapter::Next(boss(phase + 1))
}

/// A volley of the boss.
#[durable]
async fn pattern(phase: u8, volley: u32) -> Chapter {
    match phase {
        1 => fan().await,
        2 => drop(join!(sweep(), rain())),
        _ => spiral(volley.is_multiple_of(2)).await,
    }
    Chapter::Next(pattern(phase, volley + 1))
}

/// Bullets in all directions, three times.
async fn fan() {
    let mut ticks = interval(0.5);
    for _ in 0..3 {
        ticks.tick().await;
        with(|world: &mut World| (-3..=3).for_each(|x| world.fire((x, 3))));
    }
    wait_seconds(1).await;
}

/// The boss moves across.
async fn sweep() {
    let (from, to) = with(|world: &mut World| (world.boss_x, world.random.below(WIDTH)));
    animate(1.25, move |share| {
        with(|world: &mut World| {
            // Whole thousandths, so that differences in rounding between machines have no effect.
            #[expect(clippy::cast_possible_truncation, reason = "a share is at most one")]
            let share = (share * 1_000.0).round() as i32;
            world.boss_x = from + (to - from) * share / 1_000;
        });
    })
    .await;
}

/// Bullets down, one after another.
async fn rain() {
    for _ in 0..8 {
        wait_frames(6).await;
        with(|world: &mut World| {
            let x = world.random.below(3) - 1;
            world.fire((x, 4));
        });
    }
}

/// Bullets in a row of directions.
async fn spiral(is_to_the_right: bool) {
    for at in -4..=4 {
        let x = if is_to_the_right { at } else { -at };
        with(move |world: &mut World| world.fire((x, 2)));
        wait_frames(4).await;
    }
    wait_seconds(0.25).await;
}

/// Places a power-up from time to time.
#[durable]
async fn spawner() -> Chapter {
    let tenths = with(|world: &mut World| 10 + world.random.below(20));
    wait_seconds(f64::from(tenths) / 10.0).await;
    let number = with(World::place_power_up);
    start(power_up(number)).detach();
    Chapter::Next(spawner())
}

/// A power-up: it waits for a while to be taken, then shields the player.
#[durable(name = "power-up")]
async fn power_up(number: u32) {
    let is_taken = timeout(6, async {
        loop {
            let (taken, player) = TAKEN.wait().await;
            if taken == number {
                return usize::from(player);
            }
        }
    });
    let taken = is_taken.await;
    with(move |world: &mut World| world.power_ups.retain(|other| other.number != number));
    if let Ok(player) = taken {
        with(move |world: &mut World| {
            world.taken += 1;
            world.players[player].shields += 1;
        });
        wait_seconds(3).await;
        with(move |world: &mut World| world.players[player].shields -= 1);
    }
}
