//! Semaphores: they limit how many scripts do something at the same time.

use std::fmt;
use std::rc::Rc;

use serde::Serialize;

use crate::bytes::{Bytes, EventName, Keyed};
use crate::journal::Call;
use crate::script::place::{Place, in_place};
use crate::script::{Numbered, outside, place_outside_of_closures};
use crate::wait::permit::Inner;
use crate::wait::{Acquire, Permit};

/// A number of permits that scripts share, with a name: two enemies attack at the same time, one line
/// of dialogue is spoken at a time. Declare it as a constant: the runtime keeps which scripts have
/// one, and saves it.
///
/// [`acquire`](Self::acquire) waits for a permit: a guard, which returns it when it is dropped.
///
/// # Order
///
/// First come, first served: scripts get permits in the order in which they began to wait. A returned
/// permit belongs at once to the first script that waits, even if that resumes later or is paused.
///
/// # Keys
///
/// [`keyed`](Self::keyed) returns the permits of one entity: `SEATS.keyed(table)`. They have the same methods.
///
/// # Memory
///
/// Nothing is kept for permits that no script has, unless another number of them has been
/// [set](Self::set_count), by a script or by the [host](crate::RuntimeHandle::set_permits).
///
/// # Outside of durable scripts
///
/// A plain script, in any executor, uses them in the same way. Each executor has permits of its own.
///
/// # Examples
///
/// Two attack tokens for three goblins:
///
/// ```
/// use framestep_durable::prelude::*;
///
/// const TOKENS: Semaphore = semaphore("attack tokens", 2);
///
/// #[durable]
/// async fn attack() -> u64 {
///     let _token = TOKENS.acquire().await;
///     let began = time().frame;
///     wait_seconds(1).await;
///     began
/// }
///
/// let mut runtime = Runtime::new(Registry::new().with::<Attack>());
/// let goblins = [0, 1, 2].map(|_| runtime.start(attack()));
/// assert_eq!(runtime.available(&TOKENS), 0);
/// for _ in 0..8 {
///     runtime.run_frame(0.25);
/// }
/// let began = goblins.map(|goblin| runtime.take(goblin).unwrap().unwrap());
/// assert_eq!(began, [0, 0, 4]);
/// assert_eq!(runtime.available(&TOKENS), 2);
/// ```
///
/// # Source
///
/// [`framestep::sync::Semaphore`].
#[derive(Clone, Copy)]
pub struct Semaphore<N = &'static str> {
    pub(super) name: N,
    pub(super) count: usize,
}

/// Declares `count` permits with this name. Permits of the same name are the same, and must have the same
/// number. Without any, each wait lasts until it is stopped, or the host sets another number.
///
/// # Source
///
/// [`framestep::sync::semaphore`], of which the constant is spelt the same.
pub const fn semaphore(name: &'static str, count: usize) -> Semaphore {
    Semaphore { name, count }
}

impl Semaphore {
    /// The name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The permits of this name for one key: an entity, an id, a text, or a tuple of these. There are
    /// as many for each key.
    ///
    /// Keys with the same text are the same: the type of a number does not matter, and an id is its
    /// number. In save states, snapshots and traces, the permits are named `seats[7]`.
    ///
    /// # Panics
    ///
    /// If the `Serialize` of the key fails.
    #[track_caller]
    pub fn keyed(&self, key: impl Serialize) -> Semaphore<Keyed> {
        Semaphore {
            name: Keyed::new(self.name, &key),
            count: self.count,
        }
    }
}

impl<N: EventName> Semaphore<N> {
    pub(crate) fn full_name(&self) -> &str {
        self.name.full()
    }

    pub(crate) fn declared(&self) -> u64 {
        self.count as u64
    }

    /// Waits for a permit. The place in the queue counts from the first poll.
    ///
    /// # Resumes
    ///
    /// At once, without a wait, if a permit is available. Else in the home phase, when one is returned:
    /// a script that returns a permit is like one that emits a [`Signal`](crate::Signal).
    ///
    /// # Output
    ///
    /// The [`Permit`]. Bind it to a variable, as in `let _permit = ..`, because `let _ = ..` returns
    /// it at once.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses its place in the queue. If it was granted a permit that it has not
    /// returned yet, the next in the queue gets that permit.
    pub fn acquire(&self) -> Acquire<N> {
        self.acquire_many(1)
    }

    /// Waits for `count` permits at once: for something that takes the place of several. See
    /// [`framestep::sync::Semaphore::acquire_many`].
    ///
    /// It keeps its place in the queue until all of them are free, and those behind it wait, even for
    /// fewer. With more permits than there are, the wait lasts until they are [added](Self::add). For
    /// 0 permits, it is ready at once, and the script is no holder.
    ///
    /// # Resumes
    ///
    /// Like [`acquire`](Self::acquire).
    ///
    /// # Output
    ///
    /// One [`Permit`], which returns all of them.
    ///
    /// # Cancel safety
    ///
    /// Like [`acquire`](Self::acquire).
    ///
    /// # Examples
    ///
    /// An ogre that attacks takes the place of two goblins:
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// const TOKENS: Semaphore = semaphore("attack tokens", 2);
    ///
    /// #[durable]
    /// async fn attack(takes: usize) -> u64 {
    ///     let _tokens = TOKENS.acquire_many(takes).await;
    ///     let began = time().frame;
    ///     wait_seconds(1).await;
    ///     began
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().with::<Attack>());
    /// let attacks = [1, 2, 1].map(|takes| runtime.start(attack(takes)));
    /// for _ in 0..12 {
    ///     runtime.run_frame(0.25);
    /// }
    /// let began = attacks.map(|attack| runtime.take(attack).unwrap().unwrap());
    /// assert_eq!(began, [0, 4, 8]);
    /// ```
    pub fn acquire_many(&self, count: usize) -> Acquire<N> {
        Acquire {
            numbered: Numbered::giving(),
            permits: self.clone(),
            wanted: count,
        }
    }

    /// Takes a permit if one is available, without waiting. While a script waits, it returns `None`.
    ///
    /// # Panics
    ///
    /// Outside of an executor.
    #[track_caller]
    pub fn try_acquire(&self) -> Option<Permit> {
        let caller = Call::new("try_acquire", self.name.base());
        let name = self.name.full();
        let inner = match place_outside_of_closures("try_acquire") {
            Place::Script(cell) => {
                let events = cell.events();
                let taken = cell.effect(caller, || {
                    Bytes::of(&events.take_permits(cell.id, name, self.declared(), 1))
                });
                let taken: Option<Option<u64>> = taken.and_then(|taken| taken.read());
                let number = taken??;
                let cell = Rc::downgrade(&cell);
                Inner::Script { cell, number }
            }
            Place::Runtime(_) | Place::Outside(_) => {
                let permits = outside("try_acquire").permits(name, self.count);
                let permit = permits.of.try_acquire()?;
                let of = permits;
                Inner::Outside {
                    _permit: permit,
                    _of: of,
                }
            }
        };
        Some(Permit {
            base: self.name.base(),
            inner,
        })
    }

    /// How many permits [`try_acquire`](Self::try_acquire) would return. [`Runtime::available`](crate::RuntimeHandle::available) is for the host.
    ///
    /// # Panics
    ///
    /// Outside of an executor.
    #[track_caller]
    pub fn available(&self) -> usize {
        let caller = Call::new("available", self.name.base());
        let name = self.name.full();
        let free = in_place(
            caller,
            |events| events.free_permits(name, self.declared()),
            |outside| outside.free_permits(name, self.count) as u64,
        );
        usize::try_from(free).unwrap_or(usize::MAX)
    }

    /// How many permits there are: as many as the code says, unless another number has been
    /// [set](Self::set_count).
    ///
    /// # Panics
    ///
    /// Outside of an executor.
    #[track_caller]
    pub fn count(&self) -> usize {
        let caller = Call::new("count", self.name.base());
        let name = self.name.full();
        let count = in_place(
            caller,
            |events| events.permit_count(name, self.declared()),
            |outside| outside.permit_count(name, self.count) as u64,
        );
        usize::try_from(count).unwrap_or(usize::MAX)
    }

    /// Adds `count` permits. The scripts that wait get them first, in order. The new number is kept,
    /// and saved, as after [`set_count`](Self::set_count). [`Runtime::add_permits`] is for the host.
    ///
    /// With `semaphore("gate", 0)`, that is a gate that each `add` opens for so many.
    ///
    /// [`Runtime::add_permits`]: crate::RuntimeHandle::add_permits
    ///
    /// # Panics
    ///
    /// Outside of an executor; or if there would be more permits than can be counted.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// const GATE: Semaphore = semaphore("gate", 0);
    ///
    /// #[durable]
    /// async fn goblin() {
    ///     let _pass = GATE.acquire().await;
    ///     wait_seconds(60).await;
    /// }
    ///
    /// #[durable]
    /// async fn opens() {
    ///     GATE.add(2);
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().with::<Goblin>().with::<Opens>());
    /// let goblins = [0, 1, 2].map(|_| runtime.start(goblin()).id());
    /// runtime.start(opens()).detach();
    /// assert_eq!(runtime.holders(&GATE), goblins[..2]);
    /// ```
    ///
    /// # Source
    ///
    /// [`framestep::sync::Semaphore::add`].
    #[track_caller]
    pub fn add(&self, count: usize) {
        let caller = Call::new("add", self.name.base());
        let (name, more) = (self.name.full(), count as u64);
        in_place(
            caller,
            |events| expect_countable(events.add_permits(name, self.declared(), more)),
            |outside| outside.change_permits(name, self.count, |permits| permits.add(count)),
        );
    }

    /// Sets how many permits there are, instead of the number in the code: a higher difficulty has more
    /// attack tokens. This is kept, and saved, until it is set to that number again.
    /// [`Runtime::set_permits`](crate::RuntimeHandle::set_permits) is for the host.
    ///
    /// With more than before, the scripts that wait get them first, in order. With fewer, nothing is
    /// taken away from a script: none is granted until enough have been returned.
    ///
    /// # Panics
    ///
    /// Outside of an executor.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// const TOKENS: Semaphore = semaphore("attack tokens", 3);
    ///
    /// # async fn script() {
    /// let taken = TOKENS.acquire().await;
    /// TOKENS.set_count(2);
    /// assert_eq!((TOKENS.count(), TOKENS.available()), (2, 1));
    /// drop(taken);
    /// assert_eq!(TOKENS.available(), 2);
    /// # }
    /// # let mut executor = framestep::Executor::new();
    /// # executor.run_until(script(), 0.25);
    /// ```
    ///
    /// # Source
    ///
    /// [`framestep::sync::Semaphore::set_count`].
    #[track_caller]
    pub fn set_count(&self, count: usize) {
        let caller = Call::new("set_count", self.name.base());
        let (name, declared, new) = (self.name.full(), self.declared(), count as u64);
        in_place(
            caller,
            |events| events.set_permits(name, declared, new),
            |outside| outside.change_permits(name, self.count, |permits| permits.set_count(count)),
        );
    }
}

/// Panics if permits were added that are too many to count.
#[track_caller]
pub(crate) fn expect_countable(added: Option<()>) {
    assert!(
        added.is_some(),
        "`add` got more permits than can be counted: give it a smaller number"
    );
}

impl<N: fmt::Debug> fmt::Debug for Semaphore<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Semaphore").field(&self.name).finish()
    }
}
