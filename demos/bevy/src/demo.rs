//! Plays by itself, in frames of the same length, and takes pictures.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bevy::prelude::*;
use bevy::render::view::screenshot::{Screenshot, save_to_disk};
use bevy::time::TimeUpdateStrategy;
use bevy_framestep::prelude::*;

use crate::body::{Foe, Health, place};
use crate::bolt::Bolt;
use crate::boss::King;
use crate::hero::{Facing, Hero, Hurt, hero};
use crate::imp::Imp;
use crate::keys::{Choice, Key, Stick};
use crate::level::ARENA;
use crate::menu::Screen;
use crate::purse::Purse;
use crate::saves::{SaveKey, Shelf};

const FRAME: Duration = Duration::from_millis(20);

/// The most frames that saving a picture can take.
const PATIENCE: u64 = 600;

/// The most seconds that the whole game can take.
const LIMIT: u32 = 150;

/// Takes pictures, if there is a folder for them.
pub(crate) fn set_up(app: &mut App, folder: Option<PathBuf>) {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(FRAME));
    app.world_mut().resource_mut::<Shelf>().is_in_memory = true;
    app.add_systems(PostStartup, move |mut commands: Commands| {
        let folder = folder.clone();
        commands.start_script(|| film(folder));
    });
}

/// The script of the demo.
async fn film(folder: Option<PathBuf>) {
    let exit = match timeout(LIMIT, play(folder.as_deref())).await {
        Ok(Ok(pictures)) => {
            let coins = resource(|purse: &Purse| purse.0);
            let frames = time().frame;
            info!("{frames} frames, {pictures} pictures, {coins} coins");
            AppExit::Success
        }
        Ok(Err(problem)) => {
            error!("{problem}");
            AppExit::error()
        }
        Err(_) => {
            error!("the demo has not ended after {LIMIT} seconds");
            AppExit::error()
        }
    };
    write_message(exit);
}

/// From the first room to the chest. Returns how many pictures it has taken.
async fn play(folder: Option<&Path>) -> Result<u32, BevyError> {
    wait_seconds(1.6).await;
    take_picture(folder, "1-title").await?;
    go(-200.0, 180.0).await?;
    go(10.0, 190.0).await?;
    take_picture(folder, "2-dialogue").await?;
    skip_lines(5).await;

    go(0.0, 340.0).await?;
    wait_seconds(0.6).await;
    take_picture(folder, "3-door").await?;
    go(0.0, 560.0).await?;
    go(0.0, 640.0).await?;
    take_picture(folder, "4-guards").await?;
    pause_and_go_on(folder).await?;
    go(0.0, 720.0).await?;
    fight_until(|foes| foes == 0).await?;
    go(-270.0, 840.0).await?;
    write_message(Key::Act);
    wait_seconds(1.8).await;
    take_picture(folder, "5-gate").await?;
    wait_seconds(1.6).await;
    go(120.0, 900.0).await?;
    go(0.0, 900.0).await?;
    go(0.0, ARENA.y - 200.0).await?;
    wait_seconds(1.2).await;
    skip_lines(2).await;
    wait_seconds(2.5).await;
    take_picture(folder, "6-king").await?;
    save_and_load().await?;
    fight_until(|foes| foes > 1).await?;
    take_picture(folder, "7-imps").await?;
    let king = query_filtered::<(), (With<King>, With<Foe>)>();
    fight_until(|_| king.count() == 1).await?;
    wait_seconds(1.6).await;
    take_picture(folder, "8-rage").await?;
    save_and_load().await?;
    fight_until(|foes| foes == 0).await?;
    wait_seconds(2).await;
    go(0.0, ARENA.y + 105.0).await?;
    write_message(Key::Act);
    wait_seconds(1.1).await;
    take_picture(folder, "9-chest").await?;
    wait_seconds(3).await;
    if resource(|purse: &Purse| purse.0) < 160 {
        return Err("the coins of the chest are not in the purse".into());
    }
    Ok(10)
}

/// Walks there, as a player would.
async fn go(x: f32, y: f32) -> Result<(), Missing> {
    let goal = vec2(x, y);
    select! {
        there = steer(|| Ok(goal), 5.0) => there?,
        // Somebody is in the way.
        () = wait_seconds(3) => {}
    }
    resource_mut(|stick: &mut Stick| stick.0 = Vec2::ZERO);
    Ok(())
}

/// Holds the stick towards a goal, which can move, until the hero is near it.
async fn steer(goal: impl Fn() -> Result<Vec2, Missing>, near: f32) -> Result<(), Missing> {
    loop {
        let way = goal()? - place(hero())?;
        if way.length() < near {
            return Ok(());
        }
        resource_mut(|stick: &mut Stick| stick.0 = way.normalize());
        next_frame().await;
    }
}

/// Runs after foes and strikes, until the number of foes near the hero is as wanted.
async fn fight_until(is_over: impl Fn(usize) -> bool) -> Result<(), Missing> {
    let foes = query_filtered::<(&Transform, Has<Health>), With<Foe>>();
    loop {
        let at = place(hero())?;
        // Bolts must be parried, but not counted.
        let (mut near, mut count) = (Vec::new(), 0);
        foes.for_each(|(foe, has_health)| {
            let foe = foe.translation.truncate();
            if foe.distance(at) < 450.0 {
                near.push(foe);
                count += usize::from(has_health);
            }
        });
        if is_over(count) {
            resource_mut(|stick: &mut Stick| stick.0 = Vec2::ZERO);
            return Ok(());
        }
        near.sort_by(|one, other| one.distance(at).total_cmp(&other.distance(at)));
        if let Some(foe) = near.first() {
            let way = *foe - at;
            hero().get_mut(|facing: &mut Facing| facing.0 = way.normalize_or(Vec2::Y))?;
            let stick = if way.length() > 54.0 {
                way.normalize()
            } else {
                Vec2::ZERO
            };
            resource_mut(|held: &mut Stick| held.0 = stick);
            if way.length() < 66.0 {
                write_message(Key::Act);
            }
        } else {
            resource_mut(|held: &mut Stick| held.0 = Vec2::ZERO);
        }
        wait_frames(3).await;
    }
}

/// Saves in the middle of a volley. After a load everything happens again, to the frame and the
/// bit.
async fn save_and_load() -> Result<(), BevyError> {
    let bolts = query_filtered::<(), With<Bolt>>();
    let is_volley = async {
        while bolts.count() < 3 || hero().has::<Hurt>() {
            next_frame().await;
        }
    };
    timeout(10, is_volley).await?;
    write_message(SaveKey::Save);
    let first = watch().await;
    write_message(SaveKey::Load);
    let again = watch().await;
    for (frame, (first, again)) in first.iter().zip(&again).enumerate() {
        if first != again {
            return Err(format!(
                "{frame} frames after the load it is different: {again:?} instead of {first:?}"
            )
            .into());
        }
    }
    Ok(())
}

/// Where everything is that moves in the fight, in each of the next 50 frames.
async fn watch() -> Vec<Vec<[f32; 3]>> {
    let moving =
        query_filtered::<&Transform, Or<(With<Bolt>, With<King>, With<Imp>, With<Hero>)>>();
    let mut seen = Vec::new();
    for _ in 0..50 {
        // When all have moved: scripts that begin again have another place in the order.
        next_frame().in_phase(Phase::LateUpdate).await;
        let mut places = Vec::new();
        moving.for_each(|place| places.push(place.translation.to_array()));
        // Entities that are spawned anew are found in another order.
        places.sort_by(|one, other| one.partial_cmp(other).expect("places are numbers"));
        seen.push(places);
    }
    seen
}

async fn skip_lines(keys: u32) {
    for _ in 0..keys {
        write_message(Key::Act);
        wait_seconds(0.5).await;
    }
}

async fn pause_and_go_on(folder: Option<&Path>) -> Result<(), BevyError> {
    write_message(Key::Menu);
    wait_frames(30).await;
    write_message(Choice::Down);
    wait_frames(5).await;
    take_picture(folder, "paused").await?;
    write_message(Choice::Back);
    wait_until(|| resource(|screen: &State<Screen>| *screen.get() == Screen::Playing)).await;
    Ok(())
}

/// Only if there is a folder for it. Bevy despawns the entity when the picture is saved.
async fn take_picture(folder: Option<&Path>, name: &str) -> Result<(), BevyError> {
    let Some(folder) = folder else {
        return Ok(());
    };
    let path = folder.join(name).with_extension("png");
    let screenshot = commands(|commands| {
        let mut screenshot = commands.spawn(Screenshot::primary_window());
        screenshot.observe(save_to_disk(path.clone()));
        screenshot.id()
    });
    select! {
        () = screenshot.despawned() => {}
        () = wait_frames(PATIENCE) => {}
    }
    if path.exists() {
        Ok(())
    } else {
        Err(format!("no picture {name} after {PATIENCE} frames").into())
    }
}
