//! Code that is changed while the game runs, as the host tells it.

use std::collections::{BTreeSet, HashSet};

use framestep::task::CoroutineId;

use super::Panel;
use crate::model::frame::Frame;
use crate::model::warning::Level;

/// What the panel knows about the code.
#[derive(Debug, Default)]
pub(super) struct Code {
    told: Option<(Level, String)>,
    /// The frames after which it was exchanged.
    exchanged: BTreeSet<u64>,
    /// The scripts that the last exchange has restarted.
    restarted: HashSet<CoroutineId>,
    can_rewind: bool,
    wants_loop: bool,
    wants_back: bool,
}

impl Code {
    /// Forgets what belongs to recorded frames.
    pub(super) fn forget_frames(&mut self) {
        self.exchanged.clear();
        self.restarted.clear();
    }
}

/// # Code that is changed while the game runs
impl Panel {
    /// Tells what is being built, what the compiler says, or which scripts have continued. The views
    /// show the first line of `text` at the top, and further lines below it, as they are. An empty
    /// text is not shown.
    ///
    /// # Examples
    ///
    /// With the package `framestep_live`:
    ///
    /// ```ignore
    /// let is_bad = matches!(live.status(), Status::Failed { .. } | Status::Refused { .. });
    /// let level = if is_bad { Level::Error } else { Level::Note };
    /// panel.tell_code(level, live.status().to_string());
    /// ```
    pub fn tell_code(&mut self, level: Level, text: impl Into<String>) {
        let text = text.into();
        self.code.told = (!text.is_empty()).then_some((level, text));
    }

    /// What [`tell_code`](Panel::tell_code) was told: the level, and the text.
    pub fn code(&self) -> Option<(Level, &str)> {
        let (level, text) = self.code.told.as_ref()?;
        Some((*level, text))
    }

    /// Marks the latest frame: the code was exchanged after it. These scripts have restarted, and
    /// have a colour until the next exchange.
    pub fn mark_code(&mut self, restarted: impl IntoIterator<Item = CoroutineId>) {
        self.code
            .exchanged
            .extend(self.frames.back().map(Frame::number));
        self.code.restarted = restarted.into_iter().collect();
    }

    /// Whether the code was exchanged after this frame.
    pub fn has_exchanged_code(&self, frame: u64) -> bool {
        self.code.exchanged.contains(&frame)
    }

    /// Whether the last exchange of code has restarted this script.
    pub fn has_restarted(&self, id: CoroutineId) -> bool {
        self.code.restarted.contains(&id)
    }

    /// Tells the panel that the host can play the last seconds in a loop, and go back by some. The
    /// views then have buttons for both, and the terminal the keys `t` and `b`.
    pub fn offer_rewind(&mut self) {
        self.code.can_rewind = true;
    }

    /// Whether the host has offered that.
    pub fn can_rewind(&self) -> bool {
        self.code.can_rewind
    }

    /// Asks the host to begin or to end the loop.
    pub fn toggle_loop(&mut self) {
        self.code.wants_loop = self.code.can_rewind;
    }

    /// Asks the host to go back by some seconds.
    pub fn go_back(&mut self) {
        self.code.wants_back = self.code.can_rewind;
    }

    /// Whether the user has asked for the loop, or its end, since the last call.
    pub fn take_loop(&mut self) -> bool {
        std::mem::take(&mut self.code.wants_loop)
    }

    /// Whether the user has asked to go back since the last call.
    pub fn take_back(&mut self) -> bool {
        std::mem::take(&mut self.code.wants_back)
    }
}
