//! A handler for the error of a detached coroutine.

#![forbid(unsafe_code)]

use crate::core::Home;

use super::error::Outcome;
use super::handle::Coroutine;

impl<T: 'static, E: 'static> Coroutine<Result<T, E>> {
    /// Detaches the coroutine, and calls `handler` if the coroutine returns an
    /// error.
    ///
    /// The handler is called when a join would resume: right after the coroutine
    /// has ended, in the same frame and phase; or at once if the coroutine has
    /// already returned the error. The handler may do what a coroutine does between
    /// two waits: borrow lent state, spawn, stop. The coroutines that it spawns
    /// have the owner of this coroutine.
    ///
    /// If the coroutine returns `Ok`, is stopped or panics, the handler is dropped.
    /// A panic of the coroutine is [reported](crate::Report::CoroutinePanicked),
    /// and so is a panic of the handler. The handler waits in a small coroutine of
    /// its own, which also ends with the owner.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// struct Screen {
    ///     message: String,
    /// }
    ///
    /// async fn load(name: &'static str) -> Result<u32, String> {
    ///     wait_seconds(0.5).await;
    ///     Err(format!("no such level: {name}"))
    /// }
    ///
    /// fn show(message: String) {
    ///     with(|screen: &mut Screen| screen.message = message);
    /// }
    ///
    /// let mut screen = Screen { message: String::new() };
    /// let mut executor = Executor::new();
    /// executor.spawn(load("cellar")).on_error(show);
    /// for _ in 0..3 {
    ///     executor.lend(&mut screen, |executor| executor.run_frame(0.25));
    /// }
    /// assert_eq!(screen.message, "no such level: cellar");
    /// ```
    ///
    /// # Source
    ///
    /// `UniTask.Forget(exceptionHandler)`. In Rust, a script returns its error.
    #[doc(alias = "Forget")]
    #[track_caller]
    pub fn on_error(self, handler: impl FnOnce(E) + 'static) {
        let Some((core, task)) = self.stored() else {
            return;
        };
        let core = core.clone();
        let name = format!("{} (on_error)", core.name_of(task));
        let (owner, home) = (core.owner_of(task), Home::Inherited(task.home()));
        // The coroutine may outlive its owner until the end of a poll.
        let owner = owner.filter(|&owner| core.accepts(Some(owner)));
        let watch = async move {
            // A panic stays in the handle: dropping the handle reports it.
            if self.finished().await == Outcome::Finished {
                if let Ok(Err(error)) = self.await {
                    handler(error);
                }
            }
        };
        Coroutine::start(core, watch, home, owner).named(name);
    }
}
