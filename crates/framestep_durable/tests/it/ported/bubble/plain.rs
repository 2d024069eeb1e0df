use framestep::prelude::*;

#[derive(Default)]
pub(crate) struct World {
    hero: f32,
    enemy: f32,
}

async fn bubble(enemy_time: Clock) {
    let _slow = enemy_time.scaled(0.5);
    wait_seconds(1).await; // a second of the hero's time
}

async fn walk(step: fn(&mut World, f32)) {
    loop {
        next_frame().await;
        with(|world: &mut World| step(world, delta_seconds()));
    }
}

// The host.

thread_local! {
    static ENEMIES: std::cell::RefCell<Option<Owner>> = const { std::cell::RefCell::new(None) };
}

pub(crate) fn begin(_: &mut World) -> Executor {
    let executor = Executor::new();
    let enemy_time = executor.clock().child();
    let enemies = executor.owner_on(&enemy_time);
    enemies.spawn(walk(|world, step| world.enemy += step));
    ENEMIES.set(Some(enemies));
    executor.spawn(walk(|world, step| world.hero += step));
    executor.spawn(bubble(enemy_time));
    executor
}

pub(crate) fn frame(frame: u32, executor: &mut Executor, world: &mut World) {
    executor.run_frame_with(world, 0.25);
    if frame == 12 {
        ENEMIES.take();
    }
}

pub(crate) fn shown(world: &World) -> String {
    format!("{} {}", world.hero, world.enemy)
}
