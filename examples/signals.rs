//! `Signal` and `Watch`: hits, an alarm that wakes every guard, and health that a healer watches.

use framestep::prelude::*;

fn say(text: &str) {
    println!("frame {:2}: {text}", time().frame);
}

/// Takes half a second for each hit, and misses none.
async fn hero(hits: Signal<i32>, health: Watch<i32>) {
    let mut hits = hits.subscribe();
    while let Some(damage) = hits.next().await {
        health.update(|health| *health -= damage);
        say(&format!("a hit of {damage}: {} left", health.get()));
        wait_seconds(0.5).await; // staggers; during this, more hits may follow
    }
}

/// Comes when the health is low; at once, if it already is.
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

/// Waits only for the next event.
async fn guard(name: &'static str, alarm: Signal<()>) {
    alarm.wait().await;
    say(&format!("{name} wakes up"));
}

async fn referee(health: Watch<i32>, alarm: Signal<()>) {
    let mut alarms = alarm.subscribe();
    let mut death = health.wait_for(|&health| health <= 0);
    loop {
        select! {
            _ = &mut death => return say("the hero is dead"),
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
