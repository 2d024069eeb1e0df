//! A world that the host owns, and lends to the scripts while a frame runs.

use framestep::prelude::*;

struct World {
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

fn main() {
    let mut world = World {
        gold: 0,
        door_open: false,
        guard_at: 0,
    };
    let mut executor = Executor::builder().max_delta(1).build();
    executor.spawn(miner());
    executor.spawn(merchant());
    for _ in 0..16 {
        // The host's own update. No script is running, so the world is not
        // borrowed.
        world.guard_at = (world.guard_at + 1) % 4;
        executor.lend(&mut world, |executor| executor.run_frame(0.5));
    }
    println!("in the end there are {} left", world.gold);
}
