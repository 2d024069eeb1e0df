//! Where the scripts wait, for a page that shows the code beside the game.

#[cfg(target_arch = "wasm32")]
use bevy_framestep::framestep::inspect::CoroutineInfo;
use bevy_framestep::framestep::inspect::Snapshot;

#[cfg(target_arch = "wasm32")]
#[path = "../../shared/lines.rs"]
mod text;

#[cfg(target_arch = "wasm32")]
mod here {
    use wasm_bindgen::prelude::*;

    use super::{Snapshot, text};

    #[wasm_bindgen]
    extern "C" {
        /// A function of the page, if it shows the code.
        #[wasm_bindgen(thread_local_v2, js_namespace = window, js_name = showLines)]
        static SHOW_LINES: Option<js_sys::Function>;
    }

    pub(crate) fn are_shown() -> bool {
        SHOW_LINES.with(Option::is_some)
    }

    /// Passes the lines to the page.
    pub(crate) fn show(all: &[Snapshot]) {
        let text = text::of(all.iter().flatten());
        SHOW_LINES.with(|show| {
            if let Some(show) = show {
                show.call1(&JsValue::NULL, &text.into())
                    .expect("the page shows the lines");
            }
        });
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod here {
    use super::Snapshot;

    /// There is no page.
    pub(crate) fn are_shown() -> bool {
        false
    }

    pub(crate) fn show(_: &[Snapshot]) {}
}

pub(crate) use here::{are_shown, show};
