use framestep_durable::prelude::*;

const HEALTH: Value<u32> = Value::new("health");

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct World {
    log: Vec<(u64, &'static str)>,
}

fn log(text: &'static str) {
    with(|world: &mut World| world.log.push((time().frame, text)));
}

#[durable]
async fn boss() {
    let health = HEALTH;
    select! {
        _ = health.wait_for(|&left| left == 0) => log("fall"),
        () = fight(&health) => {}
    }
}

async fn fight(health: &Value<u32>) {
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

pub(crate) fn blank() -> Runtime {
    Runtime::new(Registry::new().with::<Boss>())
}

pub(crate) fn begin(runtime: &mut Runtime, _: &mut World) {
    runtime.set(&HEALTH, 12);
    runtime.spawn(boss()).detach();
}

pub(crate) fn frame(frame: u32, runtime: &mut Runtime, world: &mut World) {
    if [7, 14].contains(&frame) {
        let left = runtime.get(&HEALTH);
        runtime.set(&HEALTH, left - 6);
    }
    runtime.run_frame_with(world, 0.25);
}

pub(crate) fn shown(world: &World) -> String {
    format!("{:?}", world.log)
}
