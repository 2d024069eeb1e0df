//! Handles of scripts: joining, stopping, pausing.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::ptr;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, ready};

use framestep::Coroutine;
use framestep::durable::refuse;
use framestep::task::ScriptJoin;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::{Bytes, Contains, Mark, Marked};
use crate::events::Typed;
use crate::ids::{Birth, Handled, ScriptId};
use crate::journal::Call;
use crate::runtime::Act;
use crate::runtime::ends::{begin_end, poll_end};
use crate::script::caller::{Caller, caller};
use crate::script::{
    Awaited, JoinError, Numbered, ScriptCell, Shared, command_of, context, unreadable,
};

/// The handle of a durable script. Awaiting it joins the script. Dropping it detaches the
/// script.
///
/// A handle is of one script, not of a number. The host may have a handle of a script that a
/// [rollback](crate::Runtime::rollback) takes back: until another rollback brings the script back,
/// the handle does nothing, and has no result, even if another script has got the number meanwhile. A
/// restore makes all earlier handles of the host such handles, for good.
///
/// # Resumes
///
/// As soon as the script ends: in the same frame and phase.
///
/// # Errors
///
/// The join is an error if the script was stopped or has panicked.
///
/// # Panics
///
/// When polled outside of a durable script, or again after its result.
pub struct ScriptHandle<T> {
    joins: Joins,
    output: PhantomData<fn() -> T>,
}

/// A handle without the type of its output.
pub(crate) struct Joins {
    of: Handled,
    /// How many restores and rollbacks there had been when it was made.
    restores: u32,
    shared: Weak<Shared>,
    /// The script whose replay has made it. Unless that script takes its place in the runtime,
    /// there has never been this handle.
    replayed_by: Weak<ScriptCell>,
    wait: Numbered,
    /// How the result describes itself, if a script has the handle.
    result: Option<Mark>,
    /// Of a script that was started outside of a durable one.
    plain: Option<Coroutine<Bytes>>,
    is_done: bool,
    /// Where it was made one that stops the script when it is dropped.
    stops_on_drop: Option<&'static Location<'static>>,
}

impl Joins {
    /// `birth` is `None` in a replay.
    pub(crate) fn new(shared: &Rc<Shared>, id: ScriptId, birth: Option<Birth>) -> Self {
        let mut joins = Joins::void();
        let epoch = shared.handles.epoch.get();
        joins.of = Handled { epoch, id, birth };
        shared.handles.add(joins.of);
        joins.restores = shared.handles.restores.get();
        joins.shared = Rc::downgrade(shared);
        joins
    }

    /// The same handle, made in a replay of `script`.
    pub(crate) fn replayed_by(mut self, script: &Rc<ScriptCell>) -> Self {
        self.replayed_by = Rc::downgrade(script);
        self
    }

    /// The same handle in a script, whose result is a `T`.
    pub(crate) fn returning<T: Serialize + DeserializeOwned>(mut self) -> Self {
        self.wait = Numbered::reading_within::<Result<Bytes, JoinError>, T>();
        let result = Mark::of::<T>();
        self.result = Some(result);
        if let Some(cell) = self.replayed_by.upgrade() {
            cell.note_held(Typed::Result(self.id(), result));
        }
        self
    }

    /// Notes in a replay of which script the result is awaited.
    fn note_join(&self) {
        if let Some(result) = self.result {
            let id = self.id();
            self.wait.note(|number| Typed::Join(number, id, result));
        }
    }

    /// A handle of no script.
    pub(crate) fn void() -> Self {
        Joins {
            of: Handled {
                epoch: 0,
                id: ScriptId(0),
                birth: None,
            },
            restores: 0,
            shared: Weak::new(),
            replayed_by: Weak::new(),
            wait: Numbered::giving(),
            result: None,
            plain: None,
            is_done: false,
            stops_on_drop: None,
        }
    }

    /// The handle of a script that runs as a plain coroutine.
    pub(crate) fn of_plain(coroutine: Coroutine<Bytes>) -> Self {
        let mut joins = Joins::void();
        joins.plain = Some(coroutine);
        joins
    }

    pub(crate) fn id(&self) -> ScriptId {
        self.of.id
    }

    /// Whether it is of no script: after a restore, or because a rollback has taken its script back.
    fn is_void(&self, shared: &Shared) -> bool {
        !shared.is_valid(self.of)
    }

    fn act(&self, call: Call, act: Act) -> bool {
        if let Some(coroutine) = &self.plain {
            return match act {
                Act::Ask => panic!(
                    "`{}` at {} was called on a script that was started outside of a durable one: there, ask the scripts \
                     of a `framestep::Owner`",
                    call.function, call.at
                ),
                Act::Stop(_) => coroutine.stop(),
                Act::Pause => coroutine.pause(),
                Act::Resume => coroutine.resume(),
            };
        }
        let act = |shared: &Shared| !self.is_void(shared) && shared.act(self.id(), act);
        let own = self.shared.upgrade();
        let is_own = |cell: &ScriptCell| {
            own.as_ref()
                .is_none_or(|own| Rc::ptr_eq(own, cell.shared()))
        };
        match caller() {
            // In a closure, a script may have the handle of a host, of another runtime.
            Some(Caller::Script(cell)) if is_own(&cell) => command_of(call, act),
            _ => own.is_some_and(|own| {
                refuse(call.function);
                act(&own)
            }),
        }
    }

    #[cold]
    #[track_caller]
    fn unreadable<T: DeserializeOwned>(&self) -> T {
        unreadable::<T>(format_args!(
            "the result of the script {} is not a `{}`",
            self.id(),
            std::any::type_name::<T>()
        ))
    }

    /// Whether it is of today's scripts. The host may have a handle of a script that a restore or a
    /// rollback has taken back, and whose number another one has now; a script has none.
    fn is_current(&self, shared: &Shared) -> bool {
        let is_of_script = || match caller() {
            Some(Caller::Script(cell)) => ptr::eq(&raw const **cell.shared(), shared),
            _ => false,
        };
        self.restores == shared.handles.restores.get() || is_of_script()
    }

    /// Polls the join, which is awaited at `at`. Returns the output as it was recorded.
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        at: &'static Location<'static>,
    ) -> Poll<Result<Bytes, JoinError>> {
        assert!(!self.is_done, "a handle was awaited again after its result");
        let polled = match &mut self.plain {
            Some(coroutine) => Pin::new(coroutine).poll(cx).map_err(JoinError::of_plain),
            None => self.poll_durable(cx, at),
        };
        self.is_done = polled.is_ready();
        polled
    }

    fn poll_durable(
        &mut self,
        cx: &mut Context<'_>,
        at: &'static Location<'static>,
    ) -> Poll<Result<Bytes, JoinError>> {
        let id = self.id();
        let name = "join";
        let awaiting = self.wait.expect_script(name, at);
        let awaited = Awaited::at(name, None, at);
        let mut line = None;
        let of = self.shared.as_ptr();
        let begin = |cell: &ScriptCell| {
            let shared = cell.shared();
            assert!(
                ptr::eq(of, Rc::as_ptr(shared)),
                "the script `{}` awaits the script {id} of another runtime, which is saved without this one: let the host \
                 await that, and `ask` for the result",
                cell.name()
            );
            begin_end(cell, id)
        };
        let recorded = self.wait.poll_at(&awaiting, awaited, begin, |cell, slot| {
            ready!(poll_end(slot, cx, name));
            let shared = cell.shared();
            let Some(result) = shared.join(id) else {
                assert!(
                    shared.scripts.get(id).is_none(),
                    "the script {id} awaits its own end, or that of a script that is being polled"
                );
                return Poll::Ready(Bytes::of(&Err::<Marked, _>(JoinError::stopped())));
            };
            if let Err(JoinError::Stopped { at, .. }) = &result {
                line.clone_from(at);
            }
            Poll::Ready(Bytes::of(&result))
        });
        let recorded = ready!(recorded).read();
        let result: Result<Bytes, JoinError> = recorded.expect("a result as it was recorded");
        Poll::Ready(result.map_err(|error| {
            let line = context::current().and_then(|cell| cell.stop_line(line));
            error.with_line(line.as_deref())
        }))
    }
}

impl Contains for Result<Bytes, JoinError> {
    fn content(&self) -> Option<&Bytes> {
        self.as_ref().ok()
    }
}

impl Drop for Joins {
    fn drop(&mut self) {
        // Once it is joined, the script has ended.
        let stops = self.stops_on_drop.filter(|_| !self.is_done);
        if let Some(at) = stops.filter(|_| self.plain.is_some()) {
            self.act(Call::at("stop", "", at), Act::Stop(None));
        }
        if let Some(shared) = self.shared.upgrade() {
            if let Some(at) = stops.filter(|_| self.is_current(&shared)) {
                self.act(Call::at("stop", "", at), Act::Stop(None));
            }
            let replayed_by = self.replayed_by.upgrade();
            let counts = replayed_by.is_none_or(|script| script.has_effects());
            // The host may still ask for a handle that it had at the save, whatever it does with
            // one from before the restore.
            let counts = counts && (self.is_current(&shared) || !shared.handles.may_claim.get());
            shared.drop_handle(self.of, counts);
        }
    }
}

impl<T> ScriptHandle<T> {
    pub(crate) fn of(joins: Joins) -> Self {
        ScriptHandle {
            joins,
            output: PhantomData,
        }
    }

    /// The number of the script. 0 if it was started outside of a durable script.
    pub fn id(&self) -> ScriptId {
        self.joins.id()
    }

    pub(crate) fn is_void(&self, shared: &Shared) -> bool {
        self.joins.is_void(shared)
    }

    /// Detaches the script: it continues by itself. The same as dropping the handle.
    pub fn detach(mut self) {
        self.joins.stops_on_drop = None;
    }

    /// Stops the script. Returns `false` if it has ended. In a durable script, this is an effect,
    /// which is recorded.
    #[track_caller]
    pub fn stop(&self) -> bool {
        self.joins
            .act(Call::new("stop", ""), Act::Stop(Some(Location::caller())))
    }

    /// Requests the script to stop: it ends in its own way once it reads the request, with
    /// [`stop_requested`](crate::stop_requested) or [`is_stop_requested`](crate::is_stop_requested). Returns `false`
    /// if it was requested before, or has ended. In a durable script, this is an effect, which is
    /// recorded.
    ///
    /// To stop a script that has not ended after some time, await it with a
    /// [`timeout`](crate::timeout()): `timeout(2, torch.stop_on_drop()).await`. For all scripts of an
    /// owner, use [`OwnerId::stop_within`](crate::OwnerId::stop_within).
    ///
    /// # Panics
    ///
    /// If the script was started outside of a durable one.
    ///
    /// # Examples
    ///
    /// See [`stop_requested`](crate::stop_requested).
    #[track_caller]
    pub fn request_stop(&self) -> bool {
        self.joins.act(Call::new("request_stop", ""), Act::Ask)
    }

    /// Pauses the script. Returns `false` if it was paused or has ended. In a durable script, this
    /// is an effect, which is recorded.
    #[track_caller]
    pub fn pause(&self) -> bool {
        self.joins.act(Call::new("pause", ""), Act::Pause)
    }

    /// Resumes the script. Returns `false` if it was not paused, or has ended. In a durable script,
    /// this is an effect, which is recorded.
    #[track_caller]
    pub fn resume(&self) -> bool {
        self.joins.act(Call::new("resume", ""), Act::Resume)
    }

    /// Makes a handle that stops its script when it is dropped: a script that is stopped takes
    /// along those that it has such handles of. [`detach`](Self::detach) lets the script go on.
    ///
    /// A handle of the host that is older than the latest restore or rollback stops nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// #[durable]
    /// async fn alarm() {
    ///     loop {
    ///         wait_seconds(1).await;
    ///     }
    /// }
    ///
    /// #[durable]
    /// async fn burglary() {
    ///     let _alarm = start(alarm()).stop_on_drop();
    ///     wait_seconds(3).await;
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().script(alarm).script(burglary));
    /// runtime.start(burglary());
    /// runtime.run_frame(0.1);
    /// assert_eq!(runtime.scripts().len(), 2);
    /// for _ in 0..40 {
    ///     runtime.run_frame(0.1);
    /// }
    /// assert!(runtime.scripts().is_empty());
    /// ```
    #[must_use = "the handle stops the script when it is dropped: keep it"]
    #[track_caller]
    pub fn stop_on_drop(mut self) -> Self {
        self.joins.stops_on_drop = Some(Location::caller());
        self
    }
}

impl<T> Unpin for ScriptHandle<T> {}

impl<T: DeserializeOwned> ScriptHandle<T> {
    /// Polls the join, which is awaited at `at`.
    pub(super) fn poll_at(
        &mut self,
        cx: &mut Context<'_>,
        at: &'static Location<'static>,
    ) -> Poll<Result<T, JoinError>> {
        let output = match self.joins.poll(cx, at) {
            Poll::Ready(Ok(output)) => output,
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => {
                self.joins.note_join();
                return Poll::Pending;
            }
        };
        Poll::Ready(Ok(match output.read() {
            Some(output) => output,
            None => self.joins.unreadable(),
        }))
    }
}

impl<T: DeserializeOwned> Future for ScriptHandle<T> {
    type Output = Result<T, JoinError>;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_at(cx, Location::caller())
    }
}

impl<T: DeserializeOwned> ScriptJoin for ScriptHandle<T> {}

impl<T> fmt::Debug for ScriptHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptHandle")
            .field("id", &self.joins.id())
            .finish_non_exhaustive()
    }
}
