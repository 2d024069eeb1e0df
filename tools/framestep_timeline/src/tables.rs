//! The names, places and scripts that the numbers in the records refer to.

use std::collections::HashMap;
use std::panic::Location;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::fold::{self, BuildFold};
use crate::record::NONE;

/// Longer names are cut to this length.
const LONGEST_NAME: usize = 1_000;

/// Texts by number. Number 0 is the empty text.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    texts: Vec<Arc<str>>,
    hashes: Vec<u64>,
    numbers: HashMap<Arc<str>, u32, BuildFold>,
    free: Vec<u32>,
}

impl Names {
    pub(crate) fn new() -> Self {
        Names {
            texts: vec![Arc::from("")],
            hashes: vec![0],
            numbers: HashMap::default(),
            free: Vec::new(),
        }
    }

    pub(crate) fn from_texts(texts: &[String]) -> Self {
        let mut names = Names::new();
        names.texts = texts.iter().map(|text| Arc::from(text.as_str())).collect();
        names.hashes = texts.iter().map(|text| fold::of_text(text)).collect();
        names
    }

    pub(crate) fn number(&mut self, text: &str) -> u32 {
        let text = cut(text);
        if text.is_empty() {
            return NONE;
        }
        match self.numbers.get(text) {
            Some(&number) => number,
            None => self.add(Arc::from(text)),
        }
    }

    fn add(&mut self, text: Arc<str>) -> u32 {
        let hash = fold::of_text(&text);
        let number = if let Some(number) = self.free.pop() {
            self.texts[number as usize] = text.clone();
            self.hashes[number as usize] = hash;
            number
        } else {
            self.texts.push(text.clone());
            self.hashes.push(hash);
            last(self.texts.len())
        };
        self.numbers.insert(text, number);
        number
    }

    pub(crate) fn get(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", |text| text)
    }

    pub(crate) fn hash(&self, number: u32) -> u64 {
        self.hashes[number as usize]
    }

    #[inline]
    pub(crate) fn is(&self, number: u32, text: &str) -> bool {
        self.get(number) == cut(text)
    }

    pub(crate) fn texts(&self) -> &[Arc<str>] {
        &self.texts
    }

    /// Frees the names that are not marked.
    fn sweep(&mut self, marks: &[bool]) {
        let texts = &mut self.texts;
        let free = &mut self.free;
        self.numbers.retain(|_, number| {
            let keep = marks[*number as usize];
            if !keep {
                texts[*number as usize] = Arc::from("");
                free.push(*number);
            }
            keep
        });
    }

    fn bytes(&self) -> usize {
        let texts: usize = self.texts.iter().map(|text| text.len() + 16).sum();
        texts + self.texts.capacity() * 24 + self.numbers.capacity() * 25
    }
}

/// The beginning of a text that is too long to be a name.
fn cut(text: &str) -> &str {
    if text.len() <= LONGEST_NAME {
        return text;
    }
    let mut end = LONGEST_NAME;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn last(length: usize) -> u32 {
    u32::try_from(length - 1).expect("fewer than four billion names")
}

/// A line of code.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) file: Arc<str>,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// Places by number. Number 0 means no place.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    places: Vec<Place>,
    hashes: Vec<u64>,
    /// By the address of the location, which is static.
    addresses: HashMap<usize, u32, BuildFold>,
    numbers: HashMap<Place, u32, BuildFold>,
}

impl Places {
    pub(crate) fn new() -> Self {
        Places::from_places(vec![Place {
            file: Arc::from(""),
            line: 0,
            column: 0,
        }])
    }

    pub(crate) fn from_places(places: Vec<Place>) -> Self {
        Places {
            hashes: places.iter().map(Place::hash).collect(),
            places,
            addresses: HashMap::default(),
            numbers: HashMap::default(),
        }
    }

    pub(crate) fn number(&mut self, location: Option<&'static Location<'static>>) -> u32 {
        let Some(location) = location else {
            return NONE;
        };
        let address = std::ptr::from_ref(location).addr();
        match self.addresses.get(&address) {
            Some(&number) => number,
            None => self.add(address, location),
        }
    }

    fn add(&mut self, address: usize, location: &'static Location<'static>) -> u32 {
        let place = Place {
            file: Arc::from(location.file()),
            line: location.line(),
            column: location.column(),
        };
        let (places, hashes) = (&mut self.places, &mut self.hashes);
        let number = *self.numbers.entry(place).or_insert_with_key(|place| {
            hashes.push(place.hash());
            places.push(place.clone());
            last(places.len())
        });
        self.addresses.insert(address, number);
        number
    }

    pub(crate) fn get(&self, number: u32) -> Option<&Place> {
        let place = self.places.get(number as usize);
        place.filter(|_| number != NONE)
    }

    pub(crate) fn hash(&self, number: u32) -> u64 {
        self.hashes[number as usize]
    }

    pub(crate) fn all(&self) -> &[Place] {
        &self.places
    }
}

impl Place {
    fn hash(&self) -> u64 {
        let line = u64::from(self.line) << 32 | u64::from(self.column);
        fold::mix(fold::of_text(&self.file), line)
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// What is known about a script, besides its events.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Script {
    /// Scripts are counted as they appear. (Their numbers are used again.)
    pub(crate) serial: u64,
    pub(crate) name: u32,
    pub(crate) owner: u32,
    /// The number of the script that started it.
    pub(crate) parent: u32,
    /// Where it was started.
    pub(crate) place: u32,
}

/// All three tables.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    pub(crate) names: Names,
    pub(crate) places: Places,
    /// By number. Number 0 is the host.
    pub(crate) scripts: Vec<Script>,
    free: Vec<u32>,
    born: u64,
}

impl Tables {
    pub(crate) fn new() -> Self {
        Tables::from_parts(Names::new(), Places::new(), vec![Script::host()])
    }

    pub(crate) fn from_parts(names: Names, places: Places, scripts: Vec<Script>) -> Self {
        Tables {
            names,
            places,
            scripts,
            free: Vec::new(),
            born: 0,
        }
    }

    pub(crate) fn add_script(&mut self) -> u32 {
        self.born += 1;
        let script = Script {
            serial: self.born,
            ..Script::host()
        };
        if let Some(number) = self.free.pop() {
            self.scripts[number as usize] = script;
            number
        } else {
            self.scripts.push(script);
            last(self.scripts.len())
        }
    }

    /// How many scripts there have been.
    pub(crate) fn born(&self) -> u64 {
        self.born
    }

    /// Frees the scripts that are not marked, and the names that are neither marked nor
    /// used by a script. Returns the freed scripts.
    pub(crate) fn sweep(&mut self, scripts: &[bool], mut names: Vec<bool>) -> Vec<u32> {
        let mut is_free = vec![false; self.scripts.len()];
        for &number in &self.free {
            is_free[number as usize] = true;
        }
        let mut freed = Vec::new();
        for (number, script) in self.scripts.iter_mut().enumerate().skip(1) {
            if scripts[number] {
                names[script.name as usize] = true;
                names[script.owner as usize] = true;
            } else if !is_free[number] {
                *script = Script::host();
                freed.push(u32::try_from(number).expect("fewer than four billion scripts"));
            }
        }
        self.free.extend(&freed);
        self.names.sweep(&names);
        freed
    }

    pub(crate) fn bytes(&self) -> usize {
        self.scripts.capacity() * size_of::<Script>() + self.names.bytes()
    }
}

impl Script {
    fn host() -> Self {
        Script {
            serial: 0,
            name: NONE,
            owner: NONE,
            parent: NONE,
            place: NONE,
        }
    }
}
