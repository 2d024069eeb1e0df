//! Durable scripts on entities, saved with the world and loaded in another app.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    clippy::unsafe_derive_deserialize,
    reason = "small numbers, and times that are exact; and the macros of framestep pin with `pin!`"
)]

mod entities;
mod files;
mod hearing;
mod names;
mod phases;
mod random;
mod reloading;
mod rolling_back;
mod saving;
#[cfg(feature = "state")]
mod states;
mod unrecorded;
mod whole;

use std::time::Duration;

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_framestep::durable::{self, prelude::*};
use bevy_time::{Fixed, Time, TimePlugin, TimeUpdateStrategy};

/// What happened, in order.
#[derive(Resource, Clone, Default, Serialize, Deserialize)]
struct Log(Vec<String>);

#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[require(Durable)]
struct Health(i32);

/// The goblin that another goblin follows.
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Follows(DurableId);

/// From a durable script.
#[track_caller]
fn log(line: impl Into<String>) {
    let line: String = line.into();
    with(|world: &mut World| {
        world.resource_mut::<Log>().0.push(line);
    });
}

/// Takes a point of health every half second, as long as the goblin exists.
#[derive(Serialize, Deserialize)]
struct Poison(DurableId);

impl DurableScript for Poison {
    const NAME: &'static str = "poison";
    type Output = ();

    async fn run(self) -> Chapter<Self> {
        wait_seconds(0.5).await;
        let left = self.0.get_mut(|health: &mut Health| {
            health.0 -= 1;
            health.0
        });
        match left {
            Ok(left) => {
                log(format!("{} has {left} in frame {}", self.0, time().frame));
                Chapter::Next(self)
            }
            Err(missing) => {
                log(missing.to_string());
                Chapter::Done(())
            }
        }
    }
}

/// An app in which each update takes a quarter of a second, and a fixed step an eighth, after
/// the first update, which takes no time.
fn app(registry: Registry) -> App {
    let mut app = App::new();
    app.add_plugins((TimePlugin, DurableScriptsPlugin::new(registry)));
    app.insert_resource(Time::<Fixed>::from_seconds(0.125));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
        250,
    )));
    app.init_resource::<Log>();
    app.save_component::<Health>("health");
    app.save_component::<Follows>("follows");
    app.save_resource::<Log>("log");
    app.update();
    app
}

fn registry() -> Registry {
    Registry::new().with::<Poison>()
}

fn lines(app: &App) -> Vec<String> {
    app.world().resource::<Log>().0.clone()
}

/// What was logged since the last call.
fn take_log(app: &mut App) -> Vec<String> {
    std::mem::take(&mut app.world_mut().resource_mut::<Log>().0)
}

/// How many durable scripts are alive.
fn alive(app: &App) -> usize {
    let runtime = app.world().non_send::<DurableRuntime>();
    runtime.host().scripts().len()
}

fn id(app: &App, entity: Entity) -> DurableId {
    app.world().get::<Durable>(entity).unwrap().id()
}

fn health(app: &App, id: DurableId) -> i32 {
    let entity = id.find(app.world()).unwrap();
    app.world().get::<Health>(entity).unwrap().0
}

fn saved(app: &mut App) -> Vec<u8> {
    durable::save(app.world_mut()).unwrap().to_bytes()
}

#[track_caller]
fn load(app: &mut App, file: &[u8]) {
    let save = Save::from_bytes(file).unwrap();
    durable::load(app.world_mut(), &save, Policy::Fail).unwrap();
}

fn only<C: Component>(app: &mut App) -> Entity {
    let mut query = app.world_mut().query_filtered::<Entity, With<C>>();
    query.single(app.world()).unwrap()
}
