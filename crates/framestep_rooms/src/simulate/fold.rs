//! The state of the simulator: what players sent, and questions to the outside.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use crate::body::{Envelope, Ordered, open_envelope};
use crate::doubles::{Doubles, Used};
use crate::entry::{Entry, Topic};
use crate::role::Fold;
use crate::role::mutant::Mutant;
use framestep_durable::StableHash;

/// How a frame, an input and an answer change the sum. Each build has its own way.
pub(super) fn mix(sum: u64, kind: u64, what: &[u8], frame: u64, build: u64) -> u64 {
    let mut hash = StableHash::new();
    for number in [sum, kind, frame, build] {
        hash.add(number);
    }
    hash.add_bytes(what);
    hash.finish()
}

/// Every third input asks the outside.
pub(super) fn asks(number: u64) -> bool {
    number.is_multiple_of(3)
}

/// An input opens the room, in a history in which it closes.
pub(super) fn opens(number: u64) -> bool {
    number.is_multiple_of(16)
}

/// An input closes it: nothing is left of it.
pub(super) fn closes(number: u64) -> bool {
    number % 7 == 3
}

/// The first question of a room that was opened by this entry is the next number.
pub(super) fn first_question(opened_by: u64) -> u64 {
    opened_by * 1_000
}

/// Some builds cannot read the saves of others.
pub(super) fn is_strange(build: u64) -> bool {
    build % 3 == 2
}

/// Some inputs end the process that computes them, in a history in which there are some. They are of
/// two kinds, such as of two rooms.
pub(super) fn kills(number: u64) -> Option<u64> {
    (number % 13 == 5).then_some(number % 2)
}

/// For how many frames a player is remembered who sends nothing.
pub(super) const FORGOTTEN: u64 = 8;

/// After how many frames a room that has closed is as if it had never been. Only the entry that closed it is left.
pub(super) const QUIET: u64 = 1;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Sender {
    doubles: Doubles,
    /// The last frame with an input of the player.
    frame: u64,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct State {
    sum: u64,
    players: BTreeMap<String, Sender>,
    /// The entry from which on all senders are known.
    since: u64,
    /// The four highest sessions of each player, for an injected bug.
    highest: BTreeMap<String, BTreeSet<u64>>,
    asked: u64,
    open: BTreeSet<u64>,
    is_closed: bool,
    /// The entry that has opened it.
    opened: u64,
    /// The entry that has closed the last one, and its frame.
    ended: u64,
    ended_in: u64,
    /// The frame after which this is the state.
    frame: u64,
    /// The build that has saved it.
    build: u64,
}

#[derive(Debug)]
pub(super) struct SimFold {
    build: u64,
    mutant: Option<Mutant>,
    state: Option<State>,
    /// The hash after each frame.
    after: HashMap<u64, u64>,
    /// The questions of the last frame.
    asked_now: BTreeSet<u64>,
    /// The kinds of inputs that have no effect any more, each from a frame on.
    pub(super) out: BTreeMap<u64, u64>,
    /// The kind of input that has ended the process.
    pub(super) killed: Option<u64>,
    has_killers: bool,
    /// Whether the room closes at times.
    closes: bool,
    /// Whether this build cannot read most saves of others.
    is_strange: bool,
}

impl SimFold {
    pub(super) fn new(
        build: u64,
        mutant: Option<Mutant>,
        has_killers: bool,
        closes: bool,
        is_strange: bool,
    ) -> Self {
        SimFold {
            build,
            mutant,
            state: None,
            after: HashMap::new(),
            asked_now: BTreeSet::new(),
            out: BTreeMap::new(),
            killed: None,
            has_killers,
            closes,
            is_strange,
        }
    }

    fn closed(&self, ended: u64, ended_in: u64) -> State {
        State {
            is_closed: self.closes,
            ended,
            ended_in,
            ..State::default()
        }
    }

    pub(super) fn hash_after(&self, frame: u64) -> u64 {
        self.after.get(&frame).copied().unwrap_or(0)
    }

    /// The kind of input that ends the process in this frame.
    pub(super) fn killer(
        &self,
        frame: u64,
        entries: &[Entry],
        out: &BTreeMap<u64, u64>,
    ) -> Option<u64> {
        let is_in = |kind: &u64| out.get(kind).is_none_or(|from| frame < *from);
        let mut inputs = entries
            .iter()
            .filter(|entry| matches!(entry.topic, Some(Topic::Input(..))));
        let kinds =
            inputs.find_map(|entry| kills(input_of(&entry.body).1).filter(|kind| is_in(kind)));
        kinds.filter(|_| self.has_killers)
    }

    pub(super) fn open(&self) -> impl Iterator<Item = u64> {
        self.state
            .iter()
            .flat_map(|state| state.open.iter().copied())
    }

    pub(super) fn is_open(&self, question: u64) -> bool {
        self.state
            .as_ref()
            .is_some_and(|state| state.open.contains(&question))
    }

    pub(super) fn was_asked_now(&self, question: u64) -> bool {
        self.asked_now.contains(&question)
    }
}

fn number_of(body: &[u8]) -> u64 {
    u64::from_le_bytes(body.try_into().expect("eight bytes"))
}

/// The envelope of an input, and which one of the player it is.
pub(super) fn input_of(body: &[u8]) -> (Envelope, u64) {
    let (envelope, input) = open_envelope(body).expect("an input");
    (envelope, number_of(&input))
}

impl State {
    /// Forgets players who have sent nothing for a while.
    fn forget(&mut self, frame: u64) {
        let since = &mut self.since;
        self.players.retain(|_, sender| {
            let is_forgotten = frame > sender.frame + FORGOTTEN;
            if is_forgotten {
                *since = sender.doubles.last_entry().max(*since);
            }
            !is_forgotten
        });
    }
}

/// Whether a session is one of the four highest ones. With this rule, a player whose clock was ahead is
/// not heard any more.
fn is_high(highest: &mut BTreeSet<u64>, session: u64) -> bool {
    highest.insert(session);
    if highest.len() > 4 {
        highest.pop_first();
    }
    highest.contains(&session)
}

impl Fold for SimFold {
    fn load(&mut self, state: Option<&[u8]>) -> Result<(), String> {
        self.asked_now.clear();
        let Some(bytes) = state else {
            self.state = Some(self.closed(0, 0));
            return Ok(());
        };
        let read: State = postcard::from_bytes(bytes).map_err(|error| error.to_string())?;
        // Most, not all: it may read one, and not the next.
        if self.is_strange && read.build != self.build && !read.sum.is_multiple_of(8) {
            return Err(format!("it is of build {}", read.build));
        }
        self.state = Some(read);
        Ok(())
    }

    fn load_empty(&mut self, frame: u64, ended: u64) {
        self.asked_now.clear();
        let ended = match self.mutant {
            Some(Mutant::EndingsAreForgotten) => 0,
            _ => ended,
        };
        self.state = Some(State {
            frame,
            ..self.closed(ended, 0)
        });
    }

    fn empty(&self) -> Option<u64> {
        let state = self.state.as_ref().filter(|state| state.is_closed)?;
        (state.ended_in == 0 || state.frame > state.ended_in + QUIET).then_some(state.ended)
    }

    fn unload(&mut self) {
        self.state = None;
    }

    fn frame(&mut self, frame: u64, entries: &[Entry]) {
        self.killed = self.killed.or(self.killer(frame, entries, &self.out));
        let is_closed = self.closes;
        let closed = |ended| State {
            is_closed,
            ended,
            ended_in: frame,
            ..State::default()
        };
        let Some(state) = &mut self.state else {
            return;
        };
        self.asked_now.clear();
        for entry in entries.iter().filter(|entry| !entry.is_tick()) {
            let (envelope, body) = match &entry.topic {
                Some(Topic::Input(..)) => {
                    let (envelope, body) = input_of(&entry.body);
                    (Some(envelope), body)
                }
                Some(Topic::Close(_)) => (None, 0),
                _ => (None, number_of(&entry.body)),
            };
            match &entry.topic {
                Some(Topic::Close(_)) => {
                    let after = Ordered::of_bytes(&entry.body).map_or(0, |it| it.after);
                    let is_meant =
                        state.opened <= after || self.mutant == Some(Mutant::LateClosesCount);
                    if !state.is_closed && is_meant {
                        *state = closed(entry.seq);
                    }
                }
                Some(Topic::Input(..)) if self.has_killers && kills(body).is_some() => {}
                Some(Topic::Input(..)) if state.is_closed && opens(body) => {
                    let after = envelope.map_or(0, |it| it.after);
                    let is_late = after < state.ended || after >= entry.seq;
                    if is_late && self.mutant != Some(Mutant::LateOpeningsCount) {
                        continue;
                    }
                    state.is_closed = false;
                    state.asked = first_question(entry.seq);
                    (state.opened, state.since) = (entry.seq, entry.seq);
                }
                Some(Topic::Input(..)) if state.is_closed => {}
                Some(Topic::Input(_, player)) => {
                    let Some(mut envelope) = envelope else {
                        continue;
                    };
                    let name = player.name().to_owned();
                    let highest = state.highest.entry(name.clone()).or_default();
                    if self.mutant == Some(Mutant::HighestSessionsCount)
                        && !is_high(highest, envelope.session)
                    {
                        continue;
                    }
                    if self.mutant == Some(Mutant::LateCopiesCount) {
                        envelope.after = entry.seq - 1;
                    }
                    let sender = state.players.entry(name).or_default();
                    sender.frame = frame;
                    let used = sender.doubles.use_input(&envelope, entry.seq, state.since);
                    if used != Used::First && self.mutant != Some(Mutant::DoublesCount) {
                        continue;
                    }
                    if self.closes && closes(body) {
                        *state = closed(entry.seq);
                        continue;
                    }
                    state.sum = mix(state.sum, 1, player.name().as_bytes(), body, self.build);
                    if asks(body) {
                        state.asked += 1;
                        state.open.insert(state.asked);
                        self.asked_now.insert(state.asked);
                    }
                }
                Some(Topic::Answer(_))
                    if state.open.remove(&body) || self.mutant == Some(Mutant::AnswersCount) =>
                {
                    state.sum = mix(state.sum, 2, &entry.body, 0, self.build);
                }
                _ => {}
            }
        }
        state.forget(frame);
        state.frame = frame;
        if !state.is_closed {
            state.sum = mix(state.sum, 3, &[], frame, self.build);
        }
        let hash = self.hash();
        self.after.insert(frame, hash);
    }

    fn out(&self) -> u32 {
        u32::try_from(self.out.len()).expect("two kinds")
    }

    fn hash(&mut self) -> u64 {
        let state = self
            .state
            .as_ref()
            .map(|state| (state.sum, state.asked, state.open.len() as u64));
        let (sum, asked, open) = state.unwrap_or_default();
        mix(sum, 4, &[], asked, open)
    }

    fn save(&mut self) -> Result<Vec<u8>, String> {
        let state = self.state.as_mut().ok_or("there is no state")?;
        state.build = self.build;
        postcard::to_stdvec(state).map_err(|error| error.to_string())
    }
}
