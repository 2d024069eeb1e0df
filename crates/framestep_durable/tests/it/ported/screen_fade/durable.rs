use framestep_durable::prelude::*;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct World {
    light: f32,
    room: String,
}

#[durable]
async fn go_to(room: String) {
    let _fade = defer(|world: &mut World| world.light = 1.0);
    animate(0.5, |t| with(|world: &mut World| world.light = 1.0 - t)).await;
    with(|world: &mut World| world.room = room);
    animate(0.5, |t| with(|world: &mut World| world.light = t)).await;
}

// The host.

pub(crate) fn blank() -> Runtime {
    Runtime::new(Registry::new().with::<GoTo>())
}

pub(crate) fn begin(runtime: &mut Runtime, world: &mut World) {
    *world = World {
        light: 1.0,
        room: "hall".into(),
    };
    runtime.spawn(go_to("cellar".into())).detach();
}

pub(crate) fn frame(frame: u32, runtime: &mut Runtime, world: &mut World) {
    if frame == 6 {
        runtime.spawn(go_to("attic".into())).detach();
    }
    runtime.run_frame_with(world, 0.25);
}

pub(crate) fn shown(world: &World) -> String {
    format!("{} {}", world.light, world.room)
}
