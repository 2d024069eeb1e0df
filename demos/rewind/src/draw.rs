//! Draws the world.

use macroquad::prelude::*;

use crate::guardian::{GUARDIAN, Guardian};
use crate::history::{FRAMES, History};
use crate::session::Session;
use crate::world::{
    BALL, BOTTOM, COIN, DOOR, LAMPS, LEFT, MIDDLE, PLATE, RIGHT, TOP, WALLS, lamp_x,
};

const NIGHT: Color = Color::new(0.035, 0.04, 0.075, 1.0);
const FLOOR: Color = Color::new(0.07, 0.08, 0.14, 1.0);
const WALL: Color = Color::new(0.24, 0.28, 0.42, 1.0);
const WOOD: Color = Color::new(0.85, 0.62, 0.35, 1.0);
const GOLD: Color = Color::new(1.0, 0.82, 0.35, 1.0);
const CYAN: Color = Color::new(0.45, 0.95, 1.0, 1.0);
const ROSE: Color = Color::new(1.0, 0.4, 0.6, 1.0);
const PALE: Color = Color::new(0.86, 0.89, 1.0, 1.0);

/// Prepares each letter. Otherwise the look of a letter depends on the letters before it, but
/// the pictures of two runs must be equal. And in the browser, macroquad draws with a deleted
/// texture after a new letter has enlarged the texture.
pub(crate) fn prepare() {
    let font = get_default_font();
    // When the texture is enlarged, its letters move to random places. After this one, it is
    // large enough for all.
    font.populate_font_cache(&['M'], 600);
    let letters: Vec<char> = (' '..='~').collect();
    for size in [20, 24] {
        font.populate_font_cache(&letters, size);
    }
}

pub(crate) fn draw(session: &Session, is_rewinding: bool) {
    let Session { game, history, .. } = session;
    let world = &game.world;
    clear_background(NIGHT);
    let view = Rect::new(0.0, 0.0, 960.0, 540.0);
    set_camera(&Camera2D {
        target: view.center(),
        zoom: 2.0 / view.size(),
        ..Camera2D::default()
    });
    draw_rectangle(LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP, FLOOR);
    for (wall, open) in WALLS.into_iter().zip(world.doors) {
        draw_wall(wall, open);
    }
    for lamp in 0..LAMPS {
        let glow = world.lamps[usize::from(lamp)];
        let colour = Color::new(1.0, 0.85, 0.5, 0.15 + 0.85 * glow);
        draw_circle(lamp_x(lamp), TOP - 24.0, 6.0 + 5.0 * glow, colour);
    }
    for coin in &world.coins {
        let [x, y] = coin.at;
        let colour = Color {
            a: coin.alpha,
            ..GOLD
        };
        draw_circle_lines(x, y, COIN * coin.size, 3.0, colour);
        draw_circle(x, y, COIN * 0.45 * coin.size, colour);
    }
    draw_guardian(&world.guardian);
    for (number, [x, y]) in (1_u8..=24).zip(history.trail().skip(4).step_by(5)) {
        let a = 0.4 * (1.0 - f32::from(number) / 25.0);
        let colour = if is_rewinding { GOLD } else { CYAN };
        draw_circle(x, y, 3.0 + 6.0 * a, Color { a, ..colour });
    }
    let [x, y] = world.ball;
    draw_circle(x, y, BALL + 5.0, Color { a: 0.25, ..CYAN });
    draw_circle(x, y, BALL, CYAN);
    let edge = 6.0;
    draw_rectangle_lines(
        LEFT - edge,
        TOP - edge,
        RIGHT - LEFT + 2.0 * edge,
        BOTTOM - TOP + 2.0 * edge,
        2.0 * edge,
        WALL,
    );
    draw_history(history, is_rewinding);
    let scripts = game.runtime.scripts().len();
    let seconds = game.runtime.time().elapsed.as_secs_f32();
    let words = format!("{seconds:.1} s   {} coins   {scripts} scripts", world.score);
    draw_text(&words, LEFT, 40.0, 24.0, PALE);
    let keys = "arrows: push   hold R: back in time   S: save   L: load   N: new game";
    draw_text(keys, LEFT, 526.0, 20.0, Color { a: 0.6, ..PALE });
    if let Some(notice) = &session.notice {
        let colour = if notice.is_bad { ROSE } else { GOLD };
        let a = notice.strength();
        draw_text(&notice.words, LEFT, 504.0, 20.0, Color { a, ..colour });
    }
    set_default_camera();
}

fn draw_guardian(guardian: &Guardian) {
    for bullet in &guardian.bullets {
        let [x, y] = bullet.at;
        draw_circle(x, y, 7.0, Color { a: 0.25, ..ROSE });
        draw_circle(x, y, 4.0, ROSE);
    }
    let [x, y] = guardian.at;
    if guardian.lives > 0 || guardian.open > 0.0 {
        let white = guardian.flash;
        let body = Color::new(
            0.35 + 0.65 * white,
            0.12 + 0.88 * white,
            0.3 + 0.7 * white,
            1.0,
        );
        draw_circle(x, y, GUARDIAN + 4.0, Color { a: 0.2, ..ROSE });
        draw_poly(x, y, 8, GUARDIAN, 22.5, body);
        draw_ellipse(x, y, 15.0, 1.0 + 9.0 * guardian.open, 0.0, PALE);
        draw_circle(x, y, 1.0 + 5.0 * guardian.open, NIGHT);
    }
    for life in 0..guardian.lives {
        let left = x - 27.0 + 18.0 * f32::from(life);
        let colour = Color {
            a: 0.3 + 0.7 * guardian.open,
            ..ROSE
        };
        draw_rectangle(left, y - 44.0, 16.0, 5.0, colour);
    }
    for strike in 0..guardian.strikes {
        draw_circle(x - 12.0 + 12.0 * f32::from(strike), y - 54.0, 3.0, GOLD);
    }
    let width = measure_text(&guardian.words, None, 20, 1.0).width;
    draw_text(
        &guardian.words,
        RIGHT - width - 8.0,
        BOTTOM - 10.0,
        20.0,
        PALE,
    );
}

fn draw_wall(x: f32, open: f32) {
    let width = 12.0;
    let left = x - width / 2.0;
    draw_rectangle(left, TOP, width, MIDDLE - DOOR - TOP, WALL);
    draw_rectangle(left, MIDDLE + DOOR, width, BOTTOM - MIDDLE - DOOR, WALL);
    // A leaf from above and one from below.
    let leaf = DOOR * (1.0 - open);
    draw_rectangle(left + 2.0, MIDDLE - DOOR, width - 4.0, leaf, WOOD);
    draw_rectangle(left + 2.0, MIDDLE + DOOR - leaf, width - 4.0, leaf, WOOD);
    let (away, half) = PLATE;
    for plate in [x - away, x + away] {
        let colour = Color {
            a: 0.2 + 0.5 * open,
            ..WOOD
        };
        draw_rectangle(plate - half / 2.0, MIDDLE - DOOR, half, 2.0 * DOOR, colour);
    }
}

/// How far back it goes.
fn draw_history(history: &History, is_rewinding: bool) {
    #[expect(clippy::cast_precision_loss, reason = "some hundreds")]
    let share = history.len() as f32 / FRAMES as f32;
    let colour = if is_rewinding { GOLD } else { CYAN };
    draw_rectangle(LEFT, 476.0, RIGHT - LEFT, 8.0, FLOOR);
    draw_rectangle(LEFT, 476.0, (RIGHT - LEFT) * share, 8.0, colour);
    if is_rewinding {
        draw_rectangle(0.0, 0.0, 960.0, 540.0, Color { a: 0.06, ..GOLD });
        for x in [480.0, 505.0] {
            let (tip, from) = (vec2(x - 22.0, 34.0), x);
            draw_triangle(tip, vec2(from, 20.0), vec2(from, 48.0), GOLD);
        }
    }
}
