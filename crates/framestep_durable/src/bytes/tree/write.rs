//! Describing a value: the serializer whose result is a tree, or what else is made of the same parts.

use std::marker::PhantomData;

use serde::ser::{self, Serialize, Serializer};

use crate::bytes::tree::{DEEPEST, Tree, Unfit};

/// What a value is described as. Each part is what the variant of [`Tree`] of this name says.
pub(crate) trait Description: Sized {
    /// The items of a sequence under way.
    type Seq: Default;
    /// The entries of a map under way.
    type Map: Default;

    fn unit() -> Self;
    fn none() -> Self;
    fn some(self) -> Self;
    fn bool(value: bool) -> Self;
    fn int(value: i128) -> Self;
    fn f32(value: f32) -> Self;
    fn f64(value: f64) -> Self;
    fn text(value: &str) -> Self;
    fn bytes(value: &[u8]) -> Self;
    fn add_item(items: &mut Self::Seq, item: Self);
    fn seq(items: Self::Seq) -> Self;
    fn add_entry(entries: &mut Self::Map, key: Self, value: Self);
    fn map(entries: Self::Map) -> Self;
}

impl Description for Tree {
    type Seq = Vec<Tree>;
    type Map = Vec<(Tree, Tree)>;

    fn unit() -> Self {
        Tree::Unit
    }

    fn none() -> Self {
        Tree::None
    }

    fn some(self) -> Self {
        Tree::Some(Box::new(self))
    }

    fn bool(value: bool) -> Self {
        Tree::Bool(value)
    }

    fn int(value: i128) -> Self {
        Tree::Int(value)
    }

    fn f32(value: f32) -> Self {
        Tree::F32(value)
    }

    fn f64(value: f64) -> Self {
        Tree::F64(value)
    }

    fn text(value: &str) -> Self {
        Tree::Text(value.to_owned())
    }

    fn bytes(value: &[u8]) -> Self {
        Tree::Bytes(value.to_vec())
    }

    fn add_item(items: &mut Vec<Tree>, item: Self) {
        items.push(item);
    }

    fn seq(items: Vec<Tree>) -> Self {
        Tree::Seq(items)
    }

    fn add_entry(entries: &mut Vec<(Tree, Tree)>, key: Self, value: Self) {
        entries.push((key, value));
    }

    fn map(entries: Vec<(Tree, Tree)>) -> Self {
        Tree::Map(entries)
    }
}

/// Describes a value.
pub(crate) fn describe<D: Description>(value: &(impl Serialize + ?Sized)) -> Result<D, Unfit> {
    value.serialize(Describes::at(0))
}

/// Describes what it serialises, at some depth.
pub(super) struct Describes<D> {
    depth: u32,
    made: PhantomData<D>,
}

impl<D: Description> Describes<D> {
    fn at(depth: u32) -> Self {
        let made = PhantomData;
        Describes { depth, made }
    }

    fn below(self) -> Result<Self, Unfit> {
        if self.depth == DEEPEST {
            return Err(Unfit::new(format_args!(
                "it is nested more than {DEEPEST} levels deep"
            )));
        }
        Ok(Describes::at(self.depth + 1))
    }

    fn list(self, variant: Option<&'static str>) -> Result<List<D>, Unfit> {
        Ok(List {
            depth: self.below()?.depth,
            variant,
            items: D::Seq::default(),
        })
    }

    fn entries(self, variant: Option<&'static str>) -> Result<Entries<D>, Unfit> {
        Ok(Entries {
            depth: self.below()?.depth,
            variant,
            key: None,
            done: D::Map::default(),
        })
    }
}

/// The content of a variant, with its name.
fn named<D: Description>(variant: Option<&'static str>, content: D) -> D {
    let Some(name) = variant else {
        return content;
    };
    let mut entries = D::Map::default();
    D::add_entry(&mut entries, D::text(name), content);
    D::map(entries)
}

impl<D: Description> Serializer for Describes<D> {
    type Ok = D;
    type Error = Unfit;
    type SerializeSeq = List<D>;
    type SerializeTuple = List<D>;
    type SerializeTupleStruct = List<D>;
    type SerializeTupleVariant = List<D>;
    type SerializeMap = Entries<D>;
    type SerializeStruct = Entries<D>;
    type SerializeStructVariant = Entries<D>;

    // As postcard: a type takes the same form in both.
    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, value: bool) -> Result<D, Unfit> {
        Ok(D::bool(value))
    }

    fn serialize_i8(self, value: i8) -> Result<D, Unfit> {
        Ok(D::int(value.into()))
    }

    fn serialize_i16(self, value: i16) -> Result<D, Unfit> {
        Ok(D::int(value.into()))
    }

    fn serialize_i32(self, value: i32) -> Result<D, Unfit> {
        Ok(D::int(value.into()))
    }

    fn serialize_i64(self, value: i64) -> Result<D, Unfit> {
        Ok(D::int(value.into()))
    }

    fn serialize_i128(self, value: i128) -> Result<D, Unfit> {
        Ok(D::int(value))
    }

    fn serialize_u8(self, value: u8) -> Result<D, Unfit> {
        Ok(D::int(value.into()))
    }

    fn serialize_u16(self, value: u16) -> Result<D, Unfit> {
        Ok(D::int(value.into()))
    }

    fn serialize_u32(self, value: u32) -> Result<D, Unfit> {
        Ok(D::int(value.into()))
    }

    fn serialize_u64(self, value: u64) -> Result<D, Unfit> {
        Ok(D::int(value.into()))
    }

    fn serialize_u128(self, value: u128) -> Result<D, Unfit> {
        let value = i128::try_from(value);
        value
            .map(D::int)
            .map_err(|_| Unfit::new("a `u128` of 2^127 or more cannot be described"))
    }

    fn serialize_f32(self, value: f32) -> Result<D, Unfit> {
        Ok(D::f32(value))
    }

    fn serialize_f64(self, value: f64) -> Result<D, Unfit> {
        Ok(D::f64(value))
    }

    fn serialize_char(self, value: char) -> Result<D, Unfit> {
        Ok(D::text(value.encode_utf8(&mut [0; 4])))
    }

    fn serialize_str(self, value: &str) -> Result<D, Unfit> {
        Ok(D::text(value))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<D, Unfit> {
        Ok(D::bytes(value))
    }

    fn serialize_none(self) -> Result<D, Unfit> {
        Ok(D::none())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<D, Unfit> {
        let value: D = value.serialize(self.below()?)?;
        Ok(value.some())
    }

    fn serialize_unit(self) -> Result<D, Unfit> {
        Ok(D::unit())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<D, Unfit> {
        Ok(D::unit())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<D, Unfit> {
        Ok(D::text(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<D, Unfit> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<D, Unfit> {
        let content = value.serialize(self.below()?)?;
        Ok(named(Some(variant), content))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<List<D>, Unfit> {
        self.list(None)
    }

    fn serialize_tuple(self, _: usize) -> Result<List<D>, Unfit> {
        self.list(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<List<D>, Unfit> {
        self.list(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<List<D>, Unfit> {
        self.below()?.list(Some(variant))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Entries<D>, Unfit> {
        self.entries(None)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Entries<D>, Unfit> {
        self.entries(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Entries<D>, Unfit> {
        self.below()?.entries(Some(variant))
    }
}

/// A sequence or a tuple under way.
pub(super) struct List<D: Description> {
    depth: u32,
    variant: Option<&'static str>,
    items: D::Seq,
}

impl<D: Description> List<D> {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
        let item = value.serialize(Describes::at(self.depth))?;
        D::add_item(&mut self.items, item);
        Ok(())
    }

    fn finish(self) -> D {
        named(self.variant, D::seq(self.items))
    }
}

impl<D: Description> ser::SerializeSeq for List<D> {
    type Ok = D;
    type Error = Unfit;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
        self.push(value)
    }

    fn end(self) -> Result<D, Unfit> {
        Ok(self.finish())
    }
}

impl<D: Description> ser::SerializeTuple for List<D> {
    type Ok = D;
    type Error = Unfit;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
        self.push(value)
    }

    fn end(self) -> Result<D, Unfit> {
        Ok(self.finish())
    }
}

impl<D: Description> ser::SerializeTupleStruct for List<D> {
    type Ok = D;
    type Error = Unfit;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
        self.push(value)
    }

    fn end(self) -> Result<D, Unfit> {
        Ok(self.finish())
    }
}

impl<D: Description> ser::SerializeTupleVariant for List<D> {
    type Ok = D;
    type Error = Unfit;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
        self.push(value)
    }

    fn end(self) -> Result<D, Unfit> {
        Ok(self.finish())
    }
}

/// A map or a struct under way.
pub(super) struct Entries<D: Description> {
    depth: u32,
    variant: Option<&'static str>,
    key: Option<D>,
    done: D::Map,
}

impl<D: Description> Entries<D> {
    fn push<T: Serialize + ?Sized>(&mut self, key: D, value: &T) -> Result<(), Unfit> {
        let value = value.serialize(Describes::at(self.depth))?;
        D::add_entry(&mut self.done, key, value);
        Ok(())
    }

    fn finish(self) -> D {
        named(self.variant, D::map(self.done))
    }
}

impl<D: Description> ser::SerializeMap for Entries<D> {
    type Ok = D;
    type Error = Unfit;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unfit> {
        self.key = Some(key.serialize(Describes::at(self.depth))?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
        match self.key.take() {
            Some(key) => self.push(key, value),
            None => Err(Unfit::new("a value of a map came before its key")),
        }
    }

    fn end(self) -> Result<D, Unfit> {
        Ok(self.finish())
    }
}

impl<D: Description> ser::SerializeStruct for Entries<D> {
    type Ok = D;
    type Error = Unfit;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Unfit> {
        self.push(D::text(key), value)
    }

    fn end(self) -> Result<D, Unfit> {
        Ok(self.finish())
    }
}

impl<D: Description> ser::SerializeStructVariant for Entries<D> {
    type Ok = D;
    type Error = Unfit;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Unfit> {
        self.push(D::text(key), value)
    }

    fn end(self) -> Result<D, Unfit> {
        Ok(self.finish())
    }
}
