//! Requests to stop: which scripts have been asked, and what is stopped after some time.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use framestep::durable::{OwnerStop, length_ns};
use framestep::time::Seconds;

use crate::bytes::Bytes;
use crate::cell::{Birth, ScriptCell, ScriptId};
use crate::context;
use crate::effect::expect_read;
use crate::handle::{Handle, JoinError, Joins, command, line_of};
use crate::owner::OwnerId;
use crate::shared::{Ended, Shared, with_those_below};
use crate::site::Call;

/// Whether the calling script has been requested to stop: see [`stop_requested`](crate::stop_requested).
///
/// The answer is recorded. Outside of a durable script, it is [`framestep::task::is_stop_requested`].
///
/// # Panics
///
/// Outside of an executor.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[durable]
/// async fn swings() -> u32 {
///     let mut count = 0;
///     while !is_stop_requested() {
///         wait_seconds(0.5).await; // a swing is never cut short
///         count += 1;
///     }
///     count
/// }
///
/// let mut runtime = Runtime::new(Registry::new().with::<Swings>());
/// let swings = runtime.start(swings());
/// for _ in 0..3 {
///     runtime.run_frame(0.25);
/// }
/// runtime.request_stop(swings.id());
/// runtime.run_frame(0.25);
/// assert_eq!(runtime.take(swings), Some(Ok(2)));
/// ```
#[track_caller]
pub fn is_stop_requested() -> bool {
    let caller = Call::new("is_stop_requested", "");
    let Some(cell) = context::current() else {
        return framestep::task::is_stop_requested();
    };
    let asked = cell.effect(caller, || Bytes::of(&cell.shared().reads_request(&cell)));
    asked.is_some_and(|asked| expect_read(&asked))
}

impl OwnerId {
    /// Asks the scripts of the owner, and of the owners below it, to stop. They are not stopped:
    /// each ends in its own way once it reads the request, with [`stop_requested`](crate::stop_requested)
    /// or [`is_stop_requested`]. See [`framestep::Owner::request_stop`].
    ///
    /// It concerns the scripts that exist now, and what these start on this owner or below it from
    /// now on. A request is saved, and cannot be withdrawn.
    ///
    /// # Panics
    ///
    /// Outside of a durable script. [`Runtime::request_owner_stop`](crate::Host::request_owner_stop)
    /// is for the host.
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
    /// If `seconds` is NaN; outside of a durable script; or when polled by a script of the owner.
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
    /// let registry = Registry::new().with::<Torch>().with::<Forgetful>().with::<Leave>();
    /// let mut runtime = Runtime::new(registry);
    /// let level = runtime.owner();
    /// runtime.start_on(level, torch()).detach();
    /// runtime.start_on(level, forgetful()).detach();
    /// let leave = runtime.start(leave(level));
    /// for _ in 0..5 {
    ///     runtime.run_frame(0.25); // read in frame 1, over in frame 5
    /// }
    /// assert_eq!(runtime.take(leave), Some(Ok(1)));
    /// ```
    #[track_caller]
    pub fn stop_within(self, seconds: impl Seconds) -> StopWithin {
        let length_ns = length_ns(seconds);
        let cell = context::expect_outside_of_closures("stop_within");
        let (shared, place) = (cell.shared(), Location::caller());
        let mut birth = None;
        let made = cell.effect(Call::new("stop_within", ""), || {
            birth = Some(Birth::new());
            Bytes::of(&shared.next_script.get())
        });
        let Some(made) = made else {
            return StopWithin(Handle::of(Joins::void()));
        };
        let id = ScriptId(expect_read(&made));
        let joins = match birth {
            Some(birth) => shared.stop_owner_within((id, birth), self, length_ns, place),
            None => Joins::new(shared, id, None).replayed_by(&cell),
        };
        shared.note_stop_place(id, place);
        StopWithin(Handle::of(joins))
    }
}

/// The future of [`OwnerId::stop_within`]. Dropping it changes nothing: the scripts are stopped all
/// the same.
pub struct StopWithin(Handle<usize>);

impl Future for StopWithin {
    type Output = usize;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<usize> {
        let stopped = Pin::new(&mut self.0).poll(cx);
        // Without a result, a restore has taken the request back.
        stopped.map(|stopped| stopped.unwrap_or(0))
    }
}

impl fmt::Debug for StopWithin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.0.id();
        f.debug_tuple("StopWithin").field(&id).finish()
    }
}

/// Panics if a script awaits the end of an owner on which it runs itself.
#[track_caller]
pub(crate) fn expect_from_outside(cell: &ScriptCell, owner: OwnerId, function: &str) {
    let shared = cell.shared();
    let is_within = |of| shared.is_within(of, owner);
    assert!(
        !cell.owner.is_some_and(is_within),
        "the script `{}` awaits `{function}` of owner #{}, on which it runs itself, so that would \
         never come: await it in a script of another owner, or call `stop_all()` to end the others",
        cell.name(),
        owner.0
    );
}

/// A request to stop the scripts of an owner that is not over. It has a number among the scripts, so
/// that a [handle](Handle) returns its result, and is none of them.
#[derive(Debug)]
pub(crate) struct StopRequest {
    pub(crate) birth: Birth,
    pub(crate) owner: OwnerId,
    /// `None` if there is no such owner.
    pub(crate) stop: Option<OwnerStop>,
    /// How many scripts it has stopped.
    pub(crate) left: u64,
    /// The line of the call.
    pub(crate) line: String,
}

/// The most places that are kept for reports.
const PLACES: usize = 1_024;

impl Shared {
    pub(crate) fn is_asked(&self, script: ScriptId) -> bool {
        self.asked.borrow().contains(&script)
    }

    /// Whether a script that wants to know has been requested to stop. Then it has read the request.
    pub(crate) fn reads_request(&self, cell: &ScriptCell) -> bool {
        let is_asked = self.is_asked(cell.id);
        if is_asked {
            self.note_heard(cell.owner);
        }
        is_asked
    }

    /// Notes that a script of an owner has read the request, for that owner and those above it.
    fn note_heard(&self, owner: Option<OwnerId>) {
        let mut owners = self.owners.borrow_mut();
        let mut at = owner;
        while let Some(entry) = at.and_then(|id| owners.get_mut(&id)) {
            entry.is_heard = true;
            at = entry.parent;
        }
    }

    /// Requests a script to stop. Returns `false` if it was requested before, or has ended.
    pub(crate) fn ask_script(&self, id: ScriptId) -> bool {
        let Some(cell) = self.script(id) else {
            return false;
        };
        let is_new = self.asked.borrow_mut().insert(id);
        let waits = cell.chapter().waits.stops().next().is_some();
        if is_new && waits {
            self.wake_all([id]);
        }
        is_new
    }

    /// Asks the scripts of an owner, and of the owners below it, to stop.
    pub(crate) fn ask_owner(&self, id: OwnerId) {
        let below = self.below_first(id);
        let mut waits = Vec::new();
        for cell in self.scripts.borrow().values() {
            let is_its = |owner: &OwnerId| cell.owner == Some(*owner);
            let Some(place) = below.iter().position(is_its) else {
                continue;
            };
            self.asked.borrow_mut().insert(cell.id);
            let chapter = cell.chapter();
            waits.extend(chapter.waits.stops().map(|ticket| (place, ticket, cell.id)));
        }
        {
            let mut owners = self.owners.borrow_mut();
            for id in &below {
                if let Some(entry) = owners.get_mut(id) {
                    entry.is_heard = false;
                }
            }
        }
        // Those of an owner in the order in which they began to wait.
        waits.sort_unstable();
        self.wake_all(waits.into_iter().map(|(.., script)| script));
    }

    /// An owner and those below it, each after those below it.
    fn below_first(&self, top: OwnerId) -> Vec<OwnerId> {
        let owners = self.owners.borrow();
        let mut found = Vec::new();
        // Found from the top, the last one first.
        let mut open = vec![top];
        while let Some(id) = open.pop().filter(|_| owners.contains_key(&top)) {
            found.push(id);
            let below = owners.range(id..).filter(|(_, of)| of.parent == Some(id));
            open.extend(below.map(|(&id, _)| id));
        }
        found.reverse();
        found
    }

    /// Whether an owner is `top`, or below it.
    pub(crate) fn is_within(&self, owner: OwnerId, top: OwnerId) -> bool {
        let owners = self.owners.borrow();
        let mut at = Some(owner);
        while let Some(id) = at {
            if id == top {
                return true;
            }
            at = owners.get(&id).and_then(|entry| entry.parent);
        }
        false
    }

    /// Asks a new script to stop if the one that makes it was asked, and is on the same owner or
    /// above it.
    pub(crate) fn inherit_request(&self, new: &ScriptCell, by: Option<&Rc<ScriptCell>>) {
        if self.asked.borrow().is_empty() {
            return;
        }
        let Some(by) = by.cloned().or_else(context::current) else {
            return;
        };
        let is_within = match (new.owner, by.owner) {
            (Some(new), Some(by)) => self.is_within(new, by),
            (new, by) => new == by,
        };
        let is_of_this = std::ptr::eq(&raw const **by.shared(), self);
        if is_of_this && is_within && self.is_asked(by.id) {
            self.asked.borrow_mut().insert(new.id);
        }
    }

    /// Whether an owner and those below it have no script.
    pub(crate) fn is_owner_empty(&self, id: OwnerId) -> bool {
        self.owner(id).is_none_or(|owner| owner.is_empty())
    }

    /// Asks the scripts of an owner to stop, and stops those that are left after a length. `id` is the
    /// next number of a script. The call is at `place`.
    pub(crate) fn stop_owner_within(
        self: &Rc<Self>,
        (id, birth): (ScriptId, Birth),
        owner: OwnerId,
        length_ns: Option<u64>,
        place: &'static Location<'static>,
    ) -> Joins {
        self.next_script.set(id.0 + 1);
        let joins = Joins::new(self, id, Some(birth));
        let stops = self.owner(owner);
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
        self.stops.borrow_mut().insert(id, request);
        self.note_stop_place(id, place);
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
        self.stops.borrow().get(&id).map(|request| request.owner)
    }

    /// Makes results of the requests that are over. To be called before something looks at results:
    /// so it makes no difference when it is called.
    pub(crate) fn settle_stops(&self) {
        let mut stops = self.stops.borrow_mut();
        if stops.is_empty() {
            return;
        }
        let is_over = |request: &StopRequest| request.stop.is_none_or(|it| self.door.is_over(&it));
        let over: Vec<ScriptId> = stops
            .iter()
            .filter(|(_, request)| is_over(request))
            .map(|(&id, _)| id)
            .collect();
        for id in over {
            let request = stops.remove(&id).expect("it has been found");
            if self.is_held(id, request.birth) {
                let ended = Ended {
                    birth: request.birth,
                    result: Ok(Bytes::of(&request.left)),
                    order: 0,
                    coroutine: None,
                };
                self.ended.borrow_mut().insert(id, ended);
            }
        }
    }

    /// Notes the line of a call of `stop_within`, for a report: a replay notes it, too.
    pub(crate) fn note_stop_place(&self, id: ScriptId, at: &'static Location<'static>) {
        let mut places = self.stop_places.borrow_mut();
        if places.len() >= PLACES {
            let stops = self.stops.borrow();
            places.retain(|id, _| stops.contains_key(id));
        }
        places.insert(id, at);
    }

    fn stop_what_is_left(&self, id: ScriptId) {
        let (owner_id, line) = match self.stops.borrow().get(&id) {
            Some(request) => (request.owner, request.line.clone()),
            None => return,
        };
        let Some(owner) = self.owner(owner_id) else {
            return;
        };
        let left = {
            let below = with_those_below(&self.owners.borrow(), owner_id);
            let scripts = self.scripts.borrow();
            let owners = scripts.values().filter_map(|cell| cell.owner);
            owners.filter(|owner| below.contains(owner)).count()
        };
        if let Some(request) = self.stops.borrow_mut().get_mut(&id) {
            request.left = left as u64;
        }
        let is_heard = self
            .owners
            .borrow()
            .get(&owner_id)
            .is_some_and(|it| it.is_heard);
        let place = self.stop_places.borrow().get(&id).copied();
        if let (Some(place), false, true) = (place, is_heard, left > 0) {
            self.door.report_stop_ignored(&owner, place, left);
        }
        self.stop_line.replace(Some(line));
        self.door.stop_all(&owner, None);
        self.stop_line.take();
    }

    /// The error of a script that is being stopped.
    pub(crate) fn stopped(&self, cell: &ScriptCell) -> JoinError {
        let stopper = cell.coroutine_id().map(|id| self.door.stopper(id));
        let (by, place) = stopper.unwrap_or_default();
        let at = match (&by, place) {
            // No other stop by the runtime itself has a line.
            (None, None) => self.stop_line.borrow().clone(),
            (_, place) => place.map(line_of),
        };
        let by = by.map(Cow::into_owned);
        JoinError::Stopped { by, at }
    }
}
