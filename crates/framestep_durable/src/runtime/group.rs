//! Groups: scripts that belong together, and are awaited together.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use framestep::combine::{TryJoinAll, try_join_all};
use framestep::durable::{flat, nested};
use serde::de::DeserializeOwned;

use crate::runtime::{ScriptHandle, start};
use crate::script::{DurableScript, JoinError};

/// Makes a group of scripts.
///
/// # Examples
///
/// See [`Group`].
#[must_use = "dropping a group stops its scripts"]
pub fn group<T>() -> Group<T> {
    Group {
        scripts: Vec::new(),
    }
}

/// Scripts that are awaited together, and stopped together. Made by [`group`].
///
/// [`join`](Group::join) waits for all scripts and returns what they return. Dropping the group, or
/// the wait, stops the scripts that are left. So no script of a group outlives the script that has
/// made the group.
///
/// A group is a list of handles with [`stop_on_drop`](ScriptHandle::stop_on_drop), and is saved with its
/// script. Unlike that of framestep, it has no owner: its scripts are on the owner of the caller, and
/// what they start themselves is no part of the group. For that, let the host make an owner, and
/// await its [end](crate::OwnerId::ended).
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[durable]
/// async fn goblin(number: u64) -> u64 {
///     wait_seconds(number).await;
///     10 * number
/// }
///
/// #[durable]
/// async fn wave() -> Result<u64, JoinError> {
///     let mut goblins = group();
///     for number in 1..=3 {
///         goblins.start(goblin(number));
///     }
///     let scores = goblins.join().await?;
///     assert_eq!(scores, [10, 20, 30]);
///     Ok(scores.iter().sum())
/// }
///
/// let mut runtime = Runtime::new(Registry::new().script(goblin).script(wave));
/// let wave = runtime.start(wave());
/// for _ in 0..12 {
///     runtime.run_frame(0.25);
/// }
/// assert_eq!(runtime.take(wave), Some(Ok(Ok(60))));
/// ```
///
/// # Source
///
/// [`framestep::task::Group`].
#[must_use = "dropping a group stops its scripts"]
pub struct Group<T> {
    /// Dropped in this order, which stops the scripts in the order in which they were added.
    scripts: Vec<ScriptHandle<T>>,
}

impl<T> Group<T> {
    /// Starts a script of the group, like [`start`](crate::start).
    ///
    /// Returns the handle, which stays in the group: to keep the script's [`id`](ScriptHandle::id).
    ///
    /// # Panics
    ///
    /// As [`start`](crate::start).
    #[track_caller]
    pub fn start<S: DurableScript<Output = T>>(&mut self, script: S) -> &ScriptHandle<T> {
        self.add(start::start(script))
    }

    /// Spawns a script of the group, like [`spawn`](crate::spawn). Returns the handle, which stays in
    /// the group.
    ///
    /// # Panics
    ///
    /// As [`spawn`](crate::spawn).
    #[track_caller]
    pub fn spawn<S: DurableScript<Output = T>>(&mut self, script: S) -> &ScriptHandle<T> {
        self.add(start::spawn(script))
    }

    /// Adds a script that has been made already: on an owner, or in another phase. From now on it is
    /// stopped with the group.
    #[track_caller]
    pub fn add(&mut self, script: ScriptHandle<T>) -> &ScriptHandle<T> {
        self.scripts.push(script.stop_on_drop());
        &self.scripts[self.scripts.len() - 1]
    }

    /// How many scripts have been added. Those that have ended count.
    pub fn len(&self) -> usize {
        self.scripts.len()
    }

    /// Whether no script has been added.
    pub fn is_empty(&self) -> bool {
        self.scripts.is_empty()
    }

    /// Waits for all scripts of the group, and returns what they have returned.
    ///
    /// # Resumes
    ///
    /// As soon as the last script has ended, in the same frame and phase, or the first one that was
    /// stopped or panicked. The other scripts are then stopped. At once if the group has no script.
    ///
    /// # Output
    ///
    /// The values, in the order in which the scripts were added, or the error of the first script
    /// that returned none. For scripts that return a `Result`, see [`try_join`](Group::try_join).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the scripts of the group.
    ///
    /// # Panics
    ///
    /// When polled: as a [`ScriptHandle`]; or again after it was ready.
    ///
    /// # Examples
    ///
    /// One script that fails stops the others:
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// #[durable]
    /// async fn rope(seconds: f32) {
    ///     wait_seconds(seconds).await;
    ///     panic!("it snaps");
    /// }
    ///
    /// #[durable]
    /// async fn bridge() -> bool {
    ///     let mut ropes = group();
    ///     ropes.start(rope(60.0));
    ///     ropes.start(rope(1.0));
    ///     ropes.join().await == Err(JoinError::Panicked("it snaps".into()))
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().script(rope).script(bridge));
    /// let bridge = runtime.start(bridge());
    /// for _ in 0..4 {
    ///     runtime.run_frame(0.25);
    /// }
    /// assert_eq!(runtime.take(bridge), Some(Ok(true)));
    /// assert!(runtime.scripts().is_empty());
    /// ```
    #[must_use = "dropping the wait stops the scripts of the group: await it"]
    pub fn join(self) -> TryJoinAll<ScriptHandle<T>>
    where
        T: DeserializeOwned,
    {
        try_join_all(self.scripts)
    }
}

impl<T, E> Group<Result<T, E>> {
    /// Waits for all scripts of the group, or for the first error. It is [`join`](Group::join) for
    /// scripts that return a `Result`.
    ///
    /// # Output
    ///
    /// As with the handle of such a script, the outer `Result` says whether a script was stopped or
    /// panicked, and the inner one what the scripts have returned: the values, in the order in which
    /// the scripts were added, or the first error. An error stops the other scripts.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the scripts of the group.
    ///
    /// # Panics
    ///
    /// As [`join`](Group::join).
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// #[durable]
    /// async fn guard(seconds: f64, sees: bool) -> Result<(), String> {
    ///     wait_seconds(seconds).await;
    ///     if sees { Err("an intruder".into()) } else { Ok(()) }
    /// }
    ///
    /// #[durable]
    /// async fn night() -> Result<(), String> {
    ///     let mut guards = group();
    ///     guards.start(guard(60.0, false));
    ///     guards.start(guard(1.0, true));
    ///     guards.try_join().await.expect("no guard is stopped")?;
    ///     Ok(())
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().script(guard).script(night));
    /// let night = runtime.start(night());
    /// for _ in 0..4 {
    ///     runtime.run_frame(0.25);
    /// }
    /// assert_eq!(runtime.take(night), Some(Ok(Err("an intruder".into()))));
    /// ```
    #[must_use = "dropping the wait stops the scripts of the group: await it"]
    pub fn try_join(
        self,
    ) -> impl Future<Output = Result<Result<Vec<T>, E>, JoinError>> + Unpin + fmt::Debug
    where
        Result<T, E>: DeserializeOwned,
    {
        TryJoin {
            scripts: try_join_all(self.scripts.into_iter().map(Flat)),
        }
    }
}

impl<T> fmt::Debug for Group<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group")
            .field("scripts", &self.scripts)
            .finish()
    }
}

/// The future of [`Group::try_join`].
struct TryJoin<T, E>
where
    Result<T, E>: DeserializeOwned,
{
    scripts: TryJoinAll<Flat<T, E>>,
}

impl<T, E> Future for TryJoin<T, E>
where
    Result<T, E>: DeserializeOwned,
{
    type Output = Result<Result<Vec<T>, E>, JoinError>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.scripts).poll(cx).map(nested)
    }
}

impl<T, E> fmt::Debug for TryJoin<T, E>
where
    Result<T, E>: DeserializeOwned,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.scripts.fmt(f)
    }
}

/// A script that returns a `Result`, with both of its errors in one place.
struct Flat<T, E>(ScriptHandle<Result<T, E>>);

impl<T, E> Future for Flat<T, E>
where
    Result<T, E>: DeserializeOwned,
{
    type Output = Result<T, Result<E, JoinError>>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(flat)
    }
}
