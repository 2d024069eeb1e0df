//! A small game without pictures, for the examples: its scripts are worth a look in the
//! panel.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "each example uses a part of it"
)]

mod crowd;
mod hunt;
mod level;

use framestep::prelude::*;

/// An executor with scripts, and what must live as long as they do.
pub struct Scene {
    pub executor: Executor,
    owners: Vec<Owner>,
}

impl Scene {
    fn empty() -> Self {
        Scene {
            executor: Executor::builder().inspect(true).profile(true).build(),
            owners: Vec::new(),
        }
    }

    /// About this many scripts, at least 10.
    pub fn lively(count: usize) -> Self {
        let mut scene = Self::empty();
        level::begin(&mut scene);
        crowd::begin(&mut scene, count.saturating_sub(10));
        scene
    }

    /// Five scripts with one fault each, among healthy scripts.
    pub fn hunt() -> Self {
        let mut scene = Self::lively(24);
        hunt::begin(&mut scene);
        scene
    }

    fn owner(&mut self, name: String) -> &Owner {
        let owner = self.executor.owner().named(name);
        self.owners.push(owner);
        self.owners.last().expect("one was pushed")
    }

    /// One frame. The state of the game is in the scripts.
    pub fn run(&mut self, dt: f32) {
        self.executor.run_frame(dt);
    }
}
