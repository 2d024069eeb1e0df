//! What a host does with owners and clocks.

use std::panic::Location;

use framestep::durable::length_ns;
use framestep::time::Seconds;

use crate::ids::{Birth, ClockId, OwnerId, ScriptId};
use crate::runtime::{Handle, Host};

impl Host {
    /// Makes an owner. It exists until it is [dropped](Self::drop_owner).
    pub fn owner(&self) -> OwnerId {
        self.make_owner(None, None)
    }

    /// Makes an owner whose scripts count on `clock`.
    ///
    /// # Panics
    ///
    /// If there is no such clock.
    #[track_caller]
    pub fn owner_on(&self, clock: ClockId) -> OwnerId {
        self.make_owner(None, Some(clock))
    }

    /// Makes an owner below another one. What happens to the parent also happens to it.
    ///
    /// # Panics
    ///
    /// If there is no such owner.
    #[track_caller]
    pub fn child_owner(&self, parent: OwnerId) -> OwnerId {
        self.make_owner(Some(parent), None)
    }

    #[track_caller]
    fn make_owner(&self, parent: Option<OwnerId>, clock: Option<ClockId>) -> OwnerId {
        let shared = &self.shared;
        shared.add_owner(parent, clock).unwrap_or_else(|| {
            if let Some(clock) = clock {
                shared.clocks.expect(clock);
            }
            let parent = parent.expect("its clock is there");
            panic!(
                "owner #{} has been dropped, or is of another runtime: take an owner that is alive, \
                 or make one that is below none with `owner()`",
                parent.0
            );
        })
    }

    /// Drops an owner: its scripts are stopped, and it accepts no more scripts. Returns
    /// `false` if there is no such owner.
    #[track_caller]
    pub fn drop_owner(&self, id: OwnerId) -> bool {
        self.shared.owners.remove(id, Some(Location::caller()))
    }

    /// Pauses the scripts of an owner. Returns `false` if it was paused.
    pub fn pause_owner(&self, id: OwnerId) -> bool {
        self.shared.owners.pause(id, true)
    }

    /// Resumes the scripts of an owner. Returns `false` if it was not paused.
    pub fn resume_owner(&self, id: OwnerId) -> bool {
        self.shared.owners.pause(id, false)
    }

    /// Stops the scripts of an owner.
    #[track_caller]
    pub fn stop_all(&self, id: OwnerId) {
        self.shared.owners.stop_all(id, Some(Location::caller()));
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
    /// let mut runtime = Runtime::new(Registry::new().with::<Forgetful>());
    /// runtime.executor().on_report(|report| assert!(report.to_string().contains("read by none")));
    /// let level = runtime.owner();
    /// runtime.start_on(level, forgetful()).detach();
    /// let stopped = runtime.stop_owner_within(level, 0.5);
    /// for _ in 0..3 {
    ///     assert!(!runtime.is_owner_empty(level));
    ///     runtime.run_frame(0.25);
    /// }
    /// assert_eq!(runtime.take(stopped), Some(Ok(1)));
    /// assert!(runtime.is_owner_empty(level));
    /// ```
    #[track_caller]
    pub fn stop_owner_within(&self, id: OwnerId, seconds: impl Seconds) -> Handle<usize> {
        let length_ns = length_ns(seconds);
        let request = (ScriptId(self.shared.scripts.next.get()), Birth::new());
        let place = Location::caller();
        let joins = self.shared.stop_owner_within(request, id, length_ns, place);
        Handle::of(joins)
    }

    /// Whether an owner and the owners below it have no script. True for an owner that has been
    /// dropped. Scripts await this with [`OwnerId::ended`].
    pub fn is_owner_empty(&self, id: OwnerId) -> bool {
        self.shared.owners.is_empty(id)
    }

    /// Activates or deactivates an owner. Deactivating stops its scripts; an inactive owner
    /// accepts none.
    #[track_caller]
    pub fn set_owner_active(&self, id: OwnerId, active: bool) {
        let place = Some(Location::caller());
        self.shared.owners.set_active(id, active, place);
    }

    /// Makes a clock below another one.
    ///
    /// # Panics
    ///
    /// If there is no such clock.
    #[track_caller]
    pub fn child_clock(&self, parent: ClockId) -> ClockId {
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
    /// If there is no such clock.
    #[track_caller]
    pub fn clock(&self, id: ClockId) -> framestep::time::Clock {
        self.shared.clocks.expect(id)
    }
}
