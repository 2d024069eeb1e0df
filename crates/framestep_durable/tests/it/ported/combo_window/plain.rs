use framestep::prelude::*;

const BLOWS: [&str; 3] = ["jab", "cross", "uppercut"];

#[derive(Default)]
pub(crate) struct World {
    attack: Signal<()>,
    blows: Vec<(u64, &'static str)>,
}

async fn combo() {
    let attack = with_ref(|world: &World| world.attack.clone());
    loop {
        attack.wait().await;
        strike(BLOWS[0]);
        for blow in &BLOWS[1..] {
            if timeout(0.5, attack.wait()).await.is_err() {
                break;
            }
            strike(blow);
        }
    }
}

fn strike(blow: &'static str) {
    with(|world: &mut World| world.blows.push((time().frame, blow)));
}

// The host.

pub(crate) fn begin(_: &mut World) -> Executor {
    let executor = Executor::new();
    executor.spawn(combo());
    executor
}

pub(crate) fn frame(frame: u32, executor: &mut Executor, world: &mut World) {
    if [2, 4, 5, 8, 11].contains(&frame) {
        world.attack.emit(());
    }
    executor.run_frame_with(world, 0.25);
}

pub(crate) fn shown(world: &World) -> String {
    format!("{:?}", world.blows)
}
