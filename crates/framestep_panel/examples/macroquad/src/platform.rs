//! The differences between the desktop and the browser.

#[cfg(target_arch = "wasm32")]
use framestep::inspect::CoroutineInfo;

#[cfg(target_arch = "wasm32")]
#[path = "../../../../../demos/shared/lines.rs"]
mod lines;

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
    use std::time::Duration;

    use framestep::prelude::*;

    use super::lines;

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

    /// Tells the page where scripts wait.
    pub(crate) fn tell(executor: &Executor) {
        if !panel_shows_lines() || executor.time().frame % EVERY != 0 {
            return;
        }
        let text = lines::of(&executor.snapshot());
        // SAFETY: these are the bytes of a string, which the page only reads.
        unsafe { panel_tell_lines(text.as_ptr(), text.len()) };
    }
}

pub(crate) use here::{IS_PAGE, stopwatch, tell};
