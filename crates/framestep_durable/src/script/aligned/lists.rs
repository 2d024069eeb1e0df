//! Loops over lists that both builds know: which item each turn of now is.

use std::collections::BTreeMap;

use crate::journal::{Found, Site, SiteId, Sites};
use crate::places::gone_over::around;
use crate::places::lists::Order;
use crate::places::table::{Place, Places};
use crate::places::{Difference, GoneOver, Match};
use crate::script::aligned::Aligned;

/// The item of a turn of now.
#[derive(Clone, Copy)]
struct Item {
    /// Its number in the earlier list. `None` if it is new there.
    then: Option<u32>,
    /// The item as a statement of the earlier build.
    place_then: u32,
    /// Whether this item and those before it are exactly those that the earlier list had up to it, and new ones.
    has_all_before: bool,
    /// The same, and whether it was the last of them: a turn that has begun may have yet to do what it does.
    is_in_order: bool,
}

/// A list that a loop goes over.
struct List {
    order: Order,
    items: Vec<Item>,
    /// Whether nothing has changed but texts, and what stands at the end.
    is_kept: bool,
    /// Whether an item is gone or has moved.
    has_lost: bool,
    /// The turn under way, from 1, or the last one. 0 before the first one, and `None` before the loop.
    turn: Option<u32>,
    /// Pairs of an item that is gone and a new one that may be the same, by their numbers.
    elsewhere: Vec<(u32, u32)>,
    /// The turn under way at the save, from 1, if it says that.
    turn_then: Option<u32>,
}

/// The lists that loops of a script go over, by the statements of now, and their numbers in the table.
#[derive(Default)]
pub(super) struct Lists(BTreeMap<(u32, u32), List>);

impl Lists {
    pub(super) fn of(
        difference: &Difference,
        old: &[Place],
        places: Places,
        gone_over: &GoneOver,
    ) -> Self {
        let turn_then = |of: u32| {
            let then = difference.then(of).other()?;
            Some(gone_over.of(then)?.turns)
        };
        let all = places.all();
        let behind_statements = all.iter().enumerate().skip(places.list.len());
        let lists = behind_statements.filter(|(_, place)| place.is_list());
        let lists = lists.filter_map(|(number, place)| {
            let number = u32::try_from(number).ok()?;
            let then = difference.then(number).other()?;
            let is_list = old.get(then as usize).is_some_and(Place::is_list);
            let of = u32::from(place.parent);
            is_list.then(|| {
                let tables = [(old, then), (all, number)];
                let list = List {
                    turn_then: turn_then(of),
                    ..List::of(difference, tables, place.order())
                };
                ((of, number), list)
            })
        });
        Lists(lists.collect())
    }

    fn begin(&mut self, of: u32, is_next: bool) {
        let lists = self.0.range_mut((of, 0)..=(of, u32::MAX));
        // Of others, the turns are no items.
        for (_, list) in lists.filter(|(_, list)| list.has_item_a_turn()) {
            let turn = list.turn.filter(|_| is_next);
            list.turn = Some(turn.map_or(0, |turn| turn.saturating_add(1)));
        }
    }
}

impl List {
    /// Of the lists with these numbers, in these tables.
    fn of(
        difference: &Difference,
        [(old, then), (new, now)]: [(&[Place], u32); 2],
        order: Order,
    ) -> Self {
        let numbers = |of: &[Place], list: u32| -> Vec<u32> {
            let all = (0_u32..).zip(of);
            let parts =
                all.filter(|(number, place)| *number != 0 && u32::from(place.parent) == list);
            parts.map(|(number, _)| number).collect()
        };
        let (olds, news) = (numbers(old, then), numbers(new, now));
        let at = |list: &[u32], place: u32| {
            list.binary_search(&place)
                .ok()
                .and_then(|at| u32::try_from(at).ok())
        };
        let is_unsure = matches!(order, Order::Forward | Order::Any);
        let (mut known, mut latest, mut are_here) = (0_u32, None, true);
        let items = news.iter().map(|&place| {
            let status = match difference.then(place) {
                // What in it has changed is not known.
                Match::Changed(_) if is_unsure && new[place as usize].is_list_of_lists() => {
                    Match::None
                }
                status => status,
            };
            let place_then = status.other().unwrap_or(0);
            let then = at(&olds, place_then);
            if status != Match::None {
                known += 1;
                latest = latest.max(then);
                are_here &= then.is_some();
            }
            let has_all_before = are_here && latest.is_none_or(|latest| latest + 1 == known);
            Item {
                then: if status == Match::None {
                    None
                } else {
                    then.or(Some(u32::MAX))
                },
                place_then,
                has_all_before,
                is_in_order: has_all_before && (status == Match::None || then == latest),
            }
        });
        let items: Vec<Item> = items.collect();
        let count = u32::try_from(olds.len()).unwrap_or(u32::MAX);
        let mut numbered = (0_u32..).zip(&items);
        let may_grow = !matches!(order, Order::Any | Order::Untold) || items.len() == olds.len();
        let is_kept = may_grow
            && items.len() >= olds.len()
            && numbered.all(|(now, item)| item.then == if now < count { Some(now) } else { None });
        let are_all_here = items.last().is_some_and(|last| last.has_all_before);
        let elsewhere = difference.doubts.elsewhere.iter();
        let elsewhere =
            elsewhere.filter_map(|pair| Some((at(&olds, pair.then)?, at(&news, pair.now)?)));
        List {
            order,
            items,
            is_kept,
            has_lost: !are_all_here || known != count,
            turn: None,
            elsewhere: elsewhere.collect(),
            turn_then: None,
        }
    }

    /// Whether each turn is an item, in the order of the list.
    fn has_item_a_turn(&self) -> bool {
        matches!(self.order, Order::Items | Order::Untold)
    }

    /// The item of the turn under way.
    fn item(&self) -> Option<&Item> {
        let at = self
            .turn?
            .checked_sub(1)
            .filter(|_| self.order == Order::Items)?;
        self.items.get(at as usize)
    }

    /// Whether the turn under way is not that of the item at which the save is.
    fn is_at_other_item(&self) -> bool {
        let then = self.turn_then.and_then(|turn| turn.checked_sub(1));
        let now = self.item().map(|item| item.then);
        then.is_some() && now.is_some_and(|now| now != then)
    }
}

/// What to do about it.
const LABEL_THEM: &str = "Leave the items that were there as they were, with new ones behind them, until no save is in \
                          the loop, or give them labels: `for item in labelled(LIST, |item| item.id)`";

impl Aligned {
    /// Notes that a loop over a list begins, or its next turn.
    pub(crate) fn note_turn(&mut self, of: u32, is_next: bool) {
        self.lists.begin(of, is_next);
    }

    /// The lists of the loops around a statement of now, with the statements of these.
    fn lists_around(&self, now: u32) -> impl Iterator<Item = (u32, &List)> {
        let first = if self.lists.0.is_empty() { 0 } else { now };
        self.around(first)
            .flat_map(|of| self.lists.0.range((of, 0)..=(of, u32::MAX)))
            .map(|((of, _), list)| (*of, list))
    }

    /// The statements around one of now.
    fn around(&self, now: u32) -> impl Iterator<Item = u32> {
        around(self.places.list, now)
    }

    /// Whether a call is made in the turn of an item that is new.
    pub(super) fn is_of_new_item(&self, now: &Site) -> bool {
        let mut lists = self.lists_around(now.place);
        lists.any(|(_, list)| list.item().is_some_and(|item| item.then.is_none()))
    }

    /// Says why a value cannot be taken in the turns under way: it may be that of another item.
    pub(super) fn check_turns(&self, now: &Site) -> Result<(), Found> {
        self.wrong_turn(now.place).map_or(Ok(()), |says| {
            Err(self.found(now, &format!("reads a value {says}")))
        })
    }

    /// Says why a script cannot go on in the turns in which it waits.
    pub(super) fn check_turns_at(&self, saved: &[SiteId], sites: &Sites) -> Result<(), Found> {
        let saved = saved.iter().filter_map(|site| sites.get(*site));
        for now in saved.filter_map(|then| self.difference.now(then.place).other()) {
            if let Some(says) = self.wrong_turn(now).or_else(|| self.other_turn(now)) {
                return Err(Found::Place {
                    entry: self.entry(),
                    recorded: None,
                    found: format!("waits {says}"),
                });
            }
        }
        Ok(())
    }

    /// What is wrong with a turn under way around a statement of now, if something is.
    fn wrong_turn(&self, now: u32) -> Option<String> {
        let mut lists = self.lists_around(now);
        lists.find_map(|(of, list)| {
            let says = self.wrong_item(list)?;
            Some(format!(
                "in the loop over a list at {}, {says}. {LABEL_THEM}",
                self.line_at(of)
            ))
        })
    }

    /// The loop around a statement of now whose turn under way is that of another item, if there is one.
    fn other_turn(&self, now: u32) -> Option<String> {
        let mut lists = self.lists_around(now);
        let (of, _) = lists.find(|(_, list)| list.is_at_other_item())?;
        Some(format!(
            "in the loop over a list at {}, in the turn of another item than at the save. {LABEL_THEM}",
            self.line_at(of)
        ))
    }

    /// Whether a recorded call was made for an item that is gone: the loop is over now, as it was in the save, and
    /// the save has more turns. `here` is where the script is.
    pub(super) fn is_of_lost_item(&self, then: &Site, here: &[u32], sites: &Sites) -> bool {
        if self.lists.0.is_empty() {
            return false;
        }
        let now = |then: u32| self.difference.now(then).other();
        let is_within = |place: u32, of: u32| self.around(place).any(|around| around == of);
        let saved = || {
            self.saved
                .iter()
                .filter_map(|wait| now(sites.get(wait.site)?.place))
        };
        let mut lists = now(then.place)
            .into_iter()
            .flat_map(|now| self.lists_around(now));
        lists.any(|(of, list)| {
            let turns = u32::try_from(list.items.len()).ok();
            list.has_lost
                && list.turn.is_some()
                && list.turn == turns
                && !here.iter().any(|&place| is_within(place, of))
                && !saved().any(|place| is_within(place, of))
        })
    }

    /// What has become of the list around what the save has next, if that is why the script does not come to it.
    pub(super) fn lost_items(&self, sites: &Sites) -> Option<String> {
        let saved = self.saved.first().map(|wait| wait.site);
        let then = sites.get(self.next().map(|next| next.site).or(saved)?)?;
        let now = self.difference.now(then.place).other()?;
        let mut lists = self.lists_around(now);
        let (of, _) = lists.find(|(_, list)| list.has_lost)?;
        Some(format!(
            "in the loop over a list at {}, of which an item is gone or has moved. {LABEL_THEM}",
            self.line_at(of)
        ))
    }

    fn wrong_item(&self, list: &List) -> Option<String> {
        if list.order == Order::Untold {
            let says = "which has another number of items now: which of them are new is told only if they have \
                        `Debug`. Derive it before a build is shipped";
            return (!list.is_kept).then(|| says.to_owned());
        }
        if list.order != Order::Items {
            let says = "whose items are others now, or in another order: the save does not say which turn is which";
            return (!list.is_kept).then(|| says.to_owned());
        }
        let item = list.item()?;
        let number = list.turn?;
        if !item.is_in_order {
            return Some(format!(
                "where an item before the {number}. or this one is gone or has moved: the save does not say what \
                 was done for it"
            ));
        }
        let then = item.then?;
        if self.difference.doubts.of(item.place_then).is_some() {
            return Some(format!(
                "whose {number}. item has another text, and may be the {}. of before, or another one",
                then + 1
            ));
        }
        let turn = number - 1;
        let mut elsewhere = list.elsewhere.iter();
        let (_, new) = elsewhere.find(|(gone, new)| (*gone <= then) != (*new <= turn))?;
        Some(format!(
            "whose {}. item is new, or one that has moved and has another text: it would be done twice, or never",
            new + 1
        ))
    }
}
