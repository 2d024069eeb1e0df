//! What each script is doing at one point of the recording.

use crate::record::{Kind, NONE, Record};

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
    /// The permits that scripts hold.
    #[serde(default)]
    pub(crate) held: Vec<Held>,
    /// The last emission of each signal and watch.
    #[serde(default)]
    pub(crate) emitted: Vec<Emitted>,
}

/// Permits that a script has taken, and that nobody has given back. The script may have ended.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Held {
    pub(crate) name: u32,
    pub(crate) script: u32,
    pub(crate) count: u64,
    pub(crate) place: u32,
    pub(crate) frame: u64,
}

/// The last emission of a signal or a watch, or the value that was seen last.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Emitted {
    pub(crate) name: u32,
    /// How often it was emitted.
    pub(crate) count: u64,
    pub(crate) frame: u64,
    pub(crate) script: u32,
    /// As a name.
    pub(crate) value: u32,
}

/// More signals and watches are forgotten, those first that were emitted least lately.
const MOST_EMITTED: usize = 1_024;

/// More permits that are held at a time are forgotten, those first that were taken first.
const MOST_HELD: usize = 4_096;

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
            Kind::Marked => {}
            Kind::Emitted | Kind::Valued => self.emit(record),
            Kind::Acquired => {
                if self.held.len() == MOST_HELD {
                    self.held.remove(0);
                }
                self.held.push(Held {
                    name: record.other,
                    script: record.script,
                    count: record.value,
                    place: record.place,
                    frame: self.frame,
                });
            }
            Kind::Released => {
                let live = &self.live;
                let is_over = |script: u32| live.get(script as usize).is_none_or(|it| !it.is_alive);
                release(&mut self.held, record, is_over);
            }
            _ => self.apply_to_script(record),
        }
    }

    fn emit(&mut self, record: &Record) {
        let last = self.emitted.iter().rposition(|it| it.name == record.other);
        let mut emitted = match last {
            Some(at) => self.emitted.remove(at),
            None => Emitted {
                name: record.other,
                count: 0,
                frame: self.frame,
                script: record.script,
                value: 0,
            },
        };
        emitted.value = record.place;
        if record.kind == Kind::Emitted {
            emitted.count += 1;
            (emitted.frame, emitted.script) = (self.frame, record.script);
        }
        if self.emitted.len() == MOST_EMITTED {
            self.emitted.remove(0);
        }
        self.emitted.push(emitted);
    }

    /// Marks the scripts and the names that it refers to.
    pub(crate) fn mark(&self, scripts: &mut [bool], names: &mut [bool]) {
        for held in &self.held {
            scripts[held.script as usize] = true;
            names[held.name as usize] = true;
        }
        for emitted in &self.emitted {
            scripts[emitted.script as usize] = true;
            names[emitted.name as usize] = true;
            names[emitted.value as usize] = true;
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

/// Takes released permits from a list. Most often the
/// script that drops permits has got them; otherwise somebody has got them from their taker, who
/// has ended; otherwise they are those that have been held longest.
pub(crate) fn release(held: &mut Vec<Held>, record: &Record, is_over: impl Fn(u32) -> bool) {
    let is_of = |held: &Held| held.name == record.other && held.count == record.value;
    let own = held
        .iter()
        .rposition(|it| is_of(it) && it.script == record.script);
    let left = || {
        let is_left = |it: &Held| is_of(it) && it.script != NONE && is_over(it.script);
        held.iter().position(is_left)
    };
    if let Some(at) = own.or_else(left).or_else(|| held.iter().position(is_of)) {
        held.remove(at);
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
