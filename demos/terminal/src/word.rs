//! Words that fall.

use framestep::prelude::*;

use crate::play::hurt;
use crate::screen::WIDTH;
use crate::world::{GROUND, World};

const WORDS: [&str; 36] = [
    "await", "banner", "cadence", "dagger", "ember", "frame", "goblin", "hollow", "island",
    "jester", "kettle", "lantern", "marble", "needle", "orchard", "puzzle", "quiver", "riddle",
    "shadow", "timber", "umbrella", "velvet", "whisper", "yonder", "zephyr", "anchor", "bridge",
    "castle", "dragon", "engine", "falcon", "garden", "harbour", "ivory", "jungle", "knight",
];

pub(crate) struct Word {
    pub(crate) id: u64,
    pub(crate) text: &'static str,
    /// How many letters have been typed.
    pub(crate) typed: usize,
    pub(crate) x: usize,
    pub(crate) y: usize,
    /// Stopped when this is dropped: a removed word does not land.
    _script: Coroutine<()>,
}

/// Lets a word fall, a row in every so many seconds.
pub(crate) fn let_fall(world: &mut World, seconds: f32) {
    let id = world.new_id();
    // A letter selects a word: no two begin with the same letter.
    let is_free = |text: &str| world.words.iter().all(|word| word.text[..1] != text[..1]);
    let choices: Vec<&str> = WORDS.into_iter().filter(|text| is_free(text)).collect();
    let Some(&text) = world.random.pick(&choices) else {
        return;
    };
    let x = 2 + world.random.below(WIDTH - 4 - text.len());
    let script = world.scripts.spawn(fall(id, seconds)).named(text);
    world.words.push(Word {
        id,
        text,
        typed: 0,
        x,
        y: 2,
        _script: script.stop_on_drop(),
    });
    world.left.set(world.words.len());
}

async fn fall(id: u64, seconds: f32) {
    let mut rows = interval(seconds);
    loop {
        rows.tick().await;
        let has_landed = with(|world: &mut World| {
            let word = world.words.iter_mut().find(|word| word.id == id);
            word.is_some_and(|word| {
                word.y += 1;
                word.y >= GROUND
            })
        });
        if has_landed {
            break;
        }
    }
    with(|world: &mut World| {
        // It also stops this script, which continues to its end.
        world.remove(id);
        hurt(world);
    });
}

/// A small generator of numbers: the same seed, the same game.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed | 1)
    }

    /// From 0 to `limit`, which is not included; 0 if that is 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).map_or(0, |number| number % limit.max(1))
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let index = self.below(items.len());
        items.get(index)
    }
}
