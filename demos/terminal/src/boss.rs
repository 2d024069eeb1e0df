//! The boss and its last line: three sentences, each to be typed in time.

use std::time::Duration;

use framestep::prelude::*;

use crate::play::hurt;
use crate::world::{Key, World};

const SENTENCES: [&str; 3] = [
    "nothing runs while nothing moves",
    "every sleeper has a timer or a friend who wakes it",
    "await me in the frame after the last one",
];

/// The time limit for a sentence.
const TIME: Duration = Duration::from_secs(15);

pub(crate) struct Boss {
    pub(crate) sentence: &'static str,
    pub(crate) typed: usize,
    /// The remaining time, in whole seconds.
    pub(crate) seconds: u64,
    /// Where it is, left or right of the middle.
    pub(crate) sway: i8,
    pub(crate) is_angry: bool,
}

fn with_boss(f: impl FnOnce(&mut Boss)) {
    with(|world: &mut World| world.boss.as_mut().map(f));
}

pub(crate) async fn fight() {
    with(|world: &mut World| {
        world.boss = Some(Boss {
            sentence: "",
            typed: 0,
            seconds: 0,
            sway: 0,
            is_angry: false,
        });
    });
    // Ends with this script's local.
    let scripts = owner();
    scripts.start(sway()).named("sway");
    for sentence in SENTENCES {
        while !say(sentence).await {
            with(hurt);
        }
        with_boss(|boss| boss.is_angry = true);
        wait_seconds(1).await;
        with_boss(|boss| boss.is_angry = false);
    }
    with(|world: &mut World| world.boss = None);
}

/// Returns whether the sentence was typed in time.
async fn say(sentence: &'static str) -> bool {
    with_boss(|boss| {
        boss.sentence = sentence;
        boss.typed = 0;
    });
    select! {
        () = read(sentence) => true,
        () = count_down() => false,
    }
}

async fn read(sentence: &str) {
    let mut keys = with_ref(|world: &World| world.keys.subscribe());
    for letter in sentence.chars() {
        while keys
            .next()
            .await
            .is_some_and(|key| key != Key::Letter(letter))
        {}
        with(|world: &mut World| world.score += 5);
        with_boss(|boss| boss.typed += 1);
    }
}

async fn count_down() {
    let mut seconds = interval(1);
    for left in (0..TIME.as_secs()).rev() {
        with_boss(|boss| boss.seconds = left + 1);
        seconds.tick().await;
    }
}

async fn sway() {
    let mut steps = interval(0.5);
    for sway in [1, 2, 1, 0, -1, -2, -1, 0].into_iter().cycle() {
        steps.tick().await;
        with_boss(|boss| boss.sway = sway);
    }
}
