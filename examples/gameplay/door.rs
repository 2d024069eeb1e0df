//! A door that opens, lets the hero through and closes.

use std::cell::Cell;
use std::rc::Rc;

use framestep::prelude::*;

use crate::hero::Hero;
use crate::stage::say;

pub(crate) struct Door {
    pub(crate) x: f32,
    seconds: f32,
    /// From 0 (shut) to 1 (open).
    openness: Cell<f32>,
}

impl Door {
    pub(crate) fn new(x: f32, seconds: f32) -> Self {
        Door {
            x,
            seconds,
            openness: Cell::new(0.0),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.openness.get() >= 1.0
    }

    pub(crate) async fn let_through(self: Rc<Self>, hero: Rc<Hero>) {
        say("door", "opens");
        self.swing(|progress| progress).await;
        say("door", "is open");
        wait_until(|| hero.x() > self.x + 0.5).await;
        say("door", "closes");
        self.swing(|progress| 1.0 - progress).await;
        say("door", "is shut");
    }

    async fn swing(&self, openness_at: impl Fn(f32) -> f32) {
        let mut progress = 0.0;
        while progress < 1.0 {
            next_frame().await;
            progress = (progress + delta_seconds() / self.seconds).min(1.0);
            self.openness.set(openness_at(progress));
        }
    }
}
