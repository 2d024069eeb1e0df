use framestep::prelude::*;

#[derive(Default)]
pub(crate) struct World {
    light: f32,
    room: &'static str,
}

async fn go_to(room: &'static str) {
    let _fade = defer(|world: &mut World| world.light = 1.0);
    animate(0.5, |t| with(|world: &mut World| world.light = 1.0 - t)).await;
    with(|world: &mut World| world.room = room);
    animate(0.5, |t| with(|world: &mut World| world.light = t)).await;
}

// The host.

pub(crate) fn begin(world: &mut World) -> Executor {
    *world = World {
        light: 1.0,
        room: "hall",
    };
    let executor = Executor::new();
    executor.spawn(go_to("cellar"));
    executor
}

pub(crate) fn frame(frame: u32, executor: &mut Executor, world: &mut World) {
    if frame == 6 {
        executor.spawn(go_to("attic"));
    }
    executor.run_frame_with(world, 0.25);
}

pub(crate) fn shown(world: &World) -> String {
    format!("{} {}", world.light, world.room)
}
