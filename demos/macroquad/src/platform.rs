//! The differences between the desktop and the browser.

use std::time::Duration;

use crate::overlay::Figures;

#[cfg(not(target_arch = "wasm32"))]
mod here {
    use std::sync::LazyLock;
    use std::time::Instant;

    use super::{Duration, Figures};

    /// The time since some fixed moment.
    pub(crate) fn stopwatch() -> Duration {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed()
    }

    /// Passes the overlay's text to the page. Here there is no page.
    pub(crate) fn tell(_: &Figures) {}

    /// Whether the page shows the lines where scripts wait.
    pub(crate) fn shows_lines() -> bool {
        false
    }

    /// Passes those lines to the page.
    pub(crate) fn tell_lines(_: &str) {}
}

#[cfg(target_arch = "wasm32")]
mod here {
    use super::{Duration, Figures};

    // Functions of index.html.
    #[link(wasm_import_module = "env")]
    unsafe extern "C" {
        safe fn framestep_now() -> f64;
        safe fn framestep_tell(frame: f64, coroutines: f64, milliseconds: f64);
        safe fn framestep_shows_lines() -> bool;
        fn framestep_tell_lines(text: *const u8, length: usize);
    }

    /// The time since some fixed moment: there is no `Instant` in a browser.
    pub(crate) fn stopwatch() -> Duration {
        Duration::from_secs_f64(framestep_now() / 1_000.0)
    }

    /// Passes the overlay's text to the page.
    pub(crate) fn tell(figures: &Figures) {
        framestep_tell(
            crate::numbers::real(figures.frame).into(),
            crate::numbers::real(figures.coroutines).into(),
            figures.milliseconds.into(),
        );
    }

    /// Whether the page shows the lines where scripts wait.
    pub(crate) fn shows_lines() -> bool {
        framestep_shows_lines()
    }

    /// Passes those lines to the page.
    pub(crate) fn tell_lines(lines: &str) {
        // SAFETY: these are the bytes of a string, which the page only reads.
        unsafe { framestep_tell_lines(lines.as_ptr(), lines.len()) };
    }
}

pub(crate) use here::{shows_lines, stopwatch, tell, tell_lines};
