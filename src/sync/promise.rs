//! A promise: one value that is sent once.
//!
//! The types wrap those of `futures`, so that a new version of that crate is no breaking change of this one.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::channel::oneshot;
use futures::future::FusedFuture;

use crate::core::scope::recording;
use crate::durable::RuntimePromise;
use crate::sync::source::expect_called;
use crate::wait::polled_again;

/// Makes a promise: one value that is sent once, from anywhere, and awaited by one
/// script. For an answer: of a menu, of a thread, of a callback.
///
/// The [`Resolver`] may be sent to another thread. For a value that is sent
/// repeatedly, or to several scripts, use a [`Signal`](crate::sync::Signal) or a
/// [`Watch`](crate::sync::Watch).
///
/// # Resumes
///
/// Like any future of another crate: see [the crate's
/// documentation](crate#any-other-future). If the value has already been sent, the
/// script continues without a wait.
///
/// # Output
///
/// The value, or [`Canceled`] if the resolver was dropped without one: its script was
/// stopped, its thread has panicked. [`Resolver::send`] returns the value if the
/// promise was dropped.
///
/// # Cancel safety
///
/// Dropping the promise loses the value. To keep it in a `select!` loop, await
/// `&mut promise`.
///
/// # Panics
///
/// A promise panics if it is polled again after it has returned the value or
/// [`Canceled`].
///
/// # Examples
///
/// A script asks the player, and a button answers:
///
/// ```
/// use framestep::prelude::*;
///
/// #[derive(Default)]
/// struct Dialog {
///     answer: Option<Resolver<bool>>,
/// }
///
/// async fn quit() -> Result<bool, Canceled> {
///     let (answer, answered) = promise();
///     with(|dialog: &mut Dialog| dialog.answer = Some(answer));
///     answered.await
/// }
///
/// let mut dialog = Dialog::default();
/// let mut executor = Executor::new();
/// let quits = executor.spawn(quit());
/// executor.run_frame_with(&mut dialog, 0.25);
///
/// // The button for "yes":
/// dialog.answer.take().unwrap().send(true).unwrap();
/// executor.run_frame_with(&mut dialog, 0.25);
/// assert_eq!(quits.take_output().unwrap().unwrap(), Ok(true));
/// ```
///
/// # Source
///
/// `TaskCompletionSource` of C#; `UniTaskCompletionSource`; `Promise` of JavaScript.
pub fn promise<T>() -> (Resolver<T>, Promise<T>) {
    let (sender, receiver) = oneshot::channel();
    (Resolver { sender }, Promise::new(Inner::Own(receiver)))
}

/// The sending half of a [`promise`]. [`send`](Resolver::send) sends the value.
///
/// Dropping it without a value cancels the promise: the other half returns [`Canceled`].
#[must_use = "dropping a resolver cancels its promise"]
pub struct Resolver<T> {
    sender: oneshot::Sender<T>,
}

impl<T> Resolver<T> {
    /// Sends the value. The script that awaits the promise resumes as described at
    /// [`promise`].
    ///
    /// # Errors
    ///
    /// Returns the value if the promise was dropped.
    ///
    /// # Panics
    ///
    /// In a durable script, except in its closures: it could not be saved. So do the other methods.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// let (resolver, promise) = promise();
    /// drop(promise);
    /// assert_eq!(resolver.send("yes"), Err("yes"));
    /// ```
    #[track_caller]
    pub fn send(self, value: T) -> Result<(), T> {
        recording::refuse("Resolver::send");
        self.sender.send(value)
    }

    /// Whether the promise was dropped, so that nobody receives a value.
    ///
    /// If another thread drops it, the result may be out of date when this returns: only
    /// [`send`](Resolver::send) says whether the promise took the value.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// let (resolver, promise) = promise::<u32>();
    /// assert!(!resolver.is_canceled());
    /// drop(promise);
    /// assert!(resolver.is_canceled());
    /// ```
    #[track_caller]
    pub fn is_canceled(&self) -> bool {
        recording::refuse("Resolver::is_canceled");
        self.sender.is_canceled()
    }

    /// Polls whether the promise was dropped. To await that, use [`std::future::poll_fn`].
    ///
    /// # Resumes
    ///
    /// Like any future of another crate: see [the crate's
    /// documentation](crate#any-other-future).
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if the future of `poll_fn` is dropped. The latest poll replaces the waker
    /// of earlier ones.
    ///
    /// # Examples
    ///
    /// A search ends when the script that asked for its result was stopped:
    ///
    /// ```
    /// use std::future::poll_fn;
    ///
    /// use framestep::prelude::*;
    ///
    /// async fn search(mut found: Resolver<u32>) {
    ///     select! {
    ///         () = poll_fn(|cx| found.poll_canceled(cx)) => {}
    ///         _ = wait_seconds(60) => drop(found.send(7)),
    ///     }
    /// }
    ///
    /// let mut executor = Executor::new();
    /// let (resolver, promise) = promise();
    /// let asks = executor.start(promise);
    /// let searches = executor.start(search(resolver));
    /// asks.stop();
    /// executor.run_frame(0.25);
    /// assert!(searches.is_finished());
    /// ```
    ///
    /// # Source
    ///
    /// `Sender::poll_canceled` of `futures`; `Sender::poll_closed` of tokio.
    #[track_caller]
    pub fn poll_canceled(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        recording::refuse("Resolver::poll_canceled");
        self.sender.poll_canceled(cx)
    }
}

impl<T> fmt::Debug for Resolver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolver")
            .field("canceled", &self.sender.is_canceled())
            .finish_non_exhaustive()
    }
}

/// The receiving half of a [`promise`]: a future of the value, or of [`Canceled`] if the
/// [`Resolver`] was dropped without one.
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Promise<T> {
    inner: Inner<T>,
    is_done: bool,
}

enum Inner<T> {
    Own(oneshot::Receiver<T>),
    /// A runtime of durable scripts has it.
    Runtime(Box<dyn RuntimePromise<T>>),
}

impl<T> Promise<T> {
    fn new(inner: Inner<T>) -> Self {
        Promise {
            inner,
            is_done: false,
        }
    }

    pub(crate) fn of_runtime(promise: Box<dyn RuntimePromise<T>>) -> Self {
        Promise::new(Inner::Runtime(promise))
    }

    /// Takes the value if it has been sent, without a wait. For hosts that look each frame;
    /// scripts await the promise.
    ///
    /// # Output
    ///
    /// `None` as long as nothing has been sent.
    ///
    /// # Errors
    ///
    /// [`Canceled`] if the resolver was dropped without a value, or if the value has been taken.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// let (resolver, mut promise) = promise();
    /// assert_eq!(promise.try_take(), Ok(None));
    /// resolver.send(7).unwrap();
    /// assert_eq!(promise.try_take(), Ok(Some(7)));
    /// assert_eq!(promise.try_take(), Err(Canceled));
    /// ```
    ///
    /// # Panics
    ///
    /// On a promise of a durable script, outside of it or in a closure of it; in a durable script, on any other one.
    #[doc(alias = "try_recv")]
    #[track_caller]
    pub fn try_take(&mut self) -> Result<Option<T>, Canceled> {
        let taken = match &mut self.inner {
            Inner::Own(receiver) => {
                recording::refuse("Promise::try_take");
                receiver.try_recv().map_err(|_| Canceled)
            }
            Inner::Runtime(_) if self.is_done => Err(Canceled),
            Inner::Runtime(promise) => match expect_called(promise.try_take(Location::caller())) {
                Poll::Ready(taken) => taken.map(Some).ok_or(Canceled),
                Poll::Pending => Ok(None),
            },
        };
        self.is_done |= !matches!(taken, Ok(None));
        taken
    }
}

impl<T> Future for Promise<T> {
    type Output = Result<T, Canceled>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.is_done {
            polled_again("promise()");
        }
        let polled = match &mut self.inner {
            Inner::Own(receiver) => {
                recording::refuse("Promise::await");
                Pin::new(receiver).poll(cx).map_err(|_| Canceled)
            }
            Inner::Runtime(promise) => {
                let polled = expect_called(promise.poll(Location::caller(), cx));
                polled.map(|value| value.ok_or(Canceled))
            }
        };
        self.is_done = polled.is_ready();
        polled
    }
}

impl<T> FusedFuture for Promise<T> {
    fn is_terminated(&self) -> bool {
        // Not that of the receiver, which has also terminated if its sender was dropped before the
        // first poll: a `select!` of `futures` would never return the error.
        self.is_done
    }
}

impl<T> fmt::Debug for Promise<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Promise")
            .field("done", &self.is_done)
            .finish_non_exhaustive()
    }
}

/// The error of a [`Promise`] that gets no value, because its [`Resolver`] was dropped without
/// one.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// let (resolver, promise) = promise::<u32>();
/// drop(resolver);
/// let mut executor = Executor::new();
/// let script = executor.spawn(promise);
/// let canceled = executor.run_until(script, 0.25).unwrap().unwrap_err();
/// assert_eq!(canceled.to_string(), "the promise was cancelled: its resolver will send no value");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Canceled;

impl fmt::Display for Canceled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the promise was cancelled: its resolver will send no value")
    }
}

impl Error for Canceled {}
