//! A round: sixty rooms on three nodes, and trouble every few seconds.

mod oracles;

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::cluster::{Cluster, Health, Trouble, now};
use crate::game::Bug;
use crate::load::{Load, Sent};
use crate::oracle::{Beat, Verdict};
use crate::page::Page;
use oracles::{Oracles, Patience};

/// How long a node is away, cut off or asleep.
const AWAY: Duration = Duration::from_secs(2);
/// How long `nats-server` is away, now and then.
const LONG_AWAY: Duration = Duration::from_secs(60);
/// How long it may take until all is well again.
const WELL: Duration = Duration::from_secs(40);

/// What a round is to do.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) rooms: usize,
    pub(crate) nodes: usize,
    pub(crate) shards: u32,
    /// `None`: until it is told to stop, or as `times` says.
    pub(crate) length: Option<Duration>,
    /// How often it has each trouble, however long that takes.
    pub(crate) times: Option<usize>,
    pub(crate) every: Duration,
    pub(crate) troubles: Vec<Trouble>,
    pub(crate) inputs_per_second: f64,
    pub(crate) seed: u64,
    pub(crate) folder: PathBuf,
    pub(crate) page: Option<u16>,
    pub(crate) keeps: bool,
    /// The executable of the other build.
    pub(crate) next: Option<PathBuf>,
}

/// A node, for the view.
#[derive(Clone, Debug)]
pub(crate) struct NodeLine {
    pub(crate) name: String,
    pub(crate) pid: u32,
    pub(crate) build: u8,
    pub(crate) health: Health,
}

/// Trouble, and the longest gap of each shard until the next one.
#[derive(Clone, Debug)]
pub(crate) struct Happened {
    trouble: Trouble,
    at: u64,
    gaps: BTreeMap<u32, f64>,
}

/// What is known at a moment.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) began: Instant,
    pub(crate) beat: Beat,
    /// The last beat of each oracle.
    beats: Vec<Option<Beat>>,
    /// How many beats there were.
    heard: u32,
    pub(crate) sent: Sent,
    pub(crate) nodes: Vec<NodeLine>,
    pub(crate) lines: VecDeque<String>,
    pub(crate) happened: Vec<Happened>,
    pub(crate) page: Option<String>,
    pub(crate) is_loud: bool,
}

/// The state, shared with the view.
#[derive(Clone, Debug)]
pub(crate) struct Board(Arc<Mutex<State>>);

impl Board {
    pub(crate) fn new(is_loud: bool) -> Self {
        Board(Arc::new(Mutex::new(State {
            began: Instant::now(),
            beat: Beat::default(),
            beats: Vec::new(),
            heard: 0,
            sent: Sent::default(),
            nodes: Vec::new(),
            lines: VecDeque::new(),
            happened: Vec::new(),
            page: None,
            is_loud,
        })))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, text: impl Into<String>) {
        let mut state = self.lock();
        let text = format!(
            "{:7.1} s  {}",
            state.began.elapsed().as_secs_f64(),
            text.into()
        );
        if state.is_loud {
            println!("{text}");
        }
        state.lines.push_back(text);
        if state.lines.len() > 200 {
            state.lines.pop_front();
        }
    }

    fn nodes(&self, cluster: &Cluster) {
        let line = |node: &crate::cluster::Node| NodeLine {
            name: node.name.clone(),
            pid: node.pid,
            build: node.build,
            health: node.health,
        };
        self.lock().nodes = cluster.nodes.iter().map(line).collect();
    }

    /// What an oracle says, the first of which is that of build 1.
    fn hear(&self, number: usize, beat: Beat) {
        let beat = {
            let mut state = self.lock();
            state.heard += 1;
            let moves = beat.moves.clone();
            if state.beats.len() <= number {
                state.beats.resize(number + 1, None);
            }
            state.beats[number] = Some(beat);
            let mut said = state.beats.iter().flatten();
            let Some(mut all) = said.next().cloned() else {
                return;
            };
            said.for_each(|beat| all.add(beat));
            all.moves = moves;
            all
        };
        self.beat(beat);
    }

    fn beat(&self, beat: Beat) {
        let mut owners: BTreeMap<(String, String), (usize, f64)> = BTreeMap::new();
        {
            let mut state = self.lock();
            for it in &beat.moves {
                if let Some(last) = state.happened.iter_mut().rfind(|last| last.at <= it.at) {
                    let longest = last.gaps.entry(it.shard).or_default();
                    *longest = longest.max(it.gap);
                }
                if it.from != it.to && !it.from.is_empty() {
                    let moved = owners.entry((it.from.clone(), it.to.clone())).or_default();
                    moved.0 += beat.rooms.get(it.shard as usize).map_or(0, Vec::len);
                    moved.1 = moved.1.max(it.gap);
                }
            }
            state.beat = beat;
        }
        for ((from, to), (rooms, gap)) in owners {
            self.say(format!("{rooms} rooms: {from} to {to}, {gap:.0} ms"));
        }
    }

    fn trouble(&self, trouble: Trouble, text: &str) {
        self.say(text);
        self.lock().happened.push(Happened {
            trouble,
            at: now(),
            gaps: BTreeMap::new(),
        });
    }
}

/// Plays a round. Returns whether nothing was wrong.
pub(crate) async fn play(
    plan: Plan,
    board: Board,
    mut ends: watch::Receiver<bool>,
) -> Result<bool, String> {
    std::fs::create_dir_all(&plan.folder)
        .map_err(|error| format!("{}: {error}", plan.folder.display()))?;
    board.say(format!(
        "{} nodes, {} rooms in {} shards",
        plan.nodes, plan.rooms, plan.shards
    ));
    let mut cluster = Cluster::start(&plan, plan.nodes, 1).await?;
    board.nodes(&cluster);
    let load = Load::start(
        &cluster.nats.url("gateway"),
        plan.rooms,
        plan.inputs_per_second,
        plan.seed,
    )
    .await;
    let mut load = load.map_err(|error| format!("the rooms cannot be opened: {error}"))?;
    let oracles = Oracles::start(&cluster, &board)?;
    let page = match plan.page {
        Some(port) => {
            let page = Page::serve(port, cluster.nats.web_port, load.shard("arena-0")).await?;
            board.say(format!("a page to play in arena-0: {}", page.url));
            board.lock().page = Some(page.url.clone());
            Some(page)
        }
        None => None,
    };
    let until = plan.length.map(|length| Instant::now() + length);
    let last = plan.times.map(|times| times * plan.troubles.len());
    let is_over = |round| {
        until.is_some_and(|until| Instant::now() >= until) || last.is_some_and(|last| round >= last)
    };
    let mut round = 0;
    let mut has_bugs = false;
    rest(plan.every, &mut cluster, &board, &load, &mut ends).await?;
    while !*ends.borrow() && !is_over(round) {
        if let Some(trouble) = plan
            .troubles
            .get(round % plan.troubles.len().max(1))
            .copied()
            && !(trouble == Trouble::Bugs
                && plan.troubles.len() > 1
                && std::mem::replace(&mut has_bugs, true))
        {
            if trouble == Trouble::Copy {
                board.trouble(trouble, "the store is copied while it is written");
                let copy = go_on_with_copy(round, &cluster, &load, &plan).await?;
                board.say(copy);
            } else {
                make(trouble, round, &mut cluster, &board, &load, &mut ends).await?;
            }
        }
        round += 1;
        rest(plan.every, &mut cluster, &board, &load, &mut ends).await?;
    }
    board.say("the round is over: the oracle compares");
    load.end().await;
    let began = Instant::now();
    while !cluster.is_well() && began.elapsed() < WELL {
        rest(
            Duration::from_millis(200),
            &mut cluster,
            &board,
            &load,
            &mut ends,
        )
        .await?;
    }
    let late = oracles
        .compute(&mut cluster, &load.ledger.last(plan.shards))
        .await?;
    let mut verdict = oracles.judge(&load.ledger, &plan.folder).await?;
    verdict.wrong.extend(late);
    drop(page);
    cluster.end().await;
    let is_good = report(&board, &verdict, &load.ledger.sent());
    if is_good && !plan.keeps {
        // The files of a good round are of no use.
        let _ = std::fs::remove_dir_all(&plan.folder);
    } else {
        board.say(format!("logs and store: {}", plan.folder.display()));
    }
    Ok(is_good)
}

/// Starts another cluster on a copy of the store that was taken while it was written, as a backup takes one.
/// What was acknowledged before must be there, and the rooms go on.
async fn go_on_with_copy(
    number: usize,
    cluster: &Cluster,
    load: &Load,
    plan: &Plan,
) -> Result<String, String> {
    let plan = Plan {
        folder: plan.folder.join(format!("copy-{number}")),
        ..plan.clone()
    };
    let ledger = load.ledger.copy();
    cluster.nats.copy(&plan.folder.join("nats")).await?;
    let mut copy = Cluster::start(&plan, 2, cluster.build).await?;
    let board = Board::new(false);
    let oracles = Oracles::start(&copy, &board)?;
    // The frames of the copy are computed, and then some more of its own.
    let mut late = oracles
        .compute(&mut copy, &ledger.last(plan.shards))
        .await?;
    if late.is_none() {
        late = oracles.compute_more(&mut copy).await?;
    }
    let verdict = oracles.judge(&ledger, &plan.folder).await;
    copy.end().await;
    let mut verdict = verdict?;
    verdict.wrong.extend(late);
    let (lost, doubled) = (verdict.lost, verdict.doubled);
    let different = verdict.beat.different + verdict.counts_differ;
    if lost + doubled + different > 0 || !verdict.wrong.is_empty() {
        return Err(format!(
            "the copy does not go on as it must: {lost} lost, {doubled} doubled, {different} different; {:?}; \
             its files: {}",
            verdict.wrong,
            plan.folder.display()
        ));
    }
    std::fs::remove_dir_all(&plan.folder).map_err(|error| error.to_string())?;
    Ok(format!(
        "the copy goes on: {} inputs that were acknowledged before it, {} frames of rooms, {lost} lost, {doubled} \
         doubled, {different} different",
        verdict.acknowledged, verdict.beat.room_frames
    ))
}

/// Lets time pass, and starts again what has ended by itself.
async fn rest(
    length: Duration,
    cluster: &mut Cluster,
    board: &Board,
    load: &Load,
    ends: &mut watch::Receiver<bool>,
) -> Result<(), String> {
    let until = Instant::now() + length;
    while Instant::now() < until {
        for name in cluster.supervise()? {
            board.say(format!("{name} has ended by itself, and is started again"));
        }
        board.nodes(cluster);
        board.lock().sent = load.ledger.sent();
        tokio::select! {
            () = sleep(Duration::from_millis(100).min(until - Instant::now())) => {}
            changed = ends.wait_for(|ends| *ends) => if changed.is_ok() { return Ok(()) },
        }
    }
    Ok(())
}

async fn make(
    trouble: Trouble,
    round: usize,
    cluster: &mut Cluster,
    board: &Board,
    load: &Load,
    ends: &mut watch::Receiver<bool>,
) -> Result<(), String> {
    let number = (round * 2 + round / 3) % cluster.nodes.len();
    let name = cluster.nodes[number].name.clone();
    match trouble {
        Trouble::Kill => {
            board.trouble(
                trouble,
                &format!("kill -9 {} ({name})", cluster.nodes[number].pid),
            );
            cluster.kill(number).await;
            rest(AWAY, cluster, board, load, ends).await?;
            cluster.begin(number)?;
            board.say(format!("{name} is started again"));
        }
        Trouble::Stop => {
            let length = if round % 5 == 4 { AWAY * 5 } else { AWAY };
            let text = format!("{name} sleeps for {} s", length.as_secs());
            board.trouble(trouble, &text);
            cluster.stop(number, true).await?;
            rest(length, cluster, board, load, ends).await?;
            cluster.stop(number, false).await?;
            board.say(format!("{name} wakes up"));
        }
        Trouble::Drain => {
            board.trouble(trouble, &format!("{name} drains"));
            cluster.drain(number).await?;
            board.nodes(cluster);
            let mut patience = Patience::new(board, cluster);
            let took = cluster.drained(number, || patience.is_over()).await?;
            board.say(format!(
                "{name} has drained in {} ms, and is started again",
                took.as_millis()
            ));
            cluster.begin(number)?;
        }
        Trouble::Partition => {
            board.trouble(trouble, &format!("{name} is cut off from the log for 2 s"));
            cluster.cut(number, true);
            rest(AWAY, cluster, board, load, ends).await?;
            cluster.cut(number, false);
            board.say(format!("{name} reaches the log again"));
        }
        Trouble::Nats => {
            let away = if round % 20 == 19 {
                LONG_AWAY
            } else {
                Duration::ZERO
            };
            let text = format!("kill -9 of nats-server, for {} s", away.as_secs());
            board.trouble(trouble, &text);
            cluster.nats.kill(away).await?;
            board.say("nats-server is started again");
        }
        Trouble::Upgrade => {
            let build = if cluster.build == 1 { 2 } else { 1 };
            cluster.upgrade(build).await?;
            board.trouble(trouble, &format!("upgrade to build {}", cluster.build));
            for number in 0..cluster.nodes.len() {
                cluster.drain(number).await?;
                board.nodes(cluster);
                let mut patience = Patience::new(board, cluster);
                cluster.drained(number, || patience.is_over()).await?;
                cluster.begin(number)?;
                rest(Duration::from_secs(1), cluster, board, load, ends).await?;
            }
            board.say(format!("all nodes are of build {}", cluster.build));
        }
        // The caller does that, with another cluster.
        Trouble::Copy => {}
        Trouble::Bugs => {
            for (room, bug) in [
                ("bug-panic", Bug::Panic),
                ("bug-abort", Bug::Abort),
                ("bug-hang", Bug::Hang),
            ] {
                let room = format!("{room}-{round}");
                board.trouble(trouble, &format!("a bug in {room}"));
                load.bug(&room, bug)
                    .await
                    .map_err(|error| error.to_string())?;
                rest(AWAY * 3, cluster, board, load, ends).await?;
            }
        }
    }
    board.nodes(cluster);
    Ok(())
}

/// Prints the result. Returns whether nothing was wrong.
fn report(board: &Board, verdict: &Verdict, sent: &Sent) -> bool {
    let beat = &verdict.beat;
    board.say(format!(
        "{} frames of shards compared, and {} of rooms: {} different from the oracle's; {} void ticks",
        beat.frames, beat.room_frames, beat.different, beat.void
    ));
    board.say(format!(
        "{} inputs acknowledged: {} lost, {} doubled, {} to broken rooms; {} repeated ones without effect; {} without \
         an answer; {} counts differ",
        verdict.acknowledged,
        verdict.lost,
        verdict.doubled,
        verdict.to_broken,
        beat.again,
        sent.unsure,
        verdict.counts_differ
    ));
    let happened = board.lock().happened.clone();
    for trouble in Trouble::ALL {
        let of: Vec<&Happened> = happened.iter().filter(|it| it.trouble == trouble).collect();
        if of.is_empty() {
            continue;
        }
        let mut gaps: Vec<f64> = of.iter().flat_map(|it| it.gaps.values().copied()).collect();
        gaps.sort_by(f64::total_cmp);
        let at = |part: usize| {
            gaps.get(gaps.len() * part / 100)
                .or(gaps.last())
                .copied()
                .unwrap_or(0.0)
        };
        board.say(format!(
            "{:<9} {:>3} times: {:>3} gaps of shards over 100 ms or moves, median {:.0} ms, longest {:.0} ms",
            trouble.name(),
            of.len(),
            gaps.len(),
            at(50),
            at(100)
        ));
    }
    for line in &verdict.wrong {
        board.say(format!("WRONG: {line}"));
    }
    let is_good = verdict.lost == 0
        && verdict.doubled == 0
        && verdict.counts_differ == 0
        && beat.different == 0
        && verdict.wrong.is_empty()
        && verdict.acknowledged > 0
        && beat.frames > 0;
    board.say(if is_good {
        "nothing was lost, doubled or different"
    } else {
        "SOMETHING WAS WRONG"
    });
    is_good
}
