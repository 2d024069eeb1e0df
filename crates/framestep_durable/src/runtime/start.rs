//! Starting scripts in scripts.

use std::rc::Rc;

use framestep::{Coroutine, Phase};

use crate::bytes::Bytes;
use crate::ids::{Birth, OwnerId, ScriptId};
use crate::journal::Call;
use crate::runtime::{Joins, ScriptHandle};
use crate::script::caller::{Caller, caller};
use crate::script::{
    Begun, Code, DurableScript, Given, Making, Shared, begin, expect_read, run_chapters,
};

/// Starts another script: it runs up to its first wait before this returns. It inherits the
/// owner, the clock and the home phase of this one. See [`framestep::start`].
///
/// In [`Runtime::enter`](crate::Runtime::enter), it starts a script for the host, as
/// [`Runtime::start`](crate::RuntimeHandle::start) does. In an executor that is not that of a runtime, it starts a plain
/// coroutine, which cannot be saved.
///
/// # Panics
///
/// Outside of an executor; or if the script is not in the registry.
#[track_caller]
pub fn start<S: DurableScript>(script: S) -> ScriptHandle<S::Output> {
    make("start", script, Making::STARTS)
}

/// Starts a script with `phase` as home.
///
/// # Panics
///
/// As [`start`].
#[track_caller]
pub fn start_in<S: DurableScript>(phase: Phase, script: S) -> ScriptHandle<S::Output> {
    make("start", script, Making::STARTS.in_phase(phase))
}

/// Spawns a script: it runs later in this run. See [`framestep::spawn`].
///
/// # Panics
///
/// As [`start`].
#[track_caller]
pub fn spawn<S: DurableScript>(script: S) -> ScriptHandle<S::Output> {
    make("spawn", script, Making::SPAWNS)
}

/// Spawns a script with `phase` as home.
///
/// # Panics
///
/// As [`start`].
#[track_caller]
pub fn spawn_in<S: DurableScript>(phase: Phase, script: S) -> ScriptHandle<S::Output> {
    make("spawn", script, Making::SPAWNS.in_phase(phase))
}

impl OwnerId {
    /// Starts a script on this owner, with its clock: it runs up to its first wait before this returns. It ends with the
    /// owner. One that is inactive, has been dropped or is of another runtime refuses it, which is
    /// [reported](framestep::inspect::Report::Refused). See [`framestep::Owner::start`].
    ///
    /// The host calls this in [`Runtime::enter`](crate::Runtime::enter). In a durable script, it is an effect, which is
    /// recorded.
    ///
    /// # Panics
    ///
    /// Outside of a durable script, and of `enter`; or if the script is not in the registry.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// #[durable]
    /// async fn goblin() {
    ///     wait_seconds(60).await;
    /// }
    ///
    /// #[durable]
    /// async fn ambush(camp: OwnerId) {
    ///     camp.start(goblin());
    ///     wait_frames(2).await;
    ///     camp.stop_all();
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().script(goblin).script(ambush));
    /// let camp = runtime.owner();
    /// let sentry = runtime.enter(|| camp.start(goblin()));
    /// runtime.start(ambush(camp));
    /// runtime.run_frame(0.1);
    /// assert_eq!(runtime.scripts().len(), 3);
    /// runtime.run_frame(0.1);
    /// assert!(!runtime.is_alive(sentry.id()));
    /// ```
    #[track_caller]
    pub fn start<S: DurableScript>(self, script: S) -> ScriptHandle<S::Output> {
        make("start", script, Making::STARTS.on(self))
    }

    /// Spawns a script on this owner, which may refuse it as in [`start`](Self::start): it runs later in this run, or
    /// first in the next one.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[track_caller]
    pub fn spawn<S: DurableScript>(self, script: S) -> ScriptHandle<S::Output> {
        make("spawn", script, Making::SPAWNS.on(self))
    }
}

#[track_caller]
fn make<S: DurableScript>(
    function: &'static str,
    script: S,
    making: Making,
) -> ScriptHandle<S::Output> {
    let mut script = Given::new(script);
    let code = Code::of::<S>();
    let joins = make_any(function, making, code, &mut || begin(script.take()));
    ScriptHandle::of(joins.returning::<S::Output>())
}

/// The part of [`make()`] that is the same for all scripts. `chapter` is called at most once.
#[track_caller]
pub(crate) fn make_any(
    function: &'static str,
    making: Making,
    code: Code,
    chapter: &mut dyn FnMut() -> Begun,
) -> Joins {
    let call = Call::new(function, code.name);
    let cell = match caller() {
        Some(Caller::Script(cell)) => cell,
        Some(Caller::Host(shared)) => return shared.make_for_host(making, code, chapter),
        None => return Joins::of_plain(make_outside(code, chapter(), making)),
    };
    let shared = cell.shared();
    // Recorded before the script runs, so that it knows its number.
    let mut begun = None;
    let made = cell.effect(call, || {
        begun = Some(shared.begin(code, chapter));
        Bytes::of(&shared.scripts.next_id().0)
    });
    let Some(made) = made else {
        return Joins::void();
    };
    let id = ScriptId(expect_read(&made));
    let Some(begun) = begun else {
        return Joins::new(shared, id, None).replayed_by(&cell);
    };
    let birth = Birth::new();
    let joins = Joins::new(shared, id, Some(birth));
    shared.make((id, birth), code, begun, making, Some(&cell));
    joins
}

impl Shared {
    /// Starts or spawns a script for the host.
    #[track_caller]
    pub(crate) fn make_for_host(
        self: &Rc<Self>,
        making: Making,
        code: Code,
        chapter: &mut dyn FnMut() -> Begun,
    ) -> Joins {
        let begun = self.begin(code, chapter);
        // The handle is counted first: a script may end as it starts.
        let (id, birth) = (self.scripts.next_id(), Birth::new());
        let joins = Joins::new(self, id, Some(birth));
        self.make((id, birth), code, begun, making, None);
        joins
    }
}

/// Starts or spawns a script that cannot be saved, in the executor of the coroutine being polled.
#[track_caller]
fn make_outside(code: Code, begun: Begun, making: Making) -> Coroutine<Bytes> {
    assert!(
        making.owner.is_none(),
        "`OwnerId::{}` was called outside of a runtime, to which an `OwnerId` belongs: call it inside of `Runtime::enter`",
        if making.starts { "start" } else { "spawn" }
    );
    let (mut script, chapters) = (framestep::task::script(code.name), run_chapters(begun));
    if let Some(phase) = making.home {
        script = script.in_phase(phase);
    }
    if making.starts {
        script.start(chapters)
    } else {
        script.spawn(chapters)
    }
}
