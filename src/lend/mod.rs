//! Lent state: state of the host that coroutines borrow inside closures.
//!
//! [`Executor::lend`] puts a [note] on its stack that holds the address of the
//! state, and links the note into the executor. [`with`] finds the note by type.
//! The type is that of a key, [`Lend`], so that one mechanism serves plain state
//! and contexts with lifetimes. A closure of [`with_soon`] is [kept](soon) until
//! the state is lent and free.

mod borrow;
mod defer;
mod defer_call;
mod error;
mod note;
mod own;
mod soon;

use std::any::type_name;
use std::rc::Rc;

use crate::core::Core;
use crate::executor::{Executor, Handle};

use note::lend;
use own::Own;

pub(crate) use note::Lending;

pub use borrow::{try_with, try_with_as, try_with_ref, with, with_as, with_ref};
pub use defer::{Defer, defer};
pub use defer_call::{DeferCall, defer_call};
pub use error::WithError;
pub use soon::{with_soon, with_soon_as};

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
/// use framestep::{Lend, prelude::*, with_as, with_soon_as};
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
///         with_soon_as::<InFrame>(|frame| frame.log.push("put away".to_string()));
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

/// Lends `state` while `f` runs. It is found by its type.
pub(crate) fn lend_own<S: 'static, R>(core: &Rc<Core>, state: &mut S, f: impl FnOnce() -> R) -> R {
    lend::<Own<S>, R>(core, type_name::<S>(), state, f)
}

impl Executor {
    /// Lends `state` to the coroutines that `f` runs. They borrow it by its type,
    /// inside a closure of [`with`] or [`with_ref`].
    ///
    /// The game's state stays where it is, and needs no cell, no reference counting
    /// and no lock. To lend several types, nest the calls. If two states of one
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
        lend_own(&core, state, || f(self))
    }

    /// Lends `state`, whose type has a lifetime, as `K`. Coroutines borrow it with
    /// [`with_as`].
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
        lend::<K, R>(&core, type_name::<K>(), state, || f(self))
    }
}

impl Handle {
    /// Lends `state` to the coroutines that `f` starts, like [`Executor::lend`].
    /// Returns `None` if the executor has been dropped; `f` is then not called.
    ///
    /// For callbacks of an engine, such as observers and commands, that can reach
    /// the state but not the executor. A coroutine that `f` [starts](Handle::start)
    /// runs up to its first wait, and may borrow the state until then.
    ///
    /// Inside a closure of [`with`], a started coroutine begins after the closure
    /// has returned, as always. This lend has ended by then.
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
        Some(lend_own(&core, state, || f(self)))
    }

    /// Lends `state`, whose type has a lifetime, as `K`, like
    /// [`Executor::lend_as`]. Returns `None` if the executor has been dropped; `f`
    /// is then not called.
    pub fn lend_as<K: Lend, R>(
        &self,
        state: &mut K::Of<'_>,
        f: impl FnOnce(&Handle) -> R,
    ) -> Option<R> {
        let core = self.core()?;
        Some(lend::<K, R>(&core, type_name::<K>(), state, || f(self)))
    }
}
