//! What typed waits of a replayed script are about: which script, subscription or promise, and of which
//! type their values are. A name in common is not enough: the save may have another one of that name, or
//! a value that the present type cannot read.

use std::any::type_name;

use serde::de::DeserializeOwned;

use crate::bytes;
use crate::bytes::Bytes;
use crate::ids::{OwnerId, ScriptId};

/// A type as which values are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadAs {
    pub(crate) name: &'static str,
    can_read: fn(&[u8]) -> bool,
}

impl ReadAs {
    pub(crate) fn of<T: DeserializeOwned>() -> Self {
        ReadAs {
            name: type_name::<T>(),
            can_read: |bytes| bytes::read::<T>(bytes).is_some(),
        }
    }

    pub(crate) fn can_read(self, value: &Bytes) -> bool {
        (self.can_read)(value.get())
    }
}

/// What a script holds or awaits at the end of its replay.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Typed {
    /// The wait of this number joins a script, whose result is read so.
    Join(u32, ScriptId, ReadAs),
    /// The wait of this number is for the end of an owner.
    OwnerEnd(u32, OwnerId),
    /// The wait of this number is for the next event of a subscription.
    Next(u32, u64),
    /// The wait of this number is for an event, or for the state of a value.
    Event(u32, ReadAs),
    /// The wait of this number is for a promise.
    Promise(u32, u64),
    /// The wait of this number is for the answer to a question, which is read as the first type.
    Answer(u32, ReadAs, ReadAs),
    /// A subscription of the script.
    Events(u64, ReadAs),
    /// A promise of the script.
    Promised(u64, ReadAs),
}

impl Typed {
    /// The same with the number that its wait has in the save.
    pub(crate) fn in_save(self, number_then: &dyn Fn(u32) -> u32) -> Self {
        match self {
            Typed::Join(number, id, read) => Typed::Join(number_then(number), id, read),
            Typed::OwnerEnd(number, id) => Typed::OwnerEnd(number_then(number), id),
            Typed::Next(number, stream) => Typed::Next(number_then(number), stream),
            Typed::Event(number, read) => Typed::Event(number_then(number), read),
            Typed::Promise(number, promise) => Typed::Promise(number_then(number), promise),
            Typed::Answer(number, question, answer) => {
                Typed::Answer(number_then(number), question, answer)
            }
            Typed::Events(..) | Typed::Promised(..) => self,
        }
    }
}
