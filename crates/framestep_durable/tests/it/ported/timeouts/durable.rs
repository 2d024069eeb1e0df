use framestep_durable::prelude::*;

use crate::ported::harness::note;

const ARRIVED: Signal<()> = signal("arrived");

fn say(text: &str) {
    note!("frame {:2}: {text}", time().frame);
}

#[durable]
async fn hero(seconds: f32) {
    wait_seconds(seconds).await;
    say("the hero is at the door");
    ARRIVED.emit(());
}

/// Stays open for two seconds, or until the hero is through.
async fn door() {
    say("the door opens");
    match timeout(2, ARRIVED.wait()).await {
        Ok(()) => say("the door lets the hero through"),
        Err(elapsed) => say(&format!("the door falls shut: {elapsed}")),
    }
}

#[durable]
async fn runner(name: String, seconds: f32) -> String {
    wait_seconds(seconds).await;
    name
}

#[durable]
async fn script() {
    for seconds in [1.0, 3.0] {
        start(hero(seconds));
        door().await;
        wait_seconds(2).await;
    }

    // `stop_on_drop` stops the loser.
    let runners = [
        runner("the tortoise".into(), 2.0),
        runner("the hare".into(), 1.0),
    ];
    let runners = runners.map(|runner| start(runner).stop_on_drop());
    if let (lane, Ok(name)) = race(runners).await {
        say(&format!("{name} wins on lane {lane}"));
    }

    let walkers = [runner("fast".into(), 0.5), runner("slow".into(), 1.5)].map(start);
    let arrived = join_all(walkers).await;
    say(&format!("all {} have arrived", arrived.len()));
}

// The host.

pub(crate) use crate::twin::Log as World;

pub(crate) fn blank() -> Runtime {
    Runtime::new(
        Registry::new()
            .script(hero)
            .script(runner)
            .script(script),
    )
}

pub(crate) fn begin(runtime: &mut Runtime, _: &mut World) {
    runtime.spawn(script()).detach();
}

pub(crate) fn frame(_: u32, runtime: &mut Runtime, world: &mut World) {
    runtime.run_frame_with(world, 0.25);
}

pub(crate) use crate::ported::harness::lines as shown;
