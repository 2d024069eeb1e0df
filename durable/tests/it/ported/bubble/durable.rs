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
        let step = delta_seconds();
        with(|world: &mut World| match walker {
            Walker::Hero => world.hero += step,
            Walker::Enemy => world.enemy += step,
        });
    }
}

// The host.

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stage {
    world: World,
    enemies: Option<OwnerId>,
}

/// A host cannot spawn a script on an owner, but a script can.
#[durable]
async fn first(enemies: OwnerId) {
    spawn_on(enemies, walk(Walker::Enemy)).detach();
}

pub(crate) fn blank() -> Runtime {
    Runtime::new(
        Registry::new()
            .with::<Bubble>()
            .with::<Walk>()
            .with::<First>(),
    )
}

pub(crate) fn begin(runtime: &mut Runtime, stage: &mut Stage) {
    let enemy_time = runtime.child_clock(ClockId::GAME);
    let enemies = runtime.owner_on(enemy_time);
    stage.enemies = Some(enemies);
    runtime.start(first(enemies)).detach();
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
