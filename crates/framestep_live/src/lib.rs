//! Change the scripts of a game while it runs: they go on at their awaits in the new code.
//!
//! Save a file of [durable scripts](framestep_durable). Half a second later, all of them go on
//! where they waited, in the new code: with their deadlines, their order, their owners and their
//! clocks. If the code does not compile, the compiler's words are shown and the earlier code goes
//! on. If the world or a library has changed, the game is built, saved, tried and replaced, and goes on
//! at the same frame.
//!
//! Nothing of the running game is lost without a word: see [`Balance`], [`Live::update_game`] and
//! [`Game::hangs_after`].
//!
//! # Set-up
//!
//! Three packages: the world, the scripts, and the game.
//!
//! ```toml
//! # scripts/Cargo.toml
//! [lib]
//! crate-type = ["rlib", "cdylib"]
//!
//! [features]
//! live = ["dep:framestep_live"]
//!
//! [dependencies]
//! world = { path = "../world" }
//! framestep_durable = "0.1"
//! framestep_live = { version = "0.1", optional = true }
//!
//! # game/Cargo.toml
//! [features]
//! live = ["dep:framestep_live", "scripts/live"]
//!
//! [dependencies]
//! world = { path = "../world" }
//! scripts = { path = "../scripts" }
//! framestep_durable = "0.1"
//! framestep_live = { version = "0.1", optional = true }
//! ```
//!
//! ```ignore
//! // scripts/src/lib.rs
//! pub fn registry() -> Registry {
//!     Registry::new().script(boss)
//! }
//!
//! #[cfg(feature = "live")]
//! framestep_live::export!(registry);
//!
//! // game/src/main.rs
//! #[cfg(feature = "live")]
//! let mut live = framestep_live::Live::watch(framestep_live::game!("scripts"));
//! loop {
//!     #[cfg(feature = "live")]
//!     live.update_game(&mut runtime, &mut world);
//!     runtime.run_frame_with(&mut world, dt);
//! }
//! ```
//!
//! Start it with `cargo run --features live`. Without the feature, and in a release, nothing of this
//! is in the game.
//!
//! - [`Live::update`] exchanges the scripts. [`Live::update_game`] can also replace the process.
//!   [`Live::update_with`] plays the last frames again in the new code, from a [`History`].
//! - [`Live::status`] is for a game that shows what happens in its window. It is also printed.
//!
//! # What can change, and what not
//!
//! - **The code of the scripts**, freely. A script whose new code does not do what its journal says
//!   restarts its chapter. One that could only be dropped, because it was removed or its parameters
//!   are others, or that would lose a parameter, is a reason to refuse the new code, until [`Live::accept`].
//! - **What the game itself uses of the scripts**, other than their code: the game is built and replaced, because it
//!   calls what is linked into it.
//! - **Everything else**: the game is built and replaced.
//! - **The type of the world must not be in the crate of the scripts.** Such a type would have one
//!   layout in the game and another one in the new code. That is refused.
//! - **Statics of the scripts and of the world** exist once in the game and once in each library.
//!   Durable scripts must not use them anyway.
//! - **Plain scripts** of framestep go on in the code in which they began. New ones begin in the
//!   code that starts them.
//!
//! # How it works
//!
//! This crate is a `dylib`: the game takes framestep and `std` from it, and so does the library of
//! the scripts. Cargo builds that library from the same sources with the same features as the game.
//! It is copied and loaded, and never unloaded. If cargo has built another crate than the scripts
//! anew, or one of them is newer than the process, the library is not loaded.
//!
//! Tested on Linux. Windows and macOS are untried.

/// The code of the chapter in the guide is tested.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/live.md")]
mod guide {}

#[cfg(not(debug_assertions))]
compile_error!(
    "`framestep_live` is for development: a release would need its libraries beside it. Build the \
     release without the feature that turns it on (`live`). To play an optimised game while you \
     change it, set `opt-level` in `[profile.dev]`, or `debug-assertions = true` in a profile of \
     your own"
);

mod builder;
mod cargo;
mod game;
mod history;
mod left;
mod linked;
mod live;
mod loader;
mod lost;
mod metadata;
mod panics;
mod process;
mod quiet;
mod sources;
mod status;
mod tokens;
mod trial;
mod watchdog;
mod worker;

pub use game::Game;
pub use history::{History, HistoryError};
pub use live::Live;
pub use loader::{LoadError, load};
pub use status::{Balance, BuildTimings, Building, Status};

/// For the macros.
#[doc(hidden)]
pub mod __private {
    pub use crate::loader::{Scripts, Stamp, stamp};
    pub use framestep_durable::Registry;
}

/// Exports the scripts of this crate: `export!(registry)`, with a `fn() -> Registry`.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[durable]
/// async fn boss() {
///     wait_seconds(1).await;
/// }
///
/// pub fn registry() -> Registry {
///     Registry::new().script(boss)
/// }
///
/// framestep_live::export!(registry);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export {
    ($registry:path) => {
        const _: () = {
            #[unsafe(no_mangle)]
            pub extern "C" fn framestep_live_stamp() -> usize {
                $crate::__private::stamp()
            }
            #[unsafe(no_mangle)]
            pub fn framestep_live_registry() -> $crate::__private::Registry {
                $registry()
            }
            // Their types, as the game expects them.
            const _: $crate::__private::Stamp = framestep_live_stamp;
            const _: $crate::__private::Scripts = framestep_live_registry;
        };
    };
}

/// The game whose package calls this, for [`Live::watch`]: `game!("scripts")`, with the name of the
/// package of the scripts. See [`Game`] for what else can be said.
///
/// # Examples
///
/// ```
/// use framestep_live::{Game, game};
///
/// let game: Game = game!("scripts").features(["live", "cheats"]).watch_folder("assets");
/// ```
#[macro_export]
macro_rules! game {
    ($scripts:expr) => {
        $crate::Game::new(
            ::core::env!("CARGO_MANIFEST_DIR"),
            ::core::env!("CARGO_PKG_NAME"),
            $scripts,
        )
    };
}
