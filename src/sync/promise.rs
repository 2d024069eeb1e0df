//! A promise: one value that is sent once.

use futures::channel::oneshot;

/// The sending half of a [`promise`]: `send(value)` keeps it. It is the `Sender` of
/// `futures::channel::oneshot`.
pub use futures::channel::oneshot::Sender as Resolver;

/// The receiving half of a [`promise`]: a future of the value. It is the `Receiver` of
/// `futures::channel::oneshot`.
pub use futures::channel::oneshot::Receiver as Promise;

/// The error of a [`Promise`] whose [`Resolver`] was dropped without a value.
pub use futures::channel::oneshot::Canceled;

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
#[doc(alias = "TaskCompletionSource")]
#[doc(alias = "oneshot")]
pub fn promise<T>() -> (Resolver<T>, Promise<T>) {
    oneshot::channel()
}
