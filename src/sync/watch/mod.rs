//! Watches: values that coroutines read, and wait for.

mod changes;
mod reader;
mod wait;
mod waiter;

use std::borrow::Cow;
use std::cell::RefCell;
use std::panic::Location;
use std::rc::Rc;
use std::sync::Arc;
use std::{fmt, mem};

use waiter::Waiter;

use crate::core::base::call::{self, Value};
use crate::durable::{RuntimeWatches, WatchesOf};
use crate::inspect::events::{self, Emission};
use crate::inspect::{Source, SourceKind};
use crate::sync::key::Key;
use crate::sync::named::{
    self, At, InRuntime, Missing, Name, Named, Place, Sealed, State as _, find_here, write_name,
};
use crate::sync::source::SourceName;
use crate::sync::waiters::Waiters;

pub use changes::Changes;
pub use reader::WatchReader;
pub use wait::{Changed, WaitWatch};

/// A value that any number of coroutines can read, and wait for: health, a score,
/// the state of a door.
///
/// A [`Signal`](crate::sync::Signal) is an event, which is over once it has been
/// received. A watch keeps its value: [`get`](Watch::get) reads it at any time, and
/// [`wait_for`](Watch::wait_for) is ready at once if its condition already holds.
///
/// The waits return a clone of the value. A value that cannot be cloned, or is large,
/// goes into an [`Rc`].
///
/// The handle is cheap to clone, and all clones share the value. It stays on the
/// thread that made it.
///
/// # Changes
///
/// Each [`set`](Watch::set), [`replace`](Watch::replace) and [`update`](Watch::update) is a
/// change, even if the new value is equal. With [`update_if`](Watch::update_if), the closure
/// decides. A coroutine sees **the latest value, not every value**: if
/// the value changes several times before the coroutine resumes, it sees the last
/// one. If every value counts, use a [`Signal`](crate::sync::Signal).
///
/// [`changed`](Watch::changed) waits for a change after its call, so a loop around
/// it may miss a change that happens while the loop waits for something else.
/// [`subscribe`](Watch::subscribe) misses none: it returns [`Changes`], a stream
/// that remembers the version of the value that it has seen.
///
/// # Resumes
///
/// In the home phase of the waiting coroutine, as with a [`Signal`](crate::sync::Signal):
///
/// - later in the same run, if another coroutine changes the value during a run of
///   that phase;
/// - in the next run of that phase, if the host changes it, or a coroutine in
///   another phase.
///
/// Several coroutines resume in the order they began to wait. One whose condition refuses the new
/// value begins to wait anew, behind the others.
///
/// # Re-entry
///
/// Conditions, closures that read, clones and destructors may read, set, update and wait for
/// the same watch: the watch is never borrowed while they run. Only the closure of an
/// [`update`](Watch::update) has the value for itself.
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
///
/// async fn health_bar(health: Watch<i32>) -> Vec<i32> {
///     let mut shown = Vec::new();
///     let mut changes = health.subscribe();
///     while let Some(left) = changes.next().await {
///         shown.push(left);
///         if left <= 0 {
///             break;
///         }
///         wait_seconds(1).await; // the bar slides; more hits may follow
///     }
///     shown
/// }
///
/// let mut executor = Executor::new();
/// let health = Watch::new(10);
/// let bar = executor.start(health_bar(health.clone()));
/// let dies = executor.start(health.wait_for(|&health| health <= 0));
///
/// health.set(8);
/// executor.run_frame(0.25); // shows 8
/// health.update(|health| *health -= 3);
/// health.update(|health| *health -= 9);
/// executor.run_until(dies, 0.25).unwrap();
/// assert_eq!(executor.time().frame, 2);
/// assert_eq!(executor.run_until(bar, 0.25).unwrap(), [8, -4]);
/// ```
///
/// # Source
///
/// `tokio::sync::watch`; `ReactiveProperty` of `UniRx`.
pub struct Watch<T> {
    place: Place<Shared<T>>,
}

/// The state that a watch and its waits share.
pub(super) struct Shared<T> {
    /// Borrowed only for bookkeeping. Values are read, cloned and dropped, and
    /// wakers are cloned, called and dropped, outside the borrow.
    state: RefCell<State<T>>,
}

/// Returns the value as something to print.
type Show<T> = fn(&T) -> &dyn fmt::Debug;

struct State<T> {
    /// Closures share it while they read it. `Err` while a closure changes it: where that was
    /// called.
    value: Result<Rc<Value<T>>, &'static Location<'static>>,
    /// Whether a wait was polled while a closure changed the value: it is polled again.
    has_deferred: bool,
    /// How often it has changed.
    version: u64,
    /// The version in which it last had its start value for sure.
    began: u64,
    /// The number of `Watch` handles.
    handles: usize,
    /// How the value is printed, if it is shown.
    show: Option<Show<T>>,
    waiters: Waiters<()>,
}

impl<T> Watch<T> {
    /// Makes a watch with an initial value.
    pub fn new(value: T) -> Self {
        Watch {
            place: Place::own(Shared::of(value)),
        }
    }

    /// Names the watch and all its clones, and returns it.
    /// [Snapshots](crate::inspect::Wait::Watch) show which coroutines wait for a named
    /// watch, and [traces](crate::inspect::TraceKind::Resumed) show which coroutines it has
    /// woken.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let executor = Executor::new();
    /// let health = Watch::new(10).named("health");
    /// executor.start(health.wait_for(|&health| health <= 0)).named("funeral");
    /// assert_eq!(
    ///     executor.snapshot().to_string(),
    ///     "\
    /// frame 0, 0ns: 1 coroutine
    ///   id   name     state
    ///   0v1  funeral  watch health
    /// "
    /// );
    /// ```
    ///
    /// The name is for tools. Scripts find a watch by its name if it is made by [`watch`].
    ///
    /// # Panics
    ///
    /// If it has been made by [`watch`]: then it has a name.
    #[must_use = "the watch is returned with its name: use it"]
    #[track_caller]
    pub fn named(self, name: impl Into<Cow<'static, str>>) -> Self {
        let source = events::born(SourceKind::Watch, name.into());
        self.place.expect_own("named").set_source(source);
        self
    }

    /// The watch of this name for one key, such as an entity: `HEALTH.keyed(goblin)`. Snapshots and
    /// traces show it as `health[3]`.
    ///
    /// # Memory
    ///
    /// A key whose value was set is kept until it is [removed](Watch::remove), or the executor ends.
    /// Others for which nothing waits are removed now and then.
    ///
    /// # Panics
    ///
    /// If it has not been made by [`watch`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// const HEALTH: Watch<i32> = watch("health", || 10);
    ///
    /// let executor = Executor::new();
    /// executor.enter(|| {
    ///     HEALTH.keyed(3).update(|health| *health -= 4);
    ///     assert_eq!((HEALTH.keyed(3).get(), HEALTH.keyed(4).get()), (6, 10));
    /// });
    /// ```
    #[must_use = "it is another watch: use it"]
    #[track_caller]
    pub fn keyed(&self, key: impl Key) -> Self {
        Watch {
            place: self.place.keyed(&key),
        }
    }

    /// Sets a watch that is found by its name to its start value: when its entity is gone, for example.
    /// Nothing is kept for it then, as soon as nothing waits for it. If the value was set, this is a
    /// change. Waits that are made with [`or_closed`](Changed::or_closed) end with an error. Returns whether it was set.
    ///
    /// # Panics
    ///
    /// If it has not been made by [`watch`]; outside of an executor; or inside the closure of an
    /// [`update`](Watch::update) of this watch.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// const STAGE: Watch<u32> = watch("stage", || 1);
    ///
    /// let executor = Executor::new();
    /// executor.enter(|| {
    ///     STAGE.keyed("dragon").set(7);
    ///     assert!(STAGE.keyed("dragon").remove());
    ///     assert!(!STAGE.keyed("dragon").remove());
    ///     assert_eq!(STAGE.keyed("dragon").get(), 1);
    /// });
    /// ```
    #[track_caller]
    pub fn remove(&self) -> bool {
        let Place::Named(name) = &self.place else {
            panic!(
                "`remove` was called on a watch without a name by which it is found, so it has no start \
                 value: call `set`, or drop the handles; what `named` returns is the one of an executor, where the \
                 constant is removed: `executor.enter(|| STAGE.remove())`"
            );
        };
        let shared = match self.place.find("Watch::remove") {
            Ok(shared) => shared,
            Err(runtime) => {
                let at = Location::caller();
                return runtime.call(|watches, name, _| watches.remove(name, at));
            }
        };
        shared.expect_present();
        let was_set = !shared.is_new();
        let start = was_set.then(|| call::out(name.start()));
        let began = {
            let waiters = &mut shared.state.borrow_mut().waiters;
            waiters.note_removed();
            waiters.began()
        };
        match start {
            Some(start) => shared.set(start, true),
            None => shared.wake(began),
        }
        was_set
    }

    /// Shows the value of a watch that has a [name](Watch::named) to tools, and returns the
    /// watch: in [`Source::value`](crate::inspect::Source::value) and
    /// [`TraceKind::Emitted`](crate::inspect::TraceKind::Emitted).
    ///
    /// The value is printed with [`Debug`](fmt::Debug), at most 120 bytes of it, whenever it
    /// changes or a wait for it begins, while an executor that
    /// [inspects](crate::Builder::inspect) or is traced runs code. Otherwise it is not
    /// printed.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep::inspect::Wait;
    /// use framestep::prelude::*;
    ///
    /// let executor = Executor::builder().inspect(true).build();
    /// let gold = Watch::new(3).named("gold").shown();
    /// executor.start(gold.wait_for(|&gold| gold > 5));
    /// let snapshot = executor.snapshot();
    /// let source = snapshot.iter().next().unwrap().waits().find_map(Wait::source);
    /// assert_eq!(source.unwrap().value().as_deref(), Some("3"));
    /// ```
    ///
    /// A runtime of durable scripts shows no values.
    #[must_use = "the watch is returned: use it"]
    #[track_caller]
    pub fn shown(self) -> Self
    where
        T: fmt::Debug,
    {
        if let Ok(shared) = self.place.find("Watch::shown") {
            shared.state.borrow_mut().show = Some(|value| value);
        }
        self
    }

    /// Returns a clone of the current value.
    #[track_caller]
    pub fn get(&self) -> T
    where
        T: Clone,
    {
        match self.place.find_now("Watch::get") {
            Ok(shared) => shared.with(T::clone),
            Err(runtime) => get_in(&runtime),
        }
    }

    /// Calls `read` with the current value, without cloning it.
    ///
    /// If `read` sets the watch, its argument is still the value from before.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let inventory = Watch::new(vec!["sword", "rope"]);
    /// assert!(inventory.with(|items| items.contains(&"rope")));
    /// ```
    #[track_caller]
    pub fn with<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        match self.place.find_now("Watch::with") {
            Ok(shared) => shared.with(read),
            Err(runtime) => read(&get_in(&runtime)),
        }
    }

    /// Replaces the value, and wakes the coroutines that wait for a change.
    ///
    /// It may be called anywhere: by the host, by a coroutine, by a destructor, and
    /// by a condition on this watch. The previous value is dropped last.
    #[track_caller]
    pub fn set(&self, value: T) {
        let shared = match self.place.find_now("Watch::set") {
            Ok(shared) => shared,
            Err(runtime) => return set_in(&runtime, value),
        };
        shared.expect_present();
        shared.set(value, false);
    }

    /// Replaces the value, wakes the coroutines that wait for a change, and returns the value
    /// from before.
    ///
    /// # Panics
    ///
    /// If called inside the closure of an [`update`](Watch::update) of this watch.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let orders = Watch::new(vec!["dig"]);
    /// assert_eq!(orders.replace(Vec::new()), ["dig"]);
    /// ```
    #[track_caller]
    pub fn replace(&self, value: T) -> T
    where
        T: Clone,
    {
        let mut value = value;
        let shared = match self.place.find_now("Watch::replace") {
            Ok(shared) => shared,
            Err(runtime) => {
                let before = get_in(&runtime);
                set_in(&runtime, value);
                return before;
            }
        };
        shared.change(|present| (mem::swap(present, &mut value), true));
        value
    }

    /// Calls `change` with the value, and wakes the coroutines that wait for a change. Returns
    /// the output of `change`.
    ///
    /// The value changes in place. It is cloned only if a closure of
    /// [`with`](Watch::with), or a condition, is reading it at the moment: then `change` gets
    /// the clone, and the reader keeps what it reads.
    ///
    /// If `change` panics, the value stays as `change` has left it, and counts as changed.
    ///
    /// # Panics
    ///
    /// `change` has the value, so nothing else can read it: inside `change`, calls that read or
    /// change the same watch panic. Use the argument instead. A script that `change` starts may
    /// wait for the watch: its wait begins when `change` has returned.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let health = Watch::new(10);
    /// let left = health.update(|health| {
    ///     *health -= 4;
    ///     *health
    /// });
    /// assert_eq!((left, health.get()), (6, 6));
    /// ```
    #[track_caller]
    pub fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> R
    where
        T: Clone,
    {
        let shared = match self.place.find_now("Watch::update") {
            Ok(shared) => shared,
            Err(runtime) => return change_in(&runtime, |value| (change(value), true)),
        };
        shared.change(|value| (change(value), true))
    }

    /// Calls `change` with the value, like [`update`](Watch::update). Wakes the coroutines
    /// that wait for a change only if `change` returns `true`. Returns that.
    ///
    /// If `change` returns `false`, it must not have changed the value: the coroutines that
    /// wait would not notice.
    ///
    /// # Panics
    ///
    /// As with [`update`](Watch::update).
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let best = Watch::new(10);
    /// let mut scores = best.subscribe();
    /// let beat = |score: i32| {
    ///     best.update_if(|best| {
    ///         let is_better = score > *best;
    ///         *best = score.max(*best);
    ///         is_better
    ///     })
    /// };
    /// assert!(!beat(7) && beat(12));
    /// let mut executor = Executor::new();
    /// let shown = async move { scores.next().await };
    /// assert_eq!(executor.run_until(shown, 0.25), Some(12));
    /// ```
    ///
    /// # Source
    ///
    /// `watch::Sender::send_if_modified` of tokio.
    #[doc(alias = "send_if_modified")]
    #[track_caller]
    pub fn update_if(&self, change: impl FnOnce(&mut T) -> bool) -> bool
    where
        T: Clone,
    {
        let change = |value: &mut T| {
            let is_changed = change(value);
            (is_changed, is_changed)
        };
        let shared = match self.place.find_now("Watch::update_if") {
            Ok(shared) => shared,
            Err(runtime) => return change_in(&runtime, change),
        };
        shared.change(change)
    }

    /// Returns a handle that reads and waits, and cannot change the value.
    #[track_caller]
    pub fn reader(&self) -> WatchReader<T> {
        let Ok(shared) = self.place.find("Watch::reader") else {
            panic!(
                "`Watch::reader` was called on a watch of a runtime of durable scripts, which has no readers: pass \
                 the watch itself"
            )
        };
        WatchReader::new(shared.clone())
    }

    /// Waits for the next change after this call.
    ///
    /// The wait counts **from the call**, not from the first poll. The future
    /// borrows nothing: it may be started as a coroutine or kept in a field.
    ///
    /// # Resumes
    ///
    /// See [`Watch`]. If all clones of the watch are dropped before a change, the
    /// wait never ends, and can be stopped: see [`or_closed`](Changed::or_closed).
    ///
    /// # Output
    ///
    /// A clone of the value when the coroutine resumes: the latest one, if it has
    /// changed several times.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the wait. A new call waits for a change after
    /// that call. In a loop, use [`subscribe`](Watch::subscribe).
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let door = Watch::new("shut");
    /// let hero = executor.start(timeout(1, door.changed()));
    /// executor.run_frame(0.25);
    /// door.set("open");
    /// assert_eq!(executor.run_until(hero, 0.25).unwrap(), Ok("open"));
    /// ```
    #[track_caller]
    pub fn changed(&self) -> Changed<T>
    where
        T: Clone,
    {
        match self.place.find("Watch::changed") {
            Ok(shared) => Changed::new(Waiter::new(&shared)),
            Err(runtime) => Changed::of_runtime(
                runtime.call(|watches, name, start| watches.wait(name, *start, true)),
            ),
        }
    }

    /// Waits until `condition` holds for the value.
    ///
    /// # Resumes
    ///
    /// At once, without a wait, if the condition holds for the current value.
    /// Otherwise as described at [`Watch`]. The condition is checked once in each
    /// poll of the coroutine, which sleeps until the next change. Unlike with
    /// [`wait_until`](crate::wait_until), it costs nothing in between. The
    /// condition does not see a value that is replaced before the coroutine
    /// resumes.
    ///
    /// If all clones of the watch are dropped, the wait never ends, and can be
    /// stopped: see [`or_closed`](WaitWatch::or_closed).
    ///
    /// # Output
    ///
    /// A clone of the value that met the condition.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cancels the wait. A new call checks the current value
    /// first.
    ///
    /// # Panics
    ///
    /// A panic of the condition is a panic of the coroutine.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// #[derive(Clone, PartialEq)]
    /// enum Door {
    ///     Shut,
    ///     Open,
    /// }
    ///
    /// async fn hero(door: Watch<Door>) -> u64 {
    ///     door.wait_for(|door| *door != Door::Shut).await;
    ///     // Already open: no wait.
    ///     assert!(door.wait_for(|door| *door != Door::Shut).await == Door::Open);
    ///     time().frame
    /// }
    ///
    /// let mut executor = Executor::new();
    /// let door = Watch::new(Door::Shut);
    /// let hero = executor.start(hero(door.clone()));
    /// executor.run_frame(0.25);
    /// door.set(Door::Open);
    /// assert_eq!(executor.run_until(hero, 0.25).unwrap(), 2);
    /// ```
    #[track_caller]
    pub fn wait_for<P: Fn(&T) -> bool>(&self, condition: P) -> WaitWatch<T, P>
    where
        T: Clone,
    {
        match self.place.find("Watch::wait_for") {
            Ok(shared) => WaitWatch::new(Waiter::new(&shared), condition),
            Err(runtime) => WaitWatch::of_runtime(
                runtime.call(|watches, name, start| watches.wait(name, *start, false)),
                condition,
            ),
        }
    }

    /// Returns a stream of changes. It remembers the version of the value that it
    /// has seen, beginning with the current version.
    #[track_caller]
    pub fn subscribe(&self) -> Changes<T> {
        match self.place.find("Watch::subscribe") {
            Ok(shared) => Changes::new(Waiter::new(&shared)),
            Err(runtime) => {
                let at = Location::caller();
                let subscribed =
                    runtime.call(|watches, name, start| watches.subscribe(name, *start, at));
                Changes::of_runtime(subscribed)
            }
        }
    }

    /// A handle of a state that others have, too.
    fn of(shared: &Rc<Shared<T>>) -> Self {
        Watch {
            place: Watch::place_of(shared),
        }
    }

    fn place_of(shared: &Rc<Shared<T>>) -> Place<Shared<T>> {
        shared.state.borrow_mut().handles += 1;
        Place::Own(shared.clone())
    }
}

impl<T: 'static> Watch<T> {
    /// One that is found in the runtime of the caller, else in the executor.
    #[track_caller]
    pub(crate) const fn declared_for<R: WatchesOf<T>>(
        name: &'static str,
        start: fn() -> T,
    ) -> Self {
        Watch {
            place: Place::Named(Name::found_by(name, start, find_for::<T, R>)),
        }
    }
}

fn find_for<T: 'static, R: WatchesOf<T>>(name: &Name<Shared<T>>) -> Result<At<Shared<T>>, Missing> {
    find_here::<_, R>(name, R::watches)
}

#[track_caller]
fn get_in<T>(runtime: &InRuntime<'_, Shared<T>>) -> T {
    let at = Location::caller();
    runtime.call(|watches, name, start| watches.get(name, *start, at))
}

#[track_caller]
fn set_in<T>(runtime: &InRuntime<'_, Shared<T>>, value: T) {
    let at = Location::caller();
    runtime.call(|watches, name, _| watches.set(name, at, value));
}

/// Calls `change` with the value, which also returns whether it has changed it.
#[track_caller]
fn change_in<T, R>(
    runtime: &InRuntime<'_, Shared<T>>,
    change: impl FnOnce(&mut T) -> (R, bool),
) -> R {
    let at = Location::caller();
    let (mut change, mut output) = (Some(change), None);
    let mut once = |value: &mut T| {
        let change = change.take().expect("it is called once");
        let (returned, is_changed) = change(value);
        output = Some(returned);
        is_changed
    };
    runtime.call(|watches, name, start| watches.change(name, *start, at, &mut once));
    output.expect("it was called")
}

/// Declares a watch that scripts find by its name, in the executor that runs them.
///
/// Like [`signal`](crate::sync::signal()), for a value: the result is a handle with all methods of [`Watch`], for
/// a constant. In each executor, the value is first what `start` returns.
///
/// # Panics
///
/// If the name has a `[`, which begins a key. Calls on the handle panic outside of an executor, and if other code has
/// declared a watch of that name with another type in this executor.
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// const GOLD: Watch<u32> = watch("gold", || 3);
///
/// async fn shop() -> u32 {
///     GOLD.wait_for(|gold| *gold >= 10).await;
///     GOLD.update(|gold| {
///         *gold -= 10;
///         *gold
///     })
/// }
///
/// let mut executor = Executor::new();
/// let shop = executor.start(shop());
/// assert_eq!(executor.named(&GOLD).get(), 3);
/// executor.enter(|| GOLD.set(12));
/// assert_eq!(executor.run_until(shop, 0.25).unwrap(), 2);
/// ```
///
/// # Source
///
/// The blackboard of behaviour trees.
#[track_caller]
pub const fn watch<T: 'static>(name: &'static str, start: fn() -> T) -> Watch<T> {
    Watch {
        place: Place::Named(Name::new(name, start)),
    }
}

impl<T> named::State for Shared<T> {
    type Start = fn() -> T;
    type Runtime = dyn RuntimeWatches<T>;

    const KIND: SourceKind = SourceKind::Watch;
    const A_KIND: &'static str = "a watch";

    fn new(start: &fn() -> T) -> Self {
        Shared::of(start())
    }

    fn set_source(&self, source: Source) {
        self.state.borrow_mut().waiters.set_source(source);
    }

    fn is_new(&self) -> bool {
        let state = self.state.borrow();
        state.version == state.began
    }

    fn end(&self) {
        self.remove_handle();
    }

    fn number(_: &fn() -> T) -> usize {
        0
    }

    fn describe(_: usize) -> String {
        format!("a `Watch<{}>`", std::any::type_name::<T>())
    }
}

impl<T> Named for Watch<T> {}

impl<T> Sealed for Watch<T> {
    fn source_name(&self) -> Option<SourceName<'_>> {
        self.place.source_name()
    }

    fn found(&self) -> Result<Self, String> {
        let place = self.place.found(Watch::place_of)?;
        Ok(Watch { place })
    }
}

impl<T> Shared<T> {
    fn of(value: T) -> Self {
        Shared {
            state: RefCell::new(State {
                value: Ok(Rc::new(Value::new(value))),
                has_deferred: false,
                version: 0,
                began: 0,
                handles: 1,
                show: None,
                waiters: Waiters::new(),
            }),
        }
    }

    /// Replaces the value, which no closure may change meanwhile.
    fn set(&self, value: T, is_start: bool) {
        events::note_emitted(|| self.emission(|show| events::text_of(show(&value))));
        let replaced = {
            let mut state = self.state.borrow_mut();
            let replaced = state.replace(value);
            if is_start {
                state.began = state.version;
            }
            replaced
        };
        self.wake(replaced.began_before);
        // Dropped last: the destructor is user code, and may panic.
        drop((replaced.own, replaced.shared));
    }

    fn remove_handle(&self) {
        let (is_last, began) = {
            let mut state = self.state.borrow_mut();
            state.handles -= 1;
            (state.handles == 0, state.waiters.began())
        };
        if is_last {
            // The streams of changes end: wake their waiters.
            self.wake(began);
        }
    }

    #[track_caller]
    fn with<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        let value = self.value();
        call::out(|| read(value.get()))
    }

    /// The value, to read it.
    #[track_caller]
    fn value(&self) -> Rc<Value<T>> {
        let value = self.state.borrow().value.clone();
        match value {
            Ok(value) => value,
            Err(place) => is_being_changed(place),
        }
    }

    /// Whether a closure changes the value. Then the wait that asks is polled again after that.
    fn defers(&self) -> bool {
        let mut state = self.state.borrow_mut();
        let is_changing = state.value.is_err();
        state.has_deferred |= is_changing;
        is_changing
    }

    #[track_caller]
    fn expect_present(&self) {
        if let &Err(place) = &self.state.borrow().value {
            is_being_changed(place);
        }
    }

    /// Calls `change` with the value, which also returns whether it has changed it.
    #[track_caller]
    fn change<R>(&self, change: impl FnOnce(&mut T) -> (R, bool)) -> R
    where
        T: Clone,
    {
        let mut changing = Changing::begin(self);
        let value = changing.value.as_mut().and_then(Rc::get_mut);
        let value = value.expect("it is not shared").get_mut();
        let (output, is_changed) = call::out(|| change(value));
        changing.is_changed = is_changed;
        output
    }

    /// The change, as a trace shows it. `text` prints the new value. Calls user code.
    fn emission(&self, text: impl FnOnce(Show<T>) -> Option<Arc<str>>) -> Option<Emission> {
        let (source, listeners, show) = {
            let state = self.state.borrow();
            (state.waiters.source()?, state.waiters.len(), state.show)
        };
        Some(Emission {
            source,
            listeners,
            value: show.and_then(text),
        })
    }

    /// The present value as text. Calls user code.
    fn text(&self, show: Show<T>) -> Option<Arc<str>> {
        let value = self.state.borrow().value.clone().ok()?;
        events::text_of(show(value.get()))
    }

    /// Tells the source the value, if it is shown and the code that runs is observed. Calls
    /// user code.
    #[cold]
    #[inline(never)]
    fn show(&self, source: &Source) {
        let show = self.state.borrow().show;
        if let Some(text) = show
            .filter(|_| events::is_observed())
            .and_then(|show| self.text(show))
        {
            source.set_value(text);
        }
    }

    /// Ends a change: wakes the waiters if the value is another one, or if some have been
    /// polled in the meantime.
    fn end_change(&self, is_changed: bool) {
        if is_changed {
            events::note_emitted(|| self.emission(|show| self.text(show)));
        }
        let (wakes, began) = {
            let mut state = self.state.borrow_mut();
            state.version += u64::from(is_changed);
            let wakes = mem::take(&mut state.has_deferred) || is_changed;
            (wakes, state.waiters.began())
        };
        if wakes {
            self.wake(began);
        }
    }

    /// Wakes the waiters that began to wait before `limit`, in order.
    fn wake(&self, limit: u64) {
        loop {
            let waiter = self.state.borrow_mut().waiters.next(limit);
            let Some(waiting) = waiter else {
                return;
            };
            waiting.wake();
        }
    }
}

/// A change under way. Dropping it ends the change, even if the closure panics.
struct Changing<'a, T> {
    shared: &'a Shared<T>,
    /// What the closure changes: the value in place, or a clone if another closure reads it.
    value: Option<Rc<Value<T>>>,
    /// The value that the other closure reads.
    read: Option<Rc<Value<T>>>,
    /// As long as the closure has not returned, the value counts as changed.
    is_changed: bool,
}

impl<'a, T: Clone> Changing<'a, T> {
    #[track_caller]
    fn begin(shared: &'a Shared<T>) -> Self {
        let place = Location::caller();
        let clone = loop {
            let value = shared.value();
            // The state has the other one, unless a closure has one, too.
            let is_read = Rc::strong_count(&value) > 2;
            if !is_read {
                break None;
            }
            let clone = Rc::new(Value::new(call::out(|| value.get().clone())));
            // The clone is user code. If it has set another value, that is the one to change: it
            // has no reader, since all closures that read it have returned.
            if Rc::ptr_eq(&value, &shared.value()) {
                break Some(clone);
            }
        };
        let present = mem::replace(&mut shared.state.borrow_mut().value, Err(place)).ok();
        let (value, read) = match clone {
            Some(clone) => (Some(clone), present),
            None => (present, None),
        };
        Changing {
            shared,
            value,
            read,
            is_changed: true,
        }
    }
}

impl<T> Drop for Changing<'_, T> {
    fn drop(&mut self) {
        let (value, before) = match (self.value.take(), self.read.take()) {
            (clone, Some(read)) if !self.is_changed => (Some(read), clone),
            present => present,
        };
        if let Some(value) = value {
            self.shared.state.borrow_mut().value = Ok(value);
        }
        self.shared.end_change(self.is_changed);
        drop(before);
    }
}

#[cold]
#[track_caller]
fn is_being_changed(place: &Location<'_>) -> ! {
    panic!("{}", being_changed(place))
}

/// The message of a panic: a closure that was called at `place` changes the watch.
#[cold]
pub fn being_changed(place: &Location<'_>) -> String {
    format!(
        "a watch was read or changed inside the closure of its own `update`, called at {place}: \
         use the argument of that closure, or do it before or after the `update`"
    )
}

/// A value that has been replaced. The caller drops it.
struct Replaced<T> {
    /// The value, or `None` if a closure is reading it: then it is in `shared`.
    own: Option<Value<T>>,
    shared: Option<Rc<Value<T>>>,
    /// The waiters that began to wait before this are woken.
    began_before: u64,
}

impl<T> State<T> {
    fn replace(&mut self, value: T) -> Replaced<T> {
        self.version += 1;
        let value = Value::new(value);
        let present = self.value.as_mut().ok().and_then(Rc::get_mut);
        let (own, shared) = match present {
            Some(present) => (Some(mem::replace(present, value)), None),
            None => (None, mem::replace(&mut self.value, Ok(Rc::new(value))).ok()),
        };
        Replaced {
            own,
            shared,
            began_before: self.waiters.began(),
        }
    }
}

impl<T> Clone for Watch<T> {
    fn clone(&self) -> Self {
        match &self.place {
            Place::Own(shared) => Watch::of(shared),
            Place::Named(name) => Watch {
                place: Place::Named(name.clone()),
            },
        }
    }
}

impl<T> Drop for Watch<T> {
    fn drop(&mut self) {
        if let Place::Own(shared) = &self.place {
            shared.remove_handle();
        }
    }
}

impl<T: Default> Default for Watch<T> {
    fn default() -> Self {
        Watch::new(T::default())
    }
}

impl<T: fmt::Debug> Shared<T> {
    /// Writes a handle of that name.
    fn write(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (source, value) = {
            let state = self.state.borrow();
            (state.waiters.source(), state.value.clone())
        };
        let mut shown = f.debug_struct(name);
        if let Some(source) = source {
            shown.field("name", &source.name());
        }
        match value {
            Ok(value) => call::out(|| shown.field("value", value.get()).finish_non_exhaustive()),
            // A closure changes it.
            Err(_) => shown.finish_non_exhaustive(),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Watch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Own(shared) => shared.write("Watch", f),
            Place::Named(name) => write_name("Watch", name.full(), f),
        }
    }
}
