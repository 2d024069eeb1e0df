//! Draws the overlay: a panel beside the arena.

use macroquad::prelude::*;

use crate::interface::{faded, text};
use crate::numbers::{real, with_commas};
use crate::overlay::{FRAMES, Overlay};
use crate::world::World;

const LEFT: f32 = 704.0;
const WIDTH: f32 = 240.0;
const PALE: Color = Color::new(0.8, 0.85, 1.0, 1.0);
const DIM: Color = Color::new(0.5, 0.56, 0.75, 1.0);
const GREEN: Color = Color::new(0.45, 0.95, 0.6, 1.0);

/// Rows of text from the top down.
struct Rows {
    y: f32,
}

impl Rows {
    fn skip(&mut self, height: f32) {
        self.y += height;
    }

    fn row(&mut self, left: &str, right: &str, colour: Color) {
        text(left, LEFT, self.y, 16.0, colour);
        let width = measure_text(right, None, 16, 1.0).width;
        text(right, LEFT + WIDTH - width, self.y, 16.0, colour);
        self.y += 16.0;
    }
}

pub(crate) fn draw(world: &World, overlay: &Overlay, is_piloted: bool) {
    let mut rows = Rows { y: 34.0 };
    text("framestep", LEFT, rows.y, 32.0, PALE);
    rows.skip(26.0);
    let figures = &overlay.figures;
    rows.row("coroutines", &with_commas(figures.coroutines), GREEN);
    let mean = format!("{:.2} ms", figures.milliseconds);
    rows.row("executor, a frame", &mean, GREEN);
    draw_strip(overlay, rows.y - 6.0);
    rows.skip(78.0);

    let took = format!("{:.2} ms", overlay.snapshot_took);
    rows.row("SNAPSHOT", &took, DIM);
    for (kind, count) in &overlay.waits {
        rows.row(kind, &with_commas(*count), PALE);
    }
    rows.skip(8.0);
    rows.row("SCRIPTS", "", DIM);
    for (name, count) in &overlay.scripts {
        rows.row(name, &with_commas(*count), PALE);
    }

    let mut rows = Rows { y: 434.0 };
    rows.row("CLOCKS", "", DIM);
    for (name, clock) in [("drama", &world.clocks.drama), ("foes", &world.clocks.foes)] {
        let now = clock.now().as_secs_f32();
        let reading = format!("x {:.2}  {now:7.2} s", clock.effective_scale());
        rows.row(name, &reading, PALE);
    }
    rows.skip(8.0);
    if is_piloted {
        rows.row("plays by itself", "press a key", GREEN);
    } else {
        rows.row("arrows, space", "move, shoot", DIM);
    }
    rows.row("shift", "slow motion", DIM);
    rows.row("escape, F1", "menu, overlay", DIM);
}

/// A bar for each of the last frames, as high as the executor took.
fn draw_strip(overlay: &Overlay, top: f32) {
    let height = 58.0;
    draw_rectangle(LEFT, top, WIDTH, height, Color::new(0.07, 0.08, 0.14, 1.0));
    // The smallest of these scales that fits all bars.
    let scales = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
    let peak = overlay.peak();
    let scale = scales.into_iter().find(|scale| *scale >= peak);
    let scale = scale.unwrap_or(64.0);
    let bar = WIDTH / real(FRAMES);
    for (place, took) in overlay.strip.iter().enumerate() {
        let share = (took / scale).min(1.0);
        let x = LEFT + bar * real(place);
        let (y, h) = (top + height * (1.0 - share), height * share);
        draw_rectangle(x, y, bar - 0.5, h, faded(GREEN, 0.35 + 0.65 * share));
    }
    let label = format!("{scale} ms");
    draw_rectangle(LEFT, top, 56.0, 15.0, Color::new(0.07, 0.08, 0.14, 0.85));
    text(&label, LEFT + 3.0, top + 11.0, 16.0, DIM);
    draw_rectangle(LEFT, top, WIDTH, 1.0, faded(DIM, 0.6));
}
