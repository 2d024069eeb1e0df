//! Lending the host's state to coroutines.

use crate::lend::{self, Lend};

use super::{Executor, Handle};

impl Executor {
    /// Lends `state` to the coroutines that `f` runs. They borrow it by its type,
    /// inside a closure of [`with`](crate::with) or [`with_ref`](crate::lend::with_ref).
    ///
    /// The game's state stays where it is, and needs no cell, no reference counting
    /// and no lock. To lend several types, nest the calls. If two states of the same
    /// type are lent, coroutines find the inner one.
    ///
    /// Outside `f`, add scripts with [`spawn`](Executor::spawn): a script that is
    /// started there runs at once, and finds nothing lent. Inside `f`, the script
    /// that [`start`](Executor::start) runs may borrow the state.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// struct World {
    ///     gold: u32,
    /// }
    ///
    /// async fn dig() {
    ///     for _ in 0..3 {
    ///         wait_seconds(1).await;
    ///         with(|world: &mut World| world.gold += 10);
    ///     }
    /// }
    ///
    /// let mut world = World { gold: 0 };
    /// let mut executor = Executor::builder().max_delta(1).build();
    /// executor.spawn(dig());
    /// for _ in 0..5 {
    ///     executor.lend(&mut world, |executor| executor.run_frame(1));
    /// }
    /// assert_eq!(world.gold, 30);
    /// ```
    pub fn lend<S: 'static, R>(&mut self, state: &mut S, f: impl FnOnce(&mut Executor) -> R) -> R {
        let core = self.core().clone();
        lend::plain(core, state, || f(self))
    }

    /// Lends `state`, whose type has a lifetime, as `K`. Coroutines borrow it with
    /// [`with_as`](crate::lend::with_as).
    ///
    /// For a context that an engine passes to a callback. Otherwise it is like
    /// [`lend`](Executor::lend).
    ///
    /// # Examples
    ///
    /// See [`Lend`].
    pub fn lend_as<K: Lend, R>(
        &mut self,
        state: &mut K::Of<'_>,
        f: impl FnOnce(&mut Executor) -> R,
    ) -> R {
        let core = self.core().clone();
        lend::as_key::<K, R>(core, state, || f(self))
    }
}

impl Handle {
    /// Lends `state` to the coroutines that `f` starts, like [`Executor::lend`].
    /// If the executor has been dropped, returns `None` and does not call `f`.
    ///
    /// For callbacks of an engine, such as observers and commands, that can reach
    /// the state but not the executor. A coroutine that `f` [starts](Handle::start)
    /// runs up to its first wait, and may borrow the state until then.
    ///
    /// Inside a closure of [`with`](crate::with), a started coroutine begins only after the
    /// closure has returned. By then this lend has ended.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// struct World {
    ///     doors: u32,
    /// }
    ///
    /// async fn open() {
    ///     with(|world: &mut World| world.doors += 1);
    ///     wait_seconds(1).await;
    /// }
    ///
    /// fn on_click(world: &mut World, scripts: &framestep::Handle) {
    ///     scripts.lend(world, |scripts| {
    ///         scripts.start(open());
    ///     });
    /// }
    ///
    /// let executor = Executor::new();
    /// let mut world = World { doors: 0 };
    /// on_click(&mut world, &executor.handle());
    /// assert_eq!(world.doors, 1);
    /// ```
    pub fn lend<S: 'static, R>(&self, state: &mut S, f: impl FnOnce(&Handle) -> R) -> Option<R> {
        let core = self.core()?;
        Some(lend::plain(core, state, || f(self)))
    }

    /// Lends `state`, whose type has a lifetime, as `K`, like
    /// [`Executor::lend_as`]. If the executor has been dropped, returns `None` and does
    /// not call `f`.
    pub fn lend_as<K: Lend, R>(
        &self,
        state: &mut K::Of<'_>,
        f: impl FnOnce(&Handle) -> R,
    ) -> Option<R> {
        let core = self.core()?;
        Some(lend::as_key::<K, R>(core, state, || f(self)))
    }

    /// Calls the closures of [`defer`](crate::lend::defer) and [`with_deferred`](crate::lend::with_deferred) that
    /// wait for an `S`, with `state`, in the order in which they began to wait. If the executor has
    /// been dropped, does nothing.
    ///
    /// Otherwise they are called at the beginning of the next lend, or at the end of the borrow
    /// around this call. Call this where scripts have ended, and other code of the host
    /// follows that must see what they cleaned up: between the end of a level and the beginning of the
    /// next one.
    ///
    /// Inside a closure of [`with`](crate::with), pass the state that the closure borrows.
    /// Closures that wait for the end of that borrow are called now.
    ///
    /// # Panics
    ///
    /// It does not. A panic of a closure is [reported](crate::inspect::Report::WithDeferredPanicked), or let
    /// [through to the host](crate::Builder::propagate_panics) by the next run.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// struct World {
    ///     music: &'static str,
    /// }
    ///
    /// async fn battle() {
    ///     with(|world: &mut World| world.music = "battle");
    ///     let _silence = defer(|world: &mut World| world.music = "silence");
    ///     wait_seconds(60).await;
    /// }
    ///
    /// let mut world = World { music: "silence" };
    /// let mut executor = Executor::new();
    /// let battle = executor.spawn(battle());
    /// executor.run_frame_with(&mut world, 0.25);
    ///
    /// battle.stop(); // the world is not lent
    /// let scripts = executor.handle();
    /// assert!(scripts.has_clean_up::<World>());
    /// scripts.clean_up(&mut world);
    /// assert_eq!(world.music, "silence");
    /// world.music = "menu";
    /// executor.run_frame_with(&mut world, 0.25);
    /// assert_eq!(world.music, "menu");
    /// ```
    pub fn clean_up<S: 'static>(&self, state: &mut S) {
        if let Some(core) = self.core() {
            lend::clean_up(core, state);
        }
    }

    /// Whether closures of [`defer`](crate::lend::defer) or [`with_deferred`](crate::lend::with_deferred) wait for an
    /// `S`: for its next lend, or for the end of a borrow. `false` if the executor has been dropped.
    ///
    /// For hosts that can lend the state only at some expense, such as by a command.
    #[must_use]
    pub fn has_clean_up<S: 'static>(&self) -> bool {
        self.core()
            .is_some_and(|core| lend::has_clean_up::<S>(&core))
    }
}
