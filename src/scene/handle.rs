//! The handle of a scene, for its behaviours and their coroutines.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::iter;
use std::rc::{Rc, Weak};

use crate::core::Core;

use super::behaviour::Behaviour;
use super::behaviour_handle::BehaviourHandle;
use super::slot::{AnySlot, Slot};

/// How many behaviours that an `on_destroy` adds and destroys are removed in one frame,
/// in addition to one for each behaviour of the scene. The rest are removed in the next
/// frame, so that no program makes a frame endless.
const MOST_ADDED: usize = 1_000;

/// The state that a scene and its handles share.
pub(super) struct Cast {
    core: Rc<Core>,
    /// The behaviours, in the order they were added.
    slots: RefCell<Vec<Rc<dyn AnySlot>>>,
    /// Those that are to be removed, in the order they were destroyed.
    destroyed: RefCell<VecDeque<Rc<dyn AnySlot>>>,
    /// Whether the scene is being dropped.
    closed: Cell<bool>,
}

/// A weak handle of a [`Scene`](super::Scene), to add and find behaviours in
/// callbacks and coroutines.
#[derive(Clone)]
pub struct SceneHandle {
    cast: Weak<Cast>,
}

impl Cast {
    pub(super) fn new(core: Rc<Core>) -> Rc<Self> {
        Rc::new(Cast {
            core,
            slots: RefCell::default(),
            destroyed: RefCell::default(),
            closed: Cell::new(false),
        })
    }

    pub(super) fn add<B: Behaviour>(self: &Rc<Self>, behaviour: B) -> BehaviourHandle<B> {
        let slot = Slot::new(behaviour, &self.core, SceneHandle::new(self));
        let this = slot.this();
        self.slots.borrow_mut().push(slot);
        this
    }

    pub(super) fn find<B: Behaviour>(&self) -> Option<BehaviourHandle<B>> {
        of_type(&self.slots.borrow()).next()
    }

    pub(super) fn find_all<B: Behaviour>(&self) -> Vec<BehaviourHandle<B>> {
        of_type(&self.slots.borrow()).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.slots.borrow().iter().filter(|s| s.is_alive()).count()
    }

    /// Whether a closure or callback is running that may borrow a behaviour.
    pub(super) fn is_borrowed(&self) -> bool {
        self.core.starts.are_held()
    }

    /// Calls `f` with every behaviour of the scene, except those added during the
    /// calls.
    pub(super) fn each(&self, mut f: impl FnMut(&dyn AnySlot)) {
        let count = self.slots.borrow().len();
        for index in 0..count {
            // `f` may add behaviours: no borrow during the call.
            let slot = self.slots.borrow()[index].clone();
            f(&*slot);
        }
    }

    /// Removes the destroyed behaviours, including those that an `on_destroy`
    /// destroys, or adds and destroys.
    pub(super) fn remove_destroyed(&self) {
        let most = 2 * self.slots.borrow().len() + MOST_ADDED;
        // `remove` may destroy others: no borrow during the call.
        let next = || self.destroyed.borrow_mut().pop_front();
        let removed = iter::from_fn(next).take(most);
        if removed.map(|slot| slot.remove()).count() > 0 {
            self.forget_removed();
        }
    }

    fn forget_removed(&self) {
        let mut removed = Vec::new();
        self.slots.borrow_mut().retain(|slot| {
            let gone = slot.is_removed();
            if gone {
                removed.push(slot.clone());
            }
            !gone
        });
        // Outside the borrow of the list: dropping a slot runs user code.
        drop(removed);
    }

    /// Removes all behaviours, and refuses new ones from now on.
    pub(super) fn close(&self) {
        self.closed.set(true);
        self.each(|slot| slot.remove());
    }
}

/// The behaviours of a type that have not been destroyed.
fn of_type<B: Behaviour>(slots: &[Rc<dyn AnySlot>]) -> impl Iterator<Item = BehaviourHandle<B>> {
    let alive = slots.iter().filter(|slot| slot.is_alive());
    let of_type = alive.filter_map(|slot| slot.clone().into_any().downcast::<Slot<B>>().ok());
    of_type.map(|slot| slot.this())
}

impl SceneHandle {
    pub(super) fn new(cast: &Rc<Cast>) -> Self {
        SceneHandle {
            cast: Rc::downgrade(cast),
        }
    }

    /// Removes a behaviour at the end of the frame, if the scene still exists.
    pub(super) fn remove_later(&self, slot: Rc<dyn AnySlot>) {
        if let Some(cast) = self.cast.upgrade() {
            cast.destroyed.borrow_mut().push_back(slot);
        }
    }

    /// Like [`Scene::add`](super::Scene::add). Returns `None` if the scene has been
    /// dropped or is being dropped; the behaviour is then dropped.
    #[doc(alias = "Instantiate")]
    pub fn add<B: Behaviour>(&self, behaviour: B) -> Option<BehaviourHandle<B>> {
        let cast = self.cast.upgrade().filter(|cast| !cast.closed.get())?;
        Some(cast.add(behaviour))
    }

    /// Like [`Scene::find`](super::Scene::find).
    #[doc(alias = "FindObjectOfType")]
    pub fn find<B: Behaviour>(&self) -> Option<BehaviourHandle<B>> {
        self.cast.upgrade()?.find()
    }

    /// Like [`Scene::find_all`](super::Scene::find_all).
    #[doc(alias = "FindObjectsOfType")]
    pub fn find_all<B: Behaviour>(&self) -> Vec<BehaviourHandle<B>> {
        self.cast
            .upgrade()
            .map_or_else(Vec::new, |cast| cast.find_all())
    }
}

impl fmt::Debug for SceneHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let behaviours = self.cast.upgrade().map(|cast| cast.len());
        f.debug_struct("SceneHandle")
            .field("behaviours", &behaviours)
            .finish()
    }
}
