//! What a save state has of a script. Save states share the images of scripts that have not changed.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::{Bytes, Content, Mark, Marked, StableHash, Topic};
use crate::events::Given;
use crate::events::questions::Question;
use crate::ids::{Birth, Owned, OwnerId, ScriptId};
use crate::journal::{Journal, Marks, NamedWait, Once, Sites, StopLines};
use crate::places::{GoneOver, Table, Tables};
use crate::script::JoinError;

/// A shared image of a script, with its hash once a checksum has asked for it. A change copies what
/// others share.
#[derive(Clone, Debug)]
pub(crate) struct KeptImage(Rc<Hashed>);

#[derive(Clone, Debug)]
struct Hashed {
    image: ScriptImage,
    hash: OnceCell<u64>,
}

impl KeptImage {
    pub(crate) fn new(image: ScriptImage) -> Self {
        let hash = OnceCell::new();
        KeptImage(Rc::new(Hashed { image, hash }))
    }

    /// Whether both say the same of one script.
    pub(crate) fn is_like(&self, other: &ScriptImage) -> bool {
        let content = |of: &ScriptImage| {
            let begins = (of.has_begun, of.restarts_after_wait);
            let before = (&of.state, of.history);
            Bytes::of(&(before, &of.stop_lines, &of.once, begins, &of.waits))
        };
        self.journal.is(&other.journal) && content(self) == content(other)
    }

    /// A hash of the image, without the lines of its calls and of stops. `sites` has the sites that it names.
    pub(crate) fn hash(&self, sites: &Sites) -> u64 {
        *self.0.hash.get_or_init(|| hash_of(&self.0.image, sites))
    }
}

fn hash_of(script: &ScriptImage, sites: &Sites) -> u64 {
    let mut hash = StableHash::new();
    hash.add(script.id.0);
    hash.add_bytes(script.name.as_bytes());
    hash.add(u64::from(script.version));
    hash.add(script.home);
    hash.add(script.owner.map_or(0, |owner| owner.0 + 1));
    match &script.state {
        Content::Compact(bytes) => hash.add_bytes(bytes.get()),
        described @ Content::Described(_) => add_value(&mut hash, described),
    }
    if script.once.is_empty() {
        hash.add(0);
    } else {
        add_value(&mut hash, &script.once);
    }
    hash.add(u64::from(script.has_begun) << 1 | u64::from(script.restarts_after_wait));
    hash.add(script.waits.len() as u64);
    for wait in &script.waits {
        // What a site is, without its place.
        let what = sites.what(wait.named.site);
        hash.add(u64::from(wait.named.number) << 32 | u64::from(what));
        match &wait.slot {
            SlotImage::Plain => hash.add(0),
            slot => add_value(&mut hash, slot),
        }
    }
    hash.add(script.journal.hash().state());
    hash.finish()
}

/// Adds a value as bytes, which are at least one.
fn add_value<T: Serialize>(hash: &mut StableHash, value: &T) {
    let bytes = postcard::to_stdvec(value);
    hash.add_bytes(&bytes.expect("an image serialises"));
}

impl Deref for KeptImage {
    type Target = ScriptImage;

    fn deref(&self) -> &ScriptImage {
        &self.0.image
    }
}

impl DerefMut for KeptImage {
    fn deref_mut(&mut self) -> &mut ScriptImage {
        let hashed = Rc::make_mut(&mut self.0);
        hashed.hash.take();
        &mut hashed.image
    }
}

impl Serialize for KeptImage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for KeptImage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ScriptImage::deserialize(deserializer).map(KeptImage::new)
    }
}

/// A script that has ended, and whose result is kept. It serialises without the line that has stopped
/// it, which is beside it in a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EndedImage {
    pub(crate) id: ScriptId,
    #[serde(skip)]
    pub(crate) birth: Birth,
    pub(crate) result: Result<Marked, JoinError>,
    pub(crate) order: u64,
}

impl PartialEq for EndedImage {
    fn eq(&self, other: &Self) -> bool {
        // Equal runs are equal, whatever else their processes have made.
        let said = |of: &Self| (of.id, of.order);
        said(self) == said(other) && self.result == other.result
    }
}

impl Eq for EndedImage {}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ScriptImage {
    pub(crate) id: ScriptId,
    #[serde(skip)]
    pub(crate) birth: Birth,
    pub(crate) name: Cow<'static, str>,
    /// The version of its code.
    pub(crate) version: u32,
    /// Which registry of the runtime its code is from. Of a file, that of the runtime's first.
    #[serde(skip)]
    pub(crate) generation: u32,
    /// The statements of its code.
    #[serde(skip)]
    pub(crate) statements: Table,
    /// How its states describe themselves.
    #[serde(skip)]
    pub(crate) mark_of_state: Option<Mark>,
    /// The number of the table of its statements in a file.
    pub(crate) table: u32,
    /// The number of a phase.
    pub(crate) home: u64,
    pub(crate) owner: Option<OwnerId>,
    pub(crate) state: Content,
    /// What a compact state says of itself, in a file.
    pub(crate) mark: u16,
    pub(crate) journal: Journal,
    /// What its values say of themselves, in a file.
    pub(crate) marks: Marks,
    pub(crate) stop_lines: StopLines,
    /// What its loops have gone over. In a file, those in which it waits.
    pub(crate) gone_over: GoneOver,
    pub(crate) once: Once,
    /// A hash of what was before the chapter.
    pub(crate) history: u64,
    pub(crate) has_begun: bool,
    /// Whether it waits as earlier code did, and restarts its chapter then.
    pub(crate) restarts_after_wait: bool,
    /// Whether it has yet to begin waits that its code did not have at an earlier save.
    pub(crate) has_new_waits: bool,
    pub(crate) waits: Vec<WaitImage>,
}

impl ScriptImage {
    /// The questions that it waits for, with the waits.
    pub(crate) fn questions(&self) -> impl Iterator<Item = (NamedWait, &Question)> {
        self.waits.iter().filter_map(|wait| match &wait.slot {
            SlotImage::Request(question) => Some((wait.named, question)),
            _ => None,
        })
    }

    /// Whether several of them have one name.
    pub(crate) fn has_like_questions(&self) -> bool {
        let mut names: Vec<&str> = self.questions().map(|(_, of)| &*of.name).collect();
        names.sort_unstable();
        names.windows(2).any(|two| two[0] == two[1])
    }

    pub(crate) fn has_sorted_waits(&self) -> bool {
        let waits = &self.waits;
        waits.is_sorted_by(|a, b| a.named.number < b.named.number)
    }

    /// Adds what a file has of it beside the save state: what its values say of themselves, and the number
    /// of the table of its statements. What was read has it already, and no types.
    pub(crate) fn add_what_files_have(&mut self, sites: &Sites, tables: &mut Tables) {
        self.table = tables.number(&self.statements);
        if let (Some(mark), Content::Compact(state)) = (self.mark_of_state, &self.state) {
            self.mark = mark.mark(state.get());
        }
        if self.marks.is_empty() {
            self.marks = self.journal.marks(sites);
        }
        if !self.gone_over.all().is_empty() {
            let waits = self.waits.iter();
            let places = waits.filter_map(|wait| Some(sites.get(wait.named.site)?.place));
            let places: Vec<u32> = places.collect();
            self.gone_over = self.gone_over.around(self.statements.list(), &places);
        }
    }

    pub(crate) fn has_begun_if_it_has_done_something(&self) -> bool {
        if self.restarts_after_wait {
            return self.has_begun && self.journal.entries() == 0;
        }
        self.has_begun || self.journal.entries() == 0 && self.waits.is_empty()
    }
}

/// A pending wait.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WaitImage {
    pub(crate) named: NamedWait,
    pub(crate) slot: SlotImage,
}

/// What a slot contains besides waits of framestep.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum SlotImage {
    Plain,
    Join(ScriptId),
    OwnerEnd(OwnerId),
    Stop {
        ticket: u64,
    },
    Signal {
        topic: Topic,
        ticket: u64,
        given: Given,
    },
    Next {
        topic: Topic,
        ticket: u64,
        stream: Owned,
        /// Whether the wait has made the subscription, and drops it.
        is_own: bool,
    },
    Value {
        topic: Topic,
        ticket: u64,
        is_new: bool,
    },
    Permit {
        topic: Topic,
        ticket: u64,
        wanted: u64,
        granted: Option<u64>,
    },
    Promise(u64),
    Request(Question),
    Animate {
        has_end: bool,
        length_ns: u64,
        elapsed_ns: u64,
    },
    Tick {
        /// `None` if it never comes.
        due_ns: Option<i128>,
    },
}

impl SlotImage {
    /// The full name of what a wait in a list is for.
    pub(crate) fn topic(&self) -> Option<&Topic> {
        match self {
            SlotImage::Signal { topic, .. }
            | SlotImage::Next { topic, .. }
            | SlotImage::Value { topic, .. }
            | SlotImage::Permit { topic, .. } => Some(topic),
            _ => None,
        }
    }
}
