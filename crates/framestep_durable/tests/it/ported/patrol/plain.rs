use framestep::prelude::*;

#[derive(Default)]
pub(crate) struct World {
    guard: f32,
}

async fn patrol() {
    for post in [1.0, 0.0].into_iter().cycle() {
        walk_to(post).await;
        wait_steps(4).await; // the guard looks around
    }
}

async fn walk_to(post: f32) {
    while with_ref(|world: &World| world.guard != post) {
        fixed_update().await;
        with(|world: &mut World| {
            let step = 2.0 * delta_seconds();
            world.guard += (post - world.guard).clamp(-step, step);
        });
    }
}

// The host.

pub(crate) fn begin(_: &mut World) -> Executor {
    let executor = Executor::builder().fixed_delta(0.125).build();
    executor
        .script("")
        .in_phase(Phase::FixedUpdate)
        .spawn(patrol());
    executor
}

pub(crate) fn frame(frame: u32, executor: &mut Executor, world: &mut World) {
    let dt = if frame < 7 { 0.25 } else { 0.125 };
    executor.run_frame_with(world, dt);
}

pub(crate) fn shown(world: &World) -> String {
    format!("{:?}", world.guard)
}
