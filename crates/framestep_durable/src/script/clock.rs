//! The clocks of a runtime, which states name by their numbers.

use framestep::time::Clock;

use crate::ids::ClockId;
use crate::script::context;

impl ClockId {
    /// The clock of this number, in a script: to read it, to change it, and to wait on it. What a durable script does to it
    /// is recorded.
    ///
    /// The host has [`RuntimeHandle::clock`](crate::RuntimeHandle::clock). Outside of a durable script, there are only
    /// [`GAME`](Self::GAME) and [`REALTIME`](Self::REALTIME).
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
    /// let enemies = runtime.child_clock(ClockId::GAME);
    /// let attack = runtime.start(attack(enemies));
    /// for _ in 0..8 {
    ///     runtime.run_frame(0.25);
    /// }
    /// assert_eq!(runtime.take(attack), Some(Ok(8)));
    /// ```
    #[must_use]
    #[track_caller]
    pub fn clock(self) -> Clock {
        match (context::current(), self) {
            (Some(script), _) => script.shared().clocks.expect(self),
            (None, ClockId::GAME) => framestep::time::clock(),
            (None, ClockId::REALTIME) => framestep::time::realtime(),
            (None, _) => panic!(
                "outside of a durable script there is no clock {self:?}: the clocks of a runtime belong to its scripts"
            ),
        }
    }
}
