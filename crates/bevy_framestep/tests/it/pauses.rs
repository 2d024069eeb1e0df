//! Pauses of the game that are counted.

use bevy_app::{App, FixedUpdate, Update};
use bevy_ecs::prelude::*;
use bevy_framestep::prelude::*;
use bevy_framestep::{GamePause, GamePauses};
use bevy_time::{Time, Virtual};

use super::{app, log, take_log};

fn game_time(app: &App) -> f32 {
    app.world().resource::<Time<Virtual>>().elapsed_secs()
}

fn is_paused(app: &App) -> bool {
    app.world().resource::<Time<Virtual>>().is_paused()
}

/// Systems, fixed steps and the timers of scripts stand still.
#[test]
fn the_whole_game_stands_still_while_there_is_a_guard() {
    #[derive(Resource, Default)]
    struct Steps(u32);

    async fn menu() {
        wait_frames(2).await;
        let _pause = pause_game();
        wait_seconds_realtime(0.5).await;
    }

    let mut app = app();
    app.init_resource::<Steps>();
    app.add_systems(FixedUpdate, |mut steps: ResMut<Steps>| steps.0 += 1);
    app.world_mut().start_script(menu);
    app.world_mut().start_script(|| async {
        wait_seconds(0.5).await;
        log(format!("half a second in frame {}", time().frame));
    });
    // Made in frame 2, over in frame 4: frames 3 and 4 take no time.
    let mut times = Vec::new();
    for _ in 0..6 {
        app.update();
        times.push((game_time(&app), app.world().resource::<Steps>().0));
    }
    let expected = [
        (0.0, 0),
        (0.25, 2),
        (0.25, 2),
        (0.25, 2),
        (0.5, 4),
        (0.75, 6),
    ];
    assert_eq!(times, expected);
    assert_eq!(take_log(&mut app), ["half a second in frame 5"]);
}

#[test]
fn the_end_of_a_menu_does_not_unpause_a_dialogue() {
    async fn says(frames: u64) {
        let _pause = pause_game();
        wait_frames(frames).await;
    }

    let mut app = app();
    app.world_mut().commands().start_script(|| says(5)); // the dialogue
    app.update();
    app.world_mut().commands().start_script(|| says(2)); // the menu
    let paused: Vec<bool> = std::iter::repeat_with(|| {
        app.update();
        is_paused(&app)
    })
    .take(5)
    .collect();
    assert_eq!(paused, [true, true, true, false, false]);
}

/// Bevy's own calls do not count. What they have done before the first guard is kept.
#[test]
fn guards_and_bevys_own_calls() {
    let mut app = app();
    let pauses = app.world().resource::<GamePauses>().clone();
    let guard = pauses.pause();
    app.update();
    app.world_mut().resource_mut::<Time<Virtual>>().unpause();
    app.update();
    assert!(is_paused(&app));
    drop(guard);
    app.update();
    assert!(!is_paused(&app));

    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    let guard = pauses.pause();
    app.update();
    drop(guard);
    app.update();
    assert!(is_paused(&app));
}

/// A guard can be kept in a component, and dropped on any thread.
#[test]
fn a_guard_ends_with_its_entity() {
    #[derive(Component)]
    struct Menu(#[expect(dead_code, reason = "it is dropped")] GamePause);

    let mut app = app();
    app.add_systems(
        Update,
        |pauses: Res<GamePauses>, mut commands: Commands, mut once: Local<bool>| {
            if !std::mem::replace(&mut *once, true) {
                commands.spawn(Menu(pauses.pause()));
            }
        },
    );
    app.update();
    assert!(is_paused(&app));
    let mut menus = app.world_mut().query_filtered::<Entity, With<Menu>>();
    let menu = menus.single(app.world()).unwrap();
    app.world_mut().despawn(menu);
    app.update();
    assert!(!is_paused(&app));
    assert_eq!(app.world().resource::<GamePauses>().count(), 0);
}

/// A script that is stopped drops its guard.
#[test]
fn a_guard_ends_with_its_script() {
    let mut app = app();
    let script = app.world_mut().commands().start_script(|| async {
        let _pause = pause_game();
        wait_seconds(60).await;
    });
    app.update();
    assert!(is_paused(&app));
    script.stop();
    app.update();
    assert!(!is_paused(&app));
}
