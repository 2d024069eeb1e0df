//! The pause menu. While it is open no timer runs: the game sleeps until a key.

use framestep::prelude::*;
use framestep::sync::Subscription;

use crate::world::{Key, Menu, World};

pub(crate) const ITEMS: [&str; 3] = ["Go on", "Begin again", "Leave"];

/// Opens the menu whenever its key is pressed.
pub(crate) async fn run() {
    let mut keys = with_ref(|world: &World| world.menu_keys.subscribe());
    while let Some(key) = keys.next().await {
        if key == Key::Escape {
            open(&mut keys).await;
        }
    }
}

async fn open(keys: &mut Subscription<Key>) {
    with(|world: &mut World| {
        world.scripts.pause();
        world.menu = Some(Menu { chosen: 0 });
    });
    let item = choose(keys).await;
    with(|world: &mut World| {
        world.menu = None;
        world.scripts.resume();
        match item {
            1 => world.restart.emit(()),
            2 => world.is_over = true,
            _ => {}
        }
    });
}

async fn choose(keys: &mut Subscription<Key>) -> usize {
    let mut chosen = 0;
    while let Some(key) = keys.next().await {
        match key {
            Key::Enter => return chosen,
            Key::Escape => break,
            Key::Up => chosen = chosen.saturating_sub(1),
            Key::Down => chosen = (chosen + 1).min(ITEMS.len() - 1),
            _ => {}
        }
        with(|world: &mut World| world.menu = Some(Menu { chosen }));
    }
    0
}
