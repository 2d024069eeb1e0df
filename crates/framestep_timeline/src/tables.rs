//! The names, places and scripts that the numbers in the records refer to.

use std::collections::{BTreeMap, HashMap};
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

    /// A name that is found by its number only, because it has the same text as another one.
    fn add_twin(&mut self, text: &str, hash: u64) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.texts.push(Arc::from(""));
            self.hashes.push(0);
            last(self.texts.len())
        });
        self.texts[number as usize] = Arc::from(text);
        self.hashes[number as usize] = hash;
        number
    }

    fn free_twin(&mut self, number: u32) {
        self.texts[number as usize] = Arc::from("");
        self.free.push(number);
    }

    /// How many are in use.
    pub(crate) fn used(&self) -> usize {
        self.texts.len() - self.free.len()
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

    /// Whether it is a line of the program itself, not of a crate from elsewhere.
    pub(crate) fn is_own(&self, number: u32) -> bool {
        let place = self.get(number);
        place.is_some_and(|place| elsewhere(&place.file).is_none())
    }
}

/// The file in a crate from a registry, from a repository or from the toolchain, which begins
/// with the name of the crate: `futures-core-0.3.34/src/stream.rs`. `None` for other files.
fn elsewhere(file: &str) -> Option<&str> {
    let is_slash = |character| character == '/' || character == '\\';
    // How many folders are between these and the crate.
    let roots: [(&[&str], usize); 4] = [
        (&["registry", "src"], 1),
        (&["git", "checkouts"], 0),
        (&["rustlib", "src", "rust", "library"], 0),
        (&["rustc"], 2),
    ];
    for (root, between) in roots {
        let mut rest = file;
        while let Some(at) = rest.find(root[0]) {
            let mut parts = rest[at..].splitn(root.len() + between + 1, is_slash);
            let begins = at == 0 || rest[..at].ends_with(is_slash);
            if begins && root.iter().all(|part| parts.next() == Some(part)) {
                return parts.nth(between);
            }
            rest = &rest[at + root[0].len()..];
        }
    }
    None
}

impl Place {
    fn hash(&self) -> u64 {
        let line = u64::from(self.line) << 32 | u64::from(self.column);
        fold::mix(fold::of_text(&self.file), line)
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let file = elsewhere(&self.file).unwrap_or(&self.file);
        write!(f, "{file}:{}:{}", self.line, self.column)
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

/// What is known about a signal, a watch or a semaphore with a name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// The number that stands for it in records, as that of a name.
    pub(crate) number: u32,
    /// Its name, which others may have as well.
    pub(crate) base: u32,
    /// Those of one name are counted from 1.
    pub(crate) twin: u32,
    /// The line that has named it.
    pub(crate) place: u32,
    pub(crate) frame: Option<u64>,
    /// The script that has named it.
    pub(crate) by: Option<String>,
    pub(crate) is_signal: bool,
}

/// What a sweep has freed.
#[derive(Debug, Default)]
pub(crate) struct Swept {
    pub(crate) scripts: Vec<u32>,
    pub(crate) has_sources: bool,
}

/// All tables.
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    pub(crate) names: Names,
    pub(crate) places: Places,
    /// By number. Number 0 is the host.
    pub(crate) scripts: Vec<Script>,
    /// By the number that stands for it.
    pub(crate) sources: BTreeMap<u32, Origin>,
    /// How many sources of a name there have been.
    twins: HashMap<u32, u32, BuildFold>,
    free: Vec<u32>,
    born: u64,
}

impl Tables {
    pub(crate) fn new() -> Self {
        Tables::from_parts(
            Names::new(),
            Places::new(),
            vec![Script::host()],
            BTreeMap::new(),
        )
    }

    pub(crate) fn from_parts(
        names: Names,
        places: Places,
        scripts: Vec<Script>,
        sources: BTreeMap<u32, Origin>,
    ) -> Self {
        let mut twins: HashMap<u32, u32, BuildFold> = HashMap::default();
        for origin in sources.values() {
            let most = twins.entry(origin.base).or_default();
            *most = origin.twin.max(*most);
        }
        Tables {
            names,
            places,
            scripts,
            sources,
            twins,
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

    /// Adds a signal, a watch or a semaphore. Returns the number that stands for it.
    pub(crate) fn add_source(&mut self, mut origin: Origin) -> u32 {
        let twins = self.twins.entry(origin.base).or_default();
        *twins += 1;
        origin.twin = *twins;
        let text = self.names.get(origin.base).to_owned();
        // The same in every run, because they are counted as they appear.
        let hash = fold::mix(self.names.hash(origin.base), u64::from(origin.twin));
        origin.number = self.names.add_twin(&text, hash);
        let number = origin.number;
        self.sources.insert(number, origin);
        number
    }

    /// Which one of its name a source is, if there are several.
    pub(crate) fn twin(&self, number: u32) -> Option<u32> {
        let origin = self.sources.get(&number)?;
        let most = self.twins.get(&origin.base).copied().unwrap_or(1);
        (most > 1).then_some(origin.twin)
    }

    pub(crate) fn has_source(&self, number: u32) -> bool {
        self.sources.contains_key(&number)
    }

    /// The name of a source, by the number that stands for it.
    pub(crate) fn base(&self, number: u32) -> u32 {
        self.sources
            .get(&number)
            .map_or(number, |origin| origin.base)
    }

    /// How many scripts there have been.
    pub(crate) fn born(&self) -> u64 {
        self.born
    }

    /// Frees the scripts that are not marked, and the names that are neither marked nor
    /// used by a script. Returns the freed scripts.
    pub(crate) fn sweep(&mut self, scripts: &[bool], mut names: Vec<bool>) -> Swept {
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
        let before = self.sources.len();
        let texts = &mut self.names;
        self.sources.retain(|number, origin| {
            let is_needed = names[*number as usize];
            if is_needed {
                names[origin.base as usize] = true;
            } else {
                texts.free_twin(*number);
            }
            is_needed
        });
        self.names.sweep(&names);
        self.twins.retain(|base, _| names[*base as usize]);
        Swept {
            scripts: freed,
            has_sources: self.sources.len() < before,
        }
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

#[cfg(test)]
mod tests {
    use super::elsewhere;

    #[test]
    fn a_file_of_another_crate_begins_with_the_name_of_the_crate() {
        for (file, short) in [
            (
                "/home/x/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/a-0.3.1/src/b.rs",
                "a-0.3.1/src/b.rs",
            ),
            (
                "C:\\x\\registry\\src\\index-0\\a-1.0.0\\src\\b.rs",
                "a-1.0.0\\src\\b.rs",
            ),
            (
                "cargo/git/checkouts/a-09ab/77c/src/b.rs",
                "a-09ab/77c/src/b.rs",
            ),
            ("/rustc/5980/library/core/src/b.rs", "core/src/b.rs"),
            (
                "/t/lib/rustlib/src/rust/library/core/src/b.rs",
                "core/src/b.rs",
            ),
        ] {
            assert_eq!(elsewhere(file), Some(short));
        }
        for file in [
            "src/door.rs",
            "/game/src/registry/src.rs",
            "/game/my_registry/src/a/b/c.rs",
            "rustc",
            "",
        ] {
            assert_eq!(elsewhere(file), None, "{file}");
        }
    }
}
