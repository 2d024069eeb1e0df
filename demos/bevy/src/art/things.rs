//! Things that stand, hang or lie around.

use bevy::prelude::*;

use super::brush::{Dot, arch, disc, edge, rgb, slab, stroke};
use crate::level::{DOORWAY, LINTEL};

/// One leaf of a door, as large as the doorway: planks, iron bands, a ring.
pub(super) fn door(at: Vec2) -> Dot {
    let mut dot = Dot::default();
    let foot = vec2(0.0, -LINTEL / 2.0);
    let leaf = arch(at, foot, DOORWAY / 2.0 - 1.0, LINTEL - 1.0);
    let plank = (at.x / 13.0).floor();
    let grain = 0.85 + 0.12 * (at.y * 0.5 + plank * 2.1).sin() + 0.12 * (plank * 1.7).sin();
    dot.fill(leaf, rgb(0x96_5C_2C) * grain);
    let gap = (at.x / 13.0 - plank - 0.5).abs() * 13.0;
    dot.fill(leaf.max(5.6 - gap), rgb(0x4A_2A_14));
    for y in [-18.0, 10.0] {
        let band = slab(at, vec2(0.0, y), vec2(DOORWAY, 4.0));
        dot.fill(leaf.max(band), rgb(0x3C_3E_4C));
        dot.fill(leaf.max(edge(at.y - y - 3.0, 1.2)), rgb(0x70_74_88));
        for x in [-26.0, -13.0, 0.0, 13.0, 26.0] {
            dot.fill(disc(at, vec2(x, y), 1.8), rgb(0xA8_AC_BC));
        }
    }
    dot.fill(edge(disc(at, vec2(20.0, -6.0), 5.0), 2.4), rgb(0xF0_C8_60));
    dot.fill(edge(leaf + 1.5, 3.0), rgb(0x3A_20_10));
    dot
}

/// As large as the doorway.
pub(super) fn portcullis(at: Vec2) -> Dot {
    let mut dot = Dot::default();
    let opening = arch(at, vec2(0.0, -LINTEL / 2.0), DOORWAY / 2.0, LINTEL);
    for y in [-22.0, -2.0, 18.0] {
        let bar = slab(at, vec2(0.0, y), vec2(DOORWAY, 2.5));
        dot.fill(opening.max(bar - 1.0), rgb(0x18_18_22));
        dot.fill(opening.max(bar), rgb(0x6C_70_80));
    }
    for x in [-30.0, -15.0, 0.0, 15.0, 30.0] {
        let bar = stroke(at, vec2(x, -LINTEL / 2.0 + 5.0), vec2(x, LINTEL), 3.0);
        dot.fill(opening.max(bar - 1.5), rgb(0x18_18_22));
        dot.fill(opening.max(bar), rgb(0x84_88_9A));
        dot.fill(opening.max(bar + 1.8), rgb(0xB8_BC_CC));
    }
    dot
}

pub(super) fn torch(at: Vec2) -> Dot {
    let mut dot = Dot::default();
    dot.outlined(
        stroke(at, vec2(0.0, -14.0), vec2(0.0, 2.0), 2.5),
        rgb(0x7A_4E_2A),
    );
    dot.outlined(slab(at, vec2(0.0, 0.0), vec2(6.0, 2.0)), rgb(0x50_52_60));
    dot
}

/// A tongue of fire, which a script stretches.
pub(super) fn flame(at: Vec2) -> Dot {
    let mut dot = Dot::default();
    let tongue = |size: f32| {
        let low = disc(at, vec2(0.0, -6.0), 8.0 * size);
        low.min(stroke(
            at,
            vec2(0.0, -4.0),
            vec2(0.0, 10.0 * size),
            4.0 * size,
        ))
    };
    dot.fill(tongue(1.0), rgb(0xF0_60_20));
    dot.fill(tongue(0.7), rgb(0xFF_A8_30));
    dot.fill(tongue(0.4), rgb(0xFF_F0_A0));
    dot
}

/// A head of stone that spits.
pub(super) fn gargoyle(at: Vec2) -> Dot {
    let mut dot = Dot::default();
    for side in [-1.0, 1.0] {
        let horn = stroke(at, vec2(side * 11.0, 9.0), vec2(side * 17.0, 19.0), 3.5);
        dot.outlined(horn, rgb(0x9A_96_A8));
        let ear = stroke(at, vec2(side * 14.0, 0.0), vec2(side * 20.0, 3.0), 3.0);
        dot.outlined(ear, rgb(0x7A_76_8A));
    }
    dot.outlined(disc(at, vec2(0.0, 2.0), 16.0), rgb(0x86_82_96));
    dot.fill(disc(at, vec2(-5.0, 8.0), 6.0), rgb(0xA4_A0_B4));
    for side in [-1.0, 1.0] {
        let brow = stroke(at, vec2(side * 2.0, 4.0), vec2(side * 9.0, 8.0), 1.8);
        dot.fill(brow, rgb(0x4A_46_58));
        dot.fill(disc(at, vec2(side * 6.0, 3.0), 2.4), rgb(0xFF_50_30));
    }
    dot.outlined(disc(at, vec2(0.0, -8.0), 6.0), rgb(0x18_10_18));
    dot
}

/// The box that the handle of a lever stands in.
pub(super) fn socket(at: Vec2) -> Dot {
    let mut dot = Dot::default();
    dot.outlined(
        slab(at, vec2(0.0, -4.0), vec2(15.0, 8.0)) - 2.0,
        rgb(0x6A_66_7A),
    );
    dot.fill(slab(at, vec2(0.0, -2.0), vec2(10.0, 2.5)), rgb(0x18_14_20));
    dot
}

/// It turns around its lower end, the middle of the picture.
pub(super) fn handle(at: Vec2) -> Dot {
    let mut dot = Dot::default();
    dot.outlined(
        stroke(at, vec2(0.0, 0.0), vec2(0.0, 20.0), 2.5),
        rgb(0xB0_B4_C4),
    );
    dot.outlined(disc(at, vec2(0.0, 22.0), 5.0), rgb(0xE0_40_48));
    dot.fill(disc(at, vec2(-1.5, 23.5), 1.8), rgb(0xFF_A8_A0));
    dot
}

pub(super) fn chest(at: Vec2) -> Dot {
    let mut dot = Dot::default();
    dot.outlined(slab(at, vec2(0.0, -6.0), vec2(24.0, 11.0)), rgb(0x8E_54_28));
    for x in [-18.0, 18.0] {
        dot.fill(slab(at, vec2(x, -6.0), vec2(3.0, 11.0)), rgb(0xE0_B0_4C));
    }
    dot.fill(slab(at, vec2(0.0, 3.0), vec2(24.0, 2.5)), rgb(0x2A_16_0C));
    dot
}

pub(super) fn lid(at: Vec2) -> Dot {
    let mut dot = Dot::default();
    let top = disc(at, vec2(0.0, -22.0), 32.0);
    dot.outlined(
        top.max(slab(at, vec2(0.0, 0.0), vec2(24.0, 9.0))),
        rgb(0xA8_68_34),
    );
    for x in [-18.0, 18.0] {
        dot.fill(slab(at, vec2(x, -1.0), vec2(3.0, 7.0)), rgb(0xF0_C4_60));
    }
    dot.outlined(slab(at, vec2(0.0, -7.0), vec2(4.0, 4.0)), rgb(0xFF_DC_80));
    dot
}

pub(super) fn gem(at: Vec2) -> Dot {
    let mut dot = Dot::default();
    let cut = (at.x.abs() * 1.25 + at.y.abs() - 11.0) * 0.7;
    dot.outlined(cut, rgb(0x40_B8_F0));
    dot.fill(cut.max(at.x), rgb(0x70_D8_FF));
    dot.fill(cut.max(at.x).max(-at.y), rgb(0xC8_F4_FF));
    dot
}

pub(super) fn coin(at: Vec2) -> Dot {
    let mut dot = Dot::default();
    dot.outlined(disc(at, Vec2::ZERO, 7.0), rgb(0xF0_B8_3C));
    dot.fill(edge(disc(at, Vec2::ZERO, 4.5), 1.5), rgb(0xFF_E8_90));
    dot
}

pub(super) fn hourglass(at: Vec2) -> Dot {
    let mut dot = Dot::default();
    let glass = (at.x.abs() - 3.0 - at.y.abs() * 0.6).max(at.y.abs() - 12.0);
    dot.outlined(glass, rgb(0xC0_E0_F8));
    dot.fill(
        glass.max(-2.0 - at.y).max(at.y - 4.0) + 1.0,
        rgb(0xF0_C8_60),
    );
    dot.fill(glass.max(at.y + 6.0) + 1.0, rgb(0xF0_C8_60));
    for y in [-14.0, 14.0] {
        dot.outlined(slab(at, vec2(0.0, y), vec2(11.0, 1.5)), rgb(0xA0_68_34));
    }
    dot
}

pub(super) fn heart(at: Vec2) -> Dot {
    let mut dot = Dot::default();
    let side = vec2(at.x.abs(), at.y);
    let lobe = disc(side, vec2(4.6, 3.0), 5.4);
    let tip = ((side.x - side.y) * 0.707 - 6.6).max(side.y - 0.5);
    dot.outlined(lobe.min(tip), rgb(0xFF_FF_FF));
    dot
}
