//! The table of waits, from which all tests of every wait are made.
//!
//! `table.rs` has a row for each way to make a wait. A row says what the wait depends on,
//! when it is due, and what a snapshot shows. A test goes through the rows, or those with
//! the properties that it needs. The fuzz target includes this folder, too.

mod boxed;
mod case;
mod given;
#[macro_use]
mod row;
mod table;

pub use boxed::Boxed;
pub use case::{Case, When, cases};
pub use given::{Arg, Given, Length};
pub use row::{Begun, OnClock, Place, Row, Rule};
pub use table::WAITS;
