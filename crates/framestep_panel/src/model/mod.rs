//! What the views show. It does not depend on a GUI.

mod cells;
mod control;
mod filter;
mod frame;
mod kind;
mod listener;
mod palette;
mod panel;
mod runs;
mod script;
mod sources;
mod text;
mod tree;
mod warning;

pub use control::{Dt, Pace};
pub use filter::{Filter, Order};
pub use frame::{Frame, Mark};
pub use kind::Kind;
pub(crate) use palette::Palette;
pub use panel::Panel;
pub use script::{Script, Waiting};
pub(crate) use text::duration;
pub use tree::Row;
pub use warning::{Level, Warning};
