//! A boss whose patterns are changed while it shoots. Start it with `cargo run --profile play` in this folder, and
//! save `scripts/src/lib.rs`.
//!
//! - `scripts/src/lib.rs` is what happens over time: change that.
//! - `world/src/lib.rs` is the state that it changes.
//! - `game.rs` is a step of both; `draw.rs` shows the world.
//! - `live.rs` watches and exchanges the code, plays the last two seconds in a loop, and looks ahead.
//!   Without the feature `live`, `plain.rs` takes its place, which does nothing of that.
//! - `film.rs` and `headless.rs` play by themselves, for pictures and for tests.

mod draw;
#[cfg(feature = "live")]
mod film;
mod game;
#[cfg(feature = "live")]
mod headless;
#[cfg(feature = "live")]
#[path = "live.rs"]
mod stage;
#[cfg(not(feature = "live"))]
#[path = "plain.rs"]
mod stage;

use std::process::ExitCode;

use macroquad::prelude::*;

use crate::game::{Game, STEP};
use crate::stage::Stage;

const USAGE: &str = "\
Usage: framestep-live-toy [--film DIR | --headless FRAMES [LIBRARY LIBRARY]]

  --film DIR         play by itself, change the scripts, put pictures into DIR, and end
  --headless FRAMES  play by itself without a window, print each world, and end; with two builds of
                     the scripts, exchange them every 7 frames
  --help             print this";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match *args {
        [] => open(play()),
        #[cfg(feature = "live")]
        ["--film", folder] => open(film::play(folder.into())),
        #[cfg(feature = "live")]
        ["--headless", frames, ref libraries @ ..] if frames.parse::<u64>().is_ok() => {
            headless::play(frames.parse().unwrap_or(0), libraries);
        }
        _ => {
            println!("{USAGE}");
            return ExitCode::from(u8::from(args != ["--help"]) * 2);
        }
    }
    ExitCode::SUCCESS
}

fn open(play: impl Future<Output = ()> + 'static) {
    let window = Conf {
        window_title: "framestep: live".to_owned(),
        window_width: 960,
        window_height: 600,
        ..Conf::default()
    };
    macroquad::Window::from_config(window, play);
}

async fn play() {
    draw::prepare();
    let mut game = Game::new();
    let mut stage = Stage::new(600);
    // Frames of the screen have any length, frames of the game have a fixed length.
    let mut left = 0.0;
    loop {
        stage.update(&mut game);
        stage.press_keys(&mut game);
        left = (left + get_frame_time()).min(0.1);
        while left >= STEP.as_secs_f32() {
            left -= STEP.as_secs_f32();
            stage.step(&mut game, held());
        }
        show(&mut stage, &mut game).await;
    }
}

/// Shows a frame.
async fn show(stage: &mut Stage, game: &mut Game) {
    draw::draw(game);
    stage.draw(game);
    next_frame().await;
}

/// The arrow keys that are held.
fn held() -> toy_world::Push {
    let axis = |less, more| f32::from(i8::from(is_key_down(more)) - i8::from(is_key_down(less)));
    [
        axis(KeyCode::Left, KeyCode::Right),
        axis(KeyCode::Up, KeyCode::Down),
    ]
}
