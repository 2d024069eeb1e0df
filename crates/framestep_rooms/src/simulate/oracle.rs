//! The oracle: it reads the log from its first entry on, never saves and never restores, and shares
//! no rule with the nodes but the format of a tick.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::body::Ordered;
use crate::entry::{Entry, Position, Tick, Topic};
use framestep_durable::StableHash;

use super::fold::{FORGOTTEN, QUIET, asks, closes, first_question, input_of, kills, mix, opens};
use super::{END, FAILOVER_TIMEOUT, KILLED_AT_MOST, TROUBLE_ENDS, World};

/// What the oracle says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judged {
    /// All promises were kept.
    Kept,
    /// The log was cut back so far that no save fits: nothing is promised then but that no frame is
    /// wrong.
    LogIsLost,
}

/// The build of the last frame, and whether any other one may go on.
pub(super) fn last_build(world: &World) -> (u64, bool) {
    let of_log = OfLog::read(world).ok();
    let last = of_log.and_then(|it| it.places.values().next_back().copied());
    last.map_or((0, true), |(build, _, is_free)| (build, is_free))
}

/// A player, as the room remembers it.
#[derive(Default)]
struct Remembered {
    /// Of each session, the entry before which its inputs may be forgotten.
    sessions: BTreeMap<u64, u64>,
    /// The last frame with an input of the player, and its last entry of a session that counts.
    frame: u64,
    last: u64,
}

/// The room, as the oracle computes it.
#[derive(Default)]
struct Folded {
    sum: u64,
    /// The inputs of players that are in the log.
    applied: BTreeSet<(String, u64)>,
    /// Those that the room has seen since it was opened.
    seen: BTreeSet<(String, u64)>,
    /// Those that had an effect in any room.
    ever: BTreeSet<(String, u64)>,
    /// One that had an effect twice.
    doubled: Option<(String, u64)>,
    players: BTreeMap<String, Remembered>,
    /// The entry that has opened it, or the last one of a player that it has forgotten.
    since: u64,
    opened: u64,
    /// The inputs that have opened a room.
    opened_by: BTreeSet<(String, u64)>,
    /// The entry that has closed the last one, and its frame.
    ended: u64,
    ended_in: u64,
    late: u64,
    late_openings: u64,
    late_closes: u64,
    closed_by_operator: u64,
    asked: u64,
    open: BTreeSet<u64>,
    is_closed: bool,
}

impl Folded {
    fn hash(&self) -> u64 {
        mix(self.sum, 4, &[], self.asked, self.open.len() as u64)
    }

    /// Applies an entry in a frame of a build.
    fn apply(&mut self, world: &World, it: &Entry, frame: u64, build: u64) {
        match &it.topic {
            Some(Topic::Input(_, player)) => {
                let (envelope, number) = input_of(&it.body);
                let input = (player.name().to_owned(), number);
                self.applied.insert(input.clone());
                if world.has_killers && kills(number).is_some() {
                    return;
                }
                if self.is_closed {
                    if !opens(number) {
                        return;
                    }
                    if envelope.after >= it.seq || envelope.after < self.ended {
                        self.late_openings += 1;
                        return;
                    }
                    self.is_closed = false;
                    self.asked = first_question(it.seq);
                    (self.since, self.opened) = (it.seq, it.seq);
                    if !self.opened_by.insert(input.clone()) {
                        self.doubled = Some(input);
                    }
                    return;
                }
                let player_here = self.players.entry(input.0.clone()).or_default();
                player_here.frame = frame;
                let known = player_here.sessions.get(&envelope.session);
                let since = known.copied().unwrap_or(self.since);
                if envelope.after >= it.seq || envelope.after < since {
                    self.late += 1;
                    return;
                }
                player_here.sessions.insert(envelope.session, since);
                player_here.last = it.seq;
                if !self.seen.insert(input.clone()) {
                    return;
                }
                if !self.ever.insert(input.clone()) {
                    self.doubled = Some(input);
                }
                if world.closes && closes(number) {
                    self.close(it.seq, frame);
                    return;
                }
                self.sum = mix(self.sum, 1, player.name().as_bytes(), number, build);
                if asks(number) {
                    self.asked += 1;
                    self.open.insert(self.asked);
                }
            }
            Some(Topic::Close(_)) if !self.is_closed => {
                let after = Ordered::of_bytes(&it.body).map_or(0, |it| it.after);
                if self.opened > after {
                    self.late_closes += 1;
                } else {
                    self.closed_by_operator += 1;
                    self.close(it.seq, frame);
                }
            }
            Some(Topic::Answer(_))
                if self.open.remove(&u64::from_le_bytes(
                    it.body[..].try_into().expect("eight bytes"),
                )) =>
            {
                self.sum = mix(self.sum, 2, &it.body, 0, build);
            }
            _ => {}
        }
    }

    fn close(&mut self, entry: u64, frame: u64) {
        (self.is_closed, self.sum, self.asked) = (true, 0, 0);
        (self.ended, self.ended_in) = (entry, frame);
        self.seen.clear();
        self.players.clear();
        self.open.clear();
    }

    /// Whether nothing but the entry that has closed the last room is known after a frame.
    fn is_nothing(&self, frame: u64) -> bool {
        self.is_closed && (self.ended_in == 0 || frame > self.ended_in + QUIET)
    }

    /// A player who has sent nothing for a while is forgotten, and whatever was made before that.
    fn forget(&mut self, frame: u64) {
        let is_gone = |it: &Remembered| frame > it.frame + FORGOTTEN;
        let gone = self.players.values().filter(|it| is_gone(it));
        let last = gone.map(|it| it.last).max().unwrap_or(0);
        self.since = self.since.max(last);
        self.players.retain(|_, it| !is_gone(it));
    }
}

fn read(world: &World) -> Result<OfLog, String> {
    let mut room = Folded {
        is_closed: world.closes,
        ..Folded::default()
    };
    // Whether the room was closed before the last frame, in which nothing happened.
    let mut is_free = true;
    let mut frame = 0;
    // The hash of all entries up to the last valid tick, its build, and whether it hands over.
    let (mut chain, mut build, mut hands_over) = (0, 0, true);
    // The generation of its build, and when the first one of its ticks in a row was appended.
    let (mut generation, mut since_when) = (0, 0);
    let mut since = Vec::new();
    let (mut begun_empty, mut void) = (0, 0);
    let mut states: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    // Of each place: its build, whether it hands over, and whether any build may go on.
    let mut places = BTreeMap::new();
    for entry in &world.log.all {
        if entry.topic != Some(Topic::Tick) {
            since.push(entry);
            continue;
        }
        let Some(tick) = Tick::of_bytes(&entry.body) else {
            return Err(format!("entry {} is not a tick", entry.seq));
        };
        let is_next = tick.frame == frame + 1 && tick.before == chain;
        let is_offered = hands_over && (tick.generation, tick.build) > (generation, build);
        if !is_next || !is_offered && !is_free && tick.build != build {
            void += 1;
            since.push(entry);
            continue;
        }
        if tick.build != build {
            let at = world.ticked_at.get(&entry.seq).copied().unwrap_or(0);
            if !is_free && !world.was_told(build, tick.build, since_when, at) {
                return Err(format!(
                    "in entry {}, build {} takes the shard back from build {build}, and nobody has told it to",
                    entry.seq, tick.build
                ));
            }
            since_when = at;
            generation = 0;
        }
        generation = tick.generation.max(generation);
        // Another build may see another state.
        if tick.state != room.hash() && (tick.build == build || is_free) {
            return Err(format!(
                "the tick of frame {} has a wrong state",
                tick.frame
            ));
        }
        begun_empty += u64::from(!hands_over && tick.build != build);
        is_free = room.is_nothing(frame) && since.iter().all(|it| it.topic == Some(Topic::Tick));
        let mut hash = StableHash::new();
        hash.add(chain);
        for it in since.drain(..).chain([entry]) {
            hash.add(it.seq);
            let subject = it.topic.as_ref().map(Topic::to_subject);
            hash.add_bytes(subject.unwrap_or_default().as_bytes());
            hash.add_bytes(&it.body);
            room.apply(world, it, tick.frame, tick.build);
        }
        room.forget(tick.frame);
        if let Some((player, number)) = room.doubled {
            return Err(format!(
                "input {number} of player {player} has had an effect twice"
            ));
        }
        (chain, build, hands_over) = (hash.finish(), tick.build, tick.hands_over);
        frame = tick.frame;
        places.insert((entry.seq, chain), (build, hands_over, is_free));
        if !room.is_closed {
            room.sum = mix(room.sum, 3, &[], frame, build);
        }
        states.insert((entry.seq, chain), room.hash());
    }

    Ok(OfLog {
        states,
        places,
        applied: room.applied,
        open: room.open,
        begun_empty,
        void,
        late: room.late,
        late_openings: room.late_openings,
        late_closes: room.late_closes,
        closed_by_operator: room.closed_by_operator,
    })
}

/// Of each place: its build, whether it hands over, and whether any build may go on.
type Places = BTreeMap<(u64, u64), (u64, bool, bool)>;

/// What the oracle has read of the log.
pub(super) struct OfLog {
    /// The state after each place.
    states: BTreeMap<(u64, u64), u64>,
    places: Places,
    /// The inputs of players that are there.
    applied: BTreeSet<(String, u64)>,
    /// Questions without an answer.
    open: BTreeSet<u64>,
    /// How often another build has gone on where there was no room.
    pub(super) begun_empty: u64,
    /// Ticks that do not fit what is before them.
    void: u64,
    /// Inputs that were too late.
    pub(super) late: u64,
    /// Openings that were, and orders to close.
    pub(super) late_openings: u64,
    pub(super) late_closes: u64,
    /// Rooms that the operator has closed.
    pub(super) closed_by_operator: u64,
}

impl OfLog {
    /// Reads the log of a history.
    ///
    /// # Errors
    ///
    /// If a tick does not fit what is before it.
    pub(super) fn read(world: &World) -> Result<Self, String> {
        read(world)
    }

    /// Judges a history.
    ///
    /// # Errors
    ///
    /// If a promise was broken.
    pub(super) fn judge(&self, world: &World) -> Result<Judged, String> {
        let OfLog {
            states,
            places,
            applied,
            open,
            ..
        } = self;
        for (tick, (body, state)) in &world.computed {
            match states.get(tick) {
                Some(of_log) if of_log == state => {}
                Some(_) => return Err(format!("a node has another state after entry {}", tick.0)),
                None if world.cut.contains(&(tick.0, *body)) => {}
                None => {
                    return Err(format!(
                        "a node has computed entry {}, which is not a tick of the log",
                        tick.0
                    ));
                }
            }
        }

        // A node that does not know the last tick is refused.
        if world.counts.cuts == 0 && self.void > 0 {
            let void = self.void;
            return Err(format!(
                "{void} ticks of nodes that did not know the last one are in the log"
            ));
        }
        // The node that has ticked the frame, and no other.
        if world.counts.cuts == 0
            && let Some((kind, nodes)) = world.killed.iter().find(|it| *it.1 > KILLED_AT_MOST)
        {
            return Err(format!("inputs of kind {kind} have ended {nodes} nodes"));
        }
        if world.counts.cuts > 0 && !world.has_usable_save(places) {
            return Ok(Judged::LogIsLost);
        }
        // After the trouble, the shard goes on, on some node. Handing over takes the longest.
        let computed: HashSet<u64> = world.computed.keys().map(|(seq, _)| *seq).collect();
        let expected = (END - TROUBLE_ENDS - 10 * FAILOVER_TIMEOUT) / 10_000 / 3;
        // A node that is ended by an input is trouble, too.
        let expected = if world.is_killed_in_quiet {
            expected / 5
        } else {
            expected
        };
        let last_frames = states
            .keys()
            .rev()
            .take(usize::try_from(expected).unwrap_or(0));
        let is_computed = last_frames.skip(3).all(|(seq, _)| computed.contains(seq));
        if !is_computed {
            return Err("the last frames were computed by no node".to_owned());
        }
        if world.frames_since_trouble() < expected {
            let frames = world.frames_since_trouble();
            return Err(format!(
                "the shard stands still: {frames} frames since the trouble"
            ));
        }
        for (player, number) in world.acknowledged.keys() {
            if !applied.contains(&(format!("p{player}"), *number)) {
                return Err(format!(
                    "input {number} of player {player} was acknowledged, and not applied"
                ));
            }
        }
        // What was asked long ago is answered.
        if !open.is_empty() {
            return Err(format!(
                "{} questions have no answer, such as {:?}",
                open.len(),
                open.first()
            ));
        }
        Ok(Judged::Kept)
    }
}

impl World {
    /// Whether a node can begin: the log is whole and of one build, or has the tick of a save after
    /// which there is only one build.
    fn has_usable_save(&self, places: &Places) -> bool {
        let Some((last, ..)) = places.values().next_back() else {
            return true;
        };
        let is_of_last = |after: u64| {
            let later = places.iter().filter(|((seq, _), _)| *seq > after);
            later
                .map(|(_, (build, ..))| build)
                .all(|build| build == last)
        };
        let saves = self.log.slots();
        let fits = |at: &Position| {
            places.contains_key(&(at.seq, at.chain))
                && at.since.0 + 1 >= self.log.first()
                && is_of_last(at.seq)
        };
        self.log.first() == 1 && is_of_last(0)
            || saves.iter().filter_map(|slot| slot.1.as_ref()).any(fits)
    }
}
