//! What a parameter of a script can be.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A type of which a script can have a parameter: one that serde reads and writes.
///
/// ```compile_fail,E0277
/// use framestep_durable::prelude::*;
///
/// #[durable]
/// async fn reads(gold: Watch<u32>) { // declare a constant: `const GOLD: Watch<u32> = watch("gold", || 0);`
///     let _ = gold.get();
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be saved, so it cannot be a parameter of a durable script",
    label = "the state of a script is what serde reads and writes",
    note = "a type of your own needs `#[derive(Serialize, Deserialize)]`",
    note = "what belongs to the runtime has a form that is saved: take an `Unread` for a `Subscription`, a `Schedule` for an \
            `Interval`, a `ClockId` for a `Clock`, and a `ScriptId` for a `ScriptHandle` or a `Coroutine`; a `Signal`, a \
            `Watch` or a `Semaphore` is a constant, or has a `Key`"
)]
pub trait Saved {}

// The error is about the type, not about serde.
#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Saved for T {}

/// What would make a future of the state of a script: nothing does.
///
/// ```compile_fail,E0277
/// use framestep_durable::prelude::*;
///
/// #[durable]
/// async fn door() {}
///
/// #[durable]
/// async fn impatient() {
///     let _ = timeout(1, door()).await; // `timeout(1, start(door()))`
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a durable script is a future once it is started",
    label = "this is the state of a script that has not been started",
    note = "start it, and await its handle: `timeout(1, start(door(3)))`, `race([start(walk()), start(swim())])`; alone it can be \
            awaited as it is: `door(3).await`",
    note = "the host starts it in the runtime: `runtime.start(door(3))`; a function that starts what it is given takes an \
            `impl DurableScript`"
)]
pub trait Started<S> {}

/// Stands for the state of a script `S` in that: the compiler then talks of what it is, and not of `Future`.
#[derive(Debug)]
pub struct NotStarted<'a>(PhantomData<&'a ()>);
