//! A playable scene on the desktop and in the browser. Every part is a script: doors,
//! enemies, bullets, a boss, dialogue, the floor, the pause menu.
//!
//! It plays by itself until a key is pressed: arrow keys move, the space bar shoots,
//! shift slows the enemies down, escape opens the menu, F1 hides the overlay. No script
//! draws: scripts change a [`World`] that is lent to them, and `draw` shows it.

mod boss;
mod bullet;
mod dialogue;
mod door;
mod draw;
mod enemy;
mod floor;
mod hero;
mod input;
mod interface;
mod menu;
mod numbers;
mod overlay;
mod panel;
mod pilot;
mod platform;
mod scene;
mod world;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use framestep::inspect::Report;
use framestep::prelude::*;
use macroquad::prelude::*;

use input::Input;
use overlay::Overlay;
use platform::stopwatch;
use world::World;

struct Game {
    executor: Executor,
    world: World,
    overlay: Overlay,
    /// Its scripts count on realtime and continue while the game is paused: the menu and
    /// the script that starts the scene.
    always: Owner,
    /// Plays until a key is pressed.
    pilot: Option<Owner>,
}

impl Game {
    fn new() -> Self {
        // The lines of awaits are noted only where they are shown.
        let executor = Executor::builder()
            .stopwatch(stopwatch)
            .inspect(platform::shows_lines())
            .build();
        // Without a hook, reports go to standard error, which a browser does not have.
        executor.on_report(|report| {
            // macroquad prints a literal that is alone as it stands.
            let text = report.to_string();
            if let Report::TimeDropped { .. } = report {
                info!("{}", text);
            } else {
                error!("{}", text);
            }
        });
        let world = World::new(&executor);
        // `spawn`, not `start`: nothing is lent yet.
        floor::light(&world.owners.floor);
        let always = executor.owner_on(&executor.realtime()).named("always");
        always.spawn(scene::direct()).named("director");
        always.spawn(menu::run()).named("menu");
        let pilot = always.child();
        pilot.spawn(pilot::play()).named("pilot");
        Game {
            executor,
            world,
            overlay: Overlay::default(),
            always,
            pilot: Some(pilot),
        }
    }

    fn read_keys(&mut self) {
        if self.pilot.is_some() && !get_keys_pressed().is_empty() {
            self.pilot = None;
        }
        if is_key_pressed(KeyCode::F1) {
            self.world.shows_overlay = !self.world.shows_overlay;
        }
        if self.pilot.is_none() {
            self.world.input = Input::read();
        }
        for key in input::pressed() {
            self.world.press(key);
        }
    }

    /// Runs the scripts of a frame.
    fn step(&mut self, dt: f32) {
        let (executor, world) = (&mut self.executor, &mut self.world);
        let began = stopwatch();
        executor.lend(world, |executor| executor.run_frame(dt));
        let took = stopwatch().saturating_sub(began);
        self.overlay.note(executor, took.as_secs_f32() * 1_000.0);
        world.calm(dt);
        platform::tell(&self.overlay.figures);
    }

    fn take_pictures(&mut self, folder: &Path) {
        for name in self.world.pictures.drain(..) {
            let path = folder.join(name).with_extension("png");
            let mut picture = get_screen_data();
            for [.., alpha] in picture.get_image_data_mut() {
                *alpha = u8::MAX;
            }
            picture.export_png(&path.to_string_lossy());
        }
    }
}

fn window() -> Conf {
    Conf {
        window_title: "framestep".to_owned(),
        window_width: 960,
        window_height: 540,
        ..Conf::default()
    }
}

const USAGE: &str = "\
Usage: framestep-macroquad [--demo DIR]

  --demo DIR  play by itself, on frames of a 60th of a second, put pictures
              into DIR, print figures and end
  --help      print this";

// In a browser there are no arguments.
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
            eprintln!("framestep-macroquad: cannot use the arguments `{args}`\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    // Like `#[macroquad::main]`, but parses the command line before the window opens.
    macroquad::Window::from_config(window(), play(demo));
    ExitCode::SUCCESS
}

async fn play(demo: Option<PathBuf>) {
    let mut game = Game::new();
    if demo.is_some() {
        game.always.spawn(pilot::tour()).named("tour");
    }
    let art = draw::Art::new();
    while !game.world.is_over {
        if let Some(folder) = &demo {
            game.step(1.0 / 60.0);
            art.draw(&game.world, &game.overlay, game.pilot.is_some());
            game.take_pictures(folder);
        } else {
            game.read_keys();
            game.step(get_frame_time());
            art.draw(&game.world, &game.overlay, game.pilot.is_some());
        }
        macroquad::window::next_frame().await;
    }
    let overlay = &game.overlay;
    info!(
        "{} frames, up to {} coroutines, the longest frame of the executor {:.3} ms",
        overlay.figures.frame, overlay.most, overlay.longest
    );
}
