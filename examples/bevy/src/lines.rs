//! Where the scripts wait, for a page that shows the code beside the game.

use bevy_framestep::framestep::Snapshot;

#[cfg(target_arch = "wasm32")]
mod here {
    use std::collections::BTreeMap;
    use std::fmt::Write;

    use wasm_bindgen::prelude::*;

    use super::Snapshot;

    #[wasm_bindgen]
    extern "C" {
        /// A function of the page, if it shows the code.
        #[wasm_bindgen(thread_local_v2, js_namespace = window, js_name = showLines)]
        static SHOW_LINES: Option<js_sys::Function>;
    }

    pub(crate) fn are_shown() -> bool {
        SHOW_LINES.with(Option::is_some)
    }

    /// Passes a line of text for each `.await`, with its file, its line, and how many
    /// scripts of which name wait there.
    pub(crate) fn show(all: &[Snapshot]) {
        let mut counts = BTreeMap::new();
        for script in all.iter().flatten() {
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
