//! Pauses of the game that are counted.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bevy_ecs::prelude::*;
use bevy_time::{Time, Virtual};

use crate::borrow::{Call, with_ref};

/// The pauses of the game, as a resource: for systems. Scripts call [`pause_game`].
///
/// # Examples
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_framestep::{GamePause, GamePauses};
///
/// #[derive(Component)]
/// struct Menu(GamePause);
///
/// fn open_menu(pauses: Res<GamePauses>, mut commands: Commands) {
///     commands.spawn(Menu(pauses.pause())); // until it is despawned
/// }
/// ```
#[derive(Resource, Clone)]
pub struct GamePauses {
    held: Arc<AtomicUsize>,
}

/// Pauses the game until it is dropped. By [`pause_game`] and [`GamePauses::pause`].
///
/// It is `Send`: it can be kept in a component or a resource.
#[must_use = "the game is paused until this is dropped"]
pub struct GamePause {
    held: Arc<AtomicUsize>,
}

impl GamePauses {
    /// Pauses the game until the guard is dropped, like [`pause_game`].
    pub fn pause(&self) -> GamePause {
        self.held.fetch_add(1, Ordering::Relaxed);
        GamePause {
            held: self.held.clone(),
        }
    }

    /// How many guards there are.
    pub fn count(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }
}

impl Drop for GamePause {
    fn drop(&mut self) {
        self.held.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Pauses the game, that is Bevy's `Time<Virtual>`, until the guard is dropped: scripts on the game
/// clock, systems that read `Time`, and fixed steps.
///
/// Guards are counted. A dialogue that opens while the menu is open does not unpause the game when it
/// ends, and the menu does not unpause the dialogue. Bevy's own `pause` and `unpause` do not count:
/// while there is a guard, the game is paused again at the end of a frame in which something has
/// unpaused it. If it was paused before the first guard, it stays so after the last one.
///
/// What must go on meanwhile counts on realtime: `wait_seconds_realtime`, or scripts
/// [on realtime](crate::Scripts::on_realtime). [`Clock::pause_guard`](framestep::time::Clock::pause_guard) pauses the
/// scripts alone.
///
/// # Resumes
///
/// From the next frame on, the game clock stands still: `Time<Virtual>` is paused when the run of scripts
/// ends in which the first guard is made, or the next one, if a system makes it. It goes on from the frame
/// after the last guard was dropped.
///
/// # Panics
///
/// Where [`with_ref`](framestep::lend::with_ref) does, and in a durable script, which saves no guards.
///
/// # Examples
///
/// ```
/// use bevy_app::App;
/// use bevy_framestep::pause_game;
/// use bevy_framestep::prelude::*;
/// use bevy_time::{Time, TimePlugin, Virtual};
///
/// async fn dialogue() {
///     let _pause = pause_game();
///     wait_seconds_realtime(3).await; // or for a key
/// }
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, FramestepPlugin::default()));
/// app.world_mut().commands().start_script(dialogue);
/// app.update();
/// assert!(app.world().resource::<Time<Virtual>>().is_paused());
/// ```
#[track_caller]
pub fn pause_game() -> GamePause {
    const CALL: Call = Call::new("pause_game", "take `Res<GamePauses>` as a parameter");
    with_ref(CALL, |world| world.resource::<GamePauses>().pause())
}

/// Keeps Bevy's clock as the guards want it.
pub(crate) struct Pauser {
    pauses: GamePauses,
    /// What it was before the first guard.
    was_paused: Cell<Option<bool>>,
}

impl Pauser {
    /// And the resource for systems.
    pub(crate) fn new() -> (Self, GamePauses) {
        let pauses = GamePauses {
            held: Arc::default(),
        };
        let pauser = Pauser {
            pauses: pauses.clone(),
            was_paused: Cell::new(None),
        };
        (pauser, pauses)
    }

    /// After each run of scripts.
    #[inline]
    pub(crate) fn apply(&self, world: &mut World) {
        if self.pauses.count() > 0 || self.was_paused.get().is_some() {
            self.set(world);
        }
    }

    #[cold]
    fn set(&self, world: &mut World) {
        let is_held = self.pauses.count() > 0;
        let Some(mut game) = world.get_resource_mut::<Time<Virtual>>() else {
            return;
        };
        let was_paused = self.was_paused.take();
        if is_held {
            self.was_paused
                .set(Some(was_paused.unwrap_or(game.is_paused())));
            if !game.is_paused() {
                game.pause();
            }
        } else if was_paused == Some(false) {
            game.unpause();
        }
    }
}

impl fmt::Debug for GamePauses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GamePauses({})", self.count())
    }
}

impl fmt::Debug for GamePause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GamePause").finish_non_exhaustive()
    }
}
