//! Spawns entities with a script and despawns them again, for a tool that counts instructions:
//!
//! `valgrind --tool=callgrind target/compare/spawn WAY COUNT`
//!
//! The difference between a run with COUNT and a run with COUNT + 1 is the cost of 100
//! entities.
//!
//! | way | an entity |
//! |---|---|
//! | `plain` | has no script |
//! | `component` | has none, but gets a component with as many hooks as `Scripts` |
//! | `core` | has none; separately, framestep starts a script on an owner and drops the owner |
//! | `world`, `bundle`, `commands` | has a script that is started this way |

use std::env;
use std::process::ExitCode;
use std::time::Duration;

use bevy::ecs::lifecycle::HookContext;
use bevy::ecs::world::DeferredWorld;
use bevy::prelude::*;
use bevy::time::{TimePlugin, TimeUpdateStrategy};
use bevy_framestep::prelude::*;

#[derive(Component)]
struct Position;

/// The cost in Bevy of a component like `Scripts`.
#[derive(Component)]
#[component(storage = "SparseSet", on_insert = hook, on_discard = hook, on_remove = hook)]
struct Hooked([u64; 20]);

fn hook(mut world: DeferredWorld<'_>, context: HookContext) {
    if let Some(mut hooked) = world.get_mut::<Hooked>(context.entity) {
        hooked.bypass_change_detection().0[0] += 1;
    }
}

async fn idle(_: Entity) {
    loop {
        next_frame().await;
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let (Some(way), Some(Ok(count))) = (args.first(), args.get(1).map(|count| count.parse()))
    else {
        eprintln!("usage: spawn plain|component|core|world|bundle|commands COUNT");
        return ExitCode::FAILURE;
    };
    let mut app = App::new();
    app.add_plugins((TimePlugin, FramestepPlugin::default()));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
        16,
    )));
    app.update();
    let world = app.world_mut();
    let handle = world.non_send::<Framestep>().handle().clone();
    let mut owners = Vec::new();
    for _ in 0..count {
        let entities: [Entity; 100] = std::array::from_fn(|_| match way.as_str() {
            "plain" => world.spawn(Position).id(),
            "component" => world.spawn(Position).insert(Hooked([0; 20])).id(),
            "core" => {
                let entity = world.spawn(Position).id();
                let owner = handle.owner().expect("the world holds the executor");
                handle.lend(world, |_| {
                    owner.script("idle").start(idle(entity));
                });
                owners.push(owner.into_send());
                entity
            }
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
            "commands" => {
                let mut commands = world.commands();
                let entity = commands.spawn(Position).start_script(idle).id();
                world.flush();
                entity
            }
            _ => panic!("there is no way {way}"),
        });
        owners.clear();
        for entity in entities {
            world.despawn(entity);
        }
    }
    ExitCode::SUCCESS
}
