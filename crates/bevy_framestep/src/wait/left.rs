//! What a script has not read yet when `next_message` or `next_event` returns.
//!
//! Several messages can come in one run. A script that waits for the next one in a loop
//! gets them one after the other: its next wait continues where the last one stopped.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::mem::take;

use bevy_ecs::entity::Entity;
use framestep::task::{CoroutineId, current};

/// The streams that waits have left in this run.
#[derive(Default)]
pub(crate) struct Left(RefCell<Vec<(Key, Box<dyn Any>)>>);

/// The script, the type of the stream, and the entity whose events are in it.
type Key = (CoroutineId, TypeId, Option<Entity>);

impl Left {
    /// Keeps a stream for the next wait of the running script.
    pub(super) fn keep<S: 'static>(&self, entity: Option<Entity>, stream: S) {
        let key = (current(), TypeId::of::<S>(), entity);
        self.0.borrow_mut().push((key, Box::new(stream)));
    }

    /// Takes the stream that a wait of the running script has left.
    pub(super) fn take<S: 'static>(&self, entity: Option<Entity>) -> Option<S> {
        if self.0.borrow().is_empty() {
            return None;
        }
        let key = (current(), TypeId::of::<S>(), entity);
        let mut all = self.0.borrow_mut();
        let index = all.iter().position(|(of, _)| *of == key)?;
        let (_, stream) = all.swap_remove(index);
        drop(all);
        stream.downcast().ok().map(|stream| *stream)
    }

    /// Drops them: the run has ended.
    pub(crate) fn forget(&self) {
        if !self.0.borrow().is_empty() {
            let all = take(&mut *self.0.borrow_mut());
            drop(all);
        }
    }
}
