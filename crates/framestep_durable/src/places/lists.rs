//! Lists that loops go over, as far as the code or a constant says what is in them: their items stand in the table
//! behind the statements.
//!
//! The items of the loop `n` are parts of a statement that stands for its list, which is a part of `n`. So the
//! [difference](crate::places::difference) of two tables says of them, too, which are new, gone, moved or reworded.

use std::fmt::{Debug, Write as _};
use std::sync::OnceLock;

use crate::bytes::hash::{FNV, fnv};
use crate::places::sketch::Sketch;
use crate::places::table::Place;

/// The table of a script whose loops go over lists that are known. Made when it is needed first.
pub type AllPlaces = OnceLock<Vec<Place>>;

/// A list that a loop of a script goes over.
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// The statement.
    pub of: u16,
    /// What its turns are.
    pub order: Order,
    /// What is in it.
    pub items: Items,
}

/// What the turns of a loop are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The items of its list, in their order.
    Items,
    /// Some of them, or several at a time, in their order; or the loop may run several times at once.
    Forward,
    /// It is not known.
    Any,
    /// Not even what the items are.
    Untold,
}

/// The hashes of the texts of items, and what their words have in common with those of others.
#[derive(Clone, Copy, Debug)]
pub enum Items {
    /// Those of a list in the code.
    Known(&'static [(u32, u32)]),
    /// Those of a constant.
    Read(fn() -> Known),
}

/// What is known of the items of a list.
#[derive(Clone, Debug)]
pub enum Known {
    /// All.
    Items(Vec<(u32, u32)>),
    /// Their number.
    Count(usize),
    /// Nothing.
    Nothing,
}

impl Items {
    fn known(self) -> Known {
        match self {
            Items::Known(items) => Known::Items(items.to_vec()),
            Items::Read(items) => items(),
        }
    }
}

/// The most items of a list that are told.
const MOST_ITEMS: usize = 1_000;

/// What an entry of a table is beside a statement.
const LIST: u16 = 0x115D;
const ITEM: u16 = 0x173E;
const ITEM_WITH_LISTS: u16 = 0x173F;
const LIST_TEXT: u32 = 0x9E37_79B1;

/// A bit of the words of an item in which there are lists again.
const HAS_LISTS: u32 = 1 << 31;

/// The statements of a script, and behind them its lists.
#[must_use]
pub fn with_items(statements: &[Place], lists: &[List]) -> Vec<Place> {
    let mut all = statements.to_vec();
    for list in lists {
        let Some(around) = statements.get(usize::from(list.of)) else {
            continue;
        };
        let (items, order) = match list.items.known() {
            Known::Items(items) if items.len() <= MOST_ITEMS => (items, list.order),
            Known::Count(count) if count <= MOST_ITEMS => (vec![(0, 0); count], Order::Untold),
            _ => continue,
        };
        let number = u16::try_from(all.len()).ok();
        let Some(number) =
            number.filter(|number| usize::from(*number) + items.len() < usize::from(u16::MAX))
        else {
            continue;
        };
        all.push(Place::new(
            LIST_TEXT,
            0,
            [order as u16, LIST, list.of],
            around.line,
        ));
        for (text, sketch) in items {
            let [a, b, c, d] = text.to_le_bytes();
            let head = u16::from_le_bytes([a ^ c, b ^ d]);
            let shape = if sketch & HAS_LISTS == 0 {
                ITEM
            } else {
                ITEM_WITH_LISTS
            };
            let sketch = sketch & !HAS_LISTS;
            all.push(Place::new(text, sketch, [head, shape, number], around.line));
        }
    }
    all
}

impl Place {
    /// Whether it stands for the list of a loop.
    pub(crate) fn is_list(&self) -> bool {
        (self.full, self.shape) == (LIST_TEXT, LIST)
    }

    /// Of a list of this build, what the turns of its loop are.
    pub(crate) fn order(&self) -> Order {
        match self.head {
            0 => Order::Items,
            1 => Order::Forward,
            2 => Order::Any,
            _ => Order::Untold,
        }
    }

    /// Of a list of this build, whether its items say how the loop goes round.
    pub(crate) fn tells_turns(&self) -> bool {
        matches!(self.order(), Order::Items | Order::Forward)
    }

    /// Whether it is an item in which there are lists again.
    pub(crate) fn is_list_of_lists(&self) -> bool {
        self.shape == ITEM_WITH_LISTS
    }

    /// Whether it is neither a list nor an item.
    pub(crate) fn is_statement(&self) -> bool {
        !self.is_list() && self.shape != ITEM && self.shape != ITEM_WITH_LISTS
    }
}

/// A constant, which may tell what is in it.
#[derive(Debug)]
pub struct Value<'a, T: ?Sized>(pub &'a T);

/// Lists whose items can be told.
pub trait Listed {
    /// The items. Of more than are told, only so many that this is known.
    fn items(&self) -> Vec<(u32, u32)>;
}

/// Lists whose items can be counted.
pub trait Counted {
    /// How many there are.
    fn count(&self) -> usize;
}

/// What a [`Value`] tells whose items can be told. Of the three with this method, the compiler takes the first one that
/// it finds.
pub trait Tells {
    /// The items.
    fn known(&self) -> Known;
}

/// What each other one tells whose items can be counted.
pub trait Counts {
    /// Their number.
    fn known(&self) -> Known;
}

/// What each other one tells.
pub trait Hides {
    /// Nothing.
    fn known(&self) -> Known;
}

impl<T: Listed + ?Sized> Tells for &&Value<'_, T> {
    fn known(&self) -> Known {
        Known::Items(self.0.items())
    }
}

impl<T: Counted + ?Sized> Counts for &Value<'_, T> {
    fn known(&self) -> Known {
        Known::Count(self.0.count())
    }
}

impl<T: ?Sized> Hides for Value<'_, T> {
    fn known(&self) -> Known {
        Known::Nothing
    }
}

impl<T: Debug> Listed for [T] {
    fn items(&self) -> Vec<(u32, u32)> {
        let items = self.iter().take(MOST_ITEMS + 1);
        items.map(|item| told(item)).collect()
    }
}

impl<T: Debug, const N: usize> Listed for [T; N] {
    fn items(&self) -> Vec<(u32, u32)> {
        self.as_slice().items()
    }
}

/// Its lines.
impl Listed for str {
    fn items(&self) -> Vec<(u32, u32)> {
        let lines = self.lines().take(MOST_ITEMS + 1);
        lines.map(|line| told(&line)).collect()
    }
}

impl<T: Listed + ?Sized> Listed for &T {
    fn items(&self) -> Vec<(u32, u32)> {
        (**self).items()
    }
}

impl<T> Counted for [T] {
    fn count(&self) -> usize {
        self.len()
    }
}

impl<T, const N: usize> Counted for [T; N] {
    fn count(&self) -> usize {
        N
    }
}

impl<T: Counted + ?Sized> Counted for &T {
    fn count(&self) -> usize {
        (**self).count()
    }
}

/// What an item of a list tells: a hash, and a sketch of its words.
fn told(item: &dyn Debug) -> (u32, u32) {
    let text = text_of(item);
    let parts: Vec<&str> = parts_of(&text).collect();
    let has_lists = parts.iter().any(|part| part.contains('['));
    let flag = if has_lists { HAS_LISTS } else { 0 };
    (hash_of(&text), Sketch::of_parts(&parts).0 | flag)
}

/// The hash alone.
pub(crate) fn hash_told(item: &dyn Debug) -> u32 {
    hash_of(&text_of(item))
}

fn text_of(item: &dyn Debug) -> String {
    let mut text = String::new();
    // An error of the item ends its text.
    let _ = write!(text, "{item:?}");
    text
}

/// Its words, each with the character behind it. Addresses do not count: those of functions are others in each run.
fn parts_of(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split_inclusive(|c: char| !c.is_alphanumeric());
    parts.filter(|part| !part.starts_with("0x"))
}

fn hash_of(text: &str) -> u32 {
    parts_of(text).fold(FNV, |hash, part| fnv(part.as_bytes(), hash))
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    #[test]
    fn an_address_is_left_out_wherever_the_text_is_cut() {
        /// Is written in pieces.
        struct Pieces(&'static [&'static str]);
        impl Debug for Pieces {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|piece| f.write_str(piece))
            }
        }
        let hash = |text: &str| fnv(text.as_bytes(), FNV);
        for (pieces, told) in [
            (&["Line { a: 0, b: 10 }"][..], "Line { a: 0, b: 10 }"),
            (&["f(0", "x7f", "ff), 00", "x1"], "f(, 00x1"),
            (&["0", "x", "é1", "] 0"], " 0"),
            (&["a0x1 0y, 0x"], "a0x1 0y, "),
        ] {
            assert_eq!(hash_told(&Pieces(pieces)), hash(told), "{pieces:?}");
        }
    }
}
