use framestep_durable::prelude::*;

const SKIP: Signal<()> = Signal::new("skip");

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct World {
    has_bars: bool,
    camera: f32,
}

#[durable]
async fn cutscene() {
    let skip = SKIP;
    with(|world: &mut World| world.has_bars = true);
    let _bars = defer(|world: &mut World| world.has_bars = false);
    select! {
        () = skip.wait() => {}
        () = scenes() => {}
    }
    with(|world: &mut World| world.camera = 1.0);
}

async fn scenes() {
    wait_seconds(0.5).await; // "It has been quiet at the mill."
    let pan = animate(1, |t| with(|world: &mut World| world.camera = t));
    join!(pan, wait_seconds(2)); // "Too quiet."
}

// The host.

pub(crate) fn blank() -> Runtime {
    Runtime::new(Registry::new().with::<Cutscene>())
}

pub(crate) fn begin(runtime: &mut Runtime, _: &mut World) {
    runtime.spawn(cutscene()).detach();
}

pub(crate) fn frame(frame: u32, runtime: &mut Runtime, world: &mut World) {
    if frame == 6 {
        runtime.emit(&SKIP, ());
    }
    runtime.run_frame_with(world, 0.25);
}

pub(crate) fn shown(world: &World) -> String {
    format!("{} {}", world.has_bars, world.camera)
}
