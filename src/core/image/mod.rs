//! Saving the state of an executor as numbers, and restoring it.
//!
//! Each part writes itself. Numbers replace keys: tasks and waits are numbered by their places
//! in the lists that the caller passes, clocks by their places in the executor's list. So an
//! image fits every executor with as many of each.
//!
//! This happens between runs. The only user code called is the destructors of what was there
//! before.

mod clocks;
pub(crate) mod names;

use std::cell::Cell;
use std::fmt;

use names::Names;

use crate::core::base::key::TaskKey;
use crate::core::cold::Cold;
use crate::core::inspect::observe;
use crate::core::pause::own::OwnClocks;
use crate::core::pause::timers::Timer;
use crate::core::phase::schedule;
use crate::core::phase::state::{Listed, PhaseState};
use crate::core::task::{Flags, NO_JOINER, Task};
use crate::core::timer::{TimerList, Unit};
use crate::core::wake::waker::TaskWaker;
use crate::core::{Core, wake};
use crate::image::{Damaged, Reader, Writer};
use crate::task::coroutine::CoroutineId;
use crate::task::owner::Owner;
use crate::time::{Asks, ClockIndex, PhaseIndex};

pub use clocks::ClockNames;

/// Checks that the executor can be saved now, with these tasks and no others.
pub(crate) fn check(core: &Core, tasks: &[TaskKey]) -> Result<(), Unsavable> {
    wake::take_messages_between_runs(core);
    let is_alive = |&key: &TaskKey| core.is_alive(key);
    if core.tasks.alive() != tasks.len() || !tasks.iter().all(is_alive) {
        return Err(Unsavable::OtherCoroutines);
    }
    if core.starts.are_held() && core.starts.has_any()
        || core.runs.completions.has_any()
        || core.ends.has_deferred()
    {
        return Err(Unsavable::WorkLeft);
    }
    let entries = core.entries.borrow();
    if entries.has_foreign() {
        let task = entries.first_foreign().and_then(|key| core.tasks.get(key));
        return Err(Unsavable::ForeignWakers(task.map(|task| core.id_of(task))));
    }
    drop(entries);
    let mut tasks = tasks.iter().filter_map(|&key| core.tasks.get(key));
    match tasks.find(|&task| has_given_waker(core, task)) {
        Some(task) => Err(Unsavable::OtherWait(core.id_of(task))),
        None => Ok(()),
    }
}

/// Whether something may keep a waker of a task: nothing that is saved does.
fn has_given_waker(core: &Core, task: Task<'_>) -> bool {
    let is_held = |cold: &mut Cold| cold.waker.as_ref().is_some_and(TaskWaker::is_held);
    task.has(Flags::TASK_WAKER) && core.colds.of(task, is_held) == Some(true)
}

/// Checks that all waits that are registered have a number.
pub(crate) fn check_waits(core: &Core, names: &Names<'_>) -> Result<(), Unsavable> {
    let mut unknown = None;
    for &key in names.tasks {
        let task = core.tasks.get(key);
        let own = task.filter(|task| task.is_registered());
        if own.is_some_and(|task| names.number(task.wait_key()).is_none()) {
            unknown = unknown.or(Some(key));
        }
    }
    core.entries.borrow().each(|key, task| {
        if names.number(key).is_none() {
            unknown = unknown.or(Some(task));
        }
    });
    match unknown.and_then(|key| core.tasks.get(key)) {
        Some(task) => Err(Unsavable::OtherWait(core.id_of(task))),
        None => Ok(()),
    }
}

/// Writes the clocks to an image. `guards` is how many guards the caller saves.
pub(crate) fn save_clocks(
    core: &Core,
    clocks: &ClockNames,
    guards: usize,
    out: &mut Writer,
) -> Result<(), Unsavable> {
    let mut found = core.clock.save(out);
    for clock in clocks.iter() {
        found += clock.save(out);
    }
    if found == guards {
        Ok(())
    } else {
        Err(Unsavable::ClockGuards)
    }
}

/// Reads what [`save_clocks`] has written. `guards` are all guards, by clock.
pub(crate) fn load_clocks(
    core: &Core,
    clocks: &ClockNames,
    guards: &[(ClockIndex, Asks)],
    image: &mut Reader<'_>,
) -> Result<(), Damaged> {
    let of = |clock| {
        let of_clock = guards.iter().filter(move |(of, _)| *of == clock);
        of_clock.map(|&(_, asks)| asks)
    };
    core.clock.load(of(ClockIndex::GAME), image)?;
    let mut clocks = clocks.iter();
    clocks.try_for_each(|clock| clock.load(of(clock.index()), image))
}

/// Writes the lists of phases and tasks to an image.
pub(crate) fn save_lists(core: &Core, names: &Names<'_>, out: &mut Writer) {
    let mut waits = Vec::with_capacity(names.waits());
    out.put_counted(|out| {
        let mut phases = 0;
        core.phases.each(|phase, state| {
            phases += 1;
            out.put(phase.as_usize() as u64);
            save_phase(core, state, names, &mut waits, out);
            let ready = state.ready.keys.iter();
            let ready = ready.filter_map(|key| names.task_number(schedule::task(core, key)?));
            out.put_all(ready, Writer::put_len);
        });
        phases
    });
    let starts = core.starts.deferred.iter();
    let starts = starts.filter_map(|key| names.task_number(core.tasks.get(key)?));
    out.put_all(starts, Writer::put_len);
    for &key in names.tasks {
        if let Some(task) = core.tasks.get(key) {
            save_task(core, task, names, out);
        }
    }
}

/// A wait in a list, as numbers: the kind of list, the clock, when the wait is due, one more
/// number of the list, and the number of the wait. Of a timer that a pause holds, the one more is
/// what its clock read when the pause began, plus 1.
type SavedWait = [u64; 5];

/// The kinds of lists.
const EARLIER: u64 = 0;
const QUEUE: u64 = 1;
const FRAMES: u64 = 2;
const RUNS: u64 = 3;
const WHEEL: u64 = 4;
const OVERDUE: u64 = 5;

/// Writes the numbers and the waits of a phase to an image. `waits` is memory for them.
fn save_phase(
    core: &Core,
    state: &PhaseState,
    names: &Names<'_>,
    waits: &mut Vec<SavedWait>,
    out: &mut Writer,
) {
    out.put_each(state.numbers().map(Cell::get));
    waits.clear();
    state.each_wait(&core.timers, |key, listed| {
        let (Some(number), Some((kind, clock, due, mut more))) =
            (names.number(key), numbers_of(listed, names))
        else {
            return;
        };
        if kind == WHEEL {
            let since_ns = core.timers().since_ns(key);
            more = since_ns.map_or(0, |since_ns| since_ns + 1);
        }
        waits.push([kind, clock, due, more, number as u64]);
    });
    // A stable sort: of waits that are due at once, the first stays first.
    waits.sort_by_key(|&[kind, clock, due, ..]| (kind, clock, due));
    out.put_len(waits.len());
    out.put_slice(waits.as_flattened());
}

fn numbers_of(listed: Listed<'_>, names: &Names<'_>) -> Option<(u64, u64, u64, u64)> {
    Some(match listed {
        Listed::Queue { is_earlier: true } => (EARLIER, 0, 0, 0),
        Listed::Queue { is_earlier: false } => (QUEUE, 0, 0, 0),
        Listed::Count(Unit::Frames, due) => (FRAMES, 0, due, 0),
        Listed::Count(Unit::Runs, due) => (RUNS, 0, due, 0),
        Listed::Timer(clock, due_ns, list) => {
            let clock = names.clocks.number(clock.index())?;
            match list {
                TimerList::Wheel | TimerList::Out => (WHEEL, clock, due_ns, 0),
                TimerList::Overdue(frame) => (OVERDUE, clock, due_ns, frame),
            }
        }
    })
}

/// Reads what [`save_phase`] has written into a phase that is as new.
fn load_phase(
    core: &Core,
    state: &PhaseState,
    names: &Names<'_>,
    image: &mut Reader<'_>,
) -> Result<(), Damaged> {
    let numbers = state.numbers();
    let (counters, readings) = numbers.split_at(3);
    for number in counters {
        number.set(image.take_count()?);
    }
    for number in readings {
        number.set(image.take()?);
    }
    state.note_other();
    for _ in 0..image.take_len()? {
        let (kind, clock, due, more) = (image.take()?, image.take()?, image.take()?, image.take()?);
        let list = match kind {
            OVERDUE => TimerList::Overdue(more),
            _ => TimerList::Wheel,
        };
        let listed = match kind {
            EARLIER | QUEUE => Listed::Queue {
                is_earlier: kind == EARLIER,
            },
            FRAMES => Listed::Count(Unit::Frames, due),
            RUNS => Listed::Count(Unit::Runs, due),
            WHEEL | OVERDUE => Listed::Timer(names.clocks.clock(clock)?, due, list),
            _ => return Err(Damaged),
        };
        let key = names.key(image.take_number()?).ok_or(Damaged)?;
        state.list(key, listed);
        if let Listed::Timer(clock, due_ns, _) = listed {
            let since_ns = more.checked_sub(1).filter(|_| kind == WHEEL);
            let timer = Timer::new(state.index, clock.index(), due_ns);
            core.timers().restore(key, timer, since_ns);
        }
    }
    Ok(())
}

fn save_task(core: &Core, task: Task<'_>, names: &Names<'_>, out: &mut Writer) {
    let is_paused = task.has(Flags::PAUSED);
    if task.joiners.get() == NO_JOINER && task.cold().is_none() {
        // As most tasks: no joins, no own time, no pause.
        return out.put_each([0, u64::from(is_paused), 0, 0]);
    }
    let mut joins = Vec::new();
    let entries = core.entries.borrow();
    entries.each_join(task.joiners.get(), |key| joins.extend(names.number(key)));
    drop(entries);
    out.put_all(joins, Writer::put_len);
    out.put_flag(is_paused);
    let own = core.colds.of(task, |cold| {
        cold.own.as_ref()?.save(out, names);
        Some(())
    });
    if own.flatten().is_none() {
        out.put(0);
    }
    let saved = core.colds.pause_of(task, |pause| {
        out.put_flag(true);
        pause.save(out);
    });
    if saved.is_none() {
        out.put_flag(false);
    }
}

/// Writes the waits for the ends of owners to an image, with the numbers of the owners.
pub(crate) fn save_owner_ends(core: &Core, owners: &[&Owner], names: &Names<'_>, out: &mut Writer) {
    let mut ends = Vec::new();
    core.owners.borrow().each_end(|owner, key| {
        let owner = owners.iter().position(|known| known.key() == owner);
        ends.extend(owner.zip(names.number(key)));
    });
    // The waits for one owner keep their order.
    ends.sort_by_key(|&(owner, _)| owner);
    out.put_all(ends, |out, (owner, wait)| {
        out.put_len(owner);
        out.put_len(wait);
    });
}

/// Reads what [`save_owner_ends`] has written. The owners have their coroutines already.
pub(crate) fn load_owner_ends(
    core: &Core,
    owners: &[&Owner],
    names: &Names<'_>,
    image: &mut Reader<'_>,
) -> Result<(), Damaged> {
    for _ in 0..image.take_len()? {
        let owner = owners[image.take_index(owners.len())?].key();
        let key = names.key(image.take_number()?).ok_or(Damaged)?;
        let is_over = core.owners.borrow().is_empty(owner);
        if !key.is_entry() || is_over {
            return Err(Damaged);
        }
        let is_live = |key| core.waits().is_live(key);
        core.owners.borrow_mut().add_end(owner, key, is_live);
    }
    Ok(())
}

/// Reads what [`save_lists`] has written. The tasks and their waits are new; the waits are
/// registered, but in no list.
pub(crate) fn load_lists(
    core: &Core,
    names: &Names<'_>,
    image: &mut Reader<'_>,
) -> Result<(), Damaged> {
    core.phases.reset();
    let mut ready = Vec::new();
    for _ in 0..image.take_len()? {
        let phase = PhaseIndex::from_number(image.take()?).ok_or(Damaged)?;
        load_phase(core, core.phases.get(phase), names, image)?;
        for _ in 0..image.take_len()? {
            ready.push((image.take_index(names.tasks.len())?, phase));
        }
    }
    for _ in 0..image.take_len()? {
        let task = names.tasks[image.take_index(names.tasks.len())?];
        core.starts.deferred.push(task);
        core.arrivals.note_news();
    }
    for &key in names.tasks {
        load_task(core, core.tasks.get(key).ok_or(Damaged)?, names, image)?;
    }
    for (number, phase) in ready {
        let task = core.tasks.get(names.tasks[number]).ok_or(Damaged)?;
        schedule::later(core, task, phase);
    }
    core.timers.note_change();
    core.host.note_due();
    core.host.notify();
    Ok(())
}

fn load_task(
    core: &Core,
    task: Task<'_>,
    names: &Names<'_>,
    image: &mut Reader<'_>,
) -> Result<(), Damaged> {
    for _ in 0..image.take_len()? {
        let key = names.key(image.take_number()?).ok_or(Damaged)?;
        if !key.is_entry() || core.entries.borrow().joins(key).is_some() {
            return Err(Damaged);
        }
        core.waits().join(task, key);
    }
    debug_assert!(task.joiners.get() != NO_JOINER || names.tasks.is_empty() || !task.has_ended());
    if image.take_flag()? {
        task.set(Flags::PAUSED);
    } else {
        task.clear(Flags::PAUSED);
    }
    if let Some(own) = OwnClocks::load(image, names)? {
        core.colds.of_or_new(task, |cold| cold.own = Some(own));
    }
    if image.take_flag()? {
        core.colds.edit_pause(task, |pause| pause.load(image))?;
    }
    let held = core.colds.pause_of(task, |pause| pause.held.len());
    if held.unwrap_or(0) > 0 && !task.has(Flags::PAUSED) {
        return Err(Damaged);
    }
    Ok(())
}

/// Records for snapshots and traces that a task was made.
pub(crate) fn note_made(
    core: &Core,
    task: Task<'_>,
    place: &'static std::panic::Location<'static>,
) {
    if core.instruments.is_on() {
        observe::note_spawned(core, task, place);
    }
}

/// Why an executor cannot be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsavable {
    /// It has coroutines that the caller does not know.
    OtherCoroutines,
    /// Starts or ends beyond a limit are deferred to the next run.
    WorkLeft,
    /// This coroutine polls a wait with another waker than its own.
    ForeignWakers(Option<CoroutineId>),
    /// This coroutine has registered a wait that the caller does not know, or something keeps a
    /// waker of it.
    OtherWait(CoroutineId),
    /// A guard changes the speed of a clock.
    ClockGuards,
    /// A wait counts on a clock that the caller does not know.
    UnknownClock,
}

impl fmt::Display for Unsavable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unsavable::OtherCoroutines => {
                "the executor has coroutines that are not durable scripts: run those in an \
                 executor of their own"
            }
            Unsavable::WorkLeft => {
                "starts or ends beyond the limit of a run are deferred to the next one: save after it"
            }
            Unsavable::ForeignWakers(_) => {
                "it polls a wait with another waker than its own, as `FuturesUnordered` does: use \
                 the combinators of framestep"
            }
            Unsavable::OtherWait(_) => {
                "it awaits what is not recorded, such as a signal, a watch or a semaphore of \
                 `framestep`, or a future of another crate: use the waits of `framestep_durable`"
            }
            Unsavable::ClockGuards => {
                "a guard holds a clock or scales it: use `pause` and `set_scale` on clocks that \
                 are saved"
            }
            Unsavable::UnknownClock => {
                "a wait counts on a clock that the runtime does not know: make clocks with the \
                 runtime"
            }
        })
    }
}

impl std::error::Error for Unsavable {}
