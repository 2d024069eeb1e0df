//! One behaviour in a scene, whatever its type.

#![forbid(unsafe_code)]

use std::any::{Any, type_name};
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use crate::core::call;
use crate::core::scope;
use crate::core::{Core, Telling};
use crate::inspect::Report;
use crate::lend::WithError;
use crate::owner::Owner;

use super::behaviour::Behaviour;
use super::context::SceneContext;
use super::handle::SceneHandle;
use super::this::This;

/// Where a behaviour is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Its `start` has not been called.
    New,
    Started,
    /// Being removed: its coroutines are being stopped.
    Stopping,
    /// Removed, except for its `on_destroy`, which comes once nobody borrows it.
    Leaving,
    Gone,
}

/// A behaviour with all that belongs to it.
pub(super) struct Slot<B> {
    behaviour: RefCell<Option<B>>,
    stage: Cell<Stage>,
    /// To be removed at the end of the frame.
    destroyed: Cell<bool>,
    /// The same, and nothing of it is called any more.
    panicked: Cell<bool>,
    active: Cell<bool>,
    pub(super) core: Rc<Core>,
    pub(super) owner: Owner,
    pub(super) scene: SceneHandle,
    this: Weak<Slot<B>>,
}

/// What a scene calls, in the order of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) enum Callback {
    FixedUpdate,
    Update,
    LateUpdate,
}

/// A [`Slot`] whose type is forgotten.
pub(super) trait AnySlot {
    /// Calls `start`, if that is still to be done.
    fn start(&self);
    fn call(&self, callback: Callback);
    /// Stops the coroutines, calls `on_destroy` and drops the behaviour, if it
    /// was destroyed or `all` are. `false`: it stays, or was gone already.
    fn remove(&self, all: bool) -> bool;
    fn is_removed(&self) -> bool;
    fn into_any(self: Rc<Self>) -> Rc<dyn Any>;
    fn is_alive(&self) -> bool;
}

impl<B: Behaviour> Slot<B> {
    pub(super) fn new(behaviour: B, core: &Rc<Core>, scene: SceneHandle) -> Rc<Self> {
        let owner = Owner::new(core, None);
        owner.named(type_name::<B>());
        Rc::new_cyclic(|this| Slot {
            behaviour: RefCell::new(Some(behaviour)),
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

    pub(super) fn this(&self) -> This<B> {
        This::new(self.this.clone())
    }

    /// Marks it for removal. `false`: it was marked already.
    pub(super) fn destroy(&self) -> bool {
        let is_alive = self.is_alive();
        self.destroyed.set(true);
        is_alive
    }

    pub(super) fn set_active(&self, active: bool) {
        // Nothing starts any more on one that has panicked or is removed.
        if !self.panicked.get() && !self.is_removed() {
            self.active.set(active);
            self.owner.set_active(active);
        }
    }

    pub(super) fn is_active(&self) -> bool {
        self.active.get() && !self.panicked.get() && !self.is_removed()
    }

    /// Calls `f` with the behaviour, while coroutines that are started wait.
    pub(super) fn try_with<R>(&self, f: impl FnOnce(&mut B) -> R) -> Result<R, WithError> {
        let _leave = LeaveAfter(self);
        self.core.hold_starts(|| self.borrow(f))
    }

    fn borrow<R>(&self, f: impl FnOnce(&mut B) -> R) -> Result<R, WithError> {
        let type_name = type_name::<B>();
        let borrowed = WithError::Borrowed { type_name };
        let mut behaviour = self.behaviour.try_borrow_mut().map_err(|_| borrowed)?;
        let behaviour = behaviour.as_mut();
        Ok(f(behaviour.ok_or(WithError::Destroyed { type_name })?))
    }

    /// Calls a callback. A panic of it ends the behaviour.
    fn call_back(&self, name: &'static str, f: impl FnOnce(&mut B, &SceneContext<'_, B>)) {
        let context = SceneContext::new(self);
        self.guard(name, || {
            // Nobody borrows it: a scene is not stepped while anybody does, and
            // `leave` looks first.
            let _ = self.borrow(|behaviour| f(behaviour, &context));
        });
    }

    /// Calls code of the behaviour: what it starts is the behaviour's, and
    /// begins afterwards, when a panic of it has been caught.
    fn guard(&self, name: &'static str, f: impl FnOnce()) {
        let core = &self.core;
        let _telling = Telling(core);
        let called = scope::enter_owned(core, self.owner.index(), || {
            core.hold_starts(|| call::catch(f))
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
        self.panicked.set(true);
        self.owner.set_active(false);
        core.report(&Report::BehaviourPanicked {
            behaviour: type_name::<B>(),
            callback,
            frame: core.clock.frame(),
            message,
        });
    }

    /// The last of a behaviour that is to be removed, unless it is borrowed.
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

/// Lets a behaviour leave that was removed while a closure had it, also when
/// that unwinds.
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
        // One that was destroyed goes on to the end of the frame.
        if self.stage.get() == Stage::Started && self.is_active() {
            match callback {
                Callback::FixedUpdate => self.call_back("fixed_update", B::fixed_update),
                Callback::Update => self.call_back("update", B::update),
                Callback::LateUpdate => self.call_back("late_update", B::late_update),
            }
        }
    }

    fn remove(&self, all: bool) -> bool {
        if self.is_removed() || (self.is_alive() && !all) {
            return false;
        }
        self.stage.set(Stage::Stopping);
        self.owner.set_active(false);
        self.stage.set(Stage::Leaving);
        self.leave();
        true
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
