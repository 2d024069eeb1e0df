//! The wait for a request to stop.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::durable::Event;

use crate::bytes::Bytes;
use crate::events::OutsideWait;
use crate::script::{Numbered, ScriptCell, Slot};

/// Waits until the calling script is requested to stop: by itself, with
/// [`ScriptHandle::request_stop`](crate::ScriptHandle::request_stop) or
/// [`Runtime::request_stop`](crate::RuntimeHandle::request_stop), or with its owner, with
/// [`OwnerId::request_stop`](crate::OwnerId::request_stop) or
/// [`stop_within`](crate::OwnerId::stop_within).
///
/// A script awaits it beside its other waits, to end in its own way: to finish a swing, or to fade
/// out. It is not stopped by the request itself. The request is saved, and stays for the chapters
/// that follow. Outside of a durable script, it is [`framestep::task::stop_requested`].
///
/// # Resumes
///
/// At once, without a wait, if the script has been asked. Otherwise like a
/// [`Signal`](crate::Signal): in the home phase, later in this run or in the next one.
///
/// # Cancel safety
///
/// Dropping the future cancels the wait. The request remains.
///
/// # Panics
///
/// When polled: outside of an executor, inside of a [`with`](crate::with()), or again after it was
/// ready.
///
/// # Examples
///
/// Music that fades out, saved in between:
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[durable]
/// async fn music() -> u64 {
///     select! {
///         () = stop_requested() => {}
///         () = wait_seconds(60) => {}
///     }
///     wait_seconds(1).await; // fades out
///     time().frame
/// }
///
/// let registry = Registry::new().with::<Music>();
/// let mut runtime = Runtime::new(registry.clone());
/// let level = runtime.owner();
/// let music = runtime.start_on(level, music()).id();
/// runtime.run_frame(0.25);
/// runtime.request_owner_stop(level);
/// let save = runtime.save().unwrap();
///
/// let mut runtime = Runtime::new(registry);
/// runtime.restore(&save, Policy::Fail).unwrap();
/// let music = runtime.handle::<u64>(music).unwrap();
/// assert!(runtime.is_stop_requested(music.id()));
/// for _ in 0..5 {
///     runtime.run_frame(0.25);
/// }
/// assert_eq!(runtime.take(music), Some(Ok(6))); // read in frame 2
/// ```
///
/// # Source
///
/// [`framestep::task::stop_requested`].
pub fn stop_requested() -> StopRequested {
    StopRequested {
        numbered: Numbered::default(),
    }
}

/// The future of [`stop_requested`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct StopRequested {
    numbered: Numbered,
}

impl Future for StopRequested {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let numbered = &mut self.numbered;
        let kind = "stop_requested()";
        let Some(cell) = numbered.script(kind) else {
            let mut slot =
                numbered.take_outside(|| OutsideWait::Stop(framestep::task::stop_requested()));
            let polled = match slot.outside() {
                Some(OutsideWait::Stop(wait)) => Pin::new(wait).poll(cx),
                _ => Poll::Pending,
            };
            numbered.put_outside(slot, &polled);
            return polled;
        };
        let begin = |cell: &ScriptCell| Slot::Stop(cell.events().next_ticket());
        let polled = numbered.poll_known(&cell, kind, Some(Event::Stop), begin, |cell, _| {
            if reads_request(cell) {
                Poll::Ready(Bytes::EMPTY)
            } else {
                Poll::Pending
            }
        });
        polled.map(drop)
    }
}

/// Whether a script that wants to know has been requested to stop. Then it has read the request.
pub(crate) fn reads_request(cell: &ScriptCell) -> bool {
    let shared = cell.shared();
    let is_asked = shared.stops.is_asked(cell.id);
    if is_asked {
        shared.owners.note_heard(cell.owner);
    }
    is_asked
}
