//! The recorded frames, and the one that is shown.

use framestep::task::CoroutineId;

use super::Panel;
use crate::model::cells::Cells;
use crate::model::frame::{Frame, Mark};
use crate::model::script::Script;

/// The number of frames in an average time.
const WINDOW: u64 = 60;

impl Panel {
    /// The frame that is shown: the latest, or the one that the user went back to. `None`
    /// before the first look.
    pub fn shown(&self) -> Option<&Frame> {
        self.frames.get(self.shown_at()?)
    }

    pub(super) fn shown_at(&self) -> Option<usize> {
        match self.shown {
            None => self.frames.len().checked_sub(1),
            Some(number) => Some(self.position(number)),
        }
    }

    /// The position of the frame, or of the closest one before it.
    fn position(&self, number: u64) -> usize {
        let after = self
            .frames
            .partition_point(|frame| frame.number() <= number);
        after.saturating_sub(1)
    }

    /// All recorded frames, the oldest first.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = &Frame> {
        self.frames.iter()
    }

    /// Whether the latest frame is shown.
    pub fn is_live(&self) -> bool {
        self.shown.is_none()
    }

    /// Shows a recorded frame, and pauses the game. If the frame was not recorded, shows
    /// the closest recorded one before it.
    pub fn show_frame(&mut self, number: u64) {
        if self.frames.is_empty() {
            return;
        }
        let at = self.position(number);
        self.pace.paused = true;
        let is_last = at + 1 == self.frames.len();
        self.shown = (!is_last).then(|| self.frames[at].number());
    }

    /// Goes back or forward by this many recorded frames.
    pub fn scrub(&mut self, by: isize) {
        if let Some(at) = self.shown_at() {
            let at = at.saturating_add_signed(by).min(self.frames.len() - 1);
            self.show_frame(self.frames[at].number());
        }
    }

    /// Shows the latest frame again. The game stays paused.
    pub fn live(&mut self) {
        self.shown = None;
    }

    /// Whether the executor has been dropped. Its last frames are still shown.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// How many runs were seen before this one.
    pub fn runs_before(&self) -> u32 {
        self.runs.number
    }

    /// What the script did in the `count` frames up to the one that is shown, the latest
    /// last.
    pub fn marks(&self, id: CoroutineId, count: usize) -> Vec<Mark> {
        let Some(at) = self.shown_at() else {
            return Vec::new();
        };
        let first = (at + 1).saturating_sub(count);
        let mut marks = vec![Mark::Absent; count - (at + 1 - first)];
        let before = first.checked_sub(1).map(|before| &self.frames[before]);
        let mut hint = before.and_then(|before| before.position(id, None));
        let mut was = before.zip(hint).map(|(before, hint)| &before.scripts[hint]);
        for at in first..=at {
            let frame = &self.frames[at];
            let here = frame.position(id, hint);
            marks.push(frame.mark(here, was, at == 0));
            was = here.map(|here| &frame.scripts[here]);
            hint = here.or(hint);
        }
        marks
    }

    pub(crate) fn cells(&self, script: &Script) -> Option<Cells> {
        let frame = self.shown()?;
        let earlier = frame.number().saturating_sub(WINDOW);
        let earlier = self.frames.get(self.position(earlier));
        Some(Cells::new(script, frame, earlier))
    }

    /// What to build the executor with, if it records no lines or no times.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        let frame = self.shown()?;
        let scripts = || frame.scripts.iter();
        if scripts().len() == 0 {
            None
        } else if scripts().all(|script| script.who.spawned_at.is_none() && script.since.is_none())
        {
            Some("No lines: build the executor with `inspect(true)`")
        } else if scripts().all(|script| script.profile.is_none()) {
            Some("No times: build the executor with `profile(true)`")
        } else {
            None
        }
    }
}
