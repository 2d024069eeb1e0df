//! The panel: this file is all that a game needs.

use bevy::prelude::*;
use bevy_egui::{EguiContexts, EguiPlugin, EguiPrimaryContextPass};
use bevy_framestep::ScriptSystems;
use bevy_framestep::prelude::*;
use framestep_panel::Panel;
use framestep_panel::egui_0_36_view::View;

pub(crate) fn plugin(app: &mut App) {
    app.add_plugins(EguiPlugin::default())
        .insert_non_send(Panel::new())
        .add_systems(Startup, listen)
        .add_systems(First, set_pace.before(bevy::time::TimeSystems))
        .add_systems(Last, look.after(ScriptSystems::Run))
        .add_systems(EguiPrimaryContextPass, draw);
}

fn listen(mut panel: NonSendMut<Panel>, scripts: NonSend<Framestep>) {
    panel.listen_through(scripts.handle());
}

/// The panel pauses the game, and slows it down, through Bevy's clock.
fn set_pace(mut panel: NonSendMut<Panel>, mut time: ResMut<Time<Virtual>>) {
    match panel.speed_of_frame() {
        Some(speed) => {
            time.unpause();
            time.set_relative_speed_f64(speed);
        }
        None => time.pause(),
    }
}

fn look(
    mut panel: NonSendMut<Panel>,
    scripts: NonSend<Framestep>,
    keys: Res<ButtonInput<KeyCode>>,
) {
    if keys.just_pressed(KeyCode::F1) {
        panel.toggle();
    }
    panel.look_through(scripts.handle());
}

fn draw(mut contexts: EguiContexts, mut panel: NonSendMut<Panel>, mut view: Local<View>) -> Result {
    view.window(contexts.ctx_mut()?, &mut panel);
    Ok(())
}
