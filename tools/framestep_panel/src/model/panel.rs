//! The panel: records frames, and answers what the views ask.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fmt;
use std::panic::Location;
use std::rc::Rc;
use std::time::Duration;

use framestep::{CoroutineId, Executor, Handle, Outcome};

use super::cells::Cells;
use super::control::{Dt, Once, Pace};
use super::filter::{Filter, Order};
use super::frame::{Frame, Mark};
use super::listener::Listener;
use super::runs::Runs;
use super::script::Script;
use super::text::duration;
use super::tree::{self, Row};
use super::warning::{Facts, Slow, Warning, actor};

/// A live view of an executor's scripts.
///
/// It is closed at first, and costs nothing then. While it is open, the host calls
/// [`look`](Panel::look) once a frame, after the executor has run. It runs the executor with the
/// dt that [`dt`](Panel::dt) returns, so that the panel can pause the game and slow it down.
///
/// Closing it forgets the recorded frames and lets the game run on, as it did before.
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
    runs: Runs,
    looks: u64,
    /// With how many scripts every second frame is left out.
    crowd: usize,
    skipped: usize,
    rows: Cached<RowsKey, Vec<Row>>,
    warnings: Cached<(u64, Option<u64>), Vec<Warning>>,
    on_line: Option<OnLine>,
    can_restart: bool,
    wants_restart: bool,
}

type OnLine = Box<dyn FnMut(&'static Location<'static>)>;

/// A value, and what it was computed from.
type Cached<K, V> = (Option<K>, V);

#[derive(Debug, PartialEq)]
struct RowsKey {
    /// Of the frame, if the rows depend on nothing else of it.
    structure: u64,
    /// The look and the frame, if they do.
    look: Option<(u64, u64)>,
    filter: Filter,
    order: Order,
    folded: usize,
    entity: Option<Box<str>>,
}

/// What the user has asked for. It is done in the next look.
#[derive(Clone, Copy, Debug)]
enum Command {
    Stop(CoroutineId),
    Pause(CoroutineId),
    Resume(CoroutineId),
}

/// How many frames are kept, unless [`Panel::keep_frames`] says otherwise.
const FRAMES: usize = 600;
/// How many changes of scripts the frames may hold together. Each takes about 300 bytes.
const CHANGES: usize = 300_000;
/// How many scripts the frames may hold together. Each takes a pointer.
const POINTERS: usize = 6_000_000;
/// Over how many frames the average time counts.
const WINDOW: u64 = 60;
/// After how many frames a slow poll is forgotten.
const REMEMBERED: u64 = 1800;
/// With so many scripts, every second frame is recorded; with twice as many, every third.
const CROWD: usize = 2500;
/// How many slow scripts are remembered.
const SLOW: usize = 256;

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
            runs: Runs::default(),
            looks: 0,
            crowd: CROWD,
            skipped: 0,
            rows: (None, Vec::new()),
            warnings: (None, Vec::new()),
            on_line: None,
            can_restart: false,
            wants_restart: false,
        }
    }
}

/// Opening, and looking.
impl Panel {
    /// A closed panel.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins to record.
    pub fn open(&mut self) {
        if !self.is_open {
            self.is_open = true;
            self.listener.set_open(true);
        }
    }

    /// Forgets what was recorded, and lets the game run on.
    pub fn close(&mut self) {
        self.is_open = false;
        self.has_ended = false;
        self.listener.set_open(false);
        self.pace = Pace::default();
        self.orders.clear();
        self.frames = VecDeque::new();
        self.shown = None;
        self.slow.clear();
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

    /// Also shows who emits, wakes and pauses, by the
    /// [full trace](Executor::on_full_trace) of the executor, whose hook this replaces.
    /// While the panel is closed, the hook does nothing, but the executor still
    /// makes the events. To pay nothing at all, call this when the panel is opened first.
    pub fn listen(&self, executor: &Executor) {
        let listener = self.listener();
        executor.on_full_trace(move |event| listener.hear(event));
    }

    /// For a host that has a trace hook of its own, which passes the events on.
    pub fn listener(&self) -> Listener {
        self.listener.clone()
    }

    /// Does what the user has asked for, and records the frame. Does nothing while the
    /// panel is closed. Call it once a frame, outside of a run, also while the game is
    /// paused.
    ///
    /// An executor that has run fewer frames than the one before is a new run. The
    /// panel then says in which frame and script the two runs differ first.
    pub fn look(&mut self, executor: &Executor) {
        if self.is_open {
            self.look_through(&executor.handle());
        }
    }

    /// Like [`look`](Panel::look), with a handle. If the executor has been dropped, the
    /// panel goes on showing its last frames, and says so.
    pub fn look_through(&mut self, handle: &Handle) {
        if !self.is_open {
            return;
        }
        let has_orders = !self.orders.is_empty();
        for order in std::mem::take(&mut self.orders) {
            match order {
                Command::Stop(id) => handle.stop(id),
                Command::Pause(id) => handle.pause(id),
                Command::Resume(id) => handle.resume(id),
            };
        }
        if !has_orders && self.may_skip(handle) {
            self.skipped += 1;
            return;
        }
        self.skipped = 0;
        let snapshot = handle.snapshot();
        self.has_ended = snapshot.is_none();
        let Some(snapshot) = snapshot else { return };
        self.looks += 1;

        let time = snapshot.time();
        let is_new_run = self.frames.back().is_some_and(|last| {
            last.number() > time.frame || last.time.unscaled_elapsed > time.unscaled_elapsed
        });
        if is_new_run {
            self.begin_run();
        }
        let last = self.frames.back();
        let since = last.map_or(0, Frame::number);
        let mut frame = Frame::new(&snapshot, last);
        let is_again = last.is_some_and(|last| last.number() == frame.number());
        self.note_slow(&frame);
        if is_again {
            // The game stands still, or the panel looks twice. The marks of this frame
            // tell it from the one before.
            let last = self.frames.pop_back();
            frame.spent += last.map_or(Duration::ZERO, |last| last.spent);
        } else {
            self.runs.note(&frame, since);
        }
        self.frames.push_back(frame);
        self.limit();
    }

    /// Whether this frame is left out, because there are so many scripts. The frame in which
    /// the game stands still is not.
    fn may_skip(&self, handle: &Handle) -> bool {
        let (Some(last), Some(time)) = (self.frames.back(), handle.time()) else {
            return false;
        };
        let stands = self.pace.paused && last.number() != time.frame;
        let is_new_run = time.frame < last.number();
        let enough = last.scripts.len() / self.crowd;
        !stands && !is_new_run && self.skipped < enough
    }

    fn begin_run(&mut self) {
        self.frames.clear();
        self.shown = None;
        self.slow.clear();
        self.listener.forget();
        self.selected = None;
        self.rows.0 = None;
        self.runs.begin();
    }

    fn note_slow(&mut self, frame: &Frame) {
        let now = frame.number();
        let before = self.frames.back();
        for &at in &frame.changed {
            let script = &frame.scripts[at as usize];
            let Some(profile) = script.profile.filter(|p| p.longest >= self.slow_limit) else {
                continue;
            };
            let was = before.and_then(|before| before.script(script.id())?.profile);
            let took = profile
                .total
                .saturating_sub(was.map_or(Duration::ZERO, |was| was.total));
            let is_new = was.is_some() || script.who.born == now;
            if took < self.slow_limit || !is_new {
                continue;
            }
            let times = self.slow.get(&script.id()).map_or(0, |slow| slow.times);
            let mut slow = Slow::new(script, now, took);
            slow.times += times;
            self.slow.insert(script.id(), slow);
        }
        if self.slow.len() > SLOW || now.is_multiple_of(60) {
            self.slow.retain(|_, slow| slow.frame + REMEMBERED > now);
        }
        while self.slow.len() > SLOW {
            self.slow.pop_first();
        }
    }

    /// Drops the oldest frames.
    fn limit(&mut self) {
        let (mut changes, mut pointers) = (0, 0);
        let mut kept = 0;
        for frame in self.frames.iter().rev() {
            changes += frame.changed.len();
            pointers += frame.scripts.len();
            if kept > 1 && (changes > CHANGES || pointers > POINTERS) {
                break;
            }
            kept += 1;
        }
        let kept = kept.min(self.keep);
        self.frames.drain(..self.frames.len() - kept);
        let oldest = self.frames.front().map(Frame::number);
        if let (Some(shown), Some(oldest)) = (&mut self.shown, oldest) {
            *shown = oldest.max(*shown);
        }
    }

    /// Sets how many frames are kept, 600 by default. The panel keeps fewer if many
    /// scripts change in each.
    pub fn keep_frames(&mut self, count: usize) {
        self.keep = count.max(2);
    }

    /// Sets with how many scripts only every second frame is recorded, 2500 by default. With
    /// twice as many, it is every third frame, and so on: a look takes about half a
    /// millisecond for each thousand scripts.
    pub fn crowd(&mut self, scripts: usize) {
        self.crowd = scripts.max(1);
    }

    /// Sets from which time in a frame a script is slow: 4 ms by default.
    pub fn slow_limit(&mut self, limit: Duration) {
        self.slow_limit = limit;
    }

    /// Sets after which time on the game clock a pause, or a wait for an event, is worth a
    /// warning: 10 s by default.
    pub fn patience(&mut self, patience: Duration) {
        self.patience = patience;
    }
}

/// The pace of the game.
impl Panel {
    /// The dt for the executor in this frame, or `None` if it must not run. Returns the
    /// argument while the panel is closed.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_panel::Panel;
    ///
    /// let mut panel = Panel::new();
    /// assert_eq!(panel.dt(0.5_f32), Some(0.5));
    /// panel.open();
    /// panel.set_paused(true);
    /// assert_eq!(panel.dt(0.5_f32), None);
    /// panel.one_frame();
    /// assert_eq!(panel.dt(0.5_f32), Some(0.5));
    /// assert_eq!(panel.dt(0.5_f32), None);
    /// ```
    pub fn dt<D: Dt>(&mut self, dt: D) -> Option<D> {
        if !self.is_open {
            return Some(dt);
        }
        let time = self.frames.back().map(Frame::time);
        self.pace.dt(dt, time)
    }

    /// The pace, for hosts that have a clock of their own.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// Pauses or resumes the game.
    pub fn set_paused(&mut self, paused: bool) {
        self.pace.paused = paused;
        if !paused {
            self.shown = None;
        }
    }

    /// Runs one frame, and pauses.
    pub fn one_frame(&mut self) {
        self.set_once(Once::Frame);
    }

    /// Runs one frame that ends at the next fixed step, and pauses.
    pub fn one_step(&mut self) {
        self.set_once(Once::Step);
    }

    fn set_once(&mut self, once: Once) {
        self.pace.paused = true;
        self.pace.once = Some(once);
        self.shown = None;
    }

    /// Sets by how much each dt is multiplied. Numbers that are not finite, or not above 0,
    /// change nothing.
    pub fn set_speed(&mut self, speed: f64) {
        if speed.is_finite() && speed > 0.0 {
            self.pace.speed = speed;
        }
    }

    /// The next speed of [`Pace::SPEEDS`].
    pub fn shift_speed(&mut self, faster: bool) {
        self.pace.shift(faster);
    }

    /// Stops a script in the next look.
    pub fn stop(&mut self, id: CoroutineId) {
        self.orders.push(Command::Stop(id));
    }

    /// Pauses a script in the next look.
    pub fn pause(&mut self, id: CoroutineId) {
        self.orders.push(Command::Pause(id));
    }

    /// Resumes a script in the next look. If an owner is paused, it stays so.
    pub fn resume(&mut self, id: CoroutineId) {
        self.orders.push(Command::Resume(id));
    }

    /// Says that the host can begin anew: the views then have a button for it.
    pub fn offer_restart(&mut self) {
        self.can_restart = true;
    }

    /// Whether the host has offered to begin anew.
    pub fn can_restart(&self) -> bool {
        self.can_restart
    }

    /// Asks the host to begin anew.
    pub fn restart(&mut self) {
        self.wants_restart = self.can_restart;
    }

    /// Whether the user has asked to begin anew, since the last call.
    pub fn take_restart(&mut self) -> bool {
        std::mem::take(&mut self.wants_restart)
    }
}

/// What the views show.
impl Panel {
    /// The frame that is shown: the latest, or the one that the user went back to. `None`
    /// before the first look.
    pub fn shown(&self) -> Option<&Frame> {
        self.frames.get(self.shown_at()?)
    }

    fn shown_at(&self) -> Option<usize> {
        match self.shown {
            None => self.frames.len().checked_sub(1),
            Some(number) => Some(self.position(number)),
        }
    }

    /// The position of the frame, else of the closest before it.
    fn position(&self, number: u64) -> usize {
        let after = self
            .frames
            .partition_point(|frame| frame.number() <= number);
        after.saturating_sub(1)
    }

    /// All recorded frames, the oldest first.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = &Frame> {
        self.frames.iter()
    }

    /// Whether the latest frame is shown.
    pub fn is_live(&self) -> bool {
        self.shown.is_none()
    }

    /// Shows a recorded frame, and pauses the game. The closest recorded one before it is
    /// shown if it was not recorded.
    pub fn show_frame(&mut self, number: u64) {
        if self.frames.is_empty() {
            return;
        }
        let at = self.position(number);
        self.pace.paused = true;
        let is_last = at + 1 == self.frames.len();
        self.shown = (!is_last).then(|| self.frames[at].number());
    }

    /// Goes so many recorded frames back, or forward.
    pub fn scrub(&mut self, by: isize) {
        if let Some(at) = self.shown_at() {
            let at = at.saturating_add_signed(by).min(self.frames.len() - 1);
            self.show_frame(self.frames[at].number());
        }
    }

    /// Shows the latest frame again. The game stays paused.
    pub fn live(&mut self) {
        self.shown = None;
    }

    /// Whether the executor has been dropped. Its last frames are still shown.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// How many runs were seen before this one.
    pub fn runs_before(&self) -> u32 {
        self.runs.number
    }

    /// Which scripts are listed.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// To change which scripts are listed.
    pub fn filter_mut(&mut self) -> &mut Filter {
        &mut self.filter
    }

    /// The order of the list.
    pub fn order(&self) -> Order {
        self.order
    }

    /// Sets the order of the list.
    pub fn set_order(&mut self, order: Order) {
        self.order = order;
    }

    /// The game's selected entity, by the name of the owner of its scripts. In Bevy, that
    /// is `"NAME ENTITY"` or `"entity ENTITY"`. With
    /// [`only_entity`](Filter::only_entity), only its scripts are listed.
    pub fn select_entity(&mut self, owner: Option<&str>) {
        if self.entity.as_deref() != owner {
            self.entity = owner.map(Into::into);
        }
    }

    /// The owner of the game's selected entity.
    pub fn entity(&self) -> Option<&str> {
        self.entity.as_deref()
    }

    /// Folds or unfolds an owner of the list.
    pub fn fold(&mut self, owner: &str) {
        if !self.folded.remove(owner) {
            self.folded.insert(owner.into());
        }
        self.rows.0 = None;
    }

    /// Folds or unfolds all owners.
    pub fn fold_all(&mut self) {
        if self.folded.is_empty() {
            let owners: Vec<_> = (self.rows().iter())
                .filter_map(|row| match row {
                    Row::Owner { name, .. } => Some(Rc::clone(name)),
                    Row::Script { .. } => None,
                })
                .collect();
            self.folded.extend(owners);
        } else {
            self.folded.clear();
        }
        self.rows.0 = None;
    }

    /// The lines of the list.
    pub fn rows(&mut self) -> &[Row] {
        let Some(at) = self.shown_at() else {
            return &[];
        };
        let frame = &self.frames[at];
        let depends = !self.filter.is_empty() || self.order != Order::Tree;
        let key = RowsKey {
            structure: frame.structure,
            look: depends.then(|| (self.looks, frame.number())),
            filter: self.filter.clone(),
            order: self.order,
            folded: self.folded.len(),
            entity: self.entity.clone(),
        };
        if self.rows.0.as_ref() != Some(&key) {
            let entity = self.entity.as_deref();
            let rows = tree::rows(frame, &self.filter, self.order, &self.folded, entity);
            self.rows = (Some(key), rows);
        }
        &self.rows.1
    }

    /// What may be wrong in the frame that is shown, the worst first.
    pub fn warnings(&mut self) -> &[Warning] {
        let Some(at) = self.shown_at() else {
            return &[];
        };
        let key = (self.looks, self.shown);
        if self.warnings.0 != Some(key) {
            let facts = Facts {
                frame: &self.frames[at],
                heard: &self.listener.heard(),
                slow: &self.slow,
                difference: self.runs.difference.as_ref(),
                patience: self.patience,
            };
            let warnings = facts.warnings();
            self.warnings = (Some(key), warnings);
        }
        &self.warnings.1
    }

    /// What the script did in the latest `count` frames up to the one that is shown, the
    /// latest last.
    pub fn marks(&self, id: CoroutineId, count: usize) -> Vec<Mark> {
        let Some(at) = self.shown_at() else {
            return Vec::new();
        };
        let first = (at + 1).saturating_sub(count);
        let mut marks = vec![Mark::Absent; count - (at + 1 - first)];
        let before = first.checked_sub(1).map(|before| &self.frames[before]);
        let mut hint = before.and_then(|before| before.position(id, None));
        let mut was = before.zip(hint).map(|(before, hint)| &before.scripts[hint]);
        for at in first..=at {
            let frame = &self.frames[at];
            let here = frame.position(id, hint);
            marks.push(frame.mark(here, was, at == 0));
            was = here.map(|here| &frame.scripts[here]);
            hint = here.or(hint);
        }
        marks
    }

    /// The script that is selected in the list.
    pub fn selected(&self) -> Option<CoroutineId> {
        self.selected
    }

    /// Selects a script.
    pub fn select(&mut self, id: Option<CoroutineId>) {
        self.selected = id;
    }

    /// Calls `open` when the user clicks on a line of the program, for example to open it
    /// in an editor. Without it, the views copy `FILE:LINE`.
    pub fn on_line(&mut self, open: impl FnMut(&'static Location<'static>) + 'static) {
        self.on_line = Some(Box::new(open));
    }

    /// Opens a line. Returns `FILE:LINE:COLUMN` to copy if the host has no
    /// [`on_line`](Panel::on_line).
    pub fn open_line(&mut self, at: &'static Location<'static>) -> Option<String> {
        match &mut self.on_line {
            Some(open) => {
                open(at);
                None
            }
            None => Some(at.to_string()),
        }
    }

    pub(crate) fn cells(&self, script: &Script) -> Option<Cells> {
        let frame = self.shown()?;
        let earlier = frame.number().saturating_sub(WINDOW);
        let earlier = self.frames.get(self.position(earlier));
        Some(Cells::new(script, frame, earlier))
    }

    /// Whether the executor notes no lines, or no times: what to build it with.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        let frame = self.shown()?;
        let scripts = || frame.scripts.iter();
        if scripts().len() == 0 {
            None
        } else if scripts().all(|script| script.who.spawned_at.is_none() && script.since.is_none())
        {
            Some("No lines: build the executor with `inspect(true)`")
        } else if scripts().all(|script| script.profile.is_none()) {
            Some("No times: build the executor with `profile(true)`")
        } else {
            None
        }
    }

    /// What is known of a script: heads and texts.
    pub(crate) fn details(&self, id: CoroutineId) -> Vec<(&'static str, String)> {
        let Some(frame) = self.shown() else {
            return Vec::new();
        };
        let heard = self.listener.heard();
        let mut out = Vec::new();
        let Some(script) = frame.script(id) else {
            if let Some(ended) = heard.ended.iter().rev().find(|ended| ended.id == id) {
                let how = match ended.outcome {
                    Outcome::Finished => "finished",
                    Outcome::Stopped => "stopped",
                    Outcome::Panicked => "panicked",
                };
                let text = format!("{how} in frame {}", ended.frame);
                out.push(("script", format!("{} ({id})", ended.name)));
                out.push(("ended", text));
            }
            return out;
        };
        let name = super::text::clean(script.full_name());
        out.push(("script", format!("{name} ({id})")));
        if let Some(text) = script.description() {
            out.push(("says", text.to_owned()));
        }
        if let Some(owner) = script.owner() {
            out.push(("owner", owner.to_owned()));
        }
        for waiting in &script.waits {
            if let Some(at) = waiting.at {
                let clean = super::text::clean(&at.to_string());
                out.push(("waits at", clean));
            }
        }
        if let Some(since) = script.since {
            let ago = duration(frame.time.elapsed.saturating_sub(since.elapsed));
            out.push((
                "last polled",
                format!("in frame {}, {ago} ago", since.frame),
            ));
        }
        if let Some(cause) = heard.woken.get(&id) {
            let through = match &cause.through {
                Some(name) => format!(" through {}", super::text::clean(name)),
                None => String::new(),
            };
            let by = actor(cause.by.as_ref(), frame);
            out.push((
                "last woken",
                format!("in frame {}, by {by}{through}", cause.frame),
            ));
        }
        if let Some((since, _)) = script.paused_since {
            let text = match heard.paused.get(&id) {
                Some(cause) => {
                    format!(
                        "since frame {}, by {}",
                        cause.frame,
                        actor(cause.by.as_ref(), frame)
                    )
                }
                None => format!("since frame {since}"),
            };
            out.push(("paused", text));
        }
        if let Some(at) = script.who.spawned_at {
            let by = match script.who.parent {
                None => "the host".to_owned(),
                Some(parent) => match frame.script(parent) {
                    Some(parent) => format!("{} ({})", parent.name(), parent.id()),
                    None => format!("{parent}, which has ended"),
                },
            };
            let at = super::text::clean(&at.to_string());
            out.push(("spawned", format!("at {at}, by {by}")));
        }
        if let Some(profile) = script.profile {
            let average = profile.total / u32::try_from(profile.polls.max(1)).unwrap_or(u32::MAX);
            out.push((
                "polls",
                format!(
                    "{}, {} in all, {} on average, {} the longest",
                    profile.polls,
                    duration(profile.total),
                    duration(average),
                    duration(profile.longest)
                ),
            ));
        }
        out
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
