//! Comparing what a replay has left with its save: what its waits are about, and which types they read.

use crate::bytes::{Content, Mark, Marked, Topic};
use crate::events::{Given, Listed, PromiseEntry, Settled, Stream, Typed};
use crate::ids::Owned;
use crate::journal::Found;
use crate::script::aligned::Holders;
use crate::script::{EndedImage, ScriptCell, ScriptImage, SlotImage, WaitImage};

/// What a save state stores for its scripts, beside them.
#[derive(Clone, Copy)]
pub(crate) struct Stored<'a> {
    pub(crate) streams: &'a [(Owned, Stream)],
    pub(crate) values: &'a [(Topic, Option<Content>, Vec<Listed>)],
    pub(crate) promises: &'a [(Owned, PromiseEntry)],
    pub(crate) ended: &'a [EndedImage],
    /// What its scripts hold.
    pub(crate) holders: &'a dyn Holders,
}

/// A value in the save that the script would read as another type.
struct Misread {
    what: String,
    type_name: &'static str,
    is_one: bool,
}

/// Compares what a replay has left with its save. Without `save`, the values outside of the script are
/// not read: those of the runtime that has recorded them.
pub(crate) fn compare(
    cell: &ScriptCell,
    typed: &[Typed],
    image: &ScriptImage,
    save: Option<Stored<'_>>,
) -> Result<(), Found> {
    for &typed in typed {
        let typed = typed.in_save(&|number| cell.number_then(number));
        let differs = match other_subject(typed, image) {
            Some((wait, says)) => Some(Found::OtherSubject {
                entry: cell.replayed(),
                wait: wait.named,
                says,
            }),
            None => misread(cell, typed, image, save).map(|found| {
                let Misread {
                    what,
                    type_name,
                    is_one,
                } = found;
                Found::OtherStored {
                    entry: cell.replayed(),
                    what,
                    type_name,
                    is_one,
                }
            }),
        };
        if let Some(found) = differs {
            return Err(found);
        }
    }
    Ok(())
}

fn wait_of(image: &ScriptImage, number: u32) -> Option<&WaitImage> {
    image.waits.iter().find(|wait| wait.named.number == number)
}

/// The wait of the save if it is about something else, with what it is about there and here.
fn other_subject(typed: Typed, image: &ScriptImage) -> Option<(&WaitImage, [String; 2])> {
    let number = match typed {
        Typed::Join(number, ..)
        | Typed::ScriptEnd(number, _)
        | Typed::OwnerEnd(number, _)
        | Typed::Next(number, _)
        | Typed::Promise(number, _) => number,
        Typed::Result(..)
        | Typed::Event(..)
        | Typed::Answer(..)
        | Typed::Events(..)
        | Typed::Promised(..) => return None,
    };
    // Whether it waits at all is compared elsewhere.
    let wait = wait_of(image, number)?;
    let says = match (typed, &wait.slot) {
        (Typed::Join(_, now, _) | Typed::ScriptEnd(_, now), &SlotImage::Join(saved))
            if saved != now =>
        {
            [saved, now].map(|id| format!("the script {id}"))
        }
        (Typed::OwnerEnd(_, now), &SlotImage::OwnerEnd(saved)) if saved != now => {
            [saved, now].map(|id| format!("the owner #{}", id.0))
        }
        (Typed::Next(_, now), &SlotImage::Next { stream, .. }) if stream.1 != now => {
            [stream.1, now].map(|number| format!("the subscription {number}"))
        }
        (Typed::Promise(_, now), &SlotImage::Promise(saved)) if saved != now => {
            [saved, now].map(|number| format!("the promise {number}"))
        }
        _ => return None,
    };
    Some((wait, says))
}

/// A stored value that is not of the type as which it is read.
fn misread(
    cell: &ScriptCell,
    typed: Typed,
    image: &ScriptImage,
    save: Option<Stored<'_>>,
) -> Option<Misread> {
    let misread = |read: Mark, is_one, what: &dyn Fn() -> String| Misread {
        what: what(),
        type_name: read.type_name(),
        is_one,
    };
    let not = |read: Mark, value: &Marked, what: &dyn Fn() -> String| {
        let is_one = || read.can_read(value.value().get(), Mark::NONE);
        (!value.is(read)).then(|| misread(read, is_one(), what))
    };
    let other_result = |id, read: Mark| {
        let mut ended = save?.ended.iter();
        let ended = ended.find(|ended| ended.id == id)?;
        let result = ended.result.as_ref().ok()?;
        not(read, result, &|| format!("the result of the script {id}"))
    };
    let events_of = |number: u64, read: Mark| {
        let mut streams = save?.streams.iter();
        let (_, stream) = streams.find(|(id, _)| *id == (cell.id, number))?;
        let given = stream.given.iter().map(|given| &given.value);
        let what = || format!("an event of `{}` that it has not read yet", stream.topic);
        let mut events = given.chain(&stream.events);
        events.find_map(|event| not(read, event, &what))
    };
    match typed {
        Typed::ScriptEnd(..) | Typed::OwnerEnd(..) | Typed::Next(..) | Typed::Promise(..) => None,
        Typed::Join(_, id, read) | Typed::Result(id, read) => other_result(id, read),
        Typed::Event(number, read) => match &wait_of(image, number)?.slot {
            SlotImage::Signal { topic, given, .. } => {
                let what = || format!("an event of `{topic}`");
                let value = match given {
                    Given::Nothing => return None,
                    Given::Event(value) => value,
                    Given::One(given) => &given.value,
                };
                not(read, value, &what)
            }
            SlotImage::Next { stream, .. } => events_of(stream.1, read),
            SlotImage::Value { topic, .. } => {
                let mut values = save?.values.iter();
                let (_, value, _) = values.find(|(of, ..)| of == topic)?;
                match value.as_ref()? {
                    // What it says of itself is compared with what all scripts of the save read it as.
                    Content::Compact(value) => (!read.can_read(value.get(), Mark::NONE))
                        .then(|| misread(read, false, &|| format!("the value `{topic}`"))),
                    // The registry compares it.
                    Content::Described(_) => None,
                }
            }
            _ => None,
        },
        Typed::Answer(number, question, answer) => match &wait_of(image, number)?.slot {
            SlotImage::Request(request) => {
                let name = &request.name;
                not(question, &request.content, &|| {
                    format!("a question `{name}`")
                })
                .or_else(|| {
                    let what = || format!("an answer to `{name}`");
                    not(answer, request.answer.as_ref()?, &what)
                })
            }
            _ => None,
        },
        Typed::Events(number, read) => events_of(number, read),
        Typed::Promised(number, read) => {
            let mut promises = save?.promises.iter();
            let (_, promise) = promises.find(|(id, _)| *id == (cell.id, number))?;
            let what = || format!("what the promise `{}` was resolved with", promise.name);
            match promise.settled.as_ref()? {
                Settled::Resolved(value) => not(read, value, &what),
                Settled::Cancelled => None,
            }
        }
    }
}
