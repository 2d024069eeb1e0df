//! The differences between the desktop and the browser.

#[cfg(not(target_arch = "wasm32"))]
mod here {
    use std::sync::LazyLock;
    use std::time::{Duration, Instant};

    use framestep::prelude::*;

    /// Whether this is a page.
    pub(crate) const IS_PAGE: bool = false;

    /// The time since some fixed moment.
    pub(crate) fn stopwatch() -> Duration {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed()
    }

    /// Tells the page where scripts wait. Here there is no page.
    pub(crate) fn tell(_: &Executor) {}
}

#[cfg(target_arch = "wasm32")]
#[expect(unsafe_code, reason = "functions of the page")]
mod here {
    use std::collections::BTreeMap;
    use std::fmt::Write;
    use std::time::Duration;

    use framestep::prelude::*;

    // Functions of index.html.
    #[link(wasm_import_module = "env")]
    unsafe extern "C" {
        safe fn panel_now() -> f64;
        safe fn panel_shows_lines() -> bool;
        fn panel_tell_lines(text: *const u8, length: usize);
    }

    /// Whether this is a page.
    pub(crate) const IS_PAGE: bool = true;

    /// Frames from one report to the next.
    const EVERY: u64 = 6;

    /// The time since some fixed moment: there is no `Instant` in a browser.
    pub(crate) fn stopwatch() -> Duration {
        Duration::from_secs_f64(panel_now() / 1_000.0)
    }

    /// Tells the page where scripts wait: a line of text for each `.await`, with its file, its line,
    /// and how many scripts of which name wait there.
    pub(crate) fn tell(executor: &Executor) {
        if !panel_shows_lines() || executor.time().frame % EVERY != 0 {
            return;
        }
        let snapshot = executor.snapshot();
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
        // SAFETY: these are the bytes of a string, which the page only reads.
        unsafe { panel_tell_lines(text.as_ptr(), text.len()) };
    }
}

pub(crate) use here::{IS_PAGE, stopwatch, tell};
