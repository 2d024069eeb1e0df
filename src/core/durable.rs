//! Saving the state of an executor as numbers, and restoring it.
//!
//! Each part writes itself. Numbers replace keys: tasks and waits are numbered by their places
//! in the lists that the caller passes, clocks by their places in the executor's list. So an
//! image fits every executor with as many of each.
//!
//! This happens between runs. The only user code called is the destructors of what was there
//! before.

use std::cell::Cell;
use std::rc::Rc;

use crate::core::Core;
use crate::core::inspect::observe;
use crate::core::phase::schedule;
use crate::core::registration::key::WaitKey;
use crate::core::task::{Flags, NO_JOINER, Pause, Task, TaskKey};
use crate::core::timer::wheel::{TimerEntry, Wheel};
use crate::durable::{Damaged, Reader, Unsavable, Writer};
use crate::time::{ClockIndex, ClockRef, ClockState, PhaseIndex};

/// What the numbers of an image refer to.
pub(crate) struct Names<'a> {
    /// The tasks, by number.
    tasks: &'a [TaskKey],
    /// The number of the task at each index, or `NOBODY`.
    task_numbers: Vec<u32>,
    /// The keys of the waits, by number.
    waits: &'a [WaitKey],
    /// The number of the wait that is registered with the task at each index, or `NOBODY`.
    own_waits: Vec<u32>,
    /// The number of the wait of each entry, or `NOBODY`.
    entries: Vec<u32>,
    /// For each wait, by number, whether it has been put into a list.
    is_listed: Vec<Cell<bool>>,
    /// The clocks that were made by `child`, by number.
    clocks: &'a [Rc<ClockState>],
}

const NOBODY: u32 = u32::MAX;

/// The clocks before those that were made by `child`: the game clock and realtime.
const OWN_CLOCKS: u64 = 2;
/// The same for clocks that pauses measure, which include fixed time.
const OWN_MEASURES: u64 = 3;

impl<'a> Names<'a> {
    pub(crate) fn new(
        tasks: &'a [TaskKey],
        waits: &'a [WaitKey],
        clocks: &'a [Rc<ClockState>],
    ) -> Self {
        let mut names = Names {
            tasks,
            task_numbers: Vec::new(),
            waits,
            own_waits: Vec::new(),
            entries: Vec::new(),
            is_listed: vec![Cell::new(false); waits.len()],
            clocks,
        };
        for (number, task) in tasks.iter().enumerate() {
            note(&mut names.task_numbers, task.index, number);
        }
        for (number, &key) in waits.iter().enumerate() {
            if key == WaitKey::NONE {
                continue;
            }
            let table = if key.is_entry() {
                &mut names.entries
            } else {
                &mut names.own_waits
            };
            note(table, key.index(), number);
        }
        names
    }

    /// The number of the wait with this key. `None` if the wait is not saved, or the key is
    /// stale.
    pub(crate) fn number(&self, key: WaitKey) -> Option<usize> {
        let table = if key.is_entry() {
            &self.entries
        } else {
            &self.own_waits
        };
        let number = *table.get(key.index() as usize)? as usize;
        (*self.waits.get(number)? == key).then_some(number)
    }

    /// Takes the key of the wait with this number, for the list that the wait is in. `None` if
    /// the wait does not exist, or is in a list already.
    pub(crate) fn key(&self, number: usize) -> Option<WaitKey> {
        let key = self.waits.get(number).copied();
        let key = key.filter(|&key| key != WaitKey::NONE)?;
        (!self.is_listed[number].replace(true)).then_some(key)
    }

    fn task_number(&self, task: Task<'_>) -> Option<usize> {
        let number = *self.task_numbers.get(task.index() as usize)? as usize;
        (*self.tasks.get(number)? == task.task_key()).then_some(number)
    }

    /// The number of a clock that timers count on.
    pub(crate) fn clock_number(&self, clock: ClockIndex) -> Option<u64> {
        match clock {
            ClockIndex::GAME => Some(0),
            ClockIndex::REALTIME => Some(1),
            _ => {
                let at = self.clocks.iter().position(|at| at.index() == clock)?;
                Some(at as u64 + OWN_CLOCKS)
            }
        }
    }

    /// The clock with this number.
    pub(crate) fn clock(&self, number: u64) -> Result<ClockRef<'a>, Damaged> {
        match number {
            0 => Ok(ClockRef::Game),
            1 => Ok(ClockRef::Realtime),
            _ => {
                let at = usize::try_from(number - OWN_CLOCKS).map_err(|_| Damaged)?;
                self.clocks.get(at).map(ClockRef::Child).ok_or(Damaged)
            }
        }
    }

    /// The number of a clock that pauses measure, in frame time or in stepped time.
    pub(crate) fn measure_number(&self, clock: ClockIndex) -> Option<u64> {
        match clock {
            ClockIndex::GAME => Some(0),
            ClockIndex::REALTIME => Some(1),
            ClockIndex::FIXED => Some(2),
            _ => {
                let is_it =
                    |at: &Rc<ClockState>| at.index() == clock || at.index().stepped() == clock;
                let at = self.clocks.iter().position(is_it)? as u64;
                Some(OWN_MEASURES + 2 * at + u64::from(clock.is_stepped()))
            }
        }
    }

    /// The clock with this number.
    pub(crate) fn measure(&self, number: u64) -> Result<ClockIndex, Damaged> {
        match number {
            0 => Ok(ClockIndex::GAME),
            1 => Ok(ClockIndex::REALTIME),
            2 => Ok(ClockIndex::FIXED),
            _ => {
                let number = number - OWN_MEASURES;
                let at = usize::try_from(number / 2).map_err(|_| Damaged)?;
                let index = self.clocks.get(at).ok_or(Damaged)?.index();
                Ok(match number % 2 {
                    0 => index,
                    _ => index.stepped(),
                })
            }
        }
    }

    /// Takes a deadline and the number of a wait.
    pub(crate) fn take_timer(&self, image: &mut Reader<'_>) -> Result<TimerEntry, Damaged> {
        let deadline_ns = image.take()?;
        let key = self.key(image.take_number()?).ok_or(Damaged)?.bits();
        Ok(TimerEntry { deadline_ns, key })
    }
}

/// Writes timers of a wheel to an image, in the order in which they are due. Timers whose wait
/// has no `number` are left out.
pub(crate) fn save_wheel(
    wheel: &Wheel,
    out: &mut Writer,
    number: impl Fn(WaitKey) -> Option<usize>,
) {
    let entries = wheel.in_order().into_iter();
    let known = entries.filter_map(|entry| {
        let number = number(WaitKey::from_bits(entry.key))?;
        Some((entry.deadline_ns, number))
    });
    out.put_all(known, |out, (deadline_ns, number)| {
        out.put(deadline_ns);
        out.put_len(number);
    });
}

/// Makes a wheel at `now_ns` from what [`save_wheel`] has written. `key` returns the key of the
/// wait with a number.
pub(crate) fn load_wheel(
    image: &mut Reader<'_>,
    now_ns: u64,
    key: impl Fn(usize) -> Option<WaitKey>,
) -> Result<Wheel, Damaged> {
    let mut wheel = Wheel::at(now_ns);
    for _ in 0..image.take_len()? {
        let deadline_ns = image.take()?;
        let number = image.take_number()?;
        wheel.insert(deadline_ns, key(number).ok_or(Damaged)?.bits());
    }
    Ok(wheel)
}

/// Records the number of the item at `index`.
fn note(table: &mut Vec<u32>, index: u32, number: usize) {
    let index = index as usize;
    if table.len() <= index {
        table.resize(index + 1, NOBODY);
    }
    table[index] = u32::try_from(number).unwrap_or(NOBODY);
}

/// Checks that the executor can be saved now, with these tasks and no others.
pub(crate) fn check(core: &Core, tasks: &[TaskKey]) -> Result<(), Unsavable> {
    crate::core::wake::take_messages_between_runs(core);
    let is_alive = |&key: &TaskKey| core.is_alive(key);
    if core.tasks.alive() != tasks.len() || !tasks.iter().all(is_alive) {
        return Err(Unsavable::OtherCoroutines);
    }
    if !core.starts.deferred.is_empty()
        || core.runs.completions.has_any()
        || !core.ends.deferred.borrow().is_empty()
        || !core.ends.for_next_run.borrow().is_empty()
    {
        return Err(Unsavable::WorkLeft);
    }
    let entries = core.entries.borrow();
    if entries.has_foreign() || !entries.shared.is_empty() {
        let task = entries.first_foreign().and_then(|key| core.tasks.get(key));
        return Err(Unsavable::ForeignWakers(task.map(|task| core.id_of(task))));
    }
    Ok(())
}

/// Writes the clocks to an image.
pub(crate) fn save_clocks(
    core: &Core,
    clocks: &[Rc<ClockState>],
    out: &mut Writer,
) -> Result<(), Unsavable> {
    let mut has_no_guards = core.clock.save(out);
    for clock in clocks {
        has_no_guards &= clock.save(out);
    }
    has_no_guards.then_some(()).ok_or(Unsavable::ClockGuards)
}

/// Reads what [`save_clocks`] has written.
pub(crate) fn load_clocks(
    core: &Core,
    clocks: &[Rc<ClockState>],
    image: &mut Reader<'_>,
) -> Result<(), Damaged> {
    core.clock.load(image)?;
    clocks.iter().try_for_each(|clock| clock.load(image))
}

/// Writes the lists of phases and tasks to an image.
pub(crate) fn save_lists(core: &Core, names: &Names<'_>, out: &mut Writer) {
    out.put(core.pauses.suspended().get());
    let mut phases = Vec::new();
    core.phases.each(|phase, _| phases.push(phase));
    out.put_all(phases, |out, phase| {
        let state = core.phases.get(phase);
        out.put(phase.as_usize() as u64);
        state.save(out, names);
        let ready = state.ready.keys.iter();
        let ready = ready.filter_map(|key| names.task_number(schedule::task(core, key)?));
        out.put_all(ready, Writer::put_len);
    });
    let starts = core.starts.for_next_run.iter();
    let starts = starts.filter_map(|key| names.task_number(core.tasks.get(key)?));
    out.put_all(starts, Writer::put_len);
    for &key in names.tasks {
        if let Some(task) = core.tasks.get(key) {
            save_task(core, task, names, out);
        }
    }
}

fn save_task(core: &Core, task: Task<'_>, names: &Names<'_>, out: &mut Writer) {
    let mut joins = Vec::new();
    let entries = core.entries.borrow();
    entries.each_join(task.joiners.get(), |key| joins.extend(names.number(key)));
    drop(entries);
    out.put_all(joins, Writer::put_len);
    out.put_flag(task.has(Flags::PAUSED));
    let mut clocks = Vec::new();
    core.tasks.cold(task, |cold| {
        if let Some(known) = &cold.clocks {
            known.each(|index, _| clocks.extend(names.measure_number(index)));
        }
    });
    out.put_all(clocks, Writer::put);
    let saved = core.tasks.pause_of(task, |pause| {
        out.put_flag(true);
        pause.save(out, names);
    });
    if saved.is_none() {
        out.put_flag(false);
    }
}

/// Reads what [`save_lists`] has written. The tasks and their waits are new; the waits are
/// registered, but in no list.
pub(crate) fn load_lists(
    core: &Core,
    names: &Names<'_>,
    image: &mut Reader<'_>,
) -> Result<(), Damaged> {
    core.pauses.suspended().set(image.take()?);
    core.phases.reset();
    let mut ready = Vec::new();
    for _ in 0..image.take_len()? {
        let phase = PhaseIndex::from_number(image.take()?).ok_or(Damaged)?;
        core.phases.get(phase).load(image, names)?;
        for _ in 0..image.take_len()? {
            ready.push((image.take_index(names.tasks.len())?, phase));
        }
    }
    for _ in 0..image.take_len()? {
        let task = names.tasks[image.take_index(names.tasks.len())?];
        core.starts.for_next_run.push(task);
        core.arrivals.note_news();
    }
    for &key in names.tasks {
        load_task(core, core.tasks.get(key).ok_or(Damaged)?, names, image)?;
    }
    for (number, phase) in ready {
        let task = core.tasks.get(names.tasks[number]).ok_or(Damaged)?;
        schedule::later(core, task, phase);
    }
    core.pauses.note_change();
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
    for _ in 0..image.take_len()? {
        let index = names.measure(image.take()?)?;
        let is_it = |clock: &&Rc<ClockState>| clock.index().stepped() == index.stepped();
        let clock = names.clocks.iter().find(is_it).ok_or(Damaged)?;
        core.tasks.cold_or_new(task, |cold| {
            cold.clocks.get_or_insert_default().note(index, clock);
        });
    }
    if image.take_flag()? {
        let pause = Pause::load(image, names)?;
        core.pauses
            .edit(&core.tasks, task, |edited| *edited = pause);
    }
    Ok(())
}

/// Writes how a wait is registered to an image: whether it is, whether it must wait for a later
/// frame, whether it checks a condition, and how long its coroutine had been paused by then.
pub(crate) fn save_registered(core: &Core, key: WaitKey, out: &mut Writer) {
    let is_live = core.waits().is_live(key);
    out.put_flag(is_live);
    if is_live {
        out.put_flag(core.waits().is_for_later_frame(key));
        out.put_flag(asks_condition(core, key));
        let is_entry = key.is_entry();
        let base_ns = if is_entry {
            core.entries.borrow().base_ns(key)
        } else {
            0 // The pause of the task contains it.
        };
        out.put_flag(is_entry);
        out.put(base_ns);
    }
}

fn asks_condition(core: &Core, key: WaitKey) -> bool {
    if key.is_entry() {
        core.entries.borrow().asks_condition(key)
    } else {
        let task = core.tasks.waiting(key);
        task.is_some_and(|task| task.asks_condition())
    }
}

/// Registers a wait of a new task as [`save_registered`] has written it. Returns its key.
pub(crate) fn load_registered(
    core: &Core,
    task: Task<'_>,
    image: &mut Reader<'_>,
) -> Result<WaitKey, Damaged> {
    if !image.take_flag()? {
        return Ok(WaitKey::NONE);
    }
    let (is_later, asks) = (image.take_flag()?, image.take_flag()?);
    let (is_entry, base_ns) = (image.take_flag()?, image.take()?);
    let key = if is_entry {
        task.set(Flags::ENTRIES);
        let mut entries = core.entries.borrow_mut();
        let key = entries.insert_own(task.task_key(), is_later);
        entries.replace_base_ns(key, base_ns);
        if asks {
            entries.note_condition(key);
        }
        key
    } else if task.is_registered() {
        return Err(Damaged);
    } else {
        let key = task.free_key().register(is_later);
        if asks {
            task.note_condition();
        }
        key
    };
    Ok(key)
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
