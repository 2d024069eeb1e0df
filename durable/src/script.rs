//! What a durable script is.

use std::future::Future;
use std::pin::Pin;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::{self, Bytes};

/// A script that can be saved while it waits.
///
/// The value itself is the state with which a *chapter* begins. It is serialised then. What
/// the script awaits and does since is recorded in a journal. To bring the script back,
/// [`run`](DurableScript::run) is called again with the state, and its journal is read to it.
///
/// So a chapter must be a function of what is recorded: its state, what its waits and
/// effects give. It must not read anything else: no static, no clock but
/// [`time`](crate::time), no random number but one that a [`step`](crate::step()) returns, no
/// order of a `HashMap`.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[derive(Serialize, Deserialize)]
/// struct Lamp {
///     blinks: u32,
/// }
///
/// impl DurableScript for Lamp {
///     const NAME: &'static str = "lamp";
///     type Output = ();
///
///     async fn run(self) -> Chapter<Self> {
///         wait_seconds(1).await;
///         step(|lit: &mut bool| *lit = !*lit);
///         match self.blinks {
///             0 => Chapter::Done(()),
///             blinks => Chapter::Next(Lamp { blinks: blinks - 1 }),
///         }
///     }
/// }
/// ```
pub trait DurableScript: Serialize + DeserializeOwned + 'static {
    /// The name by which files know the script. No two scripts of a game may have the same
    /// name, and a name must not change as long as there are files with it.
    const NAME: &'static str;

    /// What the script gives to whoever joins it.
    type Output: Serialize + DeserializeOwned + 'static;

    /// Runs one chapter.
    fn run(self) -> impl Future<Output = Chapter<Self>> + 'static;
}

/// How a chapter ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chapter<S: DurableScript> {
    /// The script is over.
    Done(S::Output),
    /// Another chapter begins at once, with this state. The journal begins anew: what was
    /// awaited before is not needed any more.
    Next(S),
}

/// The future of a chapter.
pub(crate) type ChapterFuture = Pin<Box<dyn Future<Output = ChapterEnd>>>;

/// How a chapter ended.
pub(crate) enum ChapterEnd {
    Done(Bytes),
    Next(Begun),
}

/// A chapter that is about to begin.
pub(crate) struct Begun {
    pub(crate) state: Bytes,
    pub(crate) future: ChapterFuture,
}

/// Begins a chapter with the state `script`.
pub(crate) fn begin<S: DurableScript>(script: S) -> Begun {
    Begun {
        state: Bytes::of(&script),
        future: future_of(script),
    }
}

fn future_of<S: DurableScript>(script: S) -> ChapterFuture {
    Box::pin(async move {
        match script.run().await {
            Chapter::Done(output) => ChapterEnd::Done(Bytes::of(&output)),
            Chapter::Next(script) => ChapterEnd::Next(begin(script)),
        }
    })
}

/// Begins a chapter again with the state of a file. `None` if the bytes are not a state of
/// this script.
pub(crate) type BeginAgain = fn(&[u8]) -> Option<ChapterFuture>;

pub(crate) fn begin_again<S: DurableScript>(state: &[u8]) -> Option<ChapterFuture> {
    bytes::read(state).map(future_of::<S>)
}
