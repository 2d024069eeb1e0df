//! Scripts of a game, each with a world that the host lends. The recipes of the guide
//! test further ones.
//!
//! The scripts use the prelude alone: no cell, no `pin!`, no `.fuse()`, no other crate.
//! A test plays a script at four frames a second. It reads what the script
//! [shows](show), or draws one character of the world for each frame.

use std::fmt::Display;
use std::mem;

use framestep::prelude::*;

mod boss;
mod buff;
mod cutscene;
mod pathfinding;
mod pause_menu;

/// The lines that the player reads.
#[derive(Default)]
struct Screen(Vec<String>);

/// Shows a line, after the frame in which it appears.
fn show(text: impl Display) {
    let frame = time().frame;
    with(|screen: &mut Screen| screen.0.push(format!("F{frame}: {text}")));
}

/// A host with a world of type `W`.
struct Game<W> {
    executor: Executor,
    world: W,
    screen: Screen,
}

impl<W: 'static> Game<W> {
    fn new(world: W) -> Self {
        Game {
            executor: Executor::builder().propagate_panics(true).build(),
            world,
            screen: Screen::default(),
        }
    }

    fn frame(&mut self, dt: f64) {
        self.executor.lend(&mut self.world, |executor| {
            executor.lend(&mut self.screen, |executor| executor.run_frame(dt));
        });
    }

    fn run(&mut self, frames: u32) {
        for _ in 0..frames {
            self.frame(0.25);
        }
    }

    /// Plays a frame for each key of `keys`; `press` applies the key before the frame.
    fn play(&mut self, keys: &str, press: impl Fn(&mut W, char)) {
        self.film(keys, press, |_| ' ');
    }

    /// The same, and draws the world after each frame.
    fn film(
        &mut self,
        keys: &str,
        press: impl Fn(&mut W, char),
        picture: impl Fn(&W) -> char,
    ) -> String {
        let mut film = String::new();
        for key in keys.chars() {
            press(&mut self.world, key);
            self.run(1);
            film.push(picture(&self.world));
        }
        film
    }

    /// Compares with the lines shown since the last check.
    #[track_caller]
    fn check(&mut self, lines: &[&str]) {
        assert_eq!(mem::take(&mut self.screen.0), lines);
    }
}

/// How many whole `parts` there are, as a digit: 0.8 has three of 4.
fn digit(value: f32, parts: f32) -> char {
    let mut digits = ('0'..='9').zip(1_u8..);
    let found = digits.find(|&(_, next)| f32::from(next) > value * parts);
    found.expect("a number below ten").0
}
