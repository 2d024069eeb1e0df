//! A toy that rewinds time while R is held: a ball, doors, coins and lamps, each with a script,
//! and a boss in the last room. On the desktop and in the browser.
//!
//! - `scripts.rs` and `fight.rs` are what happens over time; `world.rs` and `guardian.rs`
//!   the state that they change.
//! - `game.rs` is a step, and the bytes of a save; `code.rs` identifies the code that they fit.
//! - `history.rs` is a ring of the last ten seconds: a copy of the world and a save state of the
//!   scripts for each frame. Rewinding takes the latest one.
//! - `session.rs` saves and loads; `platform.rs` is where the save is kept: in a file, or in the
//!   local storage of the browser.
//! - `draw.rs` shows the world; `lines.rs` tells the page where the scripts wait.
//!
//! Arrow keys push the ball, and take over from the pilot of the browser's `?demo`. S or F5 saves, L or
//! F9 loads, N begins a new game. The next start continues a saved game.

mod code;
#[cfg(not(target_arch = "wasm32"))]
mod demo;
mod draw;
mod fight;
mod game;
mod guardian;
mod history;
mod lines;
mod pilot;
mod platform;
mod scripts;
mod session;
#[cfg(test)]
mod tests;
mod world;

use macroquad::prelude::*;

use crate::game::STEP;
use crate::platform::Store;
use crate::session::Session;
use crate::world::Push;

fn window() -> Conf {
    Conf {
        window_title: "framestep: rewind".to_owned(),
        window_width: 960,
        window_height: 540,
        ..Conf::default()
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    use std::path::PathBuf;
    use std::process::ExitCode;

    const USAGE: &str = "\
Usage: framestep-rewind [--save FILE] [--demo DIR]

  --save FILE  the save, which is continued if it is there; else rewind.save in this folder
  --demo DIR   play by itself, put pictures into DIR, print figures and end
  --help       print this";

    let (mut save, mut demo) = (PathBuf::from("rewind.save"), None);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.next()) {
            ("--save", Some(path)) => save = path.into(),
            ("--demo", Some(folder)) => demo = Some(PathBuf::from(folder)),
            ("--help" | "-h", _) => {
                println!("{USAGE}");
                return ExitCode::SUCCESS;
            }
            _ => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        }
    }
    let store = Store::new(save);
    macroquad::Window::from_config(window(), async move {
        match demo {
            Some(folder) => demo::play(&folder, store).await,
            None => play(store, false).await,
        }
    });
    ExitCode::SUCCESS
}

#[cfg(target_arch = "wasm32")]
fn main() {
    macroquad::Window::from_config(window(), play(Store, platform::is_demo()));
}

async fn play(store: Store, is_demo: bool) {
    draw::prepare();
    let mut is_piloted = is_demo;
    let mut shown = lines::Shown::default();
    let mut session = Session::begin(store);
    // Frames of the screen have any length, frames of the game have a fixed length.
    let mut left = 0.0;
    loop {
        let is_rewinding = is_key_down(KeyCode::R);
        let push = held();
        is_piloted &= push == [0.0, 0.0];
        left = (left + get_frame_time()).min(0.25);
        while left >= STEP.as_secs_f32() {
            left -= STEP.as_secs_f32();
            if is_rewinding {
                session.rewind();
            } else if is_piloted {
                pilot::step(&mut session);
            } else {
                session.step(push);
            }
        }
        if is_key_pressed(KeyCode::S) || is_key_pressed(KeyCode::F5) {
            session.save();
        }
        if is_key_pressed(KeyCode::L) || is_key_pressed(KeyCode::F9) {
            session.load();
        }
        if is_key_pressed(KeyCode::N) {
            session.begin_anew();
        }
        shown.tell(&session.game.lines);
        show(&mut session, is_rewinding).await;
    }
}

/// Shows a frame.
async fn show(session: &mut Session, is_rewinding: bool) {
    draw::draw(session, is_rewinding);
    session.end_frame();
    next_frame().await;
}

/// The arrow keys that are held.
fn held() -> Push {
    let axis = |less, more| f32::from(i8::from(is_key_down(more)) - i8::from(is_key_down(less)));
    [
        axis(KeyCode::Left, KeyCode::Right),
        axis(KeyCode::Up, KeyCode::Down),
    ]
}
