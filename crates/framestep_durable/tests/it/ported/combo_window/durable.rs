use framestep_durable::prelude::*;

const BLOWS: [&str; 3] = ["jab", "cross", "uppercut"];

const ATTACK: Signal<()> = Signal::new("attack");

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct World {
    blows: Vec<(u64, &'static str)>,
}

#[durable]
async fn combo() {
    let attack = ATTACK;
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

pub(crate) fn blank() -> Runtime {
    Runtime::new(Registry::new().with::<Combo>())
}

pub(crate) fn begin(runtime: &mut Runtime, _: &mut World) {
    runtime.spawn(combo()).detach();
}

pub(crate) fn frame(frame: u32, runtime: &mut Runtime, world: &mut World) {
    if [2, 4, 5, 8, 11].contains(&frame) {
        runtime.emit(&ATTACK, ());
    }
    runtime.run_frame_with(world, 0.25);
}

pub(crate) fn shown(world: &World) -> String {
    format!("{:?}", world.blows)
}
