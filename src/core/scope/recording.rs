//! Coroutines whose waits are recorded.
//!
//! While a durable script is polled, its scope has a [`Recorder`]. A wait that is polled for the first time moves
//! into it; in the future stays a shell with its ticket.
//!
//! The plain ways of waits do not know of that. Each short way begins with a fact that is taken from the scope while
//! it has a recorder: that no wait is registered with the task itself, or that no clock is named. So the short ways
//! fail by themselves, and only the slow ones look for a recorder, in the scope that they read anyway.
//!
//! A replay runs where no executor does. The scopes around it are hidden meanwhile, so a wait finds none, and asks
//! for a replay before it panics.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::ptr;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::core::base::cell::Restore;
use crate::core::registration::{Bound, Registration, another_script};
use crate::core::report;
use crate::core::scope::{self, INNERMOST, Scope};
use crate::durable::{
    Asks, Begun, CalledOn, DurableWait, FrameWait, Given, Gives, Reads, Recorder,
};
use crate::inspect::Line;
use crate::time::{Clock, ClockGuard, ClockState, PhaseIndex, Time};
use crate::wait::{Misuse, PhaseWait, polled_again};

#[cfg(all(test, framestep_loom))]
use crate::core::wake::waker::sync::LocalCell;

/// A recorder while its coroutine is polled, replayed or dropped.
pub(crate) struct Recording<'a> {
    recorder: &'a dyn Recorder,
    /// The number of the recorder.
    serial: u32,
    /// Whether the coroutine is polled by a run.
    is_live: bool,
}

/// A replay under way.
pub(super) struct Replay<'a> {
    recording: Recording<'a>,
    /// The innermost scope around it.
    hidden: *const Scope<'static>,
    /// How many scopes there are around it.
    pub(super) depth: u32,
    outer: *const Replay<'static>,
    /// The clock that a future has named which is replayed.
    pub(super) named: RefCell<Option<Rc<ClockState>>>,
}

thread_local! {
    static REPLAY: Cell<*const Replay<'static>> = const { Cell::new(ptr::null()) };

    /// The number of the recorder that was made last on this thread.
    static LATEST: Cell<u32> = const { Cell::new(0) };
}

/// Tells the number of a recorder from that of an executor.
const RECORDER: u32 = 1 << 31;

/// Whether the number is that of a recorder.
#[inline(always)]
pub(crate) fn is_recorder(number: u32) -> bool {
    number & RECORDER != 0
}

/// A number for a recorder, by which its waits know it. After 2^31 of them on a thread, numbers are used again.
#[must_use]
pub fn number_of_recorder() -> u32 {
    let number = LATEST.get().wrapping_add(1) | RECORDER;
    LATEST.set(number);
    number
}

/// Calls `f`, in which the current coroutine is dropped, or part of it.
#[inline]
pub fn record<R>(recorder: &dyn Recorder, serial: u32, is_live: bool, f: impl FnOnce() -> R) -> R {
    scope::with(|scope| match scope {
        Some(scope) => record_in(scope, recorder, serial, is_live, f),
        None => replay(recorder, serial, f),
    })
}

/// Calls `poll`, which polls the current coroutine. With `is_live`, what it polls begins. It is given the waker that the
/// scope lends, even if the coroutine has a task waker: the recorder hears of each use of that one.
#[inline(always)]
pub fn poll_recorded<R>(
    recorder: &dyn Recorder,
    serial: u32,
    is_live: bool,
    poll: impl FnOnce(&mut Context<'_>) -> R,
) -> R {
    scope::with(|scope| {
        let scope = scope.expect("a run polls coroutines in a scope");
        record_in(scope, recorder, serial, is_live, || {
            let mut lent = scope.context();
            let _lent = scope.lend(lent.waker());
            poll(&mut lent)
        })
    })
}

#[inline(always)]
fn record_in<R>(
    scope: &Scope<'_>,
    recorder: &dyn Recorder,
    serial: u32,
    is_live: bool,
    f: impl FnOnce() -> R,
) -> R {
    let recording = Recording {
        recorder,
        serial,
        is_live,
    };
    scope.free.set(None);
    let named = &scope.core().named;
    let _hidden = named.is_of_another(scope).then(|| named.hide());
    let _slow = Restore::after_setting(&named.depth, scope.depth);
    let _recorded = Restore::after_setting(&scope.recording, (&raw const recording).cast());
    f()
}

/// Calls `f`, in which a coroutine of no executor is replayed.
pub fn replay<R>(recorder: &dyn Recorder, serial: u32, f: impl FnOnce() -> R) -> R {
    /// Shows the scopes again, even when unwinding.
    struct Leave(*const Scope<'static>, *const Replay<'static>);
    impl Drop for Leave {
        fn drop(&mut self) {
            INNERMOST.set(self.0);
            REPLAY.set(self.1);
        }
    }
    let replay = Replay {
        recording: Recording {
            recorder,
            serial,
            is_live: false,
        },
        hidden: INNERMOST.get(),
        depth: scope::depth(),
        outer: REPLAY.get(),
        named: RefCell::default(),
    };
    let _leave = Leave(replay.hidden, replay.outer);
    INNERMOST.set(ptr::null());
    REPLAY.set((&raw const replay).cast());
    f()
}

/// Calls `f` with the innermost replay of this thread.
#[inline]
pub(super) fn with_replay<R>(f: impl FnOnce(Option<&Replay<'_>>) -> R) -> R {
    // SAFETY: the pointer is null, or points to a replay further up the stack, which is only shared until `Leave`
    // takes it out, after `f` has returned.
    f(unsafe { REPLAY.get().cast::<Replay<'_>>().as_ref() })
}

/// The innermost scope around each replay of this thread, from the innermost replay outwards.
pub(super) fn each_hidden<R>(mut f: impl FnMut(*const Scope<'static>) -> Option<R>) -> Option<R> {
    let mut at = REPLAY.get();
    // SAFETY: as in `with_replay`; the replays around it are still further up.
    while let Some(replay) = unsafe { at.as_ref() } {
        if let Some(found) = f(replay.hidden) {
            return Some(found);
        }
        at = replay.outer;
    }
    None
}

impl Scope<'_> {
    /// Whether the waits that are polled here may be recorded.
    #[inline(always)]
    pub(crate) fn is_recorded(&self) -> bool {
        !self.recording.get().is_null()
    }

    /// Tells the recorder, if there is one, that the lent waker is cloned or called.
    #[cold]
    pub(super) fn note_use_of_waker(&self, is_called: bool) {
        self.with_recording(|recording| recording.recorder.uses_waker(is_called));
    }

    /// Whether the wait is recorded here, and resumes the coroutine. Then it is over. Calls no user code.
    #[inline(always)]
    pub(crate) fn takes_recorded(&self, registration: &mut Registration) -> bool {
        let takes = |recording: &Recording<'_>| {
            let ticket = registration.ticket_in(recording.serial);
            ticket.is_some_and(|ticket| recording.recorder.take_resumed(ticket))
        };
        let is_over = self.with_recording(takes) == Some(true);
        if is_over {
            registration.end();
        }
        is_over
    }

    /// Begins a wait for a run of a phase in the usual case: in a run, as the first wait of the poll, to wait for the next
    /// frame at home. Calls no user code.
    #[inline(always)]
    pub(crate) fn begins_frame(
        &self,
        registration: &mut Registration,
        cx: &Context<'_>,
        name: &'static str,
        line: Line,
    ) -> bool {
        let begins = |recording: &Recording<'_>| {
            if !(registration.names_no_phase()
                && registration.bound() == Bound::Frame
                && recording.is_live)
            {
                return false;
            }
            let Some(own) = self.own_task(cx).filter(|own| !own.is_registered()) else {
                return false;
            };
            let mut begun = Registration::new(PhaseIndex::HOME, Bound::Frame);
            let begins = begun.begin_with::<true>(self, own.free_key(), Bound::Frame);
            if begins {
                let begun = FrameWait::from(PhaseWait::of(begun));
                let ticket = recording.recorder.begin_frame(name, line, begun);
                registration.become_shell(recording.serial, ticket);
            }
            begins
        };
        self.with_recording(begins) == Some(true)
    }

    #[inline(always)]
    fn with_recording<R>(&self, f: impl FnOnce(&Recording<'_>) -> R) -> Option<R> {
        // SAFETY: the pointer is null, or points to a recording in a call of `record` further up the stack, which is
        // only shared until that call takes it out, after `f` has returned.
        unsafe { self.recording.get().cast::<Recording<'_>>().as_ref() }.map(f)
    }
}

/// Calls `f` with the recording of the coroutine that is polled or replayed here.
#[inline]
fn recorded<R>(f: impl FnOnce(&Recording<'_>) -> R) -> Option<R> {
    scope::with(|scope| match scope {
        Some(scope) => scope.with_recording(f),
        None => with_replay(|replay| replay.map(|replay| f(&replay.recording))),
    })
}

/// The time, as the coroutine reads it that is polled here. It is recorded if the coroutine is.
#[cold]
#[inline(never)]
pub(crate) fn time(call: &'static str, at: Line, read: Reads<'_, Time>) -> Option<Time> {
    match recorded(|recording| recording.recorder.time(call, at, &mut *read)) {
        Some(time) => time,
        None => read(),
    }
}

/// The same of the length of the frame or the step.
#[cold]
#[inline(never)]
pub(crate) fn delta_seconds(at: Line, read: Reads<'_, f32>) -> Option<f32> {
    let call = "delta_seconds()";
    match recorded(|recording| recording.recorder.delta_seconds(call, at, &mut *read)) {
        Some(seconds) => seconds,
        None => read(),
    }
}

/// The same of the number of the frame.
#[cold]
#[inline(never)]
pub(crate) fn frame(call: &'static str, at: Line, read: Reads<'_, u64>) -> Option<u64> {
    match recorded(|recording| recording.recorder.frame(call, at, &mut *read)) {
        Some(frame) => frame,
        None => read(),
    }
}

/// Reads a clock, or changes it. In a coroutine that records what it does, the result is recorded.
#[inline]
pub(crate) fn number(call: &'static str, at: Line, mut act: impl FnMut() -> u64) -> u64 {
    if is_recording() {
        recorded_number(call, at, &mut act)
    } else {
        act()
    }
}

#[cold]
#[inline(never)]
fn recorded_number(call: &'static str, at: Line, act: &mut dyn FnMut() -> u64) -> u64 {
    recorded(|recording| recording.recorder.number(call, at, act)).unwrap_or(0)
}

/// Takes a guard of a clock. In a coroutine that records what it does, the recorder keeps it.
pub(crate) fn guard(
    call: &'static str,
    at: Line,
    clock: &Clock,
    mut take: impl FnMut() -> ClockGuard,
) -> ClockGuard {
    let kept = recorded(|recording| recording.recorder.guard(call, at, clock, &mut take));
    kept.map_or_else(take, ClockGuard::kept)
}

/// The game clock and realtime, in a replay.
pub(crate) fn clocks() -> Option<[Clock; 2]> {
    recorded(|recording| recording.recorder.clocks())
}

/// Calls `f` with what records here, if anything does. In a hook, and in another coroutine or executor that the recorded
/// coroutine polls, nothing does.
#[inline]
pub fn with_recorder<R>(f: impl FnOnce(&dyn Any) -> R) -> Option<R> {
    recorded(|recording| f(recording.recorder.as_any()))
}

/// Whether the recorder with this number records what is called here.
pub(crate) fn is_recorded_by(serial: u32) -> bool {
    recorded(|recording| recording.serial == serial).unwrap_or(false)
}

/// Whether a coroutine that records its waits is polled or replayed here.
#[inline]
pub(crate) fn is_recording() -> bool {
    scope::with(|scope| match scope {
        Some(scope) => scope.is_recorded(),
        None => with_replay(|replay| replay.is_some()),
    })
}

/// The name of the coroutine that records what it does here.
pub(crate) fn name() -> Option<&'static str> {
    recorded(|recording| recording.recorder.name())
}

/// Panics if the coroutine that is polled or replayed here records what it does: `call` cannot be recorded.
#[inline]
#[track_caller]
pub fn refuse(call: &'static str) {
    if is_recording() {
        refuse_here(call, CalledOn::Framestep);
    }
}

/// The same of a call on a signal, a watch or a semaphore that no runtime knows.
#[inline]
#[track_caller]
pub(crate) fn refuse_source(call: &'static str) {
    if is_recording() {
        refuse_here(call, CalledOn::Source);
    }
}

/// A destructor may be called because of a panic: a second one would end the process, so the call is reported, and done.
#[cold]
#[inline(never)]
#[track_caller]
fn refuse_here(call: &'static str, on: CalledOn) {
    let at = Location::caller();
    match recorded(|recording| recording.recorder.refuse(call, at, on)).flatten() {
        None => {}
        Some(why) if std::thread::panicking() => report::suspicious(at, why),
        Some(why) => panic!("{why}"),
    }
}

/// A wait that a recorder can keep.
pub(crate) trait Recorded {
    fn registration_mut(&mut self) -> &mut Registration;

    /// Takes the new wait out.
    fn take(&mut self) -> DurableWait;

    /// Drops the new wait, whose end a journal has.
    #[inline]
    fn drop_new(&mut self) {
        drop(self.take());
    }
}

/// One that can begin without a call of the recorder.
pub(crate) trait BeginsSimply: Recorded + Into<DurableWait> {
    /// Takes the new wait out, as what it is.
    fn take_new(&mut self) -> Self;

    /// Whether the new wait can [begin](Self::begin_simply) in `scope`, in a coroutine that nobody observes.
    fn begins_simply(&self, scope: &Scope<'_>) -> bool;

    /// Begins the wait. Calls no user code, and does not panic.
    fn begin_simply(&mut self, scope: &Scope<'_>, cx: &Context<'_>);
}

/// Polls a wait that is recorded, or begins it. `None` if nothing is recorded here.
#[inline(never)]
pub(crate) fn poll<W: BeginsSimply>(
    wait: &mut W,
    scope: Option<&Scope<'_>>,
    cx: &Context<'_>,
    name: &'static str,
    line: Line,
) -> Option<Poll<()>> {
    let simply = match scope {
        Some(scope) => poll_simply(wait, scope, cx, name, line),
        None => poll_replayed(wait, name, line),
    };
    simply.or_else(|| poll_plain(wait, cx, name, line))
}

/// The same of a wait that does not begin simply.
pub(crate) fn poll_other<W: Recorded>(
    wait: &mut W,
    cx: &Context<'_>,
    name: &'static str,
    line: Line,
) -> Option<Poll<()>> {
    poll_replayed(wait, name, line).or_else(|| poll_plain(wait, cx, name, line))
}

/// Polls it in a replay in the usual case: the journal says at once whether it is over. `None` if this is another case.
#[inline(always)]
fn poll_replayed<W: Recorded>(wait: &mut W, name: &'static str, line: Line) -> Option<Poll<()>> {
    with_replay(|replay| {
        let Recording {
            recorder, serial, ..
        } = replay?.recording;
        let registration = wait.registration_mut();
        let is_over = if registration.is_new() {
            let (ticket, is_over) = recorder.begin_replayed(registration.name_of(name), line)?;
            wait.drop_new();
            wait.registration_mut().become_shell(serial, ticket);
            is_over
        } else {
            recorder.end_replayed(registration.ticket_in(serial)?)?
        };
        if !is_over {
            return Some(Poll::Pending);
        }
        wait.registration_mut().end();
        Some(Poll::Ready(()))
    })
}

/// Polls it in the usual cases, in which no user code is called: it begins in a run, or resumes the coroutine. `None` if
/// this is another case.
#[inline(always)]
fn poll_simply<W: BeginsSimply>(
    wait: &mut W,
    scope: &Scope<'_>,
    cx: &Context<'_>,
    name: &'static str,
    line: Line,
) -> Option<Poll<()>> {
    if wait.registration_mut().is_shell() {
        let is_over = scope.takes_recorded(wait.registration_mut());
        return is_over.then_some(Poll::Ready(()));
    }
    let poll = |recording: &Recording<'_>| {
        let recorder = recording.recorder;
        let registration = wait.registration_mut();
        let is_usual = recording.is_live
            && registration.is_new()
            && !scope.core().instruments.is_on()
            && wait.begins_simply(scope);
        if !is_usual {
            return None;
        }
        let mut begun = wait.take_new();
        let own = scope.own_task(cx);
        scope.free.set(own.filter(|own| !own.is_registered()));
        begun.begin_simply(scope, cx);
        scope.free.set(None);
        let registration = wait.registration_mut();
        let ticket = recorder.keep(registration.name_of(name), line, begun.into());
        registration.become_shell(recording.serial, ticket);
        Some(Poll::Pending)
    };
    scope.with_recording(poll).flatten()
}

/// Polls a wait that gives nothing and asks nothing.
#[cold]
#[inline(never)]
fn poll_plain<W: Recorded>(
    wait: &mut W,
    cx: &Context<'_>,
    name: &'static str,
    line: Line,
) -> Option<Poll<()>> {
    let polled = poll_slowly(wait, cx, name, line, Gives::Nothing, &mut |_| true);
    polled.map(|polled| polled.map(drop))
}

/// Polls a wait in any case. `None` if nothing is recorded here.
#[cold]
#[inline(never)]
pub(crate) fn poll_slowly<W: Recorded>(
    wait: &mut W,
    cx: &Context<'_>,
    name: &'static str,
    line: Line,
    gives: Gives,
    asks: Asks<'_>,
) -> Option<Poll<Given>> {
    recorded(|recording| {
        let name = wait.registration_mut().name_of(name);
        if !wait.registration_mut().is_new() {
            let registration = wait.registration_mut();
            return poll_begun(registration, recording, cx, name, line, gives, asks);
        }
        let new = wait.take();
        let registration = wait.registration_mut();
        // If the recorder panics, the wait is over.
        registration.end();
        match recording.recorder.begin(name, line, cx, new, gives, asks) {
            Begun::Pending(ticket) => {
                registration.become_shell(recording.serial, ticket);
                Poll::Pending
            }
            Begun::Over(given) => Poll::Ready(given),
        }
    })
}

fn poll_begun(
    registration: &mut Registration,
    recording: &Recording<'_>,
    cx: &Context<'_>,
    name: &'static str,
    line: Line,
    gives: Gives,
    asks: Asks<'_>,
) -> Poll<Given> {
    if registration.is_done() {
        polled_again(name);
    }
    let Some(ticket) = registration.ticket_in(recording.serial) else {
        another_script(name, line)
    };
    // If the recorder panics, the wait is over.
    registration.end();
    let polled = recording.recorder.poll(ticket, name, line, cx, gives, asks);
    if polled.is_pending() {
        registration.become_shell(recording.serial, ticket);
    }
    polled
}

/// Calls `f`, which records nothing by itself.
pub fn unrecorded<R>(f: impl FnOnce() -> R) -> R {
    scope::with(|scope| {
        let _plain = scope.map(|scope| Restore::after_setting(&scope.recording, ptr::null()));
        f()
    })
}

/// Calls `poll`, which polls a wait that a recorder keeps: it is a plain one. What it gets calls `asks` as a part of the
/// recorded coroutine.
#[inline]
pub(crate) fn poll_unrecorded<R>(asks: Asks<'_>, poll: impl FnOnce(Asks<'_>) -> R) -> R {
    scope::with(|scope| match scope.filter(|scope| scope.is_recorded()) {
        Some(scope) => {
            let recording = scope.recording.get();
            let _plain = Restore::after_setting(&scope.recording, ptr::null());
            poll(&mut |progress| {
                let _again = Restore::after_setting(&scope.recording, recording);
                asks(progress)
            })
        }
        None => poll(asks),
    })
}

/// Polls a wait for a run of a phase where it may be recorded.
#[inline(never)]
pub(crate) fn poll_run(
    wait: &mut PhaseWait,
    scope: Option<&Scope<'_>>,
    cx: &Context<'_>,
    name: &'static str,
    line: Line,
) -> Result<Poll<()>, Misuse> {
    let polled = poll(wait, scope, cx, name, line);
    polled.ok_or_else(|| Misuse::outside(wait.registration()))
}

/// Drops what a shell stands for. The script that has it does so: a shell that has left its script leaves its wait
/// there, as a replay does.
#[cold]
#[inline(never)]
pub(crate) fn forget(serial: u32, ticket: u64) {
    recorded(|recording| {
        if recording.serial == serial {
            recording.recorder.forget(ticket);
        }
    });
}

/// A wait that a recorder has by itself. It is dropped with this.
#[derive(Debug)]
pub(crate) struct Ticket {
    serial: u32,
    number: u64,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        forget(self.serial, self.number);
    }
}

/// Polls the wait for a request to stop, which has no ticket at first. `None` if nothing is recorded here.
pub(crate) fn poll_stop(
    ticket: &mut Option<Ticket>,
    call: &'static str,
    at: Line,
) -> Option<Poll<()>> {
    recorded(|recording| {
        let serial = recording.serial;
        if ticket
            .as_ref()
            .is_some_and(|ticket| ticket.serial != serial)
        {
            another_script(call, at);
        }
        let known = ticket.as_ref().map(|ticket| ticket.number);
        match recording.recorder.poll_stop(known, call, at) {
            Begun::Pending(number) => {
                // A ticket that is dropped forgets its wait, so no second one is made.
                if ticket.is_none() {
                    *ticket = Some(Ticket { serial, number });
                }
                Poll::Pending
            }
            Begun::Over(_) => {
                *ticket = None;
                Poll::Ready(())
            }
        }
    })
}

/// Whether the coroutine that records what it does has been requested to stop. `None` if nothing is recorded here.
pub(crate) fn is_stop_requested(call: &'static str, at: Line) -> Option<bool> {
    recorded(|recording| recording.recorder.is_stop_requested(call, at))
}

/// Calls `f`, for a guard that is dropped: as a part of the coroutine, if one records here, and not if that does nothing
/// now. `is_of_recorded` says that such a one has made the guard: its replay makes it anew, so elsewhere it is not called.
#[inline]
pub(crate) fn deferred(is_of_recorded: bool, f: impl FnOnce()) {
    if is_recording() {
        let mut f = Some(f);
        let mut f = || {
            if let Some(f) = f.take() {
                f();
            }
        };
        recorded(|recording| recording.recorder.deferred(&mut f));
    } else if !is_of_recorded {
        f();
    }
}

/// When the tick of a wait that is recorded here is due, in the own time of the coroutine, if that is known.
pub(crate) fn tick_due(registration: &Registration) -> Option<i128> {
    let due = |recording: &Recording<'_>| {
        let ticket = registration.ticket_in(recording.serial)?;
        recording.recorder.tick_due(ticket)
    };
    recorded(due).flatten()
}
