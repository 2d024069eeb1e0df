//! A behaviour, as its coroutines and others hold it.

#![forbid(unsafe_code)]

use std::any::type_name;
use std::fmt;
use std::future::Future;
use std::rc::Weak;

use crate::coroutine::Coroutine;
use crate::lend::WithError;

use super::behaviour::Behaviour;
use super::slot::{AnySlot, Slot};

/// A weak handle of a behaviour in a [`Scene`](super::Scene): it borrows the
/// behaviour for the length of a closure.
///
/// Cheap to clone, and it keeps nothing alive.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
/// use framestep::{Behaviour, Scene, This};
///
/// struct Counter(u32);
///
/// impl Behaviour for Counter {}
///
/// async fn count(this: This<Counter>) {
///     while this.with(|counter| counter.0) < 3 {
///         next_frame().await;
///         this.with(|counter| counter.0 += 1);
///     }
///     this.destroy();
/// }
///
/// let mut scene = Scene::new();
/// let counter = scene.add(Counter(0));
/// counter.start(count(counter.clone()));
/// for _ in 0..3 {
///     assert!(counter.is_alive());
///     scene.run_frame(0.1);
/// }
/// assert!(!counter.is_alive());
/// assert!(counter.try_with(|counter| counter.0).is_err());
/// ```
pub struct This<B> {
    slot: Weak<Slot<B>>,
}

impl<B: Behaviour> This<B> {
    pub(super) fn new(slot: Weak<Slot<B>>) -> Self {
        This { slot }
    }

    /// Calls `f` with the behaviour. A coroutine that is started inside begins
    /// when the outermost closure has returned.
    ///
    /// # Panics
    ///
    /// At the caller's line, if the behaviour has been removed; or if it is
    /// borrowed, by a closure that this call is made in, or since one of its
    /// callbacks is under way. [`try_with`](This::try_with) tells instead.
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(&mut B) -> R) -> R {
        match self.try_with(f) {
            Ok(result) => result,
            Err(error) => panic!("{error}"),
        }
    }

    /// Calls `f` with the behaviour, or says why it cannot: for destructors, and
    /// for coroutines of others, which may find it gone.
    ///
    /// # Errors
    ///
    /// If the behaviour has been removed, or is borrowed.
    pub fn try_with<R>(&self, f: impl FnOnce(&mut B) -> R) -> Result<R, WithError> {
        match self.slot.upgrade() {
            Some(slot) => slot.try_with(f),
            None => Err(WithError::Destroyed {
                type_name: type_name::<B>(),
            }),
        }
    }

    /// Starts a coroutine of the behaviour, like
    /// [`Owner::start`](crate::Owner::start). Once it has been removed, the
    /// handle is one of a coroutine that was stopped before it began.
    #[doc(alias = "StartCoroutine")]
    #[track_caller]
    pub fn start<F>(&self, future: F) -> Coroutine<F::Output>
    where
        F: Future + 'static,
    {
        match self.slot.upgrade() {
            Some(slot) => slot.owner.start(future),
            None => Coroutine::refused(future),
        }
    }

    /// Adds a coroutine of the behaviour, like
    /// [`Owner::spawn`](crate::Owner::spawn), or refuses it like
    /// [`start`](This::start).
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> Coroutine<F::Output>
    where
        F: Future + 'static,
    {
        match self.slot.upgrade() {
            Some(slot) => slot.owner.spawn(future),
            None => Coroutine::refused(future),
        }
    }

    /// Stops all coroutines of the behaviour.
    #[doc(alias = "StopAllCoroutines")]
    pub fn stop_all(&self) {
        if let Some(slot) = self.slot.upgrade() {
            slot.owner.stop_all();
        }
    }

    /// Pauses the behaviour's coroutines, like
    /// [`Owner::pause`](crate::Owner::pause); its callbacks go on. `false`: they
    /// were paused already, or it has been removed.
    pub fn pause(&self) -> bool {
        self.slot.upgrade().is_some_and(|slot| slot.owner.pause())
    }

    /// Ends a [`pause`](This::pause). `false`: there was none, or the behaviour
    /// has been removed.
    pub fn resume(&self) -> bool {
        self.slot.upgrade().is_some_and(|slot| slot.owner.resume())
    }

    /// Makes the behaviour inactive: no callback of it is called but
    /// [`on_destroy`](Behaviour::on_destroy), its coroutines are stopped, and none
    /// can be started; or active again, which starts none of them. Does nothing
    /// to one that has panicked or has been removed.
    ///
    /// # Source
    ///
    /// `GameObject.SetActive`, Unity scripting reference.
    #[doc(alias = "SetActive")]
    pub fn set_active(&self, active: bool) {
        if let Some(slot) = self.slot.upgrade() {
            slot.set_active(active);
        }
    }

    /// Whether the behaviour is [active](This::set_active). `false`: it has been
    /// made inactive, has panicked or has been removed.
    #[doc(alias = "isActiveAndEnabled")]
    pub fn is_active(&self) -> bool {
        self.slot.upgrade().is_some_and(|slot| slot.is_active())
    }

    /// Destroys the behaviour: it and its coroutines go on to the end of the
    /// frame, and are removed then. `false`: it was destroyed already.
    #[doc(alias = "Destroy")]
    pub fn destroy(&self) -> bool {
        self.slot.upgrade().is_some_and(|slot| slot.destroy())
    }

    /// Whether the behaviour has neither been destroyed nor panicked. `with`
    /// works until it is removed, at the end of the frame.
    pub fn is_alive(&self) -> bool {
        self.slot.upgrade().is_some_and(|slot| slot.is_alive())
    }
}

impl<B> Clone for This<B> {
    fn clone(&self) -> Self {
        This {
            slot: self.slot.clone(),
        }
    }
}

impl<B> PartialEq for This<B> {
    /// Whether both are handles of the same behaviour.
    fn eq(&self, other: &Self) -> bool {
        self.slot.ptr_eq(&other.slot)
    }
}

impl<B> Eq for This<B> {}

impl<B: Behaviour> fmt::Debug for This<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("This")
            .field("behaviour", &type_name::<B>())
            .field("alive", &self.is_alive())
            .finish()
    }
}
