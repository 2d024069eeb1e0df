//! Code of scripts that is exchanged while the app runs.

use bevy_framestep::durable::{self, LoadError, prelude::*};

use super::*;

/// A stronger poison, of the same name.
mod stronger {
    use super::*;

    #[derive(Serialize, Deserialize)]
    pub(super) struct Poison(DurableId);

    impl DurableScript for Poison {
        const NAME: &'static str = "poison";
        type Output = ();

        async fn run(self) -> Chapter<Self> {
            wait_seconds(0.5).await;
            let left = self.0.get_mut(|health: &mut Health| {
                health.0 -= 3;
                health.0
            });
            log(format!("{} has {left:?}", self.0));
            Chapter::Next(self)
        }
    }
}

fn stronger() -> Registry {
    Registry::new().with::<stronger::Poison>()
}

#[test]
fn scripts_of_entities_go_on_in_the_new_code() {
    let mut app = app(registry());
    let goblin = app.world_mut().spawn(Health(9)).id();
    app.world_mut()
        .entity_mut(goblin)
        .start_durable_script(Poison);
    app.update();
    let before = durable::save_state(app.world_mut()).unwrap();

    let reloaded = durable::reload(app.world_mut(), stronger(), Policy::Fail).unwrap();
    assert_eq!(reloaded.continued.len(), 1);
    app.update();
    assert_eq!(take_log(&mut app), ["#1 has Ok(6)"]);
    // One that is started by code from before the reload is the new one, too.
    let other = app.world_mut().spawn(Health(4)).id();
    app.world_mut()
        .entity_mut(other)
        .start_durable_script(Poison);
    app.update();
    app.update();
    assert_eq!(take_log(&mut app), ["#1 has Ok(3)", "#2 has Ok(1)"]);
    // It still ends with its entity.
    app.world_mut().despawn(goblin);
    assert_eq!(alive(&app), 1);

    // The earlier moment, in the first code again.
    let reloaded = durable::reload_at(app.world_mut(), registry(), &before, Policy::Fail).unwrap();
    assert_eq!(reloaded.continued.len(), 1);
    app.update();
    assert_eq!(take_log(&mut app), ["#1 has 8 in frame 3"]);
}

#[test]
fn code_that_does_not_fit_is_refused_and_the_scripts_go_on() {
    let mut app = app(registry());
    let goblin = app.world_mut().spawn(Health(9)).id();
    app.world_mut()
        .entity_mut(goblin)
        .start_durable_script(Poison);
    let refused = durable::reload(app.world_mut(), Registry::new(), Policy::Restart);
    assert!(matches!(refused, Err(LoadError::Scripts(_))));
    app.update();
    app.update();
    assert_eq!(take_log(&mut app), ["#1 has 8 in frame 3"]);
    let runtime = app.world().non_send::<DurableRuntime>();
    runtime.with_runtime_mut(|runtime| assert_eq!(runtime.generation(), 0));
}
