//! A shard without log, network and clock, to count what its parts cost.

use std::sync::Arc;
use std::time::Duration;

use crate::body::{close_envelope, open_body};
use crate::entry::{Entry, Player, Topic};
use crate::live::Kind;
use crate::member::{Heartbeat, Members};
use crate::role::{Command, Event, Fold, Loaded, Role, Settings};
use crate::room::{Format, Room};
use crate::shard::{Limits, Place, Shard, step_of};

const TICKS: u32 = 30;

fn shard<R: Room>() -> Shard {
    let limits = Limits {
        rooms: usize::MAX,
        size: usize::MAX,
        rate: 60,
    };
    let place = Place {
        shard: 0,
        shards: 0,
    };
    Shard::new([Kind::of::<R>()].into(), place, TICKS, limits)
}

fn room_name(number: usize) -> Arc<str> {
    format!("room-{number}").into()
}

fn opened<R: Room>(rooms: usize, args: &R::Args) -> Vec<Topical> {
    let args = serde_json::to_string(args).expect("arguments serialise");
    let body = open_body(R::NAME, &args, 0).expect("arguments are JSON");
    let open = |number| (Topic::Open(room_name(number)), body.clone());
    (0..rooms).map(open).collect()
}

type Topical = (Topic, Vec<u8>);

/// The rooms of a shard alone.
#[derive(Debug)]
pub struct Rooms {
    shard: Shard,
    frame: u64,
}

impl Rooms {
    /// Opens rooms.
    pub fn open<R: Room>(rooms: usize, args: &R::Args) -> Self {
        let mut shard = shard::<R>();
        let entries = opened::<R>(rooms, args).into_iter().zip(1..);
        let entries = entries.map(|((topic, body), seq)| Entry {
            seq,
            topic: Some(topic),
            body: body.into(),
        });
        let entries: Vec<_> = entries.collect();
        shard.frame(1, &entries);
        Rooms { shard, frame: 1 }
    }

    /// Loads what `save` has returned.
    pub fn load<R: Room>(save: &[u8]) -> Self {
        let mut shard = shard::<R>();
        shard.load(Some(save)).expect("a save");
        Rooms { shard, frame: 1 }
    }

    /// Computes a frame.
    pub fn frame(&mut self) {
        self.frame += 1;
        self.shard.frame(self.frame, &[]);
    }

    /// The hash of all rooms.
    pub fn hash(&mut self) -> u64 {
        self.shard.hash()
    }

    /// The save of all rooms.
    pub fn save(&mut self) -> Vec<u8> {
        self.shard.save().expect("rooms can be saved")
    }

    /// The view of a room.
    pub fn view(&mut self, room: usize) -> Vec<u8> {
        let view = self.shard.view(&room_name(room), None);
        view.expect("a room").view
    }
}

/// A node that owns a shard: its role and its rooms, and a log that answers at once.
#[derive(Debug)]
pub struct Node {
    role: Role,
    shard: Shard,
    members: Members,
    now: Duration,
    seq: u64,
    frames: u64,
    inputs: u64,
    /// The bytes of the last save.
    pub saved: usize,
}

impl Node {
    /// Opens rooms, and computes the first frame. Saves every five seconds.
    pub fn open<R: Room>(rooms: usize, args: &R::Args) -> Self {
        let me: Arc<str> = "node".into();
        let mut members = Members::new(Duration::MAX, 1);
        members.hear(
            Duration::ZERO,
            Heartbeat {
                node: me.clone(),
                build: 1,
                generation: 1,
                leaves: false,
                code: 0,
                settings: "".into(),
                begins: Vec::new(),
                refuses: Vec::new(),
            },
        );
        let settings = Settings {
            step: step_of(TICKS),
            snapshot_interval: Duration::from_secs(5),
            failover_timeout: Duration::from_millis(300),
            standbys: 1,
            retry_after: Duration::from_millis(300),
        };
        let mut node = Node {
            role: Role::new(me, 1, 0, settings),
            shard: shard::<R>(),
            members,
            now: Duration::ZERO,
            seq: 0,
            frames: 0,
            inputs: 0,
            saved: 0,
        };
        node.on(Event::Time);
        for (topic, body) in opened::<R>(rooms, args) {
            node.read(topic, &body);
        }
        node.on(Event::Idle);
        while node.frames == 0 {
            node.frame();
        }
        node
    }

    fn read(&mut self, topic: Topic, body: &[u8]) {
        self.seq += 1;
        self.on(Event::Read(Entry {
            seq: self.seq,
            topic: Some(topic),
            body: body.into(),
        }));
    }

    /// An input of a player.
    pub fn input<I: serde::Serialize>(&mut self, room: usize, input: &I) {
        self.inputs += 1;
        let input = Format::Postcard.write(input).expect("an input serialises");
        let body = close_envelope(1, self.inputs, self.seq, &input);
        let player = Player::new("alice").expect("a name");
        self.read(Topic::Input(room_name(room), player), &body);
    }

    /// The time of a frame passes.
    pub fn frame(&mut self) {
        self.now += step_of(TICKS);
        self.on(Event::Time);
    }

    /// Frames so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    fn on(&mut self, event: Event) {
        let mut out = Vec::new();
        self.role
            .on(self.now, event, &self.members, &mut self.shard, &mut out);
        for command in out {
            match command {
                Command::Load { .. } => self.on(Event::Loaded(Loaded {
                    save: None,
                    first: 1,
                    unread: None,
                })),
                Command::Append { attempt, body, .. } => {
                    let seq = self.seq + 1;
                    self.on(Event::Appended { attempt, seq });
                    self.read(Topic::Tick, &body);
                    self.on(Event::Idle);
                }
                Command::Save { at, state, .. } => {
                    self.saved = crate::saves::to_bytes(&at, &state).len();
                    self.on(Event::Saved {
                        at: at.seq,
                        needed: None,
                        newest: at.seq,
                    });
                }
                Command::Frame { .. } => self.frames += 1,
                _ => {}
            }
        }
    }
}
