//! Requests to stop: which scripts have been asked, and what is stopped after some time.

use std::any::Any;
use std::iter;
use std::panic::Location;
use std::rc::Rc;
use std::task::{Context, Poll};

use framestep::durable::{
    Refused, RuntimeEnd, expect_length_ns, request_of_runtime, stop_within_of,
};
use framestep::task::StopWithin;
use framestep::time::Seconds;

use crate::bytes::Bytes;
use crate::events::Waiters;
use crate::ids::{Birth, OwnerId, ScriptId};
use crate::journal::Call;
use crate::runtime::{Joins, ScriptHandle};
use crate::script::caller::{Caller, caller, expect_script};
use crate::script::shared::owners::with_those_below;
use crate::script::{ScriptCell, Shared, StopRequest, command, expect_read, line_of};

impl OwnerId {
    /// Asks the scripts of the owner, and of the owners below it, to stop. They are not stopped:
    /// each ends in its own way once it reads the request, with [`stop_requested`](crate::stop_requested)
    /// or [`is_stop_requested`](crate::is_stop_requested). See [`framestep::Owner::request_stop`].
    ///
    /// It concerns the scripts that exist now, and what these start on this owner or below it from
    /// now on. A request is saved, and cannot be withdrawn.
    ///
    /// # Panics
    ///
    /// Outside of a durable script, and of [`Runtime::enter`](crate::Runtime::enter), in which the host calls this.
    #[track_caller]
    pub fn request_stop(self) {
        command("request_stop", |shared| shared.ask_owner(self));
    }

    /// [Asks](Self::request_stop) the scripts of the owner, and of the owners below it, to stop, at
    /// once. After `seconds`, stops those that are left. See [`framestep::Owner::stop_within`].
    ///
    /// That happens even if the returned future is dropped, and after a restore: the request is state
    /// of the owner, and is saved. The time counts on the clock of the owner, from the first run of
    /// the scripts' home phase that begins after the call.
    ///
    /// # Resumes
    ///
    /// Like a join: as soon as the last script has ended, in the same frame and phase. At once if
    /// there is none.
    ///
    /// # Output
    ///
    /// How many scripts were left and had to be stopped.
    ///
    /// # Reports
    ///
    /// If no script has read the request when the time is over:
    /// [`Report::StopIgnored`](framestep::inspect::Report::StopIgnored), with the line of this call. Not if
    /// that line is not known, because another process has made the call.
    ///
    /// # Panics
    ///
    /// If `seconds` is NaN; outside of a durable script, and of [`Runtime::enter`](crate::Runtime::enter), in which the
    /// host calls this; or when polled by a script of the owner, or outside of a durable script.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// #[durable]
    /// async fn torch() {
    ///     stop_requested().await;
    ///     wait_seconds(0.5).await; // it smokes
    /// }
    ///
    /// #[durable]
    /// async fn forgetful() {
    ///     wait_seconds(60).await;
    /// }
    ///
    /// #[durable]
    /// async fn leave(level: OwnerId) -> usize {
    ///     level.stop_within(1).await
    /// }
    ///
    /// let registry = Registry::new().script(torch).script(forgetful).script(leave);
    /// let mut runtime = Runtime::new(registry);
    /// let level = runtime.owner();
    /// runtime.enter(|| level.start(torch()));
    /// runtime.enter(|| level.start(forgetful()));
    /// let leave = runtime.start(leave(level));
    /// for _ in 0..5 {
    ///     runtime.run_frame(0.25); // read in frame 1, over in frame 5
    /// }
    /// assert_eq!(runtime.take(leave), Some(Ok(1)));
    /// ```
    #[track_caller]
    pub fn stop_within(self, seconds: impl Seconds) -> StopWithin {
        let (length_ns, at) = (expect_length_ns(seconds), Location::caller());
        if let Some(Caller::Host(shared)) = caller() {
            let request = (shared.scripts.next_id(), Birth::new());
            let joins = shared.stop_owner_within(request, self, length_ns, at);
            return wait_of(joins);
        }
        let cell = expect_script("stop_within", at);
        let shared = cell.shared();
        let mut birth = None;
        let made = cell.effect(Call::new("stop_within", ""), || {
            birth = Some(Birth::new());
            Bytes::of(&shared.scripts.next_id().0)
        });
        let Some(made) = made else {
            return wait_of(Joins::void());
        };
        let id = ScriptId(expect_read(&made));
        let joins = match birth {
            Some(birth) => shared.stop_owner_within((id, birth), self, length_ns, at),
            None => Joins::new(shared, id, None).replayed_by(&cell),
        };
        shared.stops.note_place(id, at);
        wait_of(joins)
    }
}

/// The wait of a request to stop, for framestep.
fn wait_of(joins: Joins) -> StopWithin {
    stop_within_of(Box::new(ScriptHandle::<usize>::of(joins)))
}

impl RuntimeEnd for ScriptHandle<usize> {
    fn poll(
        &mut self,
        at: &'static Location<'static>,
        cx: &mut Context<'_>,
    ) -> Result<Poll<usize>, Refused> {
        // Without a result, a restore has taken the request back.
        Ok(self.poll_at(cx, at).map(|stopped| stopped.unwrap_or(0)))
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The handle of a request to stop, for the host, which does not await it: its result is how many scripts had to be
/// stopped. It is no handle of a script.
///
/// # Panics
///
/// If the owner is not one of a runtime, or if the wait is over.
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
/// runtime.enter(|| level.start(forgetful())).detach();
/// let stopped = ScriptHandle::from(runtime.enter(|| level.stop_within(0.5)));
/// for _ in 0..3 {
///     assert!(!runtime.enter(|| level.is_empty()));
///     runtime.run_frame(0.25);
/// }
/// assert_eq!(runtime.take(stopped), Some(Ok(1)));
/// assert!(runtime.enter(|| level.is_empty()));
/// ```
impl From<StopWithin> for ScriptHandle<usize> {
    #[track_caller]
    fn from(stop: StopWithin) -> Self {
        let made = request_of_runtime(stop).and_then(|made| made.downcast().ok());
        *made.unwrap_or_else(|| {
            panic!(
                "a `ScriptHandle` was asked for, at {}, of a `stop_within` that is over, or whose owner is not one of a \
                 runtime: await it instead",
                Location::caller()
            )
        })
    }
}

/// Panics if a script awaits the end of an owner on which it runs itself.
#[track_caller]
pub(crate) fn expect_from_outside(cell: &ScriptCell, owner: OwnerId, function: &str) {
    let shared = cell.shared();
    let is_within = |of| shared.owners.is_within(of, owner);
    assert!(
        !cell.owner.is_some_and(is_within),
        "the script `{}` awaits `{function}` of owner #{}, on which it runs itself, so that would \
         never come: await it in a script of another owner, or call `stop_all()` to end the others",
        cell.name(),
        owner.0
    );
}

impl Shared {
    /// Requests a script to stop. Returns `false` if it was requested before, or has ended.
    pub(crate) fn ask_script(&self, id: ScriptId) -> bool {
        let Some(cell) = self.scripts.get(id) else {
            return false;
        };
        let is_new = self.stops.asked.borrow_mut().insert(id);
        let waits = cell.chapter().waits.stops().next().is_some();
        if is_new && waits {
            self.scripts.wake(&mut iter::once(id));
        }
        is_new
    }

    /// Asks the scripts of an owner, and of the owners below it, to stop.
    pub(crate) fn ask_owner(&self, id: OwnerId) {
        let below = self.owners.below_first(id);
        let mut waits = Vec::new();
        for cell in self.scripts.alive.borrow().values() {
            let is_its = |owner: &OwnerId| cell.owner == Some(*owner);
            let Some(place) = below.iter().position(is_its) else {
                continue;
            };
            self.stops.asked.borrow_mut().insert(cell.id);
            let chapter = cell.chapter();
            waits.extend(chapter.waits.stops().map(|ticket| (place, ticket, cell.id)));
        }
        {
            let mut owners = self.owners.all.borrow_mut();
            for id in &below {
                if let Some(entry) = owners.get_mut(id) {
                    entry.is_heard = false;
                }
            }
        }
        // Those of an owner in the order in which they began to wait.
        waits.sort_unstable();
        self.scripts
            .wake(&mut waits.into_iter().map(|(.., script)| script));
    }

    /// Asks the scripts of an owner to stop, and stops those that are left after a length. `id` is a
    /// new number of a script. The call is at `place`.
    pub(crate) fn stop_owner_within(
        self: &Rc<Self>,
        (id, birth): (ScriptId, Birth),
        owner: OwnerId,
        length_ns: Option<u64>,
        place: &'static Location<'static>,
    ) -> Joins {
        let joins = Joins::new(self, id, Some(birth));
        let stops = self.owners.get(owner);
        let stop = stops.map(|of| {
            let call = self.call_of_stop(id);
            self.door.stop_within(&of, length_ns, id.0, call)
        });
        let request = StopRequest {
            birth,
            owner,
            stop,
            left: 0,
            line: line_of(place),
        };
        self.stops.requests.borrow_mut().insert(id, request);
        self.stops.note_place(id, place);
        self.ask_owner(owner);
        joins
    }

    /// What the executor calls when the time of a request is over.
    pub(crate) fn call_of_stop(self: &Rc<Self>, id: ScriptId) -> Rc<dyn Fn()> {
        let shared = Rc::downgrade(self);
        Rc::new(move || {
            if let Some(shared) = shared.upgrade() {
                shared.stop_what_is_left(id);
            }
        })
    }

    /// The owner of a request that is not over.
    pub(crate) fn owner_to_stop(&self, id: ScriptId) -> Option<OwnerId> {
        self.settle_stops();
        self.stops
            .requests
            .borrow()
            .get(&id)
            .map(|request| request.owner)
    }

    fn stop_what_is_left(&self, id: ScriptId) {
        let (owner_id, line) = match self.stops.requests.borrow().get(&id) {
            Some(request) => (request.owner, request.line.clone()),
            None => return,
        };
        let Some(owner) = self.owners.get(owner_id) else {
            return;
        };
        let left = {
            let below = with_those_below(&self.owners.all.borrow(), owner_id);
            let scripts = self.scripts.alive.borrow();
            let owners = scripts.values().filter_map(|cell| cell.owner);
            owners.filter(|owner| below.contains(owner)).count()
        };
        if let Some(request) = self.stops.requests.borrow_mut().get_mut(&id) {
            request.left = left as u64;
        }
        let is_heard = self
            .owners
            .all
            .borrow()
            .get(&owner_id)
            .is_some_and(|it| it.is_heard);
        let place = self.stops.places.borrow().get(&id).copied();
        if let (Some(place), false, true) = (place, is_heard, left > 0) {
            self.door.report_stop_ignored(&owner, place, left);
        }
        self.stops.line.replace(Some(line));
        self.door.stop_all(&owner, None);
        self.stops.line.take();
    }
}
