use framestep::prelude::*;

#[derive(Default)]
pub(crate) struct World {
    skip: Signal<()>,
    has_bars: bool,
    camera: f32,
}

async fn cutscene() {
    let skip = with_ref(|world: &World| world.skip.clone());
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

pub(crate) fn begin(_: &mut World) -> Executor {
    let executor = Executor::new();
    executor.spawn(cutscene());
    executor
}

pub(crate) fn frame(frame: u32, executor: &mut Executor, world: &mut World) {
    if frame == 6 {
        world.skip.emit(());
    }
    executor.run_frame_with(world, 0.25);
}

pub(crate) fn shown(world: &World) -> String {
    format!("{} {}", world.has_bars, world.camera)
}
