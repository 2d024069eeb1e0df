//! The attribute `#[durable]` of [`framestep_durable`], which exports it: it makes a script that
//! can be saved out of an `async fn`, or out of a module of chapters. Games use it through
//! `framestep_durable::prelude`.
//!
//! [`framestep_durable`]: https://docs.rs/framestep_durable

#![forbid(unsafe_code)]

/// The code of the README is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod arguments;
mod expand;
mod function;
mod module;
mod names;
mod output;
mod places;
mod saved;
mod script;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Makes a durable script of an `async fn`, or of a module of chapters.
///
/// # A function
///
/// The parameters are the state with which the script begins. A call of the function makes the
/// state, and the body runs when the state is started. The registry knows a script by its function.
///
/// ```
/// use framestep_durable::prelude::*;
///
/// struct World {
///     coins: Vec<u32>,
/// }
///
/// /// Removes a coin after a second.
/// #[durable]
/// async fn coin(number: u32) {
///     wait_seconds(1).await;
///     with(move |world: &mut World| world.coins.retain(|&other| other != number));
/// }
///
/// let mut runtime = Runtime::new(Registry::new().script(coin));
/// let mut world = World { coins: vec![1, 2, 3] };
/// runtime.spawn(coin(2));
/// for _ in 0..6 {
///     runtime.run_frame_with(&mut world, 0.25);
/// }
/// assert_eq!(world.coins, [1, 3]);
/// ```
///
/// The output of the script is what the function returns. A script that awaits the state of
/// another starts it, and joins it: `duel(2).await` is `start(duel(2)).await`. Where the output
/// is a `Result`, `?` works as in any function:
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[durable]
/// async fn duel(rounds: u64) -> u64 {
///     wait_frames(rounds).await;
///     10 * rounds
/// }
///
/// #[durable]
/// async fn tournament() -> Result<u64, JoinError> {
///     let first = duel(1).await?;
///     let second = duel(2).await?;
///     Ok(first + second)
/// }
///
/// let mut runtime = Runtime::new(Registry::new().script(duel).script(tournament));
/// let prize = runtime.start(tournament());
/// for _ in 0..4 {
///     runtime.run_frame(0.1);
/// }
/// assert_eq!(runtime.take(prize), Some(Ok(Ok(30))));
/// ```
///
/// # Chapters
///
/// A function that returns `Chapter<T>` ends with `Chapter::Done(output)`, or with
/// `Chapter::Next(state)`: then another chapter begins, with an empty journal. `Chapter` alone is
/// `Chapter<()>`. For `?`, return `Result<Chapter<T>, E>`, or an alias such as `io::Result`: an error
/// ends the script, and its output is a `Result<T, E>`.
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[durable]
/// async fn countdown(from: u32) -> Chapter<String> {
///     wait_seconds(1).await;
///     match from {
///         0 => Chapter::Done("Liftoff".into()),
///         _ => Chapter::Next(countdown(from - 1)),
///     }
/// }
/// # let mut runtime = Runtime::new(Registry::new().script(countdown));
/// # let end = runtime.start(countdown(3));
/// # for _ in 0..20 { runtime.run_frame(0.25); }
/// # assert_eq!(runtime.take(end), Some(Ok("Liftoff".into())));
/// ```
///
/// # A module of chapters
///
/// A script whose chapters differ is a module. Each function with `#[chapter]` is a chapter. The
/// state is an enum, which has a variant for each chapter, with its name in `CamelCase`. All chapters
/// have the same output; one that only ends the script may return it without `Chapter`. Everything
/// else in the module stays as it is. The registry knows a script by any of its chapters.
///
/// ```
/// use framestep_durable::prelude::*;
///
/// const NEAR: Signal<()> = signal("near");
///
/// #[durable]
/// mod fight {
///     use super::*;
///
///     #[chapter]
///     pub(super) async fn sleeps() -> Chapter {
///         NEAR.wait().await;
///         Chapter::Next(fights(3))
///     }
///
///     #[chapter]
///     async fn fights(lives: u8) -> Chapter {
///         wait_seconds(1).await;
///         Chapter::Next(if lives > 1 { fights(lives - 1) } else { falls() })
///     }
///
///     #[chapter]
///     async fn falls() {
///         wait_seconds(1).await;
///     }
/// }
///
/// fn main() {
///     let mut runtime = Runtime::new(Registry::new().script(fight::sleeps));
///     let fight = runtime.start(fight::sleeps());
///     runtime.named(&NEAR).emit(());
///     for _ in 0..20 {
///         runtime.run_frame(0.25);
///     }
///     assert_eq!(runtime.take(fight), Some(Ok(())));
/// }
/// ```
///
/// # Generic functions
///
/// A file knows a script by its name, so each type needs one: `name` is a constant of a trait.
/// Each type that is used is added to the registry. The bounds must imply those of serde, for types
/// that parameters have.
///
/// ```
/// use framestep_durable::prelude::*;
///
/// trait Enemy: Serialize + DeserializeOwned + 'static {
///     const PATROL: &'static str;
///     const PACE: f64;
/// }
///
/// #[derive(Serialize, Deserialize)]
/// struct Goblin;
///
/// impl Enemy for Goblin {
///     const PATROL: &'static str = "patrol of a goblin";
///     const PACE: f64 = 0.5;
/// }
///
/// #[durable(name = E::PATROL)]
/// async fn patrol<E: Enemy>(enemy: E, posts: u32) -> Chapter {
///     wait_seconds(E::PACE).await;
///     match posts {
///         0 => Chapter::Done(()),
///         _ => Chapter::Next(patrol(enemy, posts - 1)),
///     }
/// }
///
/// let runtime = Runtime::new(Registry::new().script(patrol::<Goblin>));
/// runtime.start(patrol(Goblin, 3));
/// ```
///
/// # The type of the state
///
/// It has no name that a game writes, so it is in no other item's way: a module may have a `struct Door` or a
/// `mod door` beside `async fn door`. `#[durable(state = Name)]` gives it a name, with the visibility of the function or
/// the module. Two things need one: a function that migrates, and code that takes a state apart.
///
/// ```
/// use framestep_durable::prelude::*;
///
/// struct Door {
///     is_open: bool,
/// }
///
/// #[durable(state = DoorScript)]
/// async fn door(number: usize) {
///     wait_seconds(1).await;
///     with(move |doors: &mut Vec<Door>| doors[number].is_open = true);
/// }
///
/// let DoorScript { number } = door(3);
/// assert_eq!(number, 3);
/// ```
///
/// # In files
///
/// A file has the name of the function or module, and the parameters as serde writes a struct or
/// an enum with these names in this order. A `DurableScript` that is written by hand, with the
/// same name and fields, loads the same files, and the other way round. Some things choose
/// what is written:
///
/// - `#[durable(name = "other")]` is another name, for a function that was renamed. It may be a
///   constant: `#[durable(name = DOOR)]`.
/// - `#[durable(version = 2, migrate = function, state = Name)]` sets `VERSION`, and calls the function
///   of that path for states of other versions. It returns an `Option<Name>`.
/// - `#[serde(..)]` on a parameter stands on its field.
/// - A new chapter at the end of a module leaves the numbers of the others as they are.
///
/// # What cannot be a script
///
/// Each of these is an error with a text of its own: a parameter that is a reference or a
/// pattern, `impl Trait`, a lifetime, a method, a function that is not `async`.
///
/// ```compile_fail
/// use framestep_durable::prelude::*;
///
/// #[durable]
/// async fn greet(name: &str) { // take a `String`
///     with(|lines: &mut Vec<String>| lines.push(name.into()));
/// }
/// ```
///
/// The body is compiled as the `async fn` that it is, so the compiler's messages are those of a
/// plain function.
///
/// # Other attributes
///
/// Documentation stays with the function, levels of lints hold for the function and its body, and
/// all other attributes go to the body. Where `framestep_durable` is no dependency of the game,
/// `#[durable(crate = path)]` says where it is, as with `bevy_framestep`:
/// `#[durable(crate = bevy_framestep::durable::framestep_durable)]`.
///
/// A return type with the name `Chapter` is always that of durable scripts. A type of your own
/// with that name is `self::Chapter`.
#[proc_macro_attribute]
pub fn durable(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::durable(arguments.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Marks a chapter in a module with [`macro@durable`].
///
/// ```compile_fail
/// use framestep_durable::prelude::*;
///
/// #[chapter] // in no module
/// async fn sleeps() -> Chapter {
///     Chapter::Done(())
/// }
/// ```
#[proc_macro_attribute]
pub fn chapter(_arguments: TokenStream, _item: TokenStream) -> TokenStream {
    expand::chapter().into_compile_error().into()
}
