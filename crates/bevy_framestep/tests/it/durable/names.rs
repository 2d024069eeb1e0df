//! Durable scripts beside components that have their names.

use bevy_framestep::durable::Missing;

use super::*;

#[derive(Component, Clone, Serialize, Deserialize)]
#[require(Durable)]
struct Boss {
    rage: u32,
}

#[durable]
async fn boss(me: DurableId) -> Result<(), Missing> {
    for _ in 0..2 {
        wait_seconds(0.5).await;
        me.get_mut(|boss: &mut Boss| boss.rage += 1)?;
    }
    me.despawn()
}

#[test]
fn a_component_has_the_name_of_the_script() {
    fn game() -> App {
        let mut app = app(Registry::new().script(boss));
        app.save_component::<Boss>("boss");
        app
    }
    fn rages(app: &mut App) -> Vec<u32> {
        let mut bosses = app.world_mut().query::<&Boss>();
        bosses.iter(app.world()).map(|boss| boss.rage).collect()
    }
    let mut first = game();
    first
        .world_mut()
        .spawn(Boss { rage: 0 })
        .start_durable_script(boss);
    // Half a second, and a half of the next one.
    (0..3).for_each(|_| first.update());
    assert_eq!(rages(&mut first), [1]);
    let file = saved(&mut first);

    let mut second = game();
    load(&mut second, &file);
    assert_eq!(rages(&mut second), [1]);
    second.update();
    assert_eq!(rages(&mut second), [0; 0]);
    assert_eq!(alive(&second), 0);
}
