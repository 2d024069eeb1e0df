use framestep_durable::prelude::*;

const FIRE: Signal<()> = Signal::new("fire");

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct World {
    seed: u32,
    damage: Vec<(u64, u32)>,
}

#[durable]
async fn gun() {
    let fire = FIRE;
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

pub(crate) fn blank() -> Runtime {
    Runtime::new(Registry::new().with::<Gun>())
}

pub(crate) fn begin(runtime: &mut Runtime, world: &mut World) {
    world.seed = 7;
    runtime.spawn(gun()).detach();
}

pub(crate) fn frame(frame: u32, runtime: &mut Runtime, world: &mut World) {
    if frame % 4 == 0 {
        runtime.emit(&FIRE, ());
    }
    runtime.run_frame_with(world, if frame % 3 == 0 { 0.125 } else { 0.25 });
}

pub(crate) fn shown(world: &World) -> String {
    format!("{:?} {}", world.damage, world.seed)
}
