//! What the expansion of `#[durable]` and `framestep_live` refer to. Not part of the public interface.

pub use serde;

pub use crate::places::gone_over::{HidesItem, Item, TellsItem};
pub use crate::places::lists::{
    AllPlaces, Counts, Hides, Items, List, Order, Tells, Value, with_items,
};
pub use crate::places::note::{
    At, Branch, InPlace, begin_turn, begin_turns, item_of_loop, note_place, place_of,
};
pub use crate::places::table::{AddsLists, Place, Places};
pub use crate::places::watch::{Running, Watched, watch_this_thread};
pub use crate::script::caller::promises_outside;
pub use crate::script::saved::{NotStarted, Saved, Started};
use crate::script::{Chapter, DurableScript};

/// How a chapter ends whose function returns a `Result`, for `?`.
pub fn end_of<S, T, E>(result: Result<Chapter<S, T>, E>) -> Chapter<S>
where
    S: DurableScript<Output = Result<T, E>>,
{
    match result {
        Ok(Chapter::Next(state)) => Chapter::Next(state),
        Ok(Chapter::Done(output)) => Chapter::Done(Ok(output)),
        Err(error) => Chapter::Done(Err(error)),
    }
}
