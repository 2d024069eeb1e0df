//! The game without live code.

use toy_world::Push;

use crate::game::{Game, step};

#[derive(Debug)]
pub(crate) struct Stage;

impl Stage {
    pub(crate) fn new(_: usize) -> Self {
        Stage
    }

    #[expect(clippy::unused_self, reason = "as with live code")]
    pub(crate) fn update(&mut self, _: &mut Game) {}

    #[expect(clippy::unused_self, reason = "as with live code")]
    pub(crate) fn press_keys(&mut self, _: &mut Game) {}

    #[expect(clippy::unused_self, reason = "as with live code")]
    pub(crate) fn step(&mut self, game: &mut Game, push: Push) {
        step(&mut game.runtime, &mut game.world, &push);
    }

    #[expect(clippy::unused_self, reason = "as with live code")]
    pub(crate) fn draw(&mut self, _: &mut Game) {}
}
