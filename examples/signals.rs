//! `Signal` and `Watch`: hits, a hero who counts all of them, an alarm that wakes every
//! guard, and health that others watch.

use framestep::prelude::*;

fn say(text: &str) {
    println!("frame {:2}: {text}", time().frame);
}

/// Takes its time over every hit, and misses none.
async fn hero(hits: Signal<i32>, health: Watch<i32>) {
    let mut hits = hits.subscribe();
    while let Some(damage) = hits.next().await {
        health.update(|health| *health -= damage);
        say(&format!("a hit of {damage}: {} left", health.get()));
        wait_seconds(0.5).await; // staggers; hits go on meanwhile
    }
}

/// Comes when the hero needs it; at once, if that is the case already.
async fn healer(health: Watch<i32>) {
    health.wait_for(|&health| health < 5).await;
    say("the healer comes, and is too late");
}

async fn monster(hits: Signal<i32>) {
    let mut bites = interval(0.25);
    for damage in [3, 1, 4, 1, 5] {
        bites.tick().await;
        say("the monster bites");
        hits.emit(damage);
    }
}

/// Waits for the next event alone.
async fn guard(name: &'static str, alarm: Signal<()>) {
    alarm.wait().await;
    say(&format!("{name} wakes up"));
}

async fn referee(health: Watch<i32>, alarm: Signal<()>) {
    let mut alarms = alarm.subscribe();
    let mut death = health.wait_for(|&health| health <= 0);
    loop {
        select! {
            () = &mut death => return say("the hero is dead"),
            Some(()) = alarms.next() => say("there is an alarm"),
        }
    }
}

fn main() {
    let mut executor = Executor::new();
    let (hits, alarm) = (Signal::new(), Signal::new());
    let health = Watch::new(10);
    for name in ["the first guard", "the second guard"] {
        executor.start(guard(name, alarm.clone()));
    }
    executor.start(hero(hits.clone(), health.clone()));
    executor.start(healer(health.clone()));
    let end = executor.start(referee(health, alarm.clone()));
    executor.start(monster(hits));
    executor.run_frame(0.25);
    println!("the host rings the alarm");
    alarm.emit(());
    executor
        .run_until(end, 0.25)
        .expect("nobody stops the referee");
}
