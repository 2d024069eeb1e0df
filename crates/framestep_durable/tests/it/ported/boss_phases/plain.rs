use framestep::prelude::*;

#[derive(Default)]
pub(crate) struct World {
    log: Vec<(u64, &'static str)>,
}

fn log(text: &'static str) {
    with(|world: &mut World| world.log.push((time().frame, text)));
}

async fn boss(health: Watch<u32>) {
    select! {
        _ = health.wait_for(|&left| left == 0) => log("fall"),
        () = fight(&health) => {}
    }
}

async fn fight(health: &Watch<u32>) {
    select! {
        _ = health.wait_for(|&left| left <= 6) => log("roar"),
        () = attack("stomp", 1.0) => {}
    }
    wait_seconds(0.5).await;
    attack("charge", 0.5).await;
}

async fn attack(name: &'static str, seconds: f32) {
    loop {
        wait_seconds(seconds).await;
        log(name);
    }
}

// The host.

thread_local! {
    static HEALTH: Watch<u32> = Watch::new(12);
}

pub(crate) fn begin(_: &mut World) -> Executor {
    let executor = Executor::new();
    executor.spawn(boss(HEALTH.with(Watch::clone)));
    executor
}

pub(crate) fn frame(frame: u32, executor: &mut Executor, world: &mut World) {
    if [7, 14].contains(&frame) {
        HEALTH.with(|health| health.update(|left| *left -= 6));
    }
    executor.run_frame_with(world, 0.25);
}

pub(crate) fn shown(world: &World) -> String {
    format!("{:?}", world.log)
}
