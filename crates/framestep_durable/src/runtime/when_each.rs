//! `when_each`: the results of several scripts, in the order of their ends.

use framestep::combine::WhenEach;
use framestep::durable::when_each_by;
use serde::de::DeserializeOwned;

use crate::runtime::ScriptHandle;
use crate::script::context;

/// Returns a stream of the results of scripts, in the order in which they end.
///
/// For other futures, use [that of framestep](framestep::combine::when_each), which is saved, too: it yields those first
/// that are ready first, and of those that are ready at one poll, in their order. For the results in the order of the
/// handles, use [`join_all`](framestep::combine::join_all()); for the first
/// result only, [`race`](framestep::combine::race()). Both take other futures, too.
///
/// # Resumes
///
/// [`next`](WhenEach::next) is ready as soon as one of the scripts has ended, in the same frame and
/// phase. Each end polls the script, and each poll looks at the handles that are left.
///
/// # Output
///
/// The index of the handle, and the result. Scripts that have ended before the first poll come first,
/// in the order of their handles. The stream ends when all results have been returned; without
/// handles, at once.
///
/// # Cancel safety
///
/// Dropping the wait for the next item loses nothing. Dropping the stream drops the handles that are
/// left, in order: their scripts go on, unless they [stop on drop](ScriptHandle::stop_on_drop).
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[durable]
/// async fn run(name: String, seconds: f32) -> String {
///     wait_seconds(seconds).await;
///     name
/// }
///
/// #[durable]
/// async fn podium() -> Vec<String> {
///     let runners = [("tortoise", 2.0), ("hare", 1.0), ("snail", 4.0)];
///     let runners = runners.map(|(name, seconds)| start(run(name.into(), seconds)));
///     let (mut arrivals, mut podium) = (when_each(runners), Vec::new());
///     while let Some((_, name)) = arrivals.next().await {
///         podium.push(name.unwrap());
///     }
///     podium
/// }
///
/// let mut runtime = Runtime::new(Registry::new().script(run).script(podium));
/// let podium = runtime.start(podium());
/// for _ in 0..16 {
///     runtime.run_frame(0.25);
/// }
/// assert_eq!(runtime.take(podium).unwrap().unwrap(), ["hare", "tortoise", "snail"]);
/// ```
///
/// # Source
///
/// [`framestep::combine::when_each`].
pub fn when_each<T>(handles: impl IntoIterator<Item = ScriptHandle<T>>) -> WhenEach<ScriptHandle<T>>
where
    T: DeserializeOwned,
{
    when_each_by(handles, ended_at)
}

/// When a script has ended, among those that nobody has joined.
fn ended_at<T>(handle: &ScriptHandle<T>) -> Option<u64> {
    // In a replay, the journal says which one it was.
    let cell = context::current().filter(|cell| cell.is_live())?;
    cell.shared().end_order(handle.id())
}
