//! Buffs that restart when they are renewed: haste from a potion, and a shield.

use framestep::prelude::*;

use super::Game;

#[derive(Default)]
struct World {
    hasty: bool,
    shielded: bool,
    shield: Option<Coroutine<()>>,
}

async fn haste(potion: Signal<()>) {
    loop {
        potion.wait().await;
        with(|world: &mut World| world.hasty = true);
        while timeout(1, potion.wait()).await.is_ok() {}
        with(|world: &mut World| world.hasty = false);
    }
}

/// Protects for as long as this lives.
struct Shield;

impl Shield {
    fn raise() -> Self {
        with(|world: &mut World| world.shielded = true);
        Shield
    }
}

impl Drop for Shield {
    fn drop(&mut self) {
        with_deferred(|world: &mut World| world.shielded = false);
    }
}

async fn shield() {
    let _shield = Shield::raise();
    wait_seconds(1).await;
}

/// For any buff that is a script: the old script is stopped before the new one begins.
fn cast_shield() {
    with(|world: &mut World| world.shield = Some(start(shield()).stop_on_drop()));
}

async fn caster(spell: Signal<()>) {
    loop {
        spell.wait().await;
        cast_shield();
    }
}

/// When `is_on`, frame by frame; `!` is a potion or a spell.
fn film<F>(script: fn(Signal<()>) -> F, keys: &str, is_on: fn(&World) -> bool) -> String
where
    F: Future<Output = ()> + 'static,
{
    let signal = Signal::new();
    let mut game = Game::new(World::default());
    game.executor.spawn(script(signal.clone()));
    let press = |_: &mut World, key| {
        if key == '!' {
            signal.emit(());
        }
    };
    game.film(keys, press, |world| if is_on(world) { '#' } else { '.' })
}

#[test]
fn a_second_potion_begins_the_second_anew() {
    let hasty = film(haste, ".!..!.......!....", |world| world.hasty);
    assert_eq!(hasty, ".#######....####.");
}

#[test]
fn a_second_spell_begins_the_second_anew() {
    let shielded = film(caster, ".!..!.......!....", |world| world.shielded);
    assert_eq!(shielded, ".#######....####.");
}
