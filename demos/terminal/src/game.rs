//! The executor and the world: the same for the terminal and the demo.

use std::time::Duration;

use framestep::prelude::*;

use crate::screen::Screen;
use crate::world::World;
use crate::{draw, menu, play};

/// How long a frame takes while a script wants every frame.
const FRAME: Duration = Duration::from_millis(32);

pub(crate) struct Game {
    pub(crate) executor: Executor,
    pub(crate) world: World,
}

impl Game {
    pub(crate) fn new(seed: u64) -> Self {
        let executor = Executor::builder()
            // However long the loop has slept, the game clock must follow.
            .max_delta(f32::INFINITY)
            // Reports would go to standard error, across the screen.
            .propagate_panics(true)
            .build();
        let world = World::new(&executor, seed);
        // `spawn`, not `start`: nothing is lent yet.
        executor.spawn(play::direct()).named("director");
        executor.spawn(menu::run()).named("menu");
        Game { executor, world }
    }

    /// When the next frame is due, counted from the beginning of the last one. `None`:
    /// when something wakes a script.
    pub(crate) fn next_frame(&self) -> Option<Duration> {
        self.executor.idle_until().map(|left| left.max(FRAME))
    }

    pub(crate) fn step(&mut self, dt: Duration) {
        let world = &mut self.world;
        self.executor.lend(world, |executor| executor.run_frame(dt));
    }

    pub(crate) fn screen(&self) -> Screen {
        let mut screen = Screen::default();
        draw::draw(&mut screen, &self.world, self.executor.time().frame);
        screen
    }
}
