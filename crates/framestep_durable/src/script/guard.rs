//! Guards that hold or scale a clock.

use std::fmt;
use std::rc::{Rc, Weak};

use framestep::time::Clock;

use crate::bytes::Bytes;
use crate::ids::ClockId;
use crate::journal::Call;
use crate::script::aligned::Hold;
use crate::script::clock::{check_factor, check_not_realtime};
use crate::script::shared::guards::Guard;
use crate::script::{ScriptCell, Shared, clock_of, context, expect_read};

/// The guard that [`ClockId::pause_guard`] and [`ClockId::scaled`] return. Dropping it undoes its part,
/// and nothing else.
///
/// Keep it in a local variable of the script, as in `let _slow = clock().scaled(0.5)`. `let _ = ..`
/// drops it at once. A save contains it, and a restore puts it back. If its script is dropped
/// because of a restore or a rollback, the clock does not notice.
///
/// A guard cannot leave its script: a restore would find it in the script again.
#[must_use = "dropping the guard ends its effect: bind it, as in `let _slow = clock().scaled(0.5)`"]
pub struct ClockGuard {
    taken: Taken,
}

enum Taken {
    /// By a durable script.
    ByScript {
        number: u64,
        script: Weak<ScriptCell>,
        shared: Weak<Shared>,
        /// How many restores and rollbacks there had been.
        restores: u32,
    },
    Outside {
        _guard: framestep::time::ClockGuard,
    },
    /// In a destructor of a script that is dropped silently.
    Nothing,
}

impl ClockId {
    /// Holds the clock until the guard is dropped: it stands still, and with it the clocks that
    /// follow it. Several scripts can hold a clock independently. See [`framestep::time::Clock::pause_guard`].
    ///
    /// The guard is saved with the script. Outside of a durable script, this is a plain hold.
    ///
    /// # Panics
    ///
    /// If there is no such clock, or it is realtime; or outside of an executor.
    ///
    /// # Examples
    ///
    /// The game stands still until the player has read the letter, or the script is stopped:
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// const CLOSED: Signal<()> = signal("closed");
    ///
    /// #[durable]
    /// async fn letter() {
    ///     let _held = clock().pause_guard();
    ///     CLOSED.wait().await;
    /// }
    ///
    /// let registry = Registry::new().with::<Letter>();
    /// let mut runtime = Runtime::new(registry.clone());
    /// runtime.start(letter()).detach();
    /// runtime.run_frame(0.25);
    /// let file = runtime.save().unwrap().to_bytes();
    ///
    /// let mut runtime = Runtime::new(registry);
    /// runtime.restore(&SaveState::from_bytes(&file).unwrap(), Policy::Fail).unwrap();
    /// runtime.run_frame(0.25);
    /// assert!(runtime.time().elapsed.is_zero());
    /// runtime.named(&CLOSED).emit(());
    /// runtime.run_frame(0.25);
    /// runtime.run_frame(0.25);
    /// assert_eq!(runtime.time().elapsed.as_millis(), 250);
    /// ```
    #[track_caller]
    pub fn pause_guard(self) -> ClockGuard {
        check_not_realtime(self, "pause_guard");
        take("pause_guard", self, &|clock| clock.pause_guard())
    }

    /// Scales the clock by `factor` until the guard is dropped. Several guards multiply, and they
    /// also multiply with the scale that [`set_scale`](ClockId::set_scale) sets. See
    /// [`framestep::time::Clock::scaled`].
    ///
    /// The guard is saved with the script. Outside of a durable script, this is a plain one.
    ///
    /// # Panics
    ///
    /// If the factor is negative or not finite; if there is no such clock, or it is realtime; or
    /// outside of an executor.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// #[durable]
    /// async fn impact() {
    ///     let _slow = clock().scaled(0.5);
    ///     wait_seconds_realtime(0.5).await;
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().with::<Impact>());
    /// runtime.start(impact()).detach();
    /// runtime.start(impact()).detach(); // at the same time: a quarter
    /// runtime.run_frame(0.25);
    /// assert_eq!(runtime.clock(ClockId::GAME).effective_scale(), 0.25);
    /// ```
    #[track_caller]
    pub fn scaled(self, factor: impl Into<f64>) -> ClockGuard {
        let factor = factor.into();
        check_factor(factor, "scaled");
        check_not_realtime(self, "scaled");
        take("scaled", self, &|clock| clock.scaled(factor))
    }
}

#[track_caller]
fn take(
    name: &'static str,
    clock: ClockId,
    take: &dyn Fn(&Clock) -> framestep::time::ClockGuard,
) -> ClockGuard {
    let caller = Call::new(name, "");
    let Some(script) = context::find_outside_of_closures(name) else {
        let taken = Taken::Outside {
            _guard: take(&clock_of(None, clock)),
        };
        return ClockGuard { taken };
    };
    let shared = script.shared();
    let number = script.effect(caller, || {
        let held = take(&shared.clocks.expect(clock));
        Bytes::of(&shared.guards.add(Guard {
            script: script.id,
            clock,
            held,
        }))
    });
    let taken = number.map_or(Taken::Nothing, |number| Taken::ByScript {
        number: expect_read(&number),
        script: Rc::downgrade(&script),
        shared: Rc::downgrade(shared),
        restores: shared.handles.restores.get(),
    });
    ClockGuard { taken }
}

impl Drop for ClockGuard {
    fn drop(&mut self) {
        let Taken::ByScript {
            number,
            script,
            shared,
            restores,
        } = &self.taken
        else {
            return;
        };
        let Some(shared) = shared.upgrade() else {
            return;
        };
        let counts = match script.upgrade() {
            Some(script) if !script.has_effects() => {
                script.note_dropped(Hold::Guard(*number));
                false
            }
            Some(script) if shared.scripts.is_known(&script) => true,
            // It has left its script. After a restore, it stands for no guard.
            _ => *restores == shared.handles.restores.get(),
        };
        if counts {
            shared.guards.end(*number);
        }
    }
}

impl fmt::Debug for ClockGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ClockGuard");
        if let Taken::ByScript { number, .. } = &self.taken {
            shown.field("number", number);
        }
        shown.finish_non_exhaustive()
    }
}
