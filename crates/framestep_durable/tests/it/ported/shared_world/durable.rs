use framestep_durable::prelude::*;

use crate::ported::harness::note;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct World {
    gold: u32,
    door_open: bool,
    guard_at: u32,
}

fn say(text: &str) {
    note!("frame {:2}: {text}", time().frame);
}

#[durable]
async fn miner() {
    loop {
        wait_seconds(1).await;
        let gold = with(|world: &mut World| {
            world.gold += 10;
            world.gold
        });
        say(&format!("the miner brings 10, that makes {gold}"));
    }
}

#[durable]
async fn merchant() {
    loop {
        wait_until(|| with_ref(|world: &World| world.gold >= 30)).await;
        with(|world: &mut World| {
            world.gold -= 25;
            world.door_open = true;
            say("the merchant takes 25 and leaves the door open");
            start(thief()); // begins after this closure
        });
        wait_seconds(2).await;
        with(|world: &mut World| world.door_open = false);
        say("the merchant comes back and shuts the door");
    }
}

#[durable]
async fn thief() {
    say("a thief sees the door");
    wait_while(|| with_ref(|world: &World| world.guard_at < 2)).await;
    let loot = with(|world: &mut World| {
        if world.door_open {
            std::mem::take(&mut world.gold)
        } else {
            0
        }
    });
    say(&format!("the guard is far away: the thief gets {loot}"));
}

// The host.

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stage {
    world: World,
    log: crate::twin::Log,
}

pub(crate) fn blank() -> Runtime {
    let registry = Registry::new()
        .script(miner)
        .script(merchant)
        .script(thief);
    Runtime::with(framestep::Executor::builder().max_delta(1), registry)
}

pub(crate) fn begin(runtime: &mut Runtime, _: &mut Stage) {
    runtime.spawn(miner()).detach();
    runtime.spawn(merchant()).detach();
}

pub(crate) fn frame(_: u32, runtime: &mut Runtime, stage: &mut Stage) {
    let Stage { world, log } = stage;
    world.guard_at = (world.guard_at + 1) % 4;
    runtime.lend(world, |runtime| runtime.run_frame_with(log, 0.5));
}

pub(crate) fn shown(Stage { world, log }: &Stage) -> String {
    format!("{} {}\n{}", world.gold, world.door_open, log.join("\n"))
}
