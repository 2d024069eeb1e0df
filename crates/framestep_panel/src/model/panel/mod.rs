//! The panel: records frames, and provides what the views show.

mod code;
mod control;
mod history;
mod list;
mod record;
mod selected;

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fmt;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use framestep::task::CoroutineId;
use framestep::{Executor, Handle};

use super::control::Pace;
use super::filter::{Filter, Order};
use super::frame::Frame;
use super::listener::Listener;
use super::runs::Runs;
use super::tree::Row;
use super::warning::{Slow, Warning};
use code::Code;
use control::Command;
use list::RowsKey;

/// A live view of an executor's scripts.
///
/// It is closed at first, and then costs nothing. While it is open, the host calls
/// [`look`](Panel::look) once a frame, after the executor has run. It runs the executor
/// with the dt that [`dt`](Panel::dt) returns, so that the panel can pause the game and
/// slow it down.
///
/// Closing it forgets the recorded frames, and the game runs again as before.
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are not states of one thing"
)]
pub struct Panel {
    is_open: bool,
    has_ended: bool,
    listener: Listener,
    pace: Pace,
    orders: Vec<Command>,
    /// The recorded frames, the latest last.
    frames: VecDeque<Frame>,
    keep: usize,
    /// The number of the frame that is shown. `None`: the latest.
    shown: Option<u64>,
    filter: Filter,
    order: Order,
    folded: HashSet<Rc<str>>,
    entity: Option<Box<str>>,
    selected: Option<CoroutineId>,
    slow: BTreeMap<CoroutineId, Slow>,
    slow_limit: Duration,
    patience: Duration,
    budget: Duration,
    runs: Runs,
    looks: u64,
    /// The number of scripts from which every second frame is left out.
    crowd: usize,
    skipped: usize,
    rows: Cached<RowsKey, Vec<Row>>,
    warnings: Cached<(u64, Option<u64>), Vec<Warning>>,
    on_line: Option<OnLine>,
    can_restart: bool,
    wants_restart: bool,
    code: Code,
}

type OnLine = Box<dyn FnMut(&'static Location<'static>)>;

/// A value, and what it was computed from.
type Cached<K, V> = (Option<K>, V);

/// How many frames are kept, unless [`Panel::keep_frames`] changes that.
const FRAMES: usize = 600;
/// With this many scripts, every second frame is recorded; with twice as many, every third.
const CROWD: usize = 2500;

impl Default for Panel {
    fn default() -> Self {
        Panel {
            is_open: false,
            has_ended: false,
            listener: Listener::default(),
            pace: Pace::default(),
            orders: Vec::new(),
            frames: VecDeque::new(),
            keep: FRAMES,
            shown: None,
            filter: Filter::default(),
            order: Order::default(),
            folded: HashSet::new(),
            entity: None,
            selected: None,
            slow: BTreeMap::new(),
            slow_limit: Duration::from_millis(4),
            patience: Duration::from_secs(10),
            budget: Duration::from_micros(16_667),
            runs: Runs::default(),
            looks: 0,
            crowd: CROWD,
            skipped: 0,
            rows: (None, Vec::new()),
            warnings: (None, Vec::new()),
            on_line: None,
            can_restart: false,
            wants_restart: false,
            code: Code::default(),
        }
    }
}

impl Panel {
    /// A closed panel.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins to record.
    pub fn open(&mut self) {
        if !self.is_open {
            self.is_open = true;
            self.listener.open();
        }
    }

    /// Forgets what was recorded, and lets the game run.
    pub fn close(&mut self) {
        self.is_open = false;
        self.has_ended = false;
        self.listener.close();
        self.pace = Pace::default();
        self.orders.clear();
        self.frames = VecDeque::new();
        self.shown = None;
        self.slow.clear();
        self.code.forget_frames();
        self.runs = Runs::default();
        self.rows = (None, Vec::new());
        self.warnings = (None, Vec::new());
        self.looks += 1;
    }

    /// Opens or closes it.
    pub fn toggle(&mut self) {
        if self.is_open {
            self.close();
        } else {
            self.open();
        }
    }

    /// Whether it records.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Also shows which scripts emit, wake and pause, from the [full
    /// trace](Executor::on_full_trace) of the executor. While the panel is open, it has a
    /// hook there, beside other hooks. It listens to one executor at a time.
    pub fn listen(&mut self, executor: &Executor) {
        self.listen_through(&executor.handle());
    }

    /// Like [`listen`](Panel::listen), with a handle.
    pub fn listen_through(&mut self, handle: &Handle) {
        self.listener.set_executor(handle.clone(), self.is_open);
    }
}

impl fmt::Debug for Panel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Panel")
            .field("is_open", &self.is_open)
            .field("pace", &self.pace)
            .field("frames", &self.frames.len())
            .field("shown", &self.shown)
            .finish_non_exhaustive()
    }
}
