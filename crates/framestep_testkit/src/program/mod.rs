//! Random programs: a small language, a generator, a shrinker, and a world that runs programs
//! on a system and records what they do. A reference of the contract judges them, or the
//! program itself under other circumstances.

mod features;
mod generator;
mod language;
#[macro_use]
mod own;
mod real;
mod search;
mod shrink;
mod system;
mod trace;
mod world;

pub use features::Judge;
pub use generator::{program, words};
pub use language::{
    Act, At, ClockAct, Drive, Hear, How, Mode, On, Op, OwnerAct, Program, Script, Settings, Step,
    To, UNIT, Wait,
};
pub use own::{Length, Own, rows};
pub use real::Real;
pub use search::{Found, Search, difference};
pub use shrink::minimised;
pub use system::{Calls, Keep, Refused, Scripted, System, Waiting};
pub use trace::{Event, Got, Lent, Trace, What, Who};
pub use world::groups;
pub use world::{Around, World};
