use framestep::prelude::*;

#[derive(Default)]
pub(crate) struct World {
    gold: u32,
    door_open: bool,
    guard_at: u32,
}

fn say(text: &str) {
    println!("frame {:2}: {text}", time().frame);
}

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

pub(crate) fn begin(_: &mut World) -> Executor {
    let executor = Executor::builder().max_delta(1).build();
    executor.spawn(miner());
    executor.spawn(merchant());
    executor
}

pub(crate) fn frame(_: u32, executor: &mut Executor, world: &mut World) {
    world.guard_at = (world.guard_at + 1) % 4;
    executor.run_frame_with(world, 0.5);
}

pub(crate) fn shown(world: &World) -> String {
    let printed = crate::ported::harness::printed(&());
    format!("{} {}\n{printed}", world.gold, world.door_open)
}
