//! Packets: tracks, events and counters, with texts that are written once.

use std::collections::HashMap;

use crate::tables::Place;

use super::proto::Message;

/// The track of the process, which contains all others.
const PROCESS: u64 = 1;
const SEQUENCE: u64 = 1;

/// What a track event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
    Begin = 1,
    End = 2,
    Instant = 3,
}

/// One event of a track.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) at: u64,
    shape: Shape,
    category: &'static str,
    name: Option<String>,
    notes: Vec<(&'static str, String)>,
    pub(crate) line: Option<Place>,
    pub(crate) flow: Option<u64>,
    pub(crate) ends_flows: Vec<u64>,
}

impl Event {
    pub(crate) fn new(at: u64, shape: Shape, category: &'static str) -> Self {
        Event {
            at,
            shape,
            category,
            name: None,
            notes: Vec::new(),
            line: None,
            flow: None,
            ends_flows: Vec::new(),
        }
    }

    pub(crate) fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    pub(crate) fn with(mut self, key: &'static str, value: String) -> Self {
        self.notes.push((key, value));
        self
    }

    pub(crate) fn with_some(self, key: &'static str, value: Option<String>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    pub(crate) fn is_begin_of(&self, category: &str) -> bool {
        self.shape == Shape::Begin && self.category == category
    }

    /// The order of events at the same time: a wait ends before a poll begins, what a
    /// poll does is inside it, and it ends before the next wait begins.
    pub(crate) fn order(&self) -> (u64, u8) {
        let order = match (self.shape, self.category) {
            (Shape::End, "wait") => 0,
            (Shape::Begin, "poll") => 1,
            (Shape::Instant, _) => 2,
            (Shape::End, _) => 3,
            (Shape::Begin, _) => 4,
        };
        (self.at, order)
    }
}

/// The description of a track.
#[derive(Debug, Default)]
pub(crate) struct Track<'a> {
    pub(crate) id: u64,
    /// The track above it; by default, the process.
    pub(crate) parent: u64,
    pub(crate) name: &'a str,
    /// Its position among its siblings.
    pub(crate) rank: u64,
    pub(crate) is_counter: bool,
}

/// Which table of `InternedData` a text is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Table {
    Category = 1,
    Name = 2,
    Note = 3,
}

#[derive(Debug)]
pub(crate) struct Writer {
    out: Message,
    texts: HashMap<(Table, String), u64>,
    lines: HashMap<Place, u64>,
    /// The texts that the next packet uses for the first time.
    new: Message,
    has_new: bool,
    is_first: bool,
}

impl Writer {
    pub(crate) fn new() -> Self {
        Writer {
            out: Message::new(),
            texts: HashMap::new(),
            lines: HashMap::new(),
            new: Message::new(),
            has_new: false,
            is_first: true,
        }
    }

    pub(crate) fn process(&mut self, name: &str) {
        let mut process = Message::new();
        process.number(1, 1).text(6, name);
        let mut descriptor = Message::new();
        descriptor
            .number(1, PROCESS)
            .message(3, &process)
            .number(11, 3);
        self.describe(&descriptor);
    }

    pub(crate) fn track(&mut self, track: &Track<'_>) {
        let parent = if track.parent == 0 {
            PROCESS
        } else {
            track.parent
        };
        let mut descriptor = Message::new();
        descriptor
            .number(1, track.id)
            .text(2, track.name)
            .number(5, parent);
        descriptor.number(11, 3).number(12, track.rank);
        if track.is_counter {
            let mut counter = Message::new();
            counter.number(3, 2);
            descriptor.message(8, &counter);
        }
        self.describe(&descriptor);
    }

    fn describe(&mut self, descriptor: &Message) {
        let mut packet = Message::new();
        packet.message(60, descriptor);
        self.packet(packet);
    }

    pub(crate) fn counter(&mut self, track: u64, at: u64, value: u64) {
        let mut event = Message::new();
        event.number(9, 4).number(11, track).number(30, value);
        let mut packet = Message::new();
        packet.number(8, at).message(11, &event);
        self.packet(packet);
    }

    pub(crate) fn event(&mut self, track: u64, event: &Event) {
        let mut message = Message::new();
        message.number(9, event.shape as u64).number(11, track);
        if event.shape != Shape::End {
            let category = self.text(Table::Category, event.category);
            message.number(3, category);
        }
        if let Some(name) = &event.name {
            message.number(10, self.text(Table::Name, name));
        }
        for (key, value) in &event.notes {
            let mut note = Message::new();
            note.number(1, self.text(Table::Note, key)).text(6, value);
            message.message(4, &note);
        }
        if let Some(line) = &event.line {
            message.number(34, self.line(line));
        }
        if let Some(flow) = event.flow {
            message.fixed(47, flow);
        }
        for &flow in &event.ends_flows {
            message.fixed(48, flow);
        }
        let mut packet = Message::new();
        packet.number(8, event.at).message(11, &message);
        self.packet(packet);
    }

    /// The number of a text. The first use writes the text into the packet.
    fn text(&mut self, table: Table, text: &str) -> u64 {
        let next = self.texts.len() as u64 + 1;
        let Self {
            texts,
            new,
            has_new,
            ..
        } = self;
        *texts.entry((table, text.to_owned())).or_insert_with(|| {
            let mut entry = Message::new();
            entry.number(1, next).text(2, text);
            new.message(table as u64, &entry);
            *has_new = true;
            next
        })
    }

    fn line(&mut self, place: &Place) -> u64 {
        if let Some(&number) = self.lines.get(place) {
            return number;
        }
        let number = self.lines.len() as u64 + 1;
        self.lines.insert(place.clone(), number);
        let mut entry = Message::new();
        entry
            .number(1, number)
            .text(2, &place.file)
            .number(4, u64::from(place.line));
        self.new.message(4, &entry);
        self.has_new = true;
        number
    }

    fn packet(&mut self, mut packet: Message) {
        packet.number(10, SEQUENCE);
        if std::mem::take(&mut self.has_new) {
            packet.message(12, &std::mem::take(&mut self.new));
        }
        // The first packet begins the tables of texts; the others use them.
        let flags = if std::mem::take(&mut self.is_first) {
            1
        } else {
            2
        };
        packet.number(13, flags);
        self.out.message(1, &packet);
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.out.into_bytes()
    }
}
