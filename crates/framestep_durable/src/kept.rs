//! The images of scripts in save states, which share those of scripts that have not changed.

use std::cell::OnceCell;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::Bytes;
use crate::content::Content;
use crate::hash::StableHash;
use crate::image::{ScriptImage, SlotImage};
use crate::site::Sites;

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
