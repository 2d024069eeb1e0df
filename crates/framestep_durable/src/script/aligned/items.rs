//! Items of lists with labels, and which of them are new or gone.

use std::collections::{HashMap, HashSet};

use crate::journal::{Found, Site, Sites};
use crate::script::aligned::Aligned;

/// What has become of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    /// It was done, or was under way.
    Done,
    /// It stands behind the point of the save.
    Later,
    /// The earlier list did not have it.
    New,
    /// This list does not have it.
    Gone,
}

/// The items of all lists so far, by the hashes of their labels. Those of an inner list are others for
/// each item of the outer one.
#[derive(Default)]
pub(super) struct Items {
    of_lists: HashMap<u32, Item>,
    /// Labels that [`place`](crate::place()) has noted, without a list.
    alone: HashSet<u32>,
}

impl Items {
    pub(super) fn is_new(&self, label: u32) -> bool {
        self.of_lists.get(&label) == Some(&Item::New)
    }

    pub(super) fn is_gone(&self, label: u32) -> bool {
        self.of_lists.get(&label) == Some(&Item::Gone)
    }

    fn is_later(&self, label: u32) -> bool {
        self.of_lists.get(&label) == Some(&Item::Later)
    }
}

impl Aligned {
    /// Notes a label without a list.
    pub(crate) fn note_item_alone(&mut self, label: u32) {
        self.items.alone.insert(label);
    }

    /// Notes a list: the labels of its items as they were, and as they are. An error says why the script
    /// cannot go on.
    pub(crate) fn note_items(
        &mut self,
        now: &Site,
        labels_then: &[u32],
        labels_now: &[u32],
        sites: &Sites,
    ) -> Result<(), Found> {
        let places_then: HashMap<u32, usize> = labels_then.iter().copied().zip(0..).collect();
        let places_now: HashMap<u32, usize> = labels_now.iter().copied().zip(0..).collect();
        let (point, is_over) = self.point_of(now, &places_then, sites);
        let mut items = HashMap::new();
        for label in labels_now
            .iter()
            .filter(|label| !places_then.contains_key(label))
        {
            items.insert(*label, Item::New);
        }
        let mut latest = None;
        for (at, label) in labels_then.iter().enumerate() {
            let is_done = point.is_some_and(|point| at <= point);
            let item = match places_now.get(label) {
                None => Item::Gone,
                Some(_) if !is_done => Item::Later,
                // Those that were done are done in the order in which they were.
                Some(place) if latest > Some(*place) => {
                    return Err(self.found(
                        now,
                        "has its items in another order, and the save is behind some of them. Keep the order of \
                         those that were there",
                    ));
                }
                Some(place) => {
                    latest = Some(*place);
                    Item::Done
                }
            };
            items.insert(*label, item);
        }
        // What comes before the point now has not been done.
        let is_before = |label: &u32| places_now.get(label).copied() < latest;
        let mut later = labels_then
            .iter()
            .filter(|label| items.get(label) == Some(&Item::Later));
        if !is_over && latest.is_some() && later.any(is_before) {
            return Err(self.found(
                now,
                "has an item that was behind the point of the save, and is before it now: it has not been done. \
                 Move it back",
            ));
        }
        self.items.of_lists.extend(items);
        Ok(())
    }

    /// The place in the earlier list of the item at which the script was, or which it has come to last.
    /// And whether it has left the list.
    fn point_of(
        &self,
        now: &Site,
        places: &HashMap<u32, usize>,
        sites: &Sites,
    ) -> (Option<usize>, bool) {
        let place = |site| {
            let then: &Site = sites.get(site)?;
            places.get(&then.label).copied()
        };
        // Up to where the same list begins again.
        let is_again = |site| {
            let then: Option<&Site> = sites.get(site);
            then.is_some_and(|then| self.is_at(then, now) && then.is_like(now))
        };
        let run = self.left().take_while(|site| !is_again(*site));
        let run: Vec<Option<usize>> = run.map(place).collect();
        let last = run.iter().rposition(Option::is_some);
        let point = run.iter().flatten().max().copied();
        let is_over = last.is_none_or(|last| last + 1 < run.len());
        (point, is_over)
    }

    /// Says why a call of an item has no entry, if the item decides.
    pub(super) fn check_item(&self, now: &Site, sites: &Sites) -> Result<(), Found> {
        let says = if self.items.is_later(now.label) {
            "is of an item that was behind the point of the save, and is before it now: it has not been done. \
             Move it back"
        } else if self.is_unknown_item(now, sites) {
            "is of an item that is new or has not been done, which `place` alone does not say: use `labelled` for \
             the list"
        } else {
            return Ok(());
        };
        Err(self.found(now, says))
    }

    /// Whether a call is of an item whose label alone is known, and which the journal does not have.
    fn is_unknown_item(&self, now: &Site, sites: &Sites) -> bool {
        let is_it = |site| {
            sites
                .get(site)
                .is_some_and(|then: &Site| then.label == now.label)
        };
        self.items.alone.contains(&now.label) && !self.left().any(is_it)
    }
}
