//! The key of lent state that has a lifetime.

/// A key for lent state that has a lifetime, such as a context that an engine
/// passes to a callback.
///
/// Scripts find lent state by its type, and only `'static` types can be compared. A
/// context such as `Context<'a>` is not `'static`. A *key* stands for it: a
/// `'static` type that implements `Lend`. No value of the key is needed.
///
/// # Examples
///
/// ```
/// use framestep::lend::{Lend, with_as, with_deferred_as};
/// use framestep::prelude::*;
///
/// /// The context that the engine passes to its callbacks.
/// struct Frame<'a> {
///     gold: &'a mut u32,
///     log: &'a mut Vec<String>,
/// }
///
/// /// The key of a `Frame`.
/// enum InFrame {}
///
/// impl Lend for InFrame {
///     type Of<'a> = Frame<'a>;
/// }
///
/// async fn dig() {
///     wait_seconds(0.25).await;
///     with_as::<InFrame, _>(|frame| {
///         *frame.gold += 10;
///         frame.log.push("found some".to_string());
///     });
/// }
///
/// struct Shovel;
///
/// impl Drop for Shovel {
///     fn drop(&mut self) {
///         with_deferred_as::<InFrame>(|frame| frame.log.push("put away".to_string()));
///     }
/// }
///
/// let (mut gold, mut log) = (0, Vec::new());
/// let mut executor = Executor::new();
/// executor.start(async {
///     let _shovel = Shovel;
///     dig().await;
/// });
/// let mut frame = Frame { gold: &mut gold, log: &mut log };
/// executor.lend_as::<InFrame, _>(&mut frame, |executor| executor.run_frame(0.25));
/// assert_eq!(gold, 10);
/// assert_eq!(log, ["found some", "put away"]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name what is lent",
    label = "does not implement `Lend`",
    note = "name the type that implements `Lend`, not the state that is lent",
    note = "a state without a lifetime needs no `Lend`: use `lend` and `with`"
)]
pub trait Lend: 'static {
    /// The type of the lent state, for the lifetime `'a`.
    type Of<'a>;
}
