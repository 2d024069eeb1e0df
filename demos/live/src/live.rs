//! Live code: the loop of the last two seconds, the ghosts of the next one and a half, and what the
//! compiler says.

use framestep_live::{History, Live, Status, game};
use macroquad::prelude::*;
use toy_world::{Push, SIZE, World};

use crate::draw::{self, CYAN, GOLD, PALE, ROSE};
use crate::game::{Game, step};

/// How many frames the loop has, how many `B` goes back, and how many the ghosts look ahead.
pub(crate) const LOOP: usize = 120;
const BACK: usize = 300;
const AHEAD: usize = 90;

pub(crate) struct Stage {
    pub(crate) live: Live,
    pub(crate) history: History<World, Push>,
    shows_ghosts: bool,
    ghosts: Vec<Ghost>,
    /// The frames at which code was exchanged.
    marks: Vec<u64>,
    /// What could not be done, until the next key.
    notice: Option<String>,
    /// Frames of the screen since code was exchanged.
    since_exchange: u16,
}

/// Where a bullet will be.
struct Ghost {
    at: [f32; 2],
    hue: f32,
    frames: u8,
}

impl Stage {
    pub(crate) fn new(frames: usize) -> Self {
        Stage {
            live: Live::watch(game!("toy-scripts")),
            history: History::new(frames),
            shows_ghosts: true,
            ghosts: Vec::new(),
            marks: Vec::new(),
            notice: None,
            since_exchange: u16::MAX,
        }
    }

    /// Between two frames: new code, if there is some. The last two seconds are played again in it,
    /// so that what is shown is the same moment.
    pub(crate) fn update(&mut self, game: &mut Game) -> bool {
        let Game { runtime, world } = game;
        let is_new = self
            .live
            .update_with(runtime, world, &mut self.history, LOOP, step);
        if is_new {
            self.marks.push(runtime.time().frame);
            self.since_exchange = 0;
        }
        is_new
    }

    pub(crate) fn step(&mut self, game: &mut Game, push: Push) {
        let Game { runtime, world } = game;
        let stepped = self.history.step(runtime, world, push, step);
        if let Err(error) = stepped {
            // A moment of the loop that the new code cannot go back to.
            self.notice = Some(error.to_string());
            self.history.clear();
        }
    }

    pub(crate) fn press_keys(&mut self, game: &mut Game) {
        if get_last_key_pressed().is_some() {
            self.notice = None;
        }
        if is_key_pressed(KeyCode::L) {
            match self.history.in_loop() {
                Some(_) => self.history.end_loop(),
                None => self.history.begin_loop(LOOP),
            }
        }
        if is_key_pressed(KeyCode::B) {
            let back = self
                .history
                .go_back(BACK, &mut game.runtime, &mut game.world);
            self.notice = back.err().map(|error| error.to_string());
        }
        if is_key_pressed(KeyCode::G) {
            self.shows_ghosts = !self.shows_ghosts;
        }
        if is_key_pressed(KeyCode::A) && !self.live.accept() {
            self.notice = Some("there is no refused code to accept".to_owned());
        }
    }

    fn look_ahead(&mut self, game: &mut Game) {
        self.ghosts.clear();
        if !self.shows_ghosts {
            return;
        }
        let (mut frames, ghosts) = (0_u8, &mut self.ghosts);
        let see = |world: &World| {
            frames += 1;
            if frames % 3 == 0 {
                ghosts.extend(world.bullets.iter().map(|bullet| Ghost {
                    at: bullet.at,
                    hue: bullet.hue,
                    frames,
                }));
            }
        };
        let (runtime, world) = (&mut game.runtime, &game.world);
        if let Err(error) = self.history.ahead(runtime, world, AHEAD, step, see) {
            self.notice = Some(error.to_string());
        }
    }

    pub(crate) fn draw(&mut self, game: &mut Game) {
        self.look_ahead(game);
        for ghost in &self.ghosts {
            let a = 0.4 * (1.0 - f32::from(ghost.frames) / 100.0);
            let colour = Color {
                a,
                ..draw::bullet_colour(ghost.hue)
            };
            draw_rectangle(ghost.at[0] - 1.0, ghost.at[1] - 1.0, 2.0, 2.0, colour);
        }
        self.draw_strip(game.runtime.time().frame);
        self.draw_status();
        self.since_exchange = self.since_exchange.saturating_add(1);
    }

    /// A line for the remembered frames, with the loop and the exchanges of code.
    fn draw_strip(&self, frame: u64) {
        let (left, top, width) = (20.0, 548.0, 920.0);
        // Bullets fly on behind it.
        draw_rectangle(0.0, SIZE[1], 960.0, 600.0 - SIZE[1], draw::NIGHT);
        draw_rectangle(left, top, width, 6.0, Color { a: 0.15, ..PALE });
        // The present is at three quarters.
        let now = left + 0.75 * width;
        let x =
            |at: f32| (now + (at - narrow(frame)) * 0.75 * width / 600.0).clamp(left, left + width);
        let remembered = narrow(frame) - count(self.history.len());
        draw_rectangle(
            x(remembered),
            top,
            now - x(remembered),
            6.0,
            Color { a: 0.4, ..CYAN },
        );
        if let Some((at, frames)) = self.history.in_loop() {
            let begin = narrow(frame) - count(at);
            let (from, to) = (x(begin), x(begin + count(frames)));
            draw_rectangle_lines(from, top - 4.0, to - from, 14.0, 3.0, GOLD);
        }
        for mark in &self.marks {
            draw_rectangle(x(narrow(*mark)) - 1.0, top - 4.0, 2.0, 14.0, ROSE);
        }
        draw_rectangle(now - 1.0, top - 6.0, 3.0, 18.0, PALE);
        let keys = "arrows: move   L: loop the last 2 s   B: back 5 s   G: ghosts   A: accept";
        draw_text(keys, left, 588.0, 20.0, Color { a: 0.6, ..PALE });
    }

    fn draw_status(&self) {
        let mut lines: Vec<(String, Color)> = Vec::new();
        if let Some(building) = self.live.building() {
            let what = if building.whole_game {
                "the game"
            } else {
                "the scripts"
            };
            let seconds = building.since.elapsed().as_secs_f32();
            lines.push((format!("builds {what}: {seconds:.1} s"), GOLD));
        }
        let is_bad = matches!(
            self.live.status(),
            Status::Failed { .. } | Status::Refused { .. }
        );
        let is_recent = self.since_exchange < 240;
        if is_bad || is_recent {
            let colour = if is_bad { ROSE } else { CYAN };
            let text = self.live.status().to_string();
            let shown = text.lines().take(if is_bad { 26 } else { 4 });
            lines.extend(shown.map(|line| (line.to_owned(), colour)));
        }
        lines.extend(self.notice.iter().map(|notice| (notice.clone(), ROSE)));
        let lines: Vec<_> = lines
            .iter()
            .flat_map(|(line, colour)| wrap(line, *colour))
            .collect();
        if lines.is_empty() {
            return;
        }
        let height = 18.0 * count(lines.len()) + 14.0;
        draw_rectangle(
            12.0,
            34.0,
            936.0,
            height,
            Color::new(0.02, 0.02, 0.05, 0.85),
        );
        for (number, (line, colour)) in lines.iter().enumerate() {
            draw_text(line, 22.0, 52.0 + 18.0 * count(number), 16.0, *colour);
        }
    }
}

/// Lines of the width of the window.
fn wrap(line: &str, colour: Color) -> Vec<(String, Color)> {
    let letters: Vec<char> = line.chars().collect();
    let parts = letters
        .chunks(126)
        .map(|part| (part.iter().collect(), colour));
    parts.collect()
}

#[expect(clippy::cast_precision_loss, reason = "a game of some hours")]
fn narrow(frame: u64) -> f32 {
    frame as f32
}

#[expect(clippy::cast_precision_loss, reason = "some hundreds")]
fn count(number: usize) -> f32 {
    number as f32
}
