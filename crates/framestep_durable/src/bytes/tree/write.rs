//! Describing a value: the serializer whose result is a tree.

use serde::ser::{self, Serialize, Serializer};

use crate::bytes::tree::{DEEPEST, Tree, Unfit};

/// Makes a tree of what it serialises, at some depth.
#[derive(Clone, Copy)]
pub(super) struct Describes {
    pub(super) depth: u32,
}

impl Describes {
    fn below(self) -> Result<Self, Unfit> {
        if self.depth == DEEPEST {
            return Err(Unfit::new(format_args!(
                "it is nested more than {DEEPEST} levels deep"
            )));
        }
        let depth = self.depth + 1;
        Ok(Describes { depth })
    }

    fn list(self, variant: Option<&'static str>) -> Result<List, Unfit> {
        Ok(List {
            below: self.below()?,
            variant,
            items: Vec::new(),
        })
    }

    fn entries(self, variant: Option<&'static str>) -> Result<Entries, Unfit> {
        Ok(Entries {
            below: self.below()?,
            variant,
            key: None,
            done: Vec::new(),
        })
    }
}

/// The content of a variant, with its name.
fn named(variant: Option<&'static str>, content: Tree) -> Tree {
    match variant {
        Some(name) => Tree::Map(vec![(Tree::Text(name.to_owned()), content)]),
        None => content,
    }
}

impl Serializer for Describes {
    type Ok = Tree;
    type Error = Unfit;
    type SerializeSeq = List;
    type SerializeTuple = List;
    type SerializeTupleStruct = List;
    type SerializeTupleVariant = List;
    type SerializeMap = Entries;
    type SerializeStruct = Entries;
    type SerializeStructVariant = Entries;

    // As postcard: a type takes the same form in both.
    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, value: bool) -> Result<Tree, Unfit> {
        Ok(Tree::Bool(value))
    }

    fn serialize_i8(self, value: i8) -> Result<Tree, Unfit> {
        Ok(Tree::Int(value.into()))
    }

    fn serialize_i16(self, value: i16) -> Result<Tree, Unfit> {
        Ok(Tree::Int(value.into()))
    }

    fn serialize_i32(self, value: i32) -> Result<Tree, Unfit> {
        Ok(Tree::Int(value.into()))
    }

    fn serialize_i64(self, value: i64) -> Result<Tree, Unfit> {
        Ok(Tree::Int(value.into()))
    }

    fn serialize_i128(self, value: i128) -> Result<Tree, Unfit> {
        Ok(Tree::Int(value))
    }

    fn serialize_u8(self, value: u8) -> Result<Tree, Unfit> {
        Ok(Tree::Int(value.into()))
    }

    fn serialize_u16(self, value: u16) -> Result<Tree, Unfit> {
        Ok(Tree::Int(value.into()))
    }

    fn serialize_u32(self, value: u32) -> Result<Tree, Unfit> {
        Ok(Tree::Int(value.into()))
    }

    fn serialize_u64(self, value: u64) -> Result<Tree, Unfit> {
        Ok(Tree::Int(value.into()))
    }

    fn serialize_u128(self, value: u128) -> Result<Tree, Unfit> {
        let value = i128::try_from(value);
        value
            .map(Tree::Int)
            .map_err(|_| Unfit::new("a `u128` of 2^127 or more cannot be described"))
    }

    fn serialize_f32(self, value: f32) -> Result<Tree, Unfit> {
        Ok(Tree::F32(value))
    }

    fn serialize_f64(self, value: f64) -> Result<Tree, Unfit> {
        Ok(Tree::F64(value))
    }

    fn serialize_char(self, value: char) -> Result<Tree, Unfit> {
        Ok(Tree::Text(value.into()))
    }

    fn serialize_str(self, value: &str) -> Result<Tree, Unfit> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Tree, Unfit> {
        Ok(Tree::Bytes(value.to_vec()))
    }

    fn serialize_none(self) -> Result<Tree, Unfit> {
        Ok(Tree::None)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Tree, Unfit> {
        let value = value.serialize(self.below()?)?;
        Ok(Tree::Some(Box::new(value)))
    }

    fn serialize_unit(self) -> Result<Tree, Unfit> {
        Ok(Tree::Unit)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Tree, Unfit> {
        Ok(Tree::Unit)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Tree, Unfit> {
        Ok(Tree::Text(variant.to_owned()))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Tree, Unfit> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Tree, Unfit> {
        let content = value.serialize(self.below()?)?;
        Ok(named(Some(variant), content))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<List, Unfit> {
        self.list(None)
    }

    fn serialize_tuple(self, _: usize) -> Result<List, Unfit> {
        self.list(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<List, Unfit> {
        self.list(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<List, Unfit> {
        self.below()?.list(Some(variant))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Entries, Unfit> {
        self.entries(None)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Entries, Unfit> {
        self.entries(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Entries, Unfit> {
        self.below()?.entries(Some(variant))
    }
}

/// A sequence or a tuple under way.
pub(super) struct List {
    below: Describes,
    variant: Option<&'static str>,
    items: Vec<Tree>,
}

impl List {
    fn push<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
        self.items.push(value.serialize(self.below)?);
        Ok(())
    }

    fn finish(self) -> Tree {
        named(self.variant, Tree::Seq(self.items))
    }
}

impl ser::SerializeSeq for List {
    type Ok = Tree;
    type Error = Unfit;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
        self.push(value)
    }

    fn end(self) -> Result<Tree, Unfit> {
        Ok(self.finish())
    }
}

impl ser::SerializeTuple for List {
    type Ok = Tree;
    type Error = Unfit;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
        self.push(value)
    }

    fn end(self) -> Result<Tree, Unfit> {
        Ok(self.finish())
    }
}

impl ser::SerializeTupleStruct for List {
    type Ok = Tree;
    type Error = Unfit;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
        self.push(value)
    }

    fn end(self) -> Result<Tree, Unfit> {
        Ok(self.finish())
    }
}

impl ser::SerializeTupleVariant for List {
    type Ok = Tree;
    type Error = Unfit;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
        self.push(value)
    }

    fn end(self) -> Result<Tree, Unfit> {
        Ok(self.finish())
    }
}

/// A map or a struct under way.
pub(super) struct Entries {
    below: Describes,
    variant: Option<&'static str>,
    key: Option<Tree>,
    done: Vec<(Tree, Tree)>,
}

impl Entries {
    fn push<T: Serialize + ?Sized>(&mut self, key: Tree, value: &T) -> Result<(), Unfit> {
        self.done.push((key, value.serialize(self.below)?));
        Ok(())
    }

    fn finish(self) -> Tree {
        named(self.variant, Tree::Map(self.done))
    }
}

impl ser::SerializeMap for Entries {
    type Ok = Tree;
    type Error = Unfit;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Unfit> {
        self.key = Some(key.serialize(self.below)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unfit> {
        match self.key.take() {
            Some(key) => self.push(key, value),
            None => Err(Unfit::new("a value of a map came before its key")),
        }
    }

    fn end(self) -> Result<Tree, Unfit> {
        Ok(self.finish())
    }
}

impl ser::SerializeStruct for Entries {
    type Ok = Tree;
    type Error = Unfit;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Unfit> {
        self.push(Tree::Text(key.to_owned()), value)
    }

    fn end(self) -> Result<Tree, Unfit> {
        Ok(self.finish())
    }
}

impl ser::SerializeStructVariant for Entries {
    type Ok = Tree;
    type Error = Unfit;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Unfit> {
        self.push(Tree::Text(key.to_owned()), value)
    }

    fn end(self) -> Result<Tree, Unfit> {
        Ok(self.finish())
    }
}
