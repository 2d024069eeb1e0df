//! Five scripts with one fault each. Do not read on if you want to find them with the
//! panel.

use std::cell::Cell;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::rc::Rc;
use std::time::{Duration, Instant};

use framestep::prelude::*;

use super::Scene;

pub(super) fn begin(scene: &mut Scene) {
    let (opened, open) = (
        Signal::<()>::new().named("gate opened"),
        Signal::<()>::new().named("gate open"),
    );
    let castle = scene.owner("castle".into());
    castle
        .script("gatekeeper")
        .start(async move { opened.wait().await });
    castle.script("winch").start(async move {
        loop {
            wait_seconds(3).await;
            open.emit(());
        }
    });
    let guard = castle.script("guard").start(async {
        loop {
            wait_seconds(2).await;
        }
    });
    castle.script("cutscene").start(async move {
        wait_seconds(1).await;
        guard.pause();
        wait_seconds(1).await;
    });
    let tower = scene.owner("towers".into());
    let cell = Rc::new(Cell::new(None::<Coroutine<()>>));
    let other = Rc::clone(&cell);
    let north = tower.script("north").spawn(async move {
        wait_seconds(1).await;
        if let Some(south) = other.take() {
            drop(south.await);
        }
    });
    let south = tower.script("south").spawn(async move {
        wait_seconds(2).await;
        drop(north.await);
    });
    cell.set(Some(south));
    scene.executor.script("loot").start(async {
        loop {
            wait_frames(90).await;
            let began = Instant::now();
            while began.elapsed() < Duration::from_millis(12) {}
        }
    });
    scene.executor.script("weather").start(async {
        loop {
            let chance = RandomState::new().hash_one(0) % 60;
            wait_frames(60 + chance).await;
        }
    });
}
