//! A tool with a queue of jobs, a dialogue and toasts: an app of egui.
//!
//! Each job is a script that awaits its turn, then the rows of a picture that a thread
//! computes. The settings are a script that awaits an answer, and each toast is a script
//! that slides in, waits and fades out. The app in `app.rs` runs a frame of the executor
//! in [`App::logic`](eframe::App::logic) and then requests the next one:
//!
//! - with `request_repaint_after`, for the time that `idle_until` returns: zero while a
//!   script wants every frame, otherwise until the next timer;
//! - when a thread or a click wakes a script between two frames: the waker passed to
//!   `on_wake` calls `request_repaint`.
//!
//! Otherwise egui sleeps until the user does something. No script draws: scripts change a
//! [`World`](world::World), and `ui.rs` shows it. Code of the user interface changes the
//! same world, and spawns and stops scripts.

mod app;
mod dialogue;
mod fractal;
mod job;
mod pilot;
mod toast;
mod ui;
mod world;

use std::path::PathBuf;
use std::process::ExitCode;

use eframe::{NativeOptions, Renderer, egui};

use app::Tool;

const USAGE: &str = "\
Usage: framestep-eframe [--demo DIR]

  --demo DIR  play by itself for some seconds, check what came of it, and put pictures
              into DIR
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
            let args = args.join(" ");
            eprintln!("framestep-eframe: cannot use the arguments `{args}`\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    if let Err(error) = run(demo) {
        eprintln!("framestep-eframe: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn run(demo: Option<PathBuf>) -> eframe::Result {
    let native = NativeOptions {
        renderer: Renderer::Glow,
        viewport: egui::ViewportBuilder::default().with_inner_size([960.0, 600.0]),
        ..NativeOptions::default()
    };
    eframe::run_native(
        "framestep: a queue of jobs",
        native,
        Box::new(|context| Ok(Box::new(Tool::new(&context.egui_ctx, demo)))),
    )
}
