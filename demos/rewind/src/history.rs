//! The last ten seconds, a moment for each frame.

use std::collections::VecDeque;

use crate::game::{Game, Moment};

pub(crate) const FRAMES: usize = 600;

#[derive(Debug, Default)]
pub(crate) struct History {
    moments: VecDeque<Moment>,
}

impl History {
    /// Remembers the present moment, and forgets the oldest one.
    pub(crate) fn note(&mut self, game: &Game) {
        if self.moments.len() == FRAMES {
            self.moments.pop_front();
        }
        self.moments.push_back(game.moment());
    }

    /// Goes back by a frame. Returns `false` if nothing earlier is remembered.
    pub(crate) fn rewind(&mut self, game: &mut Game) -> bool {
        let Some(moment) = self.moments.pop_back() else {
            return false;
        };
        game.go_back_to(moment);
        true
    }

    /// Where the ball was, from the latest moment on.
    pub(crate) fn trail(&self) -> impl Iterator<Item = [f32; 2]> {
        self.moments.iter().rev().map(|moment| moment.world.ball)
    }

    pub(crate) fn len(&self) -> usize {
        self.moments.len()
    }
}
