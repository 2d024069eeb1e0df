//! A crowd of villagers in houses, to fill the list.

use framestep::inspect::describe;
use framestep::prelude::*;

use super::Scene;

/// How many live in a house.
const HOUSE: usize = 25;

pub(super) fn begin(scene: &mut Scene, count: usize) {
    let bell = Signal::<()>::new().named("church bell");
    let ringer = bell.clone();
    if count > 0 {
        scene.executor.script("church").start(async move {
            loop {
                wait_seconds(6).await;
                ringer.emit(());
            }
        });
    }
    let mut left = count.saturating_sub(1);
    for house in 1.. {
        if left == 0 {
            break;
        }
        let here = left.min(HOUSE);
        let owner = scene.owner(format!("house {house}"));
        for at in 0..here {
            let who = house * HOUSE + at;
            match at % 8 {
                0 => owner.script("baker").start(bake(who)),
                1 => owner.script("watchman").start(listen(bell.clone())),
                2 => owner.script("child").start(play(who)),
                3 => owner.script("cat").start(sleep(who)),
                4 => owner.script("smith").start(forge(who)),
                5 => owner.script("weaver").start(weave(who)),
                6 => owner.script("traveller").start(travel(who)),
                _ => owner.script("priest").start(listen(bell.clone())),
            };
        }
        left -= here;
    }
}

fn seconds(who: usize, least: f32, most: f32) -> f32 {
    #[allow(clippy::cast_precision_loss, reason = "below 100")]
    let part = (who * 37 % 100) as f32 / 100.0;
    least + (most - least) * part
}

async fn bake(who: usize) {
    loop {
        describe("kneads");
        wait_seconds(seconds(who, 2.0, 9.0)).await;
        describe("bakes");
        wait_seconds(seconds(who, 5.0, 20.0)).await;
    }
}

async fn listen(bell: Signal<()>) {
    loop {
        bell.wait().await;
        wait_seconds(1).await;
    }
}

async fn play(who: usize) {
    loop {
        wait_frames(20 + who as u64 % 90).await;
    }
}

async fn sleep(who: usize) {
    loop {
        wait_seconds(seconds(who, 20.0, 90.0)).await;
    }
}

async fn forge(who: usize) {
    loop {
        let blade = script("blade").start(wait_seconds(seconds(who, 1.0, 6.0)));
        drop(blade.await);
        wait_frames(30).await;
    }
}

async fn weave(who: usize) {
    loop {
        wait_steps(10 + who as u64 % 70).await;
    }
}

async fn travel(who: usize) {
    wait_seconds(seconds(who, 60.0, 600.0)).await;
}
