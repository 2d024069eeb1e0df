//! Reading a value of a tree. It is as lenient as a later build needs: a field that has become an
//! `Option`, a struct that had no fields, a struct that a migration reads as a tuple.
//!
//! All of this is compiled once for each type of the user. So structs, enums and the names of fields
//! call those methods of a visitor alone that they have: `deserialize_any` would compile all
//! methods of each visitor. And the items of sequences and maps are not generic.

use std::slice::Iter;

use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, Expected, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
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
        mut items: Items<'de>,
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        let value = visitor.visit_seq(&mut items)?;
        no_more(items.taken, items.left.len(), "sequence")?;
        Ok(value)
    }

    fn visit_map<'de, V: Visitor<'de>>(
        entries: &'de [(Tree, Tree)],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        let mut entries = Entries {
            left: entries.iter(),
            taken: 0,
            value: &Tree::Unit,
        };
        let value = visitor.visit_map(&mut entries)?;
        no_more(entries.taken, entries.left.len(), "map")?;
        Ok(value)
    }

    /// Of a visitor that has no method for this kind of value.
    fn is_no<T>(&self, expected: &dyn Expected) -> Result<T, Unfit> {
        Err(de::Error::invalid_type(self.unexpected(), expected))
    }

    fn unexpected(&self) -> Unexpected<'_> {
        match self {
            Tree::Unit => Unexpected::Unit,
            Tree::None | Tree::Some(_) => Unexpected::Option,
            Tree::Bool(value) => Unexpected::Bool(*value),
            Tree::Int(value) => match (u64::try_from(*value), i64::try_from(*value)) {
                (Ok(value), _) => Unexpected::Unsigned(value),
                (_, Ok(value)) => Unexpected::Signed(value),
                _ => Unexpected::Other("integer"),
            },
            Tree::F32(value) => Unexpected::Float(f64::from(*value)),
            Tree::F64(value) => Unexpected::Float(*value),
            Tree::Text(value) => Unexpected::Str(value),
            Tree::Bytes(value) => Unexpected::Bytes(value),
            Tree::Seq(_) => Unexpected::Seq,
            Tree::Map(_) => Unexpected::Map,
        }
    }
}

/// Whether the visitor has taken all of a sequence or a map.
fn no_more(taken: usize, left: usize, kind: &str) -> Result<(), Unfit> {
    if left == 0 {
        return Ok(());
    }
    let elements = if taken == 1 { "element" } else { "elements" };
    let expected = format!("{taken} {elements} in {kind}");
    Err(de::Error::invalid_length(taken + left, &&*expected))
}

/// The items of a sequence, as a visitor takes them.
struct Items<'de> {
    left: Left<'de>,
    taken: usize,
}

/// What is left of it.
enum Left<'de> {
    Items(Iter<'de, Tree>),
    /// The fields of a struct, in their order.
    Fields(Iter<'de, (Tree, Tree)>),
}

impl Left<'_> {
    fn len(&self) -> usize {
        match self {
            Left::Items(items) => items.len(),
            Left::Fields(fields) => fields.len(),
        }
    }
}

impl<'de> Items<'de> {
    fn of(items: &'de [Tree]) -> Self {
        Items {
            left: Left::Items(items.iter()),
            taken: 0,
        }
    }

    fn of_fields(fields: &'de [(Tree, Tree)]) -> Self {
        Items {
            left: Left::Fields(fields.iter()),
            taken: 0,
        }
    }

    fn take(&mut self) -> Option<&'de Tree> {
        let item = match &mut self.left {
            Left::Items(items) => items.next(),
            Left::Fields(fields) => fields.next().map(|(_, value)| value),
        };
        self.taken += usize::from(item.is_some());
        item
    }
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Unfit;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Unfit> {
        match self.take() {
            Some(item) => Ok(Some(seed.deserialize(item)?)),
            None => Ok(None),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.len())
    }
}

/// The entries of a map or a struct, as a visitor takes them.
struct Entries<'de> {
    left: Iter<'de, (Tree, Tree)>,
    taken: usize,
    /// Of the key that was taken last.
    value: &'de Tree,
}

impl<'de> Entries<'de> {
    fn take(&mut self) -> Option<&'de Tree> {
        let (key, value) = self.left.next()?;
        self.value = value;
        self.taken += 1;
        Some(key)
    }
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Unfit;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Unfit> {
        match self.take() {
            Some(key) => Ok(Some(seed.deserialize(key)?)),
            None => Ok(None),
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Unfit> {
        seed.deserialize(self.value)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.len())
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
            Tree::Seq(items) => Tree::visit_seq(Items::of(items), visitor),
            Tree::Map(entries) => Tree::visit_map(entries, visitor),
        }
    }

    bare! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32
        deserialize_f64 deserialize_char deserialize_str deserialize_string deserialize_bytes
        deserialize_byte_buf deserialize_seq deserialize_map
    }

    /// The name of a field or a variant: always a text, as `write` has it.
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unfit> {
        match self.bare() {
            Tree::Text(name) => visitor.visit_borrowed_str(name),
            tree => tree.is_no(&visitor),
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
            tree => tree.is_no(&visitor),
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
            Tree::Map(fields) => Tree::visit_seq(Items::of_fields(fields), visitor),
            Tree::Seq(items) => Tree::visit_seq(Items::of(items), visitor),
            // A struct of one unnamed field.
            tree if len == 1 => Tree::visit_seq(Items::of(std::slice::from_ref(tree)), visitor),
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
            Tree::Map(fields) => Tree::visit_map(fields, visitor),
            // A sequence, too: it would be read by the order of the fields.
            tree => tree.is_no(&visitor),
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
            tree => tree.is_no(&visitor),
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
