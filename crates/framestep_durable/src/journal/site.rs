//! Sites: which call of a script an entry or a wait is, what it is for, and where it is.
//!
//! A runtime numbers the sites that its scripts reach. Journals hold the numbers. A file has a
//! table of its own, with the sites that its journals need, in the order in which they need them:
//! so the same state makes the same file, whatever the runtime has run before.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::rc::Rc;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::Mark;
use crate::bytes::hash::{FNV, fnv};
use crate::places::note::{self, Here};

/// A call as the code of a script makes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    /// What is called: `wait_seconds()`.
    pub(crate) function: &'static str,
    /// The name of the signal, the value, the question or the script that it is for. Empty for
    /// other calls.
    pub(crate) name: &'static str,
    pub(crate) at: &'static Location<'static>,
    /// The function of the game that makes the call, as far as it is known. Else empty.
    pub(crate) within: &'static str,
    /// Whether the script needs what an effect returns.
    pub(crate) gives: bool,
    /// How the value of the entry describes itself.
    pub(crate) mark: Option<Mark>,
    /// How what the runtime stores under the name describes itself.
    pub(crate) stored: Option<Mark>,
}

impl Call {
    #[inline]
    #[track_caller]
    pub(crate) fn new(function: &'static str, name: &'static str) -> Self {
        Call::at(function, name, Location::caller())
    }

    #[inline]
    pub(crate) fn at(
        function: &'static str,
        name: &'static str,
        at: &'static Location<'static>,
    ) -> Self {
        Call {
            function,
            name,
            at,
            within: "",
            gives: true,
            mark: None,
            stored: None,
        }
    }

    /// A call about a signal or a value of this type.
    pub(crate) fn about<T: Serialize + DeserializeOwned>(self) -> Self {
        Call {
            stored: Some(Mark::of::<T>()),
            ..self
        }
    }

    /// An effect that returns nothing, or a value of this type.
    pub(crate) fn giving<R: Serialize + DeserializeOwned>(self) -> Self {
        let gives = size_of::<R>() != 0;
        Call {
            gives,
            mark: if gives { Some(Mark::of::<R>()) } else { None },
            ..self
        }
    }
}

/// The number of a site in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct SiteId(pub(crate) u32);

impl SiteId {
    /// The largest number: entries of journals have 28 bits for it.
    pub(crate) const MOST: u32 = (1 << 28) - 1;
}

/// A site with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) id: SiteId,
    /// The hash of [what](Site::what) it is.
    pub(crate) what: u32,
}

/// A site.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// The function and the name of a [`Call`].
    pub(crate) call: Rc<str>,
    pub(crate) name: Rc<str>,
    pub(crate) file: Rc<str>,
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// The statement of the script that makes the call, or whose helpers do. 0 if it is not known.
    pub(crate) place: u32,
    /// The hash of the label of the item of a list, or 0.
    pub(crate) label: u32,
    /// How its values describe themselves, and what is stored under its name. Not of a file.
    pub(crate) mark: Option<Mark>,
    pub(crate) stored: Option<Mark>,
    /// A hash of `call` and `name`: the same in all builds and on all machines.
    pub(crate) what: u32,
}

impl Site {
    fn new(call: &str, name: &str, file: &str, at: [u32; 2], here: Here) -> Self {
        let [line, column] = at;
        Site {
            what: fnv(call.as_bytes(), fnv(&[0xFF], fnv(name.as_bytes(), FNV))),
            call: call.into(),
            name: name.into(),
            file: file.into(),
            line,
            column,
            place: note::number_of(here),
            label: note::label_of(here),
            mark: None,
            stored: None,
        }
    }

    /// Whether both are the same call, for the same thing.
    pub(crate) fn is_like(&self, other: &Site) -> bool {
        (self.what, &self.call, &self.name) == (other.what, &other.call, &other.name)
    }
}

impl Site {
    /// What makes a site the one that it is: not how its values describe themselves.
    fn key(&self) -> ([&str; 3], [u32; 5]) {
        let Site {
            call,
            name,
            file,
            line,
            column,
            place,
            label,
            what,
            mark: _,
            stored: _,
        } = self;
        ([call, name, file], [*line, *column, *place, *label, *what])
    }
}

impl PartialEq for Site {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Site {}

impl Hash for Site {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

/// A table of sites. Those of a runtime and of its save states differ only in length.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sites {
    list: Rc<Vec<Site>>,
    /// The same for the table of a runtime and those of its save states.
    lineage: Rc<()>,
}

impl Sites {
    pub(crate) fn get(&self, site: SiteId) -> Option<&Site> {
        self.list.get(site.0 as usize)
    }

    /// The sites, in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Site> {
        self.list.iter()
    }

    /// The hash of what a site is.
    pub(crate) fn what(&self, site: SiteId) -> u32 {
        self.get(site).map_or(0, |site| site.what)
    }

    /// How what is stored under a name describes itself, as far as a call has said it.
    pub(crate) fn stored(&self, name: &str) -> Option<Mark> {
        let of_key = |site: &&Site| {
            let rest = name.strip_prefix(&*site.name);
            site.stored.is_some()
                && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
        };
        self.list.iter().find(of_key)?.stored
    }

    /// Puts back what [`Site::mark`] and [`Site::stored`] were, in their order.
    pub(crate) fn set_marks(&mut self, marks: &[[Option<Mark>; 2]]) {
        for (site, mark) in Rc::make_mut(&mut self.list).iter_mut().zip(marks) {
            [site.mark, site.stored] = *mark;
        }
    }

    /// A site of this number. `None` if there is none.
    pub(crate) fn known(&self, id: SiteId) -> Option<Known> {
        let what = self.get(id)?.what;
        Some(Known { id, what })
    }

    /// Whether the numbers of both mean the same.
    pub(crate) fn is_of(&self, other: &Sites) -> bool {
        Rc::ptr_eq(&self.lineage, &other.lineage)
    }

    /// The file and the line of a site.
    pub(crate) fn place(&self, site: SiteId) -> String {
        match self.get(site) {
            Some(site) => format!("{}:{}", site.file, site.line),
            None => "?".to_owned(),
        }
    }
}

/// The sites of a table that are needed, numbered anew in the order in which they are asked for.
pub(crate) struct Needed<'a> {
    all: &'a Sites,
    numbers: Vec<Option<SiteId>>,
    sites: Sites,
}

impl<'a> Needed<'a> {
    pub(crate) fn of(all: &'a Sites) -> Self {
        Needed {
            all,
            numbers: vec![None; all.list.len()],
            sites: Sites::default(),
        }
    }

    /// The site with its new number. `None` if there is no such site.
    pub(crate) fn number(&mut self, site: SiteId) -> Option<Known> {
        let number = self.numbers.get_mut(site.0 as usize)?;
        let what = self.all.get(site)?.what;
        if number.is_none() {
            let next = u32::try_from(self.sites.list.len()).ok()?;
            Rc::make_mut(&mut self.sites.list).push(self.all.get(site)?.clone());
            *number = Some(SiteId(next));
        }
        number.map(|id| Known { id, what })
    }

    pub(crate) fn into_sites(self) -> Sites {
        self.sites
    }
}

/// The table of a runtime.
#[derive(Default)]
pub(crate) struct SiteTable {
    sites: RefCell<Sites>,
    by_call: RefCell<Calls>,
    by_content: RefCell<HashMap<Site, SiteId>>,
}

impl SiteTable {
    /// The site of a call.
    #[inline]
    pub(crate) fn of(&self, call: &Call) -> Known {
        let key = CallKey::of(call);
        let known = self.by_call.borrow().get(&key);
        known.unwrap_or_else(|| self.add(key, call))
    }

    #[cold]
    #[inline(never)]
    fn add(&self, key: CallKey, call: &Call) -> Known {
        let at = [call.at.line(), call.at.column()];
        let mut site = Site::new(call.function, call.name, call.at.file(), at, key.here);
        (site.mark, site.stored) = (call.mark, call.stored);
        let known = Known {
            id: self.number(&site),
            what: site.what,
        };
        self.by_call.borrow_mut().insert(key, known);
        known
    }

    /// The number of a site.
    pub(crate) fn number(&self, site: &Site) -> SiteId {
        if let Some(&known) = self.by_content.borrow().get(site) {
            if site.mark.is_some() || site.stored.is_some() {
                // Of a file, it has been without.
                let mut sites = self.sites.borrow_mut();
                let known = &mut Rc::make_mut(&mut sites.list)[known.0 as usize];
                (known.mark, known.stored) = (site.mark, site.stored);
            }
            return known;
        }
        let mut sites = self.sites.borrow_mut();
        let number = u32::try_from(sites.list.len()).unwrap_or(u32::MAX);
        assert!(number <= SiteId::MOST, "fewer than 2^28 sites");
        Rc::make_mut(&mut sites.list).push(site.clone());
        let number = SiteId(number);
        self.by_content.borrow_mut().insert(site.clone(), number);
        number
    }

    /// All sites so far.
    pub(crate) fn sites(&self) -> Sites {
        self.sites.borrow().clone()
    }
}

/// The addresses and lengths of what a call consists of: for the same call, they are nearly always
/// the same.
#[derive(Clone, Copy, PartialEq, Eq)]
struct CallKey {
    at: usize,
    function: usize,
    name: usize,
    lengths: [usize; 2],
    here: Here,
}

impl CallKey {
    #[inline]
    fn of(call: &Call) -> Self {
        CallKey {
            at: std::ptr::from_ref(call.at).addr(),
            function: call.function.as_ptr().addr(),
            name: call.name.as_ptr().addr(),
            lengths: [call.function, call.name].map(str::len),
            here: note::here(),
        }
    }

    /// A number that hardly ever is that of another call.
    #[inline]
    fn hash(&self) -> usize {
        // Nobody chooses addresses. The multiplication mixes towards the upper bits.
        let mixed = (self.at ^ self.name.rotate_left(16)) as u64 ^ self.here.rotate_left(24);
        (mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize
    }
}

/// Sites by calls: a table with open addresses, which only grows. Each wait and effect looks here.
#[derive(Default)]
struct Calls {
    /// A power of two of places, of which at most half are taken.
    places: Vec<Option<(CallKey, Known)>>,
    taken: usize,
}

impl Calls {
    #[inline]
    fn get(&self, key: &CallKey) -> Option<Known> {
        let mask = self.places.len().wrapping_sub(1);
        let mut at = key.hash() & mask;
        // An empty table has no place, and a place that is free ends the search.
        while let Some((known, site)) = self.places.get(at)? {
            if known == key {
                return Some(*site);
            }
            at = (at + 1) & mask;
        }
        None
    }

    fn insert(&mut self, key: CallKey, site: Known) {
        if self.taken * 2 >= self.places.len() {
            let more = vec![None; (self.places.len() * 2).max(16)];
            let earlier = std::mem::replace(&mut self.places, more);
            earlier.into_iter().flatten().for_each(|it| self.put(it));
        }
        self.put((key, site));
        self.taken += 1;
    }

    fn put(&mut self, it: (CallKey, Known)) {
        let mask = self.places.len() - 1;
        let mut at = it.0.hash() & mask;
        while self.places[at].is_some() {
            at = (at + 1) & mask;
        }
        self.places[at] = Some(it);
    }
}

/// A table in a file: texts, and sites by the numbers of their texts.
#[derive(Serialize, Deserialize)]
struct SitesImage {
    files: Vec<String>,
    /// Calls, and what they are for.
    names: Vec<String>,
    sites: Vec<SiteImage>,
}

#[derive(Serialize, Deserialize)]
struct SiteImage {
    call: u32,
    name: u32,
    file: u32,
    line: u32,
    column: u32,
    place: u32,
    label: u32,
}

/// Numbers texts in the order in which they come.
#[derive(Default)]
struct Texts<'a> {
    numbers: HashMap<&'a str, u32>,
    texts: Vec<String>,
}

impl<'a> Texts<'a> {
    fn number(&mut self, text: &'a str) -> u32 {
        *self.numbers.entry(text).or_insert_with(|| {
            self.texts.push(text.to_owned());
            u32::try_from(self.texts.len() - 1).expect("fewer than 2^32 texts")
        })
    }
}

impl Serialize for Sites {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (mut files, mut names) = (Texts::default(), Texts::default());
        let sites = self.list.iter().map(|site| SiteImage {
            call: names.number(&site.call),
            name: names.number(&site.name),
            file: files.number(&site.file),
            line: site.line,
            column: site.column,
            place: site.place,
            label: site.label,
        });
        let sites = sites.collect();
        let (files, names) = (files.texts, names.texts);
        SitesImage {
            files,
            names,
            sites,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Sites {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let image = SitesImage::deserialize(deserializer)?;
        let text = |texts: &'_ [String], at: u32| texts.get(at as usize).cloned();
        let site = |site: &SiteImage| {
            let call = text(&image.names, site.call)?;
            let name = text(&image.names, site.name)?;
            let file = text(&image.files, site.file)?;
            let here = note::joined(site.place, site.label);
            Some(Site::new(
                &call,
                &name,
                &file,
                [site.line, site.column],
                here,
            ))
        };
        let list: Option<Vec<_>> = image.sites.iter().map(site).collect();
        Ok(Sites {
            list: Rc::new(list.ok_or_else(|| D::Error::custom("a site has no such text"))?),
            lineage: Rc::default(),
        })
    }
}

/// What a script waits for.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct NamedWait {
    pub(crate) number: u32,
    pub(crate) site: SiteId,
}
