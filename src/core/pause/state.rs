//! The state of a task that is paused or has been paused.

use std::collections::BTreeMap;

use crate::core::base::key::WaitKey;
use crate::core::image::names::Names;
use crate::image::{Damaged, Reader, Writer};
use crate::time::{ClockIndex, PhaseIndex};

/// How long each clock has been running without the task, and the wake and the timers
/// that the task receives when it is resumed.
///
/// On each clock, a task counts in a time of its own: the reading of the clock, less
/// the total of the task's pauses. The deadlines of its waits are in that time. Wheels
/// do not know such times. When a wheel finds a timer due, the timer is inserted
/// again, later by the growth of the total since it was registered.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    /// Whether the task itself is paused, regardless of its owner.
    pub(crate) own: bool,
    /// The readings of the task's clocks at the beginning of the pause, by clock.
    /// Empty if no pause is under way; kept to reuse its memory.
    since: Vec<(ClockIndex, u64)>,
    /// How long each clock has been running without the task.
    totals: BTreeMap<ClockIndex, u64>,
    /// The total when the timer that is registered with the task itself was
    /// registered.
    pub(crate) base_ns: u64,
    /// The one wake that is remembered.
    pub(crate) wake: Option<Wake>,
    /// The timers that became due during the pause, in that order.
    pub(crate) suspended: Vec<SuspendedTimer>,
}

/// What has made a paused task ready.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wake {
    /// The phase in which the task will be ready when the pause ends.
    pub(crate) phase: PhaseIndex,
    /// The last run that had begun.
    pub(crate) run: u64,
}

/// A timer of a paused task that its wheel found due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SuspendedTimer {
    pub(crate) phase: PhaseIndex,
    pub(crate) clock: ClockIndex,
    pub(crate) deadline_ns: u64,
    pub(crate) key: WaitKey,
}

impl Pause {
    /// Begins a pause: the task's time stands still from `readings` on, which are the
    /// readings of its clocks, sorted by clock.
    pub(crate) fn begin(&mut self, readings: &[(ClockIndex, u64)]) {
        self.since.clear();
        self.since.extend_from_slice(readings);
    }

    /// Adds a clock that had no waits when the pause began.
    pub(crate) fn add_clock(&mut self, clock: ClockIndex, now_ns: u64) {
        if self.since.is_empty() {
            return;
        }
        if let Err(index) = self.find(clock) {
            self.since.insert(index, (clock, now_ns));
        }
    }

    /// Ends the pause: the task's time continues from `readings` on.
    pub(crate) fn end(&mut self, readings: &[(ClockIndex, u64)]) {
        for &(clock, now_ns) in readings {
            let since_ns = self.stopped_at(clock).unwrap_or(now_ns);
            let paused_ns = now_ns.saturating_sub(since_ns);
            if paused_ns > 0 {
                let total_ns = self.totals.entry(clock).or_default();
                *total_ns = total_ns.saturating_add(paused_ns);
            }
        }
        self.since.clear();
        if self.totals.len() > readings.len() {
            // No timer of the task counts on the other clocks. So no timer depends on
            // their totals.
            let is_read = |clock| readings.binary_search_by_key(&clock, |&(of, _)| of).is_ok();
            self.totals.retain(|&clock, _| is_read(clock));
        }
    }

    /// The reading of a clock at the beginning of the present pause.
    pub(crate) fn stopped_at(&self, clock: ClockIndex) -> Option<u64> {
        let index = self.find(clock).ok()?;
        Some(self.since[index].1)
    }

    fn find(&self, clock: ClockIndex) -> Result<usize, usize> {
        self.since.binary_search_by_key(&clock, |&(of, _)| of)
    }

    /// How long a clock has been running without the task, in pauses that have
    /// ended.
    pub(crate) fn total_ns(&self, clock: ClockIndex) -> u64 {
        self.totals.get(&clock).copied().unwrap_or(0)
    }

    /// Writes the pause to an image. Clocks that `names` does not know have no timers that
    /// could be saved.
    pub(crate) fn save(&self, out: &mut Writer, names: &Names<'_>) {
        out.put_flag(self.own);
        out.put(self.base_ns);
        let number = |wake: Wake| wake.phase.as_usize() as u64 + 1;
        out.put(self.wake.map_or(0, number));
        let put = |out: &mut Writer, (clock, ns)| {
            out.put(clock);
            out.put(ns);
        };
        let known = |(clock, ns)| Some((names.clocks.measure_number(clock)?, ns));
        out.put_all(self.since.iter().copied().filter_map(known), put);
        let totals = self.totals.iter().map(|(&clock, &ns)| (clock, ns));
        out.put_all(totals.filter_map(known), put);
        let known = |timer: &SuspendedTimer| {
            let clock = names.clocks.number(timer.clock)?;
            Some((*timer, clock, names.number(timer.key)?))
        };
        let suspended = self.suspended.iter().filter_map(known);
        out.put_all(suspended, |out, (timer, clock, number)| {
            out.put(timer.phase.as_usize() as u64);
            out.put(clock);
            out.put(timer.deadline_ns);
            out.put_len(number);
        });
    }

    /// Reads what [`save`](Self::save) has written.
    pub(crate) fn load(image: &mut Reader<'_>, names: &Names<'_>) -> Result<Self, Damaged> {
        let mut pause = Pause {
            own: image.take_flag()?,
            base_ns: image.take()?,
            wake: take_wake(image)?,
            ..Pause::default()
        };
        for _ in 0..image.take_len()? {
            pause
                .since
                .push((names.clocks.measure(image.take()?)?, image.take()?));
        }
        pause.since.sort_unstable();
        for _ in 0..image.take_len()? {
            pause
                .totals
                .insert(names.clocks.measure(image.take()?)?, image.take()?);
        }
        for _ in 0..image.take_len()? {
            let phase = PhaseIndex::from_number(image.take()?).ok_or(Damaged)?;
            let clock = names.clocks.clock(image.take()?)?.index();
            let timer = names.take_timer(image)?;
            pause.suspended.push(SuspendedTimer {
                phase,
                clock,
                deadline_ns: timer.deadline_ns,
                key: WaitKey::from_bits(timer.key),
            });
        }
        Ok(pause)
    }
}

/// Reads a wake, or `None` for 0.
fn take_wake(image: &mut Reader<'_>) -> Result<Option<Wake>, Damaged> {
    let number = image.take()?;
    let phase = |number| PhaseIndex::from_number(number).ok_or(Damaged);
    let phase = number.checked_sub(1).map(phase).transpose()?;
    // No run to come has this number.
    Ok(phase.map(|phase| Wake { phase, run: 0 }))
}
