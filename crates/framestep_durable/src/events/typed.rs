//! What typed waits of a replayed script are about: which script, subscription or promise, and of which
//! type their values are. A name in common is not enough: the save may have another one of that name, or
//! a value that the present type cannot read.

use crate::bytes::Mark;
use crate::ids::{OwnerId, ScriptId};

/// What a script holds or awaits at the end of its replay.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Typed {
    /// The wait of this number joins a script, whose result is read so.
    Join(u32, ScriptId, Mark),
    /// A handle of a script, whose result is read so.
    Result(ScriptId, Mark),
    /// The wait of this number is for the end of a script, and not for its result.
    ScriptEnd(u32, ScriptId),
    /// The wait of this number is for the end of an owner.
    OwnerEnd(u32, OwnerId),
    /// The wait of this number is for the next event of a subscription.
    Next(u32, u64),
    /// The wait of this number is for an event, or for the state of a value.
    Event(u32, Mark),
    /// The wait of this number is for a promise.
    Promise(u32, u64),
    /// The wait of this number is for the answer to a question, which is read as the first type.
    Answer(u32, Mark, Mark),
    /// A subscription of the script.
    Events(u64, Mark),
    /// A promise of the script.
    Promised(u64, Mark),
}

impl Typed {
    /// The same with the number that its wait has in the save.
    pub(crate) fn in_save(self, number_then: &dyn Fn(u32) -> u32) -> Self {
        match self {
            Typed::Join(number, id, read) => Typed::Join(number_then(number), id, read),
            Typed::ScriptEnd(number, id) => Typed::ScriptEnd(number_then(number), id),
            Typed::OwnerEnd(number, id) => Typed::OwnerEnd(number_then(number), id),
            Typed::Next(number, stream) => Typed::Next(number_then(number), stream),
            Typed::Event(number, read) => Typed::Event(number_then(number), read),
            Typed::Promise(number, promise) => Typed::Promise(number_then(number), promise),
            Typed::Answer(number, question, answer) => {
                Typed::Answer(number_then(number), question, answer)
            }
            Typed::Result(..) | Typed::Events(..) | Typed::Promised(..) => self,
        }
    }
}
