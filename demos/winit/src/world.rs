//! The state of the notebook, which the host lends to the scripts.

use std::ops::Range;
use std::path::PathBuf;

use framestep::prelude::*;
use framestep::task::RemoteHandle;

/// The effect of a key on the text.
pub(crate) enum Edit {
    Insert(String),
    Delete,
    Left,
    Right,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Button {
    Proofread,
    Light,
}

impl Button {
    pub(crate) const ALL: [Button; 2] = [Button::Proofread, Button::Light];

    pub(crate) fn label(self) -> &'static str {
        match self {
            Button::Proofread => "Proofread",
            Button::Light => "Light",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Saving {
    Saved,
    Edited,
    Writing,
    Failed(String),
}

/// A message that slides in at the bottom.
pub(crate) struct Card {
    pub(crate) text: String,
    /// How far it has slid in, from 0 to 1.
    pub(crate) shown: f32,
}

pub(crate) struct World {
    pub(crate) text: String,
    /// Where in the text the cursor stands, in bytes.
    pub(crate) cursor: usize,
    pub(crate) shows_cursor: bool,
    pub(crate) typed: Signal<()>,
    pub(crate) focused: Watch<bool>,
    pub(crate) clicked: Signal<Button>,
    pub(crate) path: PathBuf,
    pub(crate) saving: Watch<Saving>,
    /// How brightly the sign of the autosave glows, from 0 to 1.
    pub(crate) saving_glow: f32,
    /// The same for the buttons after a click.
    pub(crate) button_glow: [f32; Button::ALL.len()],
    /// From dark, 0, to light, 1.
    pub(crate) light: f32,
    /// How far the proofreader is, from 0 to 1, while it is at work.
    pub(crate) proofreading: Watch<Option<f32>>,
    /// What the proofreader has found.
    pub(crate) marks: Vec<Range<usize>>,
    pub(crate) card: Option<Card>,
    /// Owns the script of the card.
    pub(crate) cards: Owner,
    /// For threads that scripts start.
    pub(crate) remote: RemoteHandle,
    /// Pictures to take after this frame.
    pub(crate) pictures: Vec<&'static str>,
    pub(crate) is_over: bool,
}

impl World {
    pub(crate) fn new(executor: &Executor, path: PathBuf, text: String) -> Self {
        World {
            cursor: text.len(),
            text,
            shows_cursor: true,
            typed: Signal::new().named("typed"),
            focused: Watch::new(true).named("focused"),
            clicked: Signal::new().named("clicked"),
            path,
            saving: Watch::new(Saving::Saved).named("saving"),
            saving_glow: 0.0,
            button_glow: [0.0; Button::ALL.len()],
            light: 0.0,
            proofreading: Watch::new(None).named("proofreading"),
            marks: Vec::new(),
            card: None,
            cards: executor.owner(),
            remote: executor.remote(),
            pictures: Vec::new(),
            is_over: false,
        }
    }

    pub(crate) fn edit(&mut self, edit: &Edit) {
        match edit {
            Edit::Insert(text) => {
                self.text.insert_str(self.cursor, text);
                self.cursor += text.len();
            }
            Edit::Delete => {
                let before = self.before_cursor();
                self.text.replace_range(before..self.cursor, "");
                self.cursor = before;
            }
            Edit::Left => self.cursor = self.before_cursor(),
            Edit::Right => {
                let next = self.text[self.cursor..].chars().next();
                self.cursor += next.map_or(0, char::len_utf8);
            }
        }
        if matches!(edit, Edit::Insert(_) | Edit::Delete) {
            self.marks.clear();
        }
        self.typed.emit(());
    }

    /// Where the character before the cursor begins.
    fn before_cursor(&self) -> usize {
        let last = self.text[..self.cursor].chars().next_back();
        self.cursor - last.map_or(0, char::len_utf8)
    }
}
