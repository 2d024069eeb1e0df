//! Waits for what happens in the world.

#[cfg(feature = "asset")]
mod asset;
mod changed;
mod despawned;
mod event;
mod message;
#[cfg(feature = "state")]
mod state;
mod turn;
mod until;

pub(crate) use despawned::despawned;
pub(crate) use message::Feed;
pub(crate) use until::{Condition, Conditions};

#[cfg(feature = "asset")]
pub use asset::{AssetFailed, WaitForAsset, wait_for_asset};
pub use changed::ComponentChanged;
pub use event::{Events, NextEvent, NextEventOf, next_event};
pub use message::{Messages, NextMessage, messages, next_message};
#[cfg(feature = "state")]
pub use state::{WaitForState, next_transition, state_entered, state_exited, wait_for_state};
pub use until::{WaitUntilWorld, wait_until_world};
