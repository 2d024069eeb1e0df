//! Waits for the end of an entity.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bevy_ecs::prelude::*;
use framestep::Phase;
use framestep::inspect::WaitNote;
use futures::FutureExt;
use futures::channel::oneshot::{self, Receiver, Sender};
use futures::future::FusedFuture;

use super::turn::Turn;
use crate::borrow::{Call, with};
use crate::name::NameOf;

const DESPAWNED: Call = Call::wait("despawned");

/// The waits for the end of the entity: dropping the component wakes them, on any thread.
#[derive(Component, Default)]
struct Ends(Vec<Sender<Infallible>>);

impl Ends {
    /// Adds a wait. The cost is amortised constant: waits that have ended are removed when
    /// the list has doubled.
    fn add(&mut self, sender: Sender<Infallible>) {
        if self.0.len() == self.0.capacity() {
            self.0.retain(|sender| !sender.is_canceled());
            self.0.reserve(self.0.len() + 1);
        }
        self.0.push(sender);
    }
}

/// The future of [`ScriptEntity::despawned`](crate::ScriptEntity::despawned).
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Despawned {
    entity: Entity,
    /// `None`: the entity does not exist.
    end: Option<Receiver<Infallible>>,
    turn: Turn,
    note: Option<WaitNote>,
    is_done: bool,
}

impl Despawned {
    #[track_caller]
    pub(crate) fn new(entity: Entity) -> Self {
        Despawned {
            entity,
            end: with(DESPAWNED, |world| end_of(world, entity)),
            turn: Turn::default(),
            note: None,
            is_done: false,
        }
    }

    /// Resumes in the first run of `phase` after the entity is despawned, instead of the home
    /// phase. Ready at once if it did not exist when the wait was made.
    ///
    /// If `phase` is not the home phase, the script is polled in each of its runs.
    ///
    /// # Panics
    ///
    /// If the wait has begun.
    #[track_caller]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.turn.set(phase);
        self
    }
}

impl Future for Despawned {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        assert!(!this.is_done, "`despawned` was polled after it had ended");
        let entity = this.entity;
        if let Some(end) = &mut this.end {
            let polled = this.turn.poll(cx, |cx| {
                while let Poll::Ready(Err(oneshot::Canceled)) = end.poll_unpin(cx) {
                    // Only the component may be gone.
                    match with(DESPAWNED, |world| end_of(world, entity)) {
                        Some(again) => *end = again,
                        None => return Poll::Ready(()),
                    }
                }
                Poll::Pending
            });
            if polled.is_pending() {
                if this.note.is_none() {
                    let of = NameOf(entity);
                    this.note = Some(WaitNote::begin(format_args!("the despawn of {of}")));
                }
                return Poll::Pending;
            }
        }
        this.note = None;
        this.is_done = true;
        Poll::Ready(())
    }
}

impl FusedFuture for Despawned {
    fn is_terminated(&self) -> bool {
        self.is_done
    }
}

impl fmt::Debug for Despawned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Despawned")
            .field("entity", &self.entity)
            .field("done", &self.is_done)
            .finish_non_exhaustive()
    }
}

/// `None`: the entity does not exist.
fn end_of(world: &mut World, entity: Entity) -> Option<Receiver<Infallible>> {
    let mut entity = world.get_entity_mut(entity).ok()?;
    let (sender, receiver) = oneshot::channel();
    if let Some(mut ends) = entity.get_mut::<Ends>() {
        ends.add(sender);
    } else {
        entity.insert(Ends(vec![sender]));
    }
    Some(receiver)
}

#[cfg(test)]
mod tests {
    use super::{Ends, oneshot};

    #[test]
    fn the_list_contains_only_pending_waits() {
        let mut ends = Ends::default();
        let mut waiting = Vec::new();
        for _ in 0..100 {
            let (sender, receiver) = oneshot::channel();
            ends.add(sender);
            waiting.push(receiver);
            for _ in 0..100 {
                ends.add(oneshot::channel().0);
            }
        }
        assert!(ends.0.len() <= 500, "{}", ends.0.len());
        assert_eq!(ends.0.iter().filter(|of| !of.is_canceled()).count(), 100);
    }
}
