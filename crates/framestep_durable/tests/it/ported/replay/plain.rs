use framestep::prelude::*;

#[derive(Default)]
pub(crate) struct World {
    fire: Signal<()>,
    seed: u32,
    damage: Vec<(u64, u32)>,
}

async fn gun() {
    let fire = with_ref(|world: &World| world.fire.clone());
    loop {
        fire.wait().await;
        wait_seconds(0.5).await; // until the shot hits
        with(|world: &mut World| {
            world.seed = world
                .seed
                .wrapping_mul(1_664_525)
                .wrapping_add(1_013_904_223);
            world.damage.push((time().frame, world.seed % 100));
        });
    }
}

// The host.

pub(crate) fn begin(world: &mut World) -> Executor {
    world.seed = 7;
    let executor = Executor::new();
    executor.spawn(gun());
    executor
}

pub(crate) fn frame(frame: u32, executor: &mut Executor, world: &mut World) {
    if frame % 4 == 0 {
        world.fire.emit(());
    }
    executor.run_frame_with(world, if frame % 3 == 0 { 0.125 } else { 0.25 });
}

pub(crate) fn shown(world: &World) -> String {
    format!("{:?} {}", world.damage, world.seed)
}
