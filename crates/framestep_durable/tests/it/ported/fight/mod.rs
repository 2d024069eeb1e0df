//! The fight with the boss of `demos/macroquad`, which has up to 1,300 bullets, each a script.
//!
//! Of the example, the boss, the bullets, the banner, and what the hero does in the fight are the
//! original. The world around them is smaller.

use crate::ported::harness::{self, assert_original};

#[expect(dead_code, reason = "what the example draws")]
mod durable;
#[expect(dead_code, reason = "what the example draws")]
mod plain;
pub(crate) mod shapes;

use shapes::{Rect, Vec2, vec2};

pub(crate) const ARENA: Rect = Rect {
    x: 22.0,
    y: 22.0,
    w: 656.0,
    h: 496.0,
};

/// The length of a frame.
const DT: f32 = 1.0 / 20.0;

/// Where the hero is in the next frame: it stays below the boss.
fn hero_at(hero: Vec2, boss: Option<Vec2>) -> Vec2 {
    let below = boss.map_or(hero, |boss| boss + vec2(0.0, 60.0));
    let way = below - hero;
    hero + vec2(way.x.clamp(-20.0, 20.0), way.y.clamp(-20.0, 20.0))
}

/// All that a game shows after a frame.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Seen {
    /// Place, radius, red and alpha.
    pub(crate) bullets: Vec<(Vec2, f32, shapes::Color)>,
    /// Place, health and flash.
    pub(crate) boss: Option<(Vec2, i32, f32)>,
    /// Health and shield.
    pub(crate) hero: (i32, f32),
    pub(crate) chapter: String,
    pub(crate) banner: Option<(String, f32)>,
    pub(crate) shake: f32,
    pub(crate) tremor: f32,
    /// The scale of the clock that the boss slows down.
    pub(crate) scale: f64,
}

/// At these frames, the durable game goes through a file: in each of the three attacks, in slow
/// motion, and after the end.
const FILES: [u32; 5] = [130, 240, 360, 570, 640];
const FRAMES: u32 = 650;

#[test]
fn the_fight_is_the_same_durable_and_through_files() {
    let (mut plain, mut durable) = (plain::Game::new(), durable::Game::new());
    let mut most = 0;
    for frame in 1..=FRAMES {
        let expected = plain.frame();
        most = most.max(expected.bullets.len());
        let seen = durable.frame();
        assert!(seen == expected, "frame {frame}:\n{expected:?}\n{seen:?}");
        if FILES.contains(&frame) {
            durable = durable.through_a_file();
            assert!(durable.seen() == expected, "loaded after frame {frame}");
        }
    }
    let end = durable.seen();
    assert!(end.boss.is_none() && end.chapter == "Peace", "{end:?}");
    assert!(most > 1_300, "{most} bullets");
}

#[test]
fn changed_lines() {
    let changed = |plain, durable, original: &str| {
        let original = format!("demos/macroquad/src/{original}");
        assert_original(plain, &[&original]);
        harness::changed_lines(plain, durable)
    };
    let files = [
        changed(
            include_str!("plain/boss.rs"),
            include_str!("durable/boss.rs"),
            "boss.rs",
        ),
        changed(
            include_str!("plain/bullet.rs"),
            include_str!("durable/bullet.rs"),
            "bullet.rs",
        ),
        changed(
            include_str!("plain/hero.rs"),
            include_str!("durable/hero.rs"),
            "hero.rs",
        ),
        changed(
            include_str!("plain/scene.rs"),
            include_str!("durable/scene.rs"),
            "scene.rs",
        ),
    ];
    assert_eq!(files, [26, 32, 10, 4]);
}
