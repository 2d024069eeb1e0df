//! What a host does with owners and clocks.

use std::panic::Location;

use framestep::durable::length_ns;
use framestep::time::Seconds;

use crate::ids::{Birth, ClockId, OwnerId};
use crate::runtime::{RuntimeHandle, ScriptHandle};

impl RuntimeHandle {
    /// Makes an owner below none. It exists until it is [removed](OwnerId::remove). What scripts do with an owner, the
    /// host does in [`enter`](crate::Runtime::enter): `runtime.enter(|| level.pause())`.
    ///
    /// # Panics
    ///
    /// If the runtime has been dropped.
    #[track_caller]
    pub fn owner(&self) -> OwnerId {
        self.shared.expect_alive("owner");
        let owner = self.shared.add_owner(None, None);
        owner.expect("it is below none")
    }

    /// Makes an owner whose scripts count on `clock`.
    ///
    /// # Panics
    ///
    /// If there is no such clock, or the runtime has been dropped.
    #[track_caller]
    pub fn owner_on(&self, clock: ClockId) -> OwnerId {
        let shared = &self.shared;
        shared.expect_alive("owner_on");
        shared.clocks.expect(clock);
        let owner = shared.add_owner(None, Some(clock));
        owner.expect("its clock is there")
    }

    /// Asks the scripts of an owner, and of the owners below it, to stop. See
    /// [`OwnerId::request_stop`].
    pub fn request_owner_stop(&self, id: OwnerId) {
        self.shared.ask_owner(id);
    }

    /// [Asks](Self::request_owner_stop) the scripts of an owner to stop, and stops those that are left
    /// after `seconds`, even if the handle is dropped. See [`OwnerId::stop_within`].
    ///
    /// The handle is that of the request, which is no script. It returns how many scripts had to be
    /// stopped.
    ///
    /// # Panics
    ///
    /// If `seconds` is NaN.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// #[durable]
    /// async fn forgetful() {
    ///     wait_seconds(60).await;
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().script(forgetful));
    /// runtime.executor().on_report(|report| assert!(report.to_string().contains("read by none")));
    /// let level = runtime.owner();
    /// runtime.start_on(level, forgetful());
    /// let stopped = runtime.stop_owner_within(level, 0.5);
    /// for _ in 0..3 {
    ///     assert!(!runtime.enter(|| level.is_empty()));
    ///     runtime.run_frame(0.25);
    /// }
    /// assert_eq!(runtime.take(stopped), Some(Ok(1)));
    /// assert!(runtime.enter(|| level.is_empty()));
    /// ```
    #[track_caller]
    pub fn stop_owner_within(&self, id: OwnerId, seconds: impl Seconds) -> ScriptHandle<usize> {
        let length_ns = length_ns("stop_owner_within", seconds);
        let request = (self.shared.scripts.next_id(), Birth::new());
        let place = Location::caller();
        let joins = self.shared.stop_owner_within(request, id, length_ns, place);
        ScriptHandle::of(joins)
    }

    /// Makes a clock below another one.
    ///
    /// # Panics
    ///
    /// If there is no such clock, or the runtime has been dropped.
    #[track_caller]
    pub fn child_clock(&self, parent: ClockId) -> ClockId {
        self.shared.expect_alive("child_clock");
        let clocks = &self.shared.clocks;
        // The panic is in the line of the caller.
        clocks.expect(parent);
        clocks.make(parent).expect("it is there")
    }

    /// The clock of this number, to scale and to pause it. Guards (`pause_guard`, `scaled`) cannot be
    /// saved: use `pause` and `set_scale`.
    ///
    /// # Panics
    ///
    /// If there is no such clock, or the runtime has been dropped.
    #[track_caller]
    pub fn clock(&self, id: ClockId) -> framestep::time::Clock {
        self.shared.expect_alive("clock");
        self.shared.clocks.expect(id)
    }
}
