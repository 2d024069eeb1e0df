//! Everyone who moves.

use bevy::prelude::*;

use super::brush::{Dot, Rgb, arch, disc, rgb, slab, stroke};

/// Standing, four of a walk, and two of a blow with the sword.
pub(super) const HERO_POSES: u16 = 7;
/// Standing, and four of a walk.
pub(super) const GUARD_POSES: u16 = 5;
/// Wings up, and down.
pub(super) const IMP_POSES: u16 = 3;

/// How far each foot is ahead and above the ground, in the poses of a walk.
const WALK: [[Vec2; 2]; 4] = [
    [vec2(-3.0, 3.5), vec2(2.0, 0.0)],
    [vec2(3.0, 1.0), vec2(-2.0, 0.0)],
    [vec2(2.0, 0.0), vec2(-3.0, 3.5)],
    [vec2(-2.0, 0.0), vec2(3.0, 1.0)],
];

/// Two boots. Returns how far the body is above its usual place.
fn boots(dot: &mut Dot, at: Vec2, pose: u16, leather: Rgb) -> f32 {
    let walk = usize::from(pose).checked_sub(1);
    let feet = walk
        .and_then(|pose| WALK.get(pose))
        .copied()
        .unwrap_or_default();
    for (foot, x) in feet.into_iter().zip([-5.0, 5.0]) {
        let heel = vec2(x - 1.0, -19.5) + foot;
        dot.outlined(stroke(at, heel, heel + vec2(2.5, 0.0), 3.0), leather);
    }
    if feet[0].y.max(feet[1].y) > 2.0 {
        1.5
    } else {
        0.0
    }
}

pub(super) fn hero(at: Vec2, pose: u16) -> Dot {
    let mut dot = Dot::default();
    let steel = rgb(0xD6_E2_EA);
    let up = boots(&mut dot, at, pose, rgb(0x5A_3A_28));
    let at = at - Vec2::Y * up;
    // The sword: on his back, raised, or all the way down.
    let (hand, tip) = match pose {
        5 => (vec2(11.0, 6.0), vec2(24.0, 25.0)),
        6 => (vec2(13.0, -5.0), vec2(29.0, -13.0)),
        _ => (vec2(-16.0, 19.0), vec2(8.0, -14.0)),
    };
    let guard = hand + (tip - hand) * 0.2;
    let across = (tip - hand).normalize().perp() * 4.0;
    dot.outlined(stroke(at, guard, tip, 1.6), steel);
    dot.outlined(
        stroke(at, guard - across, guard + across, 1.2),
        rgb(0xE0_B0_50),
    );
    dot.fill(stroke(at, hand, guard, 1.6), rgb(0x5A_3A_28));
    let cloak = arch(at, vec2(0.0, -17.0), 13.0, 30.0);
    dot.outlined(cloak, rgb(0x2E_8C_7C));
    dot.fill(
        stroke(at, vec2(-8.0, -14.0), vec2(-5.0, 2.0), 2.5),
        rgb(0x23_6C_62),
    );
    dot.fill(
        stroke(at, vec2(9.0, -14.0), vec2(6.0, 2.0), 1.5),
        rgb(0x55_C0_A8),
    );
    dot.fill(slab(at, vec2(0.0, -8.0), vec2(12.0, 1.5)), rgb(0xE0_B0_50));
    if pose >= 5 {
        // The arm with the sword.
        dot.outlined(stroke(at, vec2(6.0, -2.0), hand, 3.2), rgb(0x36_A2_8E));
        dot.fill(disc(at, hand, 2.8), rgb(0xF2_C8_A0));
    }
    // The hood, with a face in its shade.
    dot.outlined(disc(at, vec2(0.0, 10.0), 12.0), rgb(0x36_A2_8E));
    dot.fill(disc(at, vec2(2.0, 8.0), 8.5), rgb(0xF2_C8_A0));
    dot.fill(disc(at, vec2(1.5, 14.0), 7.5), rgb(0x5A_34_22));
    eyes(&mut dot, at, vec2(3.0, 7.5), 3.0, rgb(0x1A_14_20));
    dot
}

pub(super) fn keeper(at: Vec2) -> Dot {
    let mut dot = Dot::default();
    let robe = arch(at, vec2(0.0, -22.0), 15.0, 42.0);
    dot.outlined(robe, rgb(0x5C_58_9C));
    dot.fill(disc(at, vec2(0.0, 9.0), 10.0), rgb(0x24_20_40));
    eyes(&mut dot, at, vec2(-1.0, 9.0), 3.5, rgb(0xFF_E6_90));
    dot.fill(
        stroke(at, vec2(0.0, -2.0), vec2(-1.0, -14.0), 4.5),
        rgb(0xE4_E4_F0),
    );
    // His lantern.
    dot.fill(
        stroke(at, vec2(10.0, -2.0), vec2(20.0, 2.0), 1.5),
        rgb(0x6A_46_2A),
    );
    dot.outlined(slab(at, vec2(20.0, -6.0), vec2(4.0, 6.0)), rgb(0xFF_D8_70));
    dot
}

pub(super) fn guard(at: Vec2, pose: u16) -> Dot {
    let mut dot = Dot::default();
    let up = boots(&mut dot, at, pose, rgb(0x3A_40_54));
    let at = at - Vec2::Y * up;
    armour(&mut dot, at, rgb(0x5E_6E_92), rgb(0xB8_3A_40));
    // A spear.
    dot.fill(
        stroke(at, vec2(16.0, -20.0), vec2(16.0, 16.0), 2.5),
        rgb(0x14_10_1C),
    );
    dot.fill(
        stroke(at, vec2(16.0, -20.0), vec2(16.0, 16.0), 1.3),
        rgb(0x8A_5E_3A),
    );
    dot.outlined(
        stroke(at, vec2(16.0, 17.0), vec2(16.0, 22.0), 2.0),
        rgb(0xD8_DC_E8),
    );
    dot
}

fn armour(dot: &mut Dot, at: Vec2, iron: Rgb, plume: Rgb) {
    dot.outlined(arch(at, vec2(0.0, -17.0), 13.0, 28.0), iron * 0.75);
    dot.fill(slab(at, vec2(0.0, -9.0), vec2(6.0, 9.0)), plume * 0.8);
    dot.outlined(stroke(at, vec2(0.0, 20.0), vec2(0.0, 23.0), 3.0), plume);
    dot.outlined(disc(at, vec2(0.0, 9.0), 11.5), iron);
    dot.fill(disc(at, vec2(-4.0, 13.0), 4.0), iron * 1.35);
    dot.fill(slab(at, vec2(0.0, 7.0), vec2(9.0, 2.8)), rgb(0x14_10_1C));
    eyes(dot, at, vec2(0.0, 7.0), 3.8, rgb(0xFF_C0_40));
}

pub(super) fn imp(at: Vec2, pose: u16) -> Dot {
    let mut dot = Dot::default();
    // Wings: half spread, up, and down.
    let height = [5.0, 11.0, -3.0][usize::from(pose.min(2))];
    for side in [-1.0, 1.0] {
        let middle = vec2(side * 17.0, height);
        let hollow = disc(at, middle - vec2(side * 1.0, 8.0), 10.5);
        let wing = disc(at, middle, 12.0).max(-hollow);
        dot.outlined(wing, rgb(0x7A_30_60));
        dot.fill(
            stroke(at, vec2(side * 8.0, 1.0), middle, 1.6),
            rgb(0x52_1C_42),
        );
        let foot = vec2(side * 5.0, -15.0 - 0.1 * height);
        dot.outlined(disc(at, foot, 2.6), rgb(0x7A_30_60));
    }
    for side in [-1.0, 1.0] {
        let horn = stroke(at, vec2(side * 6.0, 7.0), vec2(side * 10.0, 15.0), 2.2);
        dot.outlined(horn, rgb(0xE8_D8_B8));
    }
    dot.outlined(disc(at, vec2(0.0, -2.0), 12.0), rgb(0x9C_3E_7A));
    dot.fill(disc(at, vec2(-4.0, 3.0), 4.5), rgb(0xC0_5E_9C));
    eyes(&mut dot, at, vec2(0.0, -1.0), 4.0, rgb(0xFF_F0_80));
    dot.fill(
        stroke(at, vec2(-4.0, -8.0), vec2(4.0, -8.0), 1.4),
        rgb(0x20_08_18),
    );
    dot
}

pub(super) fn king(at: Vec2) -> Dot {
    let mut dot = Dot::default();
    // A robe in tatters.
    let robe = arch(at, vec2(0.0, -44.0), 36.0, 76.0);
    let tatters = -46.0 + 7.0 * (at.x * 0.35).sin().abs();
    dot.outlined(robe.max(tatters - at.y), rgb(0x4A_2C_70));
    dot.fill(
        robe.max(tatters - at.y).max(at.x.abs() - 9.0),
        rgb(0x2C_18_48),
    );
    for side in [-1.0, 1.0] {
        let sleeve = stroke(at, vec2(side * 30.0, 4.0), vec2(side * 42.0, -16.0), 8.0);
        dot.outlined(sleeve, rgb(0x5C_3A_86));
        dot.fill(disc(at, vec2(side * 44.0, -24.0), 5.0), rgb(0xE6_E0_CC));
        dot.outlined(disc(at, vec2(side * 27.0, 14.0), 10.0), rgb(0x6E_48_9C));
    }
    // A skull with a crown.
    dot.outlined(disc(at, vec2(0.0, 22.0), 19.0), rgb(0xE6_E0_CC));
    dot.outlined(slab(at, vec2(0.0, 8.0), vec2(9.0, 6.0)), rgb(0xD4_CC_B4));
    for x in [-4.5, 0.0, 4.5] {
        dot.fill(slab(at, vec2(x, 6.0), vec2(0.6, 4.0)), rgb(0x50_44_40));
    }
    for x in [-8.0, 8.0] {
        dot.fill(disc(at, vec2(x, 21.0), 5.6), rgb(0x1C_10_28));
    }
    eyes(&mut dot, at, vec2(0.0, 21.0), 8.0, rgb(0xF0_60_FF));
    for x in [-14.0, -7.0, 0.0, 7.0, 14.0] {
        let spike = stroke(at, vec2(x, 36.0), vec2(x * 1.15, 46.0), 2.6);
        dot.outlined(spike, rgb(0xF4_C0_4C));
    }
    dot.outlined(slab(at, vec2(0.0, 36.0), vec2(17.0, 4.0)), rgb(0xF4_C0_4C));
    dot.fill(disc(at, vec2(0.0, 36.0), 3.0), rgb(0xE0_38_60));
    dot
}

fn eyes(dot: &mut Dot, at: Vec2, middle: Vec2, apart: f32, colour: Rgb) {
    for side in [-1.0, 1.0] {
        dot.fill(disc(at, middle + Vec2::X * side * apart, 1.9), colour);
    }
}
