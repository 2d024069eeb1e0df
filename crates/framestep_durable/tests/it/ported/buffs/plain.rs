use framestep::prelude::*;

#[derive(Default)]
pub(crate) struct World {
    potion: Signal<()>,
    is_fast: bool,
}

async fn potions() {
    let potion = with_ref(|world: &World| world.potion.clone());
    loop {
        potion.wait().await;
        with(|world: &mut World| world.is_fast = true);
        let _haste = defer(|world: &mut World| world.is_fast = false);
        while timeout(1, potion.wait()).await.is_ok() {}
    }
}

// The host.

pub(crate) fn begin(_: &mut World) -> Executor {
    let executor = Executor::new();
    executor.spawn(potions());
    executor
}

pub(crate) fn frame(frame: u32, executor: &mut Executor, world: &mut World) {
    if [2, 4, 11].contains(&frame) {
        world.potion.emit(());
    }
    executor.run_frame_with(world, 0.25);
}

pub(crate) fn shown(world: &World) -> String {
    format!("{:?}", world.is_fast)
}
