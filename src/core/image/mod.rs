//! Saving the state of an executor as numbers, and restoring it.
//!
//! Each part writes itself. Numbers replace keys: tasks and waits are numbered by their places
//! in the lists that the caller passes, clocks by their places in the executor's list. So an
//! image fits every executor with as many of each.
//!
//! This happens between runs. The only user code called is the destructors of what was there
//! before.

pub(crate) mod names;
mod unsavable;

pub use unsavable::Unsavable;

use std::rc::Rc;

use crate::core::Core;
use crate::core::inspect::observe;
use crate::core::phase::schedule;
use crate::core::task::{Flags, NO_JOINER, Pause, Task, TaskKey};
use crate::core::wake;
use crate::image::{Damaged, Reader, Writer};
use crate::time::{ClockState, PhaseIndex};

use names::Names;

/// Checks that the executor can be saved now, with these tasks and no others.
pub(crate) fn check(core: &Core, tasks: &[TaskKey]) -> Result<(), Unsavable> {
    wake::take_messages_between_runs(core);
    let is_alive = |&key: &TaskKey| core.is_alive(key);
    if core.tasks.alive() != tasks.len() || !tasks.iter().all(is_alive) {
        return Err(Unsavable::OtherCoroutines);
    }
    if !core.starts.deferred.is_empty()
        || core.runs.completions.has_any()
        || core.ends.has_deferred()
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
    core.pauses.suspended().set(image.take_count()?);
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
