//! Lending the host's state to coroutines.

use crate::lend::{self, Lend};

use super::{Executor, Handle};

impl Executor {
    /// Lends `state` to the coroutines that `f` runs. They borrow it by its type,
    /// inside a closure of [`with`](crate::with) or [`with_ref`](crate::with_ref).
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
    /// [`with_as`](crate::with_as).
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
}
