//! The images of scripts in save states, which share those of scripts that have not changed.

use std::cell::OnceCell;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::Bytes;
use crate::hash::Hash;
use crate::image::ScriptImage;
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
            Bytes::of(&(&of.state, &of.once, begins, &of.waits))
        };
        self.journal.is(&other.journal) && content(self) == content(other)
    }

    /// A hash of the image, without the lines of its calls. `sites` has the sites that it names.
    pub(crate) fn hash(&self, sites: &Sites) -> u64 {
        *self.0.hash.get_or_init(|| hash_of(&self.0.image, sites))
    }
}

fn hash_of(script: &ScriptImage, sites: &Sites) -> u64 {
    // What a site is, without its place.
    let waits = script.waits.iter().map(|wait| {
        let named = wait.named;
        (named.number, sites.what(named.site), &wait.slot)
    });
    let waits: Vec<_> = waits.collect();
    let content = postcard::to_stdvec(&(
        (script.id, &script.name, script.version),
        (script.home, script.owner),
        (&script.state, &script.once, script.has_begun),
        (script.restarts_after_wait, waits),
        script.journal.hash().finish(),
    ));
    let mut hash = Hash::new();
    hash.add_bytes(&content.expect("an image serialises"));
    hash.finish()
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
