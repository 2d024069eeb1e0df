//! Permits: a limited number of coroutines that do something at the same time.

mod acquire;
mod permit;

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::panic::Location;
use std::rc::Rc;
use std::task::Context;

use crate::core::report;
use crate::core::wake::kept::{Grant, GrantKind};
use crate::durable::{RuntimeSemaphores, SemaphoresOf};
use crate::inspect::events;
use crate::inspect::{Source, SourceKind};
use crate::sync::key::Key;
use crate::sync::named::{
    self, At, Missing, Name, Named, Place, Sealed, State as _, find_here, write_name,
};
use crate::sync::source::SourceName;
use crate::sync::waiters::{Waiters, Waiting};

pub use acquire::Acquire;
pub use permit::Permit;

/// A number of permits that coroutines share: two enemies may attack at the same
/// time, one line of dialogue is spoken at a time.
///
/// [`acquire`](Semaphore::acquire) waits for a permit. The permit is a guard, which
/// returns it when it is dropped: at the end of the script, or when the script is
/// stopped or panics.
///
/// The handle is cheap to clone, and all clones share the permits. It stays on the
/// thread that made it.
///
/// # Order
///
/// First come, first served: coroutines get permits in the order they began to wait.
/// A returned permit belongs at once to the first coroutine that waits, even if that
/// coroutine resumes later or is paused. A wait that is kept, but not polled any more, such as
/// one that `select!` has borrowed, keeps the permit from all others. That is
/// [reported](crate::inspect::Report::GrantUntaken).
///
/// # Resumes
///
/// As with a [`Signal`](crate::sync::Signal): a coroutine that returns a permit is like one
/// that emits.
///
/// # Examples
///
/// Two attack tokens for three goblins:
///
/// ```
/// use framestep::prelude::*;
///
/// async fn attack(tokens: Semaphore) -> u64 {
///     let _token = tokens.acquire().await;
///     let began = time().frame;
///     wait_seconds(1).await;
///     began
/// }
///
/// let mut executor = Executor::new();
/// let tokens = Semaphore::new(2);
/// let goblins = [0, 1, 2].map(|_| executor.start(attack(tokens.clone())));
/// assert_eq!(tokens.available(), 0);
/// let began = executor.run_until(try_join_all(goblins), 0.25);
/// assert_eq!(began.unwrap(), [0, 0, 4]);
/// assert_eq!(tokens.available(), 2);
/// ```
///
/// # Source
///
/// `tokio::sync::Semaphore`; attack tokens, as in the AI of many action games.
pub struct Semaphore {
    place: Place<Shared>,
}

/// The state that permits and their waits share.
pub(super) struct Shared {
    /// Borrowed only for bookkeeping. Wakers are cloned, called and dropped outside
    /// the borrow.
    state: RefCell<State>,
}

struct State {
    /// How many permits there were at first.
    start: usize,
    /// The permits that nobody has. While it is not 0, the first waiter waits for more.
    free: usize,
    /// The permits that have been taken or granted.
    out: usize,
    /// So many of those vanish when they are returned.
    excess: usize,
    waiters: Waiters<Request>,
}

/// What a waiter waits for.
struct Request {
    count: usize,
    /// Whether it has been granted its permits, which it has not taken yet.
    is_granted: bool,
    /// The note of that, for the executor of the waiter.
    grant: Option<Grant>,
}

impl Semaphore {
    /// Makes `count` permits. Without any, each wait lasts until permits are
    /// [added](Semaphore::add).
    pub fn new(count: usize) -> Self {
        Semaphore {
            place: Place::own(<Shared as named::State>::new(&count)),
        }
    }

    /// Names the permits, for all clones, and returns them.
    /// [Snapshots](crate::inspect::Wait::Permit) show which coroutines wait for named permits,
    /// and [traces](crate::inspect::TraceKind::Resumed) show which coroutines they have woken.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let executor = Executor::new();
    /// let tokens = Semaphore::new(0).named("attack tokens");
    /// executor.start(tokens.acquire()).named("goblin");
    /// assert_eq!(
    ///     executor.snapshot().to_string(),
    ///     "\
    /// frame 0, 0ns: 1 coroutine
    ///   id   name    state
    ///   0v1  goblin  a permit of attack tokens
    /// "
    /// );
    /// ```
    ///
    /// The name is for tools. Scripts find permits by their name if they are made by [`semaphore`].
    ///
    /// # Panics
    ///
    /// If they have been made by [`semaphore`]: then they have a name.
    #[must_use = "the permits are returned with their name: use them"]
    #[track_caller]
    pub fn named(self, name: impl Into<Cow<'static, str>>) -> Self {
        let source = events::born(SourceKind::Semaphore, name.into());
        self.place.expect_own("named").set_source(source);
        self
    }

    /// The permits of this name for one key, such as a room: `TOKENS.keyed(room)`. Snapshots and traces
    /// show them as `attack tokens[3]`.
    ///
    /// # Memory
    ///
    /// A key that nothing uses, and that has as many permits as declared, costs nothing: those that
    /// have been used are removed now and then.
    ///
    /// # Panics
    ///
    /// If they have not been made by [`semaphore`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// const TOKENS: Semaphore = semaphore("attack tokens", 1);
    ///
    /// let executor = Executor::new();
    /// executor.enter(|| {
    ///     let _token = TOKENS.keyed("cellar").try_acquire();
    ///     assert_eq!(TOKENS.keyed("cellar").available(), 0);
    ///     assert_eq!(TOKENS.keyed("tower").available(), 1);
    /// });
    /// ```
    #[must_use = "it is another semaphore: use it"]
    #[track_caller]
    pub fn keyed(&self, key: impl Key) -> Self {
        Semaphore {
            place: self.place.keyed(&key),
        }
    }

    /// Waits for a permit.
    ///
    /// The place in the queue counts from the first poll. The future borrows nothing:
    /// it may be started as a coroutine or kept in a field.
    ///
    /// # Resumes
    ///
    /// At once, without a wait, if a permit is available. Otherwise when one is
    /// returned, as described at [`Semaphore`].
    ///
    /// # Output
    ///
    /// The [`Permit`]. Bind it to a variable, as in `let _permit = ..`, because
    /// `let _ = ..` returns it at once.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses its place in the queue. If it was granted a permit
    /// that it has not returned yet, the next in the queue gets that permit.
    ///
    /// # Examples
    ///
    /// See [`Semaphore`].
    #[track_caller]
    pub fn acquire(&self) -> Acquire {
        self.acquire_many(1)
    }

    /// Waits for `count` permits at once: for something that takes the place of several.
    ///
    /// It keeps its place in the queue until all of them are free, and those behind it wait,
    /// even for fewer. So it is not overtaken without end. With more permits than there are,
    /// the wait lasts until they are [added](Semaphore::add). For 0 permits, it is ready at
    /// once.
    ///
    /// # Resumes
    ///
    /// Like [`acquire`](Semaphore::acquire).
    ///
    /// # Output
    ///
    /// One [`Permit`], which returns all of them.
    ///
    /// # Cancel safety
    ///
    /// Like [`acquire`](Semaphore::acquire).
    ///
    /// # Examples
    ///
    /// An ogre that attacks takes the place of two goblins:
    ///
    /// ```
    /// use framestep::prelude::*;
    ///
    /// async fn attack(tokens: Semaphore, takes: usize) -> u64 {
    ///     let _tokens = tokens.acquire_many(takes).await;
    ///     let began = time().frame;
    ///     wait_seconds(1).await;
    ///     began
    /// }
    ///
    /// let mut executor = Executor::new();
    /// let tokens = Semaphore::new(2);
    /// let attacks = [1, 2, 1].map(|takes| executor.start(attack(tokens.clone(), takes)));
    /// let began = executor.run_until(try_join_all(attacks), 0.25);
    /// assert_eq!(began.unwrap(), [0, 4, 8]);
    /// ```
    ///
    /// # Source
    ///
    /// `Semaphore::acquire_many` of tokio.
    #[track_caller]
    pub fn acquire_many(&self, count: usize) -> Acquire {
        match self.place.find_now("Semaphore::acquire") {
            Ok(shared) => Acquire::new(shared.clone(), count),
            Err(runtime) => Acquire::of_runtime(
                runtime.call(|all, name, declared| all.acquire(name, *declared, count)),
            ),
        }
    }

    /// Takes a permit if one is available, without waiting. While a coroutine waits, it
    /// returns `None`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let tokens = Semaphore::new(1);
    /// let token = tokens.try_acquire();
    /// assert!(token.is_some());
    /// assert!(tokens.try_acquire().is_none());
    /// drop(token);
    /// assert!(tokens.try_acquire().is_some());
    /// ```
    #[track_caller]
    pub fn try_acquire(&self) -> Option<Permit> {
        let shared = match self.place.find_now("Semaphore::try_acquire") {
            Ok(shared) => shared,
            Err(runtime) => {
                let at = Location::caller();
                let taken =
                    runtime.call(|all, name, declared| all.try_acquire(name, *declared, at));
                return taken.map(Permit::of_runtime);
            }
        };
        shared.take_free(1).then(|| shared.permit(1))
    }

    /// How many permits [`try_acquire`](Semaphore::try_acquire) would return.
    #[track_caller]
    pub fn available(&self) -> usize {
        match self.place.find_now("Semaphore::available") {
            Ok(shared) => shared.state.borrow().available(),
            Err(runtime) => {
                let at = Location::caller();
                runtime.call(|all, name, declared| all.available(name, *declared, at))
            }
        }
    }

    /// How many permits there are: those that are available, and those that have been taken.
    /// After [`set_count`](Semaphore::set_count), what it has set.
    #[track_caller]
    pub fn count(&self) -> usize {
        match self.place.find_now("Semaphore::count") {
            Ok(shared) => shared.state.borrow().count(),
            Err(runtime) => {
                let at = Location::caller();
                runtime.call(|all, name, declared| all.count(name, *declared, at))
            }
        }
    }

    /// Adds `count` permits. The coroutines that wait get them first, in order.
    ///
    /// With [`Semaphore::new(0)`](Semaphore::new), that is a gate that each `add` opens for so
    /// many.
    ///
    /// # Panics
    ///
    /// If there would be more than `usize::MAX` permits.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let mut executor = Executor::new();
    /// let gate = Semaphore::new(0);
    /// let goblins = [0, 1, 2].map(|_| executor.start(gate.acquire()));
    /// gate.add(2);
    /// executor.run_frame(0.25);
    /// assert_eq!(goblins.map(|goblin| goblin.is_finished()), [true, true, false]);
    /// ```
    ///
    /// # Source
    ///
    /// `Semaphore::add_permits` of tokio.
    #[track_caller]
    pub fn add(&self, count: usize) {
        let shared = match self.place.find_now("Semaphore::add") {
            Ok(shared) => shared,
            Err(runtime) => {
                let at = Location::caller();
                return runtime.call(|all, name, declared| all.add(name, *declared, at, count));
            }
        };
        let present = shared.state.borrow().count();
        let has_room = present.checked_add(count).is_some();
        assert!(
            has_room,
            "`add` got {count} permits, which are too many to count"
        );
        shared.state.borrow_mut().put_in(count);
        shared.grant();
    }

    /// Sets how many permits there are: a higher difficulty has more attack tokens.
    ///
    /// With more than before, the coroutines that wait get them first, in order. With fewer,
    /// nothing is taken away from a coroutine: if more than `count` are taken, none is granted
    /// until enough have been returned. That is [reported](crate::inspect::Report::SuspiciousCall), with the
    /// line of this call, because the new number does not hold yet.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep::prelude::*;
    /// let tokens = Semaphore::new(3);
    /// let taken = tokens.try_acquire();
    /// tokens.set_count(2);
    /// assert_eq!((tokens.count(), tokens.available()), (2, 1));
    /// drop(taken);
    /// assert_eq!(tokens.available(), 2);
    /// ```
    #[track_caller]
    pub fn set_count(&self, count: usize) {
        let shared = match self.place.find_now("Semaphore::set_count") {
            Ok(shared) => shared,
            Err(runtime) => {
                let at = Location::caller();
                return runtime
                    .call(|all, name, declared| all.set_count(name, *declared, at, count));
            }
        };
        let over = {
            let mut state = shared.state.borrow_mut();
            let before = state.count();
            if count >= before {
                state.put_in(count - before);
            } else {
                state.take_out(before - count);
            }
            let source = state.waiters.source();
            (state.excess > 0).then(|| (state.out, state.excess, source))
        };
        shared.grant();
        if let Some((out, excess, source)) = over {
            let of = source.map_or(String::new(), |source| format!(" of `{}`", source.name()));
            report_excess(&of, [count, out, excess], Location::caller());
        }
    }
}

/// Reports that the number of permits `of` a name was set to `count`, with `out` taken, which are `excess` too many.
pub fn report_excess(
    of: &str,
    [count, out, excess]: [usize; 3],
    place: &'static Location<'static>,
) {
    report::suspicious(
        place,
        format!(
            "the permits{of} were set to {count} while {out} are taken, so none is granted \
             until {excess} of those have been returned: to have them back now, stop the \
             scripts that hold them"
        ),
    );
}

/// Declares permits that scripts find by their name, in the executor that runs them.
///
/// Like [`signal`](crate::sync::signal()): the result is a handle with all methods of [`Semaphore`], for a
/// constant. Each executor has `count` permits of that name at first.
///
/// # Panics
///
/// If the name has a `[`, which begins a key. Calls on the handle panic outside of an executor, and if other code has
/// declared permits of that name with another count in this executor.
///
/// # Examples
///
/// ```
/// # use framestep::prelude::*;
/// const TOKENS: Semaphore = semaphore("attack tokens", 2);
///
/// async fn attack() -> u64 {
///     let _token = TOKENS.acquire().await;
///     let began = time().frame;
///     wait_seconds(1).await;
///     began
/// }
///
/// let mut executor = Executor::new();
/// let goblins = [0, 1, 2].map(|_| executor.start(attack()));
/// assert_eq!(executor.named(&TOKENS).available(), 0);
/// let began = executor.run_until(try_join_all(goblins), 0.25);
/// assert_eq!(began.unwrap(), [0, 0, 4]);
/// ```
///
/// # Source
///
/// [`Semaphore`].
#[track_caller]
pub const fn semaphore(name: &'static str, count: usize) -> Semaphore {
    Semaphore {
        place: Place::Named(Name::new(name, count)),
    }
}

impl Semaphore {
    /// One that is found in the runtime of the caller, else in the executor.
    #[track_caller]
    pub(crate) const fn declared_for<R: SemaphoresOf>(name: &'static str, count: usize) -> Self {
        Semaphore {
            place: Place::Named(Name::found_by(name, count, find_for::<R>)),
        }
    }
}

fn find_for<R: SemaphoresOf>(name: &Name<Shared>) -> Result<At<Shared>, Missing> {
    find_here::<_, R>(name, R::semaphores)
}

impl named::State for Shared {
    type Start = usize;
    type Runtime = dyn RuntimeSemaphores;

    const KIND: SourceKind = SourceKind::Semaphore;
    const A_KIND: &'static str = "a semaphore";

    fn new(count: &usize) -> Self {
        Shared {
            state: RefCell::new(State {
                start: *count,
                free: *count,
                out: 0,
                excess: 0,
                waiters: Waiters::new(),
            }),
        }
    }

    fn set_source(&self, source: Source) {
        self.state.borrow_mut().waiters.set_source(source);
    }

    fn is_new(&self) -> bool {
        let state = self.state.borrow();
        state.count() == state.start
    }

    fn end(&self) {}

    fn number(count: &usize) -> usize {
        *count
    }

    fn describe(count: usize) -> String {
        format!("a `Semaphore` of {count}")
    }
}

impl Named for Semaphore {}

impl Sealed for Semaphore {
    fn source_name(&self) -> Option<SourceName<'_>> {
        self.place.source_name()
    }

    fn found(&self) -> Result<Self, String> {
        let place = self.place.found(|shared| Place::Own(shared.clone()))?;
        Ok(Semaphore { place })
    }
}

impl Clone for Semaphore {
    fn clone(&self) -> Self {
        let place = match &self.place {
            Place::Own(shared) => Place::Own(shared.clone()),
            Place::Named(name) => Place::Named(name.clone()),
        };
        Semaphore { place }
    }
}

impl Shared {
    /// A guard of permits that have been taken.
    fn permit(self: &Rc<Self>, count: usize) -> Permit {
        Permit::new(self.clone(), count)
    }

    #[track_caller]
    fn take_free(&self, count: usize) -> bool {
        let mut state = self.state.borrow_mut();
        let is_free = state.take_free(count);
        if is_free {
            state.note(count, Some(Location::caller()));
        }
        is_free
    }

    /// Adds a waiter that does not wait yet.
    fn add_waiter(&self, count: usize) -> usize {
        let request = Request {
            count,
            is_granted: false,
            grant: None,
        };
        self.state.borrow_mut().waiters.add(request)
    }

    fn is_granted(&self, waiter: usize) -> bool {
        self.state.borrow().waiters.data(waiter).is_granted
    }

    /// Waits with the waker in `cx`. Calls user code, so the waiter may have been
    /// granted its permits afterwards.
    #[track_caller]
    fn wait(&self, waiter: usize, cx: &Context<'_>) {
        let is_waiting = self.state.borrow().waiters.waits_with(waiter, cx.waker());
        if !is_waiting {
            let noted = self.state.borrow().waiters.note();
            let waiting = Waiting::new(cx, noted);
            let unneeded = self.state.borrow_mut().wait(waiter, waiting);
            drop(unneeded);
        }
    }

    /// Removes the waiter if it has been granted its permits: its future takes them.
    #[track_caller]
    fn take_granted(&self, waiter: usize) -> bool {
        let is_granted = self.is_granted(waiter);
        if is_granted {
            let mut state = self.state.borrow_mut();
            let (request, waiting) = state.waiters.remove(waiter);
            state.note(request.count, Some(Location::caller()));
            drop(state);
            debug_assert!(waiting.is_none(), "it has been woken");
        }
        is_granted
    }

    /// Removes a waiter. Permits that it has been granted go to the next ones, and so do those
    /// that it has kept from them.
    fn remove_waiter(&self, waiter: usize) {
        let (request, waiting) = self.state.borrow_mut().waiters.remove(waiter);
        if request.is_granted {
            self.put_back(request.count);
        } else {
            self.grant();
        }
        drop(waiting);
    }

    /// Takes back permits that were taken.
    fn put_back(&self, count: usize) {
        self.state.borrow_mut().put_back(count);
        self.grant();
    }

    /// Takes back the permits of a guard.
    fn release(&self, count: usize) {
        let waiting = {
            let mut state = self.state.borrow_mut();
            state.note(count, None);
            state.put_back(count);
            state.grant_next()
        };
        if let Some(waiting) = waiting {
            waiting.wake();
            self.grant();
        }
    }

    /// Grants the free permits to the first waiters.
    fn grant(&self) {
        loop {
            let waiting = self.state.borrow_mut().grant_next();
            let Some(waiting) = waiting else {
                return;
            };
            waiting.wake();
        }
    }
}

impl State {
    /// Notes that the code that runs has got permits, at a line, or drops them. Calls no user
    /// code.
    #[inline]
    fn note(&self, count: usize, acquired_at: Option<&'static Location<'static>>) {
        if let Some(source) = self.waiters.named() {
            events::note_permits(source, count, acquired_at);
        }
    }

    fn available(&self) -> usize {
        if self.waiters.has_waiting() {
            0
        } else {
            self.free
        }
    }

    fn count(&self) -> usize {
        self.free + self.out - self.excess
    }

    fn take_free(&mut self, count: usize) -> bool {
        let is_free = count == 0 || count <= self.available();
        if is_free {
            self.take(count);
        }
        is_free
    }

    fn take(&mut self, count: usize) {
        self.free -= count;
        self.out += count;
    }

    fn put_back(&mut self, count: usize) {
        self.out -= count;
        let vanish = self.excess.min(count);
        self.excess -= vanish;
        self.free += count - vanish;
    }

    /// Adds permits. First they make up for those that would vanish.
    fn put_in(&mut self, count: usize) {
        let kept = self.excess.min(count);
        self.excess -= kept;
        self.free += count - kept;
    }

    /// Removes permits: free ones, then those that will be returned.
    fn take_out(&mut self, count: usize) {
        let removed = self.free.min(count);
        self.free -= removed;
        self.excess += count - removed;
    }

    /// Makes a waiter wait, unless the clone of its waker has made its permits
    /// available. Returns a value for the caller to drop.
    fn wait(&mut self, waiter: usize, waiting: Waiting) -> Option<Waiting> {
        let Request {
            count, is_granted, ..
        } = *self.waiters.data(waiter);
        if is_granted || self.take_free(count) {
            self.waiters.data_mut(waiter).is_granted = true;
            return Some(waiting);
        }
        self.waiters.wait(waiter, waiting)
    }

    /// Grants the first waiter its permits, if they are free. Returns the waiter to wake.
    fn grant_next(&mut self) -> Option<Waiting> {
        let count = self.waiters.first()?.count;
        if count > self.free {
            return None;
        }
        self.take(count);
        let source = self.waiters.source();
        let (waiting, request) = self.waiters.next_with_data(u64::MAX)?;
        request.is_granted = true;
        request.grant = waiting.grant(GrantKind::Permit, source);
        Some(waiting)
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shared = match &self.place {
            Place::Own(shared) => shared,
            Place::Named(name) => return write_name("Semaphore", name.full(), f),
        };
        // The writer is user code: no borrow during the write.
        let (source, available) = {
            let state = shared.state.borrow();
            (state.waiters.source(), state.available())
        };
        let mut shown = f.debug_struct("Semaphore");
        if let Some(source) = source {
            shown.field("name", &source.name());
        }
        shown.field("available", &available).finish_non_exhaustive()
    }
}
