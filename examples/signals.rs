//! `Signal`: hits, a health bar that counts all of them, and an alarm that wakes every guard.

use framestep::prelude::*;
use futures::StreamExt;

fn say(text: &str) {
    println!("frame {:2}: {text}", time().frame);
}

/// Takes its time over every hit, and misses none.
async fn health(hits: Signal<i32>, died: Signal<&'static str>) {
    let mut hits = hits.subscribe();
    let mut health = 10;
    while let Some(damage) = hits.next().await {
        health -= damage;
        say(&format!("a hit of {damage}: {health} left"));
        if health <= 0 {
            died.emit("the hero");
            return;
        }
        wait_seconds(0.5).await; // staggers; hits go on meanwhile
    }
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

async fn referee(died: Signal<&'static str>, alarm: Signal<()>) {
    let mut alarms = alarm.subscribe();
    let mut deaths = died.subscribe();
    loop {
        select! {
            Some(who) = deaths.next() => return say(&format!("{who} is dead")),
            Some(()) = alarms.next() => say("there is an alarm"),
            else => return,
        }
    }
}

fn main() {
    let mut executor = Executor::new();
    let (hits, died, alarm) = (Signal::new(), Signal::new(), Signal::new());
    for name in ["the first guard", "the second guard"] {
        executor.start(guard(name, alarm.clone()));
    }
    executor.start(health(hits.clone(), died.clone()));
    let end = executor.start(referee(died, alarm.clone()));
    executor.start(monster(hits));
    executor.run_frame(0.25);
    println!("the host rings the alarm");
    alarm.emit(());
    executor
        .run_until(end, 0.25)
        .expect("nobody stops the referee");
}
