//! A handler for the error of a coroutine that nobody joins.

#![forbid(unsafe_code)]

use super::error::Outcome;
use super::handle::Coroutine;

impl<T: 'static, E: 'static> Coroutine<Result<T, E>> {
    /// Detaches the coroutine, and calls `handler` with the error if it returns one.
    ///
    /// The handler is called right after the coroutine has ended, in the same frame
    /// and phase, as a joiner resumes; at once if it has returned the error already.
    /// It may do what a coroutine does between two waits: borrow lent state, spawn,
    /// stop. What it spawns has the owner of the coroutine.
    ///
    /// The handler is dropped if the coroutine returns `Ok`, is stopped, or panics.
    /// A panic is [reported](crate::Report::CoroutinePanicked), that of the coroutine
    /// as well as one of the handler. The handler waits in a small coroutine of its
    /// own, which ends with the owner too.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::{cell::Cell, rc::Rc};
    /// use framestep::prelude::*;
    ///
    /// async fn load(name: &'static str) -> Result<u32, String> {
    ///     wait_seconds(0.5).await;
    ///     Err(format!("no such level: {name}"))
    /// }
    ///
    /// let mut executor = Executor::new();
    /// let text = Rc::new(Cell::new(String::new()));
    /// let show = text.clone();
    /// executor.spawn(load("cellar")).on_error(move |error| show.set(error));
    /// for _ in 0..3 {
    ///     executor.run_frame(0.25);
    /// }
    /// assert_eq!(text.take(), "no such level: cellar");
    /// ```
    ///
    /// # Source
    ///
    /// `UniTask.Forget(exceptionHandler)`. Rust's scripts return their errors.
    #[doc(alias = "Forget")]
    #[track_caller]
    pub fn on_error(self, handler: impl FnOnce(E) + 'static) {
        let Some((core, task)) = self.stored() else {
            return;
        };
        let core = core.clone();
        let name = format!("{} (on_error)", core.name_of(task));
        let owner = core.owner_of(task);
        // A coroutine may outlive the owner, for the rest of a poll.
        let owner = owner.filter(|&owner| core.accepts(Some(owner)));
        let watch = async move {
            // A panic stays in the handle, whose drop reports it.
            if self.finished().await == Outcome::Finished {
                if let Ok(Err(error)) = self.await {
                    handler(error);
                }
            }
        };
        Coroutine::start(core, watch, owner).named(name);
    }
}
