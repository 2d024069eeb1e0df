use framestep_durable::prelude::*;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct World {
    dash_pressed: bool,
    dashes: Vec<u64>,
}

#[durable]
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

pub(crate) fn blank() -> Runtime {
    Runtime::new(Registry::new().with::<Dashes>())
}

pub(crate) fn begin(runtime: &mut Runtime, _: &mut World) {
    runtime.spawn(dashes()).detach();
}

pub(crate) fn frame(frame: u32, runtime: &mut Runtime, world: &mut World) {
    world.dash_pressed = matches!(frame, 2..=8 | 11);
    runtime.run_frame_with(world, 0.25);
}

pub(crate) fn shown(world: &World) -> String {
    format!("{:?}", world.dashes)
}
