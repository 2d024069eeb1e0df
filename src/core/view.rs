//! Looking at an executor: each coroutine that is alive, and each wait with where it stands.
//!
//! Snapshots and images are clients of a [`View`], and stand outside of the core. A client knows
//! no list, table or cell of it, only what a view says:
//!
//! 1. [`View::each_script`] visits the coroutines, and [`Script`] answers for one of them: its
//!    name, home, owner, whether it is paused or ready, and what is noted about it.
//! 2. [`View::each_wait`] visits all their waits, each once, and says of each where it
//!    [`Stands`]. A coroutine that is due without a wait, or is being polled, is visited, too: so
//!    one that has not been visited waits for a waker, or for nothing at all.
//! 3. [`View::each_phase`] visits the phases, and [`PhaseView`] the lists of one of them: cheaper,
//!    for a client that knows the keys, since some of these are stale.
//!
//! The tests of this module have a small client, and [`restore`](super::restore) puts back what a
//! view has shown.
//!
//! To look changes nothing, polls nothing and calls no user code. In its closure, a client calls
//! none either, since parts of the core are borrowed. It may ask the [`View`] and the
//! [`Script`], and may begin no other visit.
//!
//! What is visited follows the order in which a run serves it, as far as there is one: of waits
//! that would be due at once, the first comes first.

use std::borrow::Cow;
use std::cell::Cell;
use std::time::Duration;

use crate::core::Core;
use crate::core::base::key::{ByWait, TaskKey, WaitKey};
use crate::core::life::end::requests;
use crate::core::owners::OwnerKey;
use crate::core::pause::Pause;
use crate::core::pause::own::OwnClocks;
use crate::core::phase::ready;
use crate::core::phase::state::{Listed, PhaseState};
use crate::core::registration::waits::Registered;
use crate::core::scope::{self, Scope};
use crate::core::task::{Flags, NO_JOINER, Task};
use crate::core::timer::Unit;
use crate::core::wake::waker::TaskWaker;
use crate::inspect::{Instruments, Line, Observed, PendingStop, Source, WaitId};
use crate::task::coroutine::CoroutineId;
use crate::time::{ClockIndex, ClockRef, PhaseIndex, Time};

/// An executor, to look at.
#[derive(Clone, Copy)]
pub(crate) struct View<'c> {
    core: &'c Core,
}

/// A coroutine that is alive.
#[derive(Clone, Copy)]
pub(crate) struct Script<'c> {
    core: &'c Core,
    task: Task<'c>,
}

/// One phase of an executor.
#[derive(Clone, Copy)]
pub(crate) struct PhaseView<'p> {
    core: &'p Core,
    state: &'p PhaseState,
}

/// Where a wait stands, or why its coroutine is visited without one.
pub(crate) enum Stands<'a> {
    /// In the queue of a phase, for its next run or frame: [`View::registered`] tells which, and
    /// whether to check a condition.
    Queue { phase: PhaseIndex },
    /// Among the counts of a phase: so many frames or runs are left.
    Count {
        phase: PhaseIndex,
        unit: Unit,
        left: u64,
    },
    /// Among the timers of a phase.
    Timer(TimerAt),
    /// Among the joins of a coroutine.
    Join(CoroutineId),
    /// Among the waits for the end of an owner.
    OwnerEnd(OwnerKey),
    /// Nowhere: it waits for a wake, by this source if it has a name. Only waits that are
    /// noted are visited.
    Event(Option<&'a Source>),
    /// Registered, and in no list any more: it is due in the run under way.
    Due,
    /// Without a wait: the coroutine is ready for the next run of this phase, or in the
    /// one under way. If it is ready in several, the last one visited is the first of a frame.
    Ready(PhaseIndex),
    /// Without a wait: the executor has yet to hear that the coroutine was woken by another
    /// thread, or that its start is no longer deferred.
    Coming,
    /// Without a wait: the coroutine is being polled or dropped.
    Polled,
}

/// A timer in a phase.
pub(crate) struct TimerAt {
    pub(crate) phase: PhaseIndex,
    /// Its clock as the phase measures it: the fixed phase in stepped time.
    pub(crate) clock: ClockIndex,
    /// The reading of the clock at which it is due. While a pause holds it, its time stands
    /// still, and so this moves.
    pub(crate) deadline_ns: u64,
    /// How much of it is left.
    pub(crate) left_ns: u64,
}

impl<'c> View<'c> {
    #[inline]
    pub(crate) fn new(core: &'c Core) -> Self {
        View { core }
    }

    /// The executor that calls the code in a scope, and the coroutine that is being polled or
    /// dropped.
    #[inline]
    pub(crate) fn of(scope: &Scope<'c>) -> (Self, Option<Script<'c>>) {
        let view = View::new(scope.core());
        (view, scope.current().map(|task| view.script(task)))
    }

    /// Calls `f` with the executor of this number, if it exists and is on this thread.
    pub(crate) fn with<R>(executor: u32, f: impl FnOnce(View<'_>) -> R) -> Option<R> {
        scope::with_executor(executor, |core| f(View::new(core)))
    }

    /// The number of the executor, unique in the program.
    #[inline]
    pub(crate) fn executor(self) -> u32 {
        self.core.id
    }

    /// How many coroutines are alive.
    pub(crate) fn alive(self) -> usize {
        self.core.tasks.alive()
    }

    /// All [indices](Script::index) are below this.
    pub(crate) fn indices(self) -> usize {
        self.core.tasks.len() as usize
    }

    /// The game time, as the host reads it.
    pub(crate) fn game_time(self) -> Time {
        self.core.game_time()
    }

    /// The frame under way.
    pub(crate) fn frame(self) -> u64 {
        self.core.clock.frame()
    }

    /// How much time the game clock has measured.
    pub(crate) fn elapsed(self) -> Duration {
        Duration::from_nanos(self.core.clock.game_ns())
    }

    /// A clock as a phase measures it, and what it reads there.
    pub(crate) fn reading(self, phase: PhaseIndex, clock: ClockRef<'_>) -> (ClockIndex, u64) {
        let state = self.core.phases.get(phase);
        let reached_ns = state.reached_ns(&self.core.clock, clock);
        (state.measure(clock.index()), reached_ns)
    }

    /// The phase of the run under way.
    pub(crate) fn running(self) -> Option<PhaseIndex> {
        self.core.runs.phase()
    }

    /// Whether coroutines are observed: whether there are notes.
    pub(crate) fn is_observed(self) -> bool {
        self.core.instruments.is_on()
    }

    /// What the clients keep for the executor.
    #[inline]
    pub(crate) fn instruments(self) -> &'c Instruments {
        &self.core.instruments
    }

    /// The same source. It has a number among those of the executor from now on.
    pub(crate) fn numbered(self, source: &Source) -> Source {
        if source.is_unknown() {
            source.set_number(self.core.id, self.core.instruments.next_source());
        }
        source.clone()
    }

    /// Whether each wait notes its call chain.
    pub(crate) fn has_call_chains(self) -> bool {
        self.core.instruments.call_chains
    }

    /// The id of a coroutine, which may have ended.
    pub(crate) fn id(self, key: TaskKey) -> CoroutineId {
        CoroutineId::new(self.core.id, key)
    }

    /// The name of an owner, or else its number.
    pub(crate) fn owner_label(self, owner: OwnerKey) -> String {
        self.core.owners.borrow().label(owner)
    }

    /// The clock on which the plain waits of an owner's coroutines count.
    pub(crate) fn owner_clock(self, owner: OwnerKey) -> ClockIndex {
        let owners = self.core.owners.borrow();
        let clock = owners.clock(owner);
        clock.map_or(ClockIndex::GAME, |clock| clock.index())
    }

    /// The requests to stop whose time is not over.
    pub(crate) fn pending_stops(self) -> Vec<PendingStop> {
        requests::pending(self.core)
    }

    /// Visits each coroutine, by index.
    pub(crate) fn each_script(self, mut f: impl FnMut(Script<'c>)) {
        for index in 0..self.core.tasks.len() {
            let task = self.core.tasks.at(index);
            if task.is_alive() {
                f(self.script(task));
            }
        }
    }

    /// Visits each wait of a coroutine that is alive, with its id, and each coroutine that is due
    /// or polled without one, with no id.
    ///
    /// The order: [ready](Stands::Ready); the waits in the lists of the phases, for the ends of
    /// owners and of coroutines, for events; those that are [due](Stands::Due); the coroutines
    /// that are [coming](Stands::Coming) and those that are [polled](Stands::Polled).
    pub(crate) fn each_wait(self, mut f: impl FnMut(Script<'c>, Option<WaitId>, Stands<'_>)) {
        self.each_ready(|script, phase| f(script, None, Stands::Ready(phase)));
        // The waits that have been found in a list.
        let mut found = ByWait::new(false, self.indices());
        let mut visit = |task: Option<Task<'c>>, key: WaitKey, stands: Stands<'_>| {
            if let Some(task) = task.filter(|task| task.is_alive()) {
                found.set(key, true);
                f(self.script(task), Some(WaitId::Registered(key)), stands);
            }
        };
        let waits = self.core.waits();
        self.each_phase(|phase| {
            phase.each_wait(|key, listed| {
                if let Some(task) = waits.task(key) {
                    visit(Some(task), key, phase.stands(key, listed));
                }
            });
        });
        self.each_owner_end(|owner, key| {
            visit(waits.task(key), key, Stands::OwnerEnd(owner));
        });
        self.each_script(|joined| {
            joined.each_join(|key| visit(waits.task(key), key, Stands::Join(joined.id())));
        });
        self.core.instruments.event_waits.each(|key, id, source| {
            if let Some(task) = self.core.tasks.get(key).filter(|task| task.is_alive()) {
                f(self.script(task), Some(id), Stands::Event(source));
            }
        });
        self.each_due(&found, |script, key| {
            f(script, Some(WaitId::Registered(key)), Stands::Due);
        });
        self.each_coming(|script| f(script, None, Stands::Coming));
        scope::each_current::<()>(self.core, |task| {
            // A scope lends its task for the call only.
            let task = self.core.tasks.get(task.task_key());
            if let Some(task) = task.filter(|task| task.is_alive()) {
                f(self.script(task), None, Stands::Polled);
            }
            None
        });
    }

    /// Visits each phase: the named ones, then the custom ones that have been used.
    pub(crate) fn each_phase(self, mut f: impl FnMut(PhaseView<'_>)) {
        let core = self.core;
        core.phases.each(|_, state| f(PhaseView { core, state }));
    }

    /// Visits each wait for the end of an owner. Its key may be stale.
    pub(crate) fn each_owner_end(self, f: impl FnMut(OwnerKey, WaitKey)) {
        self.core.owners.borrow().each_end(f);
    }

    /// Visits each coroutine whose start is deferred. It may have ended.
    pub(crate) fn each_deferred_start(self, f: impl FnMut(TaskKey)) {
        self.core.starts.deferred.iter().for_each(f);
    }

    /// Visits each wait with an entry, and the coroutine that has polled it, except for waits
    /// that no run ends.
    pub(crate) fn each_entry(self, f: impl FnMut(WaitKey, TaskKey)) {
        self.core.entries.borrow().each(f);
    }

    /// The coroutine of a key, unless it has been replaced by another one. It may have ended.
    #[inline]
    pub(crate) fn get(self, key: TaskKey) -> Option<Script<'c>> {
        self.core.tasks.get(key).map(|task| self.script(task))
    }

    /// Whether starts, ends or joins are left for the next run, or for the end of a call.
    pub(crate) fn has_work_left(self) -> bool {
        self.core.starts.are_held() && self.core.starts.has_any()
            || self.core.runs.completions.has_any()
            || self.core.ends.has_deferred()
    }

    /// Whether a wait has another waker than that of its coroutine.
    pub(crate) fn has_foreign_wakers(self) -> bool {
        self.core.entries.borrow().has_foreign()
    }

    /// The first coroutine that has polled a wait with another waker than its own.
    pub(crate) fn first_foreign(self) -> Option<Script<'c>> {
        let key = self.core.entries.borrow().first_foreign();
        self.get(key?)
    }

    /// How a wait is registered. `None` if its key is stale.
    pub(crate) fn registered(self, key: WaitKey) -> Option<Registered> {
        self.core.waits().registered(key)
    }

    #[inline]
    fn script(self, task: Task<'c>) -> Script<'c> {
        Script::new(self.core, task)
    }

    /// Visits the coroutines in the lists of ready ones, the last phase first.
    fn each_ready(self, mut f: impl FnMut(Script<'c>, PhaseIndex)) {
        let mut ready = Vec::new();
        self.core.phases.each(|phase, state| {
            let keys = state.ready.keys.iter();
            let tasks = keys.filter_map(|key| ready::task(self.core, key));
            // One that is being dropped may still be in the list.
            let alive = tasks.filter(|task| task.is_alive());
            ready.extend(alive.map(|task| (task, phase)));
        });
        for (task, phase) in ready.into_iter().rev() {
            f(self.script(task), phase);
        }
    }

    /// Visits the registered waits that are in no list.
    fn each_due(self, found: &ByWait<bool>, mut f: impl FnMut(Script<'c>, WaitKey)) {
        self.each_entry(|key, task| {
            let task = self.core.tasks.get(task);
            if let Some(task) = task.filter(|task| task.is_alive() && !found.get(key)) {
                f(self.script(task), key);
            }
        });
        self.each_script(|script| {
            if let Some(key) = script.own_wait().filter(|&key| !found.get(key)) {
                f(script, key);
            }
        });
    }

    /// Visits the coroutines whose start is deferred, and those that another thread has woken.
    fn each_coming(self, mut f: impl FnMut(Script<'c>)) {
        let mut visit = |key| {
            let task = self.core.tasks.get(key);
            if let Some(task) = task.filter(|task| task.is_alive()) {
                f(self.script(task));
            }
        };
        self.each_deferred_start(&mut visit);
        self.core.host.injected.each_woken(visit);
    }
}

impl<'p> PhaseView<'p> {
    pub(crate) fn index(self) -> PhaseIndex {
        self.state.index
    }

    /// Its counters and readings.
    pub(crate) fn numbers(self) -> [u64; 5] {
        self.state.numbers().map(Cell::get)
    }

    /// Visits each wait in its lists. The key may be stale.
    #[inline]
    pub(crate) fn each_wait(self, f: impl FnMut(WaitKey, Listed<'_>)) {
        self.state.each_wait(&self.core.timers, f);
    }

    /// The coroutines that are ready for its next run.
    #[inline]
    pub(crate) fn ready(self) -> impl Iterator<Item = TaskKey> + 'p {
        let keys = self.state.ready.keys.iter();
        keys.filter_map(move |key| Some(ready::task(self.core, key)?.task_key()))
    }

    /// If a pause holds a timer: what its clock read when the pause began.
    #[inline]
    pub(crate) fn held_since_ns(self, key: WaitKey) -> Option<u64> {
        self.core.timers().since_ns(key)
    }

    fn stands<'a>(self, key: WaitKey, listed: Listed<'_>) -> Stands<'a> {
        let (state, phase) = (self.state, self.state.index);
        match listed {
            Listed::Queue { .. } => Stands::Queue { phase },
            Listed::Count(unit, due) => {
                let reached = match unit {
                    Unit::Frames => state.frame(),
                    Unit::Runs => state.runs.get(),
                };
                let left = due.saturating_sub(reached);
                Stands::Count { phase, unit, left }
            }
            Listed::Timer(clock, due_ns, _) => {
                let now_ns = state.reached_ns(&self.core.clock, clock);
                let since_ns = self.held_since_ns(key).unwrap_or(now_ns);
                Stands::Timer(TimerAt {
                    phase,
                    clock: state.measure(clock.index()),
                    deadline_ns: due_ns.saturating_add(now_ns.saturating_sub(since_ns)),
                    left_ns: due_ns.saturating_sub(since_ns),
                })
            }
        }
    }
}

impl<'c> Script<'c> {
    #[inline]
    pub(in crate::core) fn new(core: &'c Core, task: Task<'c>) -> Self {
        Script { core, task }
    }

    #[inline]
    pub(crate) fn key(self) -> TaskKey {
        self.task.task_key()
    }

    /// A number that no other coroutine has at this moment, for tables.
    pub(crate) fn index(self) -> usize {
        self.task.index() as usize
    }

    pub(crate) fn id(self) -> CoroutineId {
        self.core.id_of(self.task)
    }

    /// The given name, or else the name of its future's type.
    pub(crate) fn name(self) -> Cow<'static, str> {
        self.core.name_of(self.task)
    }

    pub(crate) fn home(self) -> PhaseIndex {
        self.task.home()
    }

    /// Whether the host has run the home phase.
    pub(crate) fn home_has_run(self) -> bool {
        self.core.phases.get(self.task.home()).runs.get() > 0
    }

    /// The phase in which it resumes if it is woken: home, unless its pause remembers a wake
    /// for another one.
    pub(crate) fn resumes_in(self) -> PhaseIndex {
        let wake = self.core.colds.pause_of(self.task, |pause| pause.wake);
        let wake = wake.flatten().filter(|_| self.is_paused());
        wake.map_or(self.task.home(), |wake| wake.phase)
    }

    pub(crate) fn owner(self) -> Option<OwnerKey> {
        self.core.owners.of(self.task)
    }

    /// Whether it is paused, itself or through an owner.
    pub(crate) fn is_paused(self) -> bool {
        self.task.has(Flags::PAUSED)
    }

    /// Whether it is to be polled in a run, in whichever list it is.
    pub(crate) fn is_ready(self) -> bool {
        self.task.has(Flags::READY)
    }

    /// Whether it has a waker that may leave its polls.
    pub(crate) fn has_given_waker(self) -> bool {
        self.task.has(Flags::TASK_WAKER)
    }

    /// Whether somebody has a waker of it.
    pub(crate) fn is_waker_held(self) -> bool {
        let colds = &self.core.colds;
        self.has_given_waker()
            && colds.of(self.task, |cold| {
                cold.waker.as_ref().is_some_and(TaskWaker::is_held)
            }) == Some(true)
    }

    /// Whether it is observed: whether clients hear of it.
    #[inline]
    pub(crate) fn is_observed(self) -> bool {
        self.task.has(Flags::OBSERVED)
    }

    /// Reads or changes the notes about it, if it is observed. They are the clients'.
    pub(crate) fn notes<R>(self, f: impl FnOnce(&mut Observed) -> R) -> Option<R> {
        let colds = &self.core.colds;
        let read = colds.of(self.task, |cold| cold.observed.as_deref_mut().map(f));
        read.flatten()
    }

    /// The line of one of its waits, if it was noted.
    pub(crate) fn line_of(self, id: WaitId) -> Option<Line> {
        self.notes(|notes| notes.line_of(id)).flatten()
    }

    /// Whether a wait is under way, and waits for it.
    pub(crate) fn has_wait(self, key: WaitKey) -> bool {
        self.core.waits().is_of(key, Some(self.task))
    }

    pub(crate) fn is_alive(self) -> bool {
        self.task.is_alive()
    }

    /// The key of the wait that is registered with the coroutine itself, if one is.
    #[inline]
    pub(crate) fn own_wait(self) -> Option<WaitKey> {
        self.task.is_registered().then(|| self.task.wait_key())
    }

    /// Whether nobody joins it, and it has no pause, own time or name: as most.
    #[inline]
    pub(crate) fn is_plain(self) -> bool {
        self.task.joiners.get() == NO_JOINER && self.task.cold().is_none()
    }

    /// Reads its clocks of own time, if it has any.
    pub(crate) fn own_clocks<R>(self, f: impl FnOnce(&OwnClocks) -> R) -> Option<R> {
        let colds = &self.core.colds;
        let read = colds.of(self.task, |cold| cold.own.as_deref().map(f));
        read.flatten()
    }

    /// Reads its pause, if it is or was paused.
    pub(crate) fn pause<R>(self, f: impl FnOnce(&Pause) -> R) -> Option<R> {
        self.core.colds.pause_of(self.task, |pause| f(pause))
    }

    /// Visits the joins of it, the earliest first.
    pub(crate) fn each_join(self, mut f: impl FnMut(WaitKey)) {
        let last = self.task.joiners.get();
        if last != NO_JOINER {
            self.core.entries.borrow().each_join(last, &mut f);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::{Stands, View};
    use crate::core::scope;
    use crate::prelude::*;

    /// A client of its own: for each visit, the name of the coroutine and where its wait stands.
    fn visits(view: View<'_>) -> Vec<String> {
        let mut visits = Vec::new();
        view.each_wait(|script, id, stands| {
            let stands = match stands {
                Stands::Queue { .. } => "queue".into(),
                Stands::Count { left, .. } => format!("count of {left}"),
                Stands::Timer(timer) => format!("timer with {} ns left", timer.left_ns),
                Stands::Join(id) => format!("join of {id}"),
                Stands::OwnerEnd(owner) => format!("end of {}", view.owner_label(owner)),
                Stands::Event(source) => format!("event of {}", source.map_or("", |of| of.name())),
                Stands::Due => "due".into(),
                Stands::Ready(phase) => format!("ready in {}", phase.phase()),
                Stands::Coming => "coming".into(),
                Stands::Polled => "polled".into(),
            };
            let wait = if id.is_some() { "wait" } else { "script" };
            visits.push(format!("{wait} of {}: {stands}", script.name()));
        });
        visits
    }

    #[test]
    fn each_wait_is_visited_once_with_where_it_stands() {
        let executor = Executor::new();
        let crew = executor.owner().named("crew");
        let bell = Signal::<()>::new().named("bell");
        let rung = bell.clone();
        let door = executor.start(wait_seconds(2)).named("door");
        executor.start(next_frame()).named("guard");
        executor.start(wait_frames(3)).named("cook");
        executor.start(door).named("hero");
        crew.start(async move { rung.wait().await }).named("sailor");
        let ended = crew.ended();
        executor.start(ended).named("captain");
        executor
            .start(async { join!(next_frame(), wait_frames(2)) })
            .named("twins");
        executor.spawn(async {}).named("new");
        assert_eq!(
            visits(View::new(executor.core())),
            [
                "script of new: ready in Update",
                "wait of guard: queue",
                "wait of twins: queue",
                "wait of twins: count of 2",
                "wait of cook: count of 3",
                "wait of door: timer with 2000000000 ns left",
                "wait of captain: end of crew",
                "wait of hero: join of 0v1",
                "wait of sailor: event of bell",
            ]
        );
    }

    #[test]
    fn in_a_run_those_that_have_not_had_their_turn_are_due() {
        let mut executor = Executor::new();
        let seen = Rc::new(RefCell::new(Vec::new()));
        let log = seen.clone();
        let look = move || {
            scope::with(|scope| {
                let view = View::new(scope.expect("in a poll").core());
                log.borrow_mut().extend(visits(view));
            });
        };
        executor
            .start(async move {
                next_frame().await;
                look();
            })
            .named("first");
        executor.start(next_frame()).named("second");
        executor.run_frame(0.25);
        assert_eq!(
            *seen.borrow(),
            ["wait of second: due", "script of first: polled"]
        );
    }
}
