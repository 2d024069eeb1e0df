//! Runs the role of a node for one shard: its clock, its log, its rooms.

use std::collections::{BTreeMap, HashSet, btree_map};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::body::Answer;
use crate::client::{close_end, close_view};
use crate::entry::{Entry, Position, Topic};
use crate::log::{Batch, Log, LogError};
use crate::news::{Differences, Slowly, without_numbers};
use crate::notes::{Part, short};
use crate::probe::{self, Found, Task};
use crate::role::{Command, Event, Loaded, Note, Role, Settings};
use crate::room::EffectKey;
use crate::saves::{self, SLOTS};
use crate::server::{Node, Stage};
use crate::shard::{Refused, RoomStatus, Shard, TURNS, step_of};

/// How long a reader waits before it says that there is no more.
const IDLE: Duration = Duration::from_millis(200);
/// How long a call of the log may take, whatever the log promises.
const CALL: Duration = Duration::from_secs(8);
/// After so many starts of a shard at the same save without an end, its rooms are tried in another
/// process.
const TRIES: u32 = 2;

/// What a node says about a shard each second, on the channel `status.SHARD`: for tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShardStatus {
    /// The node.
    pub node: String,
    /// The shard.
    pub shard: u32,
    /// The build of the node.
    pub build: u64,
    /// The last frame.
    pub frame: u64,
    /// Whether the node ticks. The others are standbys.
    pub owns: bool,
    /// Frames since the last status.
    pub frames: u64,
    /// Milliseconds between two frames at most, since the last status.
    pub gap: f64,
    /// Microseconds of the thread for each frame.
    pub busy: f64,
    /// Inputs and rooms that had no effect, since the shard began.
    pub refused: Refused,
    /// The rooms.
    pub rooms: Vec<RoomStatus>,
    /// Why the node does not have the shard, if it has tried.
    #[serde(default)]
    pub cannot: Option<String>,
    /// Rooms of which at least one differs between this node and the owner: it depends on what is not
    /// recorded.
    #[serde(default)]
    pub differs: Vec<String>,
}

/// Rooms that are not run any more, each from a frame on.
type Out = BTreeMap<Arc<str>, u64>;

/// For how many seconds a difference is shown. One that comes back later is said once more.
const DIFFERS: u64 = 10;
/// After how long a node repeats why it does not have a shard.
const REMIND: Duration = Duration::from_secs(60);

/// What a driver hears from its tasks.
enum ToDriver {
    Event(Event),
    /// The shard cannot be loaded.
    LoadFailed(String),
    Loaded(Loaded, Out),
    /// The frame of an entry was tried, which a room has ended or hung.
    Tried(u64, Box<Task>, Option<Found>),
    /// It can be computed, without these rooms.
    TakenOut(u64, Out),
    Read(u64, Read),
}

enum Read {
    Batch(Batch),
    Broken,
}

/// What was counted since the last status.
#[derive(Default)]
struct Counted {
    frame: u64,
    frames: u64,
    gap: Duration,
    busy: Duration,
}

pub(crate) struct Driver {
    node: Arc<Node>,
    number: u32,
    thread: usize,
    role: Role,
    rooms: Shard,
    to_me: mpsc::UnboundedSender<ToDriver>,
    /// Readers wait until what they have read is handled.
    read: mpsc::Sender<ToDriver>,
    tail: u64,
    reader: Option<AbortHandle>,
    performing: HashSet<(Arc<str>, u64, u64)>,
    /// What the node says about a shard of another build.
    can_begin: Option<bool>,
    /// The mark of this start at a save, until the log was read to its end.
    is_trying: bool,
    last_frame: Option<Instant>,
    counted: Counted,
    /// What this node does for the shard, as the node knows.
    part: Option<Part>,
    refused: Slowly,
    differences: Differences,
    /// Why the shard is not there.
    cannot: Option<String>,
    /// What was said about that, and when.
    reminded: BTreeMap<String, Instant>,
}

/// Runs a shard until the server stops.
pub(crate) async fn drive(node: Arc<Node>, shard: u32, thread: usize) {
    let (to_me, mut events) = mpsc::unbounded_channel();
    let (read, mut reads) = mpsc::channel(4);
    let mut stages = node.stage.subscribe();
    let options = &node.options;
    let settings = Settings {
        step: step_of(options.ticks),
        snapshot_interval: options.snapshot_interval,
        failover_timeout: options.failover_timeout,
        standbys: options.standbys,
        retry_after: options.failover_timeout.max(Duration::from_millis(100)),
    };
    let mut rooms = Shard::new(node.kinds.clone(), options.ticks, options.limits);
    let alarm = node.alarms[thread].clone();
    rooms.call_before(move |frame, room| alarm.name(shard, frame, room));
    let mut driver = Driver {
        role: Role::new(node.me.clone(), node.build, shard, settings),
        rooms,
        number: shard,
        thread,
        to_me,
        read,
        tail: 0,
        reader: None,
        performing: HashSet::new(),
        can_begin: None,
        is_trying: false,
        last_frame: None,
        counted: Counted::default(),
        part: None,
        refused: Slowly::default(),
        differences: Differences::default(),
        cannot: None,
        reminded: BTreeMap::new(),
        node,
    };
    let mut status_at = Instant::now() + Duration::from_secs(1);
    loop {
        let now = driver.node.now();
        let wake = driver.role.wake_at(now).saturating_sub(now);
        tokio::select! {
            biased;
            Some(event) = events.recv() => driver.hear(event).await,
            Some(event) = reads.recv() => driver.hear(event).await,
            _ = stages.changed() => driver.stage(*stages.borrow_and_update()),
            () = sleep(wake) => driver.on(Event::Time),
        }
        driver.note_part();
        let stage = *stages.borrow();
        if stage >= Stage::Saves && (!driver.role.is_last_ticker() || driver.role.has_saved()) {
            driver.node.note_saved(shard);
        }
        let has_left = stage >= Stage::Leaves && !driver.role.is_last_ticker();
        let is_done = stage == Stage::Finishes && driver.role.is_saved();
        if has_left || is_done || stage == Stage::Ends {
            driver.node.note_left(shard);
            return;
        }
        if Instant::now() >= status_at {
            status_at += Duration::from_secs(1);
            driver.say_status();
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.abort();
        }
        self.node.note_part(self.number, None);
    }
}

impl Driver {
    fn stage(&mut self, stage: Stage) {
        match stage {
            Stage::Runs | Stage::Leaves => {}
            Stage::Saves => self.role.save_soon(),
            Stage::Finishes | Stage::Ends => self.role.finish(),
        }
        self.on(Event::Time);
    }

    /// Tells the node what it does for the shard.
    fn note_part(&mut self) {
        let part = if self.role.is_last_ticker() {
            Some(Part::Runs)
        } else {
            self.role.at().map(|_| Part::Follows)
        };
        if part.is_some() {
            self.cannot = None;
        }
        if part != self.part {
            self.part = part;
            self.node.note_part(self.number, part);
        }
    }

    /// Says why the node does not have the shard: not each time that it tries.
    fn cannot(&mut self, why: String) {
        // Not that of another frame.
        let subject = without_numbers(&why);
        self.reminded.retain(|_, said| said.elapsed() < REMIND);
        if let btree_map::Entry::Vacant(place) = self.reminded.entry(subject) {
            place.insert(Instant::now());
            self.node.tell(self.number, &why);
        }
        self.cannot = Some(why);
    }

    fn note(&mut self, note: &Note) {
        match note {
            Note::Differs { frame, ticked_by } => {
                let rooms = self.rooms.in_turn(*frame);
                let list = match &rooms[..] {
                    [] => "of the frame itself".to_owned(),
                    [room] => format!("of room {room}"),
                    rooms => format!("of one of the rooms {}", few(rooms)),
                };
                let pause = DIFFERS * u64::from(self.node.options.ticks);
                if self.differences.add(frame % TURNS, *frame, rooms, pause) {
                    let by = short(ticked_by);
                    self.node.tell(
                        self.number,
                        &format!(
                            "after frame {frame}, the state {list} differs from that on {by}: it depends on \
                             what is not recorded, such as the order of a `HashMap`"
                        ),
                    );
                }
            }
            Note::NoSave { .. }
            | Note::BadSave { .. }
            | Note::CannotBegin { .. }
            | Note::StandsStill { .. } => {
                self.cannot(note.to_string());
            }
            note => self.node.tell(self.number, &note.to_string()),
        }
    }

    async fn hear(&mut self, event: ToDriver) {
        match event {
            ToDriver::Event(event) => self.on(event),
            ToDriver::LoadFailed(why) => {
                self.cannot(why);
                self.on(Event::LoadFailed);
            }
            ToDriver::Loaded(loaded, out) => {
                self.rooms.take_out(out);
                self.on(Event::Loaded(loaded));
                if self.role.at().is_none() {
                    // The save was not begun: this start has not ended the process either.
                    self.end_trying();
                }
            }
            ToDriver::Tried(at, task, found) if self.role.is_trying(at) => {
                self.tried(at, task, found);
            }
            ToDriver::TakenOut(at, out) if self.role.is_trying(at) => {
                self.rooms.take_out(out);
                self.on(Event::Tried { at });
            }
            ToDriver::Read(tail, read) if tail == self.tail => match read {
                Read::Broken => self.on(Event::Broken),
                Read::Batch(batch) => {
                    for entry in batch.entries {
                        let is_tick = entry.is_tick();
                        self.on(Event::Read(entry));
                        if self.tail != tail {
                            return;
                        }
                        if is_tick {
                            // Other shards of this thread have their turn, also while this one
                            // catches up.
                            tokio::task::yield_now().await;
                        }
                    }
                    if batch.is_end {
                        self.on(Event::Idle);
                        self.end_trying();
                    }
                }
            },
            // The next tick was there before: its node has survived the frame.
            ToDriver::Tried(..) | ToDriver::TakenOut(..) | ToDriver::Read(..) => {}
        }
    }

    fn on(&mut self, event: Event) {
        let now = self.node.now();
        let members = self.node.members();
        let mut out = Vec::new();
        let began = Instant::now();
        let alarm = self.node.alarms[self.thread].clone();
        alarm.begin(now);
        self.role
            .on(now, event, &members, &mut self.rooms, &mut out);
        for command in out {
            self.obey(command);
        }
        alarm.end();
        self.counted.busy += began.elapsed();
        let can_begin = self.role.can_begin();
        if can_begin != self.can_begin {
            self.can_begin = can_begin;
            self.node.note_begins(self.number, can_begin);
        }
    }

    /// Runs a task of this driver that answers with an event.
    fn answer<F>(&self, if_late: Event, task: F)
    where
        F: Future<Output = Event> + Send + 'static,
    {
        let to_me = self.to_me.clone();
        self.node.handle.spawn(async move {
            // A panic of a log must not leave the role without an answer.
            let task = tokio::spawn(timeout(CALL, task));
            let event = task.await.ok().and_then(Result::ok).unwrap_or(if_late);
            let _ = to_me.send(ToDriver::Event(event));
        });
    }

    fn obey(&mut self, command: Command) {
        let (log, shard) = (self.node.log.clone(), self.number);
        match command {
            Command::Load { before } => {
                self.stop_reading();
                let (node, to_me) = (self.node.clone(), self.to_me.clone());
                self.is_trying = before.is_none();
                self.node.handle.spawn(async move {
                    let task = tokio::spawn(load(node.clone(), shard, before));
                    let answer = match task.await {
                        Ok(Ok((loaded, out))) => ToDriver::Loaded(loaded, out),
                        Ok(Err(why @ LogError::Unreachable(_))) => {
                            node.log_fails(shard, &why);
                            ToDriver::Event(Event::LoadFailed)
                        }
                        Ok(Err(why)) => ToDriver::LoadFailed(format!("it cannot be loaded: {why}")),
                        Err(_) => ToDriver::Event(Event::LoadFailed),
                    };
                    let _ = to_me.send(answer);
                });
            }
            Command::Follow { from } => self.follow(from),
            Command::Append {
                attempt,
                after,
                body,
            } => {
                let id = format!("{}-{attempt}", self.node.me);
                let after = after.unwrap_or(0);
                let node = self.node.clone();
                self.answer(Event::Lost { attempt }, async move {
                    match log.tick(shard, after, &id, &body).await {
                        Ok(seq) => {
                            node.log_answers(shard);
                            Event::Appended { attempt, seq }
                        }
                        Err(LogError::Refused) => {
                            node.log_answers(shard);
                            Event::Refused { attempt }
                        }
                        Err(why) => {
                            node.log_fails(shard, &why);
                            Event::Lost { attempt }
                        }
                    }
                });
            }
            Command::Save {
                at,
                state,
                not_of_this_log,
            } => {
                let seq = at.seq;
                let spacing =
                    u64::from(self.node.options.ticks) * self.node.options.spacing.as_secs().max(1);
                let node = self.node.clone();
                self.answer(Event::SaveFailed { at: seq }, async move {
                    let bytes = saves::to_bytes(&at, &state);
                    match store(&*log, shard, &at, &bytes, not_of_this_log, spacing).await {
                        Ok(event) => event,
                        Err(LogError::Refused) => Event::SaveFailed { at: seq },
                        Err(why @ LogError::Unreachable(_)) => {
                            node.log_fails(shard, &why);
                            Event::SaveFailed { at: seq }
                        }
                        Err(why) => {
                            node.tell(shard, &format!("frame {} is not saved: {why}", at.frame));
                            Event::SaveFailed { at: seq }
                        }
                    }
                });
            }
            Command::Try { at, state, entries } => self.try_frame(&at, state, &entries),
            Command::Trim { before } => {
                if !self.node.options.keeps_log {
                    self.node.handle.spawn(async move {
                        // The next save trims as well.
                        let _ = log.trim(shard, before).await;
                    });
                }
            }
            Command::Frame { at, own } => self.ran(at.frame, own),
            Command::Began => self.performing.clear(),
            Command::Unload => {
                self.stop_reading();
                self.performing.clear();
            }
            Command::Note(note) => self.note(&note),
        }
    }

    /// Tries a frame in a child process.
    fn try_frame(&self, at: &Position, state: Vec<u8>, entries: &[Entry]) {
        let mut task = Task::new(Some(state), self.rooms.taken_out().clone());
        task.add(at.frame, entries);
        let trying = try_task(self.node.clone(), self.number, Box::new(task));
        let (to_me, at) = (self.to_me.clone(), at.seq);
        self.node.handle.spawn(async move {
            let (task, found) = trying.await;
            let _ = to_me.send(ToDriver::Tried(at, task, found));
        });
    }

    /// Takes a room out, and tries once more: another one may do the same.
    fn tried(&self, at: u64, mut task: Box<Task>, found: Option<Found>) {
        let (node, to_me, shard) = (self.node.clone(), self.to_me.clone(), self.number);
        let Some(found) = found else {
            let _ = to_me.send(ToDriver::TakenOut(at, task.out));
            return;
        };
        self.node.handle.spawn(async move {
            let answer = match take_out(&node, shard, &found).await {
                Ok(out) => {
                    task.out = out;
                    let (task, found) = try_task(node, shard, task).await;
                    ToDriver::Tried(at, task, found)
                }
                Err(why) => {
                    node.tell(shard, &format!("room {} stays: {why}", found.room));
                    ToDriver::TakenOut(at, task.out)
                }
            };
            let _ = to_me.send(answer);
        });
    }

    fn stop_reading(&mut self) {
        self.tail += 1;
        if let Some(reader) = self.reader.take() {
            reader.abort();
        }
    }

    fn follow(&mut self, from: u64) {
        self.stop_reading();
        let (log, shard, tail, to_me) = (
            self.node.log.clone(),
            self.number,
            self.tail,
            self.read.clone(),
        );
        let pause = self.node.options.failover_timeout / 4;
        let node = self.node.clone();
        let task = self.node.handle.spawn(async move {
            let read = |read| ToDriver::Read(tail, read);
            let late = |_| Err(LogError::Unreachable("no answer in time".to_owned()));
            let reading = timeout(CALL, log.read(shard, from)).await;
            let reading = reading.unwrap_or_else(late);
            if let Err(why) = &reading {
                node.log_fails(shard, why);
            }
            if let Ok(mut reader) = reading {
                node.log_answers(shard);
                while let Ok(Ok(batch)) = timeout(CALL, reader.next(IDLE)).await {
                    if to_me.send(read(Read::Batch(batch))).await.is_err() {
                        return;
                    }
                }
            }
            // The role reads anew at once.
            sleep(pause).await;
            let _ = to_me.send(read(Read::Broken)).await;
        });
        self.reader = Some(task.abort_handle());
    }

    /// After a frame.
    fn ran(&mut self, frame: u64, own: bool) {
        self.counted.frame = frame;
        let now = Instant::now();
        if let Some(last) = self.last_frame.replace(now) {
            self.counted.gap = self.counted.gap.max(now - last);
        }
        self.counted.frames += 1;
        if !own {
            self.performing.clear();
            // The node that has ticked says them.
            self.rooms.take_news(frame);
            return;
        }
        self.show();
        if let Some(news) = self.rooms.take_news(frame) {
            for (room, text) in &news.lines {
                self.node.tell_of_room(self.number, room, text);
            }
            self.refused.add(news.refused);
            self.say_refused();
        }
        if self.role.owns() && self.node.has_effects {
            self.perform();
        }
    }

    /// Says what had no effect, one line a second for each reason.
    fn say_refused(&mut self) {
        for line in self.refused.lines(self.node.now()) {
            self.node.tell(self.number, &line);
        }
    }

    /// Shows rooms to those who watch.
    fn show(&mut self) {
        let watched = self.node.watched(self.number);
        let mut over = self.rooms.take_over();
        for (room, is_asked) in watched {
            let last = over.iter_mut().find(|(name, _)| **name == *room);
            let (view, is_over) = match last {
                Some((_, view)) => (view.take(), true),
                None => (self.rooms.view(&room), false),
            };
            let mut bodies = Vec::new();
            if let Some((frame, view)) = view {
                bodies.push(close_view(frame, &view));
            }
            if is_asked || is_over {
                bodies.extend(
                    self.rooms
                        .absence(&room)
                        .map(|(at, why)| close_end(at, &why)),
                );
            }
            if bodies.is_empty() {
                continue;
            }
            let log = self.node.log.clone();
            let channel = format!("view.{}.{room}", self.number);
            self.node.handle.spawn(async move {
                for body in bodies {
                    // It may be lost.
                    let _ = log.say(&channel, body).await;
                }
            });
        }
    }

    /// Performs what scripts ask of the outside.
    fn perform(&mut self) {
        let asked = self.rooms.asked();
        let is_open = |key: &(Arc<str>, u64, u64)| {
            asked.iter().any(|(room, opened, asked)| {
                (room, *opened, asked.number) == (&key.0, key.1, key.2)
            })
        };
        self.performing.retain(is_open);
        for (room, opened, asked) in asked {
            let number = asked.number;
            if !self.performing.insert((room.clone(), opened, number)) {
                continue;
            }
            let key = EffectKey {
                room: room.clone(),
                opened,
                number,
            };
            let (node, shard) = (self.node.clone(), self.number);
            self.node.handle.spawn(async move {
                let answer = loop {
                    let Some(effect) = asked.perform(key.clone()) else {
                        return;
                    };
                    match tokio::spawn(effect).await {
                        Ok(answer) => break answer,
                        Err(why) => {
                            node.tell(
                                shard,
                                &format!("the effect {key} has panicked: {why}. It is repeated"),
                            );
                            sleep(Duration::from_secs(1)).await;
                        }
                    }
                };
                let body = postcard::to_stdvec(&Answer {
                    opened,
                    number,
                    content: answer,
                });
                let Ok(body) = body else {
                    return;
                };
                // The room takes the first answer, so the id needs not be that of other nodes. A player who
                // could guess it would keep the answer out of the log.
                let id = format!("answer-{key}-{:x}", crate::random());
                let topic = Topic::Answer(room);
                // Until the log has it, or another node performs it.
                for _ in 0..60 {
                    match node.log.append(shard, &topic, &id, &body).await {
                        Ok(_) => return,
                        Err(LogError::TooLarge { .. }) => {
                            node.tell(
                                shard,
                                &format!("the answer to {key} is too large for the log"),
                            );
                            return;
                        }
                        Err(_) => sleep(Duration::from_millis(500)).await,
                    }
                }
            });
        }
    }

    /// All of the log was computed, and the process is still there.
    fn end_trying(&mut self) {
        if std::mem::take(&mut self.is_trying) {
            let (node, shard) = (self.node.clone(), self.number);
            self.node.handle.spawn(async move {
                // If it fails, the rooms are tried once in vain.
                let _ = mark_try(&*node.log, shard, None).await;
            });
        }
    }

    fn say_status(&mut self) {
        self.say_refused();
        let has_it = self.role.at().is_some() && self.counted.frame > 0;
        if !has_it && self.cannot.is_none() {
            return;
        }
        let counted = std::mem::take(&mut self.counted);
        self.counted.frame = counted.frame;
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        let status = ShardStatus {
            node: self.node.me.to_string(),
            shard: self.number,
            build: self.node.build,
            frame: counted.frame,
            owns: self.role.owns(),
            frames: counted.frames,
            gap: counted.gap.as_secs_f64() * 1e3,
            busy: counted.busy.as_secs_f64() * 1e6 / counted.frames.max(1) as f64,
            refused: self.rooms.refused(),
            rooms: self.rooms.status(),
            cannot: self.cannot.clone(),
            differs: self
                .differences
                .rooms(counted.frame, DIFFERS * u64::from(self.node.options.ticks)),
        };
        let (log, channel) = (self.node.log.clone(), format!("status.{}", self.number));
        if let Ok(body) = serde_json::to_vec(&status) {
            self.node.handle.spawn(async move {
                let _ = log.say(&channel, body).await;
            });
        }
    }
}

fn slot_key(shard: u32, slot: usize) -> String {
    format!("{shard}.save.{slot}")
}

/// Stores a save in the slot for it.
async fn store(
    log: &dyn Log,
    shard: u32,
    at: &Position,
    bytes: &[u8],
    not_of_this_log: Option<u64>,
    spacing: u64,
) -> Result<Event, LogError> {
    let mut slots = Vec::new();
    for slot in 0..SLOTS {
        let kept = log.kept(&slot_key(shard, slot)).await?;
        slots.push(kept.map_or((0, None), |kept| {
            (kept.revision, saves::of_bytes(&kept.body).map(|(at, _)| at))
        }));
    }
    if let Some((slot, revision)) = saves::slot_for(&slots, at, not_of_this_log, spacing) {
        let revision = log.keep(&slot_key(shard, slot), revision, bytes).await?;
        slots[slot] = (revision, Some(at.clone()));
    }
    Ok(Event::Saved {
        at: at.seq,
        needed: saves::oldest(&slots),
        newest: saves::newest_entry(&slots),
    })
}

/// How often a shard was started at a save without an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Tries {
    at: u64,
    count: u32,
}

/// Counts a start at a save, or, with `None`, ends the count. Returns the count before.
async fn mark_try(log: &dyn Log, shard: u32, at: Option<u64>) -> Result<u32, LogError> {
    let key = format!("{shard}.tries");
    let kept = log.kept(&key).await?;
    let tries: Tries = kept
        .as_ref()
        .and_then(|kept| serde_json::from_slice(&kept.body).ok())
        .unwrap_or_default();
    let before = if at.is_none_or(|at| at == tries.at) {
        tries.count
    } else {
        0
    };
    let next = match at {
        Some(at) => Tries {
            at,
            count: before + 1,
        },
        None if tries.count == 0 => return Ok(0),
        None => Tries {
            at: tries.at,
            count: 0,
        },
    };
    let body = serde_json::to_vec(&next).unwrap_or_default();
    match log
        .keep(&key, kept.map_or(0, |kept| kept.revision), &body)
        .await
    {
        // Another node counts at the same time.
        Ok(_) | Err(LogError::Refused) => Ok(before),
        Err(error) => Err(error),
    }
}

/// The rooms that are not run any more, each from a frame on.
pub(crate) async fn taken_out(log: &dyn Log, shard: u32) -> Result<(u64, Out), LogError> {
    let kept = log.kept(&format!("{shard}.out")).await?;
    let Some(kept) = kept else {
        return Ok((0, BTreeMap::new()));
    };
    let out = serde_json::from_slice(&kept.body);
    let out =
        out.map_err(|error| LogError::Failed(format!("the list of rooms that are out: {error}")))?;
    Ok((kept.revision, out))
}

/// Computes a task in a child process.
async fn try_task(node: Arc<Node>, shard: u32, task: Box<Task>) -> (Box<Task>, Option<Found>) {
    if !node.options.probes {
        return (task, None);
    }
    let found = node
        .probes
        .compute(&task, node.options.watchdog_timeout)
        .await;
    let found = found.unwrap_or_else(|why| {
        // Better a risk than a shard that stands still.
        node.tell(shard, &why.to_string());
        None
    });
    (task, found)
}

/// Adds a room to those that are not run any more. Returns all of them.
async fn take_out(node: &Node, shard: u32, found: &Found) -> Result<Out, LogError> {
    let until = Instant::now() + CALL;
    loop {
        let taken = async {
            let (revision, mut out) = taken_out(&*node.log, shard).await?;
            // An earlier frame counts: then the log was cut back.
            let from = out.entry(found.room.clone()).or_insert(u64::MAX);
            if *from <= found.frame {
                return Ok(out);
            }
            *from = found.frame;
            let body = serde_json::to_vec(&out).unwrap_or_default();
            let key = format!("{shard}.out");
            node.log.keep(&key, revision, &body).await?;
            node.tell(
                shard,
                &format!(
                    "room {} ends or hangs the process in frame {}: it is not run any more",
                    found.room, found.frame
                ),
            );
            Ok(out)
        };
        match taken.await {
            // Another node has found it as well, or the log is away for a moment.
            Err(LogError::Refused | LogError::Unreachable(_)) if Instant::now() < until => {
                sleep(Duration::from_millis(20)).await;
            }
            taken => return taken,
        }
    }
}

/// The newest save before an entry.
pub(crate) async fn newest_save(
    log: &dyn Log,
    shard: u32,
    before: Option<u64>,
) -> Result<Option<(Position, Arc<[u8]>)>, LogError> {
    let mut slots = Vec::new();
    for slot in 0..SLOTS {
        let kept = log.kept(&slot_key(shard, slot)).await?;
        slots.push(kept.map(|kept| kept.body));
    }
    Ok(saves::newest(slots, before))
}

/// Reads what a role needs to begin.
async fn load(node: Arc<Node>, shard: u32, before: Option<u64>) -> Result<(Loaded, Out), LogError> {
    let log = &*node.log;
    loop {
        let save = newest_save(log, shard, before).await?;
        let first = log.ends(shard).await?.first;
        let (_, out) = taken_out(log, shard).await?;
        let is_ours = save
            .as_ref()
            .is_none_or(|(at, _)| at.build == node.build || at.hands_over);
        let unread = match &save {
            Some((_, state)) if !is_ours => try_save(&node, shard, state, &out).await,
            _ => None,
        };
        if before.is_none() && is_ours {
            let at = save.as_ref().map_or(0, |(at, _)| at.seq);
            let tries = mark_try(log, shard, Some(at)).await?;
            if tries >= TRIES && node.options.probes {
                node.tell(
                    shard,
                    &format!("{tries} starts at its save have not ended: its rooms are tried in another process"),
                );
                if let Some(found) = probe::try_rooms(&node, shard, save.as_ref(), &out).await? {
                    take_out(&node, shard, &found).await?;
                    continue;
                }
            }
        }
        let loaded = Loaded {
            save,
            first,
            unread,
        };
        return Ok((loaded, out));
    }
}

/// Restores a save of another build in a child process. Returns why this process must not.
async fn try_save(node: &Node, shard: u32, state: &[u8], out: &Out) -> Option<String> {
    if !node.options.probes {
        return None;
    }
    let task = Task::new(Some(state.to_vec()), out.clone());
    match node
        .probes
        .compute(&task, node.options.watchdog_timeout)
        .await
    {
        Ok(found) => found.map(|it| format!("room {} ends or hangs the process", it.room)),
        Err(why) => {
            node.tell(shard, &why.to_string());
            None
        }
    }
}

/// A few of these names.
fn few(names: &[String]) -> String {
    const FEW: usize = 8;
    let first = names[..names.len().min(FEW)].join(", ");
    match names.len().checked_sub(FEW) {
        None | Some(0) => first,
        Some(more) => format!("{first} and {more} more"),
    }
}
