//! Draws the layer over the arena: bars, the dialogue, the menu.

use macroquad::prelude::*;

use crate::dialogue::Speech;
use crate::draw::{CYAN, NIGHT, PALE, WALL};
use crate::hero::Hero;
use crate::menu::{ITEMS, Menu};
use crate::numbers::real;
use crate::world::{ARENA, World};

pub(crate) fn draw(world: &World) {
    draw_status(world);
    match (&world.speech, &world.banner) {
        (Some(speech), _) => draw_speech(speech),
        (None, Some((words, visible))) => {
            let y = ARENA.center().y + 60.0;
            centred(words, ARENA.center().x, y, 48, faded(PALE, *visible));
        }
        (None, None) => {}
    }
    if let Some(menu) = &world.menu {
        draw_menu(menu);
    }
}

fn draw_status(world: &World) {
    if let Some(boss) = &world.boss {
        let (x, y, width) = (ARENA.x + 60.0, ARENA.y + 12.0, ARENA.w - 120.0);
        draw_rectangle(x, y, width, 8.0, faded(WALL, 0.7));
        let colour = Color::new(1.0, 0.35, 0.5, 0.95);
        draw_rectangle(x, y, width * boss.share(), 8.0, colour);
        for third in [1.0, 2.0] {
            draw_rectangle(x + width * third / 3.0 - 1.0, y, 2.0, 8.0, NIGHT);
        }
    }
    let y = ARENA.bottom() - 18.0;
    let health = world.hero.health.get();
    for place in 0..Hero::HEALTH {
        let x = ARENA.x + 14.0 + 14.0 * real(usize::try_from(place).unwrap_or(0));
        let colour = if place < health {
            CYAN
        } else {
            faded(WALL, 0.6)
        };
        draw_rectangle(x, y, 10.0, 8.0, colour);
    }
    let (x, width) = (ARENA.right() - 134.0, 120.0);
    draw_rectangle(x, y, width, 8.0, faded(WALL, 0.6));
    let colour = Color::new(0.7, 0.6, 1.0, 1.0);
    draw_rectangle(x, y, width * world.hero.focus, 8.0, colour);
}

/// The words in lines of at most `letters`, each with the place where it begins.
fn lines(words: &str, letters: usize) -> Vec<(usize, &str)> {
    let mut lines = Vec::new();
    let mut begin = 0;
    while words.len() - begin > letters {
        let end = words[begin..begin + letters].rfind(' ').unwrap_or(letters);
        lines.push((begin, &words[begin..begin + end]));
        begin += end + 1;
    }
    lines.push((begin, &words[begin..]));
    lines
}

fn draw_speech(speech: &Speech) {
    let (x, w, h) = (ARENA.x + 24.0, ARENA.w - 48.0, 132.0);
    let y = ARENA.bottom() - h - 32.0;
    draw_rectangle(x, y, w, h, Color::new(0.03, 0.035, 0.07, 0.94));
    draw_rectangle_lines(x, y, w, h, 2.0, WALL);
    text(speech.speaker, x + 16.0, y + 24.0, 16.0, CYAN);
    for (row, (begin, line)) in lines(speech.text, 78).into_iter().enumerate() {
        let typed = speech.typed.saturating_sub(begin).min(line.len());
        let y = y + 46.0 + 20.0 * real(row);
        text(&line[..typed], x + 16.0, y, 16.0, PALE);
    }
    if !speech.waits {
        return;
    }
    for (place, choice) in speech.choices.iter().enumerate() {
        let y = y + 94.0 + 20.0 * real(place);
        let is_chosen = place == speech.chosen;
        let colour = if is_chosen { CYAN } else { faded(PALE, 0.6) };
        if is_chosen {
            text(">", x + 16.0, y, 16.0, colour);
        }
        text(choice, x + 32.0, y, 16.0, colour);
    }
    if speech.choices.is_empty() {
        text(
            "[enter]",
            x + w - 70.0,
            y + h - 12.0,
            16.0,
            faded(PALE, 0.6),
        );
    }
}

fn draw_menu(menu: &Menu) {
    let shade = faded(NIGHT, 0.65 * menu.slid);
    draw_rectangle(ARENA.x, ARENA.y, ARENA.w, ARENA.h, shade);
    let (w, h) = (260.0, 236.0);
    let x = ARENA.center().x - w / 2.0 - (1.0 - menu.slid) * 300.0;
    let y = ARENA.center().y - h / 2.0;
    let alpha = menu.slid;
    draw_rectangle(x, y, w, h, Color::new(0.05, 0.06, 0.11, 0.95 * alpha));
    draw_rectangle_lines(x, y, w, h, 2.0, faded(CYAN, alpha));
    let bob = (menu.bob * std::f32::consts::TAU).sin() * 3.0;
    centred(
        "PAUSED",
        x + w / 2.0,
        y + 46.0 + bob,
        32,
        faded(PALE, alpha),
    );
    let bar = y + 72.0 + 36.0 * menu.bar;
    draw_rectangle(x + 16.0, bar, w - 32.0, 30.0, faded(CYAN, 0.25 * alpha));
    for (place, item) in ITEMS.iter().enumerate() {
        let y = y + 92.0 + 36.0 * real(place);
        centred(item, x + w / 2.0, y, 16, faded(PALE, alpha));
    }
}

/// The colour, with another alpha.
pub(crate) fn faded(colour: Color, alpha: f32) -> Color {
    Color { a: alpha, ..colour }
}

/// Draws text, its left end at `x`, on the line `y`.
pub(crate) fn text(words: &str, x: f32, y: f32, size: f32, colour: Color) {
    draw_text(words, x, y, size, colour);
}

fn text_width(words: &str, size: u16) -> f32 {
    measure_text(words, None, size, 1.0).width
}

fn centred(words: &str, middle: f32, y: f32, size: u16, colour: Color) {
    let x = middle - text_width(words, size) / 2.0;
    text(words, x.round(), y, f32::from(size), colour);
}
