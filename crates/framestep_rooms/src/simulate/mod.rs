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
mod printed;
mod steps;
#[cfg(test)]
mod tests;
mod trouble;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use crate::entry::{Build, Generation};
use crate::member::Members;
use crate::role::mutant::{Mutant, Mutated};
use crate::role::{Event, Role, Settings};

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
/// How old the place in the log may be that an input names.
const RECENT: Micros = 20_000;
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
    /// Of each input: its session, the number there, and the entry that the player knew when it was made.
    all: Vec<(u64, u64, u64)>,
    /// The session of the next one, and the last number there.
    session: (u64, u64),
    /// The last entry that the player knows, and since when.
    place: (u64, Micros),
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
    /// The log receives an order to close the room.
    Close {
        after: u64,
        id: Arc<str>,
    },
    /// The operator closes the room.
    Closes,
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
        if world.closes {
            world.at(50_000, Happens::Closes);
        }
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
                self.counts.late = of_log.late;
                self.counts.late_openings = of_log.late_openings;
                self.counts.late_closes = of_log.late_closes;
                self.counts.closed = of_log.closed_by_operator;
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
}
