//! Time: phases, lengths of time, clocks. Arithmetic on whole nanoseconds,
//! without coroutines.

mod clock;
mod phase;
mod reading;
mod seconds;

pub use clock::{Clock, ClockGuard};
pub use phase::Phase;
pub use reading::Time;
pub use seconds::Seconds;

pub(crate) use clock::{Asks, AwaitedClock, ClockIndex, ClockRef, ClockState, FrameClock, Step};
pub(crate) use phase::PhaseIndex;
pub(crate) use seconds::Nanos;
