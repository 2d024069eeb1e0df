use framestep_durable::prelude::*;

use crate::ported::harness::note;

const ARRIVED: Signal<()> = Signal::new("arrived");

fn say(text: &str) {
    note!("frame {:2}: {text}", time().frame);
}

#[durable]
async fn hero(seconds: f32) {
    wait_seconds(seconds).await;
    say("the hero is at the door");
    ARRIVED.emit(&());
}

/// Stays open for two seconds, or until the hero is through.
async fn door() {
    say("the door opens");
    match timeout(2, ARRIVED.wait()).await {
        Ok(()) => say("the door lets the hero through"),
        Err(elapsed) => say(&format!("the door falls shut: {elapsed}")),
    }
}

/// Without a `start`, the race drops the loser.
async fn runner(name: &'static str, seconds: f32) -> &'static str {
    wait_seconds(seconds).await;
    name
}

#[durable]
async fn script() {
    for seconds in [1.0, 3.0] {
        start(hero(seconds)).detach();
        door().await;
        wait_seconds(2).await;
    }

    let runners = [runner("the tortoise", 2.0), runner("the hare", 1.0)];
    let (lane, name) = race(runners).await;
    say(&format!("{name} wins on lane {lane}"));

    let walkers = [runner("fast", 0.5), runner("slow", 1.5)];
    let arrived = join_all(walkers).await;
    say(&format!("all {} have arrived", arrived.len()));
}

// The host.

pub(crate) use crate::twin::Log as World;

pub(crate) fn blank() -> Runtime {
    Runtime::new(Registry::new().with::<Hero>().with::<Script>())
}

pub(crate) fn begin(runtime: &mut Runtime, _: &mut World) {
    runtime.spawn(script()).detach();
}

pub(crate) fn frame(_: u32, runtime: &mut Runtime, world: &mut World) {
    runtime.run_frame_with(world, 0.25);
}

pub(crate) use crate::ported::harness::lines as shown;
