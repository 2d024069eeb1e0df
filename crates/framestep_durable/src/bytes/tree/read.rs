//! Reading a value of a tree. It is as lenient as a later build needs: a field that has become an
//! `Option`, a struct that had no fields, a struct that a migration reads as a tuple.

use std::slice;

use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, Expected, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};

use crate::bytes::tree::{Tree, Unfit};

impl Tree {
    /// The value without the `Some` around it.
    fn bare(&self) -> &Tree {
        match self {
            Tree::Some(tree) => tree.bare(),
            tree => tree,
        }
    }

    /// Why it is not what a visitor expects.
    #[cold]
    fn unfit(&self, expected: &dyn Expected) -> Unfit {
        de::Error::invalid_type(self.unexpected(), expected)
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

/// The items of a sequence, or what is read as one.
enum Items<'de> {
    Of(slice::Iter<'de, Tree>),
    /// The fields of a struct, in their order.
    Values(slice::Iter<'de, (Tree, Tree)>),
    One(Option<&'de Tree>),
}

impl<'de> Items<'de> {
    fn next(&mut self) -> Option<&'de Tree> {
        match self {
            Items::Of(items) => items.next(),
            Items::Values(entries) => entries.next().map(|(_, value)| value),
            Items::One(item) => item.take(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Items::Of(items) => items.len(),
            Items::Values(entries) => entries.len(),
            Items::One(item) => usize::from(item.is_some()),
        }
    }

    fn visit<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Unfit> {
        let all = self.len();
        let value = visitor.visit_seq(&mut self)?;
        match self.len() {
            0 => Ok(value),
            left => Err(too_long(all, left)),
        }
    }
}

impl<'de> SeqAccess<'de> for &mut Items<'de> {
    type Error = Unfit;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Unfit> {
        match self.next() {
            Some(item) => match seed.deserialize(item) {
                Ok(value) => Ok(Some(value)),
                Err(error) => Err(error),
            },
            None => Ok(None),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.len())
    }
}

/// Why a sequence or a map is not read of which something is left.
#[cold]
fn too_long(all: usize, left: usize) -> Unfit {
    Unfit::new(format_args!(
        "invalid length {all}, expected {} elements",
        all - left
    ))
}

/// The entries of a map or a struct.
struct Entries<'de> {
    left: slice::Iter<'de, (Tree, Tree)>,
    value: &'de Tree,
}

impl<'de> Entries<'de> {
    fn visit<V: Visitor<'de>>(entries: &'de [(Tree, Tree)], visitor: V) -> Result<V::Value, Unfit> {
        let mut entries = Entries {
            left: entries.iter(),
            value: &Tree::Unit,
        };
        let all = entries.left.len();
        let value = visitor.visit_map(&mut entries)?;
        match entries.left.len() {
            0 => Ok(value),
            left => Err(too_long(all, left)),
        }
    }

    fn advance(&mut self) -> Option<&'de Tree> {
        let (key, value) = self.left.next()?;
        self.value = value;
        Some(key)
    }
}

impl<'de> MapAccess<'de> for &mut Entries<'de> {
    type Error = Unfit;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Unfit> {
        match self.advance() {
            Some(key) => match seed.deserialize(key) {
                Ok(value) => Ok(Some(value)),
                Err(error) => Err(error),
            },
            None => Ok(None),
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Unfit> {
        seed.deserialize(self.value)
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
            Tree::Seq(items) => Items::Of(items.iter()).visit(visitor),
            Tree::Map(entries) => Entries::visit(entries, visitor),
        }
    }

    bare! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32
        deserialize_f64 deserialize_char deserialize_str deserialize_string deserialize_bytes
        deserialize_byte_buf deserialize_seq deserialize_map
    }

    /// The name of a field or a variant.
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        match self.bare() {
            Tree::Text(name) => visitor.visit_str(name),
            Tree::Int(number) => match u64::try_from(*number) {
                Ok(number) => visitor.visit_u64(number),
                Err(_) => Err(self.unfit(&visitor)),
            },
            tree => Err(tree.unfit(&visitor)),
        }
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
            tree => Err(tree.unfit(&visitor)),
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
            Tree::Map(entries) => Items::Values(entries.iter()).visit(visitor),
            Tree::Seq(items) => Items::Of(items.iter()).visit(visitor),
            // A struct of one unnamed field.
            tree if len == 1 => Items::One(Some(tree)).visit(visitor),
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
            Tree::Unit | Tree::None => Entries::visit(&[], visitor),
            Tree::Map(entries) => Entries::visit(entries, visitor),
            // A sequence would be read by the order of the fields.
            tree => Err(tree.unfit(&visitor)),
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
            tree => Err(tree.unfit(&visitor)),
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
