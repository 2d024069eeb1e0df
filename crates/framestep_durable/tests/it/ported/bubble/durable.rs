use framestep_durable::prelude::*;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct World {
    hero: f32,
    enemy: f32,
}

#[durable]
async fn bubble(enemy_time: ClockId) {
    let _slow = enemy_time.scaled(0.5);
    wait_seconds(1).await; // a second of the hero's time
}

#[derive(Serialize, Deserialize)]
enum Walker {
    Hero,
    Enemy,
}

#[durable]
async fn walk(walker: Walker) {
    loop {
        next_frame().await;
        with(|world: &mut World| match walker {
            Walker::Hero => world.hero += delta_seconds(),
            Walker::Enemy => world.enemy += delta_seconds(),
        });
    }
}

// The host.

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stage {
    world: World,
    enemies: Option<OwnerId>,
}

pub(crate) fn blank() -> Runtime {
    Runtime::new(Registry::new().with::<Bubble>().with::<Walk>())
}

pub(crate) fn begin(runtime: &mut Runtime, stage: &mut Stage) {
    let enemy_time = runtime.child_clock(ClockId::GAME);
    let enemies = runtime.owner_on(enemy_time);
    stage.enemies = Some(enemies);
    runtime.spawn_on(enemies, walk(Walker::Enemy));
    runtime.spawn(walk(Walker::Hero)).detach();
    runtime.spawn(bubble(enemy_time)).detach();
}

pub(crate) fn frame(frame: u32, runtime: &mut Runtime, stage: &mut Stage) {
    runtime.run_frame_with(&mut stage.world, 0.25);
    if frame == 12 {
        runtime.drop_owner(stage.enemies.unwrap());
    }
}

pub(crate) fn shown(Stage { world, .. }: &Stage) -> String {
    format!("{} {}", world.hero, world.enemy)
}
