//! Runs the role of a node for one shard: its clock, its log, its rooms.

mod commands;
mod load;
mod trial;
mod views;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

use crate::bulletin::{Part, short};
use crate::event::ServerEvent;
use crate::log::Batch;
use crate::metered::Metered;
use crate::news::{Differences, Slowly};
use crate::probe::{Found, Task};
use crate::reminders::{MINUTE, Reminders};
use crate::role::{Event, Loaded, Role, Settings};
use crate::room::EffectKey;
use crate::server::{Node, Stage};
use crate::shard::{Out, Refused, RoomStatus, Shard, TURNS, step_of};
use views::Views;

pub(crate) use load::{read_saves, replace_saves};
pub(crate) use trial::taken_out;

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

/// For how many seconds a difference is shown. One that comes back later is said once more.
const DIFFERS: u64 = 10;

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
    performing: HashSet<EffectKey>,
    views: Views,
    metered: Metered,
    /// When the last tick of this node was appended.
    appended_at: Option<Instant>,
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
    reminders: Reminders<(&'static str, String)>,
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
    let mut rooms = Shard::new(
        node.kinds.clone(),
        options.place(shard),
        options.ticks,
        options.limits,
    );
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
        views: Views::new(&node, shard),
        metered: Metered::default(),
        appended_at: None,
        can_begin: None,
        is_trying: false,
        last_frame: None,
        counted: Counted::default(),
        part: None,
        refused: Slowly::default(),
        differences: Differences::default(),
        cannot: None,
        reminders: Reminders::every(MINUTE),
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

    /// Tells why the node does not have the shard: once a minute, not each time that it tries.
    fn cannot(&mut self, event: ServerEvent) {
        self.cannot = Some(event.to_string());
        let Some(subject) = event.absence() else {
            return;
        };
        if self.reminders.is_due(subject) {
            self.node.tell(self.number, event);
        }
    }

    fn note(&mut self, event: ServerEvent) {
        match event {
            ServerEvent::StateDiffers {
                frame, ticked_by, ..
            } => {
                let rooms = self.rooms.in_turn(frame);
                let pause = DIFFERS * u64::from(self.node.options.ticks);
                let turn = frame % TURNS;
                if self.differences.add(turn, frame, rooms.clone(), pause) {
                    let ticked_by = short(&ticked_by).to_owned();
                    let event = ServerEvent::StateDiffers {
                        frame,
                        ticked_by,
                        rooms,
                    };
                    self.node.tell(self.number, event);
                }
            }
            event if event.absence().is_some() => self.cannot(event),
            event => self.node.tell(self.number, event),
        }
    }

    async fn hear(&mut self, event: ToDriver) {
        match event {
            ToDriver::Event(event) => self.on(event),
            ToDriver::LoadFailed(why) => {
                self.cannot(ServerEvent::NotLoaded { why });
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
        alarm.begin();
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
        let inputs = self.rooms.take_applied();
        self.metered.status(&status, inputs);
        let (log, channel) = (self.node.log.clone(), format!("status.{}", self.number));
        if let Ok(body) = serde_json::to_vec(&status) {
            self.node.handle.spawn(async move {
                let _ = log.say(&channel, body).await;
            });
        }
    }
}
