//! When each event happened, in nanoseconds.

use crate::lanes::{At, Lanes};

/// The length of a frame without any other information.
const FRAME: u64 = 16_666_667;

#[derive(Debug)]
pub(crate) struct Stamps {
    /// By column, then by event. They strictly increase, so that the order is never lost.
    stamps: Vec<Vec<u64>>,
}

impl Stamps {
    pub(crate) fn of(lanes: &Lanes, is_timed: bool) -> Self {
        let stamps = if is_timed {
            measured(lanes)
        } else {
            spread(lanes)
        };
        Stamps { stamps }
    }

    pub(crate) fn at(&self, at: At) -> u64 {
        let Some(column) = self.stamps.get(at.column) else {
            return 0;
        };
        let event = usize::try_from(at.event).unwrap_or(usize::MAX);
        column[event.min(column.len() - 1)]
    }

    /// The end of a frame: where the next one begins, or its last event.
    pub(crate) fn end_of(&self, column: usize) -> u64 {
        let last = *self.stamps[column].last().expect("each frame has an end");
        match self.stamps.get(column + 1) {
            Some(next) => last.min(next[0]),
            None => last,
        }
    }
}

/// Frames are at the readings of the game clock, and their events are spread evenly.
fn spread(lanes: &Lanes) -> Vec<Vec<u64>> {
    let mut stamps = Vec::with_capacity(lanes.columns.len());
    let mut free = 0;
    for (at, column) in lanes.columns.iter().enumerate() {
        let events = u64::from(column.events) + 1;
        let begin = column.elapsed.max(free);
        let next = lanes.columns.get(at + 1).map_or(0, |next| next.elapsed);
        let length = if next > begin { next - begin } else { FRAME };
        let step = (length / (events + 1)).max(1);
        stamps.push((0..events).map(|event| begin + event * step).collect());
        free = begin + events * step;
    }
    stamps
}

/// Events with a reading of the stopwatch are at that time, other events right after
/// them.
fn measured(lanes: &Lanes) -> Vec<Vec<u64>> {
    let mut stamps: Vec<Vec<u64>> = lanes
        .columns
        .iter()
        .map(|column| vec![0; column.events as usize + 1])
        .collect();
    let mut set = |at: At, stamp: u64| {
        if let Some(known) = stamps
            .get_mut(at.column)
            .and_then(|column| column.get_mut(at.event as usize))
        {
            *known = stamp;
        }
    };
    for (column, known) in lanes.columns.iter().enumerate() {
        for run in &known.runs {
            set(
                At {
                    column,
                    event: run.from,
                },
                run.stamps.0,
            );
            set(
                At {
                    column,
                    event: run.to,
                },
                run.stamps.1,
            );
        }
    }
    for poll in lanes.lanes.iter().flat_map(|lane| &lane.polls) {
        set(poll.from, poll.stamps.0);
        set(poll.to, poll.stamps.1);
    }
    // An event without a reading happened after the one before it. The first ones of a
    // film happened before the first reading.
    let first = stamps.iter().flatten().copied().find(|stamp| *stamp > 0);
    let mut now = first.unwrap_or(0).saturating_sub(1_000_000);
    for stamp in stamps.iter_mut().flatten() {
        now = (*stamp).max(now + 1);
        *stamp = now;
    }
    stamps
}
