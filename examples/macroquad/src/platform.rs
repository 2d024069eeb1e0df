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
}

#[cfg(target_arch = "wasm32")]
mod here {
    use super::{Duration, Figures};

    // Functions of index.html.
    #[link(wasm_import_module = "env")]
    unsafe extern "C" {
        safe fn framestep_now() -> f64;
        safe fn framestep_tell(frame: f64, coroutines: f64, milliseconds: f64);
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
}

pub(crate) use here::{stopwatch, tell};
