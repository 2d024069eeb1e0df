//! What a host does with a runtime, also while scripts run.

use std::fmt;
use std::panic::Location;
use std::rc::Rc;

use framestep::Phase;
use framestep::durable::length_ns;
use framestep::time::Seconds;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::Bytes;
use crate::cell::{Birth, ScriptId};
use crate::events::Settled;
use crate::handle::{Act, Handle, JoinError, Joins};
use crate::long::LongChapter;
use crate::loss::Loss;
use crate::owner::{ClockId, OwnerId};
use crate::registry::Registry;
use crate::script::{Begun, Code, DurableScript, begin_once};
use crate::shared::{ClockEntry, Making, OwnerEntry, Shared};
use crate::topic::EventName;
use crate::wait::{Request, RequestId, Resolver, Semaphore, Signal, Value, expect_countable};

/// The part of a [`Runtime`](crate::Runtime) that needs no exclusive access: scripts, signals, values,
/// questions, owners and clocks.
///
/// Engines call back while a script runs: for example, a `with` despawns an entity, and the
/// engine calls the code that manages the entity's scripts. During a run, the runtime is
/// mutably borrowed. A clone of its [`host`](crate::Runtime::host) is not.
///
/// Calls inside a `with` are part of it: their effects are saved with the runtime, and
/// not done again when the script is restored.
///
/// A script that is started while another one borrows the world begins as soon as that borrow
/// ends. After the runtime is dropped, a script that is started is stopped at once.
///
/// # Examples
///
/// ```
/// use framestep_durable::{Host, prelude::*};
///
/// /// The world of an engine, which manages the scripts of its doors.
/// struct World {
///     host: Host,
///     door: Option<OwnerId>,
/// }
///
/// impl World {
///     fn remove_door(&mut self) {
///         if let Some(owner) = self.door.take() {
///             self.host.drop_owner(owner); // its scripts end with it
///         }
///     }
/// }
///
/// #[derive(Serialize, Deserialize)]
/// struct Bomb;
///
/// impl DurableScript for Bomb {
///     const NAME: &'static str = "bomb";
///     type Output = ();
///
///     async fn run(self) -> Chapter<Self> {
///         wait_seconds(0.25).await;
///         with(World::remove_door);
///         Chapter::Done(())
///     }
/// }
///
/// # #[derive(Serialize, Deserialize)]
/// # struct Creak;
/// # impl DurableScript for Creak {
/// #     const NAME: &'static str = "creak";
/// #     type Output = ();
/// #     async fn run(self) -> Chapter<Self> {
/// #         wait_seconds(60).await;
/// #         Chapter::Done(())
/// #     }
/// # }
/// let mut runtime = Runtime::new(Registry::new().with::<Bomb>().with::<Creak>());
/// let door = runtime.owner();
/// let creak = runtime.start_on(door, Creak).id();
/// runtime.start(Bomb).detach();
/// let mut world = World { host: runtime.host().clone(), door: Some(door) };
/// runtime.run_frame_with(&mut world, 0.25);
/// assert!(!runtime.is_alive(creak));
/// ```
#[derive(Clone)]
pub struct Host {
    shared: Rc<Shared>,
}

impl Host {
    pub(crate) fn of(shared: Rc<Shared>) -> Self {
        Host { shared }
    }

    pub(crate) fn shared(&self) -> &Rc<Shared> {
        &self.shared
    }

    /// Starts a script for the host: it runs up to its first wait. If it needs the world
    /// before that, start it inside [`Runtime::lend`](crate::Runtime::lend).
    ///
    /// # Panics
    ///
    /// If the script is not in the registry.
    #[track_caller]
    pub fn start<S: DurableScript>(&self, script: S) -> Handle<S::Output> {
        self.make(
            script,
            Making {
                starts: true,
                ..Making::default()
            },
        )
    }

    /// Starts a script with `phase` as home.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[track_caller]
    pub fn start_in<S: DurableScript>(&self, phase: Phase, script: S) -> Handle<S::Output> {
        self.make(
            script,
            Making {
                starts: true,
                home: Some(phase),
                ..Making::default()
            },
        )
    }

    /// Starts a script on an owner.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[track_caller]
    pub fn start_on<S: DurableScript>(&self, owner: OwnerId, script: S) -> Handle<S::Output> {
        self.make(
            script,
            Making {
                starts: true,
                owner: Some(owner),
                ..Making::default()
            },
        )
    }

    /// Spawns a script: the next run of Update polls it first.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[track_caller]
    pub fn spawn<S: DurableScript>(&self, script: S) -> Handle<S::Output> {
        self.make(script, Making::default())
    }

    /// Spawns a script with `phase` as home: the next run of that phase polls it first.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[track_caller]
    pub fn spawn_in<S: DurableScript>(&self, phase: Phase, script: S) -> Handle<S::Output> {
        self.make(
            script,
            Making {
                home: Some(phase),
                ..Making::default()
            },
        )
    }

    /// Spawns a script on an owner.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[track_caller]
    pub fn spawn_on<S: DurableScript>(&self, owner: OwnerId, script: S) -> Handle<S::Output> {
        self.make(
            script,
            Making {
                owner: Some(owner),
                ..Making::default()
            },
        )
    }

    #[track_caller]
    fn make<S: DurableScript>(&self, script: S, making: Making) -> Handle<S::Output> {
        let mut script = Some(script);
        Handle::of(self.make_any(making, Code::of::<S>(), &mut || begin_once(&mut script)))
    }

    /// The part of [`make`](Self::make) that is the same for all scripts.
    #[track_caller]
    fn make_any(&self, making: Making, code: Code, chapter: &mut dyn FnMut() -> Begun) -> Joins {
        let begun = self.shared.begin(code, chapter);
        // The handle is counted first: a script may end as it starts.
        let next = ScriptId(self.shared.next_script.get());
        let birth = Birth::new();
        let joins = Joins::new(&self.shared, next, Some(birth));
        self.shared.make(code, begun, making, birth, None);
        joins
    }

    /// A handle to a script that is alive, or that has ended and still has a handle. After a
    /// restore, the result of a script that had a handle at the save is kept until the next
    /// run begins. `None` if there is no such script.
    ///
    /// # Panics
    ///
    /// When its result is read, if that is not a `T`.
    pub fn handle<T>(&self, id: ScriptId) -> Option<Handle<T>> {
        let birth = self.shared.birth(id)?;
        Some(Handle::of(Joins::new(&self.shared, id, Some(birth))))
    }

    /// The result of a script, if it has ended. Otherwise the script is detached.
    pub fn take<T: DeserializeOwned>(&self, handle: Handle<T>) -> Option<Result<T, JoinError>> {
        let result = self.result(&handle);
        drop(handle);
        result
    }

    /// The result of a script, if it has ended.
    ///
    /// # Panics
    ///
    /// If the result is not a `T`.
    pub fn result<T: DeserializeOwned>(&self, handle: &Handle<T>) -> Option<Result<T, JoinError>> {
        if handle.is_void(&self.shared) {
            return None;
        }
        // The host receives its panic.
        let result = self.shared.join(handle.id())?;
        Some(result.map(|output| {
            let read = output.read();
            read.unwrap_or_else(|| panic!("the result is not a `{}`", std::any::type_name::<T>()))
        }))
    }

    /// Whether a script is alive.
    pub fn is_alive(&self, id: ScriptId) -> bool {
        self.shared.script(id).is_some()
    }

    /// The scripts that are alive, in the order in which they were made, with their names.
    pub fn scripts(&self) -> Vec<(ScriptId, &'static str)> {
        let scripts = self.shared.scripts.borrow();
        let scripts = scripts.values().map(|cell| (cell.id, cell.name()));
        scripts.collect()
    }

    /// The registry: that of the last restore of changed code, or else the one with which the runtime
    /// was made.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// # fn main() -> Result<(), SaveError> {
    /// let runtime = Runtime::new(Registry::new());
    /// let file = runtime.save()?.described(&runtime.registry())?.to_bytes();
    /// # Ok(())
    /// # }
    /// ```
    pub fn registry(&self) -> Rc<Registry> {
        self.shared.registry()
    }

    /// Where a script was that has panicked: the file and the line of the last call that its chapter
    /// had recorded, such as a wait that was over or a `with`. For a hook of
    /// [`on_report`](framestep::Executor::on_report), which receives the panics that no join returns.
    /// `None` if the chapter had recorded nothing, or if the script is not among the last 16 that have
    /// panicked.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::{cell::Cell, rc::Rc};
    /// use framestep_durable::prelude::*;
    ///
    /// #[durable]
    /// async fn fuse() {
    ///     wait_seconds(1).await;
    ///     panic!("it is wet");
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().with::<Fuse>());
    /// let panicked = Rc::new(Cell::new(None));
    /// let hook = panicked.clone();
    /// runtime.executor().on_report(move |report| {
    ///     if let framestep::inspect::Report::CoroutinePanicked { id, .. } = report {
    ///         hook.set(Some(*id));
    ///     }
    /// });
    /// runtime.spawn(fuse()).detach();
    /// for _ in 0..9 {
    ///     runtime.run_frame(0.125);
    /// }
    /// let place = runtime.panicked_after(panicked.get().unwrap()).unwrap();
    /// assert!(place.contains(".rs:"), "{place}"); // the line of `wait_seconds`
    /// ```
    pub fn panicked_after(&self, id: framestep::task::CoroutineId) -> Option<String> {
        self.shared.panicked_after(id)
    }

    /// How many entries the journal of a script has.
    pub fn entries(&self, id: ScriptId) -> Option<u32> {
        Some(self.shared.script(id)?.journal().entries())
    }

    /// Stops a script. Returns `false` if it has ended.
    #[track_caller]
    pub fn stop(&self, id: ScriptId) -> bool {
        self.shared.act(id, Act::Stop(Some(Location::caller())))
    }

    /// Requests a script to stop: it ends in its own way once it reads the request, with
    /// [`stop_requested`](crate::stop_requested) or [`is_stop_requested`](crate::is_stop_requested). Returns `false`
    /// if it was requested before, or has ended.
    pub fn request_stop(&self, id: ScriptId) -> bool {
        self.shared.act(id, Act::Ask)
    }

    /// Whether a script is alive and has been requested to stop.
    pub fn is_stop_requested(&self, id: ScriptId) -> bool {
        self.shared.is_asked(id)
    }

    /// Pauses a script. Returns `false` if it was paused or has ended.
    pub fn pause(&self, id: ScriptId) -> bool {
        self.shared.act(id, Act::Pause)
    }

    /// Resumes a script that was paused. Returns `false` if it was not, or has ended.
    pub fn resume(&self, id: ScriptId) -> bool {
        self.shared.act(id, Act::Resume)
    }

    /// Emits an event for the host. The signal may have a key: `KNOCK.keyed(door)`.
    ///
    /// # Panics
    ///
    /// If the value does not serialise.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "as in framestep")]
    pub fn emit<T, N>(&self, signal: &Signal<T, N>, value: T)
    where
        T: Serialize + DeserializeOwned + 'static,
        N: EventName,
    {
        let value = Bytes::of(&value);
        self.shared.emit(signal.full_name(), &value);
    }

    /// Emits an event for the host to one script: the one that has waited longest. Returns the value if
    /// none waits. See [`Signal::emit_one`].
    ///
    /// # Panics
    ///
    /// If the value does not serialise.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// const JOBS: Signal<u32> = Signal::new("jobs");
    ///
    /// let runtime = Runtime::new(Registry::new());
    /// assert_eq!(runtime.emit_one(&JOBS, 3), Some(3)); // no script waits
    /// ```
    #[track_caller]
    pub fn emit_one<T, N>(&self, signal: &Signal<T, N>, value: T) -> Option<T>
    where
        T: Serialize + DeserializeOwned + 'static,
        N: EventName,
    {
        let bytes = Bytes::of(&value);
        let is_given = self.shared.emit_one(signal.full_name(), &bytes);
        (!is_given).then_some(value)
    }

    /// Sets a value for the host. It may have a key: `STAGE.keyed(quest)`.
    ///
    /// # Panics
    ///
    /// If it does not serialise.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "as in framestep")]
    pub fn set<T, N>(&self, value: &Value<T, N>, to: T)
    where
        T: Serialize + DeserializeOwned + Default + 'static,
        N: EventName,
    {
        let to = Bytes::of(&to);
        self.shared.set(value.full_name(), Some(to));
    }

    /// The current value.
    ///
    /// # Panics
    ///
    /// If another value of the same name has another type.
    pub fn get<T, N>(&self, value: &Value<T, N>) -> T
    where
        T: Serialize + DeserializeOwned + Default + 'static,
        N: EventName,
    {
        let (_, bytes) = self.shared.value(value.full_name());
        bytes.map_or_else(T::default, |bytes| {
            crate::wait::read_value(value.full_name(), &bytes)
        })
    }

    /// Removes a value: it is the default of its type again, and nothing is kept for it. If it was
    /// set, this is a change. Returns whether it was set.
    pub fn remove<T, N>(&self, value: &Value<T, N>) -> bool
    where
        T: Serialize + DeserializeOwned + Default + 'static,
        N: EventName,
    {
        self.shared.set(value.full_name(), None)
    }

    /// How many permits are free.
    pub fn available<N: EventName>(&self, semaphore: &Semaphore<N>) -> usize {
        let free = self
            .shared
            .free_permits(semaphore.full_name(), semaphore.declared());
        usize::try_from(free).unwrap_or(usize::MAX)
    }

    /// The scripts that have permits, one for each [`Permit`](crate::Permit), in the order of their
    /// numbers.
    pub fn holders<N: EventName>(&self, semaphore: &Semaphore<N>) -> Vec<ScriptId> {
        self.shared.holders(semaphore.full_name())
    }

    /// Sets how many permits there are, instead of the number in the code. This is kept, and saved,
    /// until it is set to that number again. Scripts keep the permits that they have, even if there
    /// are fewer now. If there are more, scripts that wait get them.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// const TOKENS: Semaphore = Semaphore::new("attack tokens", 2);
    ///
    /// let runtime = Runtime::new(Registry::new());
    /// runtime.set_permits(&TOKENS, 3); // the game is hard
    /// assert_eq!(runtime.available(&TOKENS), 3);
    /// assert!(runtime.holders(&TOKENS).is_empty());
    /// ```
    pub fn set_permits<N: EventName>(&self, semaphore: &Semaphore<N>, count: usize) {
        let declared = semaphore.declared();
        self.shared
            .set_permits(semaphore.full_name(), declared, count as u64);
    }

    /// Adds `count` permits for the host. See [`Semaphore::add`].
    ///
    /// # Panics
    ///
    /// If there would be more permits than can be counted.
    #[track_caller]
    pub fn add_permits<N: EventName>(&self, semaphore: &Semaphore<N>, count: usize) {
        let (name, declared) = (semaphore.full_name(), semaphore.declared());
        expect_countable(self.shared.add_permits(name, declared, count as u64));
    }

    /// Resolves a [promise](crate::promise) for the host. Returns `false` if it was dropped, or was
    /// resolved or cancelled before.
    ///
    /// # Panics
    ///
    /// If the value does not serialise.
    #[track_caller]
    pub fn resolve<T>(&self, resolver: &Resolver<T>, value: &T) -> bool
    where
        T: Serialize + DeserializeOwned + 'static,
    {
        let (promise, stamp) = resolver.key();
        let value = Settled::Resolved(Bytes::of(value));
        self.shared.settle(promise, stamp, value)
    }

    /// Cancels a [promise](crate::promise) for the host: it returns an error. Returns `false` if it
    /// was dropped, or was resolved or cancelled before.
    pub fn cancel<T>(&self, resolver: &Resolver<T>) -> bool
    where
        T: Serialize + DeserializeOwned + 'static,
    {
        let (promise, stamp) = resolver.key();
        self.shared.settle(promise, stamp, Settled::Cancelled)
    }

    /// Whether the run under way was done before, because a rollback has gone back behind it; between two
    /// runs, whether the next one was. See [`is_resimulated`](crate::is_resimulated).
    pub fn is_resimulated(&self) -> bool {
        self.shared.is_resimulated()
    }

    /// Takes the present for the furthest that the runtime has come: the next runs are not
    /// [resimulated](Self::is_resimulated), and do again what was done
    /// [once in their frames](crate::effect_once_per_frame). For a game that rewinds, when it goes on from
    /// an earlier point.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut runtime = Runtime::new(Registry::new());
    /// let save = runtime.save_state()?;
    /// runtime.run_frame(0.1);
    /// runtime.rollback(&save)?;
    /// assert!(runtime.is_resimulated());
    /// runtime.forget_future();
    /// assert!(!runtime.is_resimulated());
    /// # Ok(())
    /// # }
    /// ```
    pub fn forget_future(&self) {
        self.shared.forget_future();
    }

    /// The open questions of scripts that this call has not returned before, in the order in
    /// which they were asked. After a restore or a rollback, it returns all open questions again.
    ///
    /// # Panics
    ///
    /// If another type of request has the same name. Then the next call returns all of them
    /// again.
    pub fn requests<R: Request>(&self) -> Vec<(RequestId<R>, R)> {
        let found = self.shared.new_questions(R::NAME);
        let read = |(key, bytes): (_, Bytes)| {
            let request = bytes.read().unwrap_or_else(|| {
                panic!(
                    "another request is named `{}`, like `{}`",
                    R::NAME,
                    std::any::type_name::<R>()
                )
            });
            (RequestId::new(key), request)
        };
        let found: Vec<(RequestId<R>, R)> = found.into_iter().map(read).collect();
        // Only now: if one cannot be read, the host receives none of them.
        let keys = found.iter().map(|(id, _)| id.key);
        self.shared.receive(R::NAME, keys);
        found
    }

    /// Answers a question. Returns `false` if no script waits for the answer any more: the question
    /// was withdrawn, or has an answer, or is one that a rollback has taken back.
    ///
    /// # Panics
    ///
    /// If the answer does not serialise.
    #[track_caller]
    pub fn answer<R: Request>(&self, id: RequestId<R>, answer: &R::Answer) -> bool {
        self.shared.answer(id.key, R::NAME, &Bytes::of(answer))
    }

    /// Whether a script waits for the answer to a question, and it has none.
    pub fn is_open<R: Request>(&self, id: RequestId<R>) -> bool {
        self.shared.is_open(id.key, R::NAME)
    }

    /// The questions that [`requests`](Self::requests) has returned, and that were withdrawn before
    /// they had an answer: the script has dropped its [`ask`](crate::ask), was stopped, or was rolled
    /// back. Close their boxes. Each is returned once. For a host that does not call this, the latest
    /// 1,024 are kept.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Choice;
    ///
    /// impl Request for Choice {
    ///     const NAME: &'static str = "choice";
    ///     type Answer = u32;
    /// }
    ///
    /// #[durable]
    /// async fn quick() -> bool {
    ///     timeout(0.25, ask(|| Choice)).await.is_ok()
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().with::<Quick>());
    /// runtime.start(quick()).detach();
    /// let (box_of, _) = runtime.requests::<Choice>()[0];
    /// assert!(runtime.is_open(box_of));
    /// runtime.run_frame(0.25); // too late
    /// assert_eq!(runtime.withdrawn::<Choice>(), [box_of]);
    /// ```
    pub fn withdrawn<R: Request>(&self) -> Vec<RequestId<R>> {
        let withdrawn = self.shared.take_withdrawn(R::NAME);
        withdrawn.into_iter().map(RequestId::new).collect()
    }

    /// Makes an owner. It exists until it is [dropped](Self::drop_owner).
    pub fn owner(&self) -> OwnerId {
        self.make_owner(None, None)
    }

    /// Makes an owner whose scripts count on `clock`.
    ///
    /// # Panics
    ///
    /// If there is no such clock.
    #[track_caller]
    pub fn owner_on(&self, clock: ClockId) -> OwnerId {
        self.make_owner(None, Some(clock))
    }

    /// Makes an owner below another one. What happens to the parent also happens to it.
    ///
    /// # Panics
    ///
    /// If there is no such owner.
    #[track_caller]
    pub fn child_owner(&self, parent: OwnerId) -> OwnerId {
        self.make_owner(Some(parent), None)
    }

    #[track_caller]
    fn make_owner(&self, parent: Option<OwnerId>, clock: Option<ClockId>) -> OwnerId {
        let shared = &self.shared;
        let Some(owner) = shared.new_owner(parent, clock) else {
            if let Some(clock) = clock {
                shared.expect_clock(clock);
            }
            let parent = parent.expect("its clock is there");
            panic!(
                "owner #{} has been dropped, or is of another runtime: take an owner that is alive, \
                 or make one that is below none with `owner()`",
                parent.0
            );
        };
        let id = OwnerId(shared.next_owner.get());
        shared.next_owner.set(id.0 + 1);
        // Scripts of a child count on the clock of the parent.
        let entry = OwnerEntry {
            owner: Rc::new(owner),
            parent,
            clock,
            name: None,
            is_paused: false,
            is_active: true,
            is_heard: false,
        };
        shared.owners.borrow_mut().insert(id, entry);
        id
    }

    /// Drops an owner: its scripts are stopped, and it accepts no more scripts. Returns
    /// `false` if there is no such owner.
    #[track_caller]
    pub fn drop_owner(&self, id: OwnerId) -> bool {
        self.shared.drop_owner(id, Some(Location::caller()))
    }

    /// Pauses the scripts of an owner. Returns `false` if it was paused.
    pub fn pause_owner(&self, id: OwnerId) -> bool {
        self.shared.pause_owner(id, true)
    }

    /// Resumes the scripts of an owner. Returns `false` if it was not paused.
    pub fn resume_owner(&self, id: OwnerId) -> bool {
        self.shared.pause_owner(id, false)
    }

    /// Stops the scripts of an owner.
    #[track_caller]
    pub fn stop_all(&self, id: OwnerId) {
        self.shared.stop_all(id, Some(Location::caller()));
    }

    /// Asks the scripts of an owner, and of the owners below it, to stop. See
    /// [`OwnerId::request_stop`].
    pub fn request_owner_stop(&self, id: OwnerId) {
        self.shared.ask_owner(id);
    }

    /// [Asks](Self::request_owner_stop) the scripts of an owner to stop, and stops those that are left
    /// after `seconds`, even if the handle is dropped. See [`OwnerId::stop_within`].
    ///
    /// The handle is that of the request, which is no script. It returns how many scripts had to be
    /// stopped.
    ///
    /// # Panics
    ///
    /// If `seconds` is NaN.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// #[durable]
    /// async fn forgetful() {
    ///     wait_seconds(60).await;
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().with::<Forgetful>());
    /// runtime.executor().on_report(|report| assert!(report.to_string().contains("read by none")));
    /// let level = runtime.owner();
    /// runtime.start_on(level, forgetful()).detach();
    /// let stopped = runtime.stop_owner_within(level, 0.5);
    /// for _ in 0..3 {
    ///     assert!(!runtime.is_owner_empty(level));
    ///     runtime.run_frame(0.25);
    /// }
    /// assert_eq!(runtime.take(stopped), Some(Ok(1)));
    /// assert!(runtime.is_owner_empty(level));
    /// ```
    #[track_caller]
    pub fn stop_owner_within(&self, id: OwnerId, seconds: impl Seconds) -> Handle<usize> {
        let length_ns = length_ns(seconds);
        let request = (ScriptId(self.shared.next_script.get()), Birth::new());
        let place = Location::caller();
        let joins = self.shared.stop_owner_within(request, id, length_ns, place);
        Handle::of(joins)
    }

    /// Whether an owner and the owners below it have no script. True for an owner that has been
    /// dropped. Scripts await this with [`OwnerId::ended`].
    pub fn is_owner_empty(&self, id: OwnerId) -> bool {
        self.shared.is_owner_empty(id)
    }

    /// Activates or deactivates an owner. Deactivating stops its scripts; an inactive owner
    /// accepts none.
    #[track_caller]
    pub fn set_owner_active(&self, id: OwnerId, active: bool) {
        let place = Some(Location::caller());
        self.shared.set_owner_active(id, active, place);
    }

    /// Makes a clock below another one.
    ///
    /// # Panics
    ///
    /// If there is no such clock.
    #[track_caller]
    pub fn child_clock(&self, parent: ClockId) -> ClockId {
        let clock = self.shared.expect_clock(parent).child();
        let mut clocks = self.shared.clocks.borrow_mut();
        clocks.push(ClockEntry { clock, parent });
        let number = u32::try_from(clocks.len()).expect("fewer than 2^31 clocks");
        ClockId(number - 1 + ClockId::FIRST)
    }

    /// The clock of this number, to scale and to pause it. Guards (`pause_guard`, `scaled`) cannot be
    /// saved: use `pause` and `set_scale`.
    ///
    /// # Panics
    ///
    /// If there is no such clock.
    #[track_caller]
    pub fn clock(&self, id: ClockId) -> framestep::time::Clock {
        self.shared.expect_clock(id)
    }

    /// Calls `hook` with each script whose chapter has become long: at 1,000 entries, and again at
    /// each power of ten; and if it has [too many](crate::RuntimeBuilder::max_entries). Without a
    /// hook, a line is printed. A panic of the hook is reported, and the script goes on.
    pub fn on_long_chapter(&self, hook: impl FnMut(&LongChapter) + 'static) {
        self.shared.long_chapters.set_hook(Box::new(hook));
    }

    /// Calls `hook` with each [`Loss`]: events, answers and values that came for a script, and that it
    /// does not receive. Without a hook, losses are printed to standard error: the first of each kind
    /// for each script and signal, and at most 20. A panic of the hook is reported, and the script
    /// goes on.
    ///
    /// What a script that ends has not read is no loss, and neither is an event for which nothing
    /// waits.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::{cell::RefCell, rc::Rc};
    /// use framestep_durable::prelude::*;
    ///
    /// const HIT: Signal<u32> = Signal::with_limit("hit", 2);
    ///
    /// #[durable]
    /// async fn hero() {
    ///     let mut hits = HIT.subscribe();
    ///     wait_seconds(60).await;
    ///     hits.next().await;
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().with::<Hero>());
    /// let heard = Rc::new(RefCell::new(Vec::new()));
    /// let log = heard.clone();
    /// runtime.on_loss(move |loss| log.borrow_mut().push(loss.to_string()));
    /// runtime.start(hero()).detach();
    /// for hit in [1, 2, 3] {
    ///     runtime.emit(&HIT, hit);
    /// }
    /// assert!(heard.borrow()[0].starts_with("the script `hero` (#1) has missed 1 events"));
    /// ```
    pub fn on_loss(&self, hook: impl FnMut(&Loss) + 'static) {
        self.shared.losses.set_hook(Box::new(hook));
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("scripts", &self.scripts())
            .finish_non_exhaustive()
    }
}
