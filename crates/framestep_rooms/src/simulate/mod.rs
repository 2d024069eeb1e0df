//! The simulator of the protocol: nodes, log, network and players as values, time as a number.
//!
//! A history is a function of its seed. Nodes are [`Role`]s with a small state instead of rooms.
//! While there is trouble, nodes are killed, paused, drained, upgraded and cut off; messages are
//! lost, doubled and delayed; the log loses its last entries. Then there is quiet, and an
//! [oracle](oracle) that only reads the log compares all frames of all nodes.

pub mod cost;
mod counts;
mod fold;
mod log;
mod node;
mod oracle;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use framestep_durable::StableHash;

use crate::body::close_envelope;
use crate::entry::{Build, Generation, Player, Topic};
use crate::log::acknowledged;
use crate::member::Members;
use crate::role::mutant::{Mutant, Mutated};
use crate::role::{Event, Role, Settings};
use crate::saves;

pub use counts::{Broken, Counts};
use fold::{SimFold, is_strange};
use log::SimLog;
use node::{Node, ToNode};
use oracle::OfLog;

/// A generator of random numbers: the same on every machine.
#[derive(Clone, Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Whether something happens that happens `of_thousand` times in a thousand.
    fn is(&mut self, of_thousand: u64) -> bool {
        self.below(1_000) < of_thousand
    }
}

/// Microseconds.
type Micros = u64;

const TROUBLE_ENDS: Micros = 600_000;
const PLAYERS_END: Micros = 900_000;
const END: Micros = 1_300_000;
const FAILOVER_TIMEOUT: Micros = 40_000;
const RETRY: Micros = 15_000;
const NODES: usize = 3;
const PLAYERS: u64 = 2;
/// How many nodes inputs of a kind may end.
const KILLED_AT_MOST: u64 = 1;

/// The names of the bugs that can be injected.
pub fn mutants() -> Vec<String> {
    Mutant::ALL
        .iter()
        .map(|mutant| format!("{mutant:?}"))
        .collect()
}

/// Runs the history of a seed, with an injected bug or without.
///
/// # Errors
///
/// If a promise was broken.
///
/// # Panics
///
/// If there is no such bug.
pub fn history(seed: u64, mutant: Option<&str>) -> Result<Counts, Broken> {
    World::new(seed, mutant.map(named)).run()
}

/// As [`history`], and prints each step.
pub fn history_printed(seed: u64, mutant: Option<&str>) -> Result<Counts, Broken> {
    let mut world = World::new(seed, mutant.map(named));
    world.is_printing = true;
    world.run()
}

fn named(name: &str) -> Mutant {
    let mutant = Mutant::ALL
        .iter()
        .find(|mutant| format!("{mutant:?}") == name);
    *mutant.unwrap_or_else(|| panic!("there is no bug `{name}` to inject"))
}

/// What a player has sent.
#[derive(Debug, Default)]
struct Sent {
    /// The session and the number there of each input.
    all: Vec<(u64, u64)>,
    /// The session of the next one, and the last number there.
    session: (u64, u64),
    /// Those that are not acknowledged.
    open: BTreeSet<u64>,
}

/// What happens at a time.
#[derive(Clone, Debug)]
enum Happens {
    /// For a node, of this start.
    Node(usize, u32, ToNode),
    /// The log receives a tick.
    Tick {
        node: usize,
        start: u32,
        attempt: u64,
        id: Arc<str>,
        after: Option<u64>,
        body: Arc<[u8]>,
    },
    /// The log receives the answer of the outside.
    Answer {
        body: Arc<[u8]>,
        id: Arc<str>,
    },
    /// The log receives an input.
    Input {
        player: u64,
        serial: u64,
    },
    /// The server of the log that is cut off from the others knows it.
    OtherEnds,
    /// A player sends what was not acknowledged, and perhaps more.
    Player(u64),
    /// A save is stored: what was read of the slots before.
    Store {
        node: usize,
        start: u32,
        at: u64,
        slot: usize,
        revision: u64,
        bytes: Arc<[u8]>,
    },
    Trim {
        before: u64,
    },
    Start(usize),
    Trouble,
    Operator,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "what is in a history")]
struct World {
    seed: u64,
    random: Random,
    now: Micros,
    order: u64,
    queue: BinaryHeap<Reverse<(Micros, u64, usize)>>,
    happens: Vec<Option<Happens>>,
    free: Vec<usize>,
    log: SimLog,
    nodes: Vec<Node>,
    counts: Counts,
    mutant: Option<Mutant>,
    newest_build: u64,
    /// The generations of the builds that were started.
    generations: BTreeMap<Build, Generation>,
    /// When each of them began to count.
    orders: Vec<(Micros, Build, Generation)>,
    /// When the log has received each of its ticks.
    ticked_at: HashMap<u64, Micros>,
    /// Whether some messages reach a server of the log that is cut off from the others.
    has_other: bool,
    sent: BTreeMap<u64, Sent>,
    acknowledged: BTreeMap<(u64, u64), u64>,
    /// The hash of the tick and of the state after each place that a node has computed.
    computed: HashMap<(u64, u64), (u64, u64)>,
    /// Ticks that the log has lost.
    cut: HashSet<(u64, u64)>,
    /// How often things happen, of a thousand.
    loss: u64,
    double: u64,
    slow: u64,
    gap: u64,
    /// Which kinds of trouble there are.
    kinds: u64,
    broken: Option<String>,
    is_printing: bool,
    last_owner: Arc<str>,
    /// Whether some inputs end the process that computes them.
    has_killers: bool,
    /// Whether the room closes at times.
    closes: bool,
    /// Whether some builds cannot read the saves of others.
    has_strangers: bool,
    /// The list of inputs without effect, by kind, each from a frame on.
    out: BTreeMap<u64, u64>,
    /// How many nodes the inputs of each kind have ended.
    killed: BTreeMap<u64, u64>,
    is_killed_in_quiet: bool,
    /// The entries of the log when the trouble ended.
    entries_in_trouble: usize,
}

impl World {
    fn new(seed: u64, mutant: Option<Mutant>) -> Self {
        let mut random = Random(seed.wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ 0x5851_F42D_4C95_7F2D);
        let mut often = |most: u64| {
            if random.below(2) == 0 {
                0
            } else {
                random.below(most)
            }
        };
        let (loss, double, slow, gap) = (often(150), often(200), often(120), often(40));
        let has_killers = random.is(300);
        let (closes, has_strangers) = (random.is(400), random.is(400));
        let mut world = World {
            seed,
            now: 0,
            order: 0,
            queue: BinaryHeap::new(),
            happens: Vec::new(),
            free: Vec::new(),
            // A short window: doubles reach the log.
            log: SimLog::new(1 + random.below(12)),
            nodes: Vec::new(),
            counts: Counts {
                histories: 1,
                ..Counts::default()
            },
            mutant,
            newest_build: 1,
            generations: BTreeMap::new(),
            orders: Vec::new(),
            ticked_at: HashMap::new(),
            has_other: false,
            sent: BTreeMap::new(),
            acknowledged: BTreeMap::new(),
            computed: HashMap::new(),
            cut: HashSet::new(),
            loss,
            double,
            slow,
            gap,
            kinds: if random.is(300) {
                u64::MAX
            } else {
                random.next()
            },
            broken: None,
            is_printing: false,
            last_owner: "".into(),
            has_killers,
            closes,
            has_strangers,
            out: BTreeMap::new(),
            killed: BTreeMap::new(),
            is_killed_in_quiet: false,
            entries_in_trouble: 0,
            random,
        };
        for node in 0..NODES {
            let made = world.node(node, 0, 1);
            world.nodes.push(made);
            let at = world.random.below(20_000);
            world.at(at, Happens::Start(node));
        }
        for player in 0..PLAYERS {
            world.at(1_000 + player * 500, Happens::Player(player));
        }
        world.at(30_000, Happens::Trouble);
        world
    }

    fn node(&self, number: usize, start: u32, build: u64) -> Node {
        let name: Arc<str> = format!("n{number}.{start}").into();
        let settings = Settings {
            step: Duration::from_millis(10),
            snapshot_interval: Duration::from_millis(60),
            failover_timeout: Duration::from_micros(FAILOVER_TIMEOUT),
            standbys: 1,
            retry_after: Duration::from_micros(RETRY),
        };
        Node {
            role: Role::with_rules(Mutated(self.mutant), name.clone(), build, 0, settings),
            fold: SimFold::new(
                build,
                self.mutant,
                self.has_killers,
                self.closes,
                self.has_strangers && is_strange(build),
            ),
            members: Members::new(Duration::from_micros(FAILOVER_TIMEOUT), 1),
            name,
            start,
            build,
            generation: 0,
            leaves: false,
            tail: 0,
            next: 0,
            epoch: 0,
            tail_epoch: 0,
            ticks: HashMap::new(),
            is_alive: false,
            paused_until: 0,
            cut_off_until: 0,
            performed: BTreeSet::new(),
        }
    }

    fn at(&mut self, at: Micros, happens: Happens) {
        self.order += 1;
        let place = self.free.pop().unwrap_or_else(|| {
            self.happens.push(None);
            self.happens.len() - 1
        });
        self.happens[place] = Some(happens);
        self.queue.push(Reverse((at, self.order, place)));
    }

    fn is_quiet(&self) -> bool {
        self.now >= TROUBLE_ENDS
    }

    /// How long a message takes.
    fn delay(&mut self) -> Micros {
        let usual = 200 + self.random.below(1_800);
        if !self.is_quiet() && self.random.is(self.slow) {
            return usual + self.random.below(60_000);
        }
        usual
    }

    fn is_lost(&mut self, node: Option<usize>) -> bool {
        let is_cut_off = node.is_some_and(|node| self.nodes[node].cut_off_until > self.now);
        let is_lost = is_cut_off || !self.is_quiet() && self.random.is(self.loss);
        self.counts.lost += u64::from(is_lost);
        is_lost
    }

    /// Sends a message: it may be lost, and may arrive twice.
    fn send(&mut self, node: Option<usize>, happens: Happens) {
        if self.is_lost(node) {
            return;
        }
        if !self.is_quiet() && self.random.is(self.double) {
            self.counts.doubled += 1;
            let at = self.now + self.delay();
            self.at(at, happens.clone());
        }
        let at = self.now + self.delay();
        self.at(at, happens);
    }

    fn tell(&mut self, after: Micros, node: usize, what: ToNode) {
        let start = self.nodes[node].start;
        self.at(self.now + after, Happens::Node(node, start, what));
    }

    fn answer(&mut self, node: usize, start: u32, event: Event) {
        if !self.is_lost(Some(node)) {
            let at = self.now + self.delay();
            self.at(at, Happens::Node(node, start, ToNode::Event(event)));
        }
    }

    fn run(mut self) -> Result<Counts, Broken> {
        while let Some(Reverse((at, _, place))) = self.queue.pop() {
            if at > END || self.broken.is_some() {
                break;
            }
            self.now = at;
            self.counts.steps += 1;
            let happens = self.happens[place].take().expect("it happens once");
            self.free.push(place);
            self.step(happens);
        }
        self.counts.frames = self.log.all.iter().filter(|entry| entry.is_tick()).count() as u64;
        self.counts.inputs = self.acknowledged.len() as u64;
        if self.broken.is_none() {
            let judged = OfLog::read(&self).and_then(|of_log| {
                self.counts.begun_empty = of_log.begun_empty;
                of_log.judge(&self)
            });
            match judged {
                Ok(oracle::Judged::Kept) => {}
                Ok(oracle::Judged::LogIsLost) => self.counts.unrecoverable += 1,
                Err(why) => self.broken = Some(why),
            }
        }
        match self.broken {
            None => Ok(self.counts),
            Some(why) => Err(Broken {
                seed: self.seed,
                why,
            }),
        }
    }

    fn step(&mut self, happens: Happens) {
        match happens {
            Happens::Node(node, start, what) => {
                let it = &self.nodes[node];
                if !it.is_alive || it.start != start {
                    return;
                }
                if it.paused_until > self.now {
                    let at = it.paused_until;
                    self.at(at, Happens::Node(node, start, what));
                    return;
                }
                self.node_step(node, what);
            }
            Happens::Tick {
                node,
                start,
                attempt,
                id,
                after,
                body,
            } => {
                let event = if self.is_astray() {
                    let Some(seq) = self.log.append_to_other(&id) else {
                        return;
                    };
                    match acknowledged(seq) {
                        Err(_) if self.mutant != Some(Mutant::AnyAnswerCounts) => {
                            Event::Lost { attempt }
                        }
                        _ => Event::Appended { attempt, seq },
                    }
                } else if let Some(seq) = self.log.tick(&id, after, &body) {
                    self.ticked_at.entry(seq).or_insert(self.now);
                    Event::Appended { attempt, seq }
                } else {
                    self.counts.refused += 1;
                    Event::Refused { attempt }
                };
                self.answer(node, start, event);
            }
            Happens::Answer { .. } if self.is_astray() => {}
            Happens::Answer { body, id } => {
                self.log.append(Topic::Answer("room".into()), &id, &body);
            }
            Happens::Input { player, serial } => self.input(player, serial),
            Happens::OtherEnds => {
                self.has_other = false;
                self.log.end_other();
            }
            Happens::Player(player) => self.player(player),
            Happens::Store {
                node,
                start,
                at,
                slot,
                revision,
                bytes,
            } => {
                let newest = |log: &SimLog| saves::newest_entry(&log.slots());
                let is_any = self.mutant == Some(Mutant::OldSaveWins);
                let before = newest(&self.log);
                let is_stored = self.log.store(slot, revision, bytes, is_any);
                if self.counts.cuts == 0 && newest(&self.log) < before {
                    let why = format!("a save at {at} has replaced the newest one, at {before}");
                    self.broken.get_or_insert(why);
                }
                let event = if is_stored {
                    self.saved(at)
                } else {
                    Event::SaveFailed { at }
                };
                self.answer(node, start, event);
            }
            Happens::Trim { before } => self.log.trim(before),
            Happens::Start(node) => self.start(node),
            Happens::Trouble => self.trouble(),
            Happens::Operator => self.operator(),
        }
    }

    fn saved(&self, at: u64) -> Event {
        let slots = self.log.slots();
        Event::Saved {
            at,
            needed: saves::oldest(&slots),
            newest: saves::newest_entry(&slots),
        }
    }

    fn start(&mut self, node: usize) {
        if self.nodes[node].is_alive {
            return;
        }
        // Without the log, a node does not start.
        if self.is_lost(Some(node)) {
            self.at(self.now + RETRY, Happens::Start(node));
            return;
        }
        let build = self.nodes[node].build;
        self.counts.old_starts += u64::from(build < self.newest_build);
        let next = self.next_generation();
        if !self.generations.contains_key(&build) {
            self.order(build, next);
        }
        let generation = if self.mutant == Some(Mutant::LastStartedRuns) {
            // Its clock may be wrong.
            self.now + self.random.below(100_000)
        } else {
            self.generations[&build]
        };
        let it = &mut self.nodes[node];
        it.is_alive = true;
        it.generation = generation;
        self.tell(0, node, ToNode::SendHeartbeat);
        // It learns the members first.
        self.tell(FAILOVER_TIMEOUT, node, ToNode::Time);
    }

    fn next_generation(&self) -> Generation {
        self.generations.values().max().copied().unwrap_or(0) + 1
    }

    /// From now on, a build has a generation.
    fn order(&mut self, build: Build, generation: Generation) {
        self.generations.insert(build, generation);
        self.orders.push((self.now, build, generation));
    }

    /// Whether a build was later than another one at some time from `since` to `until`.
    fn was_told(&self, from: Build, to: Build, since: Micros, until: Micros) -> bool {
        let (mut of_from, mut of_to) = (0, 0);
        let mut was_later = false;
        for &(at, build, generation) in self.orders.iter().filter(|(at, ..)| *at <= until) {
            // What counted before this order.
            was_later |= at > since && of_to > of_from;
            if build == from {
                of_from = generation;
            } else if build == to {
                of_to = generation;
            }
        }
        was_later || of_to > of_from
    }

    /// Whether a message reaches a server of the log that is cut off from the others.
    fn is_astray(&mut self) -> bool {
        let is_astray = self.has_other && self.random.is(600);
        self.counts.astray += u64::from(is_astray);
        is_astray
    }

    /// The log receives an input.
    fn input(&mut self, player: u64, serial: u64) {
        let name = format!("p{player}");
        let at = usize::try_from(serial).unwrap_or(0) - 1;
        let (session, number) = self.sent[&player].all[at];
        let id = format!("{name}-{session}-{number}");
        let answer = if self.is_astray() {
            self.log.append_to_other(&id)
        } else {
            let topic = Topic::Input("room".into(), Player::new(&name).expect("a name"));
            let body = close_envelope(session, number, &serial.to_le_bytes());
            Some(self.log.append(topic, &id, &body))
        };
        let is_any = self.mutant == Some(Mutant::AnyAnswerCounts);
        let Some(seq) = answer.filter(|seq| is_any || acknowledged(*seq).is_ok()) else {
            return;
        };
        self.acknowledged.entry((player, serial)).or_insert(seq);
        if !self.is_lost(None) {
            let sent = self.sent.get_mut(&player).expect("it has sent");
            sent.open.remove(&serial);
        }
    }

    fn restart(&mut self, node: usize, build: u64, after: Micros) {
        let start = self.nodes[node].start + 1;
        self.nodes[node] = self.node(node, start, build);
        let at = self.now + after;
        self.at(at, Happens::Start(node));
    }

    fn player(&mut self, player: u64) {
        let open: Vec<u64> = {
            let sent = self.sent.entry(player).or_default();
            sent.open.iter().copied().collect()
        };
        for &serial in &open {
            self.send(None, Happens::Input { player, serial });
        }
        if self.now < PLAYERS_END {
            if self.sent[&player].all.is_empty() || self.random.is(60) {
                // Another device, or a new connection. Some take their clocks for the number.
                self.counts.sessions += 1;
                let clock = self.now + self.random.below(2) * 3_600_000_000;
                let session = (clock << 8) + self.random.below(256);
                self.sent.entry(player).or_default().session = (session, 0);
            }
            if open.len() < 8 && self.random.is(700) {
                let sent = self.sent.entry(player).or_default();
                sent.session.1 += 1;
                sent.all.push(sent.session);
                let serial = sent.all.len() as u64;
                sent.open.insert(serial);
                self.send(None, Happens::Input { player, serial });
            }
            if self.random.is(50) {
                // Once more, long after it was acknowledged.
                let last = self.sent[&player].all.len() as u64;
                let back = self.random.below(20);
                if last > back {
                    let serial = last - back;
                    self.send(None, Happens::Input { player, serial });
                }
            }
        }
        let at = self.now + 4_000 + self.random.below(12_000);
        self.at(at, Happens::Player(player));
    }

    fn trouble(&mut self) {
        if self.is_quiet() {
            self.begin_quiet();
            return;
        }
        let node = usize::try_from(self.random.below(NODES as u64)).unwrap_or(0);
        let kind = self.random.below(14);
        if self.kinds >> kind & 1 == 0 {
            let next = self.now + self.random.below(20_000);
            self.at(next, Happens::Trouble);
            return;
        }
        match kind {
            0 | 1 if self.nodes[node].is_alive => {
                self.counts.kills += 1;
                let build = self.nodes[node].build;
                let after = self.random.below(120_000);
                self.restart(node, build, after);
            }
            2 => {
                // All at once.
                for node in 0..NODES {
                    self.counts.kills += 1;
                    let build = self.nodes[node].build;
                    let after = self.random.below(60_000);
                    self.restart(node, build, after);
                }
            }
            3 | 4 => {
                self.counts.pauses += 1;
                self.nodes[node].paused_until = self.now + self.random.below(120_000);
            }
            5 | 6 => {
                self.counts.partitions += 1;
                self.nodes[node].cut_off_until = self.now + self.random.below(120_000);
                self.interrupt(node);
            }
            7 if self.nodes[node].is_alive => {
                self.counts.drains += 1;
                self.nodes[node].leaves = true;
                let after = self.random.below(80_000);
                self.tell(0, node, ToNode::SendHeartbeat);
                self.tell(after, node, ToNode::Stop);
            }
            8 => {
                self.counts.upgrades += 1;
                if self.random.is(700) {
                    self.newest_build += 1;
                }
                // Sometimes back to an older one, which the operator prefers.
                let back = u64::from(self.random.is(400));
                let build = self.newest_build.saturating_sub(back).max(1);
                if self.generations.contains_key(&build)
                    && self.generations[&build] + 1 < self.next_generation()
                {
                    self.counts.orders += 1;
                    let next = self.next_generation();
                    self.order(build, next);
                }
                // Sometimes all at once: nobody hands over.
                let is_all = self.random.is(400);
                for other in (0..NODES).filter(|other| is_all || *other == node) {
                    let after = self.random.below(60_000);
                    self.restart(other, build, after);
                }
            }
            9 | 10 => {
                let entries = self.random.below(10);
                let lost = self.log.cut(entries);
                self.counts.cuts += u64::from(!lost.is_empty());
                for entry in &lost {
                    if entry.is_tick() {
                        self.cut
                            .insert((entry.seq, StableHash::digest(&entry.body)));
                    }
                    self.acknowledged.retain(|_, seq| *seq != entry.seq);
                }
                for node in 0..NODES {
                    self.interrupt(node);
                }
            }
            11 => {
                // A node of any build restarts: nobody has told it to run the shard.
                let build = 1 + self.random.below(self.newest_build);
                let after = self.random.below(60_000);
                self.restart(node, build, after);
            }
            12 => {
                self.has_other = true;
                let until = self.now + self.random.below(60_000);
                self.at(until, Happens::OtherEnds);
            }
            _ => self.interrupt(node),
        }
        let next = self.now + self.random.below(40_000);
        self.at(next, Happens::Trouble);
    }

    /// The connection of a node ends. What has arrived is still read.
    fn interrupt(&mut self, node: usize) {
        self.nodes[node].epoch += 1;
    }

    fn frames_since_trouble(&self) -> u64 {
        let since = self.log.all.get(self.entries_in_trouble..).unwrap_or(&[]);
        since.iter().filter(|entry| entry.is_tick()).count() as u64
    }

    fn begin_quiet(&mut self) {
        self.entries_in_trouble = self.log.all.len();
        self.has_other = false;
        self.log.end_other();
        // The newest build runs from now on, as after a deployment; sometimes all nodes are started
        // anew.
        let is_new_start = self.random.is(300);
        for node in 0..NODES {
            let it = &mut self.nodes[node];
            it.cut_off_until = 0;
            it.paused_until = it.paused_until.min(self.now);
            let leaves = it.leaves;
            // Builds whose frames are not handed over yet stay.
            if is_new_start || leaves {
                let build = it.build;
                self.restart(node, build, 0);
            }
        }
        self.at(self.now, Happens::Operator);
    }

    /// An operator starts a node of the build that the shard waits for.
    fn operator(&mut self) {
        if self.now + 500_000 < END {
            self.at(self.now + 50_000, Happens::Operator);
        }
        let (build, is_free) = oracle::last_build(self);
        if build != 0 && !is_free && !self.nodes.iter().any(|it| it.build == build) {
            self.restart(0, build, 0);
        }
    }
}
