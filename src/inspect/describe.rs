//! What a script says of itself.

use std::fmt::Display;

use crate::core::base::call;
use crate::core::scope::{self, Scope};
use crate::core::view::{Script, View};

/// Describes what the running script is doing, for snapshots and live views: "phase 2",
/// "30 % health".
///
/// The text stays until the next call. It is written only if the script is observed
/// ([`Builder::inspect`](crate::Builder::inspect), a trace). Otherwise, and outside of a
/// coroutine, the call does nothing. So pass `format_args!` rather than `format!`: then
/// the text costs nothing while nobody looks.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
/// use framestep::inspect::describe;
///
/// let mut executor = Executor::builder().inspect(true).build();
/// let boss = executor.start(async {
///     for phase in 1..=3 {
///         describe(format_args!("phase {phase}"));
///         wait_seconds(10).await;
///     }
/// });
/// let snapshot = executor.snapshot();
/// assert_eq!(snapshot.get(boss.id()).unwrap().description(), Some("phase 1"));
/// ```
pub fn describe(text: impl Display) {
    if scope::with(|scope| script(scope).is_some_and(Script::is_observed)) {
        // This is user code: nothing is borrowed.
        let text = call::out(|| text.to_string());
        let previous = scope::with(|scope| {
            let described = script(scope)?.notes(|notes| notes.description.replace(text));
            described.flatten()
        });
        drop(previous);
    }
}

/// The script that is running.
fn script<'c>(scope: Option<&Scope<'c>>) -> Option<Script<'c>> {
    View::of(scope?).1
}
