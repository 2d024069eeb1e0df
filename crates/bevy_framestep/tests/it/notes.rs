//! What snapshots say of the waits of this package.

use std::panic::Location;

use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_framestep::framestep::inspect::Wait;
use bevy_framestep::prelude::*;

use super::{app_with, log, take_log};

#[derive(Component)]
struct Health(u32);

#[derive(EntityEvent, Clone)]
struct Clicked(Entity);

fn inspecting() -> App {
    app_with(FramestepPlugin::default().executor(|builder| builder.inspect(true)))
}

/// What the only script waits for, and in which file.
fn shown(app: &App) -> Vec<String> {
    let framestep = app.world().non_send::<Framestep>();
    let snapshot = framestep.handle().snapshot().unwrap();
    assert_eq!(snapshot.len(), 1);
    let script = snapshot.iter().next().unwrap();
    let waits = script.waits_at().map(|(wait, at)| {
        // The wait for a phase is none that the script has written.
        if !matches!(wait, Wait::Run { .. }) {
            assert_eq!(at.map(Location::file), Some(file!()), "{wait}");
        }
        wait.to_string()
    });
    waits.collect()
}

fn check<F>(script: impl FnOnce(Entity) -> F + 'static, expected: &[&str])
where
    F: Future<Output: ScriptOutput> + 'static,
{
    let mut app = inspecting();
    let guard = app.world_mut().spawn((Name::new("Guard"), Health(3))).id();
    let script = app.world_mut().start_script(move || script(guard));
    let expected: Vec<_> = expected
        .iter()
        .map(|text| text.replace("GUARD", &format!("Guard ({guard})")))
        .collect();
    assert_eq!(shown(&app), expected);
    app.update();
    assert_eq!(shown(&app), expected, "a frame later");
    script.stop();
}

#[test]
fn of_entities_and_components() {
    check(
        |guard| async move { guard.changed::<Health>().await },
        &["a change of Health of GUARD"],
    );
    check(
        |guard| async move { guard.wait_until(|health: &Health| health.0 == 0).await },
        &["a condition on Health of GUARD"],
    );
    check(
        |guard| async move { guard.removed::<Health>().await },
        &["the removal of Health from GUARD"],
    );
    check(
        |guard| async move { guard.despawned().await },
        &["the despawn of GUARD"],
    );
    check(
        |guard| async move { guard.next_event::<Clicked>().await.map(drop) },
        &["signal it::notes::Clicked of GUARD"],
    );
    check(
        |_| async { wait_until_world(|_| false).await },
        &["a condition on the world"],
    );
}

#[test]
fn of_waits_in_another_phase() {
    check(
        |guard| async move { guard.changed::<Health>().in_phase(Phase::LateUpdate).await },
        &["the next LateUpdate", "a change of Health of GUARD"],
    );
    check(
        |guard| async move { guard.despawned().in_phase(Phase::LateUpdate).await },
        &["the next LateUpdate", "the despawn of GUARD"],
    );
}

#[test]
fn without_a_name_of_the_entity() {
    let mut app = inspecting();
    let goblin = app.world_mut().spawn(Health(3)).id();
    app.world_mut()
        .start_script(move || async move { goblin.changed::<Health>().await });
    assert_eq!(
        shown(&app),
        [format!("a change of Health of entity {goblin}")]
    );
}

/// The wait is over when the script continues, and begins anew.
#[test]
fn end_with_their_waits() {
    let mut app = inspecting();
    let guard = app.world_mut().spawn(Health(3)).id();
    app.world_mut().start_script(move || async move {
        guard.changed::<Health>().await?;
        log("changed");
        wait_seconds(9).await;
        guard.despawned().await;
        Ok::<(), Missing>(())
    });
    app.update();
    app.world_mut().get_mut::<Health>(guard).unwrap().0 -= 1;
    app.update();
    assert_eq!(take_log(&mut app), ["changed"]);
    assert_eq!(shown(&app), ["9s, until 9.25s"]);
}

#[test]
#[cfg(feature = "input")]
fn of_keys() {
    use bevy_input::ButtonInput;
    use bevy_input::keyboard::KeyCode;
    use bevy_input::mouse::MouseButton;

    let mut app = inspecting();
    app.init_resource::<ButtonInput<KeyCode>>();
    app.init_resource::<ButtonInput<MouseButton>>();
    app.world_mut().start_script(|| async {
        just_pressed(KeyCode::KeyE).await;
        just_released(MouseButton::Left).await;
    });
    assert_eq!(shown(&app), ["a press of KeyE"]);
    let mut keys = app.world_mut().resource_mut::<ButtonInput<KeyCode>>();
    keys.press(KeyCode::KeyE);
    app.update();
    assert_eq!(shown(&app), ["a release of Left"]);
}

#[test]
#[cfg(feature = "state")]
fn of_states() {
    use bevy_state::app::{AppExtStates, StatesPlugin};
    use bevy_state::prelude::*;

    #[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash)]
    enum Screen {
        #[default]
        Menu,
        Game,
    }

    let mut app = inspecting();
    app.add_plugins(StatesPlugin).init_state::<Screen>();
    app.world_mut().start_script(|| async {
        wait_for_state(Screen::Game).await;
        state_exited(Screen::Game).await;
    });
    app.update();
    assert_eq!(shown(&app), ["signal Screen::Game entered"]);
    let mut next = app.world_mut().resource_mut::<NextState<Screen>>();
    next.set(Screen::Game);
    app.update();
    assert_eq!(shown(&app), ["signal Screen::Game left"]);
}
