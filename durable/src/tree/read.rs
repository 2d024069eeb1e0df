//! Reading a value of a tree. It is as lenient as a later build needs: a field that has become an
//! `Option`, a struct that had no fields, a struct that a migration reads as a tuple.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, Unexpected,
    VariantAccess, Visitor,
};

use super::{Tree, Unfit};

impl Tree {
    /// The value without the `Some` around it.
    fn bare(&self) -> &Tree {
        match self {
            Tree::Some(tree) => tree.bare(),
            tree => tree,
        }
    }

    fn visit_seq<'de, V: Visitor<'de>>(
        items: impl Iterator<Item = &'de Tree>,
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        let mut items = SeqDeserializer::new(items);
        let value = visitor.visit_seq(&mut items)?;
        items.end()?;
        Ok(value)
    }

    fn visit_map<'de, V: Visitor<'de>>(
        entries: &'de [(Tree, Tree)],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        let entries = entries.iter().map(|(key, value)| (key, value));
        let mut entries = MapDeserializer::new(entries);
        let value = visitor.visit_map(&mut entries)?;
        entries.end()?;
        Ok(value)
    }

    fn unexpected(&self) -> Unexpected<'_> {
        match self {
            Tree::Unit => Unexpected::Unit,
            Tree::None | Tree::Some(_) => Unexpected::Option,
            Tree::Bool(value) => Unexpected::Bool(*value),
            Tree::Int(_) => Unexpected::Other("integer"),
            Tree::F32(value) => Unexpected::Float(f64::from(*value)),
            Tree::F64(value) => Unexpected::Float(*value),
            Tree::Text(value) => Unexpected::Str(value),
            Tree::Bytes(value) => Unexpected::Bytes(value),
            Tree::Seq(_) => Unexpected::Seq,
            Tree::Map(_) => Unexpected::Map,
        }
    }
}

impl<'de> IntoDeserializer<'de, Unfit> for &'de Tree {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Types that are never an `Option`.
macro_rules! bare {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
            self.bare().deserialize_any(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for &'de Tree {
    type Error = Unfit;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        match self {
            Tree::Unit => visitor.visit_unit(),
            Tree::None => visitor.visit_none(),
            Tree::Some(tree) => visitor.visit_some(&**tree),
            Tree::Bool(value) => visitor.visit_bool(*value),
            Tree::Int(value) => {
                if let Ok(value) = u64::try_from(*value) {
                    visitor.visit_u64(value)
                } else if let Ok(value) = i64::try_from(*value) {
                    visitor.visit_i64(value)
                } else {
                    visitor.visit_i128(*value)
                }
            }
            Tree::F32(value) => visitor.visit_f32(*value),
            Tree::F64(value) => visitor.visit_f64(*value),
            Tree::Text(value) => visitor.visit_borrowed_str(value),
            Tree::Bytes(value) => visitor.visit_borrowed_bytes(value),
            Tree::Seq(items) => Tree::visit_seq(items.iter(), visitor),
            Tree::Map(entries) => Tree::visit_map(entries, visitor),
        }
    }

    bare! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32
        deserialize_f64 deserialize_char deserialize_str deserialize_string deserialize_bytes
        deserialize_byte_buf deserialize_seq deserialize_map deserialize_identifier
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        match self.bare() {
            Tree::Int(value) => match u128::try_from(*value) {
                Ok(value) => visitor.visit_u128(value),
                Err(_) => visitor.visit_i128(*value),
            },
            tree => tree.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        match self {
            Tree::Unit | Tree::None => visitor.visit_none(),
            Tree::Some(tree) => visitor.visit_some(&**tree),
            tree => visitor.visit_some(tree),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        match self.bare() {
            // Of a struct whose fields are gone.
            Tree::Unit | Tree::None | Tree::Map(_) => visitor.visit_unit(),
            tree => Err(de::Error::invalid_type(tree.unexpected(), &visitor)),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Unfit> {
        match self.bare() {
            // The fields of a struct, in their order.
            Tree::Map(entries) => Tree::visit_seq(entries.iter().map(|(_, value)| value), visitor),
            Tree::Seq(items) => Tree::visit_seq(items.iter(), visitor),
            // A struct of one unnamed field.
            tree if len == 1 => Tree::visit_seq([tree].into_iter(), visitor),
            tree => tree.deserialize_any(visitor),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        match self.bare() {
            // It had no fields.
            Tree::Unit | Tree::None => Tree::visit_map(&[], visitor),
            // A sequence would be read by the order of the fields.
            tree @ Tree::Seq(_) => Err(de::Error::invalid_type(tree.unexpected(), &visitor)),
            tree => tree.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        match self.bare() {
            name @ Tree::Text(_) => visitor.visit_enum(Variant {
                name,
                content: &Tree::Unit,
            }),
            Tree::Map(entries) if entries.len() == 1 => visitor.visit_enum(Variant {
                name: &entries[0].0,
                content: &entries[0].1,
            }),
            tree => Err(de::Error::invalid_type(tree.unexpected(), &visitor)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        visitor.visit_unit()
    }
}

/// A variant of an enum.
struct Variant<'de> {
    name: &'de Tree,
    content: &'de Tree,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Unfit;
    type Variant = &'de Tree;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, &'de Tree), Unfit> {
        Ok((seed.deserialize(self.name)?, self.content))
    }
}

impl<'de> VariantAccess<'de> for &'de Tree {
    type Error = Unfit;

    fn unit_variant(self) -> Result<(), Unfit> {
        <()>::deserialize(self)
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Unfit> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Unfit> {
        self.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        self.deserialize_struct("", fields, visitor)
    }
}
