//! The slot of a behaviour in a scene.

use std::any::{Any, type_name};
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::rc::{Rc, Weak};

use crate::core::Core;
use crate::core::base::call;
use crate::core::life::start;
use crate::core::report;
use crate::core::scope;
use crate::inspect::Report;
use crate::lend::LendError;
use crate::task::owner::Owner;

use super::behaviour::Behaviour;
use super::behaviour_handle::BehaviourHandle;
use super::context::SceneContext;
use super::handle::SceneHandle;

/// The stage of a behaviour's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Its `start` has not been called.
    New,
    Started,
    /// It is being removed: its coroutines are being stopped.
    Stopping,
    /// It has been removed, except for its `on_destroy`, which is called once no
    /// closure borrows the behaviour.
    Leaving,
    Gone,
}

/// A behaviour, its owner and its state.
pub(super) struct Slot<B> {
    behaviour: RefCell<Option<B>>,
    /// The place of the closure that borrows it. `None` for a callback.
    borrowed_at: Cell<Option<&'static Location<'static>>>,
    stage: Cell<Stage>,
    /// Whether it is to be removed at the end of the frame.
    destroyed: Cell<bool>,
    /// Whether a callback has panicked: it is to be removed, and no callback is
    /// called any more.
    panicked: Cell<bool>,
    active: Cell<bool>,
    pub(super) core: Rc<Core>,
    pub(super) owner: Owner,
    pub(super) scene: SceneHandle,
    this: Weak<Slot<B>>,
}

/// The callbacks of each frame, in order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Callback {
    FixedUpdate,
    Update,
    LateUpdate,
}

/// A [`Slot`] of any behaviour type.
pub(super) trait AnySlot {
    /// Calls `start` if it has not been called.
    fn start(&self);
    fn call(&self, callback: Callback);
    /// Stops the coroutines, calls `on_destroy` and drops the behaviour, unless that has
    /// happened before.
    fn remove(&self);
    fn is_removed(&self) -> bool;
    fn into_any(self: Rc<Self>) -> Rc<dyn Any>;
    fn is_alive(&self) -> bool;
}

impl<B: Behaviour> Slot<B> {
    pub(super) fn new(behaviour: B, core: &Rc<Core>, scene: SceneHandle) -> Rc<Self> {
        let owner = Owner::new(core, None).named(type_name::<B>());
        Rc::new_cyclic(|this| Slot {
            behaviour: RefCell::new(Some(behaviour)),
            borrowed_at: Cell::new(None),
            stage: Cell::new(Stage::New),
            destroyed: Cell::new(false),
            panicked: Cell::new(false),
            active: Cell::new(true),
            core: core.clone(),
            owner,
            scene,
            this: this.clone(),
        })
    }

    pub(super) fn this(&self) -> BehaviourHandle<B> {
        BehaviourHandle::new(self.this.clone(), self.owner.handle())
    }

    /// Marks the behaviour for removal. Returns `false` if it was already marked.
    pub(super) fn destroy(&self) -> bool {
        let is_alive = self.is_alive();
        if is_alive {
            self.destroyed.set(true);
            self.remove_later();
        }
        is_alive
    }

    /// Adds the behaviour to those that are removed at the end of the frame.
    fn remove_later(&self) {
        if let Some(slot) = self.this.upgrade() {
            self.scene.remove_later(slot);
        }
    }

    pub(super) fn set_active(&self, active: bool) {
        // A behaviour that has panicked or was removed stays inactive.
        if !self.panicked.get() && !self.is_removed() {
            self.active.set(active);
            self.owner.set_active(active);
        }
    }

    pub(super) fn is_active(&self) -> bool {
        self.active.get() && !self.panicked.get() && !self.is_removed()
    }

    pub(super) fn pause(&self) -> bool {
        !self.is_removed() && self.owner.pause()
    }

    pub(super) fn resume(&self) -> bool {
        !self.is_removed() && self.owner.resume()
    }

    /// Calls `f` with the behaviour, and holds starts until then.
    #[track_caller]
    pub(super) fn try_with<R>(&self, f: impl FnOnce(&mut B) -> R) -> Result<R, LendError> {
        let _leave = LeaveAfter(self);
        let place = Location::caller();
        start::hold_starts(&self.core, || self.borrow(Some(place), f))
    }

    /// Calls `f`, which was passed at `place`, with the behaviour. `None`: a callback.
    fn borrow<R>(
        &self,
        place: Option<&'static Location<'static>>,
        f: impl FnOnce(&mut B) -> R,
    ) -> Result<R, LendError> {
        let type_name = type_name::<B>();
        let borrowed = LendError::Borrowed {
            type_name,
            borrowed_at: self.borrowed_at.get(),
        };
        let mut behaviour = self.behaviour.try_borrow_mut().map_err(|_| borrowed)?;
        let behaviour = behaviour.as_mut();
        let behaviour = behaviour.ok_or(LendError::Destroyed { type_name })?;
        self.borrowed_at.set(place);
        Ok(f(behaviour))
    }

    /// Calls a callback. A panic of the callback ends the behaviour.
    fn call_back(&self, name: &'static str, f: impl FnOnce(&mut B, &SceneContext<'_, B>)) {
        let context = SceneContext::new(self);
        self.guard(name, || {
            // No closure borrows the behaviour: a scene is not stepped inside such
            // a closure, and `leave` checks first.
            let _ = self.borrow(None, |behaviour| f(behaviour, &context));
        });
    }

    /// Calls code of the behaviour. The coroutines that it starts belong to the
    /// behaviour, and begin afterwards, when a panic has been caught.
    fn guard(&self, name: &'static str, f: impl FnOnce()) {
        let core = &self.core;
        let _notifies = core.host.notifies();
        let called = scope::enter_owned(core, self.owner.key(), || {
            start::hold_starts(core, || call::catch(f))
        });
        if let Err(payload) = called {
            self.panicked(name, payload);
        }
    }

    #[cold]
    fn panicked(&self, callback: &'static str, payload: Box<dyn Any + Send>) {
        let core = &self.core;
        let message = call::message(&*payload);
        call::dispose(payload);
        if self.is_alive() {
            self.remove_later();
        }
        self.panicked.set(true);
        self.owner.set_active(false);
        core.panics.note();
        report::send(
            core,
            &Report::BehaviourPanicked {
                behaviour: type_name::<B>(),
                callback,
                frame: core.clock.frame(),
                message,
            },
        );
    }

    /// Calls `on_destroy` and drops the behaviour, if it is to be removed and not
    /// borrowed.
    fn leave(&self) {
        if self.stage.get() != Stage::Leaving || self.behaviour.try_borrow_mut().is_err() {
            return;
        }
        self.stage.set(Stage::Gone);
        if !self.panicked.get() {
            self.call_back("on_destroy", B::on_destroy);
        }
        let behaviour = self.behaviour.take();
        self.guard("drop", || drop(behaviour));
    }
}

/// Completes the removal of a behaviour that was removed while a closure borrowed it,
/// even when unwinding.
struct LeaveAfter<'a, B: Behaviour>(&'a Slot<B>);

impl<B: Behaviour> Drop for LeaveAfter<'_, B> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl<B: Behaviour> AnySlot for Slot<B> {
    fn start(&self) {
        if self.stage.get() == Stage::New && self.is_alive() && self.active.get() {
            self.stage.set(Stage::Started);
            self.call_back("start", B::start);
        }
    }

    fn call(&self, callback: Callback) {
        // A destroyed behaviour is called until the end of the frame.
        if self.stage.get() == Stage::Started && self.is_active() {
            match callback {
                Callback::FixedUpdate => self.call_back("fixed_update", B::fixed_update),
                Callback::Update => self.call_back("update", B::update),
                Callback::LateUpdate => self.call_back("late_update", B::late_update),
            }
        }
    }

    fn remove(&self) {
        if !self.is_removed() {
            self.stage.set(Stage::Stopping);
            self.owner.retire();
            self.stage.set(Stage::Leaving);
            self.leave();
        }
    }

    fn is_removed(&self) -> bool {
        match self.stage.get() {
            Stage::New | Stage::Started => false,
            Stage::Stopping | Stage::Leaving | Stage::Gone => true,
        }
    }

    fn into_any(self: Rc<Self>) -> Rc<dyn Any> {
        self
    }

    fn is_alive(&self) -> bool {
        !self.destroyed.get() && !self.panicked.get() && !self.is_removed()
    }
}
