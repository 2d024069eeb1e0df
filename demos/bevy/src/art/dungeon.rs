//! The walls and the floor, as one picture.

use bevy::prelude::*;

use super::brush::{Dot, Rgb, arch, cloud, disc, edge, rgb, slab, speckle, stroke};
use crate::level::{ARENA, DOORWAY, INSIDE, LINTEL, WALLS, Wall};

/// How far the shadow of a wall reaches.
const SHADOW: f32 = 44.0;

pub(super) fn paint(at: Vec2) -> Dot {
    let mut dot = Dot::default();
    match WALLS.iter().find(|wall| wall.contains(at.y)) {
        _ if at.x.abs() > INSIDE => top(&mut dot, at),
        Some(wall) => across(&mut dot, at, wall),
        None => floor(&mut dot, at),
    }
    dot
}

/// A wall from left to right: seen from the front below, from above behind that.
fn across(dot: &mut Dot, at: Vec2, wall: &Wall) {
    let foot = vec2(0.0, wall.foot);
    let opening = arch(at, foot, DOORWAY / 2.0, LINTEL);
    if at.y >= wall.foot + wall.face {
        top(dot, at);
    } else {
        bricks(dot, at);
        // Darker where it meets the floor and the top.
        let height = (at.y - wall.foot) / wall.face;
        dot.shade(0.65 + 0.5 * height.sqrt());
    }
    if wall.has_doorway {
        dot.fill(edge(opening - 5.0, 10.0), rgb(0x8C_86_98));
        dot.fill(edge(opening - 10.5, 2.0), rgb(0x20_1C_2A));
        if opening < 0.0 {
            floor(dot, at);
            dot.shade(0.45);
        }
    }
}

fn top(dot: &mut Dot, at: Vec2) {
    let patch = cloud(at / 40.0) * 0.25 + cloud(at / 9.0) * 0.12;
    dot.cover(1.0, rgb(0x2C_2A_3A) * (0.75 + patch));
    let block = at.rem_euclid(Vec2::splat(32.0)).min_element();
    dot.cover((1.5 - block) * 0.5, rgb(0x16_15_20));
}

fn bricks(dot: &mut Dot, at: Vec2) {
    const BRICK: Vec2 = Vec2::new(34.0, 16.0);
    let row = (at.y / BRICK.y).floor();
    let shifted = at + vec2((row * 0.5).fract() * BRICK.x, 0.0);
    let cell = (shifted / BRICK).floor();
    let inside = shifted - cell * BRICK - BRICK / 2.0;
    let tone = 0.8 + 0.35 * speckle(cell) + 0.15 * cloud(at / 5.0);
    dot.cover(1.0, rgb(0x26_24_30));
    let face = slab(inside, Vec2::ZERO, BRICK / 2.0 - 2.5) - 1.5;
    dot.fill(face, rgb(0x6A_66_7E) * tone);
    // Light falls on the upper edge of a brick.
    if face < 0.0 {
        dot.cover((inside.y - 4.0) * 0.12, rgb(0xB4_B0_C8));
    }
    let moss = cloud(at / 22.0) * cloud(at / 6.0);
    dot.cover((moss - 0.45) * 2.2, rgb(0x4C_6E_4A));
}

fn floor(dot: &mut Dot, at: Vec2) {
    const SLAB: f32 = 46.0;
    let cell = (at / SLAB).floor();
    let inside = at - (cell + 0.5) * SLAB;
    let tone = 0.8 + 0.3 * speckle(cell) + 0.22 * cloud(at / 14.0) + 0.1 * cloud(at / 3.0);
    dot.cover(1.0, rgb(0x23_22_2E));
    let face = slab(inside, Vec2::ZERO, Vec2::splat(SLAB / 2.0 - 4.0)) - 2.5;
    dot.fill(face, rgb(0x4E_4C_62) * tone);
    dot.cover((1.5 - edge(face + 2.0, 1.0).abs()) * 0.12, rgb(0xC0_BC_D8));
    let moss = cloud(at / 60.0 + 7.0) * cloud(at / 9.0);
    dot.cover((moss - 0.4) * 1.6, rgb(0x3E_5A_3E));
    cracks(dot, at, cell, inside);
    if at.y < ARENA.y - 130.0 {
        carpet(dot, at);
    }
    for &(place, thing) in LITTER {
        let from = at - place;
        if from.abs().max_element() < 30.0 {
            thing(dot, from);
        }
    }
    circle(dot, at);
    dot.shade(shadow(at));
}

/// Some slabs are broken.
fn cracks(dot: &mut Dot, at: Vec2, cell: Vec2, inside: Vec2) {
    let luck = speckle(cell + 3.0);
    if luck > 0.22 {
        return;
    }
    let turned = Vec2::from_angle(luck * 80.0).rotate(inside);
    let crooked = turned.y + 5.0 * (cloud(at / 7.0) - 0.5) + 2.0 * (turned.x * 0.3).sin();
    let fades = (1.0 - (turned.x.abs() / 21.0).powi(4)).max(0.0);
    dot.cover((1.0 - crooked.abs()) * 0.8 * fades, rgb(0x1C_1A_26));
    let branch = turned.x - 4.0 + 0.7 * turned.y;
    if turned.y > 0.0 {
        dot.cover((0.8 - branch.abs()) * 0.7 * fades, rgb(0x1C_1A_26));
    }
}

/// Paints a thing around the middle.
type Thing = fn(&mut Dot, Vec2);

/// What lies on the floor, and where.
const LITTER: &[(Vec2, Thing)] = &[
    (vec2(-290.0, 150.0), bones),
    (vec2(270.0, 60.0), pot),
    (vec2(298.0, 76.0), pot),
    (vec2(180.0, 330.0), weeds),
    (vec2(-110.0, 360.0), weeds),
    (vec2(-300.0, 330.0), pot),
    (vec2(120.0, 560.0), bones),
    (vec2(-180.0, 560.0), puddle),
    (vec2(290.0, 820.0), skull),
    (vec2(-120.0, 720.0), weeds),
    (vec2(300.0, 920.0), pot),
    (vec2(-300.0, 940.0), puddle),
    (vec2(230.0, 1_130.0), skull),
    (vec2(-200.0, 1_240.0), bones),
    (vec2(-290.0, 1_400.0), skull),
    (vec2(250.0, 1_330.0), puddle),
    (vec2(-160.0, 1_500.0), bones),
    (vec2(190.0, 1_520.0), skull),
];

const BONE: u32 = 0xC8_C2_AC;

fn bones(dot: &mut Dot, at: Vec2) {
    dot.cover(0.35 - at.length() / 60.0, Vec3::ZERO);
    for (turn, length) in [(0.4, 15.0), (2.1, 12.0), (-0.5, 10.0)] {
        let end = Vec2::from_angle(turn) * length;
        let ends = disc(at, end, 3.0).min(disc(at, -end, 3.0));
        dot.outlined(stroke(at, -end, end, 1.7).min(ends), rgb(BONE) * 0.9);
    }
}

fn skull(dot: &mut Dot, at: Vec2) {
    dot.cover(0.4 - at.length() / 40.0, Vec3::ZERO);
    dot.outlined(slab(at, vec2(0.0, -6.0), vec2(4.5, 3.5)), rgb(BONE) * 0.85);
    dot.outlined(disc(at, vec2(0.0, 1.0), 9.0), rgb(BONE));
    for x in [-3.5, 3.5] {
        dot.fill(disc(at, vec2(x, 0.0), 2.4), rgb(0x24_1C_28));
    }
    dot.fill(slab(at, vec2(0.0, -4.0), vec2(0.6, 1.4)), rgb(0x24_1C_28));
}

fn pot(dot: &mut Dot, at: Vec2) {
    dot.cover(0.5 - disc(at, vec2(2.0, -11.0), 9.0) / 10.0, Vec3::ZERO);
    dot.outlined(disc(at, vec2(0.0, -3.0), 10.0), rgb(0x8A_54_38));
    dot.outlined(slab(at, vec2(0.0, 7.0), vec2(6.0, 1.5)), rgb(0xA8_6C_46));
    dot.fill(disc(at, vec2(-4.0, 0.0), 3.0), rgb(0xB0_78_50));
    dot.fill(edge(at.y + 4.0, 2.0).max(at.x.abs() - 9.0), rgb(0x5E_36_28));
}

fn weeds(dot: &mut Dot, at: Vec2) {
    for (x, lean) in [
        (-7.0, -9.0),
        (-3.0, -3.0),
        (1.0, 4.0),
        (5.0, 10.0),
        (0.0, 0.0),
    ] {
        let blade = stroke(
            at,
            vec2(x, -8.0),
            vec2(x + lean, 7.0 - lean.abs() * 0.3),
            1.5,
        );
        dot.fill(blade - 1.2, rgb(0x1E_30_22));
        dot.fill(blade, rgb(0x5C_8A_4C));
    }
}

fn puddle(dot: &mut Dot, at: Vec2) {
    let round = vec2(at.x, at.y * 1.7).length() - 19.0 - 6.0 * cloud(at / 9.0 + 4.0);
    dot.cover((0.5 - round / 2.0) * 0.75, rgb(0x1C_2A_44));
    let shine = stroke(at, vec2(-9.0, 4.0), vec2(1.0, 6.0), 1.0);
    dot.cover((0.5 - shine) * 0.6, rgb(0x9A_B4_DC));
}

fn carpet(dot: &mut Dot, at: Vec2) {
    let side = at.x.abs();
    let worn = 0.8 + 0.3 * cloud(at / 11.0) + 0.08 * (at.y * 1.6).sin();
    dot.fill(side - 34.0, rgb(0x7E_22_34) * worn);
    dot.fill(edge(side - 29.0, 3.0), rgb(0xC8_9A_4A) * worn);
    // A row of diamonds along the middle.
    let step = (at.y / 44.0 - (at.y / 44.0).floor() - 0.5) * 44.0;
    dot.fill(edge(side + step.abs() - 11.0, 2.5), rgb(0xB0_80_40) * worn);
}

/// Where the king waits.
fn circle(dot: &mut Dot, at: Vec2) {
    let colour: Rgb = rgb(0x8E_5C_C8);
    for (radius, width) in [(128.0, 3.0), (112.0, 2.0), (60.0, 2.5)] {
        dot.cover((0.5 - edge(disc(at, ARENA, radius), width)) * 0.7, colour);
    }
    let way = at - ARENA;
    let spoke = (way.to_angle() * 6.0).sin().abs() * way.length();
    if (60.0..112.0).contains(&way.length()) {
        dot.cover((2.0 - spoke / 6.0) * 0.5, colour);
    }
}

/// How dark it is beside a wall, and how much darker below one.
fn shadow(at: Vec2) -> f32 {
    let sides = INSIDE - at.x.abs();
    let near = WALLS.iter().map(|wall| {
        let below = wall.foot - at.y;
        let above = at.y - wall.foot - wall.depth();
        below.max(above)
    });
    let near = near.fold(sides, f32::min);
    0.45 + 0.55 * (near / SHADOW).clamp(0.0, 1.0)
}
