//! A node: what is told to its role, and what is done that the role says.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use framestep_durable::StableHash;

use super::fold::SimFold;
use super::{FAILOVER_TIMEOUT, Happens, Micros, NODES, RETRY, World};
use crate::entry::{Entry, Position, Tick};
use crate::event::ServerEvent;
use crate::member::{Heartbeat, Members};
use crate::role::mutant::{Mutant, Mutated};
use crate::role::{Command, Event, Loaded, Role};
use crate::saves;

#[derive(Clone, Debug)]
pub(super) enum ToNode {
    Time,
    SendHeartbeat,
    Heartbeat(Heartbeat),
    /// What was read of the log. `is_over`: the connection ends with it.
    Read {
        tail: u32,
        entries: Vec<Entry>,
        is_over: bool,
    },
    Event(Event),
    /// Reads the saves.
    Load(Option<u64>),
    /// What was read, and which inputs have no effect any more.
    Loaded(Loaded, BTreeMap<u64, u64>),
    /// A frame was tried in another process, which an input has ended.
    Tried {
        at: u64,
        frame: u64,
        entries: Vec<Entry>,
        out: BTreeMap<u64, u64>,
    },
    /// The list of inputs without effect has it.
    TakenOut(u64, BTreeMap<u64, u64>),
    /// Reads the slots, to store a save.
    Slots {
        at: Position,
        bytes: Arc<[u8]>,
        not_of_this_log: Option<u64>,
    },
    /// An effect on the outside is done.
    Performed(u64),
    Stop,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: Arc<str>,
    pub(super) start: u32,
    pub(super) build: u64,
    pub(super) role: Role<Mutated>,
    pub(super) fold: SimFold,
    pub(super) members: Members,
    /// The generation of the build, as the node has read it.
    pub(super) generation: u64,
    pub(super) leaves: bool,
    pub(super) tail: u32,
    pub(super) next: u64,
    pub(super) epoch: u32,
    /// The connection at which the tail was opened.
    pub(super) tail_epoch: u32,
    /// The hash of each tick read.
    pub(super) ticks: HashMap<u64, u64>,
    pub(super) is_alive: bool,
    pub(super) paused_until: Micros,
    pub(super) cut_off_until: Micros,
    pub(super) performed: BTreeSet<u64>,
}

impl World {
    pub(super) fn node_step(&mut self, node: usize, what: ToNode) {
        match what {
            ToNode::Time => {
                self.on(node, Event::Time);
                let wait = 2_000 + self.random.below(1_000);
                self.tell(wait, node, ToNode::Time);
            }
            ToNode::SendHeartbeat => {
                if self.mutant != Some(Mutant::LastStartedRuns) && !self.is_lost(Some(node)) {
                    let build = self.nodes[node].build;
                    self.nodes[node].generation = self.generations[&build];
                }
                let it = &mut self.nodes[node];
                let can_begin = it.role.can_begin();
                let said = |what| {
                    can_begin
                        .filter(|it| *it == what)
                        .map(|_| 0)
                        .into_iter()
                        .collect()
                };
                let heartbeat = Heartbeat {
                    node: it.name.clone(),
                    build: it.build,
                    generation: it.generation,
                    leaves: it.leaves,
                    code: it.build,
                    settings: "".into(),
                    begins: said(true),
                    refuses: said(false),
                };
                it.members
                    .hear(Duration::from_micros(self.now), heartbeat.clone());
                for other in (0..NODES).filter(|other| *other != node) {
                    let is_cut_off = self.nodes[other].cut_off_until > self.now;
                    if !is_cut_off && !self.is_lost(Some(node)) {
                        let after = self.delay();
                        self.tell(after, other, ToNode::Heartbeat(heartbeat.clone()));
                    }
                }
                self.tell(FAILOVER_TIMEOUT / 4, node, ToNode::SendHeartbeat);
            }
            ToNode::Heartbeat(heartbeat) => {
                let now = Duration::from_micros(self.now);
                self.nodes[node].members.hear(now, heartbeat);
            }
            ToNode::Read {
                tail,
                entries,
                is_over,
            } => self.read(node, tail, entries, is_over),
            ToNode::Event(event) => self.on(node, event),
            ToNode::Load(before) => {
                if self.is_lost(Some(node)) {
                    self.on(node, Event::LoadFailed);
                    return;
                }
                let save = saves::newest(saves::by_age(self.log.saves()), before);
                let loaded = Loaded {
                    save,
                    first: self.log.first(),
                    unread: None,
                };
                let after = self.delay();
                self.tell(after, node, ToNode::Loaded(loaded, self.out.clone()));
            }
            ToNode::Loaded(loaded, out) => {
                self.nodes[node].fold.out = out;
                self.on(node, Event::Loaded(loaded));
            }
            ToNode::Tried {
                at,
                frame,
                entries,
                out,
            } => self.tried(node, at, frame, entries, out),
            ToNode::TakenOut(at, out) => {
                if self.nodes[node].role.is_trying(at) {
                    self.nodes[node].fold.out = out;
                    self.on(node, Event::Tried { at });
                }
            }
            ToNode::Slots {
                at,
                bytes,
                not_of_this_log,
            } => self.slots(node, &at, bytes, not_of_this_log),
            ToNode::Performed(question) => {
                let id = format!("answer-{question}").into();
                let body = question.to_le_bytes().into();
                // Until the log has it.
                self.send(Some(node), Happens::Answer { body, id });
                if self.nodes[node].fold.is_open(question) {
                    self.tell(RETRY * 4, node, ToNode::Performed(question));
                }
            }
            ToNode::Stop => {
                let build = self.newest_build;
                let after = self.random.below(50_000);
                self.restart(node, build, after);
            }
        }
    }

    /// A frame was tried in another process, without the inputs that are out.
    fn tried(
        &mut self,
        node: usize,
        at: u64,
        frame: u64,
        entries: Vec<Entry>,
        out: BTreeMap<u64, u64>,
    ) {
        if !self.nodes[node].role.is_trying(at) {
            return;
        }
        let after = self.delay();
        let Some(killer) = self.nodes[node].fold.killer(frame, &entries, &out) else {
            self.tell(after, node, ToNode::TakenOut(at, out));
            return;
        };
        // Earlier, if the log was cut back.
        let from = self.out.entry(killer).or_insert(frame);
        *from = frame.min(*from);
        // Once more: there may be another one.
        let out = self.out.clone();
        let again = ToNode::Tried {
            at,
            frame,
            entries,
            out,
        };
        self.tell(after, node, again);
    }

    /// What was read of the slots: a save is stored in one of them.
    fn slots(
        &mut self,
        node: usize,
        at: &Position,
        bytes: Arc<[u8]>,
        not_of_this_log: Option<u64>,
    ) {
        if self.is_lost(Some(node)) {
            self.on(node, Event::SaveFailed { at: at.seq });
            return;
        }
        let slots = self.log.slots();
        let slot = if self.mutant == Some(Mutant::OldSaveWins) {
            let newest =
                (0..slots.len()).max_by_key(|&slot| slots[slot].1.as_ref().map(|at| at.seq));
            newest.map(|slot| (slot, 0))
        } else {
            saves::slot_for(&slots, at, not_of_this_log, 6)
        };
        let Some((slot, revision)) = slot else {
            let event = self.saved(at.seq);
            self.on(node, event);
            return;
        };
        let start = self.nodes[node].start;
        let at = at.seq;
        self.send(
            Some(node),
            Happens::Store {
                node,
                start,
                at,
                slot,
                revision,
                bytes,
            },
        );
    }

    /// A node handles what it has read, and reads on.
    fn read(&mut self, node: usize, tail: u32, entries: Vec<Entry>, is_over: bool) {
        if self.nodes[node].tail != tail {
            return;
        }
        let is_idle = entries.is_empty() && !is_over;
        for entry in entries {
            self.on(node, Event::Read(entry));
            if self.nodes[node].tail != tail {
                return;
            }
        }
        if is_idle {
            self.on(node, Event::Idle);
        } else if is_over {
            self.on(node, Event::Broken);
        }
        if self.nodes[node].tail == tail {
            self.fetch(node);
        }
    }

    /// Asks the log for more. It arrives later.
    fn fetch(&mut self, node: usize) {
        let after = 300 + self.random.below(3_000);
        let it = &mut self.nodes[node];
        let (tail, epoch) = (it.tail, it.epoch);
        let is_cut_off = it.cut_off_until > self.now;
        if is_cut_off {
            it.next = u64::MAX;
        }
        if it.next == u64::MAX || epoch != it.tail_epoch {
            self.tell(
                if is_cut_off { RETRY } else { after },
                node,
                ToNode::Read {
                    tail,
                    entries: Vec::new(),
                    is_over: true,
                },
            );
            return;
        }
        let next = it.next;
        let most = 1 + self.random.below(6);
        let mut entries = self.log.read(next, most);
        self.nodes[node].next = entries.last().map_or(next, |entry| entry.seq + 1);
        if !self.is_quiet() && entries.len() > 1 {
            if self.random.is(self.gap) {
                let missing = usize::try_from(self.random.below(entries.len() as u64)).unwrap_or(0);
                entries.remove(missing);
            }
            if self.random.is(self.double) {
                let twice = usize::try_from(self.random.below(entries.len() as u64)).unwrap_or(0);
                entries.push(entries[twice].clone());
            }
        }
        self.tell(
            after,
            node,
            ToNode::Read {
                tail,
                entries,
                is_over: false,
            },
        );
    }

    fn on(&mut self, node: usize, event: Event) {
        let now = Duration::from_micros(self.now);
        if self.is_printing {
            let name = &self.nodes[node].name;
            match &event {
                Event::Time | Event::Idle => {}
                Event::Read(entry) if entry.is_tick() => {
                    let tick = Tick::of_bytes(&entry.body);
                    println!("{:>8} {name} reads {} {tick:?}", self.now, entry.seq);
                }
                Event::Loaded(loaded) => {
                    let at = loaded.save.as_ref().map(|(at, _)| at);
                    println!(
                        "{:>8} {name} loaded {at:?}, first {}",
                        self.now, loaded.first
                    );
                }
                event => println!("{:>8} {name} {event:?}", self.now),
            }
        }
        let it = &mut self.nodes[node];
        if let Event::Read(entry) = &event
            && entry.is_tick()
        {
            it.ticks.insert(entry.seq, StableHash::digest(&entry.body));
        }
        it.members.forget(now);
        let mut out = Vec::new();
        it.role.on(now, event, &it.members, &mut it.fold, &mut out);
        if let Some(kind) = it.fold.killed {
            if self.is_printing {
                println!("{:>8} {} is ended by an input", self.now, it.name);
            }
            *self.killed.entry(kind).or_default() += 1;
            self.counts.killed += 1;
            self.is_killed_in_quiet |= self.is_quiet();
            let build = self.nodes[node].build;
            let after = self.random.below(80_000);
            self.restart(node, build, after);
            return;
        }
        for command in out {
            self.obey(node, command);
        }
        self.perform(node);
    }

    /// An owner does what scripts ask of the outside.
    fn perform(&mut self, node: usize) {
        let it = &mut self.nodes[node];
        if !it.role.owns() {
            if self.mutant != Some(Mutant::EffectsAreForgotten) {
                it.performed.clear();
            }
            return;
        }
        let open: Vec<u64> = it.fold.open().filter(|it| *it > 0).collect();
        for question in open {
            if self.nodes[node].performed.insert(question) {
                let is_forgotten = self.mutant == Some(Mutant::EffectsAreForgotten)
                    && !self.nodes[node].fold.was_asked_now(question);
                if !is_forgotten {
                    let after = self.random.below(20_000);
                    self.tell(after, node, ToNode::Performed(question));
                }
            }
        }
    }

    fn obey(&mut self, node: usize, command: Command) {
        if self.is_printing {
            self.print(node, &command);
        }
        let start = self.nodes[node].start;
        match command {
            Command::Load { before } => {
                self.nodes[node].tail += 1;
                let after = self.delay();
                self.tell(after, node, ToNode::Load(before));
            }
            Command::Follow { from } => {
                let it = &mut self.nodes[node];
                it.tail += 1;
                it.next = from;
                it.tail_epoch = it.epoch;
                // The connection takes a while.
                self.fetch(node);
            }
            Command::Append {
                attempt,
                after,
                body,
            } => {
                let id = format!("{}-{attempt}", self.nodes[node].name).into();
                self.tell(RETRY, node, ToNode::Event(Event::Lost { attempt }));
                self.send(
                    Some(node),
                    Happens::Tick {
                        node,
                        start,
                        attempt,
                        id,
                        after,
                        body,
                    },
                );
            }
            Command::Save {
                at,
                state,
                not_of_this_log,
            } => {
                let bytes = saves::to_bytes(&at, &state).into();
                let after = self.delay();
                // The driver waits so long for an answer.
                self.tell(
                    RETRY * 4,
                    node,
                    ToNode::Event(Event::SaveFailed { at: at.seq }),
                );
                self.tell(
                    after,
                    node,
                    ToNode::Slots {
                        at,
                        bytes,
                        not_of_this_log,
                    },
                );
            }
            Command::Try { at, entries, .. } => {
                let out = self.nodes[node].fold.out.clone();
                let after = self.delay();
                let tried = ToNode::Tried {
                    at: at.seq,
                    frame: at.frame,
                    entries,
                    out,
                };
                self.tell(after, node, tried);
            }
            Command::Trim { before } => self.send(Some(node), Happens::Trim { before }),
            Command::Frame { at, own } => {
                self.counts.compared += 1;
                let hash = self.nodes[node].fold.hash_after(at.frame);
                // An injected bug computes frames before it reads their ticks.
                let tick = self.nodes[node].ticks.get(&at.seq).copied().unwrap_or(0);
                let earlier = self.computed.insert((at.seq, at.chain), (tick, hash));
                if earlier.is_some_and(|(_, earlier)| earlier != hash) {
                    let (name, frame, seq) = (&self.nodes[node].name, at.frame, at.seq);
                    self.broken
                        .get_or_insert(format!("frame {frame} (entry {seq}) differs on {name}"));
                }
                if own && self.last_owner != at.by {
                    self.last_owner = at.by;
                    self.counts.moves += 1;
                }
            }
            Command::Began => self.nodes[node].performed.clear(),
            Command::Unload => self.nodes[node].tail += 1,
            Command::Note(what) => self.hear_note(node, &what),
        }
    }

    fn hear_note(&mut self, node: usize, what: &ServerEvent) {
        match what {
            ServerEvent::VoidTicks { count, .. } => self.counts.void += count,
            ServerEvent::CannotBegin { .. } if self.has_strangers => self.counts.unread += 1,
            ServerEvent::StateDiffers { .. }
            | ServerEvent::BadSave { .. }
            | ServerEvent::CannotBegin { .. }
            | ServerEvent::NotSaved { .. } => {
                let name = &self.nodes[node].name;
                self.broken.get_or_insert(format!("{name}: {what}"));
            }
            _ => {}
        }
    }
}
