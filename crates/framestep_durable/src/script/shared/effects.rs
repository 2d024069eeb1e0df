//! Hashes of the lent states around each effect, to find the first one that peers do differently.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ids::{NamedScript, ScriptId};
use crate::journal::{Kind, SiteId, Sites, said_at};

/// How many effects are known.
const KEPT: usize = 4_096;

/// An effect that a script has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    pub(crate) script: ScriptId,
    pub(crate) name: Arc<str>,
    /// The number of its entry, from 1.
    pub(crate) entry: u32,
    /// [What](crate::journal::site::Site::what) it is, without its line.
    what: u32,
    /// The same as text, with its line.
    pub(crate) text: Arc<str>,
    /// The hash of the lent states before it, and after it.
    pub(crate) hashes: [u64; 2],
}

impl Effect {
    /// Whether both are the same, with the same states. Builds may differ in lines.
    pub(crate) fn is_like(&self, other: &Effect) -> bool {
        self.is_same_call(other) && self.hashes == other.hashes
    }

    pub(crate) fn is_same_call(&self, other: &Effect) -> bool {
        let call = |of: &Effect| (of.script, of.entry, of.what);
        call(self) == call(other)
    }
}

/// The latest effects of all scripts, in the order in which they ended. A copy is a reference: only a
/// change while there is another copy copies the list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    latest: Arc<VecDeque<Effect>>,
    /// How many there have been before them.
    earlier: u64,
}

impl Effects {
    pub(crate) fn push(&mut self, effect: Effect) {
        let latest = Arc::make_mut(&mut self.latest);
        if latest.len() == KEPT {
            latest.pop_front();
            self.earlier += 1;
        }
        latest.push_back(effect);
    }

    /// The first effect that differs in two games, among those that both know. `None` of one that has not
    /// come so far.
    pub(crate) fn first_difference<'a>(
        &'a self,
        other: &'a Effects,
    ) -> Option<[Option<&'a Effect>; 2]> {
        if self.latest.is_empty() || other.latest.is_empty() {
            // One of the games does not hash them.
            return None;
        }
        let first = self.earlier.max(other.earlier);
        let ends = [self, other].map(|it| it.earlier + it.latest.len() as u64);
        let at = |of: &'a Effects, number: u64| {
            let at = usize::try_from(number.checked_sub(of.earlier)?).ok()?;
            of.latest.get(at)
        };
        (first..ends[0].max(ends[1])).find_map(|number| {
            let pair = [at(self, number), at(other, number)];
            let is_like = matches!(pair, [Some(one), Some(other)] if one.is_like(other));
            (!is_like).then_some(pair)
        })
    }
}

impl Serialize for Effects {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.earlier, serialized(&self.latest)).serialize(serializer)
    }
}

/// An effect as it is serialised.
type Parts<T> = (ScriptId, T, u32, u32, T, [u64; 2]);

fn serialized(effects: &VecDeque<Effect>) -> Vec<Parts<&str>> {
    let effects = effects.iter().map(|effect| {
        let (name, text) = (&*effect.name, &*effect.text);
        (
            effect.script,
            name,
            effect.entry,
            effect.what,
            text,
            effect.hashes,
        )
    });
    effects.collect()
}

impl<'de> Deserialize<'de> for Effects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (earlier, latest) = <(u64, Vec<Parts<String>>)>::deserialize(deserializer)?;
        let latest = latest
            .into_iter()
            .map(|(script, name, entry, what, text, hashes)| Effect {
                script,
                name: name.into(),
                entry,
                what,
                text: text.into(),
                hashes,
            });
        // A damaged file must not make a number overflow.
        let earlier = earlier.min(u64::MAX / 2);
        let latest = Arc::new(latest.collect());
        Ok(Effects { latest, earlier })
    }
}

/// Hashes the effects of a runtime.
#[derive(Default)]
pub(crate) struct Hashing {
    effects: Effects,
    /// The effects under way, by script and entry, with the hash before each. One may start a script that
    /// does others.
    begun: Vec<(ScriptId, u32, u64)>,
    /// What is said about each call.
    texts: HashMap<(bool, SiteId), Arc<str>>,
}

impl Hashing {
    pub(crate) fn effects(&self) -> Effects {
        self.effects.clone()
    }

    /// Goes back to the effects of a save state.
    pub(crate) fn replace(&mut self, effects: Effects) {
        self.effects = effects;
        self.begun.clear();
    }

    /// Notes that an effect is about to be done.
    pub(crate) fn begin(&mut self, script: ScriptId, entry: u32, hash: u64) {
        self.begun.push((script, entry, hash));
    }

    /// Notes that an effect has been done.
    pub(crate) fn end(
        &mut self,
        script: NamedScript,
        sites: &Sites,
        entry: u32,
        kind: Kind,
        site: SiteId,
        hash: u64,
    ) {
        let is_it = |(of, number, _): &(ScriptId, u32, u64)| (*of, *number) == (script.id, entry);
        let Some(at) = self.begun.iter().rposition(is_it) else {
            return;
        };
        // Those above it have ended with their scripts.
        let before = self.begun[at].2;
        self.begun.truncate(at);
        let text = self.texts.entry((kind == Kind::Effect, site));
        let text = text.or_insert_with(|| said_at(kind, site, sites).into());
        self.effects.push(Effect {
            script: script.id,
            name: script.name.into(),
            entry,
            what: sites.what(site),
            text: Arc::clone(text),
            hashes: [before, hash],
        });
    }
}
