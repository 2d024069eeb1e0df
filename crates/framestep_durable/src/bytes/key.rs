//! Keys as text. The text of a number does not depend on its type, so `of(3_u8)` and `of(3_i64)`
//! are the same. A newtype has the text of its content, so an id has that of its number.

use std::fmt::{self, Display, Write as _};

use serde::ser::{
    Error as _, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant,
};
use serde::{Serialize, Serializer};

/// Appends the text of a key.
pub(crate) fn write<Q: Serialize + ?Sized>(key: &Q, out: &mut String) -> Result<(), NoText> {
    key.serialize(Text { out })
}

/// Why a key has no text.
#[derive(Debug)]
pub(crate) struct NoText(String);

impl Display for NoText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoText {}

impl serde::ser::Error for NoText {
    fn custom<T: Display>(message: T) -> Self {
        NoText(message.to_string())
    }
}

struct Text<'a> {
    out: &'a mut String,
}

impl<'a> Text<'a> {
    fn put(self, text: impl Display) -> Result<(), NoText> {
        let written = write!(self.out, "{text}");
        written.map_err(NoText::custom)
    }

    fn begin(self, opening: impl Display, closing: &'static str) -> Result<Items<'a>, NoText> {
        let Text { out } = self;
        Text { out: &mut *out }.put(opening)?;
        Ok(Items {
            out,
            is_first: true,
            closing,
        })
    }
}

/// The items of a list, separated by commas.
struct Items<'a> {
    out: &'a mut String,
    is_first: bool,
    closing: &'static str,
}

impl Items<'_> {
    fn add<T: Serialize + ?Sized>(&mut self, name: &str, item: &T) -> Result<(), NoText> {
        if !std::mem::replace(&mut self.is_first, false) {
            self.out.push_str(", ");
        }
        self.out.push_str(name);
        item.serialize(Text { out: self.out })
    }

    fn close(self) {
        self.out.push_str(self.closing);
    }
}

macro_rules! numbers {
    ($($function:ident: $type:ty,)*) => {
        $(fn $function(self, number: $type) -> Result<(), NoText> {
            self.put(number)
        })*
    };
}

impl<'a> Serializer for Text<'a> {
    type Ok = ();
    type Error = NoText;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Items<'a>;
    type SerializeTupleVariant = Items<'a>;
    type SerializeMap = Items<'a>;
    type SerializeStruct = Items<'a>;
    type SerializeStructVariant = Items<'a>;

    numbers! {
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_i128: i128,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_u128: u128,
        serialize_f32: f32,
        serialize_f64: f64,
    }

    fn serialize_char(self, value: char) -> Result<(), NoText> {
        self.put(format_args!("{value:?}"))
    }

    fn serialize_str(self, value: &str) -> Result<(), NoText> {
        self.put(format_args!("{value:?}"))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), NoText> {
        self.put(format_args!("{value:?}"))
    }

    fn serialize_none(self) -> Result<(), NoText> {
        self.put("None")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NoText> {
        self.serialize_newtype_variant("", 0, "Some", value)
    }

    fn serialize_unit(self) -> Result<(), NoText> {
        self.put("()")
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<(), NoText> {
        self.put(name)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), NoText> {
        self.put(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), NoText> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), NoText> {
        let mut items = self.begin(format_args!("{variant}("), ")")?;
        items.add("", value)?;
        items.close();
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'a>, NoText> {
        self.begin("[", "]")
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'a>, NoText> {
        self.begin("(", ")")
    }

    fn serialize_tuple_struct(self, name: &'static str, _: usize) -> Result<Items<'a>, NoText> {
        self.begin(format_args!("{name}("), ")")
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'a>, NoText> {
        self.begin(format_args!("{variant}("), ")")
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Items<'a>, NoText> {
        self.begin("{", "}")
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Items<'a>, NoText> {
        self.begin(format_args!("{name} {{"), "}")
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'a>, NoText> {
        self.begin(format_args!("{variant} {{"), "}")
    }
}

/// Lists without names of their items.
macro_rules! lists {
    ($($trait:ident::$function:ident,)*) => {
        $(impl $trait for Items<'_> {
            type Ok = ();
            type Error = NoText;

            fn $function<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), NoText> {
                self.add("", item)
            }

            fn end(self) -> Result<(), NoText> {
                self.close();
                Ok(())
            }
        })*
    };
}

lists! {
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field,
}

macro_rules! fields {
    ($($trait:ident,)*) => {
        $(impl $trait for Items<'_> {
            type Ok = ();
            type Error = NoText;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                item: &T,
            ) -> Result<(), NoText> {
                self.add(&format!("{name}: "), item)
            }

            fn end(self) -> Result<(), NoText> {
                self.close();
                Ok(())
            }
        })*
    };
}

fields! { SerializeStruct, SerializeStructVariant, }

impl SerializeMap for Items<'_> {
    type Ok = ();
    type Error = NoText;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NoText> {
        self.add("", key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NoText> {
        self.is_first = true;
        self.add(": ", value)
    }

    fn end(self) -> Result<(), NoText> {
        self.close();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;

    use super::write;

    fn text(key: impl Serialize) -> String {
        let mut out = String::new();
        write(&key, &mut out).unwrap();
        out
    }

    #[derive(Serialize)]
    struct Id(u64);

    #[derive(Serialize)]
    struct Pair(u8, u8);

    #[derive(Serialize)]
    struct At {
        x: i8,
        y: i8,
    }

    #[derive(Serialize)]
    struct All;

    #[derive(Serialize)]
    enum Side {
        Left,
        Door(u8),
        Both(u8, u8),
        At { x: i8 },
    }

    #[test]
    fn a_number_has_the_same_text_in_all_types() {
        assert_eq!(
            [text(3_u8), text(3_i32), text(3_u128), text(Id(3))],
            ["3"; 4]
        );
        assert_eq!(text(-3_i8), text(-3_i64));
    }

    #[test]
    fn different_keys_have_different_texts() {
        let texts = [
            text("3"),
            text('3'),
            text(3),
            text(("a", "b")),
            text("a\", \"b"),
            text(vec!["a", "b"]),
            text(Pair(1, 2)),
            text((1, 2)),
            text(At { x: 1, y: -1 }),
            text(Side::Left),
            text("Left"),
            text(Side::Door(1)),
            text(Side::Both(1, 2)),
            text(Side::At { x: 1 }),
            text(Some(1)),
            text(None::<u8>),
            text(()),
            text(All),
            text(BTreeMap::from([(1, 2), (3, 4)])),
            text(true),
            text(1.5),
        ];
        let unlike: std::collections::BTreeSet<_> = texts.iter().collect();
        assert_eq!(unlike.len(), texts.len(), "{texts:?}");
        assert!(texts.contains(&"{1: 2, 3: 4}".to_owned()), "{texts:?}");
        assert!(texts.contains(&"At {x: 1, y: -1}".to_owned()), "{texts:?}");
    }
}
