//! The panel in a macroquad game, with `egui-macroquad`, on the desktop and in the browser.
//!
//! F1 opens and closes it. In the browser it is open.
//!
//! ```sh
//! cargo run --profile play                   # the game
//! cargo run --profile play -- picture.png    # saves a picture, and ends
//! ```

mod balls;
mod platform;

use std::time::Duration;

use balls::Balls;
use framestep::prelude::*;
use framestep_panel::Panel;
use framestep_panel::egui_0_31_view::View;
use macroquad::prelude::*;

/// The frame whose picture is saved.
const PICTURE: u64 = 400;

fn window() -> Conf {
    Conf {
        window_title: "Scripts".to_owned(),
        window_width: 1280,
        window_height: 720,
        ..Conf::default()
    }
}

#[macroquad::main(window)]
async fn main() {
    let picture = std::env::args().nth(1);
    let mut executor = Executor::builder()
        .inspect(true)
        .profile(true)
        .stopwatch(platform::stopwatch)
        .build();
    let mut balls = Balls::new(&executor);
    let mut panel = Panel::new();
    let mut view = View::new();
    panel.listen(&executor);
    // The gate is stuck from the beginning; by default, the panel says so after ten seconds.
    panel.patience(Duration::from_secs(4));
    if picture.is_some() || platform::IS_PAGE {
        panel.open();
    }
    loop {
        if is_key_pressed(KeyCode::F1) {
            panel.toggle();
        }
        let dt = if picture.is_some() {
            1.0 / 60.0
        } else {
            get_frame_time()
        };
        if let Some(dt) = panel.dt(dt) {
            executor.lend(&mut balls, |executor| executor.run_frame(dt));
        }
        panel.look(&executor);

        balls.draw();
        egui_macroquad::ui(|context| view.window(context, &mut panel));
        egui_macroquad::draw();
        platform::tell(&executor);
        if let Some(path) = picture
            .as_ref()
            .filter(|_| executor.time().frame == PICTURE)
        {
            get_screen_data().export_png(path);
            break;
        }
        macroquad::window::next_frame().await;
    }
}
