//! Places: which statement of a script makes a call, from one build to another.
//!
//! `#[durable]` numbers the statements of a script, makes a [table](table) of them, and
//! [notes](note) which one runs. A file has the tables of its scripts. So another build finds which
//! statements are the same, have changed, are new, are gone, or stand elsewhere: the
//! [difference](difference). What the tables leave open are [doubts](doubts), judged by the words that statements
//! have in common: their [sketches](sketch). The items of [lists](lists) that loops go over stand in the same tables. What
//! no table tells, loops tell turn by turn: what they have [gone over](gone_over). `watch` tells another thread which statement runs.

pub(crate) mod difference;
pub(crate) mod doubts;
pub(crate) mod gone_over;
pub(crate) mod lists;
pub(crate) mod note;
pub(crate) mod sketch;
pub(crate) mod table;
pub(crate) mod watch;

pub(crate) use self::difference::{Difference, Match, Turns};
pub(crate) use self::gone_over::GoneOver;
pub(crate) use self::table::{Table, Tables};
