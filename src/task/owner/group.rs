//! Groups: scripts that belong together, and are awaited together.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::future::FusedFuture;
use futures::stream::Stream;

use crate::combine::{WhenEach, when_each};
use crate::task::coroutine::{Coroutine, JoinError};
use crate::task::script;
use crate::wait::polled_again;

use super::outputs;
use super::{Ended, Owner};

/// Makes a group of scripts, on an owner that is a child of the calling coroutine's owner.
///
/// # Panics
///
/// If called outside an executor and outside
/// [`Executor::enter`](crate::Executor::enter).
///
/// # Examples
///
/// See [`Group`].
#[must_use = "dropping a group stops its scripts"]
#[track_caller]
pub fn group<T>() -> Group<T> {
    Group {
        owner: script::owner_of_caller("group"),
        scripts: Vec::new(),
    }
}

/// Scripts that are awaited together, and stopped together. Made by [`group`].
///
/// [`join`](Group::join) waits for all scripts and returns what they return. Dropping the
/// group, or the wait, stops the scripts that are left. So no script of a group outlives
/// the script that has made the group.
///
/// A script that a script of the group starts with the free [`start`](crate::start) or
/// [`spawn`](crate::spawn) is on the group's [owner](Group::owner): `join` waits for it,
/// too, and it is stopped with the group.
///
/// # Examples
///
/// ```
/// use framestep::prelude::*;
///
/// async fn goblin(number: u64) -> u64 {
///     wait_seconds(number).await;
///     10 * number
/// }
///
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
/// let mut executor = Executor::new();
/// assert_eq!(executor.run_until(wave(), 0.25).unwrap(), 60);
/// assert_eq!(executor.time().frame, 12);
/// ```
///
/// # Source
///
/// The nurseries of trio; `JoinSet` of tokio; `TaskGroup` of asyncio and Swift.
#[must_use = "dropping a group stops its scripts"]
pub struct Group<T> {
    /// Dropped first: that stops the scripts in the order they were added.
    owner: Owner,
    scripts: Vec<Coroutine<T>>,
}

impl<T> Group<T> {
    /// Starts a script of the group, like [`Owner::start`].
    ///
    /// Returns the handle, which stays in the group: to keep the script's
    /// [`id`](Coroutine::id), or a wait for its end.
    #[track_caller]
    pub fn start<F: Future<Output = T> + 'static>(&mut self, script: F) -> &Coroutine<T> {
        let script = self.owner.start(script);
        self.push(script)
    }

    /// Spawns a script of the group, like [`Owner::spawn`]. Returns the handle, which stays
    /// in the group.
    #[track_caller]
    pub fn spawn<F: Future<Output = T> + 'static>(&mut self, script: F) -> &Coroutine<T> {
        let script = self.owner.spawn(script);
        self.push(script)
    }

    /// Adds a script that has been made already. From now on it is stopped with the group,
    /// even if it is on another owner.
    ///
    /// # Examples
    ///
    /// A script with a name:
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// async fn ambush() {
    ///     let mut enemies = group();
    ///     for number in 1..=3 {
    ///         let goblin = enemies.owner().script(format!("goblin {number}"));
    ///         enemies.add(goblin.start(wait_seconds(number)));
    ///     }
    ///     enemies.join().await.unwrap();
    /// }
    ///
    /// let mut executor = Executor::new();
    /// executor.run_until(ambush(), 0.25);
    /// assert_eq!(executor.time().frame, 12);
    /// ```
    pub fn add(&mut self, script: Coroutine<T>) -> &Coroutine<T> {
        self.push(script.stop_on_drop())
    }

    fn push(&mut self, script: Coroutine<T>) -> &Coroutine<T> {
        self.scripts.push(script);
        &self.scripts[self.scripts.len() - 1]
    }

    /// The owner of the group's scripts: to pause them, to name them, or to wait for their
    /// [end](Owner::ended) alone.
    pub fn owner(&self) -> &Owner {
        &self.owner
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
    /// As soon as the last script has ended, in the same frame and phase, or the first one
    /// that was stopped or panicked. The other scripts are then stopped. At once if the
    /// group has no script.
    ///
    /// Each end of a script polls the waiting coroutine, and each poll takes the values of the
    /// scripts that have ended since the one before. To be polled once, wait for the
    /// [end](Owner::ended) of their owner.
    ///
    /// # Output
    ///
    /// The values, in the order the scripts were added, or the error of the first script
    /// that returned none. For scripts that return a `Result`, see
    /// [`try_join`](Group::try_join).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the scripts of the group.
    ///
    /// # Panics
    ///
    /// When polled by a script of the group, because the wait would never be over.
    ///
    /// # Examples
    ///
    /// One script that fails stops the others:
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// async fn bridge() -> Result<Vec<()>, JoinError> {
    ///     let mut ropes = group();
    ///     ropes.start(async { wait_seconds(60).await });
    ///     ropes.start(async {
    ///         wait_seconds(1).await;
    ///         panic!("it snaps");
    ///     });
    ///     ropes.join().await
    /// }
    ///
    /// let mut executor = Executor::new();
    /// assert!(executor.run_until(bridge(), 0.25).unwrap_err().is_panic());
    /// assert_eq!(executor.time().frame, 4);
    /// assert!(executor.is_empty());
    /// ```
    pub fn join(self) -> JoinGroup<T> {
        JoinGroup {
            joining: Some(Joining::of(self)),
        }
    }
}

impl<T, E> Group<Result<T, E>> {
    /// Waits for all scripts of the group, or for the first error. It is
    /// [`join`](Group::join) for scripts that return a `Result`.
    ///
    /// # Output
    ///
    /// As with the handle of such a script, the outer `Result` says whether a script was
    /// stopped or panicked, and the inner one what the scripts have returned: the values, in
    /// the order the scripts were added, or the first error. An error stops the other
    /// scripts.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the scripts of the group.
    ///
    /// # Panics
    ///
    /// When polled by a script of the group, because the wait would never be over.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// async fn guard(seconds: f64, sees: bool) -> Result<(), &'static str> {
    ///     wait_seconds(seconds).await;
    ///     if sees { Err("an intruder") } else { Ok(()) }
    /// }
    ///
    /// async fn night() -> Result<(), &'static str> {
    ///     let mut guards = group();
    ///     guards.start(guard(60.0, false));
    ///     guards.start(guard(1.0, true));
    ///     guards.try_join().await.expect("no guard is stopped")?;
    ///     Ok(())
    /// }
    ///
    /// let mut executor = Executor::new();
    /// assert_eq!(executor.run_until(night(), 0.25), Err("an intruder"));
    /// assert_eq!(executor.time().frame, 4);
    /// ```
    pub fn try_join(self) -> TryJoinGroup<T, E> {
        TryJoinGroup {
            joining: Some(Joining::of(self)),
        }
    }
}

impl<T> fmt::Debug for Group<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group")
            .field("scripts", &self.scripts.len())
            .field("owner", &self.owner)
            .finish()
    }
}

/// The future of [`Group::join`].
#[must_use = "dropping the wait stops the scripts of the group: await it"]
pub struct JoinGroup<T> {
    /// `None` once it has been ready.
    joining: Option<Joining<T, T>>,
}

/// The future of [`Group::try_join`].
#[must_use = "dropping the wait stops the scripts of the group: await it"]
pub struct TryJoinGroup<T, E> {
    /// `None` once it has been ready.
    joining: Option<Joining<Result<T, E>, T>>,
}

/// A group whose scripts return `T`, and are awaited for values `V`.
struct Joining<T, V> {
    /// Dropped first: that stops the scripts that are left.
    _owner: Owner,
    scripts: WhenEach<Coroutine<T>>,
    /// The values, in the order of the scripts. `None` for those that are left.
    values: Vec<Option<V>>,
    /// The end of all scripts, those included that the scripts have started.
    ended: Ended,
}

impl<T, V> Joining<T, V> {
    fn of(group: Group<T>) -> Self {
        Joining {
            ended: group.owner.ended(),
            _owner: group.owner,
            values: group.scripts.iter().map(|_| None).collect(),
            scripts: when_each(group.scripts),
        }
    }

    /// Polls for all values. `value` is the value of an output, or an error that ends the
    /// wait.
    #[track_caller]
    fn poll<E>(
        &mut self,
        cx: &mut Context<'_>,
        function: &str,
        value: impl Fn(Result<T, JoinError>) -> Result<V, E>,
    ) -> Poll<Result<Vec<V>, E>> {
        self.ended.expect_from_outside(function);
        while let Some((index, output)) = ready!(Pin::new(&mut self.scripts).poll_next(cx)) {
            match value(output) {
                Ok(value) => self.values[index] = Some(value),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        ready!(Pin::new(&mut self.ended).poll(cx));
        let values = mem::take(&mut self.values).into_iter();
        Poll::Ready(Ok(values.flatten().collect()))
    }
}

impl<T> Future for JoinGroup<T> {
    type Output = Result<Vec<T>, JoinError>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(joining) = &mut self.joining else {
            polled_again("Group::join()");
        };
        let joined = ready!(joining.poll(cx, "join()", |output| output));
        // Stops the scripts that are left.
        self.joining = None;
        Poll::Ready(joined)
    }
}

impl<T, E> Future for TryJoinGroup<T, E> {
    type Output = Result<Result<Vec<T>, E>, JoinError>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(joining) = &mut self.joining else {
            polled_again("Group::try_join()");
        };
        let joined = ready!(joining.poll(cx, "try_join()", outputs::flat));
        self.joining = None;
        Poll::Ready(outputs::nested(joined))
    }
}

// The values are not pinned, and the handles are `Unpin`.
impl<T> Unpin for JoinGroup<T> {}
impl<T, E> Unpin for TryJoinGroup<T, E> {}

impl<T> FusedFuture for JoinGroup<T> {
    fn is_terminated(&self) -> bool {
        self.joining.is_none()
    }
}

impl<T, E> FusedFuture for TryJoinGroup<T, E> {
    fn is_terminated(&self) -> bool {
        self.joining.is_none()
    }
}

impl<T> fmt::Debug for JoinGroup<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_joining(f, "JoinGroup", self.joining.as_ref())
    }
}

impl<T, E> fmt::Debug for TryJoinGroup<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_joining(f, "TryJoinGroup", self.joining.as_ref())
    }
}

fn write_joining<T, V>(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    joining: Option<&Joining<T, V>>,
) -> fmt::Result {
    let left = joining.map_or(0, |joining| joining.scripts.size_hint().0);
    f.debug_struct(name)
        .field("pending", &left)
        .finish_non_exhaustive()
}
