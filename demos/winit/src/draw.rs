//! Draws the world and the figures of the loop.

use std::convert::Infallible;
use std::time::Duration;

use embedded_graphics::mono_font::iso_8859_1::{FONT_7X13, FONT_9X15, FONT_10X20};
use embedded_graphics::mono_font::{MonoFont, MonoTextStyle};
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::*;
use embedded_graphics::primitives::{PrimitiveStyle, Rectangle, RoundedRectangle};
use embedded_graphics::text::{Baseline, Text};
use framestep::inspect::Wait;
use framestep::prelude::*;

use crate::canvas::Canvas;
use crate::pace::{Pace, RECENT};
use crate::theme::{Theme, mix};
use crate::world::{Button, Saving, World};

/// How high the bars above and below the text are.
const BAR: i32 = 44;
/// How wide the panel on the right is.
const PANEL: i32 = 330;
const MARGIN: i32 = 16;

/// Drawing on a canvas cannot fail.
type Drawn = Result<(), Infallible>;

pub(crate) fn draw(canvas: &mut Canvas, world: &World, pace: &Pace, executor: &Executor) {
    let theme = Theme::at(world.light);
    let mut pen = Pen { canvas, theme };
    let Ok(()) = pen.all(world, pace, executor);
}

/// Where a button is.
pub(crate) fn button_area(button: Button) -> Rectangle {
    let left = match button {
        Button::Proofread => MARGIN,
        Button::Light => MARGIN + 122,
    };
    Rectangle::new(Point::new(left, 9), Size::new(112, 26))
}

struct Pen<'a> {
    canvas: &'a mut Canvas,
    theme: Theme,
}

impl Pen<'_> {
    fn all(&mut self, world: &World, pace: &Pace, executor: &Executor) -> Drawn {
        let (width, height) = (
            signed(self.canvas.size().width),
            signed(self.canvas.size().height),
        );
        self.canvas.clear(self.theme.back)?;
        let paper = area(0, BAR, width - PANEL, height - 2 * BAR);
        self.fill(paper, self.theme.paper)?;
        self.text_of(world, paper)?;
        self.card(world, paper)?;
        // Above the card, which slides in from below.
        self.fill(area(0, height - BAR, width - PANEL, BAR), self.theme.back)?;
        self.fill(area(0, BAR, width - PANEL, 1), self.theme.line)?;
        self.fill(area(0, height - BAR, width - PANEL, 1), self.theme.line)?;
        for button in Button::ALL {
            self.button(button, world)?;
        }
        self.saving(world, height - BAR)?;
        self.panel(pace, executor, area(width - PANEL, 0, PANEL, height))
    }

    fn fill(&mut self, area: Rectangle, colour: Rgb888) -> Drawn {
        self.canvas.fill_solid(&area, colour)
    }

    fn rounded(&mut self, area: Rectangle, style: PrimitiveStyle<Rgb888>) -> Drawn {
        RoundedRectangle::with_equal_corners(area, Size::new(6, 6))
            .into_styled(style)
            .draw(self.canvas)
    }

    fn write(&mut self, text: &str, at: Point, font: &MonoFont<'_>, colour: Rgb888) -> Drawn {
        let style = MonoTextStyle::new(font, colour);
        Text::with_baseline(text, at, style, Baseline::Top).draw(self.canvas)?;
        Ok(())
    }

    /// The notes, broken into rows, with marks and the cursor.
    fn text_of(&mut self, world: &World, paper: Rectangle) -> Drawn {
        let (wide, high) = (10, 24);
        let left = paper.top_left.x + MARGIN;
        let right = left + signed(paper.size.width) - 2 * MARGIN - wide;
        let mut at = Point::new(left, paper.top_left.y + MARGIN);
        if world.text.is_empty() {
            self.write("Type something.", at, &FONT_10X20, self.theme.faint)?;
        }
        let mut bytes = [0; 4];
        for (index, character) in world.text.char_indices() {
            if index == world.cursor {
                self.cursor(world, at)?;
            }
            if character == '\n' || at.x > right {
                at = Point::new(left, at.y + high);
            }
            if character == '\n' {
                continue;
            }
            let colour = if at.y < paper.top_left.y + high {
                self.theme.accent
            } else {
                self.theme.ink
            };
            self.write(character.encode_utf8(&mut bytes), at, &FONT_10X20, colour)?;
            if world.marks.iter().any(|mark| mark.contains(&index)) {
                self.fill(area(at.x, at.y + 20, wide, 2), self.theme.bad)?;
            }
            at.x += wide;
        }
        if world.cursor == world.text.len() {
            self.cursor(world, at)?;
        }
        Ok(())
    }

    fn cursor(&mut self, world: &World, at: Point) -> Drawn {
        if world.shows_cursor && world.focused.get() {
            self.fill(area(at.x - 1, at.y, 2, 20), self.theme.warm)?;
        }
        Ok(())
    }

    fn button(&mut self, button: Button, world: &World) -> Drawn {
        let glow = world.button_glow[button as usize];
        let area = button_area(button);
        let style = PrimitiveStyle::with_fill(mix(self.theme.line, self.theme.accent, glow));
        self.rounded(area, style)?;
        let share = match button {
            Button::Proofread => world.proofreading.get(),
            Button::Light => Some(world.light),
        };
        if let Some(share) = share {
            let wide = pixels(share * 100.0);
            self.fill(
                Rectangle::new(area.top_left + Point::new(6, 22), Size::new(wide, 2)),
                self.theme.warm,
            )?;
        }
        let at = area.top_left + Point::new(10, 5);
        self.write(button.label(), at, &FONT_9X15, self.theme.ink)
    }

    /// The sign of the autosave, in the bar below the text.
    fn saving(&mut self, world: &World, top: i32) -> Drawn {
        let (colour, text) = match world.saving.get() {
            Saving::Saved => (self.theme.good, format!("saved in {}", name_of(world))),
            Saving::Edited => (self.theme.warm, "edited".to_owned()),
            Saving::Writing => (self.theme.accent, "saving ...".to_owned()),
            Saving::Failed(why) => (self.theme.bad, why),
        };
        let dot = area(MARGIN, top + 17, 11, 11);
        let halo = mix(self.theme.back, colour, world.saving_glow);
        self.rounded(dot.offset(5), PrimitiveStyle::with_fill(halo))?;
        self.rounded(dot, PrimitiveStyle::with_fill(colour))?;
        let at = Point::new(MARGIN + 24, top + 15);
        let ink = mix(self.theme.faint, self.theme.ink, world.saving_glow);
        self.write(&text, at, &FONT_9X15, ink)
    }

    fn card(&mut self, world: &World, paper: Rectangle) -> Drawn {
        let Some(card) = &world.card else {
            return Ok(());
        };
        let bottom = paper.top_left.y + signed(paper.size.height);
        let top = bottom - signed(pixels(card.shown * 56.0));
        let wide = signed(paper.size.width) - 2 * MARGIN;
        let area = area(MARGIN, top, wide, 44);
        let mut style = PrimitiveStyle::with_stroke(self.theme.accent, 1);
        style.fill_color = Some(self.theme.back);
        self.rounded(area, style)?;
        self.write(
            &card.text,
            area.top_left + Point::new(16, 14),
            &FONT_9X15,
            self.theme.ink,
        )
    }

    /// The state of the loop.
    fn panel(&mut self, pace: &Pace, executor: &Executor, panel: Rectangle) -> Drawn {
        self.fill(
            Rectangle::new(panel.top_left, Size::new(1, panel.size.height)),
            self.theme.line,
        )?;
        let mut at = panel.top_left + Point::new(MARGIN, 13);
        self.write("The event loop", at, &FONT_9X15, self.theme.ink)?;

        at.y += 44;
        let figures = pace.figures(executor);
        let share = figures.slept.as_secs_f32() / figures.passed.as_secs_f32().max(0.001);
        let now = match figures.next {
            _ if executor.has_ready() => "runs 60 frames a second".to_owned(),
            Some(left) => format!("sleeps for {:.2} s", left.as_secs_f32()),
            None => "sleeps until an event".to_owned(),
        };
        let lines = [
            ("now", now),
            ("frames", figures.frames.to_string()),
            ("asleep", format!("{:.0} % of the time", share * 100.0)),
            ("longest", format!("{:.2} s", figures.longest.as_secs_f32())),
        ];
        for (name, value) in lines {
            self.write(name, at, &FONT_9X15, self.theme.faint)?;
            let right = at + Point::new(82, 0);
            self.write(&value, right, &FONT_9X15, self.theme.ink)?;
            at.y += 22;
        }

        at.y += 12;
        self.write(
            "frames of the last ten seconds",
            at,
            &FONT_7X13,
            self.theme.faint,
        )?;
        at.y += 18;
        let strip = area(at.x, at.y, PANEL - 2 * MARGIN, 36);
        self.fill(strip, self.theme.paper)?;
        for age in pace.recent() {
            let back = share_of(age, RECENT) * 295.0;
            let x = strip.top_left.x + signed(strip.size.width) - 3 - signed(pixels(back));
            self.fill(area(x, at.y + 4, 1, 28), self.theme.accent)?;
        }

        at.y += 58;
        self.write(
            "scripts, and what they wait for",
            at,
            &FONT_7X13,
            self.theme.faint,
        )?;
        at.y += 20;
        for script in &executor.snapshot() {
            let waits_for = match script.waits().next() {
                Some(Wait::Timer { left, .. }) => format!("{:.2} s", left.as_secs_f32()),
                Some(wait) => wait.to_string(),
                None => format!("{:?}", script.state()),
            };
            let right = at + Point::new(82, 0);
            self.write(script.name(), at, &FONT_7X13, self.theme.ink)?;
            self.write(&waits_for, right, &FONT_7X13, self.theme.faint)?;
            at.y += 18;
        }
        Ok(())
    }
}

fn name_of(world: &World) -> String {
    let name = world.path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn area(x: i32, y: i32, width: i32, height: i32) -> Rectangle {
    let size = Size::new(width.max(0).unsigned_abs(), height.max(0).unsigned_abs());
    Rectangle::new(Point::new(x, y), size)
}

fn signed(pixels: u32) -> i32 {
    i32::try_from(pixels).unwrap_or(i32::MAX)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it saturates"
)]
fn pixels(length: f32) -> u32 {
    length.round() as u32
}

fn share_of(part: Duration, whole: Duration) -> f32 {
    (part.as_secs_f32() / whole.as_secs_f32()).min(1.0)
}
