//! Draws the world.

use macroquad::prelude::*;

use crate::boss::Boss;
use crate::bullet::Side;
use crate::door::Door;
use crate::floor::TILE;
use crate::hero::Hero;
use crate::interface::{self, faded};
use crate::numbers::pixels;
use crate::overlay::Overlay;
use crate::panel;
use crate::world::{ARENA, World};

const VIEW: Vec2 = Vec2::new(960.0, 540.0);
pub(crate) const NIGHT: Color = Color::new(0.035, 0.04, 0.075, 1.0);
pub(crate) const WALL: Color = Color::new(0.24, 0.28, 0.42, 1.0);
pub(crate) const PALE: Color = Color::new(0.86, 0.89, 1.0, 1.0);
pub(crate) const CYAN: Color = Color::new(0.45, 0.95, 1.0, 1.0);

/// Textures that are made once.
pub(crate) struct Art {
    /// A disc with a bright middle and a soft edge.
    disc: Texture2D,
}

impl Art {
    pub(crate) fn new() -> Self {
        const SIDE: u16 = 32;
        let mut image = Image::gen_image_color(SIDE, SIDE, BLANK);
        let middle = Vec2::splat(f32::from(SIDE) / 2.0 - 0.5);
        for y in 0..SIDE {
            for x in 0..SIDE {
                let away = middle.distance(vec2(x.into(), y.into())) / (f32::from(SIDE) / 2.0);
                let core = (1.0 - (away - 0.45).max(0.0) * 12.0).clamp(0.0, 1.0);
                let glow = (1.0 - away).max(0.0).powi(2) * 0.7;
                image.set_pixel(x.into(), y.into(), faded(WHITE, core.max(glow)));
            }
        }
        Art {
            disc: Texture2D::from_image(&image),
        }
    }

    fn disc(&self, at: Vec2, radius: f32, colour: Color) {
        // The core of the picture is half as wide as the picture.
        let side = radius * 4.0;
        let corner = at - Vec2::splat(side / 2.0);
        let params = DrawTextureParams {
            dest_size: Some(Vec2::splat(side)),
            ..DrawTextureParams::default()
        };
        draw_texture_ex(&self.disc, corner.x, corner.y, colour, params);
    }

    pub(crate) fn draw(&self, world: &World, overlay: &Overlay, is_piloted: bool) {
        clear_background(NIGHT);
        set_camera(&camera(world));
        draw_floor(world);
        draw_walls(&world.doors);
        self.draw_bullets(world);
        self.draw_foes(world);
        self.draw_hero(&world.hero);
        interface::draw(world);
        if world.shows_overlay {
            panel::draw(world, overlay, is_piloted);
        }
    }

    /// All use the same picture, so that they are one batch.
    fn draw_bullets(&self, world: &World) {
        // Sparks continue behind the walls.
        let bullets = || world.bullets.iter().filter(|it| ARENA.contains(it.at));
        for bullet in bullets() {
            self.disc(bullet.at, bullet.radius, bullet.colour);
        }
        for bullet in bullets().filter(|it| it.side == Side::Foe) {
            self.disc(bullet.at, bullet.radius * 0.45, WHITE);
        }
    }

    fn draw_foes(&self, world: &World) {
        for enemy in &world.enemies {
            let (at, radius, colour) = (enemy.at, enemy.kind.radius(), enemy.kind.colour());
            let sides = if radius > 12.0 { 6 } else { 4 };
            let turn = (at.x + at.y) * 2.0;
            self.disc(at, radius * 1.2, faded(colour, 0.25));
            draw_poly(at.x, at.y, sides, radius, turn, colour);
            draw_poly(at.x, at.y, sides, radius * 0.55, turn, NIGHT);
            draw_poly(
                at.x,
                at.y,
                sides,
                radius,
                turn,
                faded(WHITE, enemy.flash * 0.8),
            );
        }
        if let Some(boss) = &world.boss {
            let (at, radius) = (boss.at, Boss::RADIUS);
            let turn = world.clocks.foes.now().as_secs_f32() * 40.0;
            let colour = Color::new(1.0, 0.3, 0.5, 1.0);
            self.disc(at, radius * 1.7, faded(colour, 0.25));
            for (sides, share, turn, colour) in [
                (8, 1.0, turn, colour),
                (8, 0.8, -turn, NIGHT),
                (5, 0.68, -2.0 * turn, colour),
                (5, 0.4, 2.0 * turn, PALE),
                (8, 1.0, turn, faded(WHITE, boss.flash * 0.2)),
            ] {
                draw_poly(at.x, at.y, sides, radius * share, turn, colour);
            }
        }
    }

    fn draw_hero(&self, hero: &Hero) {
        let at = hero.at;
        self.disc(at, 13.0, faded(CYAN, 0.35));
        let tip = at - vec2(0.0, 13.0);
        let (left, right) = (at + vec2(-9.0, 9.0), at + vec2(9.0, 9.0));
        draw_triangle(tip, left, right, CYAN);
        draw_circle(at.x, at.y + 1.0, 3.5, NIGHT);
        if hero.shield > 0.0 {
            draw_circle_lines(at.x, at.y, 18.0, 2.0, faded(PALE, hero.shield));
        }
    }
}

/// Shows the view, as large as there is room. Without the panel, the arena is in the
/// middle.
fn camera(world: &World) -> Camera2D {
    let screen = vec2(screen_width(), screen_height());
    let scale = (screen / VIEW).min_element();
    let size = VIEW * scale;
    let corner = (screen - size) / 2.0;
    let mut target = VIEW / 2.0;
    if !world.shows_overlay {
        target.x = ARENA.center().x;
    }
    let phase = world.clocks.drama.now().as_secs_f32() * 70.0;
    target += vec2(phase.sin(), (phase * 1.3).cos()) * world.shake * 0.5;
    Camera2D {
        target,
        zoom: 2.0 / VIEW,
        viewport: Some((
            pixels(corner.x),
            pixels(corner.y),
            pixels(size.x),
            pixels(size.y),
        )),
        ..Camera2D::default()
    }
}

fn draw_floor(world: &World) {
    let dark = Color::new(0.06, 0.07, 0.125, 1.0);
    draw_rectangle(ARENA.x, ARENA.y, ARENA.w, ARENA.h, dark);
    let glow = Color::new(0.3, 0.5, 1.0, 1.0);
    for (corner, brightness) in world.floor.bright() {
        let side = TILE - 1.0;
        let colour = faded(glow, brightness * 0.75);
        draw_rectangle(corner.x, corner.y, side, side, colour);
    }
}

fn draw_walls(doors: &[Door]) {
    let (a, w) = (ARENA, 8.0);
    draw_rectangle_lines(
        a.x - w,
        a.y - w,
        a.w + 2.0 * w,
        a.h + 2.0 * w,
        2.0 * w,
        WALL,
    );
    for door in doors {
        let half = door.along * (Door::WIDTH / 2.0);
        let across = vec2(door.along.y, door.along.x) * w;
        // The gap that is open, and a leaf on either side of it.
        let middle = door.at + outward(door) * (w / 2.0);
        let bar = |from: Vec2, to: Vec2, colour| {
            let (low, high) = (from.min(to) - across / 2.0, from.max(to) + across / 2.0);
            draw_rectangle(low.x, low.y, high.x - low.x, high.y - low.y, colour);
        };
        bar(middle - half, middle + half, NIGHT);
        let shut = 1.0 - door.open;
        let wood = Color::new(0.85, 0.62, 0.35, 1.0);
        bar(middle - half, middle - half + half * shut, wood);
        bar(middle + half - half * shut, middle + half, wood);
    }
}

/// From the door, out of the arena.
fn outward(door: &Door) -> Vec2 {
    let away = door.at - ARENA.center();
    vec2(
        door.along.y * away.x.signum(),
        door.along.x * away.y.signum(),
    )
}
