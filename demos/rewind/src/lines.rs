//! Tells the page where the scripts wait.

use framestep::inspect::CoroutineInfo;
use framestep_durable::Runtime;

use crate::platform;

#[path = "../../shared/lines.rs"]
mod text;

/// Where they wait now. Empty where nothing shows it.
pub(crate) fn of(runtime: &Runtime) -> String {
    if platform::shows_lines() {
        text::of(&runtime.executor().snapshot())
    } else {
        String::new()
    }
}

/// What the page shows.
#[derive(Debug, Default)]
pub(crate) struct Shown(String);

impl Shown {
    /// Tells it what has changed, forwards or backwards.
    pub(crate) fn tell(&mut self, lines: &str) {
        if self.0 != lines {
            lines.clone_into(&mut self.0);
            platform::tell_lines(lines);
        }
    }
}
