//! The recorder: listens to an executor, and keeps the last frames.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use framestep::Executor;
use framestep::inspect::{Source, TraceEvent, TraceHook};
use framestep::task::CoroutineId;

use crate::film::Film;
use crate::filter::Filter;
use crate::fold::BuildFold;
use crate::record::{Kind, NONE, Record};
use crate::tape::{Dropped, Tape};

const MOST_FRAMES: usize = 3_600;
const MOST_EVENTS: usize = 1 << 20;

/// Records what the scripts of an executor do, and keeps the last frames.
///
/// An event takes 24 bytes. A new recorder keeps the last 3,600 frames (a minute at 60 a
/// second), and at most 1,048,576 events (24 MiB). When it is full, it drops the oldest,
/// and [says how many](Recorder::dropped). It remembers what each script was doing at
/// that point, so the rest is still complete.
///
/// A recorder is a handle: clones share the same memory. It stays on its thread. The
/// [`Film`] it returns is plain data.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
/// use framestep_timeline::Recorder;
///
/// let mut executor = Executor::new();
/// let recorder = Recorder::new();
/// recorder.watch(&executor);
///
/// let door = executor.script("door").start(wait_seconds(0.5));
/// executor.script("hero").start(async { drop(door.await) });
/// executor.run_frames(3, 0.25);
///
/// recorder.film().expect("
///     frame 0 1 2 3
///     door  * - *
///     hero  * - *
/// ");
/// ```
#[derive(Clone)]
pub struct Recorder(Rc<Shared>);

struct Shared {
    inner: RefCell<Inner>,
    stopwatch: RefCell<Option<Box<dyn FnMut() -> Duration>>>,
    /// The latest reading of the stopwatch.
    now: Cell<u64>,
}

pub(crate) struct Inner {
    pub(crate) tape: Tape,
    ids: HashMap<CoroutineId, u32, BuildFold>,
    /// The names of the signals, watches and semaphores.
    pub(crate) sources: HashMap<Source, u32, BuildFold>,
    /// The name of the source that was emitted last.
    pub(crate) emitted: u32,
    /// The scripts of the latest events, the last one first. Most often, the next event
    /// is also about one of them.
    latest: [Option<(CoroutineId, u32)>; 2],
    /// By the number of the script.
    pub(crate) notes: Vec<Note>,
    filter: Filter,
    is_timed: bool,
}

/// What the recorder must know about a script, besides what it records.
#[derive(Clone, Debug, Default)]
pub(crate) struct Note {
    id: Option<CoroutineId>,
    polls: u8,
    is_hidden: bool,
    /// What it waited for when it was suspended last.
    pub(crate) waits: Vec<Record>,
}

impl Recorder {
    /// Creates a recorder. It records nothing until it [watches](Recorder::watch) an
    /// executor.
    pub fn new() -> Self {
        Recorder(Rc::new(Shared {
            inner: RefCell::new(Inner {
                tape: Tape::new(MOST_FRAMES, MOST_EVENTS),
                ids: HashMap::default(),
                sources: HashMap::default(),
                emitted: NONE,
                latest: [None; 2],
                notes: vec![Note::default()],
                filter: Filter::new(),
                is_timed: false,
            }),
            stopwatch: RefCell::new(None),
            now: Cell::new(0),
        }))
    }

    /// Keeps the last `frames` frames (at least one).
    #[must_use]
    pub fn keep_frames(self, frames: usize) -> Self {
        self.0
            .inner
            .borrow_mut()
            .tape
            .set_limits(Some(frames), None);
        self
    }

    /// Keeps at most `events` events (at least 16): 24 bytes each.
    #[must_use]
    pub fn keep_events(self, events: usize) -> Self {
        self.0
            .inner
            .borrow_mut()
            .tape
            .set_limits(None, Some(events));
        self
    }

    /// Records only the scripts that the filter chooses.
    ///
    /// A script can get its name after its first poll. So the filter decides when a
    /// script is polled for the second time.
    #[must_use]
    pub fn only(self, filter: Filter) -> Self {
        self.0.inner.borrow_mut().filter = filter;
        self
    }

    /// Measures how long polls and phases take, with the host's own stopwatch. It returns
    /// the time since a fixed point. Nothing else in this crate reads a clock.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Instant;
    /// use framestep_timeline::Recorder;
    ///
    /// let start = Instant::now();
    /// let recorder = Recorder::new().stopwatch(move || start.elapsed());
    /// ```
    #[must_use]
    pub fn stopwatch(self, stopwatch: impl FnMut() -> Duration + 'static) -> Self {
        self.0.inner.borrow_mut().is_timed = true;
        *self.0.stopwatch.borrow_mut() = Some(Box::new(stopwatch));
        self
    }

    /// Records this executor from now on, by a hook for its [full
    /// trace](Executor::on_full_trace). [`TraceHook::remove`] ends the recording, and
    /// what has been recorded stays. The executor can have other hooks, such as that of a
    /// panel or of a second recorder.
    ///
    /// Call it before the first script is started. The recorder does not know the names
    /// and the waits of earlier scripts until they are polled.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    /// use framestep_timeline::Recorder;
    ///
    /// let mut executor = Executor::new();
    /// executor.script("door").start(wait_seconds(9));
    /// let recorder = Recorder::new();
    /// let hook = recorder.watch(&executor);
    /// executor.script("hero").start(next_frame());
    /// executor.run_frame(0.25);
    /// hook.remove();
    /// executor.run_frame(0.25);
    /// assert_eq!(recorder.film().range(), Some(0..=1));
    /// ```
    pub fn watch(&self, executor: &Executor) -> TraceHook {
        let recorder = self.clone();
        executor.on_full_trace(move |event| recorder.record(event))
    }

    /// Records one event: for a host whose own hook receives the events.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    /// use framestep_timeline::Recorder;
    ///
    /// let executor = Executor::new();
    /// let recorder = Recorder::new();
    /// let copy = recorder.clone();
    /// executor.on_full_trace(move |event| {
    ///     copy.record(event);
    ///     println!("{event}");
    /// });
    /// executor.script("door").start(next_frame());
    /// assert_eq!(recorder.film().scripts(), 1);
    /// ```
    pub fn record(&self, event: &TraceEvent) {
        if Inner::is_timed(&event.kind) {
            self.read_stopwatch();
        }
        // A stopwatch can do anything, so nothing is borrowed while it is read.
        if let Ok(mut inner) = self.0.inner.try_borrow_mut() {
            inner.note(event, self.0.now.get());
        }
    }

    fn read_stopwatch(&self) {
        if let Ok(mut stopwatch) = self.0.stopwatch.try_borrow_mut() {
            if let Some(stopwatch) = &mut *stopwatch {
                let nanos = u64::try_from(stopwatch().as_nanos()).unwrap_or(u64::MAX);
                // A reading that goes backwards is replaced by the one before.
                self.0.now.set(nanos.max(self.0.now.get()));
            }
        }
    }

    /// Adds a mark at this moment, such as "night" or "level 2". Pictures show it.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::prelude::*;
    /// use framestep_timeline::Recorder;
    ///
    /// let mut executor = Executor::new();
    /// let recorder = Recorder::new();
    /// recorder.watch(&executor);
    /// executor.script("owl").start(wait_seconds(2));
    /// executor.run_frames(4, 0.25);
    /// recorder.mark("night");
    /// executor.run_frames(4, 0.25);
    /// assert!(recorder.film().svg().to_string().contains("night"));
    /// ```
    pub fn mark(&self, text: &str) {
        if let Ok(mut inner) = self.0.inner.try_borrow_mut() {
            let other = inner.name(text);
            inner.tape.push(Record {
                other,
                ..Record::new(Kind::Marked, 0, NONE)
            });
        }
    }

    /// A copy of everything that has been kept.
    pub fn film(&self) -> Film {
        let inner = self.0.inner.borrow();
        let label = |note: &Note| note.id.map_or(String::new(), |id| id.to_string());
        let labels = inner.notes.iter().map(label).collect();
        Film::new(&inner.tape, labels, &inner.filter, inner.is_timed)
    }

    /// How much has been dropped because the recorder was full.
    pub fn dropped(&self) -> Dropped {
        self.0.inner.borrow().tape.dropped
    }

    /// How many events it keeps now.
    pub fn len(&self) -> usize {
        self.0.inner.borrow().tape.records.len()
    }

    /// Whether it has kept no event.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How much memory it takes, in bytes: the events, and the names and scripts that they
    /// refer to.
    pub fn bytes(&self) -> usize {
        let inner = self.0.inner.borrow();
        let waits = inner.notes.iter().map(|note| note.waits.capacity());
        let waits = waits.sum::<usize>() * size_of::<Record>();
        let notes = inner.notes.capacity() * size_of::<Note>() + waits;
        let sources = inner.sources.capacity() * (size_of::<(Source, u32)>() + 1);
        let ids = inner.ids.capacity() * (size_of::<(CoroutineId, u32)>() + 1);
        inner.tape.bytes() + notes + ids + sources
    }

    /// A hash of the whole run: equal runs have equal hashes. It covers all recorded
    /// events from the beginning, even if they have been dropped since, but not the times
    /// of the [stopwatch](Recorder::stopwatch).
    pub fn hash(&self) -> u64 {
        crate::fold::finish(self.0.inner.borrow().tape.hash)
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Recorder::new()
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Recorder");
        if let Ok(inner) = self.0.inner.try_borrow() {
            debug.field("events", &inner.tape.records.len());
            debug.field("dropped", &inner.tape.dropped);
        }
        debug.finish_non_exhaustive()
    }
}

impl Inner {
    /// The number of a script. A script that is new here was alive before the recorder
    /// began.
    pub(crate) fn script(&mut self, id: CoroutineId) -> u32 {
        for &(latest, script) in self.latest.iter().flatten() {
            if latest == id {
                return script;
            }
        }
        let script = match self.ids.get(&id) {
            Some(&script) => script,
            None => self.add_script(id),
        };
        self.latest = [Some((id, script)), self.latest[0]];
        script
    }

    #[cold]
    fn add_script(&mut self, id: CoroutineId) -> u32 {
        let script = self.tape.tables.add_script();
        self.ids.insert(id, script);
        let at = script as usize;
        if at >= self.notes.len() {
            self.notes.resize_with(at + 1, Note::default);
        }
        self.notes[at] = Note {
            id: Some(id),
            ..Note::default()
        };
        script
    }

    pub(crate) fn name(&mut self, text: &str) -> u32 {
        self.tape.tables.names.number(text)
    }

    pub(crate) fn take_waits(&mut self, script: u32) -> Vec<Record> {
        std::mem::take(&mut self.notes[script as usize].waits)
    }

    pub(crate) fn set_waits(&mut self, script: u32, waits: Vec<Record>) {
        self.notes[script as usize].waits = waits;
    }

    /// A script was started.
    pub(crate) fn spawn(&mut self, script: u32, phase: u16, name: &str) {
        let number = self.name(name);
        let known = &mut self.tape.tables.scripts[script as usize];
        known.name = number;
        let record = Record {
            phase,
            ..Record::of_spawn(script, known)
        };
        self.push(record);
    }

    /// Records the name of a script, if it is new.
    #[inline]
    pub(crate) fn set_name(&mut self, script: u32, name: &str) {
        let tables = &mut self.tape.tables;
        let known = tables.scripts[script as usize].name;
        if tables.names.is(known, name) {
            return;
        }
        let number = tables.names.number(name);
        tables.scripts[script as usize].name = number;
        let record = Record {
            other: number,
            ..Record::new(Kind::Named, 0, script)
        };
        self.tape.push(record);
        if self.notes[script as usize].polls > 1 {
            self.decide(script);
        }
    }

    /// Records the beginning of a poll. The filter may decide about the script now.
    pub(crate) fn count_poll(&mut self, script: u32) {
        let note = &mut self.notes[script as usize];
        note.polls = note.polls.saturating_add(1);
        if note.polls == 2 {
            self.decide(script);
        }
    }

    fn decide(&mut self, script: u32) {
        if self.filter.chooses_all() {
            return;
        }
        let tables = &self.tape.tables;
        let known = tables.scripts[script as usize];
        let name = |number| tables.names.get(number);
        let hides = !self.filter.chooses(name(known.name), name(known.owner));
        let note = &mut self.notes[script as usize];
        if hides == note.is_hidden {
            return;
        }
        note.is_hidden = hides;
        self.tape.push(if hides {
            Record::new(Kind::Hidden, 0, script)
        } else {
            Record::of_spawn(script, &known)
        });
    }

    /// Records an event of a script, unless the filter hides it.
    #[inline]
    pub(crate) fn push(&mut self, record: Record) {
        if self.notes[record.script as usize].is_hidden && !record.is_public() {
            if record.kind == Kind::Ended {
                self.notes[record.script as usize].is_hidden = false;
            }
            return;
        }
        self.tape.push(record);
    }

    /// Begins a frame. Unused memory is freed between two frames.
    pub(crate) fn begin_frame(&mut self, frame: u64, elapsed: u64) {
        self.tape.push(Record::of_frame(frame, elapsed));
        self.latest = [None; 2];
        let notes = &self.notes;
        let swept = self.tape.sweep(|script| notes[script as usize].is_hidden);
        for script in swept.scripts {
            if let Some(id) = self.notes[script as usize].id.take() {
                self.ids.remove(&id);
            }
        }
        if swept.has_sources {
            let tables = &self.tape.tables;
            self.sources.retain(|_, name| tables.has_source(*name));
            self.emitted = NONE;
        }
    }
}
