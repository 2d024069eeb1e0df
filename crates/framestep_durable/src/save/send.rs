//! A save state that can be sent to another thread.

use std::fmt;
use std::mem;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::{Mark, Marked, Says};
use crate::ids::Birth;
use crate::journal::{Journal, SendJournal};
use crate::places::Table;
use crate::save::SaveState;
use crate::script::KeptImage;

/// A save state that can be sent to another thread, such as one that writes files. Made by
/// [`SaveState::into_send`].
#[derive(Clone)]
pub struct SendSave {
    /// The save state as it is, serialised, without journals.
    content: Vec<u8>,
    journals: Vec<SendJournal>,
    /// Of the scripts, then of those that have ended: what is for this process alone.
    births: Vec<Birth>,
    /// Of the scripts: their statements, and how their states describe themselves.
    code: Vec<(Table, Option<Mark>)>,
    /// Of the sites: how their values do.
    marks: Vec<[Option<Mark>; 2]>,
    /// Of the values that are stored outside of journals: how they do.
    stored: Vec<Says>,
    is_taken: bool,
}

impl fmt::Debug for SendSave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let journals = self.journals.iter().map(SendJournal::len);
        let len = self.content.len() + journals.sum::<usize>();
        write!(f, "SendSave({len} bytes)")
    }
}

/// A save state with all sites of its runtime. To find the sites that a file needs, each journal is
/// read and written anew: that is for the other thread.
struct AsItIs(SaveState);

impl Serialize for AsItIs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        SaveState::serialize(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for AsItIs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        SaveState::deserialize(deserializer).map(AsItIs)
    }
}

impl SaveState {
    /// Copies what the save state shares with its runtime, so that it can be sent to another
    /// thread. There, [`SendSave::into_save_state`] makes a save state of it again.
    ///
    /// A file of many scripts with long chapters takes milliseconds; this takes about as long as
    /// [`save_state`](crate::Runtime::save_state).
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// use std::thread;
    ///
    /// # fn main() -> Result<(), SaveError> {
    /// # #[derive(Clone, Serialize)]
    /// # struct World;
    /// # let (runtime, world) = (Runtime::new(Registry::new()), World);
    /// let (scripts, world) = (runtime.save_state()?.into_send(), world.clone());
    /// let writer = thread::spawn(move || {
    ///     let file = scripts.into_save_state().to_bytes_with(&world);
    ///     // Compress it, and write it.
    ///     file.len()
    /// });
    /// # assert!(writer.join().unwrap() > 16);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn into_send(mut self) -> SendSave {
        let is_taken = self.is_taken;
        let journals = self.scripts.iter_mut().map(|script| {
            let journal = mem::replace(&mut script.journal, Journal::new());
            journal.to_send()
        });
        let journals = journals.collect();
        let code = |script: &KeptImage| (script.statements.clone(), script.mark_of_state);
        let code = self.scripts.iter().map(code).collect();
        let marks = self
            .sites
            .iter()
            .map(|site| [site.mark, site.stored])
            .collect();
        let stored = self.each_stored().map(Marked::says).collect();
        let births = self.births().map(|birth| *birth).collect();
        let content = postcard::to_stdvec(&AsItIs(self)).expect("a save state serialises");
        SendSave {
            content,
            journals,
            births,
            code,
            marks,
            stored,
            is_taken,
        }
    }
}

impl SaveState {
    fn births(&mut self) -> impl Iterator<Item = &mut Birth> {
        let alive = self.scripts.iter_mut().map(|script| &mut script.birth);
        alive.chain(self.ended.iter_mut().map(|ended| &mut ended.birth))
    }
}

impl SendSave {
    /// The save state, on the thread that calls this: with the same
    /// [bytes](SaveState::to_bytes), the same [checksum](SaveState::checksum), and no
    /// [difference](SaveState::diff). Sent back, its runtime can go back to it, but replays all
    /// scripts.
    #[must_use]
    pub fn into_save_state(self) -> SaveState {
        let read = postcard::from_bytes(&self.content);
        let AsItIs(mut save) = read.expect("a save state that was serialised");
        for (script, journal) in save.scripts.iter_mut().zip(self.journals) {
            script.journal = Journal::of_send(journal);
        }
        for (script, (table, mark)) in save.scripts.iter_mut().zip(self.code) {
            (script.statements, script.mark_of_state) = (table, mark);
        }
        save.sites.set_marks(&self.marks);
        for (stored, says) in save.each_stored().zip(self.stored) {
            stored.set_says(says);
        }
        for (birth, sent) in save.births().zip(self.births) {
            *birth = sent;
        }
        SaveState {
            is_taken: self.is_taken,
            ..save
        }
    }
}
