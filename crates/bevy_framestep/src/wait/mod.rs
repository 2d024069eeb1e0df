//! Waits for changes and events in the world.

#[cfg(feature = "animation")]
mod animation;
#[cfg(feature = "asset")]
mod asset;
mod changed;
mod component;
mod conditions;
mod despawned;
mod event;
mod for_each;
#[cfg(feature = "input")]
mod input;
mod left;
mod message;
mod resource;
mod scan;
#[cfg(feature = "state")]
mod state;
#[cfg(feature = "tasks")]
mod task;
mod timer;
mod turn;
mod until;

pub(crate) use conditions::Conditions;
pub(crate) use left::Left;
pub(crate) use message::Feed;
pub(crate) use resource::Watch;
pub(crate) use scan::Scan;
pub(crate) use until::Condition;

#[cfg(feature = "animation")]
pub use animation::animation_finished;
#[cfg(feature = "asset")]
pub use asset::{AssetFailed, NextAssetEvent, WaitForAsset, next_asset_event, wait_for_asset};
pub use changed::ComponentChanged;
pub use component::ComponentUntil;
pub use despawned::Despawned;
pub use event::{Events, NextEvent, NextEventOf, next_event};
#[cfg(feature = "input")]
pub use input::{just_pressed, just_released};
pub use message::{Messages, NextMessage, messages, next_message};
pub use resource::wait_until_resource;
#[cfg(feature = "state")]
pub use state::{WaitForState, next_transition, state_entered, state_exited, wait_for_state};
#[cfg(feature = "tasks")]
pub use task::compute;
pub use timer::{WaitForTimer, wait_for_timer};
pub use until::{WaitUntilWorld, wait_until_world};
