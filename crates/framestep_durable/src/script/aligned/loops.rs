//! Loops over what no table tells: whether they have gone over the same items as at the save.

use std::collections::BTreeSet;

use crate::journal::Found;
use crate::places::gone_over::{Loop, around, with_item};
use crate::places::lists::Order;
use crate::places::table::Place;
use crate::places::{Difference, GoneOver, Match};
use crate::script::aligned::Aligned;

/// What is known of the items of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Items {
    /// The turns that have begun, and the hash of their items.
    Run(u32, u32),
    /// The hashes of a list that a table tells.
    List(Vec<u32>),
    /// Nothing.
    Unknown,
}

/// A loop in which the script waited.
struct LoopThen {
    /// Its statement in this build.
    now: u32,
    items: Items,
    items_now: Items,
    /// The turns that had begun. 0 if the save does not say it.
    turns: u32,
    /// Whether it goes over the same expression.
    is_alike: bool,
}

/// The loops in which the script waited, as far as this build has them.
pub(crate) struct LoopsThen(Vec<LoopThen>);

impl LoopsThen {
    /// Those around the statements `waits` of the earlier build.
    pub(crate) fn of(
        gone_over: &GoneOver,
        difference: &Difference,
        [old, new]: [&[Place]; 2],
        waits: &[u32],
    ) -> Self {
        let loops = waits.iter().flat_map(|&wait| around(old, wait));
        let loops: BTreeSet<u32> = loops.collect();
        let items_then = |then, list| {
            let run = gone_over.of(then).filter(|of| of.items != 0);
            run.map_or(list, |run| Items::Run(run.turns, run.items))
        };
        let loops = loops.into_iter().filter_map(|then| {
            let now = difference.now(then).other()?;
            let (old_place, new_place) = (old.get(then as usize)?, new.get(now as usize)?);
            let [list_then, list_now] =
                [(old, then), (new, now)].map(|(of, at)| Items::of_table(of, at));
            if list_then != Items::Unknown && list_now != Items::Unknown {
                // The difference of the tables says it.
                return None;
            }
            let items = items_then(then, list_then);
            let is_loop = new_place.is_loop || items != Items::Unknown;
            is_loop.then_some(LoopThen {
                now,
                items,
                items_now: list_now,
                turns: gone_over.of(then).map_or(0, |of| of.turns),
                is_alike: old_place.head == new_place.head,
            })
        });
        let mut loops: Vec<LoopThen> = loops.collect();
        // A loop of another kind in the place of one that is gone.
        for &wait in waits {
            let Some(wait_now) = difference.now(wait).other() else {
                continue;
            };
            let gone = around(old, wait).filter(|&then| difference.now(then) == Match::None);
            let gone = gone.map(|then| items_then(then, Items::of_table(old, then)));
            let gone = gone.filter(|items| *items != Items::Unknown);
            let is_new = |now: &u32| {
                let place = new.get(*now as usize);
                difference.then(*now) == Match::None && place.is_some_and(|place| place.is_loop)
            };
            let is_new = around(new, wait_now).filter(is_new);
            loops.extend(gone.zip(is_new).map(|(items, now)| LoopThen {
                now,
                items,
                items_now: Items::of_table(new, now),
                turns: 0,
                is_alike: false,
            }));
        }
        LoopsThen(loops)
    }
}

impl LoopThen {
    /// Whether all that is known of it are its turns, and another one is under way.
    fn is_in_other_turn(&self, items_now: &Items, loop_now: Option<Loop>) -> bool {
        let are_known = self.items != Items::Unknown || *items_now != Items::Unknown;
        let turns = loop_now.map_or(0, |now| now.turns);
        !are_known && self.turns != 0 && turns != 0 && turns != self.turns
    }
}

impl Items {
    /// What a table tells of the list of a loop.
    fn of_table(table: &[Place], of: u32) -> Items {
        let numbered = || (0_u32..).zip(table);
        let is_its_list = |place: &Place| {
            place.is_list() && u32::from(place.parent) == of && place.order() == Order::Items
        };
        let Some((list, _)) = numbered().find(|(_, place)| is_its_list(place)) else {
            return Items::Unknown;
        };
        let items = numbered().filter(|(number, place)| {
            *number > list && u32::from(place.parent) == list && !place.is_statement()
        });
        Items::List(items.map(|(_, place)| place.full).collect())
    }

    /// Whether both have led to the same turn. `None` if that is not known.
    fn are(&self, others: &Items, is_alike: bool) -> Option<bool> {
        match (self, others) {
            (Items::Run(turns, items), Items::Run(of_others, others)) => {
                Some((turns, items) == (of_others, others))
            }
            (Items::Run(turns, items), Items::List(list))
            | (Items::List(list), Items::Run(turns, items)) => {
                let begun = list.get(..*turns as usize);
                let fold = |hash, item: &u32| with_item(hash, (*item).max(1));
                Some(begun.is_some_and(|begun| begun.iter().fold(0, fold) == *items))
            }
            // Of loops that are not the same one, the turns are not known.
            (Items::List(list), Items::List(others)) => Some(list == others),
            (Items::Unknown, Items::Unknown) => None,
            // Of the same code, `Debug` was derived since.
            (Items::Unknown, _) => (!is_alike).then_some(false),
            (_, Items::Unknown) => Some(false),
        }
    }
}

impl Aligned {
    /// Says why the script cannot go on in the loops in which it waits.
    pub(super) fn check_loops(&self, gone_over: &GoneOver) -> Result<(), Found> {
        for of in &self.loops_then.0 {
            let loop_now = gone_over.of(of.now);
            let run = loop_now.filter(|now| now.items != 0);
            let run = run.map(|now| Items::Run(now.turns, now.items));
            let now = run.as_ref().unwrap_or(&of.items_now);
            if of.is_in_other_turn(now, loop_now) {
                return Err(Found::Place {
                    entry: self.entry(),
                    recorded: None,
                    found: format!(
                        "waits in the loop at {}, in another turn than at the save: a loop in it goes round more often, \
                         or less, before the point of the save",
                        self.line_at(of.now)
                    ),
                });
            }
            if of.items.are(now, of.is_alike) == Some(false) {
                return Err(Found::Place {
                    entry: self.entry(),
                    recorded: None,
                    found: format!(
                        "waits in the loop at {}, which has gone over other items than at the save. Leave those that \
                         were there as they were, with new ones behind them, until no save is in the loop, or give \
                         them labels: `for item in labelled(list, |item| item.id)`",
                        self.line_at(of.now)
                    ),
                });
            }
        }
        Ok(())
    }
}
