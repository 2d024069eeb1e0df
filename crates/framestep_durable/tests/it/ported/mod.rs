//! Plain scripts of the guide and the examples, and the same scripts durable.
//!
//! Each folder has a script as it stands in the project, `plain.rs`, and its port, `durable.rs`.
//! Below the line `// The host.` is the code that drives it. A test plays both, and compares what
//! is to be seen after each frame; saves, loads and rolls back the port at every frame; and counts
//! the lines of the script that the port has changed. Lines with `use`, `#[durable]` and
//! `#[derive(..)]` do not count.

#![allow(
    clippy::float_cmp,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_semicolon,
    clippy::unused_self,
    reason = "the originals stay as they are"
)]

/// Scripts that print are tested by what they print.
macro_rules! println {
    ($($text:tt)*) => {
        $crate::ported::harness::keep(format!($($text)*))
    };
}

mod harness;

mod boss_phases {
    pub(super) mod durable;
    pub(super) mod plain;
}
mod bubble {
    pub(super) mod durable;
    pub(super) mod plain;
}
mod buffs {
    pub(super) mod durable;
    pub(super) mod plain;
}
mod combo_window {
    pub(super) mod durable;
    pub(super) mod plain;
}
mod cooldown {
    pub(super) mod durable;
    pub(super) mod plain;
}
mod countdown {
    pub(super) mod durable;
    pub(super) mod plain;
}
mod cutscene {
    pub(super) mod durable;
    pub(super) mod plain;
}
mod cutscene_skip {
    pub(super) mod durable;
    pub(super) mod plain;
}
mod fight;
mod guard {
    pub(super) mod durable;
    pub(super) mod plain;
}
mod intervals {
    pub(super) mod durable;
    pub(super) mod plain;
}
mod nested {
    pub(super) mod durable;
    pub(super) mod plain;
}
mod own_loop {
    pub(super) mod durable;
    pub(super) mod plain;
}
mod patrol {
    pub(super) mod durable;
    pub(super) mod plain;
}
mod replay {
    pub(super) mod durable;
    pub(super) mod plain;
}
mod samples {
    pub(super) mod durable;
    pub(super) mod plain;
}
mod screen_fade {
    pub(super) mod durable;
    pub(super) mod plain;
}
mod shared_world {
    pub(super) mod durable;
    pub(super) mod plain;
}
mod slow_motion {
    pub(super) mod durable;
    pub(super) mod plain;
}
mod timeouts {
    pub(super) mod durable;
    pub(super) mod plain;
}
mod turn_queue {
    pub(super) mod durable;
    pub(super) mod plain;
}
mod typewriter {
    pub(super) mod durable;
    pub(super) mod plain;
}

const RECIPES: &[&str] = &["docs/guide/recipes.md"];
const GAMEPLAY: &[&str] = &[
    "examples/gameplay/countdown.rs",
    "examples/gameplay/cutscene.rs",
    "examples/gameplay/patrol.rs",
    "examples/gameplay/stage.rs",
];

harness::ports! {
    // name: frames, where the original is, changed lines
    boss_phases: 16, RECIPES, 4;
    bubble: 20, RECIPES, 10;
    buffs: 16, RECIPES, 3;
    combo_window: 14, RECIPES, 3;
    cooldown: 14, RECIPES, 0;
    countdown: 20, GAMEPLAY, 4;
    cutscene: 24, GAMEPLAY, 1;
    cutscene_skip: 10, RECIPES, 3;
    guard: 30, GAMEPLAY, 1;
    intervals: 16, &["examples/intervals.rs"], 4;
    nested: 5, &["examples/nested.rs"], 2;
    own_loop: 70, &["examples/own_loop.rs"], 2;
    patrol: 20, RECIPES, 0;
    replay: 16, RECIPES, 3;
    samples: 24, &["examples/samples.rs"], 1;
    screen_fade: 14, RECIPES, 2;
    shared_world: 20, &["examples/shared_world.rs"], 1;
    slow_motion: 36, &["examples/slow_motion.rs"], 9;
    timeouts: 40, &["examples/timeouts.rs"], 15;
    turn_queue: 15, RECIPES, 3;
    typewriter: 14, RECIPES, 3;
}
