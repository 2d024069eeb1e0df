//! Where scripts wait, as text for a page that shows the code beside the game.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::CoroutineInfo;

/// A line for each `.await`, with its file, its line, and how many scripts of which name wait there.
pub(crate) fn of<'a>(scripts: impl IntoIterator<Item = &'a CoroutineInfo>) -> String {
    let mut counts = BTreeMap::new();
    for script in scripts {
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
    text
}
