//! A typing game in a terminal: crossterm reads the keys and writes the screen.
//!
//! Words fall, and a completely typed word disappears before it lands. Each word is a
//! script; so are the waves, the boss, the menu and the animations. In `host.rs`, the loop
//! runs a frame of the executor when a script is due, and parks its thread otherwise, until
//! the next timer (`idle_until`) or a wake (`on_wake`).
//!
//! `crossterm::event::poll(timeout)` returns for input or when it times out. A wake by
//! another thread does not end it, so a loop that sleeps in `poll` misses the wake. There
//! are two solutions:
//!
//! - `poll` with at most the length of a frame, in a loop that never sleeps longer;
//! - a thread that blocks in `read` and passes each event on through a
//!   [`RemoteHandle`](framestep::task::RemoteHandle), while the loop parks, which any waker can end.
//!
//! This game does the latter: on the title screen and in the menu it runs no frame at all.
//! With `--demo` it plays by itself on virtual time, without a terminal, and prints the
//! same screens every time.

mod boss;
mod draw;
mod game;
mod host;
mod menu;
mod pilot;
mod play;
mod screen;
mod terminal;
mod typing;
mod word;
mod world;

use std::process::ExitCode;

const USAGE: &str = "\
Usage: framestep-terminal [--demo]

  --demo  play by itself on virtual time, and print some screens
  --help  print this";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        [] => {
            if let Err(error) = host::play() {
                eprintln!("framestep-terminal: {error}");
                return ExitCode::FAILURE;
            }
        }
        ["--demo"] => pilot::demo(),
        ["--help" | "-h"] => println!("{USAGE}"),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
