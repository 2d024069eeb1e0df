//! The wait for the end of all scripts of an owner.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::bytes::Bytes;
use crate::events::Typed;
use crate::ids::OwnerId;
use crate::runtime::expect_from_outside;
use crate::script::{Numbered, OwnerEnd, ScriptCell, Slot, command};

impl OwnerId {
    /// Waits until this owner and the owners below it have no script. See
    /// [`framestep::Owner::ended`].
    ///
    /// The scripts may have been started at any time, and by anything: the host, another script, or
    /// one of themselves. If the owner has been dropped, it has none.
    ///
    /// # Resumes
    ///
    /// Like a join: as soon as the last script has ended, in the same frame and phase. At once,
    /// without a wait, if there is none. The script is not polled in between. If a script is started
    /// before the waiting one has resumed, the wait is over nevertheless.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the wait. Nothing is lost.
    ///
    /// # Panics
    ///
    /// When polled: outside of a durable script; or by a script of this owner, or of an owner below
    /// it, because the wait would never be over.
    ///
    /// # Examples
    ///
    /// Waves of enemies, on an owner that the host has made:
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// #[durable]
    /// async fn goblin(lives: f32) {
    ///     wait_seconds(lives).await;
    /// }
    ///
    /// #[durable]
    /// async fn waves(enemies: OwnerId) -> Vec<u64> {
    ///     let mut frames = Vec::new();
    ///     for wave in 1..=3 {
    ///         for number in 0..8 {
    ///             start_on(enemies, goblin(0.25 * (wave + number) as f32)).detach();
    ///         }
    ///         enemies.ended().await;
    ///         frames.push(time().frame);
    ///     }
    ///     frames
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().with::<Goblin>().with::<Waves>());
    /// let enemies = runtime.owner();
    /// let waves = runtime.start(waves(enemies));
    /// for _ in 0..27 {
    ///     runtime.run_frame(0.25);
    /// }
    /// assert_eq!(runtime.take(waves), Some(Ok(vec![8, 17, 27])));
    /// ```
    ///
    /// # Source
    ///
    /// [`framestep::Owner::ended`].
    pub fn ended(self) -> Ended {
        Ended {
            numbered: Numbered::default(),
            owner: self,
        }
    }

    /// Whether this owner and the owners below it have no script. In a durable script, this is an
    /// effect, which is recorded. [`Runtime::is_owner_empty`](crate::Host::is_owner_empty) is for
    /// the host.
    ///
    /// # Panics
    ///
    /// Outside of a durable script.
    #[track_caller]
    pub fn is_empty(self) -> bool {
        command("is_empty", |shared| shared.owners.is_empty(self))
    }
}

/// The future of [`OwnerId::ended`].
#[derive(Debug)]
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Ended {
    numbered: Numbered,
    owner: OwnerId,
}

impl Future for Ended {
    type Output = ();

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Ended { numbered, owner } = &mut *self;
        let (owner, kind) = (*owner, "ended()");
        let begin = |cell: &ScriptCell| {
            expect_from_outside(cell, owner, kind);
            OwnerEnd::begin(&cell.shared().owners, owner)
        };
        let polled = numbered.poll(kind, None, begin, |_, slot| match slot {
            Slot::OwnerEnd(awaited) => awaited.end.poll(cx, kind).map(|()| Bytes::EMPTY),
            _ => Poll::Ready(Bytes::EMPTY),
        });
        if polled.is_pending() {
            numbered.note(|number| Typed::OwnerEnd(number, owner));
        }
        polled.map(drop)
    }
}

impl OwnerId {
    /// Pauses all scripts of the owner, from a script. Returns `false` if it was paused.
    ///
    /// # Panics
    ///
    /// Outside of a durable script.
    #[track_caller]
    pub fn pause(self) -> bool {
        command("pause", |shared| shared.owners.pause(self, true))
    }

    /// Resumes the scripts of the owner, from a script. Returns `false` if it was not paused.
    ///
    /// # Panics
    ///
    /// Outside of a durable script.
    #[track_caller]
    pub fn resume(self) -> bool {
        command("resume", |shared| shared.owners.pause(self, false))
    }

    /// Stops all scripts of the owner, from a script.
    ///
    /// # Panics
    ///
    /// Outside of a durable script.
    #[track_caller]
    pub fn stop_all(self) {
        let place = Some(Location::caller());
        command("stop_all", |shared| shared.owners.stop_all(self, place));
    }
}
