//! The hero: walks a little every frame.

use std::cell::Cell;

use framestep::prelude::*;

use crate::stage::say;

/// In meters per second.
const SPEED: f32 = 2.5;

pub(crate) struct Hero {
    x: Cell<f32>,
}

impl Hero {
    pub(crate) fn new() -> Self {
        Hero { x: Cell::new(0.0) }
    }

    pub(crate) fn x(&self) -> f32 {
        self.x.get()
    }

    pub(crate) async fn walk_to(&self, x: f32) {
        say("hero", &format!("walks to {x:.1} m"));
        while self.x.get() < x {
            next_frame().await;
            self.x.set((self.x.get() + SPEED * delta_seconds()).min(x));
        }
    }
}
