//! One behaviour in a scene, whatever its type.

#![forbid(unsafe_code)]

use std::any::{Any, type_name};
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use crate::core::Core;
use crate::{Owner, Report, WithError, context, unwind};

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
    /// To be removed at the end of the frame.
    Destroyed,
    /// The same, and nothing of it is called any more.
    Panicked,
    Removed,
}

/// A behaviour with all that belongs to it.
pub(super) struct Slot<B> {
    behaviour: RefCell<Option<B>>,
    stage: Cell<Stage>,
    /// Where it stood when it was destroyed.
    was_started: Cell<bool>,
    active: Cell<bool>,
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
    /// was destroyed or `all` are.
    fn remove(&self, all: bool);
    fn is_removed(&self) -> bool;
    fn into_any(self: Rc<Self>) -> Rc<dyn Any>;
    fn is_alive(&self) -> bool;
}

impl<B: Behaviour> Slot<B> {
    pub(super) fn new(behaviour: B, core: &Rc<Core>, scene: SceneHandle) -> Rc<Self> {
        Rc::new_cyclic(|this| Slot {
            behaviour: RefCell::new(Some(behaviour)),
            stage: Cell::new(Stage::New),
            was_started: Cell::new(false),
            active: Cell::new(true),
            owner: Owner::new(core.clone(), None),
            scene,
            this: this.clone(),
        })
    }

    pub(super) fn this(&self) -> This<B> {
        This::new(self.this.clone())
    }

    /// Marks it for removal. `false`: it was marked already.
    pub(super) fn destroy(&self) -> bool {
        match self.stage.get() {
            Stage::New | Stage::Started => {
                self.was_started.set(self.stage.get() == Stage::Started);
                self.stage.set(Stage::Destroyed);
                true
            }
            Stage::Destroyed | Stage::Panicked | Stage::Removed => false,
        }
    }

    pub(super) fn set_active(&self, active: bool) {
        self.active.set(active);
        self.owner.set_active(active);
    }

    /// Calls `f` with the behaviour, while coroutines that are started wait.
    pub(super) fn try_with<R>(&self, f: impl FnOnce(&mut B) -> R) -> Result<R, WithError> {
        let type_name = type_name::<B>();
        let error = WithError::Borrowed { type_name };
        self.owner.core().hold_starts(|| {
            let mut behaviour = self.behaviour.try_borrow_mut().map_err(|_| error)?;
            let behaviour = behaviour.as_mut();
            Ok(f(behaviour.ok_or(WithError::Destroyed { type_name })?))
        })
    }

    /// Calls a callback, if it can be. A panic of it ends the behaviour.
    fn call_back(&self, name: &'static str, f: impl FnOnce(&mut B, &SceneContext<'_, B>)) {
        let context = SceneContext::new(self);
        let core = self.owner.core();
        let called = context::enter_owned(core, self.owner.index(), || {
            unwind::catch(|| self.try_with(|behaviour| f(behaviour, &context)))
        });
        if let Err(payload) = called {
            let message = unwind::message(&*payload);
            unwind::dispose(payload);
            self.stage.set(Stage::Panicked);
            self.owner.set_active(false);
            core.reports.send(&Report::BehaviourPanicked {
                behaviour: type_name::<B>(),
                callback: name,
                frame: core.clock.frame(),
                message,
            });
        }
    }

    fn may_be_called(&self) -> bool {
        let in_life = match self.stage.get() {
            Stage::Started => true,
            // It goes on to the end of the frame.
            Stage::Destroyed => self.was_started.get(),
            Stage::New | Stage::Panicked | Stage::Removed => false,
        };
        in_life && self.active.get()
    }
}

impl<B: Behaviour> AnySlot for Slot<B> {
    fn start(&self) {
        if self.stage.get() == Stage::New && self.active.get() {
            self.stage.set(Stage::Started);
            self.call_back("start", B::start);
        }
    }

    fn call(&self, callback: Callback) {
        if self.may_be_called() {
            match callback {
                Callback::FixedUpdate => self.call_back("fixed_update", B::fixed_update),
                Callback::Update => self.call_back("update", B::update),
                Callback::LateUpdate => self.call_back("late_update", B::late_update),
            }
        }
    }

    fn remove(&self, all: bool) {
        let stage = self.stage.get();
        let doomed = matches!(stage, Stage::Destroyed | Stage::Panicked);
        if stage == Stage::Removed || !(doomed || all) {
            return;
        }
        self.owner.set_active(false);
        if stage != Stage::Panicked {
            self.call_back("on_destroy", B::on_destroy);
        }
        self.stage.set(Stage::Removed);
        // Borrowed only if a closure that has it is removing it, which drops
        // it when it returns.
        let behaviour = self.behaviour.try_borrow_mut().ok();
        let behaviour = behaviour.and_then(|mut behaviour| behaviour.take());
        if let Err(payload) = unwind::catch(|| drop(behaviour)) {
            unwind::dispose(payload);
        }
    }

    fn is_removed(&self) -> bool {
        self.stage.get() == Stage::Removed
    }

    fn into_any(self: Rc<Self>) -> Rc<dyn Any> {
        self
    }

    fn is_alive(&self) -> bool {
        matches!(self.stage.get(), Stage::New | Stage::Started)
    }
}
