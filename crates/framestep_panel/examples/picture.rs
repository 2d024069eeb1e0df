//! Pictures of the panel, without a window: egui's shapes, painted by this program.
//!
//! ```sh
//! cargo run --release --features egui,terminal --example picture -- panel.png 1280 720
//! ```
//!
//! Then any of `--light`, `--scripts N`, `--hunt`, `--frames N`, `--select NAME`, `--terminal` (the view
//! for terminals), `--time` (prints what a frame costs).

#![expect(clippy::cast_precision_loss, reason = "as in the library")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::struct_excessive_bools,
    reason = "pixels are few, and options are what they are"
)]

mod scene;

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::time::{Duration, Instant};

use egui::epaint::{ImageData, Primitive, TextureId, Vertex};
use egui::{ColorImage, Context, Rect, Ui, pos2, vec2};
use framestep_panel::Panel;
use framestep_panel::egui_view::View;

use scene::Scene;

/// The command-line options.
struct Options {
    file: String,
    size: [usize; 2],
    light: bool,
    scripts: usize,
    hunt: bool,
    frames: u32,
    select: Option<String>,
    terminal: bool,
    time: bool,
}

impl Options {
    fn read() -> Result<Self, Box<dyn Error>> {
        let mut words = std::env::args().skip(1);
        let mut next = || {
            words
                .next()
                .ok_or("FILE WIDTH HEIGHT [OPTION..]: see the top of picture.rs")
        };
        let mut options = Options {
            file: next()?,
            size: [next()?.parse()?, next()?.parse()?],
            light: false,
            scripts: 10,
            hunt: false,
            frames: 500,
            select: None,
            terminal: false,
            time: false,
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} takes a value"));
            match word.as_str() {
                "--light" => options.light = true,
                "--scripts" => options.scripts = value()?.parse()?,
                "--hunt" => options.hunt = true,
                "--frames" => options.frames = value()?.parse()?,
                "--select" => options.select = Some(value()?),
                "--terminal" => options.terminal = true,
                "--time" => options.time = true,
                _ => return Err(format!("unknown: {word}; see the top of picture.rs").into()),
            }
        }
        Ok(options)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read()?;
    let mut panel = Panel::new();
    panel.open();
    let mut scene = if options.hunt {
        Scene::hunt()
    } else {
        Scene::lively(options.scripts)
    };
    panel.listen(&scene.executor);
    if options.terminal {
        panel.offer_restart();
    }
    let mut looks = Duration::ZERO;
    for _ in 0..options.frames {
        scene.run(1.0 / 60.0);
        let began = Instant::now();
        panel.look(&scene.executor);
        looks += began.elapsed();
    }
    if let Some(name) = &options.select {
        let frame = panel.shown().ok_or("no frame")?;
        let found = frame.scripts().find(|script| script.name() == name);
        let id = found.ok_or(format!("no script {name}"))?.id();
        panel.select(Some(id));
    }

    let context = Context::default();
    context.set_theme(if options.light {
        egui::Theme::Light
    } else {
        egui::Theme::Dark
    });
    let mut view = View::new();
    let mut canvas = Canvas::new(options.size);
    let mut draws = Duration::ZERO;
    let rounds = if options.time { 60 } else { 3 };
    for round in 0..rounds {
        if options.time {
            scene.run(1.0 / 60.0);
            panel.look(&scene.executor);
        }
        let [width, height] = options.size.map(|side| side as f32);
        let input = egui::RawInput {
            screen_rect: Some(Rect::from_min_size(pos2(0.0, 0.0), vec2(width, height))),
            time: Some(f64::from(round) / 60.0),
            ..Default::default()
        };
        let began = Instant::now();
        let output = context.run_ui(input, |ui| {
            if options.terminal {
                terminal(ui, &options, &mut panel);
            } else {
                view.show(ui, &mut panel);
            }
        });
        draws += began.elapsed();
        canvas.paint(&context, output);
    }
    if options.time {
        let all = options.frames;
        println!(
            "a look: {:?}, a drawing: {:?}",
            looks / all.max(1),
            draws / 60
        );
    }
    canvas.save(&options.file)
}

#[cfg(not(feature = "terminal"))]
fn terminal(_: &mut Ui, _: &Options, _: &mut Panel) {
    panic!("--terminal needs --features egui,terminal");
}

/// Draws the cells of the view for terminals as text.
#[cfg(feature = "terminal")]
fn terminal(ui: &mut Ui, options: &Options, panel: &mut Panel) {
    use egui::{Align2, FontId};
    use ratatui::buffer::Buffer;
    use ratatui::style::Color;

    const CELL: egui::Vec2 = vec2(8.0, 17.0);
    let [width, height] = options.size.map(|side| side as f32);
    let (columns, lines) = ((width / CELL.x) as u16, (height / CELL.y) as u16);
    let area = ratatui::layout::Rect::new(0, 0, columns, lines);
    let mut buffer = Buffer::empty(area);
    let mut view = framestep_panel::terminal::View::new()
        .dark(!options.light)
        .closes_on("q esc");
    view.draw_in(area, &mut buffer, panel);
    let colour = |colour| match colour {
        Color::Rgb(red, green, blue) => egui::Color32::from_rgb(red, green, blue),
        _ => egui::Color32::GRAY,
    };
    let painter = ui.painter();
    for y in 0..lines {
        for x in 0..columns {
            let cell = &buffer[(x, y)];
            let at = pos2(f32::from(x) * CELL.x, f32::from(y) * CELL.y);
            let rect = Rect::from_min_size(at, CELL);
            painter.rect_filled(rect, 0.0, colour(cell.bg));
            let block = "▁▂▃▄▅▆▇█"
                .chars()
                .position(|c| cell.symbol().starts_with(c));
            let part = "▏▎▍▌▋▊▉".chars().position(|c| cell.symbol().starts_with(c));
            if let Some(eighths) = block {
                let top = rect.bottom() - CELL.y * (eighths + 1) as f32 / 8.0;
                painter.rect_filled(rect.with_min_y(top), 0.0, colour(cell.fg));
            } else if let Some(eighths) = part {
                let right = rect.left() + CELL.x * (eighths + 1) as f32 / 8.0;
                painter.rect_filled(rect.with_max_x(right), 0.0, colour(cell.fg));
            } else {
                let font = FontId::monospace(13.3);
                painter.text(
                    rect.center(),
                    Align2::CENTER_CENTER,
                    cell.symbol(),
                    font,
                    colour(cell.fg),
                );
            }
        }
    }
}

/// Paints triangles as egui specifies: with textures, vertex colours, and blending.
struct Canvas {
    size: [usize; 2],
    pixels: Vec<[f32; 4]>,
    textures: HashMap<TextureId, ColorImage>,
}

impl Canvas {
    fn new(size: [usize; 2]) -> Self {
        Canvas {
            size,
            pixels: vec![[0.0; 4]; size[0] * size[1]],
            textures: HashMap::new(),
        }
    }

    fn paint(&mut self, context: &Context, mut output: egui::FullOutput) {
        let mut deltas = std::mem::take(&mut output.textures_delta);
        let parts = std::mem::take(&mut deltas.set).into_iter();
        let parts = parts.flat_map(|(id, parts)| parts.into_iter().map(move |part| (id, part)));
        for (id, delta) in parts {
            let ImageData::Color(image) = delta.image;
            match (delta.pos, self.textures.get_mut(&id)) {
                (Some([x, y]), Some(texture)) => {
                    for row in 0..image.height() {
                        for column in 0..image.width() {
                            texture[(x + column, y + row)] = image[(column, row)];
                        }
                    }
                }
                _ => drop(self.textures.insert(id, (*image).clone())),
            }
        }
        self.pixels.fill([0.0, 0.0, 0.0, 1.0]);
        for part in context.tessellate(output.shapes, output.pixels_per_point) {
            if let Primitive::Mesh(mesh) = part.primitive {
                for corners in mesh.indices.chunks(3) {
                    let corners = [0, 1, 2].map(|at| mesh.vertices[corners[at] as usize]);
                    self.triangle(part.clip_rect, &corners, mesh.texture_id);
                }
            }
        }
    }

    fn triangle(&mut self, clip: Rect, [a, b, c]: &[Vertex; 3], texture: TextureId) {
        let Some(texture) = self.textures.get(&texture) else {
            return;
        };
        let cross = |o: egui::Pos2, p: egui::Pos2, q: egui::Pos2| {
            (p.x - o.x) * (q.y - o.y) - (p.y - o.y) * (q.x - o.x)
        };
        let area = cross(a.pos, b.pos, c.pos);
        if area.abs() < 1e-6 {
            return;
        }
        let bounds = Rect::from_points(&[a.pos, b.pos, c.pos]);
        let screen = Rect::from_min_size(
            pos2(0.0, 0.0),
            vec2(self.size[0] as f32, self.size[1] as f32),
        );
        let bounds = bounds.intersect(clip).intersect(screen);
        if !bounds.is_positive() {
            return;
        }
        for y in bounds.top().floor() as usize..(bounds.bottom().ceil() as usize).min(self.size[1])
        {
            for x in
                bounds.left().floor() as usize..(bounds.right().ceil() as usize).min(self.size[0])
            {
                let at = pos2(x as f32 + 0.5, y as f32 + 0.5);
                let weights = [
                    cross(b.pos, c.pos, at) / area,
                    cross(c.pos, a.pos, at) / area,
                    cross(a.pos, b.pos, at) / area,
                ];
                // An edge belongs to only one of the two triangles that share it.
                let is_in = weights.iter().all(|weight| *weight >= 0.0);
                if !is_in || !clip.contains(at) {
                    continue;
                }
                let mix = |of: &dyn Fn(&Vertex) -> f32| {
                    weights[0] * of(a) + weights[1] * of(b) + weights[2] * of(c)
                };
                let texel = sample(texture, mix(&|v| v.uv.x), mix(&|v| v.uv.y));
                let source: [f32; 4] = std::array::from_fn(|part| {
                    mix(&|v| f32::from(v.color[part])) / 255.0 * texel[part]
                });
                let pixel = &mut self.pixels[y * self.size[0] + x];
                for part in 0..4 {
                    pixel[part] = source[part] + pixel[part] * (1.0 - source[3]);
                }
            }
        }
    }

    fn save(&self, file: &str) -> Result<(), Box<dyn Error>> {
        let [width, height] = self.size;
        let file = BufWriter::new(File::create(file)?);
        let mut encoder = png::Encoder::new(file, width.try_into()?, height.try_into()?);
        encoder.set_color(png::ColorType::Rgb);
        let byte = |part: &f32| (part.clamp(0.0, 1.0) * 255.0).round() as u8;
        let bytes: Vec<u8> = self
            .pixels
            .iter()
            .flat_map(|pixel| pixel[..3].iter().map(byte))
            .collect();
        encoder.write_header()?.write_image_data(&bytes)?;
        Ok(())
    }
}

/// The texture between its four closest points.
fn sample(texture: &ColorImage, u: f32, v: f32) -> [f32; 4] {
    let [width, height] = texture.size;
    let (x, y) = (u * width as f32 - 0.5, v * height as f32 - 0.5);
    let (x, y) = (
        x.clamp(0.0, width as f32 - 1.0),
        y.clamp(0.0, height as f32 - 1.0),
    );
    let (x0, y0) = (x as usize, y as usize);
    let (x1, y1) = ((x0 + 1).min(width - 1), (y0 + 1).min(height - 1));
    let (fx, fy) = (x - x0 as f32, y - y0 as f32);
    std::array::from_fn(|part| {
        let at = |x, y| f32::from(texture[(x, y)][part]) / 255.0;
        let top = at(x0, y0) * (1.0 - fx) + at(x1, y0) * fx;
        let bottom = at(x0, y1) * (1.0 - fx) + at(x1, y1) * fx;
        top * (1.0 - fy) + bottom * fy
    })
}
