//! A handler for the error that a coroutine returns.

use super::handle::Coroutine;
use crate::core::report::unread;

impl<T: 'static, E: 'static> Coroutine<Result<T, E>> {
    /// Calls `handler` if the coroutine returns an error, and returns the handle.
    ///
    /// The handle may be dropped, kept to stop the coroutine, or joined. A join still
    /// returns the error.
    ///
    /// The handler is called when the coroutine returns, as its last action: in the
    /// same frame and phase, before the coroutines that join it. If the coroutine has
    /// already returned the error, the handler is called at once; inside a closure
    /// that borrows lent state, it is called after the closure.
    ///
    /// The handler may do what a coroutine does between two waits: borrow lent
    /// state, spawn, stop. The coroutines that it spawns have the owner of this
    /// coroutine. If there are several handlers, they are called in order.
    ///
    /// If the coroutine returns `Ok`, is stopped or panics, the handler is dropped.
    /// A panic of the coroutine is [reported](crate::Report::CoroutinePanicked) as
    /// usual. So is a panic of the handler, which leaves the result as it is.
    ///
    /// An error that a handler has received is not [unread](crate::Executor::on_unread).
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
    /// fn show(message: &String) {
    ///     with(|screen: &mut Screen| screen.message = message.clone());
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
    /// A script that ends with the field that holds it:
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// # async fn download() -> Result<(), String> { wait_seconds(60).await; Ok(()) }
    /// # let executor = Executor::new();
    /// struct Menu {
    ///     download: Coroutine<Result<(), String>>,
    /// }
    ///
    /// let menu = Menu {
    ///     download: executor.start(download()).on_error(|error| println!("{error}")).stop_on_drop(),
    /// };
    /// drop(menu);
    /// assert!(executor.is_empty());
    /// ```
    ///
    /// # Source
    ///
    /// `UniTask.Forget(exceptionHandler)`. In Rust, a script returns its error.
    #[doc(alias = "Forget")]
    #[expect(
        clippy::return_self_not_must_use,
        reason = "dropping the handle detaches, so `start(load()).on_error(show);` is complete"
    )]
    pub fn on_error(self, handler: impl FnOnce(&E) + 'static) -> Self {
        if let Some((core, task)) = self.stored() {
            unread::on_return(core, task, move |result: &Result<T, E>| match result {
                Ok(_) => false,
                Err(error) => {
                    handler(error);
                    true
                }
            });
        }
        self
    }
}
