//! What a closure returns whose result is recorded.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// What the closure of [`with`](crate::with()), [`with_ref`](crate::with_ref), [`with_once`](crate::with_once) or
/// [`effect`](crate::effect) returns: all types that serialise and own their data.
///
/// A script that is restored takes the result from its journal. So a reference into the world cannot be
/// one:
///
/// ```compile_fail,E0277
/// # use framestep_durable::prelude::*;
/// # struct World { name: String }
/// # async fn script() {
/// let name = with_ref(|world: &World| &world.name);
/// # }
/// ```
///
/// Return a value of its own, or do in the closure what needs the reference:
///
/// ```
/// # use framestep_durable::prelude::*;
/// # struct World { name: String }
/// # async fn script() {
/// let name = with_ref(|world: &World| world.name.clone());
/// let is_long = with_ref(|world: &World| world.name.len() > 8);
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "the result of this closure cannot be recorded: `{Self}` is a reference, or has no `Serialize` and \
               `Deserialize`. Return a value that owns its data, such as `world.name.clone()`",
    label = "a restored script takes this result from its journal",
    note = "a type of the game derives `Serialize` and `Deserialize`"
)]
pub trait Recorded: Serialize + DeserializeOwned {}

// The error is about the result, not about an implementation of serde.
#[diagnostic::do_not_recommend]
impl<R: Serialize + DeserializeOwned> Recorded for R {}
