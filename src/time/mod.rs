//! Time: phases, clocks, and lengths of time.
//!
//! A [`Clock`] has a scale, can be paused, and can have clocks below it. [`clock`](clock()) is the game
//! clock of the running executor, [`realtime`] the one that is neither scaled nor paused. [`time`]
//! and [`delta_seconds`] read the clock of the calling script. A length is anything that
//! implements [`Seconds`]: a number of seconds or a `Duration`. All of it is integer arithmetic in
//! nanoseconds, so it is the same on every machine.
//!
//! # Examples
//!
//! ```
//! use framestep::prelude::*;
//!
//! let mut executor = Executor::new();
//! let slow = executor.clock().child();
//! slow.set_scale(0.5);
//! let room = executor.owner_on(&slow);
//! let trap = room.start(wait_seconds(0.5));
//! executor.run_until(trap, 0.25).unwrap();
//! assert_eq!(executor.time().frame, 4);
//! ```

mod clock;
mod phase;
mod reading;
mod seconds;

#[doc(alias = "deltaTime")]
pub use crate::task::script::delta_seconds;
#[doc(alias = "unscaledTime")]
pub use crate::task::script::realtime;
pub use crate::task::script::{clock, time};
#[doc(alias = "timeScale")]
pub use clock::Clock;
pub use clock::ClockGuard;
pub use phase::Phase;
pub use reading::Time;
pub use seconds::Seconds;

pub(crate) use clock::{Asks, AwaitedClock, ClockIndex, ClockRef, ClockState, FrameClock, Step};
pub(crate) use phase::PhaseIndex;
pub(crate) use seconds::Nanos;
