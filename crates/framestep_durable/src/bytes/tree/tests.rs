#![allow(clippy::option_option, reason = "what other formats lose")]

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::bytes::tree::{DEEPEST, Tree, Unfit};

/// The tree as bytes and as JSON, read again.
fn forms(tree: &Tree) -> [Tree; 3] {
    let json = serde_json::to_string(tree).unwrap();
    let from_json = serde_json::from_str(&json).unwrap();
    let bytes = Tree::from_bytes(&tree.to_bytes()).unwrap();
    let bytes_of_postcard = postcard::to_stdvec(tree).unwrap();
    let from_postcard = postcard::from_bytes(&bytes_of_postcard).unwrap();
    [bytes, from_json, from_postcard]
}

#[track_caller]
fn assert_survives<T: Serialize + DeserializeOwned + Debug>(value: &T) {
    let same = |read: &T| {
        // A NaN is not equal to itself.
        assert_eq!(
            postcard::to_stdvec(read).unwrap(),
            postcard::to_stdvec(value).unwrap(),
            "{read:?} {value:?}"
        );
    };
    let tree = Tree::of(value).unwrap();
    same(&tree.read().unwrap());
    for form in forms(&tree) {
        same(&form.read().unwrap());
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    Unit,
    New(u8),
    Tuple(u8, Option<bool>),
    Struct { a: i64, b: Option<Box<Kind>> },
}

#[derive(Debug, Serialize, Deserialize)]
struct All {
    ints: (i8, u16, i64, u64, i128),
    floats: Vec<(f32, f64)>,
    text: (char, String),
    unit: (),
    nested: Vec<Option<Option<()>>>,
    results: Vec<Result<(), u8>>,
    kinds: Vec<Kind>,
    map: BTreeMap<(u8, bool), Vec<char>>,
    texts: BTreeMap<String, u8>,
    bytes: Blob,
    array: [u8; 3],
}

#[derive(Debug, PartialEq)]
struct Blob(Vec<u8>);

impl Serialize for Blob {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reads;
        impl serde::de::Visitor<'_> for Reads {
            type Value = Blob;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Blob, E> {
                Ok(Blob(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Reads)
    }
}

fn all() -> All {
    let inner = Kind::Struct {
        a: i64::MIN,
        b: Some(Box::new(Kind::Unit)),
    };
    All {
        ints: (i8::MIN, u16::MAX, i64::MIN, u64::MAX, i128::MIN),
        floats: vec![
            (0.1, 0.1),
            (-0.0, -0.0),
            (f32::NAN, f64::NEG_INFINITY),
            (f32::MIN_POSITIVE, f64::MAX),
        ],
        text: ('ß', "\u{0} \"$map\"".into()),
        unit: (),
        nested: vec![None, Some(None), Some(Some(()))],
        results: vec![Ok(()), Err(7)],
        kinds: vec![
            Kind::Unit,
            Kind::New(3),
            Kind::Tuple(4, None),
            Kind::Tuple(4, Some(true)),
            inner,
            Kind::Struct { a: 0, b: None },
        ],
        map: BTreeMap::from([((1, true), vec!['a']), ((2, false), vec![])]),
        texts: BTreeMap::from([("$some".into(), 1)]),
        bytes: Blob(vec![0, 255]),
        array: [1, 2, 3],
    }
}

#[test]
fn each_value_survives_in_each_form() {
    assert_survives(&all());
    assert_survives(&());
    assert_survives(&Some(Some(())));
    assert_survives(&Some(None::<u8>));
    assert_survives(&i128::MAX);
    assert_survives(&(u128::MAX / 2));
    assert_survives(&BTreeMap::from([(i64::MIN, 'x')]));
    assert_survives(&BTreeMap::from([(None, 1), (Some("a".to_owned()), 2)]));
}

#[test]
fn json_looks_like_the_value() {
    #[derive(Serialize)]
    struct Shop {
        coins: u32,
        guest: Option<String>,
        open: Kind,
        price: f32,
    }
    let shop = Shop {
        coins: 3,
        guest: Some("Anna".into()),
        open: Kind::New(1),
        price: 0.1,
    };
    let tree = Tree::of(&shop).unwrap();
    let json = serde_json::to_string(&tree).unwrap();
    let expected = r#"{"coins":3,"guest":"Anna","open":{"New":1},"price":0.1}"#;
    assert_eq!(json, expected);
    let shown = r#"{coins: 3, guest: "Anna", open: {New: 1}, price: 0.1}"#;
    assert_eq!(tree.to_string(), shown);
}

#[test]
fn fields_are_added_removed_renamed_and_made_optional() {
    #[derive(Serialize)]
    struct Old {
        coins: u32,
        name: String,
        gone: Vec<u8>,
        level: u8,
    }
    #[derive(Debug, PartialEq, Deserialize)]
    struct New {
        #[serde(alias = "name")]
        guest: String,
        coins: Option<u64>,
        level: f32,
        #[serde(default)]
        added: Vec<u8>,
    }
    let old = Old {
        coins: 3,
        name: "Anna".into(),
        gone: vec![1],
        level: 2,
    };
    for form in forms(&Tree::of(&old).unwrap()) {
        let new = New {
            guest: "Anna".into(),
            coins: Some(3),
            level: 2.0,
            added: vec![],
        };
        assert_eq!(form.read(), Ok(new));
        // A migration may name the old fields, or read them in their order.
        let fields: (u32, String, Vec<u8>, u8) = form.read().unwrap();
        assert_eq!(fields, (3, "Anna".into(), vec![1], 2));
        assert!(form.read::<(u32, String)>().is_err());
    }
}

#[test]
fn a_struct_gains_its_first_field_and_loses_its_last_one() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Bare;
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Dressed {
        #[serde(default)]
        hats: u8,
    }
    for form in forms(&Tree::of(&Bare).unwrap()) {
        assert_eq!(form.read(), Ok(Dressed { hats: 0 }));
    }
    for form in forms(&Tree::of(&Dressed { hats: 2 }).unwrap()) {
        assert_eq!(form.read(), Ok(Bare));
    }
    // An option that is one no more.
    for form in forms(&Tree::of(&Some(5_u8)).unwrap()) {
        assert_eq!(form.read(), Ok(5_u8));
        assert_eq!(form.read(), Ok((5_u8,)));
    }
}

#[test]
fn a_value_of_another_type_is_an_error_that_says_so() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Shop {
        coins: u8,
    }
    #[derive(Debug, PartialEq, Deserialize)]
    struct Guests {
        guests: u8,
    }
    let tree = Tree::of(&BTreeMap::from([("coins", 300)])).unwrap();
    let error = tree.read::<Shop>().unwrap_err().to_string();
    assert_eq!(error, "invalid value: integer `300`, expected u8");
    let error = tree.read::<Guests>().unwrap_err().to_string();
    assert_eq!(error, "missing field `guests`");
    // A list is not read as a struct by the order of its fields.
    let list = Tree::of(&vec![3_u8]).unwrap();
    assert!(list.read::<Shop>().is_err());
    assert!(Tree::of(&u128::MAX).is_err());
}

#[test]
fn damaged_bytes_are_refused() {
    let bytes = Tree::of(&all()).unwrap().to_bytes();
    for len in 0..bytes.len() {
        assert_eq!(Tree::from_bytes(&bytes[..len]), None, "{len}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(Tree::from_bytes(&longer), None);
    // A length of 2^60, a number of 129 bits, a text that is not UTF-8.
    assert_eq!(
        Tree::from_bytes(&[11, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]),
        None
    );
    let mut long = vec![0xFF_u8; 20];
    long[0] = 5;
    long[19] = 7;
    assert_eq!(Tree::from_bytes(&long), None);
    assert_eq!(Tree::from_bytes(&[9, 1, 0xFF]), None);
}

#[test]
fn what_is_nested_too_deep_is_refused_in_each_form() {
    let nested = |depth: usize| {
        let mut bytes = vec![2; depth];
        bytes.push(0);
        Tree::from_bytes(&bytes)
    };
    assert!(nested(DEEPEST as usize).is_some());
    assert_eq!(nested(DEEPEST as usize + 1), None);
    assert_eq!(nested(1 << 20), None);
    let json = "[".repeat(120) + &"]".repeat(120);
    assert!(serde_json::from_str::<Tree>(&json).is_err());

    let mut kind = Kind::Unit;
    for _ in 0..DEEPEST {
        kind = Kind::Struct {
            a: 0,
            b: Some(Box::new(kind)),
        };
    }
    let error = Tree::of(&kind).unwrap_err().to_string();
    assert_eq!(error, "it is nested more than 100 levels deep");
}

/// Reads the first entry of a map, and leaves the others.
struct First;

impl<'de> Deserialize<'de> for First {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reads;

        impl<'de> serde::de::Visitor<'de> for Reads {
            type Value = First;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<First, A::Error> {
                map.next_entry::<String, u32>()?;
                Ok(First)
            }
        }

        deserializer.deserialize_map(Reads)
    }
}

#[test]
fn what_is_left_of_a_sequence_or_a_map_is_an_error() {
    let why = |unfit: Unfit| unfit.to_string();
    let tree = Tree::of(&(1, 2, 3)).unwrap();
    let short = tree.read::<(u32, u32)>().map_err(why);
    assert_eq!(short.unwrap_err(), "invalid length 3, expected 2 elements");
    let tree = |entries: &[(&str, u32)]| {
        let map: BTreeMap<_, _> = entries.iter().copied().collect();
        Tree::of(&map).unwrap()
    };
    assert!(tree(&[("a", 1)]).read::<First>().is_ok());
    let two = tree(&[("a", 1), ("b", 2)]).read::<First>();
    let unfit = two.err().map(why);
    assert_eq!(unfit.unwrap(), "invalid length 2, expected 1 elements");
}
