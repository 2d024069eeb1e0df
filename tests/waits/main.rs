//! Each wait, and each combinator, by itself; `every` has the table of all waits
//! and tests that hold for all of them.

mod abandoned;
mod animate;
mod budget;
mod combinators;
mod every;
mod fewer_items;
mod hidden_waits;
mod interval;
mod join;
mod join_macro;
mod join_many;
mod moved_timers;
mod on_clock;
mod select;
mod sequence;
mod shared_waits;
mod signatures;
mod streams;
mod timeout;
mod tokio_comparison;
mod try_join_all;
mod tween;
mod when_each;
mod yield_now;
