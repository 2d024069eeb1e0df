//! What happens in an arena over time: scripts that fail over to another machine at the `.await`
//! where they are.

use framestep_durable::prelude::*;
use framestep_rooms::Player;

use crate::game::RULES;
use crate::state::{Arena, Kind};

/// A blow at a foe, by its number.
pub(crate) const HIT: Signal<i32> = signal("hit");
/// A player wants a blade.
pub(crate) const BUY: Signal<Player> = signal("buy");

const PRICE: u32 = 3;

/// The outside: a bank must agree.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Purchase {
    pub(crate) player: Player,
    pub(crate) price: u32,
}

impl Request for Purchase {
    const NAME: &'static str = "purchase";
    type Answer = bool;
}

pub(crate) fn registry() -> Registry {
    Registry::new()
        .script(moves)
        .script(fountain)
        .script(coins)
        .script(guard)
        .script(shop)
        .script(waves)
        .script(foe)
        .script(boss)
}

/// Starts the scripts of a room.
pub(crate) fn open(runtime: &Runtime) {
    runtime.spawn(moves()).detach();
    runtime.spawn(fountain()).detach();
    runtime.spawn(coins()).detach();
    for post in 0..Arena::guard_count() {
        runtime.spawn(guard(post)).detach();
    }
    runtime.spawn(shop()).detach();
    runtime.spawn(waves(1)).detach();
}

/// What moves, moves in each frame.
#[durable]
async fn moves() -> Chapter {
    for _ in 0..30 {
        with(Arena::step);
        next_frame().await;
    }
    Chapter::Next(moves())
}

#[cfg(not(feature = "next"))]
#[durable]
async fn fountain() -> Chapter {
    wait_seconds(0.5).await;
    with(|arena: &mut Arena| arena.heal(3));
    Chapter::Next(fountain())
}

/// In the next build, it heals in two steps.
#[cfg(feature = "next")]
#[durable]
async fn fountain() -> Chapter {
    wait_seconds(0.25).await;
    with(|arena: &mut Arena| arena.heal(1));
    wait_frames(7).await;
    with(|arena: &mut Arena| arena.heal(2));
    Chapter::Next(fountain())
}

#[durable]
async fn coins() -> Chapter {
    wait_seconds(1.7).await;
    with(Arena::drop_coin);
    Chapter::Next(coins())
}

/// Walks its round, and strikes at what comes near.
#[durable]
async fn guard(post: u8) -> Chapter {
    for leg in 0..4 {
        let foe = with(move |arena: &mut Arena| arena.patrol(post, leg));
        if let Some(foe) = foe {
            HIT.keyed(foe).emit(RULES.guard_damage);
        }
        wait_seconds(0.6).await;
    }
    Chapter::Next(guard(post))
}

/// Opens and closes. A sale waits for the bank, which is on the outside.
#[durable]
async fn shop() -> Chapter {
    with(|arena: &mut Arena| arena.is_shop_open = true);
    for _ in 0..8 {
        let Ok(player) = timeout(3, BUY.wait()).await else {
            continue;
        };
        let payer = player.clone();
        if with(move |arena: &mut Arena| arena.pay(&payer, PRICE)) {
            let payer = player.clone();
            let is_paid = ask(|| Purchase {
                player: payer,
                price: PRICE,
            })
            .await;
            with(move |arena: &mut Arena| arena.deliver(&player, PRICE, is_paid));
        }
    }
    with(|arena: &mut Arena| arena.is_shop_open = false);
    wait_seconds(2).await;
    Chapter::Next(shop())
}

/// Wave after wave, a boss after each third.
#[durable]
async fn waves(number: u32) -> Chapter {
    with(move |arena: &mut Arena| arena.begin_wave(number));
    wait_seconds(1).await;
    let mut foes = Vec::new();
    for place in 0..6 + number % 4 {
        let kind = if place % 3 == 2 {
            Kind::Ogre
        } else {
            Kind::Rat
        };
        let id = with(move |arena: &mut Arena| arena.spawn(kind));
        foes.push(start(foe(id, 0)));
        wait_seconds(0.4).await;
    }
    // A foe that nobody finds leaves by itself.
    join_all(foes).await;
    if number.is_multiple_of(3) {
        let id = with(|arena: &mut Arena| {
            arena.said = "the boss".into();
            arena.spawn(Kind::Boss)
        });
        // It fails only if the boss is stopped.
        let _ = start(boss(id, 0)).await;
    }
    with(|arena: &mut Arena| arena.said = "quiet".into());
    wait_seconds(3).await;
    Chapter::Next(waves(number + 1))
}

/// Waits for a blow. Returns whether the foe has fallen.
async fn is_felled(id: u32, seconds: f64) -> bool {
    match timeout(seconds, HIT.keyed(id).wait()).await {
        Ok(damage) => with(move |arena: &mut Arena| arena.hurt(id, damage)),
        Err(_) => false,
    }
}

/// Hunts heroes, and bites: a moment before, it can be seen.
#[durable]
async fn foe(id: u32, round: u32) -> Chapter {
    let (is_alive, is_near) = with(move |arena: &mut Arena| arena.hunt(id));
    if !is_alive {
        return Chapter::Done(());
    }
    if round >= 40 {
        with(move |arena: &mut Arena| arena.leave(id));
        return Chapter::Done(());
    }
    if is_near {
        with(move |arena: &mut Arena| arena.warn(id, true));
        if is_felled(id, 0.3).await {
            return Chapter::Done(());
        }
        with(move |arena: &mut Arena| {
            arena.warn(id, false);
            arena.bite(id, 4);
        });
    }
    if is_felled(id, 0.5).await {
        return Chapter::Done(());
    }
    Chapter::Next(foe(id, round + 1))
}

/// Three phases: it hunts, calls for help, strikes around.
#[durable]
async fn boss(id: u32, round: u32) -> Chapter {
    let (is_alive, _) = with(move |arena: &mut Arena| arena.hunt(id));
    if !is_alive || round >= 30 {
        with(move |arena: &mut Arena| arena.leave(id));
        return Chapter::Done(());
    }
    if round % 8 == 4 {
        let helper = with(|arena: &mut Arena| arena.spawn(Kind::Rat));
        start(foe(helper, 0)).detach();
    }
    with(move |arena: &mut Arena| arena.warn(id, true));
    let is_over = select! {
        is_over = is_felled(id, 1.0) => is_over,
        () = wait_seconds(0.8) => false,
    };
    if is_over {
        return Chapter::Done(());
    }
    with(move |arena: &mut Arena| {
        arena.warn(id, false);
        arena.bite(id, RULES.boss_damage);
    });
    if is_felled(id, 0.6).await {
        return Chapter::Done(());
    }
    Chapter::Next(boss(id, round + 1))
}
