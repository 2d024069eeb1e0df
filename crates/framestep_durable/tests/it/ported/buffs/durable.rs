use framestep_durable::prelude::*;

const POTION: Signal<()> = Signal::new("potion");

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct World {
    is_fast: bool,
}

#[durable]
async fn potions() {
    let potion = POTION;
    loop {
        potion.wait().await;
        with(|world: &mut World| world.is_fast = true);
        let _haste = defer(|world: &mut World| world.is_fast = false);
        while timeout(1, potion.wait()).await.is_ok() {}
    }
}

// The host.

pub(crate) fn blank() -> Runtime {
    Runtime::new(Registry::new().with::<Potions>())
}

pub(crate) fn begin(runtime: &mut Runtime, _: &mut World) {
    runtime.spawn(potions()).detach();
}

pub(crate) fn frame(frame: u32, runtime: &mut Runtime, world: &mut World) {
    if [2, 4, 11].contains(&frame) {
        runtime.emit(&POTION, ());
    }
    runtime.run_frame_with(world, 0.25);
}

pub(crate) fn shown(world: &World) -> String {
    format!("{:?}", world.is_fast)
}
