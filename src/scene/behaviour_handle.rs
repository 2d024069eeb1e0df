//! The handle of a behaviour.

use std::any::type_name;
use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::rc::Weak;

use crate::lend::LendError;
use crate::task::coroutine::{Coroutine, ScriptBuilder};
use crate::task::owner::OwnerHandle;

use super::behaviour::Behaviour;
use super::slot::{AnySlot, Slot};

/// A weak handle of a behaviour in a [`Scene`](super::Scene). It borrows the
/// behaviour inside a closure.
///
/// It is cheap to clone, and keeps nothing alive.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
/// use framestep::scene::{Behaviour, Scene, BehaviourHandle};
///
/// struct Counter(u32);
///
/// impl Behaviour for Counter {}
///
/// async fn count(this: BehaviourHandle<Counter>) {
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
pub struct BehaviourHandle<B> {
    slot: Weak<Slot<B>>,
    /// The owner of its coroutines, which refuses them once the behaviour is gone.
    owner: OwnerHandle,
}

impl<B: Behaviour> BehaviourHandle<B> {
    pub(super) fn new(slot: Weak<Slot<B>>, owner: OwnerHandle) -> Self {
        BehaviourHandle { slot, owner }
    }

    /// Calls `f` with the behaviour. A coroutine that is started inside `f` begins
    /// when the outermost closure has returned.
    ///
    /// # Panics
    ///
    /// At the caller's line, if the behaviour has been removed, or if it is
    /// borrowed: by a closure around this call, or by one of its own callbacks.
    /// [`try_with`](BehaviourHandle::try_with) returns an error instead.
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(&mut B) -> R) -> R {
        match self.try_with(f) {
            Ok(result) => result,
            Err(error) => panic!("{error}"),
        }
    }

    /// Calls `f` with the behaviour, or returns an error: for destructors, and for
    /// coroutines of other behaviours, which may outlive this one.
    ///
    /// # Errors
    ///
    /// - [`LendError::Destroyed`], if the behaviour has been removed.
    /// - [`LendError::Borrowed`], if a closure or callback around this call borrows
    ///   the behaviour.
    #[track_caller]
    pub fn try_with<R>(&self, f: impl FnOnce(&mut B) -> R) -> Result<R, LendError> {
        match self.slot.upgrade() {
            Some(slot) => slot.try_with(f),
            None => Err(LendError::Destroyed {
                type_name: type_name::<B>(),
            }),
        }
    }

    /// Starts a coroutine of the behaviour, like
    /// [`Owner::start`](crate::Owner::start). If the behaviour is inactive or has
    /// been removed, the future is dropped, and the handle is that of a stopped
    /// coroutine.
    #[doc(alias = "StartCoroutine")]
    #[track_caller]
    pub fn start<F: Future + 'static>(&self, future: F) -> Coroutine<F::Output> {
        self.owner.start(future)
    }

    /// Adds a coroutine of the behaviour, like
    /// [`Owner::spawn`](crate::Owner::spawn). The behaviour may refuse it, as with
    /// [`start`](BehaviourHandle::start).
    #[track_caller]
    pub fn spawn<F: Future + 'static>(&self, future: F) -> Coroutine<F::Output> {
        self.owner.spawn(future)
    }

    /// Names the coroutine of the behaviour that is about to be started or spawned,
    /// like [`Executor::script`](crate::Executor::script).
    pub fn script(&self, name: impl Into<Cow<'static, str>>) -> ScriptBuilder {
        self.owner.script(name)
    }

    /// Stops all coroutines of the behaviour.
    #[doc(alias = "StopAllCoroutines")]
    #[track_caller]
    pub fn stop_all(&self) {
        if let Some(slot) = self.slot.upgrade() {
            slot.owner.stop_all();
        }
    }

    /// Pauses the behaviour's coroutines, like
    /// [`Owner::pause`](crate::Owner::pause). Its callbacks are still called.
    /// Returns `false` if the coroutines are already paused, or if the behaviour
    /// has been removed, which includes its [`on_destroy`](Behaviour::on_destroy).
    pub fn pause(&self) -> bool {
        self.slot.upgrade().is_some_and(|slot| slot.pause())
    }

    /// Ends a [`pause`](BehaviourHandle::pause). Returns `false` if the coroutines were not
    /// paused, or if the behaviour has been removed.
    pub fn resume(&self) -> bool {
        self.slot.upgrade().is_some_and(|slot| slot.resume())
    }

    /// Makes the behaviour inactive or active. While it is inactive, no callback
    /// except [`on_destroy`](Behaviour::on_destroy) is called. Making it inactive
    /// stops its coroutines, and new ones are refused. Making it active again
    /// restarts none of them. A behaviour that has panicked or has been removed
    /// stays inactive.
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

    /// Whether the behaviour is [active](BehaviourHandle::set_active). Returns `false` if it
    /// has been made inactive, has panicked or has been removed.
    #[doc(alias = "isActiveAndEnabled")]
    pub fn is_active(&self) -> bool {
        self.slot.upgrade().is_some_and(|slot| slot.is_active())
    }

    /// Destroys the behaviour. The behaviour and its coroutines run until the end
    /// of the frame, and are removed then. Returns `false` if the behaviour was
    /// already destroyed.
    #[doc(alias = "Destroy")]
    pub fn destroy(&self) -> bool {
        self.slot.upgrade().is_some_and(|slot| slot.destroy())
    }

    /// Whether the behaviour has neither been destroyed nor panicked.
    /// [`with`](BehaviourHandle::with) works until the behaviour is removed, at the end of the
    /// frame.
    pub fn is_alive(&self) -> bool {
        self.slot.upgrade().is_some_and(|slot| slot.is_alive())
    }
}

impl<B> Clone for BehaviourHandle<B> {
    fn clone(&self) -> Self {
        BehaviourHandle {
            slot: self.slot.clone(),
            owner: self.owner.clone(),
        }
    }
}

impl<B> PartialEq for BehaviourHandle<B> {
    /// Whether both are handles of the same behaviour.
    fn eq(&self, other: &Self) -> bool {
        self.slot.ptr_eq(&other.slot)
    }
}

impl<B> Eq for BehaviourHandle<B> {}

impl<B: Behaviour> fmt::Debug for BehaviourHandle<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BehaviourHandle")
            .field("behaviour", &type_name::<B>())
            .field("alive", &self.is_alive())
            .finish()
    }
}
