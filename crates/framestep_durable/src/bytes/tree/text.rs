//! A tree in a format that people read, such as JSON: as the value itself would appear. What such a
//! format does not have is a map with one entry, whose key says what it is.

use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserializer, Serialize, Serializer};

use crate::bytes::tree::{DEEPEST, Tree};

/// A `Some` of what is itself nothing.
const SOME: &str = "$some";
/// A number of more than 64 bits, as a text.
const INT: &str = "$int";
/// The bits of a number that is not finite.
const F32: &str = "$f32";
const F64: &str = "$f64";
const BYTES: &str = "$bytes";
/// A map with keys that are not texts, or that looks like one of these: a list of pairs.
const MAP: &str = "$map";

/// Writes a tree.
pub(super) struct Shown<'a>(pub(super) &'a Tree);

fn shown<'a>(items: impl Iterator<Item = &'a Tree>) -> Vec<Shown<'a>> {
    items.map(Shown).collect()
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn special<S: Serializer>(
            serializer: S,
            key: &str,
            content: &impl Serialize,
        ) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(Some(1))?;
            map.serialize_entry(key, content)?;
            map.end()
        }
        match self.0 {
            Tree::Unit | Tree::None => serializer.serialize_unit(),
            Tree::Some(tree) => match **tree {
                Tree::Unit | Tree::None | Tree::Some(_) => special(serializer, SOME, &Shown(tree)),
                _ => Shown(tree).serialize(serializer),
            },
            Tree::Bool(value) => serializer.serialize_bool(*value),
            Tree::Int(value) => {
                if let Ok(value) = u64::try_from(*value) {
                    serializer.serialize_u64(value)
                } else if let Ok(value) = i64::try_from(*value) {
                    serializer.serialize_i64(value)
                } else {
                    special(serializer, INT, &value.to_string())
                }
            }
            Tree::F32(value) if value.is_finite() => serializer.serialize_f32(*value),
            Tree::F32(value) => special(serializer, F32, &value.to_bits()),
            Tree::F64(value) if value.is_finite() => serializer.serialize_f64(*value),
            Tree::F64(value) => special(serializer, F64, &value.to_bits()),
            Tree::Text(value) => serializer.serialize_str(value),
            Tree::Bytes(value) => special(serializer, BYTES, value),
            Tree::Seq(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(&Shown(item))?;
                }
                list.end()
            }
            Tree::Map(entries) => {
                if !has_plain_keys(entries) {
                    let pairs = entries
                        .iter()
                        .map(|(key, value)| shown([key, value].into_iter()));
                    return special(serializer, MAP, &pairs.collect::<Vec<_>>());
                }
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(&Shown(key), &Shown(value))?;
                }
                map.end()
            }
        }
    }
}

/// Whether a map appears as itself.
fn has_plain_keys(entries: &[(Tree, Tree)]) -> bool {
    let is_text = |(key, _): &(Tree, Tree)| matches!(key, Tree::Text(_));
    let is_special = match entries {
        [(Tree::Text(key), _)] => key.starts_with('$'),
        _ => false,
    };
    entries.iter().all(is_text) && !is_special
}

/// Reads a tree.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Tree, D::Error> {
    Reads { depth: 0 }.deserialize(deserializer)
}

#[derive(Clone, Copy)]
struct Reads {
    depth: u32,
}

impl Reads {
    fn below<E: serde::de::Error>(self) -> Result<Self, E> {
        if self.depth > DEEPEST {
            return Err(E::custom("a value is nested too deep"));
        }
        let depth = self.depth + 1;
        Ok(Reads { depth })
    }
}

impl<'de> DeserializeSeed<'de> for Reads {
    type Value = Tree;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reads {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::None)
    }

    fn visit_none<E>(self) -> Result<Tree, E> {
        Ok(Tree::None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        self.below()?.deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Int(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Int(value.into()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Tree, E> {
        Ok(Tree::Int(value))
    }

    fn visit_f32<E>(self, value: f32) -> Result<Tree, E> {
        Ok(Tree::F32(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::F64(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Tree, E> {
        Ok(Tree::Text(value))
    }

    fn visit_bytes<E>(self, value: &[u8]) -> Result<Tree, E> {
        Ok(Tree::Bytes(value.to_vec()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
        let below = self.below()?;
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(below)? {
            items.push(item);
        }
        Ok(Tree::Seq(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let below = self.below()?;
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry_seed(below, below)? {
            entries.push(entry);
        }
        match special(&entries) {
            Special::No => Ok(Tree::Map(entries)),
            Special::Is(tree) => Ok(tree),
            Special::Damaged(key) => {
                let why = format!("a `{key}` with another content");
                Err(A::Error::custom(why))
            }
        }
    }
}

enum Special<'a> {
    No,
    Is(Tree),
    Damaged(&'a str),
}

/// What a map is if it is not a map.
fn special(entries: &[(Tree, Tree)]) -> Special<'_> {
    let [(Tree::Text(key), content)] = entries else {
        return Special::No;
    };
    if !key.starts_with('$') {
        return Special::No;
    }
    special_of(key, content).map_or(Special::Damaged(key), Special::Is)
}

fn special_of(key: &str, content: &Tree) -> Option<Tree> {
    match (key, content) {
        (SOME, tree) => Some(Tree::Some(Box::new(tree.clone()))),
        (INT, Tree::Text(number)) => Some(Tree::Int(number.parse().ok()?)),
        (F32, tree) => Some(Tree::F32(f32::from_bits(tree.read().ok()?))),
        (F64, tree) => Some(Tree::F64(f64::from_bits(tree.read().ok()?))),
        (BYTES, tree) => Some(Tree::Bytes(tree.read().ok()?)),
        (MAP, Tree::Seq(pairs)) => {
            let pair = |pair: &Tree| match pair {
                Tree::Seq(pair) => match &pair[..] {
                    [key, value] => Some((key.clone(), value.clone())),
                    _ => None,
                },
                _ => None,
            };
            Some(Tree::Map(pairs.iter().map(pair).collect::<Option<_>>()?))
        }
        _ => None,
    }
}
