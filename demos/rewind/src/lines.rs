//! Tells the page where the scripts wait.

use framestep::inspect::CoroutineInfo;

use crate::game::Game;
use crate::platform;

#[path = "../../shared/lines.rs"]
mod text;

/// Steps from one report to the next, forwards or backwards.
const EVERY: u64 = 6;

/// Tells it every few steps.
pub(crate) fn show(game: &Game) {
    if !platform::shows_lines() || game.steps() % EVERY != 0 {
        return;
    }
    let text = text::of(&game.runtime.executor().snapshot());
    platform::tell_lines(&text);
}
