use framestep_durable::prelude::*;
use std::collections::VecDeque;

const CHOICE: Signal<usize> = signal("choice");

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct World {
    health: [u32; 3], // the hero is number 0
    log: Vec<(u64, &'static str)>,
}

fn is_alive(fighter: usize) -> bool {
    with_ref(|world: &World| world.health.get(fighter).is_some_and(|&health| health > 0))
}

#[durable]
async fn battle() {
    let mut queue = VecDeque::from([0, 1, 2]);
    while queue.len() > 1 && queue.contains(&0) {
        match queue[0] {
            0 => hero_turn().await,
            _ => hit(0, "goblin hits").await,
        }
        queue.rotate_left(1);
        queue.retain(|&fighter| is_alive(fighter));
    }
}

async fn hero_turn() {
    let is_goblin = |&target: &usize| target != 0 && is_alive(target);
    let choice = CHOICE.wait_for(is_goblin);
    if let Ok(target) = timeout(1, choice).await {
        hit(target, "hero hits").await;
    }
}

async fn hit(target: usize, text: &'static str) {
    wait_seconds(0.5).await; // the animation
    with(|world: &mut World| {
        world.health[target] = world.health[target].saturating_sub(5);
        world.log.push((time().frame, text));
    });
}

// The host.

const CHOICES: [usize; 15] = [0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 1, 0, 0];

pub(crate) fn blank() -> Runtime {
    Runtime::new(Registry::new().script(battle))
}

pub(crate) fn begin(runtime: &mut Runtime, world: &mut World) {
    world.health = [20, 5, 5];
    runtime.spawn(battle()).detach();
}

pub(crate) fn frame(frame: u32, runtime: &mut Runtime, world: &mut World) {
    runtime.named(&CHOICE).emit(CHOICES[frame as usize - 1]);
    runtime.run_frame_with(world, 0.25);
}

pub(crate) fn shown(world: &World) -> String {
    format!("{:?} {:?}", world.health, world.log)
}
