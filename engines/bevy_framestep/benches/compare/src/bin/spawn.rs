//! Spawns entities with a script and despawns them again, for a tool that counts instructions:
//!
//! `valgrind --tool=callgrind target/release/spawn WAY COUNT`
//!
//! Two counts give two numbers, and their difference is what the entities took.

use std::env;
use std::process::ExitCode;
use std::time::Duration;

use bevy::prelude::*;
use bevy::time::{TimePlugin, TimeUpdateStrategy};
use bevy_framestep::prelude::*;

#[derive(Component)]
struct Position;

async fn idle(_: Entity) {
    loop {
        next_frame().await;
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let (Some(way), Some(Ok(count))) = (args.first(), args.get(1).map(|count| count.parse()))
    else {
        eprintln!("usage: spawn plain|world|bundle|commands COUNT");
        return ExitCode::FAILURE;
    };
    let mut app = App::new();
    app.add_plugins((TimePlugin, FramestepPlugin::default()));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(16)));
    app.update();
    let world = app.world_mut();
    for _ in 0..count {
        let entities: [Entity; 100] = std::array::from_fn(|_| match way.as_str() {
            "plain" => world.spawn(Position).id(),
            "world" => {
                let mut entity = world.spawn(Position);
                entity.start_script(idle);
                entity.id()
            }
            "bundle" => {
                let entity = world.spawn((Position, Scripts::of(idle))).id();
                world.flush();
                entity
            }
            _ => {
                let mut commands = world.commands();
                let entity = commands.spawn(Position).start_script(idle).id();
                world.flush();
                entity
            }
        });
        for entity in entities {
            world.despawn(entity);
        }
    }
    ExitCode::SUCCESS
}
