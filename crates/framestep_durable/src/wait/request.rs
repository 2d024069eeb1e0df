//! Requests: questions to the host, whose answers are inputs.

use std::cmp::Ordering;
use std::fmt;
use std::future::Future;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::durable::Event;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::{Bytes, Mark, Marked};
use crate::events::{Question, Typed};
use crate::ids::RequestKey;
use crate::script::{ChangesNoLocal, Numbered, ScriptCell, Slot, discard, unreadable};

/// A question that the host answers: a line of dialogue that the player has to read, a
/// level that has to be loaded, a call to a server.
pub trait Request: Serialize + DeserializeOwned + 'static {
    /// The name of the question in files.
    const NAME: &'static str;

    /// What the host answers.
    type Answer: Serialize + DeserializeOwned + 'static;
}

/// Names a question to the host: the same one after a restore and after a rollback. An id of a
/// question that a rollback has taken back is never that of another one.
///
/// It can be saved, such as beside the box in which the question is shown.
pub struct RequestId<R> {
    pub(crate) key: RequestKey,
    request: PhantomData<fn() -> R>,
}

impl<R> RequestId<R> {
    pub(crate) fn new(key: RequestKey) -> Self {
        RequestId {
            key,
            request: PhantomData,
        }
    }

    /// The number of the question. Questions are numbered from 1, in the order in which they were
    /// asked. In another timeline, another question may have the same number.
    pub fn number(&self) -> u64 {
        self.key.number
    }
}

impl<R> Clone for RequestId<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for RequestId<R> {}

impl<R> PartialEq for RequestId<R> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<R> Eq for RequestId<R> {}

impl<R> PartialOrd for RequestId<R> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<R> Ord for RequestId<R> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl<R> Hash for RequestId<R> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl<R> Serialize for RequestId<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.key.serialize(serializer)
    }
}

impl<'de, R> Deserialize<'de> for RequestId<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RequestKey::deserialize(deserializer).map(RequestId::new)
    }
}

impl<R> fmt::Debug for RequestId<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RequestId").field(&self.number()).finish()
    }
}

/// Asks the host, and waits for its answer: see [`Runtime::requests`](crate::RuntimeHandle::requests).
/// `request` makes the question at the first poll. The answer is recorded. After a restore,
/// open questions are asked again. If the code has changed, and a script has several open questions of one
/// type, the restore calls `request` again to see which of them it is. What it reads of the world is not
/// there then, and the questions count in their order.
///
/// # Resumes
///
/// In the home phase, like every future that is not a wait of framestep.
///
/// # Cancel safety
///
/// Dropping the future withdraws the question: an answer is ignored, and
/// [`Runtime::withdrawn`](crate::RuntimeHandle::withdrawn) tells the host.
///
/// # Panics
///
/// When polled outside of a durable script.
pub fn ask<R: Request, F: FnOnce() -> R + ChangesNoLocal>(request: F) -> Ask<R, F> {
    Ask {
        numbered: Numbered::reading::<R::Answer>(),
        make: Some(request),
        answer: PhantomData,
    }
}

/// The future of [`ask`].
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Ask<R, F> {
    numbered: Numbered,
    make: Option<F>,
    answer: PhantomData<fn() -> R>,
}

impl<R, F> Drop for Ask<R, F> {
    fn drop(&mut self) {
        // The question was made before a load: what it was made of went with it.
        if self.numbered.has_begun() {
            discard(self.make.take());
        }
    }
}

impl<R: Request, F: FnOnce() -> R + ChangesNoLocal> Future for Ask<R, F> {
    type Output = R::Answer;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<R::Answer> {
        let this = &mut *self;
        let make = &mut this.make;
        let begin = |cell: &ScriptCell| {
            let make = make.take().expect("it has not begun");
            let next = &cell.shared().questions.next;
            let id = next.replace(next.get() + 1);
            // The question is dropped in it, too.
            let content = cell.in_closure(|| Marked::of(&make()));
            Slot::Request(Box::new(Question {
                id,
                stamp: cell.stamp(&[R::NAME.as_bytes(), content.value().get()].concat()),
                name: R::NAME.to_owned(),
                content,
                answer: None,
            }))
        };
        let polled =
            this.numbered.poll(
                "ask()",
                Some(Event::Answer(R::NAME)),
                begin,
                |_, slot| match slot {
                    Slot::Request(request) => match &request.answer {
                        Some(answer) => Poll::Ready(answer.value().clone()),
                        None => Poll::Pending,
                    },
                    _ => Poll::Pending,
                },
            );
        if polled.is_pending() {
            this.numbered
                .note(|number| Typed::Answer(number, Mark::of::<R>(), Mark::of::<R::Answer>()));
            this.numbered.note_question(|cell| {
                let make = this.make.as_ref()?.another();
                Some(cell.in_closure(|| Bytes::of(&make())))
            });
        }
        polled.map(|answer| {
            answer.read().unwrap_or_else(|| {
                unreadable::<R::Answer>(format_args!(
                    "the answer to `{}` is of another type than its request says",
                    R::NAME
                ))
            })
        })
    }
}

impl<R, F> Unpin for Ask<R, F> {}

impl<R: Request, F> fmt::Debug for Ask<R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ask").field(&R::NAME).finish()
    }
}
