//! The clocks of a runtime, which states name by their numbers.

use framestep::time::Clock;

use crate::ids::ClockId;
use crate::script::caller::{Caller, caller};

impl ClockId {
    /// The clock of this number: to read it, to change it, and to wait on it. What a durable script does to it is recorded.
    ///
    /// The host calls it inside of [`Runtime::enter`](crate::Runtime::enter), and may keep the clock. It uses `pause` and
    /// `set_scale`: its guards cannot be saved. Outside of a runtime, there are only [`GAME`](Self::GAME) and
    /// [`REALTIME`](Self::REALTIME).
    ///
    /// # Panics
    ///
    /// If there is no such clock; or outside of an executor.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// #[durable]
    /// async fn attack(enemies: ClockId) -> u64 {
    ///     let enemies = enemies.clock();
    ///     let _slow = enemies.scaled(0.5);
    ///     on_clock(&enemies, wait_seconds(1)).await;
    ///     time().frame
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().script(attack));
    /// let enemies = runtime.enter(|| ClockId::GAME.child());
    /// let attack = runtime.start(attack(enemies));
    /// for _ in 0..8 {
    ///     runtime.run_frame(0.25);
    /// }
    /// assert_eq!(runtime.take(attack), Some(Ok(8)));
    /// ```
    #[must_use]
    #[track_caller]
    pub fn clock(self) -> Clock {
        match (caller(), self) {
            (Some(place), _) => place.shared().clocks.expect(self),
            (None, ClockId::GAME) => framestep::time::clock(),
            (None, ClockId::REALTIME) => framestep::time::realtime(),
            (None, _) => panic!(
                "outside of a runtime there is no clock {self:?}: the host calls `clock` inside of `Runtime::enter`"
            ),
        }
    }

    /// Makes a clock below this one, for the host: inside of [`Runtime::enter`](crate::Runtime::enter).
    ///
    /// # Panics
    ///
    /// If there is no such clock; in a durable script, which takes the clocks of its host; or outside of a runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// # let runtime = Runtime::new(Registry::new());
    /// let enemies = runtime.enter(|| ClockId::GAME.child());
    /// runtime.enter(|| enemies.clock()).set_scale(0.5);
    /// ```
    #[must_use = "scripts count on it, by its number"]
    #[track_caller]
    pub fn child(self) -> ClockId {
        let Some(place) = caller() else {
            panic!(
                "`child` of the clock {self:?} was called outside of a runtime: call it inside of `Runtime::enter`"
            )
        };
        if let Caller::Script(cell) = &place {
            assert!(
                cell.is_in_closure(),
                "`child` of the clock {self:?} was called in the durable script `{}`: clocks are made by the host, and a \
                 script gets one as a parameter, or from a `with`",
                cell.name()
            );
        }
        let clocks = &place.shared().clocks;
        clocks.expect(self);
        clocks.make(self).expect("it is there")
    }
}
