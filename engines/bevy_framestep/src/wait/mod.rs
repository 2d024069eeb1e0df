//! Waits for what happens in the world.

mod changed;
mod despawned;
mod event;
mod message;
#[cfg(feature = "state")]
mod state;

pub(crate) use changed::changed;
pub(crate) use despawned::despawned;
pub(crate) use event::next_event_of;
pub(crate) use message::Feed;

pub use event::{Events, next_event};
pub use message::{Messages, messages, next_message};
#[cfg(feature = "state")]
pub use state::{next_transition, state_entered, state_exited, wait_for_state};
