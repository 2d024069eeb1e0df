//! A film sorted by script, as a picture shows it.

use std::collections::{BTreeMap, HashMap, HashSet};

use framestep::task::Outcome;

use crate::film::Film;
use crate::record::{Kind, NONE, Record, WaitKind};
use crate::state::{self, Emitted, Held};

/// A poll that takes longer holds up the frame: a quarter of a frame at 60 a second.
const LONG_POLL: u64 = 4_000_000;
/// With fewer polls, no poll is slow beside the others.
const FEW_POLLS: usize = 8;
/// A poll is slow beside the others if it takes this many times as long as most of them,
const OUTLIER: u64 = 20;
/// and at least this long.
const LEAST_OUTLIER: u64 = 1_000_000;

/// A point of the film.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(crate) struct At {
    /// The number of the frame among those that are shown.
    pub(crate) column: usize,
    /// How many events of the frame come before it.
    pub(crate) event: u32,
}

/// One frame.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) frame: u64,
    /// The reading of the game clock, in nanoseconds.
    pub(crate) elapsed: u64,
    pub(crate) events: u32,
    pub(crate) runs: Vec<Run>,
}

/// One run of a phase.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) phase: u16,
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// The stopwatch at its beginning and its end.
    pub(crate) stamps: (u64, u64),
}

/// One script.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) script: u32,
    pub(crate) from: At,
    /// `None` if it was alive before the film.
    pub(crate) spawned: Option<At>,
    pub(crate) ended: Option<(At, Outcome)>,
    pub(crate) stopped: Option<Stopped>,
    pub(crate) polls: Vec<Poll>,
    pub(crate) waits: Vec<Bar>,
    pub(crate) pauses: Vec<Pause>,
    /// If it has timers on several clocks, that of most of them. In doubt, the game clock.
    pub(crate) clock: Option<u32>,
    /// How long half of its polls took, or less.
    pub(crate) median: u64,
    /// The least time of a poll that is slow beside the others, if there are such polls.
    pub(crate) outlier: Option<u64>,
}

impl Lane {
    /// Whether a poll held up the frame, or took long beside the others of the script.
    pub(crate) fn is_slow(&self, poll: &Poll) -> bool {
        poll.is_long() || self.outlier.is_some_and(|least| poll.took() >= least)
    }

    /// The poll that began at a moment.
    pub(crate) fn poll_at(&self, at: At) -> Option<&Poll> {
        let poll = self.polls.partition_point(|poll| poll.from < at);
        self.polls.get(poll).filter(|poll| poll.from == at)
    }

    fn choose_clock(&mut self) {
        let timers = self.waits.iter().map(|bar| &bar.wait);
        let timers = timers.filter(|wait| wait.wait_kind() == WaitKind::Timer);
        let mut clocks: BTreeMap<u32, usize> = BTreeMap::new();
        for timer in timers {
            *clocks.entry(timer.other).or_default() += 1;
        }
        let most = clocks.iter().rev().max_by_key(|(_, count)| **count);
        let most = most.filter(|_| clocks.len() > 1);
        self.clock = most.map(|(clock, _)| *clock);
    }

    /// Where it has waited, the latest first.
    pub(crate) fn places(&self) -> impl Iterator<Item = u32> {
        self.waits.iter().rev().map(|bar| bar.wait.place())
    }

    /// Finds out which polls are slow beside the others.
    fn measure(&mut self) {
        let mut times: Vec<u64> = self.polls.iter().map(Poll::took).collect();
        if times.len() < FEW_POLLS {
            return;
        }
        times.sort_unstable();
        self.median = times[times.len() / 2];
        let least = (self.median * OUTLIER).max(LEAST_OUTLIER);
        let slow = times.len() - times.partition_point(|took| *took < least);
        // One or two may be the fault of other programs.
        self.outlier = (slow >= 3).then_some(least);
    }
}

/// What is known about the stop of a script.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopped {
    /// The script in whose poll it was stopped.
    pub(crate) by: u32,
    /// Where that script had waited last.
    pub(crate) after: u32,
    /// Whether no script of its owner was left.
    pub(crate) empties_owner: bool,
}

/// One poll of a script.
#[derive(Clone, Debug)]
pub(crate) struct Poll {
    pub(crate) from: At,
    pub(crate) to: At,
    pub(crate) phase: u16,
    /// The name of the signal that resumed it.
    pub(crate) by: u32,
    /// Where it had waited.
    pub(crate) place: u32,
    /// The stopwatch at its beginning and its end.
    pub(crate) stamps: (u64, u64),
    /// The time of the scripts that were polled inside this poll.
    pub(crate) inner: u64,
    pub(crate) is_over: bool,
}

impl Poll {
    /// How long it took, without the scripts that were polled inside it.
    pub(crate) fn took(&self) -> u64 {
        let took = self.stamps.1.saturating_sub(self.stamps.0);
        took.saturating_sub(self.inner)
    }

    /// Whether it held up the frame.
    pub(crate) fn is_long(&self) -> bool {
        self.took() >= LONG_POLL
    }
}

/// One wait.
#[derive(Clone, Debug)]
pub(crate) struct Bar {
    pub(crate) wait: Record,
    pub(crate) from: At,
    /// The game clock when it began; unknown if that was before the film.
    pub(crate) now: Option<u64>,
    /// The frame in which it began.
    pub(crate) since: u64,
    /// `None` if it lasts longer than the film.
    pub(crate) to: Option<At>,
}

impl Bar {
    /// Whether it is a timer on another clock than this.
    pub(crate) fn is_not_on(&self, clock: u32) -> bool {
        self.wait.wait_kind() == WaitKind::Timer && self.wait.other != clock
    }
}

/// A pause of a script.
#[derive(Clone, Debug)]
pub(crate) struct Pause {
    /// Whether it began before the film.
    pub(crate) is_older: bool,
    pub(crate) from: At,
    pub(crate) to: Option<At>,
    pub(crate) since: u64,
    /// The script in whose poll it was paused.
    pub(crate) by: u32,
    /// Where that script had waited last.
    pub(crate) after: u32,
}

/// An arrow from one script to another.
#[derive(Clone, Debug)]
pub(crate) struct Arrow {
    pub(crate) kind: ArrowKind,
    /// [`NONE`] for the host.
    pub(crate) source: u32,
    pub(crate) from: At,
    pub(crate) target: u32,
    pub(crate) to: At,
    /// The name of the signal.
    pub(crate) name: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ArrowKind {
    Spawn,
    Join,
    Signal,
    Wake,
}

/// A signal was emitted.
#[derive(Clone, Debug)]
pub(crate) struct Emit {
    pub(crate) source: u32,
    pub(crate) at: At,
    pub(crate) name: u32,
    /// Where the source had waited last.
    pub(crate) after: u32,
    /// How many listened to it, if that is known.
    pub(crate) listeners: Option<u8>,
    /// The new value of a watch, as a name.
    pub(crate) value: u32,
    /// How many scripts it woke.
    pub(crate) woke: usize,
}

impl Emit {
    /// Whether its event is lost.
    pub(crate) fn is_unheard(&self) -> bool {
        self.listeners == Some(0) && self.woke == 0 && self.value == NONE
    }
}

/// The value of a watch that was seen.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) at: At,
    pub(crate) watch: u32,
    /// As a name.
    pub(crate) value: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Lanes {
    pub(crate) columns: Vec<Column>,
    /// In the order in which they were spawned.
    pub(crate) lanes: Vec<Lane>,
    pub(crate) arrows: Vec<Arrow>,
    pub(crate) emits: Vec<Emit>,
    /// The last emissions before the film.
    pub(crate) before: Vec<Emitted>,
    /// The permits that are held at the end. Their takers may have ended.
    pub(crate) held: Vec<Held>,
    /// The values of watches, in order.
    pub(crate) values: Vec<Value>,
    /// The marks of the user, as names.
    pub(crate) marks: Vec<(At, u32)>,
}

impl Lanes {
    pub(crate) fn of(film: &Film) -> Lanes {
        Lanes::read(film, false)
    }

    /// With the scripts that are not shown.
    pub(crate) fn of_all(film: &Film) -> Lanes {
        Lanes::read(film, true)
    }

    fn read(film: &Film, shows_all: bool) -> Lanes {
        let mut reader = Reader {
            film,
            shows_all,
            now: film.base.elapsed,
            phase: film.base.phase,
            lanes: Lanes {
                before: film.base.emitted.clone(),
                held: film.base.held.clone(),
                ..Lanes::default()
            },
            by_script: vec![None; film.tables.scripts.len()],
            causes: vec![Causes::default(); film.tables.scripts.len()],
            running: film.base.running.clone(),
            knows_all: !film.is_filtered && film.begins_late().is_none(),
            owned: HashMap::new(),
            emptied: HashSet::new(),
        };
        reader.begin();
        for record in &film.records {
            reader.read(record);
        }
        let Reader {
            mut lanes, emptied, ..
        } = reader;
        for lane in &mut lanes.lanes {
            lane.choose_clock();
            if let (Some(stopped), Some((at, _))) = (&mut lane.stopped, lane.ended) {
                let owner = film.script(lane.script).owner;
                stopped.empties_owner = emptied.contains(&(owner, at.column));
            }
        }
        if film.is_timed {
            lanes.lanes.iter_mut().for_each(Lane::measure);
        }
        lanes
            .lanes
            .sort_by_key(|lane| film.script(lane.script).serial);
        lanes
    }

    /// The end of the film.
    pub(crate) fn end(&self) -> At {
        let last = self.columns.len().saturating_sub(1);
        let event = self.columns.last().map_or(0, |column| column.events);
        At {
            column: last,
            event,
        }
    }
}

/// Why a script is about to be resumed.
#[derive(Clone, Debug, Default)]
struct Causes {
    spawned: Option<(u32, At)>,
    ended: Option<At>,
    /// Whether it had ended before the film.
    is_older: bool,
    /// Where it has waited last, or where it was started.
    after: u32,
    woken: Option<(u32, At, u32)>,
}

struct Reader<'a> {
    film: &'a Film,
    shows_all: bool,
    now: u64,
    phase: u16,
    lanes: Lanes,
    by_script: Vec<Option<usize>>,
    /// By the number of the script.
    causes: Vec<Causes>,
    running: Vec<u32>,
    /// Whether no script is left out.
    knows_all: bool,
    /// How many scripts each owner has.
    owned: HashMap<u32, usize>,
    /// The owners whose last script ended, and the column.
    emptied: HashSet<(u32, usize)>,
}

impl Reader<'_> {
    fn shows(&self, script: u32) -> bool {
        self.film.is_shown(script) || self.shows_all && script != NONE
    }

    /// What began before the film continues in its first frame.
    fn begin(&mut self) {
        let base = &self.film.base;
        if self.film.has_part_of_a_frame() {
            self.add_column(base.frame, base.elapsed);
        }
        for emitted in base.emitted.iter().filter(|it| it.value != NONE) {
            self.lanes.values.push(Value {
                at: At::default(),
                watch: emitted.name,
                value: emitted.value,
            });
        }
        for held in &base.held {
            // One that the filter hides has no state.
            let is_known = held.script != NONE && !self.film.is_filtered;
            let live = base.live.get(held.script as usize);
            self.causes[held.script as usize].is_older =
                is_known && live.is_none_or(|live| !live.is_alive);
        }
        for (script, live) in (0..).zip(&base.live) {
            if live.is_alive {
                *self
                    .owned
                    .entry(self.film.script(script).owner)
                    .or_default() += 1;
            }
            if !live.is_alive || !self.shows(script) {
                continue;
            }
            let lane = self.add_lane(script, None);
            let from = At::default();
            lane.waits.extend(live.waits.iter().map(|open| Bar {
                wait: open.record,
                from,
                now: None,
                since: open.frame,
                to: None,
            }));
            let pause = live.paused.map(|(since, by)| Pause {
                is_older: true,
                from,
                to: None,
                since,
                by,
                after: NONE,
            });
            lane.pauses.extend(pause);
        }
    }

    fn add_column(&mut self, frame: u64, elapsed: u64) {
        self.lanes.columns.push(Column {
            frame,
            elapsed,
            events: 0,
            runs: Vec::new(),
        });
    }

    fn add_lane(&mut self, script: u32, spawned: Option<At>) -> &mut Lane {
        let lanes = &mut self.lanes.lanes;
        self.by_script[script as usize] = Some(lanes.len());
        lanes.push(Lane {
            script,
            from: spawned.unwrap_or_default(),
            spawned,
            ended: None,
            stopped: None,
            polls: Vec::new(),
            waits: Vec::new(),
            pauses: Vec::new(),
            clock: None,
            median: 0,
            outlier: None,
        });
        lanes.last_mut().expect("it has just been added")
    }

    /// The lane of a script. A script without a lane was alive before the recorder began.
    fn lane(&mut self, script: u32) -> Option<&mut Lane> {
        if !self.shows(script) {
            return None;
        }
        match self.by_script[script as usize] {
            Some(at) => Some(&mut self.lanes.lanes[at]),
            None => Some(self.add_lane(script, None)),
        }
    }

    fn at(&self) -> At {
        let column = self.lanes.columns.len().saturating_sub(1);
        At {
            column,
            event: self.lanes.columns.last().map_or(0, |column| column.events),
        }
    }

    fn frame(&self) -> u64 {
        self.lanes.columns.last().map_or(0, |column| column.frame)
    }

    fn read(&mut self, record: &Record) {
        match record.kind {
            Kind::FrameBegan => {
                self.now = record.value;
                self.phase = 0;
                return self.add_column(record.frame(), record.value);
            }
            Kind::PhaseBegan | Kind::PhaseEnded => self.read_phase(record),
            Kind::Emitted => {
                let at = self.at();
                self.lanes.emits.push(Emit {
                    source: record.script,
                    at,
                    name: record.other,
                    after: self.after(record.script),
                    listeners: record.listeners(),
                    value: record.place,
                    woke: 0,
                });
                self.read_value(record);
            }
            Kind::Valued => self.read_value(record),
            Kind::Marked => self.lanes.marks.push((self.at(), record.other)),
            Kind::Acquired => {
                let frame = self.frame();
                self.lanes.held.push(Held {
                    name: record.other,
                    script: record.script,
                    count: record.value,
                    place: record.place,
                    frame,
                });
            }
            Kind::Released => {
                let causes = &self.causes;
                let is_over = |script: u32| {
                    let known = &causes[script as usize];
                    known.is_older || known.ended.is_some()
                };
                state::release(&mut self.lanes.held, record, is_over);
            }
            _ => self.read_script(record),
        }
        if let Some(column) = self.lanes.columns.last_mut() {
            column.events += 1;
        }
    }

    fn read_value(&mut self, record: &Record) {
        if record.place != NONE {
            self.lanes.values.push(Value {
                at: self.at(),
                watch: record.other,
                value: record.place,
            });
        }
    }

    fn read_phase(&mut self, record: &Record) {
        let at = self.at().event;
        let Some(column) = self.lanes.columns.last_mut() else {
            return;
        };
        if record.kind == Kind::PhaseBegan {
            self.phase = record.phase;
            column.runs.push(Run {
                phase: record.phase,
                from: at,
                to: at,
                stamps: (record.value, record.value),
            });
        } else {
            self.phase = 0;
            if let Some(run) = column.runs.last_mut() {
                run.to = at;
                run.stamps.1 = record.value;
            }
        }
    }

    fn read_script(&mut self, record: &Record) {
        let (at, now, script) = (self.at(), self.now, record.script);
        let since = self.frame();
        match record.kind {
            Kind::Spawned => {
                if self.shows(script) && self.by_script[script as usize].is_none() {
                    self.add_lane(script, Some(at));
                }
                let owner = self.film.script(script).owner;
                *self.owned.entry(owner).or_default() += 1;
                let spawned = (record.other != NONE).then_some((record.other, at));
                self.causes[script as usize] = Causes {
                    spawned,
                    after: record.place,
                    ..Causes::default()
                };
            }
            Kind::Resumed => self.resume(record),
            Kind::Suspended => self.suspend(record),
            Kind::Ended => {
                self.suspend(record);
                self.causes[script as usize].ended = Some(at);
                self.leave_owner(script);
                let by = self.running.last().copied().unwrap_or(NONE);
                let stopped = (record.outcome() == Outcome::Stopped).then(|| Stopped {
                    by,
                    after: self.after(by),
                    empties_owner: false,
                });
                if let Some(lane) = self.lane(script) {
                    lane.ended = Some((at, record.outcome()));
                    lane.stopped = stopped;
                    lane.waits
                        .iter_mut()
                        .for_each(|bar| bar.to = bar.to.or(Some(at)));
                    lane.pauses
                        .iter_mut()
                        .for_each(|pause| pause.to = pause.to.or(Some(at)));
                }
            }
            Kind::WaitBegan => {
                let now = Some(now);
                if let Some(lane) = self.lane(script) {
                    lane.waits.push(Bar {
                        wait: *record,
                        from: at,
                        now,
                        since,
                        to: None,
                    });
                }
            }
            Kind::WaitEnded => self.end_wait(record),
            Kind::Woken => {
                if let Some(emit) = self.lanes.emits.last_mut() {
                    let is_it = emit.name == record.place && emit.at.column == at.column;
                    emit.woke += usize::from(is_it && emit.source == record.other);
                }
                let cause = &mut self.causes[script as usize];
                // The first signal that woke it takes precedence over the first waker.
                if cause
                    .woken
                    .is_none_or(|(_, _, name)| name == NONE && record.place != NONE)
                {
                    cause.woken = Some((record.other, at, record.place));
                }
            }
            Kind::Paused => {
                let by = self.running.last().copied().unwrap_or(NONE);
                let after = self.after(by);
                if let Some(lane) = self.lane(script) {
                    lane.pauses.push(Pause {
                        is_older: false,
                        from: at,
                        to: None,
                        since,
                        by,
                        after,
                    });
                }
            }
            Kind::Unpaused => {
                if let Some(pause) = self.lane(script).and_then(|lane| lane.pauses.last_mut()) {
                    pause.to = Some(at);
                }
            }
            _ => {}
        }
    }

    fn leave_owner(&mut self, script: u32) {
        let owner = self.film.script(script).owner;
        let column = self.at().column;
        if let Some(left) = self.owned.get_mut(&owner).filter(|left| **left > 0) {
            *left -= 1;
            if *left == 0 && owner != NONE && self.knows_all {
                self.emptied.insert((owner, column));
            }
        }
    }

    fn end_wait(&mut self, record: &Record) {
        let at = self.at();
        if let Some(lane) = self.lane(record.script) {
            // One that ends in a poll ends as that begins.
            let poll = lane.polls.last().filter(|poll| !poll.is_over);
            let at = poll.map_or(at, |poll| poll.from);
            // The open ones are among the last.
            let from = lane.waits.iter().rposition(|bar| bar.to.is_none());
            let from = from.map_or(0, |last| last.saturating_sub(64));
            let is_open = |bar: &&Bar| bar.to.is_none();
            let open: Vec<usize> = (from..lane.waits.len())
                .filter(|&at| is_open(&&lane.waits[at]))
                .collect();
            let records = open.iter().map(|&at| &lane.waits[at].wait);
            if let Some(which) = state::ended(records, record) {
                lane.waits[open[which]].to = Some(at);
            }
        }
    }

    fn resume(&mut self, record: &Record) {
        let (at, script) = (self.at(), record.script);
        let joined = self.joined(script);
        let cause = &mut self.causes[script as usize];
        let woken = cause.woken.take();
        if let Some((parent, from)) = cause.spawned.take() {
            self.arrow(ArrowKind::Spawn, parent, from, script, NONE);
        }
        let ended = joined.and_then(|child| Some((child, self.causes[child as usize].ended?)));
        if let Some((child, ended)) = ended {
            self.arrow(ArrowKind::Join, child, ended, script, NONE);
        }
        if let Some((by, from, name)) = woken {
            let is_told = ended.is_some() && name == NONE;
            if !is_told && by != script {
                let kind = if name == NONE {
                    ArrowKind::Wake
                } else {
                    ArrowKind::Signal
                };
                self.arrow(kind, by, from, script, name);
            }
        }
        self.running.push(script);
        if let Some(lane) = self.lane(script) {
            lane.polls.push(Poll {
                from: at,
                to: at,
                phase: record.phase,
                by: record.other,
                place: record.place,
                stamps: (record.value, record.value),
                inner: 0,
                is_over: false,
            });
        }
        if record.place != NONE {
            self.causes[script as usize].after = record.place;
        }
    }

    /// The script that this one has joined, and which has ended.
    fn joined(&self, script: u32) -> Option<u32> {
        let lane = &self.lanes.lanes[self.by_script[script as usize]?];
        let open = lane
            .waits
            .iter()
            .rev()
            .take(64)
            .filter(|bar| bar.to.is_none());
        let mut joins = open.filter(|bar| bar.wait.wait_kind() == WaitKind::Join);
        let child = joins.find(|bar| self.causes[bar.wait.other as usize].ended.is_some())?;
        Some(child.wait.other)
    }

    /// Where a script waited last, or was started: what it does now comes after that
    /// line.
    fn after(&self, script: u32) -> u32 {
        self.causes[script as usize].after
    }

    fn suspend(&mut self, record: &Record) {
        let at = self.at();
        let Some(running) = self
            .running
            .iter()
            .rposition(|&script| script == record.script)
        else {
            return;
        };
        self.running.truncate(running);
        let outer = self.running.last().copied();
        let mut took = 0;
        if let Some(poll) = self
            .lane(record.script)
            .and_then(|lane| lane.polls.last_mut())
        {
            poll.to = at;
            poll.stamps.1 = record.value;
            poll.is_over = true;
            took = record.value.saturating_sub(poll.stamps.0);
        }
        if let Some(outer) = outer.and_then(|outer| self.lane(outer)) {
            if let Some(poll) = outer.polls.last_mut() {
                poll.inner += took;
            }
        }
    }

    fn arrow(&mut self, kind: ArrowKind, source: u32, from: At, target: u32, name: u32) {
        let to = self.at();
        if self.shows(target) && (source == NONE || self.shows(source)) {
            if source == NONE && matches!(kind, ArrowKind::Spawn | ArrowKind::Wake) {
                return;
            }
            self.lanes.arrows.push(Arrow {
                kind,
                source,
                from,
                target,
                to,
                name,
            });
        }
    }
}
