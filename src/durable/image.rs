//! Saving the lists of an executor as numbers, and restoring them.
//!
//! Numbers replace keys: tasks and waits are numbered by their places in the lists that the
//! caller passes, clocks by their places in the executor's list. So an image fits every executor
//! with as many of each. What is saved is what a [view](View) shows, and [`restore`] puts it back.
//!
//! This happens between runs. The only user code called is the destructors of what was there
//! before.

use std::fmt;

use crate::core::Core;
use crate::core::base::key::TaskKey;
use crate::core::pause::own::OwnClocks;
use crate::core::phase::state::Listed;
use crate::core::restore;
use crate::core::task::Task;
use crate::core::timer::{TimerList, Unit};
use crate::core::view::{PhaseView, Script, View};
use crate::image::{ClockNames, Damaged, Reader, Writer};
use crate::inspect::Line;
use crate::task::coroutine::CoroutineId;
use crate::task::owner::Owner;
use crate::time::{Asks, ClockIndex, PhaseIndex};

use super::names::Names;
use super::wait::DurableWait;

/// Checks that the executor can be saved now, with these tasks and no others. It has taken its
/// messages.
pub(super) fn check(view: View<'_>, tasks: &[TaskKey]) -> Result<(), Unsavable> {
    let is_alive = |&key: &TaskKey| view.get(key).is_some_and(Script::is_alive);
    if view.alive() != tasks.len() || !tasks.iter().all(is_alive) {
        return Err(Unsavable::OtherCoroutines(others(view, tasks)));
    }
    if view.has_work_left() {
        return Err(Unsavable::WorkLeft);
    }
    if view.has_foreign_wakers() {
        return Err(Unsavable::ForeignWakers(
            view.first_foreign().map(Script::id),
        ));
    }
    Ok(())
}

/// The names of some coroutines that are none of these.
fn others(view: View<'_>, tasks: &[TaskKey]) -> String {
    let (mut names, mut count) = (Vec::new(), 0);
    view.each_script(|script| {
        if script.is_alive() && !tasks.contains(&script.key()) {
            count += 1;
            if names.len() < 3 {
                names.push(format!("`{}`", script.name()));
            }
        }
    });
    let more = if count > names.len() { ", .." } else { "" };
    format!("{}{more}", names.join(", "))
}

/// Checks that all waits that are registered have a number.
pub(super) fn check_waits(view: View<'_>, names: &Names<'_>) -> Result<(), Unsavable> {
    let mut unknown = None;
    for &key in names.tasks {
        let own = view.get(key).and_then(Script::own_wait);
        if own.is_some_and(|wait| names.number(wait).is_none()) {
            unknown = unknown.or(Some(key));
        }
    }
    view.each_entry(|key, task| {
        if names.number(key).is_none() {
            unknown = unknown.or(Some(task));
        }
    });
    match unknown.and_then(|key| view.get(key)) {
        Some(script) => Err(Unsavable::OtherWait(script.id())),
        None => Ok(()),
    }
}

/// Writes the clocks to an image. `guards` is how many guards the caller saves.
pub(super) fn save_clocks(
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
pub(super) fn load_clocks(
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
pub(super) fn save_lists(view: View<'_>, names: &Names<'_>, out: &mut Writer) {
    let mut waits = Vec::with_capacity(names.waits());
    out.put_counted(|out| {
        let mut phases = 0;
        view.each_phase(|phase| {
            phases += 1;
            out.put(phase.index().as_usize() as u64);
            save_phase(phase, names, &mut waits, out);
            let ready = phase.ready().filter_map(|key| names.task_number(key));
            out.put_all(ready, Writer::put_len);
        });
        phases
    });
    let mut starts = Vec::new();
    view.each_deferred_start(|key| starts.extend(names.task_number(key)));
    out.put_all(starts, Writer::put_len);
    for &key in names.tasks {
        if let Some(script) = view.get(key) {
            save_script(script, names, out);
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
    phase: PhaseView<'_>,
    names: &Names<'_>,
    waits: &mut Vec<SavedWait>,
    out: &mut Writer,
) {
    out.put_each(phase.numbers());
    waits.clear();
    phase.each_wait(|key, listed| {
        let (Some(number), Some((kind, clock, due, mut more))) =
            (names.number(key), numbers_of(listed, names))
        else {
            return;
        };
        if kind == WHEEL {
            let since_ns = phase.held_since_ns(key);
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
    phase: PhaseIndex,
    names: &Names<'_>,
    waits: &[&DurableWait],
    image: &mut Reader<'_>,
) -> Result<(), Damaged> {
    let numbers = [
        image.take_count()?,
        image.take_count()?,
        image.take_count()?,
        image.take()?,
        image.take()?,
    ];
    restore::phase(core, phase, numbers);
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
        let number = image.take_number()?;
        let key = names.key(number).ok_or(Damaged)?;
        if !waits[number].may_be_in(phase, &listed) {
            return Err(Damaged);
        }
        restore::list(core, phase, key, listed, more.checked_sub(1));
    }
    Ok(())
}

fn save_script(script: Script<'_>, names: &Names<'_>, out: &mut Writer) {
    let is_paused = script.is_paused();
    if script.is_plain() {
        return out.put_each([0, u64::from(is_paused), 0, 0]);
    }
    let mut joins = Vec::new();
    script.each_join(|key| joins.extend(names.number(key)));
    out.put_all(joins, Writer::put_len);
    out.put_flag(is_paused);
    let own = script.own_clocks(|own| own.save(out, names.clocks));
    if own.is_none() {
        out.put(0);
    }
    let pause = script.pause(|pause| {
        out.put_flag(true);
        pause.save(out);
    });
    if pause.is_none() {
        out.put_flag(false);
    }
}

/// Writes the waits for the ends of owners to an image, with the numbers of the owners.
pub(super) fn save_owner_ends(
    view: View<'_>,
    owners: &[&Owner],
    names: &Names<'_>,
    out: &mut Writer,
) {
    let mut ends = Vec::new();
    view.each_owner_end(|owner, key| {
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
pub(super) fn load_owner_ends(
    core: &Core,
    owners: &[&Owner],
    names: &Names<'_>,
    waits: &[&DurableWait],
    image: &mut Reader<'_>,
) -> Result<(), Damaged> {
    for _ in 0..image.take_len()? {
        let owner = owners[image.take_index(owners.len())?].key();
        let number = image.take_number()?;
        let key = names.key(number).ok_or(Damaged)?;
        if !waits[number].is_owner_end() || !restore::owner_end(core, owner, key) {
            return Err(Damaged);
        }
    }
    Ok(())
}

/// Reads what [`save_lists`] has written. The tasks and their waits are new; the waits are
/// registered, but in no list.
pub(super) fn load_lists(
    core: &Core,
    names: &Names<'_>,
    waits: &[&DurableWait],
    image: &mut Reader<'_>,
) -> Result<(), Damaged> {
    restore::begin(core);
    let mut ready = Vec::new();
    for _ in 0..image.take_len()? {
        let phase = PhaseIndex::from_number(image.take()?).ok_or(Damaged)?;
        load_phase(core, phase, names, waits, image)?;
        for _ in 0..image.take_len()? {
            ready.push((image.take_index(names.tasks.len())?, phase));
        }
    }
    for _ in 0..image.take_len()? {
        let task = names.tasks[image.take_index(names.tasks.len())?];
        restore::deferred_start(core, task);
    }
    for &key in names.tasks {
        load_task(
            core,
            core.tasks.get(key).ok_or(Damaged)?,
            names,
            waits,
            image,
        )?;
    }
    for (number, phase) in ready {
        let task = core.tasks.get(names.tasks[number]).ok_or(Damaged)?;
        restore::ready(core, task, phase);
    }
    restore::end(core);
    Ok(())
}

fn load_task(
    core: &Core,
    task: Task<'_>,
    names: &Names<'_>,
    waits: &[&DurableWait],
    image: &mut Reader<'_>,
) -> Result<(), Damaged> {
    for _ in 0..image.take_len()? {
        let number = image.take_number()?;
        let key = names.key(number).ok_or(Damaged)?;
        if !waits[number].is_join() || !restore::join(core, task, key) {
            return Err(Damaged);
        }
    }
    let is_paused = image.take_flag()?;
    if let Some(own) = OwnClocks::load(image, names.clocks)? {
        restore::own_clocks(core, task, own);
    }
    if image.take_flag()? {
        restore::pause(core, task, |pause| pause.load(image))?;
    }
    if restore::paused(core, task, is_paused) {
        Ok(())
    } else {
        Err(Damaged)
    }
}

/// Why an executor cannot be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsavable {
    /// It has coroutines that the caller does not know, of these names.
    OtherCoroutines(String),
    /// Starts or ends beyond a limit are deferred to the next run.
    WorkLeft,
    /// This coroutine polls a wait with another waker than its own.
    ForeignWakers(Option<CoroutineId>),
    /// This coroutine has registered a wait that the caller does not know.
    OtherWait(CoroutineId),
    /// A closure waits for state that is not lent.
    Deferred {
        /// The function that it was passed to.
        function: &'static str,
        /// The type of the state.
        state: &'static str,
        /// Where it was passed.
        place: Line,
    },
    /// A guard changes the speed of a clock.
    ClockGuards,
    /// A wait counts on a clock that the caller does not know.
    UnknownClock,
}

impl fmt::Display for Unsavable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unsavable::OtherCoroutines(names) => {
                return write!(
                    f,
                    "the executor has coroutines that are not durable scripts: {names}. Run those in an executor of \
                     their own"
                );
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
                 `framestep`, or a future of another crate: use the waits of `framestep_durable`, or let the host \
                 await it and `ask` for the result"
            }
            Unsavable::Deferred {
                function,
                state,
                place,
            } => {
                return write!(
                    f,
                    "the closure of the `{function}` at {place} waits for a `{state}`, and a load could not call it: its \
                     script has ended where none is lent. Save after the next frame that lends one, or let the closure \
                     be called before, by `lend` or `runtime.executor().handle().clean_up(&mut world)`"
                );
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
