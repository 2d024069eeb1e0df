//! Tells the page where the scripts wait.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::game::Game;
use crate::platform;

/// Steps from one report to the next, forwards or backwards.
const EVERY: u64 = 6;

/// Passes a line of text for each `.await`, with its file, its line, and how many
/// scripts of which name wait there.
pub(crate) fn show(game: &Game) {
    if !platform::shows_lines() || game.steps() % EVERY != 0 {
        return;
    }
    let snapshot = game.runtime.executor().snapshot();
    let mut counts = BTreeMap::new();
    for script in &snapshot {
        for at in script.waits_at().filter_map(|(_, at)| at) {
            let place = (at.file(), at.line(), script.short_name());
            *counts.entry(place).or_insert(0_usize) += 1;
        }
    }
    let mut text = String::new();
    for ((file, line, name), count) in counts {
        let file = file.rsplit('/').next().unwrap_or(file);
        writeln!(text, "{file} {line} {count} {name}").expect("a string takes everything");
    }
    platform::tell_lines(&text);
}
