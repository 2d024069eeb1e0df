//! What the loops of a script have gone over that no table tells: lists that functions return, one of several lists
//! in a constant, queues that a `while let` empties.
//!
//! Each turn adds a hash of its item, so the same turns lead to the same number. A file has the numbers of the loops
//! in which its scripts wait. A load compares them with those to which the replay has led: a list that is another
//! one before the point of the save is found.

use std::fmt::Debug;
use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::hash::{FNV, fnv};
use crate::places::lists::hash_told;
use crate::places::table::Place;

/// A loop that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Loop {
    /// The statement.
    pub(crate) place: u32,
    /// The turns that have begun.
    pub(crate) turns: u32,
    /// The hash of their items. 0 if none was told.
    pub(crate) items: u32,
}

/// The loops that have begun last, by their statements. A copy is a reference: only a change while there is another
/// copy copies the list.
#[derive(Clone, Debug, Default)]
pub(crate) struct GoneOver(Option<Rc<Vec<Loop>>>);

/// Adds an item to the hash of those before it.
pub(crate) fn with_item(items: u32, told: u32) -> u32 {
    let before = if items == 0 { FNV } else { items };
    fnv(&told.to_le_bytes(), before).max(1)
}

impl GoneOver {
    pub(crate) fn all(&self) -> &[Loop] {
        self.0.as_ref().map_or(&[], |all| all)
    }

    /// The loop of a statement.
    pub(crate) fn of(&self, place: u32) -> Option<Loop> {
        self.all().iter().find(|of| of.place == place).copied()
    }

    fn change(&mut self, place: u32) -> &mut Loop {
        let all = Rc::make_mut(self.0.get_or_insert_default());
        let known = all.iter().position(|of| of.place == place);
        let at = known.unwrap_or_else(|| {
            all.push(Loop {
                place,
                turns: 0,
                items: 0,
            });
            all.len() - 1
        });
        &mut all[at]
    }

    pub(crate) fn begin(&mut self, place: u32) {
        let of = self.change(place);
        (of.turns, of.items) = (0, 0);
    }

    pub(crate) fn turn(&mut self, place: u32) {
        let of = self.change(place);
        of.turns = of.turns.saturating_add(1);
    }

    pub(crate) fn item(&mut self, place: u32, told: u32) {
        let of = self.change(place);
        of.items = with_item(of.items, told);
    }

    /// The same of those in which one of these statements stands.
    pub(crate) fn around(&self, statements: &[Place], places: &[u32]) -> Self {
        let is_around = |of: &&Loop| {
            let mut places = places.iter();
            places.any(|&place| around(statements, place).any(|around| around == of.place))
        };
        let left: Vec<Loop> = self.all().iter().filter(is_around).copied().collect();
        GoneOver((!left.is_empty()).then(|| Rc::new(left)))
    }
}

/// The statements around one of a table, from the inside.
pub(crate) fn around(statements: &[Place], place: u32) -> impl Iterator<Item = u32> {
    let parent = move |of: u32| {
        let of = statements.get(of as usize);
        // A statement is in one before it.
        of.map_or(0, |of| u32::from(of.parent))
    };
    let around = std::iter::successors(Some(parent(place)), move |of| Some(parent(*of)));
    around.take_while(|of| *of != 0)
}

impl Serialize for GoneOver {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.all().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for GoneOver {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let all = Vec::deserialize(deserializer)?;
        Ok(GoneOver((!all.is_empty()).then(|| Rc::new(all))))
    }
}

/// What one turn of a loop is about, which may tell it.
#[derive(Debug)]
pub struct Item<'a, T: ?Sized>(pub &'a T);

/// What an [`Item`] tells that can be told. Of the two with this method, the compiler takes the first one that it
/// finds.
pub trait TellsItem {
    /// A hash of what it is, which is not 0.
    fn told(&self) -> u32;
}

/// What each other one tells.
pub trait HidesItem {
    /// 0.
    fn told(&self) -> u32;
}

impl<T: Debug + ?Sized> TellsItem for &Item<'_, T> {
    fn told(&self) -> u32 {
        hash_told(&self.0).max(1)
    }
}

impl<T: ?Sized> HidesItem for Item<'_, T> {
    fn told(&self) -> u32 {
        0
    }
}
