//! Owners, as scripts make and use them, and the wait for the end of all their scripts.

use std::panic::Location;

use framestep::task::Ended;

use crate::ids::{ClockId, OwnerId};
use crate::runtime::ends;
use crate::script::caller::{Caller, caller};
use crate::script::command;

/// Makes an owner below the one of this script, if that has one. Unlike [`framestep::task::owner`], it is a
/// plain value: its scripts go on when the script ends, until something [removes](OwnerId::remove) the
/// owner, or one above it.
///
/// This is an effect, which is recorded: a restored script has the same owner.
///
/// # Panics
///
/// Outside of a durable script, and of [`Runtime::enter`](crate::Runtime::enter), in which the host makes one that is
/// below none: `runtime.owner()`.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[durable]
/// async fn spark() {
///     wait_seconds(60).await;
/// }
///
/// #[durable]
/// async fn fuse() {
///     let sparks = owner();
///     sparks.start(spark());
///     sparks.start(spark());
///     wait_seconds(0.5).await;
///     sparks.remove();
/// }
///
/// let mut runtime = Runtime::new(Registry::new().script(fuse).script(spark));
/// runtime.start(fuse());
/// assert_eq!(runtime.scripts().len(), 3);
/// runtime.run_frame(0.25);
/// runtime.run_frame(0.25);
/// assert!(runtime.scripts().is_empty());
/// ```
#[must_use = "scripts are started on it"]
#[track_caller]
pub fn owner() -> OwnerId {
    make("owner", None, None)
}

/// Makes an owner like [`owner()`], whose scripts count on `clock`.
///
/// # Panics
///
/// As [`owner()`]; or if there is no such clock.
///
/// # Examples
///
/// ```
/// # use framestep_durable::prelude::*;
/// # #[durable]
/// # async fn menu() {}
/// #[durable]
/// async fn pause_menu() {
///     let _paused = clock().pause_guard();
///     let scripts = owner_on(ClockId::REALTIME);
///     scripts.start(menu()).await.unwrap();
///     scripts.remove();
/// }
/// # let mut runtime = Runtime::new(Registry::new().script(pause_menu).script(menu));
/// # let paused = runtime.start(pause_menu());
/// # runtime.run_frame(0.25);
/// # assert_eq!(runtime.take(paused), Some(Ok(())));
/// ```
#[must_use = "scripts are started on it"]
#[track_caller]
pub fn owner_on(clock: ClockId) -> OwnerId {
    make("owner_on", None, Some(clock))
}

/// Makes an owner below `parent`, or else below the one of the script. If that has been dropped, a script gets one that
/// refuses all scripts.
#[track_caller]
fn make(call: &'static str, parent: Option<OwnerId>, clock: Option<ClockId>) -> OwnerId {
    let at = Location::caller();
    // A script that enters another runtime is a host there: its own owner is not one of that.
    let (own, is_host) = match caller() {
        Some(Caller::Script(cell)) => (cell.owner, false),
        _ => (None, true),
    };
    let above = parent.or(own);
    let number = command(call, |shared| {
        if let Some(clock) = clock {
            shared.clocks.expect(clock);
        }
        let made = shared.add_owner(above, clock).unwrap_or_else(|| {
            let why = format!(
                "owner #{} has been dropped, or is of another runtime",
                above.map_or(0, |above| above.0)
            );
            assert!(
                !is_host,
                "`{call}` at {at}: {why}: take an owner that is alive, or make one that is below none with `owner()`"
            );
            let text = format!(
                "`{call}` makes an owner that refuses all scripts: {why}. Take an owner that is alive"
            );
            shared.door.report_suspicious(text, at);
            shared.owners.next_id()
        });
        made.0
    });
    OwnerId(number)
}

impl OwnerId {
    /// Makes an owner below this one. What happens to this one also happens to it. If this one has been dropped, a
    /// script gets one that refuses all scripts, which is [reported](framestep::inspect::Report::SuspiciousCall).
    ///
    /// # Panics
    ///
    /// Outside of a durable script, and of [`Runtime::enter`](crate::Runtime::enter), in which the host calls this. There,
    /// also if the owner has been dropped.
    #[must_use = "scripts are started on it"]
    #[track_caller]
    pub fn child(self) -> OwnerId {
        make("child", Some(self), None)
    }

    /// Drops the owner and those below it: their scripts are stopped, and they accept no others. Returns `false` if it
    /// was dropped before. If a script does so that belongs to it, that is stopped at its next wait.
    ///
    /// # Panics
    ///
    /// As [`child`](Self::child).
    #[track_caller]
    pub fn remove(self) -> bool {
        let place = Some(Location::caller());
        command("remove", |shared| shared.owners.remove(self, place))
    }

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
    ///             enemies.start(goblin(0.25 * (wave + number) as f32));
    ///         }
    ///         enemies.ended().await;
    ///         frames.push(time().frame);
    ///     }
    ///     frames
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().script(goblin).script(waves));
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
        ends::ended(ends::Of::Owner(self))
    }

    /// Whether this owner and the owners below it have no script. True for an owner that has been dropped. In a durable
    /// script, this is an effect, which is recorded.
    ///
    /// # Panics
    ///
    /// As [`child`](Self::child).
    #[track_caller]
    pub fn is_empty(self) -> bool {
        command("is_empty", |shared| shared.owners.is_empty(self))
    }
}

impl OwnerId {
    /// Pauses all scripts of the owner. Returns `false` if it was paused.
    ///
    /// # Panics
    ///
    /// As [`child`](Self::child).
    #[track_caller]
    pub fn pause(self) -> bool {
        command("pause", |shared| shared.owners.pause(self, true))
    }

    /// Resumes the scripts of the owner. Returns `false` if it was not paused.
    ///
    /// # Panics
    ///
    /// As [`child`](Self::child).
    #[track_caller]
    pub fn resume(self) -> bool {
        command("resume", |shared| shared.owners.pause(self, false))
    }

    /// Stops all scripts of the owner.
    ///
    /// # Panics
    ///
    /// As [`child`](Self::child).
    #[track_caller]
    pub fn stop_all(self) {
        let place = Some(Location::caller());
        command("stop_all", |shared| shared.owners.stop_all(self, place));
    }

    /// Activates or deactivates the owner. Deactivating stops its scripts; an inactive owner accepts none.
    ///
    /// # Panics
    ///
    /// As [`child`](Self::child).
    #[track_caller]
    pub fn set_active(self, active: bool) {
        let place = Some(Location::caller());
        command("set_active", |shared| {
            shared.owners.set_active(self, active, place);
        });
    }
}
