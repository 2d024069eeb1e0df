use framestep::prelude::*;

#[derive(Default)]
pub(crate) struct World {
    dash_pressed: bool,
    dashes: Vec<u64>,
}

async fn dashes() {
    loop {
        while !with_ref(|world: &World| world.dash_pressed) {
            next_frame().await;
        }
        join!(dash(), wait_seconds(1));
    }
}

async fn dash() {
    with(|world: &mut World| world.dashes.push(time().frame));
    wait_seconds(0.25).await; // the hero moves
}

// The host.

pub(crate) fn begin(_: &mut World) -> Executor {
    let executor = Executor::new();
    executor.spawn(dashes());
    executor
}

pub(crate) fn frame(frame: u32, executor: &mut Executor, world: &mut World) {
    world.dash_pressed = matches!(frame, 2..=8 | 11);
    executor.run_frame_with(world, 0.25);
}

pub(crate) fn shown(world: &World) -> String {
    format!("{:?}", world.dashes)
}
