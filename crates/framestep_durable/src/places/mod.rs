//! Places: which statement of a script makes a call, from one build to another.
//!
//! `#[durable]` numbers the statements of a script, makes a [table](table) of them, and
//! [notes](note) which one runs. A file has the tables of its scripts. So another build finds which
//! statements are the same, have changed, are new, are gone, or stand elsewhere: the
//! [difference](difference). What the tables leave open are [doubts](doubts), judged by the words that statements
//! have in common: their [sketches](sketch). The items of [lists](lists) that loops go over stand in the same tables.
//! `watch` tells another thread which statement runs.

pub(crate) mod difference;
pub(crate) mod doubts;
pub(crate) mod lists;
pub(crate) mod note;
pub(crate) mod sketch;
pub(crate) mod table;
pub(crate) mod watch;

pub(crate) use self::difference::{Difference, Match, Turns};
pub(crate) use self::table::{Table, Tables};
