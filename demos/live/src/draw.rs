//! Draws the world.

use macroquad::prelude::*;
use toy_world::{BOSS, BULLET, LAMPS, SHIP, SIZE, World, lamp_x};

use crate::game::Game;

pub(crate) const NIGHT: Color = Color::new(0.035, 0.04, 0.075, 1.0);
pub(crate) const GOLD: Color = Color::new(1.0, 0.82, 0.35, 1.0);
pub(crate) const CYAN: Color = Color::new(0.45, 0.95, 1.0, 1.0);
pub(crate) const ROSE: Color = Color::new(1.0, 0.45, 0.6, 1.0);
pub(crate) const PALE: Color = Color::new(0.86, 0.89, 1.0, 1.0);

/// Prepares each letter: the pictures of two moments must not differ by what was drawn before.
pub(crate) fn prepare() {
    let font = get_default_font();
    // Room for all of them. Otherwise letters move when the texture is enlarged.
    font.populate_font_cache(&['M'], 600);
    let letters: Vec<char> = (' '..='~').collect();
    for size in [16, 20] {
        font.populate_font_cache(&letters, size);
    }
}

pub(crate) fn bullet_colour(hue: f32) -> Color {
    macroquad::color::hsl_to_rgb(hue, 0.9, 0.66)
}

pub(crate) fn draw(game: &Game) {
    let World {
        ship,
        flash,
        hits,
        boss,
        bullets,
        lamps,
        ..
    } = &game.world;
    clear_background(NIGHT);
    draw_rectangle_lines(
        1.0,
        1.0,
        SIZE[0] - 2.0,
        SIZE[1] - 2.0,
        2.0,
        Color { a: 0.3, ..PALE },
    );
    for (lamp, glow) in (0..LAMPS).zip(lamps) {
        let colour = Color {
            a: 0.12 + 0.88 * glow,
            ..GOLD
        };
        draw_circle(lamp_x(lamp), 14.0, 4.0 + 5.0 * glow, colour);
    }
    for bullet in bullets {
        let ([x, y], colour) = (bullet.at, bullet_colour(bullet.hue));
        draw_circle(x, y, BULLET + 3.0, Color { a: 0.25, ..colour });
        draw_circle(x, y, BULLET, colour);
    }
    let [x, y] = boss.at;
    draw_circle(x, y, BOSS + 5.0, Color { a: 0.2, ..ROSE });
    draw_poly(x, y, 8, BOSS, 22.5, Color::new(0.42, 0.14, 0.34, 1.0));
    draw_ellipse(x, y, 15.0, 1.0 + 9.0 * boss.open, 0.0, PALE);
    draw_circle(x, y, 1.0 + 5.0 * boss.open, NIGHT);
    let width = measure_text(&boss.words, None, 20, 1.0).width;
    draw_text(&boss.words, x - width / 2.0, y - 42.0, 20.0, PALE);
    let [x, y] = *ship;
    draw_circle(
        x,
        y,
        SHIP + 5.0 + 8.0 * flash,
        Color {
            a: 0.25 + 0.4 * flash,
            ..CYAN
        },
    );
    draw_triangle(
        vec2(x, y - 1.6 * SHIP),
        vec2(x - SHIP, y + SHIP),
        vec2(x + SHIP, y + SHIP),
        CYAN,
    );
    let seconds = game.runtime.time().elapsed.as_secs_f32();
    let scripts = game.runtime.scripts().len();
    let words = format!(
        "{seconds:.1} s   {hits} hits   {} bullets   {scripts} scripts",
        bullets.len()
    );
    draw_text(&words, 20.0, SIZE[1] - 14.0, 20.0, Color { a: 0.7, ..PALE });
}
