//! A toy whose time runs back while R is held: a ball, doors, coins and lamps, with a script
//! each, and a boss in the last room.
//!
//! - `scripts.rs` and `fight.rs` are what happens over time; `world.rs` and `guardian.rs`
//!   the state that they change.
//! - `game.rs` is a step, and `history.rs` a ring of the last ten seconds: a copy of the world
//!   and a snapshot of the scripts for each frame. Rewinding takes the latest off.
//! - `draw.rs` shows the world.
//!
//! Arrow keys push the ball. F5 saves to a file, F9 loads it.

mod demo;
mod draw;
mod fight;
mod game;
mod guardian;
mod history;
mod scripts;
#[cfg(test)]
mod tests;
mod world;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use macroquad::prelude::*;

use crate::game::{Game, STEP};
use crate::history::History;
use crate::world::Push;

const SAVE: &str = "rewind.save";

const USAGE: &str = "\
Usage: framestep-rewind [--demo DIR]

  --demo DIR  play by itself, put pictures into DIR, print figures and end
  --help      print this";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let demo = match args[..] {
        [] => None,
        ["--demo", folder] => Some(PathBuf::from(folder)),
        ["--help" | "-h"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    let window = Conf {
        window_title: "framestep: rewind".to_owned(),
        window_width: 960,
        window_height: 540,
        ..Conf::default()
    };
    macroquad::Window::from_config(window, async {
        match demo {
            Some(folder) => demo::play(&folder).await,
            None => play().await,
        }
    });
    ExitCode::SUCCESS
}

async fn play() {
    let mut game = Game::new(1);
    let mut history = History::default();
    // Frames of the screen are of any length, those of the game are not.
    let mut left = 0.0;
    loop {
        left = (left + get_frame_time()).min(0.25);
        while left >= STEP.as_secs_f32() {
            left -= STEP.as_secs_f32();
            if is_key_down(KeyCode::R) {
                history.rewind(&mut game);
            } else {
                history.note(&game);
                game.step(held());
            }
        }
        if is_key_pressed(KeyCode::F5) {
            if let Err(error) = game.save(Path::new(SAVE)) {
                eprintln!("cannot save: {error}");
            }
        }
        if is_key_pressed(KeyCode::F9) {
            match Game::load(Path::new(SAVE)) {
                Ok(loaded) => {
                    game = loaded;
                    // Snapshots belong to the runtime that took them.
                    history = History::default();
                }
                Err(error) => eprintln!("cannot load: {error}"),
            }
        }
        draw::draw(&game, &history, is_key_down(KeyCode::R));
        next_frame().await;
    }
}

/// The arrow keys that are held.
fn held() -> Push {
    let axis = |less, more| f32::from(i8::from(is_key_down(more)) - i8::from(is_key_down(less)));
    [
        axis(KeyCode::Left, KeyCode::Right),
        axis(KeyCode::Up, KeyCode::Down),
    ]
}
