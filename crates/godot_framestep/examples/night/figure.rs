//! Everything in the scene that is drawn. A figure has no script of its own.

use std::f32::consts::TAU;

use godot::classes::{INode2D, Node2D, ThemeDb};
use godot::prelude::*;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    #[default]
    Sky,
    Star,
    Castle,
    Gate,
    Torch,
    Guard,
    Hero,
    Bat,
    Slime,
    Coin,
    Lift,
    Spark,
    Words,
}

/// A node that draws one thing. Scripts move it, and change the four values.
#[derive(GodotClass, Debug)]
#[class(base = Node2D, init)]
pub(crate) struct Figure {
    pub(crate) kind: Kind,
    /// From 0 to 1: how far wings, legs, flames or a lid are in their motion.
    pub(crate) motion: f32,
    pub(crate) color: Color,
    pub(crate) text: String,
    /// 1 to the right, -1 to the left.
    #[init(val = 1.0)]
    pub(crate) facing: f32,
    base: Base<Node2D>,
}

/// Makes a figure in `parent`.
pub(crate) fn add(parent: &Gd<Node2D>, kind: Kind, at: Vector2, color: &str) -> Gd<Figure> {
    let mut figure = Figure::new_alloc();
    figure.bind_mut().kind = kind;
    figure.bind_mut().color = Color::from_html(color).unwrap_or(Color::MAGENTA);
    figure.set_position(at);
    figure.set_name(&format!("{kind:?}"));
    parent.clone().add_child(&figure);
    figure
}

/// Changes what a figure shows.
pub(crate) fn change(figure: &Gd<Figure>, change: impl FnOnce(&mut Figure)) {
    let mut figure = figure.clone();
    change(&mut figure.bind_mut());
    figure.queue_redraw();
}

#[godot_api]
impl INode2D for Figure {
    fn draw(&mut self) {
        match self.kind {
            Kind::Sky => self.sky(),
            Kind::Star => self.circle(0.0, 0.0, 1.6, self.color),
            Kind::Castle => self.castle(),
            Kind::Gate => self.gate(),
            Kind::Torch => self.torch(),
            Kind::Guard => self.person(true),
            Kind::Hero => self.person(false),
            Kind::Bat => self.bat(),
            Kind::Slime => self.slime(),
            Kind::Coin => self.coin(),
            Kind::Lift => self.lift(),
            Kind::Spark => self.rect(-3.0, -3.0, 6.0, 6.0, self.color),
            Kind::Words => self.words(),
        }
    }
}

fn rgb(color: &str) -> Color {
    Color::from_html(color).unwrap_or(Color::MAGENTA)
}

impl Figure {
    fn circle(&mut self, x: f32, y: f32, radius: f32, color: Color) {
        self.base_mut()
            .draw_circle(Vector2::new(x, y), radius, color);
    }

    fn rect(&mut self, x: f32, y: f32, width: f32, height: f32, color: Color) {
        let rect = Rect2::new(Vector2::new(x, y), Vector2::new(width, height));
        self.base_mut().draw_rect(rect, color);
    }

    fn polygon(&mut self, points: &[(f32, f32)], color: Color) {
        let points: PackedVector2Array = points.iter().map(|&(x, y)| Vector2::new(x, y)).collect();
        self.base_mut().draw_colored_polygon(&points, color);
    }

    /// A glow of circles that become fainter.
    fn glow(&mut self, x: f32, y: f32, radius: f32, color: Color) {
        for ring in 1..=24 {
            let part = ring as f32 / 24.0;
            let color = color.with_alpha(color.a * 0.016 * (1.3 - part));
            self.circle(x, y, radius * part, color);
        }
    }

    fn sky(&mut self) {
        let (top, bottom) = (rgb("0b1026"), rgb("3d3a6b"));
        for band in 0..36 {
            let color = top.lerp(bottom, f64::from(band) / 36.0);
            self.rect(0.0, band as f32 * 18.0, 1280.0, 19.0, color);
        }
        self.glow(230.0, 130.0, 240.0, rgb("e8ecff"));
        self.circle(230.0, 130.0, 52.0, rgb("f3efd9"));
        self.circle(212.0, 118.0, 10.0, rgb("e2dcc0"));
        self.circle(246.0, 146.0, 14.0, rgb("e2dcc0"));
        self.polygon(
            &[
                (0.0, 560.0),
                (190.0, 430.0),
                (420.0, 540.0),
                (640.0, 410.0),
                (900.0, 600.0),
                (0.0, 640.0),
            ],
            rgb("252a52"),
        );
        self.polygon(
            &[
                (0.0, 610.0),
                (300.0, 500.0),
                (700.0, 600.0),
                (1280.0, 520.0),
                (1280.0, 660.0),
                (0.0, 660.0),
            ],
            rgb("1d2144"),
        );
        self.rect(0.0, 600.0, 1280.0, 120.0, rgb("141731"));
        self.rect(0.0, 600.0, 1280.0, 5.0, rgb("2f3767"));
        for stone in 0..32 {
            let x = stone as f32 * 41.0 + (stone * 37 % 17) as f32;
            let y = 622.0 + (stone * 29 % 76) as f32;
            self.rect(x, y, 22.0, 6.0, rgb("1b1f41"));
        }
    }

    fn castle(&mut self) {
        let (wall, edge, dark) = (rgb("444a78"), rgb("575e93"), rgb("353a63"));
        self.rect(0.0, -250.0, 260.0, 250.0, wall);
        for merlon in 0..7 {
            self.rect(merlon as f32 * 40.0 - 4.0, -278.0, 26.0, 30.0, wall);
        }
        self.rect(0.0, -250.0, 260.0, 8.0, edge);
        for row in 0..9 {
            for column in 0..5 {
                let x = column as f32 * 54.0 + (row % 2) as f32 * 26.0;
                self.rect(x, row as f32 * 26.0 - 230.0, 26.0, 4.0, dark);
            }
        }
        self.rect(78.0, -150.0, 104.0, 150.0, rgb("0d1027"));
        self.circle(130.0, -150.0, 52.0, rgb("0d1027"));
    }

    /// `motion` is how far it is open.
    fn gate(&mut self) {
        let height = 150.0 * (1.0 - self.motion) + 6.0;
        for bar in 0..6 {
            self.rect(bar as f32 * 18.0 - 46.0, -156.0, 6.0, height, rgb("8a7a5c"));
        }
        for beam in 0..3 {
            let y = -156.0 + height * (beam as f32 + 0.5) / 3.0;
            self.rect(-50.0, y, 100.0, 5.0, rgb("6d6048"));
        }
    }

    fn torch(&mut self) {
        let size = 8.0 + 8.0 * self.motion;
        self.glow(0.0, -12.0, 90.0 + 60.0 * self.motion, rgb("ffb347"));
        self.rect(-3.0, 0.0, 6.0, 34.0, rgb("6d4c33"));
        self.polygon(
            &[
                (-size * 0.7, 0.0),
                (size * (self.motion - 0.5), -size * 2.4),
                (size * 0.7, 0.0),
            ],
            rgb("ff8c2e"),
        );
        self.circle(0.0, -2.0, size * 0.62, rgb("ffd27a"));
    }

    /// `motion` is the phase of a stride.
    fn person(&mut self, is_guard: bool) {
        let swing = (self.motion * TAU).sin() * 11.0;
        let (color, facing) = (self.color, self.facing);
        let leg = rgb("20244a");
        self.polygon(
            &[
                (-4.0, -22.0),
                (4.0, -22.0),
                (swing + 4.0, 0.0),
                (swing - 4.0, 0.0),
            ],
            leg,
        );
        self.polygon(
            &[
                (-4.0, -22.0),
                (4.0, -22.0),
                (4.0 - swing, 0.0),
                (-4.0 - swing, 0.0),
            ],
            leg,
        );
        if !is_guard {
            let flap = facing * (14.0 + swing.abs());
            self.polygon(
                &[
                    (-facing * 4.0, -52.0),
                    (-flap, -14.0),
                    (facing * 6.0, -18.0),
                ],
                rgb("8f2d4a"),
            );
        }
        self.polygon(
            &[(-10.0, -20.0), (10.0, -20.0), (8.0, -52.0), (-8.0, -52.0)],
            color,
        );
        self.circle(0.0, -62.0, 11.0, rgb("f0c9a0"));
        self.circle(facing * 5.0, -63.0, 1.8, rgb("14162e"));
        if is_guard {
            self.polygon(
                &[(-13.0, -64.0), (13.0, -64.0), (0.0, -84.0)],
                rgb("9aa3c8"),
            );
            self.rect(facing * 16.0 - 2.0, -96.0, 4.0, 96.0, rgb("7a6248"));
            self.polygon(
                &[
                    (facing * 16.0 - 6.0, -94.0),
                    (facing * 16.0 + 6.0, -94.0),
                    (facing * 16.0, -116.0),
                ],
                rgb("c8d0ea"),
            );
        } else {
            self.polygon(
                &[(-12.0, -64.0), (12.0, -64.0), (-facing * 10.0, -80.0)],
                rgb("3f7d5a"),
            );
        }
    }

    fn bat(&mut self) {
        let lift = (self.motion * TAU).sin() * 8.0;
        let color = self.color;
        self.polygon(&[(0.0, 0.0), (-14.0, -lift), (-8.0, 4.0)], color);
        self.polygon(&[(0.0, 0.0), (14.0, -lift), (8.0, 4.0)], color);
        self.circle(0.0, 1.0, 3.4, color);
    }

    /// `motion` is how flat it is.
    fn slime(&mut self) {
        let (width, height) = (30.0 + 14.0 * self.motion, 44.0 - 24.0 * self.motion);
        let outline: Vec<_> = (0..=20)
            .map(|step| {
                let angle = TAU / 2.0 * step as f32 / 20.0;
                (-angle.cos() * width, -angle.sin() * height)
            })
            .collect();
        self.polygon(&outline, self.color);
        for side in [-1.0, 1.0] {
            self.circle(side * 10.0, -height * 0.55, 5.0, Color::WHITE);
            self.circle(side * 10.0 - 2.0, -height * 0.55, 2.4, rgb("14162e"));
        }
    }

    fn coin(&mut self) {
        let width = (self.motion * TAU).cos().abs() * 10.0 + 1.5;
        let outline: Vec<_> = (0..20)
            .map(|step| {
                let angle = TAU * step as f32 / 20.0;
                (angle.cos() * width, angle.sin() * 11.0)
            })
            .collect();
        self.polygon(&outline, rgb("ffcf4d"));
        self.rect(-width * 0.25, -5.0, width * 0.5, 10.0, rgb("d9982b"));
    }

    fn lift(&mut self) {
        self.rect(-2.0, -640.0, 4.0, 640.0, rgb("3a4070"));
        self.rect(-44.0, 0.0, 88.0, 12.0, rgb("7a6248"));
        self.glow(0.0, -16.0, 60.0, rgb("9fe8ff"));
        self.circle(0.0, -14.0, 8.0, rgb("bff1ff"));
    }

    fn words(&mut self) {
        let Some(font) = ThemeDb::singleton().get_fallback_font() else {
            return;
        };
        let text = self.text.clone();
        if text.is_empty() {
            return;
        }
        let width = font.get_string_size_ex(&text).font_size(20).done().x;
        self.rect(
            -width / 2.0 - 12.0,
            -28.0,
            width + 24.0,
            38.0,
            Color::from_rgba(0.96, 0.95, 0.88, 0.95),
        );
        self.polygon(
            &[(-8.0, 10.0), (8.0, 10.0), (0.0, 22.0)],
            Color::from_rgba(0.96, 0.95, 0.88, 0.95),
        );
        let at = Vector2::new(-width / 2.0, -2.0);
        let ink = rgb("22264d");
        self.base_mut()
            .draw_string_ex(&font, at, &text)
            .font_size(20)
            .modulate(ink)
            .done();
    }
}
