//! A small siege that is saved halfway through, and continues in another app:
//! `cargo run --example durable --features durable`.

use std::time::Duration;

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_framestep::durable::{self, prelude::*};
use bevy_time::{Time, TimePlugin, TimeUpdateStrategy};

#[derive(Component, Serialize, Deserialize)]
#[require(Durable)]
struct Tower {
    arrows: u32,
}

#[derive(Component, Serialize, Deserialize)]
#[require(Durable)]
struct Orc {
    health: i32,
    distance: u32,
}

/// Blown by a system when the tower is out of arrows.
const HORN: Signal<()> = signal("horn");

fn say(line: impl Into<String>) {
    let line = line.into();
    with(|world: &mut World| {
        let seconds = world.resource::<Time>().elapsed_secs();
        println!("{seconds:5.2} s  {line}");
    });
}

/// Walks up to the gate, one step every half second.
#[durable]
async fn march(orc: DurableId) -> Chapter {
    wait_seconds(0.5).await;
    let distance = orc.get_mut(|orc: &mut Orc| {
        orc.distance -= 1;
        orc.distance
    });
    match distance {
        Ok(0) => {
            say(format!("orc {orc} is at the gate"));
            Chapter::Done(())
        }
        Ok(_) => Chapter::Next(march(orc)),
        Err(missing) => {
            say(missing.to_string());
            Chapter::Done(())
        }
    }
}

/// Shoots at the closest orc.
#[durable]
async fn shoot(tower: DurableId) -> Chapter {
    let Ok(true) = tower.get(|tower: &Tower| tower.arrows > 0) else {
        return Chapter::Done(());
    };
    // It draws the bow: a save can happen in the middle of this.
    wait_seconds(0.7).await;
    let target = with(|world: &mut World| {
        let mut orcs = world.query::<(&Durable, &Orc)>();
        let closest = orcs.iter(world).min_by_key(|(_, orc)| orc.distance);
        closest.map(|(orc, _)| orc.id())
    });
    let Some(target) = target else {
        say("no orc is left");
        return Chapter::Done(());
    };
    let arrows = tower.get_mut(|tower: &mut Tower| {
        tower.arrows -= 1;
        tower.arrows
    });
    let health = target.get_mut(|orc: &mut Orc| {
        orc.health -= 40;
        orc.health
    });
    say(format!("an arrow at orc {target}, {arrows:?} left"));
    if health.is_ok_and(|health| health <= 0) {
        say(format!("orc {target} falls"));
        target.despawn().ok(); // its march ends
    }
    Chapter::Next(shoot(tower))
}

/// Refills the tower when the horn is blown.
#[durable]
async fn supply(tower: DurableId) -> Chapter {
    HORN.wait().await;
    say("the horn: arrows are on their way");
    wait_seconds(1).await;
    if tower.get_mut(|tower: &mut Tower| tower.arrows += 3).is_ok() {
        tower.start(shoot(tower)).ok();
    }
    Chapter::Next(supply(tower))
}

fn blow_the_horn(towers: Query<&Tower, Changed<Tower>>, scripts: NonSend<DurableRuntime>) {
    if towers.iter().any(|tower| tower.arrows == 0) {
        scripts.host().executor().enter(|| HORN.emit(()));
    }
}

fn app() -> App {
    let registry = Registry::new().script(march).script(shoot).script(supply);
    let mut app = App::new();
    app.add_plugins((TimePlugin, DurableScriptsPlugin::new(registry)));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_millis(
        50,
    )));
    app.save_component::<Tower>("tower");
    app.save_component::<Orc>("orc");
    app.add_systems(Update, blow_the_horn);
    app.update();
    app
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut game = app();
    let mut tower = game.world_mut().spawn(Tower { arrows: 3 });
    tower.start_durable_script(shoot);
    tower.start_durable_script(supply);
    for distance in [6, 9, 14] {
        let orc = Orc {
            health: 70,
            distance,
        };
        game.world_mut().spawn(orc).start_durable_script(march);
    }
    for _ in 0..50 {
        game.update();
    }

    let save = durable::save(game.world_mut())?;
    let file = save.to_bytes();
    let (entities, bytes) = (save.entities(), file.len());
    drop(game);
    println!("         saved: {entities} entities, {bytes} bytes; loaded in another app");
    let mut game = app();
    durable::load(game.world_mut(), &Save::from_bytes(&file)?, Policy::Fail)?;

    for _ in 0..100 {
        game.update();
    }
    Ok(())
}
