//! Requests to stop: which scripts have been asked, and what is stopped after some time.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use framestep::durable::length_ns;
use framestep::{Seconds, select};
use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;
use crate::cell::{ScriptCell, ScriptId};
use crate::context;
use crate::effect::{expect_read, make_any};
use crate::handle::{Handle, JoinError, command, line_of};
use crate::owner::{ClockId, OwnerId};
use crate::script::{Chapter, Code, DurableScript, begin_once};
use crate::shared::{Making, Shared, with_those_below};
use crate::site::Call;
use crate::stop_lines::StopLines;

/// Whether the calling script has been asked to stop: see [`stop_asked`](crate::stop_asked).
///
/// The answer is recorded. Outside of a durable script, it is [`framestep::is_stop_asked`].
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
///     while !is_stop_asked() {
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
/// runtime.ask_to_stop(swings.id());
/// runtime.run_frame(0.25);
/// assert_eq!(runtime.take(swings), Some(Ok(2)));
/// ```
#[track_caller]
pub fn is_stop_asked() -> bool {
    let caller = Call::new("is_stop_asked", "");
    let Some(cell) = context::current() else {
        return framestep::is_stop_asked();
    };
    let asked = cell.effect(caller, || Bytes::of(&cell.shared().reads_request(&cell)));
    asked.is_some_and(|asked| expect_read(&asked))
}

impl OwnerId {
    /// Asks the scripts of the owner, and of the owners below it, to stop. They are not stopped:
    /// each ends in its own way once it reads the request, with [`stop_asked`](crate::stop_asked)
    /// or [`is_stop_asked`]. See [`framestep::Owner::ask_to_stop`].
    ///
    /// It concerns the scripts that exist now, and what these start on this owner or below it from
    /// now on. A request is saved, and cannot be withdrawn.
    ///
    /// # Panics
    ///
    /// Outside of a durable script. [`Runtime::ask_owner_to_stop`](crate::Host::ask_owner_to_stop)
    /// is for the host.
    #[track_caller]
    pub fn ask_to_stop(self) {
        command("ask_to_stop", |shared| shared.ask_owner(self));
    }

    /// [Asks](Self::ask_to_stop) the scripts of the owner, and of the owners below it, to stop, at
    /// once. After `seconds`, stops those that are left. See [`framestep::Owner::stop_within`].
    ///
    /// That happens even if the returned future is dropped, and after a restore. The time counts on
    /// the clock of the owner, from the run in which the scripts read the request. A script of the
    /// runtime, `stop_within()`, waits for that beside the owner, so it is one of
    /// [`scripts`](crate::Host::scripts).
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
    /// [`Report::StopUnread`](framestep::Report::StopUnread), with the line of this call. Not if
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
    ///     stop_asked().await;
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
        let shared = cell.shared();
        let making = shared.making_of_stopper(self, Some(&cell));
        let mut script = Some(shared.stopper(self, length_ns));
        let code = Code::of::<Stopper>();
        let joins = make_any("stop_within", making, code, &mut || {
            shared.ask_owner(self);
            begin_once(&mut script)
        });
        shared.note_stop_place(joins.id(), Location::caller(), cell.has_effects());
        StopWithin {
            owner: self,
            stopper: Handle::of(joins),
        }
    }
}

/// The future of [`OwnerId::stop_within`]. Dropping it changes nothing: the scripts are stopped all
/// the same.
pub struct StopWithin {
    owner: OwnerId,
    stopper: Handle<usize>,
}

impl Future for StopWithin {
    type Output = usize;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<usize> {
        if let Some(cell) = context::current() {
            expect_from_outside(&cell, self.owner, "stop_within()");
        }
        let stopped = Pin::new(&mut self.stopper).poll(cx);
        // Stopped with the owner above, it has stopped nothing itself.
        stopped.map(|stopped| stopped.unwrap_or(0))
    }
}

impl fmt::Debug for StopWithin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StopWithin")
            .field("owner", &self.owner)
            .finish_non_exhaustive()
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

/// The script of [`OwnerId::stop_within`], which each registry knows.
#[derive(Serialize, Deserialize)]
pub(crate) struct Stopper {
    owner: OwnerId,
    clock: ClockId,
    length_ns: Option<u64>,
}

impl DurableScript for Stopper {
    const NAME: &'static str = "stop_within()";
    type Output = usize;

    async fn run(self) -> Chapter<Self> {
        let Stopper { owner, clock, .. } = self;
        let limit = match self.length_ns {
            Some(ns) => clock.wait_seconds(Duration::from_nanos(ns)),
            None => clock.wait_seconds(f64::INFINITY),
        };
        let left = select! { () = owner.ended() => 0, () = limit => stop_what_is_left(owner) };
        Chapter::Done(left)
    }
}

/// Stops the scripts of an owner that has been asked. Returns how many there were.
#[track_caller]
fn stop_what_is_left(owner: OwnerId) -> usize {
    let caller = Call::new("stop_within", "");
    let cell = context::expect("stop_within");
    let left = cell.effect(caller, || {
        // What a hook does with signals is no effect of this script.
        let left = cell.in_closure(|| cell.shared().stop_what_is_left(owner, cell.id));
        Bytes::of(&left)
    });
    left.map_or(0, |left| expect_read(&left))
}

/// The most places that are kept for reports.
const PLACES: usize = 1_024;

impl Shared {
    pub(crate) fn is_asked(&self, script: ScriptId) -> bool {
        self.asked.borrow().contains(&script)
    }

    /// Whether a script that wants to know has been asked to stop. Then it has read the request.
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

    /// Asks a script to stop. Returns `false` if it has been asked before, or has ended.
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

    /// The script that stops what is left of an owner after a length.
    pub(crate) fn stopper(&self, owner: OwnerId, length_ns: Option<u64>) -> Stopper {
        let owners = self.owners.borrow();
        let mut at = owners.get(&owner);
        let clock = loop {
            match at {
                Some(entry) if entry.clock.is_none() => {
                    at = entry.parent.and_then(|parent| owners.get(&parent));
                }
                found => break found.and_then(|entry| entry.clock),
            }
        };
        Stopper {
            owner,
            clock: clock.unwrap_or(ClockId::GAME),
            length_ns,
        }
    }

    /// How that script is made: beside the owner, so that it ends with what is above, and is not
    /// stopped with the rest.
    pub(crate) fn making_of_stopper(&self, owner: OwnerId, by: Option<&ScriptCell>) -> Making {
        let parent = self.owners.borrow().get(&owner).and_then(|it| it.parent);
        // Spawned after the wakes: the time counts from the run in which the scripts read the request.
        // Without scripts, it is over at once.
        let starts = self.is_owner_empty(owner);
        Making {
            owner: parent,
            home: by.filter(|_| starts).map(|by| by.home),
            starts,
            is_apart: true,
        }
    }

    /// Notes the line of a call of `stop_within`, for a report. If the call `is_new` and no replay of
    /// one, also for the errors of those that it stops: these are the same after a restore.
    pub(crate) fn note_stop_place(
        &self,
        stopper: ScriptId,
        at: &'static Location<'static>,
        is_new: bool,
    ) {
        if let Some(cell) = self.script(stopper).filter(|_| is_new) {
            cell.change()
                .stop_lines
                .insert(StopLines::OWN, &line_of(at));
        }
        let mut places = self.stop_places.borrow_mut();
        if places.len() >= PLACES {
            places.retain(|&id, _| self.script(id).is_some());
        }
        places.insert(stopper, at);
    }

    fn stop_what_is_left(&self, id: OwnerId, stopper: ScriptId) -> usize {
        let left = {
            let below = with_those_below(&self.owners.borrow(), id);
            let scripts = self.scripts.borrow();
            let owners = scripts.values().filter_map(|cell| cell.owner);
            owners.filter(|owner| below.contains(owner)).count()
        };
        let Some(owner) = self.owner(id) else {
            return left;
        };
        let is_heard = self.owners.borrow().get(&id).is_some_and(|it| it.is_heard);
        let place = self.stop_places.borrow().get(&stopper).copied();
        if let (Some(place), false, true) = (place, is_heard, left > 0) {
            self.door.report_stop_unread(&owner, place, left);
        }
        let line = self.script(stopper).and_then(|cell| {
            let chapter = cell.chapter();
            chapter.stop_lines.of(StopLines::OWN).map(str::to_owned)
        });
        self.stop_line.replace(line);
        self.door.stop_all(&owner, None);
        self.stop_line.take();
        left
    }

    /// The error of a script that is being stopped.
    pub(crate) fn stopped(&self, cell: &ScriptCell) -> JoinError {
        let stopper = cell.coroutine_id().map(|id| self.door.stopper(id));
        let (by, place) = stopper.unwrap_or_default();
        let at = match place {
            None if by.as_deref() == Some(Stopper::NAME) => self.stop_line.borrow().clone(),
            place => place.map(line_of),
        };
        let by = by.map(Cow::into_owned);
        JoinError::Stopped { by, at }
    }
}
