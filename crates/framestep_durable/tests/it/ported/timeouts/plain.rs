use framestep::prelude::*;

fn say(text: &str) {
    println!("frame {:2}: {text}", time().frame);
}

async fn hero(seconds: f32, arrived: Signal<()>) {
    wait_seconds(seconds).await;
    say("the hero is at the door");
    arrived.emit(());
}

/// Stays open for two seconds, or until the hero is through.
async fn door(arrived: Signal<()>) {
    say("the door opens");
    match timeout(2, arrived.wait()).await {
        Ok(()) => say("the door lets the hero through"),
        Err(elapsed) => say(&format!("the door falls shut: {elapsed}")),
    }
}

async fn runner(name: &'static str, seconds: f32) -> &'static str {
    wait_seconds(seconds).await;
    name
}

async fn script() {
    for seconds in [1.0, 3.0] {
        let arrived = Signal::new();
        start(hero(seconds, arrived.clone()));
        door(arrived).await;
        wait_seconds(2).await;
    }

    // `stop_on_drop` stops the loser.
    let runners = [runner("the tortoise", 2.0), runner("the hare", 1.0)];
    let runners = runners.map(|runner| start(runner).stop_on_drop());
    if let (lane, Ok(name)) = race(runners).await {
        say(&format!("{name} wins on lane {lane}"));
    }

    let walkers = [runner("fast", 0.5), runner("slow", 1.5)].map(start);
    let arrived = join_all(walkers).await;
    say(&format!("all {} have arrived", arrived.len()));
}

// The host.

pub(crate) type World = ();

pub(crate) fn begin((): &mut World) -> Executor {
    let executor = Executor::new();
    executor.spawn(script());
    executor
}

pub(crate) fn frame(_: u32, executor: &mut Executor, (): &mut World) {
    executor.run_frame(0.25);
}

pub(crate) use crate::ported::harness::printed as shown;
