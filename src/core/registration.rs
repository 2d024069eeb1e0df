//! How a wait asks to be resumed, and takes that back.
//!
//! The first wait that a coroutine polls with its own waker registers with the
//! task itself: one store, and the run loop does the rest when the poll has
//! returned. Every other wait (the second branch of a `join!`, one polled
//! through `FuturesUnordered`) gets a record. Either way a ticket stands in a
//! queue, a wheel or a list of joiners, and goes stale when the wait is
//! dropped.

#![forbid(unsafe_code)]

use std::task::{Context, Waker};

use crate::clock::ClockRef;
use crate::context::{self, Level, LevelRef};
use crate::key::TaskKey;
use crate::pending::Pending;
use crate::phase::PhaseIndex;
use crate::records::Kind;
use crate::since::Since;
use crate::task::{Flags, Primary, TaskRef, TaskTable};
use crate::ticket::Ticket;
use crate::timers::ClockIndex;

use super::Core;
use super::phases::frame_deadline;

/// What every wait holds: whether it has begun, is registered, or is over; and
/// when it began, in which phase it resumes, and whose it is.
#[derive(Debug)]
pub(crate) struct Registration {
    ticket: Ticket,
    since: Since,
}

/// Where a wait's ticket stands; each kind of wait knows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// The queue of its phase.
    Queue,
    /// The wheel that counts frames for its phase.
    Frames,
    /// The wheel of a clock for its phase.
    Timer(ClockIndex),
    /// The list of those who wait for the end of a coroutine.
    Joiners,
}

impl Registration {
    /// Of a wait that resumes in `phase`; if `frame_bound`, in a later frame
    /// than the one in which it begins.
    #[inline]
    pub(crate) const fn new(phase: PhaseIndex, frame_bound: bool) -> Self {
        Registration {
            ticket: Ticket::NEW,
            since: Since::never(phase, frame_bound),
        }
    }

    #[inline]
    pub(crate) fn phase(&self) -> PhaseIndex {
        self.since.phase()
    }

    /// Changes the phase of a wait that has not begun.
    #[inline]
    pub(crate) fn set_phase(&mut self, phase: PhaseIndex) {
        let frame_bound = self.since.primary().is_frame_bound();
        self.since = Since::never(phase, frame_bound);
    }

    /// Whether the wait has not been polled yet.
    #[inline]
    pub(crate) fn is_new(&self) -> bool {
        self.ticket == Ticket::NEW
    }

    /// Whether the wait has been ready.
    pub(crate) fn is_done(&self) -> bool {
        self.ticket == Ticket::DONE
    }

    /// Where the wait stands, if it stands anywhere.
    pub(crate) fn ticket(&self) -> Option<Ticket> {
        self.ticket.is_registered().then_some(self.ticket)
    }

    /// When the wait began: the frame, for those that note a frame.
    #[inline]
    pub(crate) fn since(&self) -> Since {
        self.since
    }

    /// Begins a wait that notes the frame in which it was first polled.
    #[inline]
    pub(crate) fn begin(&mut self, level: &Level) {
        self.note_frame(level);
        self.ticket = Ticket::NONE;
    }

    /// The part of `begin` that `wait_with_task` follows at once.
    #[inline]
    pub(crate) fn note_frame(&mut self, level: &Level) {
        self.since = self.since.begin(level.mark);
    }

    /// Begins a wait that notes how many runs of its phase have begun.
    #[inline]
    pub(crate) fn begin_at_run(&mut self, level: &Level) {
        let core = level.core();
        let runs = core.runs_begun(self.phase());
        self.ticket = Ticket::NONE;
        self.since = self.since.begin(Since::mark(runs, core.id));
    }

    /// Whether this is the registration by which `level` resumes its coroutine:
    /// then the wait is over, and nothing is left of it to take back.
    #[inline(always)]
    pub(crate) fn take_resumed(&mut self, level: &Level) -> bool {
        let resumed = self.ticket == level.resumed();
        if resumed {
            self.ticket = Ticket::DONE;
        }
        resumed
    }

    /// Whether the wait, for a phase, was in a record that has been fired: then it
    /// is over as well. A record goes in no other way while its wait is there.
    // Out of line: few waits ask, but in a `join_all` each does. It calls nothing.
    #[inline(never)]
    pub(crate) fn take_fired(&mut self, level: LevelRef) -> bool {
        let ticket = self.ticket;
        let fired = ticket.is_record()
            && !level.is_outside()
            && self.since.is_of(level.core().id)
            && level.core().records.borrow().is_gone(ticket);
        if fired {
            self.ticket = Ticket::DONE;
        }
        fired
    }

    /// The wait is over, for whatever reason it was polled.
    #[inline]
    pub(crate) fn finish(&mut self, place: Place) {
        if !self.take_resumed(&context::innermost()) {
            if self.ticket.is_registered() {
                self.finish_registered(place);
            }
            self.ticket = Ticket::DONE;
        }
    }

    #[cold]
    #[inline(never)]
    fn finish_registered(&mut self, place: Place) {
        match context::level() {
            Some(level) => self.finish_in(&level, place),
            None => self.cancel(place),
        }
    }

    /// The same, where the level is known.
    #[inline(always)]
    pub(crate) fn finish_in(&mut self, level: &Level, place: Place) {
        if self.take_resumed(level) {
            return;
        }
        // As a rule it was fired, and nothing is left of it.
        let core = level.core();
        if !self.since.is_of(core.id) || core.is_live(self.ticket) {
            self.cancel(place);
        }
        self.ticket = Ticket::DONE;
    }

    /// The registration has served, but the wait goes on.
    pub(crate) fn let_go(&mut self, level: &Level, place: Place) {
        if !self.take_resumed(level) {
            self.cancel(place);
        }
        self.ticket = Ticket::NONE;
    }

    /// Waits for a run of the phase that has begun to be waited for, if it can
    /// register with the coroutine itself. `false`: it is for `wait_for_phase`
    /// to do.
    #[inline(always)]
    pub(crate) fn wait_with_task(&mut self, level: &Level, cx: &Context<'_>) -> bool {
        let task = level.free_task(cx);
        // One store, so that what is not begun passes through no state between.
        self.ticket = task.map_or(Ticket::NONE, |task| {
            level.pending.set(Pending::phase(self.since));
            task.ticket()
        });
        task.is_some()
    }

    /// The same, if it cannot.
    #[inline(always)]
    pub(crate) fn wait_with_record(&mut self, level: &Level, cx: &Context<'_>, kind: Kind) {
        if self.make_record(level, cx, kind) {
            self.queue_record(level.core());
        }
    }

    /// Waits, or goes on waiting, for a run of the phase.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait_for_phase(&mut self, level: &Level, cx: &Context<'_>) {
        if self.renew(level, cx, Place::Queue) {
            return;
        }
        let primary = self.since.primary();
        // In a later frame than its first, the next run will do.
        let frame_bound = primary.is_frame_bound() && !self.began_before_this_frame(level);
        if let Some(task) = level.free_task(cx) {
            let phase = primary.phase();
            level
                .pending
                .set(Pending::phase(Since::never(phase, frame_bound)));
            self.ticket = task.ticket();
        } else if self.make_record(level, cx, Kind::queued(frame_bound)) {
            self.queue_record(level.core());
        }
    }

    /// Gives the record its place in the queue of its phase.
    #[inline(always)]
    fn queue_record(&self, core: &Core) {
        let state = core.phases.get(self.phase());
        state.queue.borrow_mut().push_record(self.ticket.index());
    }

    /// Lets those who inspect the coroutine know that it waits for a condition.
    pub(crate) fn note_condition(&self, level: &Level) {
        if self.ticket.is_record() {
            let mut records = level.core().records.borrow_mut();
            if let Some(record) = records.get_mut(self.ticket) {
                record.set_asks(true);
            }
        } else if let Some(task) = level.current.get() {
            if task.ticket() == self.ticket {
                task.note_condition();
            }
        }
    }

    /// Takes `note_condition` back, of a wait that is about to be dropped.
    #[cold]
    pub(crate) fn forget_condition(&self) {
        if self.ticket.is_registered() && !self.ticket.is_record() {
            context::with_executor(self.since, |core| {
                if let Some(task) = core.tasks.borrow().current(self.ticket) {
                    task.forget_condition();
                }
            });
        }
    }

    fn began_before_this_frame(&self, level: &Level) -> bool {
        self.since.is_before(level.core().clock.frame())
    }

    /// Waits for the first run of the phase in frame `due_frame` or later.
    pub(crate) fn wait_for_frame(&mut self, level: &Level, cx: &Context<'_>, due_frame: u64) {
        let Some(deadline) = frame_deadline(due_frame) else {
            return;
        };
        let kind = Kind::QueuedForLater;
        if !self.renew(level, cx, Place::Frames) && self.make_record(level, cx, kind) {
            let core = level.core();
            let state = core.phases.get(self.phase());
            let ticket = self.ticket;
            core.records.borrow_mut().count_frames(ticket, due_frame);
            state.frames.borrow_mut().insert(deadline, ticket.bits());
            // Holds its place among those who begin to wait before and after.
            self.queue_record(level.core());
        }
    }

    /// Begins to wait for `length_ns` to pass on the game clock, if the timer can
    /// go straight to its wheel, as nearly all do: registered with the coroutine
    /// itself, which has never been paused, in a phase in which others wait for
    /// time. `note` gets the deadline. `false`: nothing has happened.
    #[inline(always)]
    pub(crate) fn begin_on_game_clock(
        &mut self,
        level: &Level,
        cx: &Context<'_>,
        length_ns: u64,
        note: impl FnOnce(u64),
    ) -> bool {
        // Whatever is not as usual is found before anything is written, and the
        // insertion comes last: nothing has to be kept across a call.
        let Some(task) = level.free_task(cx) else {
            return false;
        };
        let core = level.core();
        if core.clock.has_view() || core.has_pauses() {
            return false;
        }
        let now_ns = core.now_ns(ClockRef::Game);
        let (deadline_ns, too_far) = now_ns.overflowing_add(length_ns);
        if too_far || deadline_ns <= core.reached_ns(ClockRef::Game) {
            return false;
        }
        let Some(state) = core.phases.named(self.phase()) else {
            return false;
        };
        let mut timers = state.timers.borrow_mut();
        let Some(wheel) = timers.game_wheel() else {
            return false;
        };
        self.note_frame(level);
        self.ticket = Self::register_elsewhere(level, task);
        note(deadline_ns);
        wheel.insert(deadline_ns, self.ticket.bits());
        true
    }

    /// Notes that something is registered with the task that stands elsewhere than
    /// in a queue: the ticket.
    #[inline(always)]
    fn register_elsewhere(level: &Level, task: TaskRef) -> Ticket {
        task.primary.set(Primary::ELSEWHERE);
        level.pending.set(Pending::ELSEWHERE);
        task.ticket()
    }

    /// Waits for a run of the phase at or past `deadline_ns`.
    #[inline(always)]
    pub(crate) fn wait_for_time(
        &mut self,
        level: &Level,
        cx: &Context<'_>,
        clock: ClockRef<'_>,
        deadline_ns: u64,
    ) {
        if self.register(level, cx, Place::Timer(clock.index())) {
            let core = level.core();
            let ticket = self.ticket;
            {
                let mut timers = core.phases.get(self.phase()).timers.borrow_mut();
                if deadline_ns <= core.reached_ns(clock) && !self.began_before_this_frame(level) {
                    timers.insert_overdue(clock, deadline_ns, ticket, core.clock.frame());
                } else {
                    timers.insert(clock, deadline_ns, ticket);
                }
            }
            if core.has_pauses() {
                core.note_timer(level, self.phase(), clock, ticket);
            }
        }
    }

    /// Waits for the end of `target`, a task of `core`.
    pub(crate) fn wait_for_end(&mut self, core: &Core, cx: &Context<'_>, target: TaskRef) {
        // Whoever is polled by nobody, or by another executor, is told through
        // its waker alone.
        let level = context::level().filter(|level| level.core().id == core.id);
        let Some(level) = level else {
            self.cancel(Place::Joiners);
            let waker = Some(cx.waker().clone());
            self.ticket = {
                let mut records = core.records.borrow_mut();
                records.insert(TaskKey::NOBODY, Kind::Elsewhere, waker)
            };
            self.since = self.since.begin(Since::mark(0, core.id));
            core.add_joiner(target, self.ticket);
            return;
        };
        assert!(
            level.own_task(cx) != Some(target),
            "coroutine {} awaits its own end, which would never come: \
             return from it, or call `stop(current())`",
            core.id_of(target)
        );
        if self.is_new() {
            self.begin(&level);
        }
        if self.register(&level, cx, Place::Joiners) {
            core.add_joiner(target, self.ticket);
        }
    }

    /// Registers with the task itself or with a record. `true`: the caller puts
    /// the ticket where it belongs. `false`: it stands there already, or there
    /// is no use, since the coroutine is being stopped.
    #[inline]
    fn register(&mut self, level: &Level, cx: &Context<'_>, place: Place) -> bool {
        if self.renew(level, cx, place) {
            return false;
        }
        if let Some(task) = level.free_task(cx) {
            self.ticket = Self::register_elsewhere(level, task);
            true
        } else {
            self.make_record_elsewhere(level, cx)
        }
    }

    #[cold]
    #[inline(never)]
    fn make_record_elsewhere(&mut self, level: &Level, cx: &Context<'_>) -> bool {
        self.make_record(level, cx, Kind::Elsewhere)
    }

    #[inline(always)]
    fn make_record(&mut self, level: &Level, cx: &Context<'_>, kind: Kind) -> bool {
        // First, since it calls: then nothing else has to be kept.
        let waker = foreign_waker(level, cx);
        let core = level.core();
        let key = match level.current.get() {
            // It is being polled, and nothing is registered with it.
            Some(task) if level.pending.get() == level.free() => {
                task.set(Flags::RECORDS);
                task.key()
            }
            current => match core.prepare_record(level, current) {
                Some(key) => key,
                None => return false,
            },
        };
        self.ticket = core.records.borrow_mut().insert(key, kind, waker);
        true
    }

    /// Looks after a wait that is polled again before it is due: whoever polls
    /// it now is to be resumed. `false`: it is not registered (any more).
    ///
    /// # Panics
    ///
    /// If the wait began in another executor, whose frames are not the same.
    #[inline]
    fn renew(&mut self, level: &Level, cx: &Context<'_>, place: Place) -> bool {
        self.ticket.is_registered() && self.renew_registered(level, cx, place)
    }

    #[inline(never)]
    fn renew_registered(&mut self, level: &Level, cx: &Context<'_>, place: Place) -> bool {
        let core = level.core();
        assert!(
            self.since.is_of(core.id),
            "a wait that had begun in one executor was polled in another: \
             make a new one in the coroutine that awaits it"
        );
        if self.ticket.is_record() {
            return self.renew_record(level, cx);
        }
        if !core.tasks.borrow().is_current(self.ticket) {
            return false;
        }
        let own = level.own_task(cx);
        if own.is_some_and(|task| task.ticket().index() == self.ticket.index()) {
            return true;
        }
        // It changed hands: with another waker, or another coroutine.
        self.cancel(place);
        false
    }

    fn renew_record(&mut self, level: &Level, cx: &Context<'_>) -> bool {
        let core = level.core();
        let waker = foreign_waker(level, cx);
        let task = level.current.get().filter(|task| task.is_alive());
        let previous = {
            let mut records = core.records.borrow_mut();
            let Some(record) = records.get_mut(self.ticket) else {
                return false;
            };
            record.renew(task.map_or(TaskKey::NOBODY, |task| task.key()), waker)
        };
        drop(previous);
        if let Some(task) = task {
            task.set(Flags::RECORDS);
        }
        true
    }

    /// The wait is dropped, or ready without having been resumed: nothing is to
    /// be resumed by it.
    #[inline]
    pub(crate) fn cancel(&mut self, place: Place) {
        if self.ticket.is_registered() {
            let ticket = std::mem::replace(&mut self.ticket, Ticket::NONE);
            cancel(ticket, self.since, place);
        }
    }
}

// By value: what is handed out by reference has to stand in memory, also where it
// never comes to this.
#[cold]
#[inline(never)]
fn cancel(ticket: Ticket, since: Since, place: Place) {
    // Not the current level's executor: there may be none, in a destructor that
    // the host runs.
    context::with_executor(since, |core| {
        // What goes with the wait may drop the executor.
        let core = core.rc();
        core.cancel(ticket, since.phase(), place);
    });
}

/// The waker in `cx`, if it has to be called besides resuming the coroutine.
fn foreign_waker(level: &Level, cx: &Context<'_>) -> Option<Waker> {
    match level.own_task(cx) {
        Some(_) => None,
        None => Some(cx.waker().clone()),
    }
}

impl Core {
    /// Queues what the coroutine of a level has begun to wait for in the poll
    /// under way, if it is not queued yet.
    #[inline]
    pub(crate) fn commit(&self, level: &Level, task: TaskRef) {
        if let Some(primary) = level.pending.get().to_queue() {
            level.pending.set(Pending::ELSEWHERE);
            self.queue(task, primary);
        }
    }

    /// Makes the coroutine of a level ready for a record. Gives whom that makes
    /// due; `None`: it is being stopped.
    #[cold]
    #[inline(never)]
    fn prepare_record(&self, level: &Level, current: Option<TaskRef>) -> Option<TaskKey> {
        let Some(task) = current.filter(|task| task.is_alive()) else {
            return Some(TaskKey::NOBODY);
        };
        if task.primary.get() == Primary::STOPPING {
            return None;
        }
        self.commit(level, task);
        task.set(Flags::RECORDS);
        Some(task.key())
    }

    /// Puts a task into the queue of the phase that it waits for.
    #[inline]
    pub(super) fn queue(&self, task: TaskRef, primary: Primary) {
        task.primary.set(primary);
        let state = self.phases.get(primary.phase());
        state.queue.borrow_mut().push_task(task);
    }

    /// Makes the ticket stale, if it is not, wherever it stands.
    #[inline]
    fn cancel(&self, ticket: Ticket, phase: PhaseIndex, place: Place) {
        if ticket.is_record() {
            let removed = self.records.borrow_mut().remove(ticket);
            let Some(removed) = removed else {
                return;
            };
            if removed.in_queue {
                self.note_ghost(phase);
            }
            self.note_stale(phase, place);
            drop(removed.waker);
        } else {
            self.cancel_task(ticket, phase, place);
        }
    }

    #[inline(never)]
    fn cancel_task(&self, ticket: Ticket, phase: PhaseIndex, place: Place) {
        let current = self.tasks.borrow().current(ticket);
        let Some(task) = current else {
            return;
        };
        let mut primary = task.primary.replace(Primary::NONE);
        task.pass_ticket();
        if let Some(level) = context::level_of(task) {
            // Its next wait may register in its stead.
            if level.pending.replace(level.free()).is_apart() {
                primary = Primary::NONE;
            }
        }
        if primary.is_queued() {
            self.leave_ghost(task, primary.phase());
        } else if primary == Primary::ELSEWHERE {
            self.note_stale(phase, place);
        }
    }

    /// A ticket in a wheel went stale.
    #[inline]
    fn note_stale(&self, phase: PhaseIndex, place: Place) {
        match place {
            Place::Timer(clock) => self.note_stale_timer(phase, clock),
            Place::Frames => self.note_stale_count(phase),
            Place::Queue | Place::Joiners => {}
        }
    }

    fn note_stale_timer(&self, phase: PhaseIndex, clock: ClockIndex) {
        let mut timers = self.phases.get(phase).timers.borrow_mut();
        timers.note_stale(clock, |ticket| self.is_live(ticket));
    }

    fn note_stale_count(&self, phase: PhaseIndex) {
        let mut frames = self.phases.get(phase).frames.borrow_mut();
        frames.note_dead(|key| self.is_live(Ticket::from_bits(key)));
    }

    /// Puts a ticket into the list of those who wait for the end of a task.
    fn add_joiner(&self, target: TaskRef, ticket: Ticket) {
        let first = target.joiner.get();
        let mut tasks = self.tasks.borrow_mut();
        let alone = tasks
            .extra(target)
            .is_none_or(|extra| extra.joiners.is_empty());
        if alone && (first == Ticket::NONE || !self.is_live_among(&tasks, first)) {
            target.joiner.set(ticket);
            return;
        }
        let extra = tasks.extra_mut(target);
        extra.joiners.push(ticket);
        if extra.joiners.len() >= extra.sweep_joiners_at.max(8) {
            let mut joiners = std::mem::take(&mut extra.joiners);
            joiners.retain(|&ticket| self.is_live_among(&tasks, ticket));
            let extra = tasks.extra_mut(target);
            extra.sweep_joiners_at = joiners.len() * 2;
            extra.joiners = joiners;
        }
    }

    fn is_live_among(&self, tasks: &TaskTable, ticket: Ticket) -> bool {
        if ticket.is_record() {
            self.records.borrow().get(ticket).is_some()
        } else {
            tasks.is_current(ticket)
        }
    }
}
