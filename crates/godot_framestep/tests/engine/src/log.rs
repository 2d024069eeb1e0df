//! What scripts and nodes note, in the order of the notes.

use std::cell::RefCell;

use godot::prelude::*;

thread_local! {
    static NOTES: RefCell<Vec<String>> = RefCell::default();
}

pub(crate) fn note(text: impl Into<String>) {
    NOTES.with_borrow_mut(|notes| notes.push(text.into()));
}

/// Notes its text when it is dropped.
pub(crate) struct Dropped(pub(crate) &'static str);

impl Drop for Dropped {
    fn drop(&mut self) {
        note(self.0);
    }
}

/// The notes, for nodes in `GDScript`.
#[derive(GodotClass)]
#[class(base = Object, no_init)]
struct Notes;

#[godot_api]
impl Notes {
    #[func]
    fn add(text: GString) {
        note(text.to_string());
    }

    /// All notes since the last call.
    #[func]
    fn take() -> GString {
        let notes = NOTES.with_borrow_mut(std::mem::take);
        GString::from(&notes.join(" "))
    }
}
