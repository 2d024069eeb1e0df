//! The rooms of a shard: the state that its log is folded into. No clock, no network.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use framestep_durable::Runtime;
use serde::{Deserialize, Serialize};

use crate::doubles::Doubles;
use crate::entry::{Entry, Player, Topic};
use crate::news::{Absence, AllNews, News, Reason, shown};
use crate::role::Fold;
use crate::room::{self, Asked, Kind, Live, Room};
use framestep_durable::StableHash;

/// Limits on what players may send. They are the same on all nodes: part of the build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) rooms: usize,
    /// Bytes of an input.
    pub(crate) size: usize,
    /// Inputs of a player to a room in a second, and at once.
    pub(crate) rate: u32,
}

/// An input as it is in the log: who has sent it is in the subject.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Envelope {
    /// The session of the sender: each is higher than the one before.
    #[serde(rename = "s")]
    pub(crate) session: u64,
    /// The number of the input in the session, from 1.
    #[serde(rename = "n")]
    pub(crate) number: u64,
}

/// The answer of the outside to a question.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) opened: u64,
    pub(crate) number: u64,
    pub(crate) content: Vec<u8>,
}

/// An input in its envelope: session and number as 16 bytes, or as `{"s":1,"n":2,"i":..}`.
pub(crate) fn open_envelope(body: &[u8]) -> Result<(Envelope, std::borrow::Cow<'_, [u8]>), String> {
    #[derive(Deserialize)]
    struct Text<'a> {
        s: u64,
        n: u64,
        #[serde(borrow)]
        i: &'a serde_json::value::RawValue,
    }
    if body.first() == Some(&b'{') {
        let text: Text<'_> = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        let envelope = Envelope {
            session: text.s,
            number: text.n,
        };
        return Ok((envelope, text.i.get().as_bytes().into()));
    }
    match body {
        [2, rest @ ..] => {
            let (session, rest) = rest.split_first_chunk().ok_or("it is too short")?;
            let (number, input) = rest.split_first_chunk().ok_or("it is too short")?;
            let envelope = Envelope {
                session: u64::from_le_bytes(*session),
                number: u64::from_le_bytes(*number),
            };
            Ok((envelope, input.into()))
        }
        _ => Err("it is no input in an envelope".to_owned()),
    }
}

/// Puts an input in its envelope.
pub(crate) fn close_envelope(session: u64, number: u64, input: &[u8]) -> Vec<u8> {
    let mut body = vec![2];
    body.extend_from_slice(&session.to_le_bytes());
    body.extend_from_slice(&number.to_le_bytes());
    body.extend_from_slice(input);
    body
}

/// Why a part of the log has no effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Refused {
    /// Inputs to rooms that do not exist, or are broken.
    pub no_room: u64,
    /// Inputs that could not be read.
    pub unreadable: u64,
    /// Inputs that were too long.
    pub too_long: u64,
    /// Inputs of players that have sent too many.
    pub too_many: u64,
    /// Inputs that were in the log before.
    pub doubles: u64,
    /// Rooms that were not opened: of an unknown kind, or too many.
    pub not_opened: u64,
}

/// What a player has sent to a room.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Sender {
    doubles: Doubles,
    /// The frame in which `budget` was computed.
    frame: u64,
    /// Thousandths of inputs that the player may send.
    budget: u64,
}

/// Each tick names the state of every fourth room, in turns: to hash a room reads all its scripts,
/// also those that sleep, which takes four times as long as its frame. What makes nodes differ stays,
/// so it is found four frames later at most.
pub(crate) const TURNS: u64 = 4;

/// Of how many rooms a node knows why there are none.
const ABSENT: usize = 256;

/// Is called with frame and room.
type Before = Box<dyn FnMut(u64, &str)>;

enum State {
    Live(Box<dyn Live>),
    /// A panic has ended it.
    Broken(Arc<str>),
}

struct Slot {
    kind: Arc<str>,
    opened: u64,
    /// Frames that the room has run.
    frame: u64,
    senders: BTreeMap<Player, Sender>,
    state: State,
    /// The hash of the room after its last frame, if it was asked for since.
    hash: Option<u64>,
    /// Scripts that have panicked.
    panics: u64,
    /// How the last one did, if this node has computed it.
    last_panic: Option<String>,
    /// Whether it was said that there are no views.
    has_no_view: bool,
}

#[derive(Serialize, Deserialize)]
struct SavedSlot {
    name: Arc<str>,
    kind: Arc<str>,
    opened: u64,
    frame: u64,
    senders: BTreeMap<Player, Sender>,
    panics: u64,
    state: Result<Vec<u8>, String>,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    frame: u64,
    refused: Refused,
    slots: Vec<SavedSlot>,
}

/// A room, for tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RoomStatus {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// Frames that it has run.
    pub frames: u64,
    /// Scripts that are alive.
    pub scripts: usize,
    /// Players that have sent something.
    pub players: usize,
    /// Why it does not run any more, if it is broken.
    pub broken: Option<String>,
    /// How many of its scripts have panicked since it was opened, and no join has returned that. Only
    /// these scripts have ended.
    #[serde(default)]
    pub panics: u64,
    /// How the last one of them did, if the node was there.
    #[serde(default)]
    pub last_panic: Option<String>,
}

/// Why a room that is taken out does not run.
const OUT: &str = "it ended or hung the process";

/// Whether a room is not run in a frame.
fn is_out(taken_out: &BTreeMap<Arc<str>, u64>, room: &str, frame: u64) -> bool {
    taken_out.get(room).is_some_and(|from| frame >= *from)
}

/// The rooms of a shard.
pub(crate) struct Shard {
    kinds: Arc<[Kind]>,
    step: Duration,
    ticks_per_second: u32,
    limits: Limits,
    frame: u64,
    rooms: BTreeMap<Arc<str>, Slot>,
    refused: Refused,
    /// Rooms that are not run any more from a frame on: they end or hang every process.
    taken_out: BTreeMap<Arc<str>, u64>,
    /// Called with the room that is run next.
    before: Option<Before>,
    /// The last entry that was applied.
    last_entry: u64,
    news: AllNews,
    absent: Absent,
    /// The rooms that were over in the last frame, with their last views.
    over: Vec<Ended>,
}

/// A room that is over, with its last view.
pub(crate) type Ended = (Arc<str>, Option<(u64, Vec<u8>)>);

/// Why rooms are not there that were, or were to be: of the newest ones.
#[derive(Debug, Default)]
struct Absent {
    why: BTreeMap<Arc<str>, Absence>,
    order: VecDeque<Arc<str>>,
}

impl Absent {
    fn add(&mut self, room: &Arc<str>, why: Absence) {
        if self.why.insert(room.clone(), why).is_some() {
            return;
        }
        self.order.push_back(room.clone());
        if self.order.len() > ABSENT
            && let Some(oldest) = self.order.pop_front()
        {
            self.why.remove(&oldest);
        }
    }
}

impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shard")
            .field("frame", &self.frame)
            .field("rooms", &self.rooms.len())
            .finish_non_exhaustive()
    }
}

/// The text of a panic.
fn text_of(panic: &(dyn std::any::Any + Send)) -> Arc<str> {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without a text").into()
}

impl State {
    /// Calls `f` with a live room. A panic breaks it.
    fn with<T>(&mut self, f: impl FnOnce(&mut dyn Live) -> T) -> Option<T> {
        let State::Live(live) = self else {
            return None;
        };
        match catch_unwind(AssertUnwindSafe(|| f(&mut **live))) {
            Ok(value) => Some(value),
            Err(panic) => {
                self.break_it(text_of(&*panic));
                None
            }
        }
    }

    fn break_it(&mut self, why: Arc<str>) {
        let state = std::mem::replace(self, State::Broken(why));
        // What a panic has left may panic once more.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(state)));
    }
}

impl Shard {
    pub(crate) fn new(kinds: Arc<[Kind]>, ticks_per_second: u32, limits: Limits) -> Self {
        Shard {
            kinds,
            step: step_of(ticks_per_second),
            ticks_per_second,
            limits,
            frame: 0,
            rooms: BTreeMap::new(),
            refused: Refused::default(),
            taken_out: BTreeMap::new(),
            before: None,
            last_entry: 0,
            news: AllNews::default(),
            absent: Absent::default(),
            over: Vec::new(),
        }
    }

    /// Sets the rooms that are not run any more, each from a frame on.
    pub(crate) fn take_out(&mut self, rooms: BTreeMap<Arc<str>, u64>) {
        self.taken_out = rooms;
    }

    /// Calls `before` with frame and room before each room is run.
    pub(crate) fn call_before(&mut self, before: impl FnMut(u64, &str) + 'static) {
        self.before = Some(Box::new(before));
    }

    /// The rooms that are not run any more, each from a frame on.
    pub(crate) fn taken_out(&self) -> &BTreeMap<Arc<str>, u64> {
        &self.taken_out
    }

    pub(crate) fn refused(&self) -> Refused {
        self.refused
    }

    pub(crate) fn status(&self) -> Vec<RoomStatus> {
        let status = |(name, slot): (&Arc<str>, &Slot)| {
            let (scripts, broken) = match &slot.state {
                State::Live(live) => (live.scripts(), None),
                State::Broken(why) => (0, Some(why.to_string())),
            };
            RoomStatus {
                name: name.to_string(),
                kind: slot.kind.to_string(),
                frames: slot.frame,
                scripts,
                players: slot.senders.len(),
                broken,
                panics: slot.panics,
                last_panic: slot.last_panic.clone(),
            }
        };
        self.rooms.iter().map(status).collect()
    }

    /// Looks at a room of a kind.
    pub(crate) fn look<R: Room, T>(
        &self,
        room: &str,
        look: impl FnOnce(&R, &Runtime) -> T,
    ) -> Option<T> {
        match &self.rooms.get(room)?.state {
            State::Live(live) => room::look(&**live, look),
            State::Broken(_) => None,
        }
    }

    /// The view of a room: its frame, and the bytes.
    pub(crate) fn view(&mut self, room: &str) -> Option<(u64, Vec<u8>)> {
        let slot = self.rooms.get_mut(room)?;
        slot.view(&mut self.news, self.frame, room)
    }

    /// Why a room has no view, and the last entry up to which that is so. `None` if it is there.
    pub(crate) fn absence(&self, room: &str) -> Option<(u64, Absence)> {
        let why = match self.rooms.get(room).map(|slot| &slot.state) {
            Some(State::Live(_)) => return None,
            Some(State::Broken(_)) => Absence::Broken,
            None => self.absent.why.get(room).cloned().unwrap_or(Absence::None),
        };
        Some((self.last_entry, why))
    }

    /// What there is to say about a frame.
    pub(crate) fn take_news(&mut self, frame: u64) -> Option<News> {
        self.news.take(frame)
    }

    /// Takes the rooms that were over in the last frame.
    pub(crate) fn take_over(&mut self) -> Vec<Ended> {
        std::mem::take(&mut self.over)
    }

    /// The rooms whose turn it is to be in the hash after a frame.
    pub(crate) fn in_turn(&self, frame: u64) -> Vec<String> {
        let rooms = self.rooms.iter().filter(|(_, slot)| slot.is_in_turn(frame));
        rooms.map(|(name, _)| name.to_string()).collect()
    }

    /// The questions to the outside that are open, with their rooms.
    pub(crate) fn asked(&mut self) -> Vec<(Arc<str>, u64, Asked)> {
        let mut all = Vec::new();
        for (name, slot) in &mut self.rooms {
            let opened = slot.opened;
            if let Some(asked) = slot.state.with(|live| live.asked()) {
                all.extend(asked.into_iter().map(|asked| (name.clone(), opened, asked)));
            }
        }
        all
    }

    fn apply(&mut self, entry: &Entry) {
        let room = entry.topic.as_ref().and_then(Topic::room);
        let is_out = room.is_some_and(|room| is_out(&self.taken_out, room, self.frame));
        match &entry.topic {
            // It is shown, and not run.
            Some(Topic::Input(..) | Topic::Answer(_)) if is_out => {}
            Some(Topic::Open(room)) => self.open(room, entry.seq, &entry.body),
            Some(Topic::Input(room, player)) => {
                if let Err((reason, why)) = self.input(room, player, &entry.body) {
                    self.refuse(reason, room, Some(player), &why);
                }
            }
            Some(Topic::Answer(room)) => {
                let answer = postcard::from_bytes::<Answer>(&entry.body);
                if let (Ok(answer), Some(slot)) = (answer, self.rooms.get_mut(room))
                    && answer.opened == slot.opened
                {
                    slot.hash = None;
                    let taken = slot
                        .state
                        .with(|live| live.answer(answer.number, &answer.content));
                    if let (None, State::Broken(why)) = (taken, &slot.state) {
                        let line = format!("an answer to it has panicked: {why}");
                        self.news.of(self.frame).line(room, &line);
                    }
                }
            }
            Some(Topic::Tick) | None => {}
        }
    }

    /// Counts what has no effect.
    fn refuse(&mut self, reason: Reason, room: &Arc<str>, player: Option<&Player>, why: &str) {
        *match reason {
            Reason::NoRoom | Reason::Broken => &mut self.refused.no_room,
            Reason::Unreadable => &mut self.refused.unreadable,
            Reason::TooLong => &mut self.refused.too_long,
            Reason::TooMany => &mut self.refused.too_many,
            Reason::NotOpened => &mut self.refused.not_opened,
        } += 1;
        let news = self.news.of(self.frame);
        news.refused.add(reason, room, player, why);
        if reason == Reason::NotOpened {
            self.absent.add(room, Absence::Refused(shown(why)));
        }
    }

    fn open(&mut self, name: &Arc<str>, opened: u64, body: &[u8]) {
        // It may be opened by several players at once.
        if self.rooms.contains_key(name) {
            return;
        }
        match self.opened(name, body) {
            Ok((kind, state)) => {
                self.rooms
                    .insert(name.clone(), Slot::new(kind, opened, state));
            }
            Err(why) => self.refuse(Reason::NotOpened, name, None, &why),
        }
    }

    /// A room that is opened: its kind and its state.
    fn opened(&mut self, name: &Arc<str>, body: &[u8]) -> Result<(Arc<str>, State), String> {
        let Limits { rooms, size, .. } = self.limits;
        if body.len() > size {
            return Err(too_long(body, size));
        }
        let open = serde_json::from_slice::<OpenText<'_>>(body)
            .map_err(|error| format!("it is not opened with a kind and arguments: {error}"))?;
        let kind = self.kinds.iter().find(|kind| kind.name == open.kind);
        let kind = kind.ok_or_else(|| {
            format!(
                "the server has no kind of room `{}` (`Server::room`)",
                open.kind
            )
        })?;
        if self.rooms.len() >= rooms {
            return Err(format!(
                "its shard has {rooms} rooms already (`Server::max_rooms`)"
            ));
        }
        let args = open.args.get().as_bytes();
        let state = if is_out(&self.taken_out, name, self.frame) {
            State::Broken(OUT.into())
        } else {
            match catch_unwind(AssertUnwindSafe(|| (kind.open)(args))) {
                Ok(live) => State::Live(live?),
                Err(panic) => {
                    let why = text_of(&*panic);
                    let line = format!("it is broken: `open` has panicked: {why}");
                    self.news.of(self.frame).line(name, &line);
                    State::Broken(why)
                }
            }
        };
        Ok((kind.name.into(), state))
    }

    /// Applies an input. An error says why it has no effect; an input that was in the log before has
    /// none either, and is counted.
    fn input(
        &mut self,
        room: &Arc<str>,
        player: &Player,
        body: &[u8],
    ) -> Result<(), (Reason, String)> {
        let Limits { size, rate, .. } = self.limits;
        let Some(slot) = self.rooms.get_mut(room) else {
            let why = "the room is over, or was not opened".to_owned();
            return Err((Reason::NoRoom, why));
        };
        if let State::Broken(_) = slot.state {
            return Err((Reason::Broken, "the room is broken".to_owned()));
        }
        if body.len() > size {
            return Err((Reason::TooLong, too_long(body, size)));
        }
        let unreadable = |error| (Reason::Unreadable, format!("it cannot be read: {error}"));
        let (envelope, input) = open_envelope(body).map_err(unreadable)?;
        let sender = slot
            .senders
            .entry(player.clone())
            .or_insert_with(|| Sender {
                budget: full_budget(rate),
                frame: self.frame,
                ..Sender::default()
            });
        let earned = (self.frame - sender.frame) * u64::from(rate) * 1_000;
        let earned = earned / u64::from(self.ticks_per_second);
        sender.budget = (sender.budget + earned).min(full_budget(rate));
        sender.frame = self.frame;
        if sender.budget < 1_000 {
            let why = format!("more than {rate} in a second (`Server::inputs_per_second`)");
            return Err((Reason::TooMany, why));
        }
        if !sender.doubles.is_first(envelope.session, envelope.number) {
            self.refused.doubles += 1;
            return Ok(());
        }
        sender.budget -= 1_000;
        slot.hash = None;
        let taken = slot.state.with(|live| live.input(player.clone(), &input));
        if let State::Broken(why) = &slot.state {
            let line = format!("it is broken: an input of {player} has panicked: {why}");
            self.news.of(self.frame).line(room, &line);
        }
        taken.unwrap_or(Ok(())).map_err(unreadable)
    }
}

#[derive(Deserialize)]
struct OpenText<'a> {
    kind: &'a str,
    #[serde(borrow)]
    args: &'a serde_json::value::RawValue,
}

/// The content of the entry that opens a room: `{"kind":"arena","args":..}`.
pub(crate) fn open_body(kind: &str, args: &str) -> Result<Vec<u8>, String> {
    #[derive(Serialize)]
    struct Text<'a> {
        kind: &'a str,
        args: &'a serde_json::value::RawValue,
    }
    let args: &serde_json::value::RawValue =
        serde_json::from_str(args).map_err(|error| error.to_string())?;
    serde_json::to_vec(&Text { kind, args }).map_err(|error| error.to_string())
}

fn full_budget(rate: u32) -> u64 {
    u64::from(rate) * 1_000
}

fn too_long(body: &[u8], size: usize) -> String {
    let length = body.len();
    format!("{length} bytes are more than {size} (`Server::max_input`)")
}

/// The length of a frame.
pub(crate) fn step_of(ticks_per_second: u32) -> Duration {
    Duration::from_nanos(1_000_000_000 / u64::from(ticks_per_second))
}

impl Slot {
    fn new(kind: Arc<str>, opened: u64, state: State) -> Self {
        Slot {
            kind,
            opened,
            frame: 0,
            senders: BTreeMap::new(),
            state,
            hash: None,
            panics: 0,
            last_panic: None,
            has_no_view: false,
        }
    }

    /// Whether the room is in the hash after a frame. Not by its place in the list: that changes when
    /// another room is over.
    fn is_in_turn(&self, frame: u64) -> bool {
        (self.opened + frame).is_multiple_of(TURNS)
    }

    /// The view of a live room: its frame, and the bytes.
    fn view(&mut self, news: &mut AllNews, frame: u64, name: &str) -> Option<(u64, Vec<u8>)> {
        let State::Live(live) = &self.state else {
            return None;
        };
        // A view does not change the room, so its panic breaks nothing.
        let view = catch_unwind(AssertUnwindSafe(|| live.view()));
        let view = view.unwrap_or_else(|panic| Err(format!("a panic: {}", text_of(&*panic))));
        match view {
            Ok(view) => Some((self.frame, view)),
            Err(why) => {
                if !std::mem::replace(&mut self.has_no_view, true) {
                    let text = format!("it has no view: {why}");
                    news.of(frame).line(name, &text);
                }
                None
            }
        }
    }

    /// Takes what the runtime has reported.
    fn report(&mut self, news: &mut AllNews, frame: u64, name: &str) {
        let State::Live(live) = &mut self.state else {
            return;
        };
        let Some(reported) = live.reported() else {
            return;
        };
        self.panics += reported.panics;
        if reported.last_panic.is_some() {
            self.last_panic = reported.last_panic;
        }
        for line in reported.lines {
            news.of(frame).line(name, &line);
        }
    }

    fn hash(&mut self, news: &mut AllNews, frame: u64, name: &str) -> u64 {
        if let Some(hash) = self.hash {
            return hash;
        }
        // A room that cannot be saved is broken, on all nodes in the same frame: otherwise its shard
        // could not be saved.
        let hash = match self.state.with(|live| live.hash()) {
            Some(Ok(hash)) => hash,
            Some(Err(why)) => {
                news.of(frame)
                    .line(name, &format!("it is broken: it cannot be saved: {why}"));
                self.state.break_it(why.into());
                0
            }
            None => 0,
        };
        self.hash = Some(hash);
        hash
    }
}

impl Fold for Shard {
    fn load(&mut self, state: Option<&[u8]>) -> Result<(), String> {
        self.unload();
        let Some(state) = state else {
            return Ok(());
        };
        let saved: Saved = postcard::from_bytes(state).map_err(|error| error.to_string())?;
        let frame_of_save = saved.frame;
        let mut rooms = BTreeMap::new();
        for saved in saved.slots {
            if let Some(before) = &mut self.before {
                before(frame_of_save, &saved.name);
            }
            let is_out = is_out(&self.taken_out, &saved.name, frame_of_save);
            let kind = self.kinds.iter().find(|kind| *kind.name == *saved.kind);
            let kind = kind
                .ok_or_else(|| {
                format!(
                    "this server has no rooms of the kind `{}`: the log is that of another game, or a \
                     `.room::<..>()` is missing",
                    saved.kind
                )
            })?;
            let state = match saved.state {
                Ok(_) if is_out => State::Broken(OUT.into()),
                Ok(bytes) => {
                    let restored = catch_unwind(AssertUnwindSafe(|| (kind.restore)(&bytes)));
                    let restored =
                        restored.unwrap_or_else(|panic| Err(text_of(&*panic).to_string()));
                    State::Live(restored.map_err(|why| format!("room {}: {why}", saved.name))?)
                }
                Err(why) => State::Broken(why.into()),
            };
            let slot = Slot {
                frame: saved.frame,
                senders: saved.senders,
                panics: saved.panics,
                ..Slot::new(saved.kind, saved.opened, state)
            };
            rooms.insert(saved.name, slot);
        }
        self.rooms = rooms;
        self.frame = saved.frame;
        self.refused = saved.refused;
        Ok(())
    }

    fn load_empty(&mut self, frame: u64) {
        self.unload();
        self.frame = frame;
    }

    fn is_empty(&self) -> bool {
        self.rooms.is_empty()
    }

    fn unload(&mut self) {
        let rooms = std::mem::take(&mut self.rooms);
        for (_, mut slot) in rooms {
            slot.state.break_it("".into());
        }
        self.frame = 0;
        self.refused = Refused::default();
        self.last_entry = 0;
        self.news.clear();
        self.absent = Absent::default();
        self.over.clear();
    }

    fn frame(&mut self, frame: u64, entries: &[Entry]) {
        self.frame = frame;
        self.over.clear();
        if let Some(last) = entries.last() {
            self.last_entry = last.seq;
        }
        for entry in entries {
            if let (Some(before), Some(room)) =
                (&mut self.before, entry.topic.as_ref().and_then(Topic::room))
            {
                before(frame, room);
            }
            self.apply(entry);
        }
        let mut over = Vec::new();
        for (name, slot) in &mut self.rooms {
            if is_out(&self.taken_out, name, frame) {
                if let State::Live(_) = slot.state {
                    slot.state.break_it(OUT.into());
                    slot.hash = None;
                }
                continue;
            }
            if let Some(before) = &mut self.before {
                before(frame, name);
            }
            let step = self.step;
            let was_live = matches!(slot.state, State::Live(_));
            let is_over = slot.state.with(|live| {
                live.frame(step);
                live.is_over()
            });
            match (is_over, &slot.state) {
                (Some(_), _) => slot.frame += 1,
                (None, State::Broken(why)) if was_live => {
                    let line = format!("it is broken: its frame has panicked: {why}");
                    self.news.of(frame).line(name, &line);
                }
                _ => {}
            }
            slot.hash = None;
            slot.report(&mut self.news, frame, name);
            if is_over == Some(true) {
                over.push(name.clone());
            }
        }
        for name in over {
            if let Some(mut slot) = self.rooms.remove(&name) {
                let view = slot.view(&mut self.news, frame, &name);
                self.over.push((name.clone(), view));
                self.absent.add(&name, Absence::Over);
                slot.state.break_it("".into());
            }
        }
    }

    fn hash(&mut self) -> u64 {
        let mut hash = StableHash::new();
        hash.add(self.frame);
        for (name, slot) in &mut self.rooms {
            if !slot.is_in_turn(self.frame) {
                continue;
            }
            hash.add_bytes(name.as_bytes());
            hash.add(slot.opened);
            hash.add(slot.hash(&mut self.news, self.frame, name));
        }
        hash.finish()
    }

    fn out(&self) -> u32 {
        u32::try_from(self.taken_out.len()).unwrap_or(u32::MAX)
    }

    fn save(&mut self) -> Result<Vec<u8>, String> {
        let mut slots = Vec::new();
        for (name, slot) in &self.rooms {
            let state = match &slot.state {
                State::Live(live) => {
                    let saved = catch_unwind(AssertUnwindSafe(|| live.save()));
                    let saved = saved.unwrap_or_else(|panic| Err(text_of(&*panic).to_string()));
                    Ok(saved.map_err(|why| format!("room {name}: {why}"))?)
                }
                State::Broken(why) => Err(why.to_string()),
            };
            slots.push(SavedSlot {
                name: name.clone(),
                kind: slot.kind.clone(),
                opened: slot.opened,
                frame: slot.frame,
                senders: slot.senders.clone(),
                panics: slot.panics,
                state,
            });
        }
        let saved = Saved {
            frame: self.frame,
            refused: self.refused,
            slots,
        };
        postcard::to_stdvec(&saved).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use framestep_durable::prelude::*;

    use super::*;
    use crate::room::Room;

    #[derive(Serialize, Deserialize)]
    struct Pot {
        sum: u64,
        steps: u64,
    }

    #[durable]
    async fn stir() -> Chapter {
        wait_frames(2).await;
        with(|pot: &mut Pot| pot.steps += 1);
        Chapter::Next(stir())
    }

    impl Room for Pot {
        const NAME: &'static str = "pot";
        type Args = u64;
        type Input = u64;
        type View = (u64, u64);

        fn registry() -> Registry {
            Registry::new().with::<Stir>()
        }

        fn open(runtime: &Runtime, sum: u64) -> Self {
            runtime.spawn(stir()).detach();
            assert!(sum < 1_000, "the pot is too small");
            Pot { sum, steps: 0 }
        }

        fn input(&mut self, _: &Runtime, _: Player, by: u64) {
            assert!(by < 1_000, "the pot is too small");
            self.sum += by;
        }

        fn view(&self) -> (u64, u64) {
            (self.sum, self.steps)
        }

        fn is_over(&self) -> bool {
            self.sum == 999
        }
    }

    /// A shard, and the number of the next entry.
    struct Log(Shard, u64);

    impl Log {
        fn new() -> Self {
            let limits = Limits {
                rooms: 3,
                size: 100,
                rate: 10,
            };
            Log(Shard::new([Kind::of::<Pot>()].into(), 10, limits), 1)
        }

        /// A frame with these entries.
        fn frame(&mut self, entries: &[(Topic, Vec<u8>)]) {
            let mut numbered = Vec::new();
            for (topic, body) in entries {
                numbered.push(Entry {
                    seq: self.1,
                    topic: Some(topic.clone()),
                    body: body[..].into(),
                });
                self.1 += 1;
            }
            let frame = self.0.frame + 1;
            self.0.frame(frame, &numbered);
        }

        /// The view of a room.
        fn view(&mut self, room: &str) -> Option<(u64, u64)> {
            self.0
                .view(room)
                .map(|(_, view)| serde_json::from_slice(&view).unwrap())
        }
    }

    fn open(room: &str, kind: &str, args: &str) -> (Topic, Vec<u8>) {
        (Topic::Open(room.into()), open_body(kind, args).unwrap())
    }

    fn text(room: &str, player: &str, number: u64, input: &str) -> (Topic, Vec<u8>) {
        let body = format!(r#"{{"s":1,"n":{number},"i":{input}}}"#).into_bytes();
        (
            Topic::Input(room.into(), Player::new(player).unwrap()),
            body,
        )
    }

    fn binary(room: &str, player: &str, number: u64, input: u64) -> (Topic, Vec<u8>) {
        let input = crate::Format::Postcard.write(&input).unwrap();
        let body = close_envelope(1, number, &input);
        (
            Topic::Input(room.into(), Player::new(player).unwrap()),
            body,
        )
    }

    #[test]
    fn inputs_of_a_frame_are_applied_in_order_before_it_in_both_formats_and_once() {
        let mut log = Log::new();
        log.frame(&[open("a", "pot", "5"), text("a", "alice", 1, "10")]);
        assert_eq!(log.view("a"), Some((15, 0)));
        log.frame(&[
            binary("a", "alice", 2, 20),
            text("a", "alice", 1, "10"),
            text("a", "bob", 1, "1"),
        ]);
        assert_eq!(log.view("a"), Some((36, 0)));
        log.frame(&[]);
        assert_eq!(log.view("a"), Some((36, 1)));
        assert_eq!(
            log.0.refused(),
            Refused {
                doubles: 1,
                ..Refused::default()
            }
        );
        assert_eq!(log.0.status()[0].players, 2);
    }

    #[test]
    fn what_cannot_be_used_is_counted_and_changes_nothing() {
        let mut log = Log::new();
        log.frame(&[
            open("a", "pot", "5"),
            open("a", "pot", "6"), // it is open
            open("b", "kettle", "5"),
            open("b", "pot", "\"text\""),
            (Topic::Open("b".into()), b"{".to_vec()),
            text("b", "alice", 1, "10"),
            text("a", "alice", 1, "\"text\""),
            (
                Topic::Input("a".into(), Player::new("alice").unwrap()),
                b"{\"s\":1}".to_vec(),
            ),
            (
                Topic::Input("a".into(), Player::new("alice").unwrap()),
                Vec::new(),
            ),
            (
                Topic::Input("a".into(), Player::new("alice").unwrap()),
                vec![2; 200],
            ),
            (Topic::Answer("a".into()), vec![255; 9]),
        ]);
        assert_eq!(log.view("a"), Some((5, 0)));
        let refused = Refused {
            no_room: 1,
            unreadable: 3,
            too_long: 1,
            not_opened: 3,
            ..Refused::default()
        };
        assert_eq!(log.0.refused(), refused);
        log.frame(&[
            open("b", "pot", "1"),
            open("c", "pot", "1"),
            open("d", "pot", "1"),
        ]);
        assert_eq!(log.0.status().len(), 3);
        assert_eq!(log.0.refused().not_opened, 4);
    }

    #[test]
    fn a_player_may_send_a_second_of_inputs_at_once_and_then_its_share_of_each_frame() {
        let mut log = Log::new();
        let mut number = 0;
        // Ten a second, at ten frames a second.
        let mut send = |count: usize| -> Vec<_> {
            let input = |_| {
                number += 1;
                text("a", "alice", number, "1")
            };
            (0..count).map(input).collect()
        };
        let mut first = vec![open("a", "pot", "0")];
        first.extend(send(14));
        log.frame(&first);
        assert_eq!(
            (log.view("a").unwrap().0, log.0.refused().too_many),
            (10, 4)
        );
        log.frame(&send(3));
        assert_eq!(
            (log.view("a").unwrap().0, log.0.refused().too_many),
            (11, 6)
        );
        for _ in 0..20 {
            log.frame(&[]);
        }
        log.frame(&send(12));
        assert_eq!(
            (log.view("a").unwrap().0, log.0.refused().too_many),
            (21, 8)
        );
    }

    #[test]
    fn a_panic_breaks_its_room_and_a_room_that_is_over_is_closed() {
        let mut log = Log::new();
        log.frame(&[
            open("a", "pot", "1"),
            open("b", "pot", "2"),
            open("c", "pot", "3000"),
        ]);
        log.frame(&[text("a", "alice", 1, "5000"), text("b", "alice", 1, "5")]);
        log.frame(&[text("a", "alice", 2, "1")]);
        let broken: Vec<_> = log
            .0
            .status()
            .iter()
            .map(|room| room.broken.clone())
            .collect();
        let why = Some("the pot is too small".to_owned());
        assert_eq!(broken, [why.clone(), None, why]);
        assert_eq!((log.view("a"), log.view("b")), (None, Some((7, 1))));
        log.frame(&[text("b", "alice", 2, "992")]);
        assert_eq!(log.view("b"), None);
        // The name is free, and the numbers of players begin again.
        log.frame(&[open("b", "pot", "1"), text("b", "alice", 1, "1")]);
        assert_eq!(log.view("b"), Some((2, 0)));
    }

    #[test]
    fn a_shard_that_was_loaded_goes_on_with_the_same_hashes() {
        let mut log = Log::new();
        log.frame(&[
            open("a", "pot", "1"),
            open("b", "pot", "2"),
            open("c", "pot", "3000"),
        ]);
        for frame in 0..20_u64 {
            log.frame(&[
                text("a", "alice", frame + 1, "1"),
                text("b", "bob", frame + 1, "1"),
            ]);
            let save = log.0.save().unwrap();
            let mut other = Log::new();
            other.0.load(Some(&save)).unwrap();
            other.1 = log.1;
            assert_eq!(other.0.hash(), log.0.hash());
            let next = [text("a", "alice", frame + 1, "1"), text("b", "eve", 1, "7")];
            other.frame(&next);
            // From the same state, and not from the one before: `log` goes its own way.
            let mut twin = Log::new();
            twin.0.load(Some(&save)).unwrap();
            twin.frame(&next);
            assert_eq!(other.0.hash(), twin.0.hash());
            assert_ne!(other.0.hash(), log.0.hash());
        }
        let save = log.0.save().unwrap();
        for length in 0..save.len() {
            let _ = Log::new().0.load(Some(&save[..length]));
        }
    }

    #[test]
    fn a_room_that_differs_is_in_the_hash_of_one_of_the_next_four_frames() {
        for other in ["a", "b", "c"] {
            for number in 0..9_u64 {
                let mut logs = [Log::new(), Log::new()];
                for log in &mut logs {
                    log.frame(&["a", "b", "c"].map(|room| open(room, "pot", "0")));
                    (0..number).for_each(|_| log.frame(&[]));
                }
                let [one, two] = &mut logs;
                one.frame(&[text(other, "alice", 1, "1")]);
                two.frame(&[text(other, "alice", 1, "2")]);
                let mut seen = 0;
                for _ in 0..4 {
                    seen += u32::from(one.0.hash() != two.0.hash());
                    one.frame(&[]);
                    two.frame(&[]);
                }
                assert_eq!(seen, 1, "{other}, frame {number}");
            }
        }
    }

    #[test]
    fn a_room_that_is_taken_out_is_not_run_from_that_frame_on() {
        let mut log = Log::new();
        log.0.take_out([("a".into(), 3)].into());
        let named = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
        let list = named.clone();
        log.0
            .call_before(move |frame, room| list.borrow_mut().push((frame, room.to_owned())));
        log.frame(&[open("a", "pot", "1"), open("b", "pot", "2")]);
        named.borrow_mut().clear();
        for _ in 0..2 {
            log.frame(&[]);
        }
        log.frame(&[text("b", "alice", 1, "1")]);
        let expected = [(2, "a"), (2, "b"), (3, "b"), (4, "b"), (4, "b")];
        let named: Vec<_> = named.borrow().clone();
        assert_eq!(
            named,
            expected.map(|(frame, room)| (frame, room.to_owned()))
        );
        assert_eq!((log.view("a"), log.view("b")), (None, Some((3, 1))));
        // One that ends the process when it is opened is shown, and not opened. One that ends it when it
        // is restored is not restored.
        log.0
            .take_out([("a".into(), 3), ("b".into(), 5), ("c".into(), 5)].into());
        log.frame(&[open("c", "pot", "1")]);
        let broken = |log: &Log| {
            let status = log.0.status().into_iter();
            let broken = status.filter(|room| room.broken.as_deref() == Some(OUT));
            broken.map(|room| room.name).collect::<Vec<_>>()
        };
        assert_eq!(broken(&log), ["a", "b", "c"]);
        let mut before = Log::new();
        before.frame(&[open("b", "pot", "2")]);
        let save = before.0.save().unwrap();
        let mut log = Log::new();
        log.0.take_out([("b".into(), 1)].into());
        log.0.load(Some(&save)).unwrap();
        assert_eq!(broken(&log), ["b"]);
    }
}
