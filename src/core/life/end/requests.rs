//! Requests to stop with a time: state of their owners, which the runs serve.
//!
//! ```text
//! stop_within ─► called ─► begun, in each home phase ─► done, in each of them ─► stopped
//!                  │                                                              ▲
//!                  └── the owner ends: the request is over ──► removed            │
//!                                     at the end of the run in which all are done ┘
//! ```
//!
//! A request is no coroutine: nothing counts, pauses, stops or orders it like one. It is over
//! once its owner has ended, which is a number of the owner, and not the lack of something.

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use crate::core::base::call;
use crate::core::base::cell::Guarded;
use crate::core::life::end;
use crate::core::owners::{NextEnd, OwnerKey, Owners};
use crate::core::phase::skipped;
use crate::core::phase::state::{PhaseState, frame_of};
use crate::core::{Core, report};
use crate::image::{ClockNames, Damaged, Reader, Writer};
use crate::inspect::{PendingStop, Report};
use crate::task::owner::Owner;
use crate::time::{ClockRef, ClockState, PhaseIndex};

/// The requests of an executor that have a time, in the order of their calls.
#[derive(Default)]
pub(crate) struct Requests {
    pending: Guarded<Vec<Request>>,
    /// Those whose time is over, and which the run under way has yet to serve.
    due: Guarded<VecDeque<Request>>,
}

/// A request to stop the coroutines of an owner that are left after some time.
pub(crate) struct Request {
    pub(crate) owner: OwnerKey,
    /// The end of the owner, which ends the request.
    end: NextEnd,
    /// The clock, unless it is the game clock.
    clock: Option<Rc<ClockState>>,
    length_ns: u64,
    /// The frame of the call.
    frame: u64,
    /// The deadline in frame time, counted from the call: in place of phases that do not run.
    due_ns: u64,
    /// The home phases of the coroutines that were asked.
    homes: Vec<Home>,
    /// Whether a run has found its time to be over.
    is_due: bool,
    pub(crate) then: Then,
}

/// What happens when the time of a request is over.
#[derive(Clone)]
pub(crate) enum Then {
    /// The coroutines that are left are stopped.
    Stop {
        /// The line of the call.
        place: &'static Location<'static>,
        /// Receives their number.
        left: Rc<Cell<usize>>,
    },
    /// This is called, which stops them. `number` is that of the request in images.
    Call { number: u64, call: Rc<dyn Fn()> },
}

/// How far a request has come in a home phase of its coroutines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home {
    phase: PhaseIndex,
    /// The moment of the phase at the call.
    called: u64,
    /// The moment of the first run that began after the call, and the deadline, in the time of
    /// the phase.
    begun: Option<(u64, u64)>,
    /// Whether a later run has reached the deadline.
    is_done: bool,
}

/// How a request stands in a home phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// A run of the phase has reached the deadline.
    Done,
    /// The phase runs, and its clock has not reached the deadline.
    Waiting,
    /// The host does not run the phase.
    Missing,
}

/// Whether the host runs the home phases of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Homes {
    AllRun,
    /// Or none is known: the deadline in frame time counts, too.
    SomeMissing,
}

/// When the time of a request is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outlook {
    /// Not known before the next run of a home phase.
    NextRun,
    /// After this dt, in nanoseconds. `None` while a clock stands still.
    After(Option<u64>),
}

impl Requests {
    /// Calls `f` with each request that is not over, in the order of the calls.
    pub(crate) fn each(&self, owners: &Owners, mut f: impl FnMut(&Request)) {
        let (due, pending) = (self.due.borrow(), self.pending.borrow());
        let all = due.iter().chain(pending.iter());
        all.filter(|request| !request.is_over(owners))
            .for_each(&mut f);
    }
}

impl Request {
    /// A request that is made now, of an owner with coroutines whose home phases are `homes`.
    pub(crate) fn new(
        core: &Core,
        owner: OwnerKey,
        length_ns: u64,
        homes: impl IntoIterator<Item = PhaseIndex>,
        then: Then,
    ) -> Self {
        let (end, clock) = {
            let owners = core.owners.borrow();
            (owners.next_end(owner), owners.clock(owner).cloned())
        };
        let frame = core.clock.frame();
        let mut known: Vec<Home> = Vec::new();
        for phase in homes {
            if known.iter().all(|home| home.phase != phase) {
                known.push(Home {
                    phase,
                    called: core.phases.get(phase).moment.get(),
                    begun: None,
                    is_done: false,
                });
            }
        }
        let now_ns = frame_ns(core, clock_of(clock.as_ref()));
        Request {
            owner,
            end,
            clock,
            length_ns,
            frame,
            due_ns: now_ns.saturating_add(length_ns),
            homes: known,
            is_due: false,
            then,
        }
    }

    fn clock(&self) -> ClockRef<'_> {
        clock_of(self.clock.as_ref())
    }

    /// Whether the owner has ended since the call.
    fn is_over(&self, owners: &Owners) -> bool {
        owners.has_come(self.owner, self.end)
    }

    /// Notes the end of a run of `state`.
    fn note_run(&mut self, core: &Core, state: &PhaseState) {
        let clock = clock_of(self.clock.as_ref());
        for home in self
            .homes
            .iter_mut()
            .filter(|home| home.phase == state.index)
        {
            home.note_run(core, state, clock, self.length_ns);
        }
        let mut standings = self.homes.iter().map(|home| home.standing(core));
        let mut all_done = !self.homes.is_empty();
        let none_waits = standings.all(|standing| {
            all_done &= standing == Standing::Done;
            standing != Standing::Waiting
        });
        self.is_due = none_waits && (all_done || self.is_over_in_frame_time(core));
    }

    /// Whether the time is over in place of the phases that do not run.
    fn is_over_in_frame_time(&self, core: &Core) -> bool {
        core.clock.frame() > self.frame && frame_ns(core, self.clock()) >= self.due_ns
    }

    /// When the time is over, as is known between two runs.
    fn outlook(&self, core: &Core) -> Outlook {
        let mut after = Some(0);
        let mut add = |dt: Option<u64>| after = after.zip(dt).map(|(after, dt)| dt.max(after));
        match self.each_deadline(core, &mut add) {
            None => return Outlook::NextRun,
            Some(Homes::AllRun) => {}
            Some(Homes::SomeMissing) => add(self.dt_in_frame_time(core)),
        }
        Outlook::After(after)
    }

    /// The dt after which a run has to note that it has reached a deadline. That may be before the time
    /// is over: the run that is last serves the request.
    fn next_deadline(&self, core: &Core) -> Option<u64> {
        let (mut next, mut waits) = (None::<u64>, false);
        let homes = self.each_deadline(core, |dt| {
            waits = true;
            next = next.into_iter().chain(dt).min();
        })?;
        match homes {
            _ if waits => next,
            Homes::AllRun => Some(0),
            // Frame time counts once the phases that run are done.
            Homes::SomeMissing => self.dt_in_frame_time(core),
        }
    }

    /// Calls `f` with the dt until each deadline in a home phase that has yet to be reached. `None`
    /// while a clock stands still. Returns `None` if the time has yet to begin in one of them.
    fn each_deadline(&self, core: &Core, mut f: impl FnMut(Option<u64>)) -> Option<Homes> {
        let clock = self.clock();
        let mut homes = if self.homes.is_empty() {
            Homes::SomeMissing
        } else {
            Homes::AllRun
        };
        for home in &self.homes {
            match (home.standing(core), home.begun) {
                (Standing::Done, _) => {}
                (Standing::Missing, _) => homes = Homes::SomeMissing,
                (Standing::Waiting, None) => return None,
                (Standing::Waiting, Some((_, due_ns))) => {
                    let state = core.phases.get(home.phase);
                    f(state.dt_until(&core.clock, clock, due_ns));
                }
            }
        }
        Some(homes)
    }

    fn dt_in_frame_time(&self, core: &Core) -> Option<u64> {
        let update = core.phases.update();
        update.dt_until(&core.clock, self.clock(), self.due_ns)
    }
}

impl Home {
    /// Notes the end of a run of the phase.
    fn note_run(&mut self, core: &Core, state: &PhaseState, clock: ClockRef<'_>, length_ns: u64) {
        let began = state.run_began.get();
        match self.begun {
            // The run began before the call. Its coroutines may have been polled before.
            None if began <= self.called => {}
            None => {
                let from_ns = state.begin_ns(&core.clock, clock, length_ns);
                self.begun = Some((began, from_ns.saturating_add(length_ns)));
            }
            // As with `wait_seconds`: in a later frame, or on fixed steps in a later step.
            Some((first, due_ns)) => {
                let is_later = if state.is_fixed {
                    began > first
                } else {
                    frame_of(began) > frame_of(first)
                };
                self.is_done |= is_later && state.reached_ns(&core.clock, clock) >= due_ns;
            }
        }
    }

    fn standing(&self, core: &Core) -> Standing {
        if self.is_done {
            Standing::Done
        } else if skipped::is_missing(core, self.phase, self.called) {
            Standing::Missing
        } else {
            Standing::Waiting
        }
    }
}

fn clock_of(clock: Option<&Rc<ClockState>>) -> ClockRef<'_> {
    clock.map_or(ClockRef::Game, ClockState::as_ref)
}

/// What a clock reads in the time of the frame.
fn frame_ns(core: &Core, clock: ClockRef<'_>) -> u64 {
    core.phases.update().reached_ns(&core.clock, clock)
}

/// Adds a request, so that `then` happens after `length_ns`, unless that is infinite or the owner has
/// no coroutine. Returns the end of the owner. The caller asks the coroutines, and notifies the host.
pub(crate) fn add(core: &Core, owner: OwnerKey, length_ns: Option<u64>, then: Then) -> NextEnd {
    let end = core.owners.borrow().next_end(owner);
    let length_ns = length_ns.filter(|_| end.is_open() && !core.is_closed());
    if let Some(length_ns) = length_ns {
        let request = Request::new(core, owner, length_ns, homes_of(core, owner), then);
        insert(core, request);
        core.host.note_due();
    }
    end
}

fn insert(core: &Core, request: Request) {
    core.requests.pending.borrow_mut().push(request);
    note_any(core);
}

/// Removes all requests.
pub(crate) fn clear(core: &Core) {
    let (pending, due) = (core.requests.pending.take(), core.requests.due.take());
    note_any(core);
    drop((pending, due));
}

/// Notes whether runs have to look at requests.
fn note_any(core: &Core) {
    let Requests { pending, due } = &core.requests;
    let any = !pending.borrow().is_empty() || !due.borrow().is_empty();
    core.arrivals.note_requests(any);
}

/// The home phases of the coroutines of an owner and of the owners below it.
fn homes_of(core: &Core, owner: OwnerKey) -> Vec<PhaseIndex> {
    let mut keys = Vec::new();
    core.owners.borrow().tasks(owner, &mut keys);
    let tasks = keys.into_iter().filter_map(|key| core.tasks.get(key));
    tasks.map(|task| task.home()).collect()
}

/// Notes that the run of `state` comes to its end. The requests whose time is over wait to be
/// [served](serve_next).
#[cold]
#[inline(never)]
pub(crate) fn note_run(core: &Core, state: &PhaseState) {
    skipped::note_unowed(core);
    let mut stays = true;
    {
        let owners = core.owners.borrow();
        for request in core.requests.pending.borrow_mut().iter_mut() {
            request.note_run(core, state);
            stays &= !request.is_due && !request.is_over(&owners);
        }
    }
    if !stays {
        take_due(core);
    }
}

/// Moves the requests whose time is over to those that are to be served, and removes those that are
/// over.
fn take_due(core: &Core) {
    let Requests { pending, due } = &core.requests;
    let (over, open): (Vec<_>, Vec<_>) = {
        let owners = core.owners.borrow();
        let pending = pending.take().into_iter();
        pending.partition(|request| request.is_over(&owners))
    };
    let (due_now, later) = open
        .into_iter()
        .partition::<Vec<_>, _>(|request| request.is_due);
    due.borrow_mut().extend(due_now);
    pending.replace(later);
    drop(over);
    note_any(core);
}

/// Serves the next request whose time is over: calls user code, the destructors of the coroutines
/// that it stops. Returns `false` if there is none.
#[cold]
#[inline(never)]
pub(crate) fn serve_next(core: &Core) -> bool {
    let next = core.requests.due.borrow_mut().pop_front();
    let Some(request) = next else {
        note_any(core);
        return false;
    };
    let is_over = request.is_over(&core.owners.borrow());
    match &request.then {
        _ if is_over => {}
        Then::Stop { place, left } => stop_what_is_left(core, request.owner, place, left),
        Then::Call { call, .. } => call::out(|| call()),
    }
    true
}

/// Stops the coroutines of an owner that has been asked. Sets `left` to their number.
fn stop_what_is_left(
    core: &Core,
    owner: OwnerKey,
    place: &'static Location<'static>,
    left: &Cell<usize>,
) {
    let (is_heard, label) = {
        let owners = core.owners.borrow();
        let mut tasks = Vec::new();
        owners.tasks(owner, &mut tasks);
        left.set(tasks.len());
        (owners.is_heard(owner), owners.label(owner))
    };
    if left.get() > 0 && !is_heard {
        let report = Report::StopIgnored {
            owner: label,
            place,
            scripts: left.get(),
        };
        report::send(core, &report);
    }
    end::stop_owned(core, owner, Some(place));
}

/// Whether a request waits for the next run of a phase.
pub(crate) fn wait_for_run(core: &Core) -> bool {
    let mut any = false;
    let owners = core.owners.borrow();
    core.requests.each(&owners, |request| {
        any |= request.outlook(core) == Outlook::NextRun;
    });
    any
}

/// The dt, in nanoseconds, after which a run reaches the next deadline of a request.
pub(crate) fn next_deadline(core: &Core) -> Option<u64> {
    let mut next: Option<u64> = None;
    let owners = core.owners.borrow();
    core.requests.each(&owners, |request| {
        next = next.into_iter().chain(request.next_deadline(core)).min();
    });
    next
}

/// The requests that are not over, for a snapshot.
pub(crate) fn pending(core: &Core) -> Vec<PendingStop> {
    let mut pending = Vec::new();
    let owners = core.owners.borrow();
    core.requests.each(&owners, |request| {
        let left = match request.outlook(core) {
            Outlook::NextRun => None,
            Outlook::After(dt) => dt.map(Duration::from_nanos),
        };
        let place = match request.then {
            Then::Stop { place, .. } => Some(place),
            Then::Call { .. } => None,
        };
        pending.push(PendingStop {
            owner: owners.label(request.owner),
            left,
            place,
        });
    });
    pending
}

/// Writes the requests that have a number to an image. Their owners are among `owners`.
pub(crate) fn save(core: &Core, owners: &[&Owner], clocks: &ClockNames, out: &mut Writer) {
    let mut saved = Vec::new();
    let table = core.owners.borrow();
    core.requests.each(&table, |request| {
        let at = owners.iter().position(|owner| owner.key() == request.owner);
        let clock = clocks.number(request.clock().index());
        if let (Then::Call { number, .. }, Some(at), Some(clock)) = (&request.then, at, clock) {
            saved.push((*number, at, clock, request.save_rest()));
        }
    });
    out.put(core.phases.get(PhaseIndex::FIXED_UPDATE).unowed.get());
    out.put_all(saved, |out, (number, owner, clock, rest)| {
        out.put(number);
        out.put_len(owner);
        out.put(clock);
        out.put_all(rest, Writer::put);
    });
}

/// Reads what [`save`] has written, in place of what there is. The owners have their coroutines
/// already. `call` makes what a request of a number calls.
pub(crate) fn load(
    core: &Core,
    owners: &[&Owner],
    clocks: &ClockNames,
    image: &mut Reader<'_>,
    call: &mut dyn FnMut(u64) -> Option<Rc<dyn Fn()>>,
) -> Result<(), Damaged> {
    clear(core);
    let fixed = core.phases.get(PhaseIndex::FIXED_UPDATE);
    fixed.unowed.set(image.take()?);
    for _ in 0..image.take_len()? {
        let number = image.take()?;
        let then = Then::Call {
            number,
            call: call(number).ok_or(Damaged)?,
        };
        let owner = owners[image.take_index(owners.len())?].key();
        let end = core.owners.borrow().next_end(owner);
        let clock = match clocks.clock(image.take()?)? {
            ClockRef::Game => None,
            ClockRef::Realtime => Some(core.realtime().state().clone()),
            ClockRef::Child(clock) => Some(clock.clone()),
        };
        let mut rest = Vec::new();
        for _ in 0..image.take_len()? {
            rest.push(image.take()?);
        }
        let request = Request::load((owner, end, clock), &rest, then).ok_or(Damaged)?;
        if !request.end.is_open() {
            return Err(Damaged);
        }
        insert(core, request);
    }
    Ok(())
}

/// How many numbers an image has of each home phase.
const OF_HOME: usize = 6;

impl Request {
    /// The numbers of a request besides its owner and its clock.
    fn save_rest(&self) -> Vec<u64> {
        let mut rest = vec![self.length_ns, self.frame, self.due_ns];
        for home in &self.homes {
            let (first, due_ns) = home.begun.unwrap_or_default();
            let (has_begun, is_done) = (home.begun.is_some(), home.is_done);
            let phase = home.phase.as_usize() as u64;
            let flags = [has_begun, is_done].map(u64::from);
            rest.extend([phase, home.called, first, due_ns]);
            rest.extend(flags);
        }
        rest
    }

    fn load(
        (owner, end, clock): (OwnerKey, NextEnd, Option<Rc<ClockState>>),
        rest: &[u64],
        then: Then,
    ) -> Option<Self> {
        let (&[length_ns, frame, due_ns], homes) = rest.split_first_chunk::<3>()?;
        let homes = homes.chunks(OF_HOME).map(|home| {
            let &[phase, called, first, due_ns, has_begun, is_done] = home else {
                return None;
            };
            Some(Home {
                phase: PhaseIndex::from_number(phase)?,
                called,
                begun: (has_begun != 0).then_some((first, due_ns)),
                is_done: is_done != 0,
            })
        });
        Some(Request {
            owner,
            end,
            clock,
            length_ns,
            frame,
            due_ns,
            homes: homes.collect::<Option<_>>()?,
            is_due: false,
            then,
        })
    }
}
