//! Requests: questions to the host, whose answers are inputs.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::durable::Event;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::Bytes;
use crate::cell::{ScriptCell, unreadable};
use crate::slot::{self, Slot};

use super::Numbered;

/// A question that the host answers: a line of dialogue that the player has to read, a
/// level that has to be loaded, a call to a server.
pub trait Request: Serialize + DeserializeOwned + 'static {
    /// The name of the question in files.
    const NAME: &'static str;

    /// What the host answers.
    type Answer: Serialize + DeserializeOwned + 'static;
}

/// Names a request that has not been answered.
pub struct RequestId<R> {
    pub(crate) number: u64,
    request: PhantomData<fn() -> R>,
}

impl<R> RequestId<R> {
    pub(crate) fn new(number: u64) -> Self {
        RequestId {
            number,
            request: PhantomData,
        }
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
        self.number == other.number
    }
}

impl<R> Eq for RequestId<R> {}

impl<R> fmt::Debug for RequestId<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RequestId").field(&self.number).finish()
    }
}

/// Asks the host, and waits for its answer: see [`Runtime::requests`](crate::Host::requests).
/// `request` makes the question at the first poll. The answer is recorded. After a restore,
/// open questions are asked again.
///
/// # Resumes
///
/// In the home phase, like every future that is not a wait of framestep.
///
/// # Cancel safety
///
/// Dropping the future withdraws the question: an answer is ignored.
///
/// # Panics
///
/// When polled outside of a durable script.
pub fn ask<R: Request, F: FnOnce() -> R>(request: F) -> Ask<R, F> {
    Ask {
        numbered: Numbered::default(),
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

impl<R: Request, F: FnOnce() -> R> Future for Ask<R, F> {
    type Output = R::Answer;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<R::Answer> {
        let this = &mut *self;
        let make = this.make.take();
        let begin = |cell: &ScriptCell| {
            let make = make.expect("it has not begun");
            let id = cell.shared().next_request.get();
            cell.shared().next_request.set(id + 1);
            Slot::Request(Box::new(slot::Request {
                id,
                name: R::NAME.to_owned(),
                content: Bytes::of(&cell.in_closure(make)),
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
                        Some(answer) => Poll::Ready(answer.clone()),
                        None => Poll::Pending,
                    },
                    _ => Poll::Pending,
                },
            );
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
