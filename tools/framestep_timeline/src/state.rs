//! What each script is doing at one point of the recording.

use crate::record::{Kind, Record};

/// At most this many joins of a script are shown.
const MOST_WAITS: usize = 64;

/// The state before the first record that was kept, or after any other.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct State {
    pub(crate) frame: u64,
    /// The reading of the game clock, in nanoseconds.
    pub(crate) elapsed: u64,
    /// The phase of the run under way.
    pub(crate) phase: u16,
    /// The scripts that are being polled, innermost last.
    pub(crate) running: Vec<u32>,
    /// By the number of the script.
    pub(crate) live: Vec<Live>,
}

/// One script.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Live {
    pub(crate) is_alive: bool,
    /// The frame in which it was paused, and the script that did it.
    pub(crate) paused: Option<(u64, u32)>,
    /// Woken, and not polled since.
    pub(crate) is_woken: bool,
    pub(crate) was_polled: bool,
    pub(crate) waits: Vec<Open>,
}

/// A wait that has begun.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Open {
    pub(crate) record: Record,
    pub(crate) frame: u64,
}

impl State {
    pub(crate) fn apply(&mut self, record: &Record) {
        match record.kind {
            Kind::FrameBegan => {
                self.frame = record.frame();
                self.elapsed = record.value;
                self.phase = 0;
            }
            Kind::PhaseBegan => self.phase = record.phase,
            Kind::PhaseEnded => self.phase = 0,
            Kind::Emitted => {}
            _ => self.apply_to_script(record),
        }
    }

    fn apply_to_script(&mut self, record: &Record) {
        let number = record.script as usize;
        if number >= self.live.len() {
            self.live.resize_with(number + 1, Live::default);
        }
        let pauser = self.running.last().copied().unwrap_or(0);
        let live = &mut self.live[number];
        live.is_alive = true;
        match record.kind {
            Kind::Spawned => {
                // Keeps the memory of the list.
                live.waits.clear();
                let waits = std::mem::take(&mut live.waits);
                *live = Live {
                    is_alive: true,
                    waits,
                    ..Live::default()
                };
            }
            Kind::Resumed => {
                live.is_woken = false;
                live.was_polled = true;
                self.running.push(record.script);
            }
            Kind::Suspended => self.leave(record.script),
            Kind::Ended | Kind::Hidden => {
                live.is_alive = false;
                live.is_woken = false;
                live.paused = None;
                live.waits.clear();
                self.leave(record.script);
            }
            Kind::WaitBegan if live.waits.len() < MOST_WAITS => live.waits.push(Open {
                record: *record,
                frame: self.frame,
            }),
            Kind::WaitEnded => {
                if let Some(at) = ended(live.waits.iter().map(|open| &open.record), record) {
                    live.waits.remove(at);
                }
            }
            Kind::Woken => live.is_woken = true,
            Kind::Paused => live.paused = live.paused.or(Some((self.frame, pauser))),
            Kind::Unpaused => live.paused = None,
            _ => {}
        }
    }

    fn leave(&mut self, script: u32) {
        if let Some(at) = self.running.iter().rposition(|&running| running == script) {
            self.running.remove(at);
        }
    }
}

/// Which of the open waits has ended: the first that is equal, else the first of its
/// kind. (The time left does not count.)
pub(crate) fn ended<'a>(
    mut open: impl Iterator<Item = &'a Record> + Clone,
    end: &Record,
) -> Option<usize> {
    let same = open
        .clone()
        .position(|wait| wait.is_same_wait(end) && wait.value == end.value);
    let same = same.or_else(|| open.clone().position(|wait| wait.is_same_wait(end)));
    same.or_else(|| open.position(|wait| wait.detail == end.detail))
}
