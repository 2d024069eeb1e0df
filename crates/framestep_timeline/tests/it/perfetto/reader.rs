//! Reads a trace as Perfetto does, according to its published schema. It shares no code
//! with the writer.

use std::collections::{BTreeMap, HashMap};

/// A field of a message: its number, and its value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Number(u64),
    Fixed(u64),
    Bytes(&'a [u8]),
}

/// All fields of one message, in order.
pub(crate) fn fields(mut bytes: &[u8]) -> Vec<(u64, Value<'_>)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = match tag & 7 {
            0 => Value::Number(varint(&mut bytes)),
            1 => {
                let (value, rest) = bytes.split_at(8);
                bytes = rest;
                Value::Fixed(u64::from_le_bytes(value.try_into().unwrap()))
            }
            2 => {
                let length = usize::try_from(varint(&mut bytes)).unwrap();
                let (value, rest) = bytes.split_at(length);
                bytes = rest;
                Value::Bytes(value)
            }
            wire => panic!("wire type {wire} is not used by this format"),
        };
        fields.push((tag >> 3, value));
    }
    fields
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().expect("a complete number");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return value;
        }
    }
    panic!("a number has at most ten bytes");
}

impl Value<'_> {
    fn number(self) -> u64 {
        match self {
            Value::Number(value) | Value::Fixed(value) => value,
            Value::Bytes(_) => panic!("a number was expected"),
        }
    }
}

impl<'a> Value<'a> {
    fn bytes(self) -> &'a [u8] {
        match self {
            Value::Bytes(bytes) => bytes,
            other => panic!("bytes were expected: {other:?}"),
        }
    }

    fn text(self) -> String {
        String::from_utf8(self.bytes().to_vec()).expect("texts are UTF-8")
    }
}

#[derive(Debug, Default)]
pub(crate) struct Track {
    pub(crate) name: String,
    pub(crate) parent: u64,
    pub(crate) is_counter: bool,
    pub(crate) is_process: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Begin,
    End,
    Instant,
    Counter,
}

#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) at: u64,
    pub(crate) kind: Type,
    pub(crate) track: u64,
    pub(crate) name: String,
    pub(crate) category: String,
    pub(crate) counter: u64,
    pub(crate) notes: BTreeMap<String, String>,
    pub(crate) line: Option<(String, u64)>,
    pub(crate) flows: Vec<u64>,
    pub(crate) ends_flows: Vec<u64>,
}

/// A slice of a track, with the depth of its nesting.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    pub(crate) event: Event,
    pub(crate) end: u64,
    pub(crate) depth: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) tracks: BTreeMap<u64, Track>,
    pub(crate) events: Vec<Event>,
    categories: HashMap<u64, String>,
    names: HashMap<u64, String>,
    notes: HashMap<u64, String>,
    lines: HashMap<u64, (String, u64)>,
}

impl Trace {
    /// Reads all packets. Panics if a rule of the format is broken.
    pub(crate) fn read(bytes: &[u8]) -> Trace {
        let mut trace = Trace::default();
        for (at, (field, packet)) in fields(bytes).into_iter().enumerate() {
            assert_eq!(field, 1, "a trace is a list of packets");
            trace.read_packet(at == 0, packet.bytes());
        }
        // Events are sorted by time; those of the same time keep their order.
        trace.events.sort_by_key(|event| event.at);
        trace
    }

    fn read_packet(&mut self, is_first: bool, bytes: &[u8]) {
        let fields = fields(bytes);
        let find = |number: u64| {
            fields
                .iter()
                .find(|(field, _)| *field == number)
                .map(|(_, value)| *value)
        };
        assert_eq!(find(10).expect("trusted_packet_sequence_id").number(), 1);
        // SEQ_INCREMENTAL_STATE_CLEARED first, then SEQ_NEEDS_INCREMENTAL_STATE.
        let flags = find(13).expect("sequence_flags").number();
        assert_eq!(flags, if is_first { 1 } else { 2 });
        if let Some(interned) = find(12) {
            self.read_interned(interned.bytes());
        }
        if let Some(descriptor) = find(60) {
            self.read_track(descriptor.bytes());
        }
        if let Some(event) = find(11) {
            let at = find(8).expect("an event has a timestamp").number();
            self.read_event(at, event.bytes());
        }
    }

    fn read_interned(&mut self, bytes: &[u8]) {
        for (table, entry) in fields(bytes) {
            let entry = fields(entry.bytes());
            let (mut number, mut text, mut line) = (0, String::new(), 0);
            for (field, value) in entry {
                match field {
                    1 => number = value.number(),
                    2 => text = value.text(),
                    4 => line = value.number(),
                    other => panic!("field {other} of an interned text"),
                }
            }
            assert!(number > 0, "0 is not a number of an interned text");
            let old = match table {
                1 => self.categories.insert(number, text),
                2 => self.names.insert(number, text),
                3 => self.notes.insert(number, text),
                4 => self
                    .lines
                    .insert(number, (text, line))
                    .map(|(file, _)| file),
                other => panic!("table {other} of interned texts"),
            };
            assert_eq!(old, None, "a number is given once");
        }
    }

    fn read_track(&mut self, bytes: &[u8]) {
        let (mut id, mut track) = (0, Track::default());
        for (field, value) in fields(bytes) {
            match field {
                1 => id = value.number(),
                2 => track.name = value.text(),
                3 => {
                    track.is_process = true;
                    for (field, value) in fields(value.bytes()) {
                        if field == 6 {
                            track.name = value.text();
                        }
                    }
                }
                5 => track.parent = value.number(),
                8 => track.is_counter = true,
                11 => assert_eq!(value.number(), 3, "children have an explicit order"),
                12 => assert!(i32::try_from(value.number()).is_ok()),
                other => panic!("field {other} of a track"),
            }
        }
        assert!(id > 0, "a track has an id");
        assert!(
            track.is_process || self.tracks.contains_key(&track.parent),
            "the parent of {} comes first",
            track.name
        );
        assert!(
            self.tracks.insert(id, track).is_none(),
            "ids of tracks are unique"
        );
    }

    fn read_event(&mut self, at: u64, bytes: &[u8]) {
        let mut event = Event {
            at,
            kind: Type::Instant,
            track: 0,
            name: String::new(),
            category: String::new(),
            counter: 0,
            notes: BTreeMap::new(),
            line: None,
            flows: Vec::new(),
            ends_flows: Vec::new(),
        };
        for (field, value) in fields(bytes) {
            match field {
                3 => event.category.clone_from(&self.categories[&value.number()]),
                4 => {
                    let (mut key, mut text) = (String::new(), String::new());
                    for (field, value) in fields(value.bytes()) {
                        match field {
                            1 => key.clone_from(&self.notes[&value.number()]),
                            6 => text = value.text(),
                            other => panic!("field {other} of an annotation"),
                        }
                    }
                    event.notes.insert(key, text);
                }
                9 => {
                    event.kind = match value.number() {
                        1 => Type::Begin,
                        2 => Type::End,
                        3 => Type::Instant,
                        4 => Type::Counter,
                        other => panic!("type {other} of an event"),
                    };
                }
                10 => event.name.clone_from(&self.names[&value.number()]),
                11 => event.track = value.number(),
                30 => event.counter = value.number(),
                34 => event.line = Some(self.lines[&value.number()].clone()),
                47 => event.flows.push(value.number()),
                48 => event.ends_flows.push(value.number()),
                other => panic!("field {other} of an event"),
            }
        }
        let track = self.tracks.get(&event.track).expect("an event has a track");
        assert_eq!(
            track.is_counter,
            event.kind == Type::Counter,
            "only counters count"
        );
        self.events.push(event);
    }

    /// The slices of all tracks. Panics if they do not nest.
    pub(crate) fn slices(&self) -> Vec<Slice> {
        let mut open: HashMap<u64, Vec<Event>> = HashMap::new();
        let mut slices = Vec::new();
        for event in &self.events {
            let stack = open.entry(event.track).or_default();
            match event.kind {
                Type::Begin => stack.push(event.clone()),
                Type::End => {
                    let begin = stack.pop().expect("a slice ends that has begun");
                    slices.push(Slice {
                        event: begin,
                        end: event.at,
                        depth: stack.len(),
                    });
                }
                _ => {}
            }
        }
        assert!(open.values().all(Vec::is_empty), "all slices end: {open:?}");
        slices.sort_by_key(|slice| slice.event.at);
        slices
    }

    /// From which event to which a flow leads.
    pub(crate) fn flows(&self) -> BTreeMap<u64, (Event, Event)> {
        let mut begun: HashMap<u64, Event> = HashMap::new();
        let mut flows = BTreeMap::new();
        for event in &self.events {
            for flow in &event.flows {
                assert!(
                    begun.insert(*flow, event.clone()).is_none(),
                    "a flow begins once"
                );
            }
            for flow in &event.ends_flows {
                let begin = begun.get(flow).expect("a flow begins before it ends");
                assert!(begin.at < event.at, "time passes in a flow");
                let flow = flows.insert(*flow, (begin.clone(), event.clone()));
                assert!(flow.is_none(), "a flow ends once");
            }
        }
        assert_eq!(flows.len(), begun.len(), "all flows end");
        flows
    }

    pub(crate) fn track(&self, name: &str) -> u64 {
        let mut tracks = self.tracks.iter().filter(|(_, track)| track.name == name);
        let (id, _) = tracks
            .next()
            .unwrap_or_else(|| panic!("no track {name}: {:#?}", self.tracks));
        assert!(tracks.next().is_none(), "two tracks {name}");
        *id
    }
}
