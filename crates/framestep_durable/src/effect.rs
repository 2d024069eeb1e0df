//! Effects: what a script does besides waiting. Each effect is done once, and its result
//! recorded.

use std::borrow::Cow;
use std::panic::Location;

use framestep::durable::{Reader, Writer, load_time, save_time};
use framestep::lend::LendError;
use framestep::{Coroutine, Phase, Time};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes;
use crate::bytes::Bytes;
use crate::cell::{Done, ScriptCell, leave, unreadable};
use crate::context;
use crate::handle::{Handle, Joins, command};
use crate::ids::{Birth, OwnerId, ScriptId};
use crate::locals::ChangesNoLocal;
use crate::make::Making;
use crate::script::{Begun, Code, DurableScript, begin_once, run_chapters};
use crate::site::Call;

/// Calls `f` with the state that the host has lent, and records what it returns. When the
/// script is restored, `f` is not called again: `with` returns the recorded result. Outside of a
/// durable script, it is [`framestep::with`].
///
/// All that `f` does is a part of this effect: [`time`], [`start`], an event that it emits, a `with`
/// of other state.
///
/// # Panics
///
/// Outside of an executor; if the host has lent no `W`; or if a closure around this call borrows it.
///
/// # Examples
///
/// ```
/// # use framestep_durable::prelude::*;
/// # struct World { gold: u32 }
/// # async fn script() {
/// let is_rich = with(|world: &mut World| {
///     world.gold += 10;
///     world.gold > 100
/// });
/// # }
/// ```
#[track_caller]
pub fn with<W: 'static, R: Serialize + DeserializeOwned>(
    f: impl FnOnce(&mut W) -> R + ChangesNoLocal,
) -> R {
    let within = type_name_of(&f);
    let mut f = Some(f);
    lends_mut("with", within, &mut |state| match f.take() {
        Some(f) => f(state),
        None => done_twice(),
    })
}

/// Calls `f` with a shared reference to the state that the host has lent, and records what it
/// returns. Otherwise it is like [`with()`]. Outside of a durable script, it is
/// [`framestep::lend::with_ref`].
///
/// # Panics
///
/// As [`with()`].
#[track_caller]
pub fn with_ref<W: 'static, R: Serialize + DeserializeOwned>(
    f: impl FnOnce(&W) -> R + ChangesNoLocal,
) -> R {
    let within = type_name_of(&f);
    let mut f = Some(f);
    lends_ref("with_ref", within, &mut |state| match f.take() {
        Some(f) => f(state),
        None => done_twice(),
    })
}

/// Calls `f` with the state that the host has lent, like [`with()`], but at most once in the life
/// of the script for each label: what it returned is remembered, and later calls return that.
///
/// It is remembered beyond the end of the chapter, and if the chapter restarts because a
/// [`Policy`](crate::Policy) says so. So a reward is neither paid again nor lost. A rollback
/// takes it back together with the script. Another script with the same label remembers for
/// itself.
///
/// A label that occurs twice in the code means the same deed: the second call returns the result
/// of the first one. So put into the label what makes two deeds different: `format!("reward
/// {level}")`. If `f` panics, it counts as not done.
///
/// Outside of a durable script, nothing is remembered: it is [`framestep::with`].
///
/// # Panics
///
/// As [`with()`]. And if what is remembered is not an `R`, because a call with this label returned
/// another type.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[durable]
/// async fn quest(round: u32) -> Chapter {
///     let number = with_once("reward", |gold: &mut u32| {
///         *gold += 100;
///         *gold
///     });
///     assert_eq!(number, 100);
///     wait_seconds(1).await;
///     match round {
///         3 => Chapter::Done(()),
///         _ => Chapter::Next(quest(round + 1)),
///     }
/// }
///
/// let mut runtime = Runtime::new(Registry::new().with::<Quest>());
/// runtime.spawn(quest(1)).detach();
/// let mut gold = 0_u32;
/// for _ in 0..10 {
///     runtime.run_frame_with(&mut gold, 0.5);
/// }
/// assert_eq!(gold, 100);
/// ```
#[track_caller]
pub fn with_once<W, R>(label: impl AsRef<str>, f: impl FnOnce(&mut W) -> R + ChangesNoLocal) -> R
where
    W: 'static,
    R: Serialize + DeserializeOwned,
{
    let label = label.as_ref();
    let caller = Call {
        within: type_name_of(&f),
        ..Call::new("with_once", "")
    };
    let at = caller.at;
    let mut f = Some(f);
    let mut act = || match f.take() {
        Some(f) => lent("with_once", at, framestep::lend::try_with(f)),
        None => done_twice(),
    };
    let Some(cell) = context::current() else {
        return act();
    };
    match once(&cell, label, caller, &mut || Bytes::of(&act())) {
        Some(result) => result.read().unwrap_or_else(|| {
            unreadable::<R>(format_args!(
                "what was done once as {label:?} has not returned a `{}`",
                std::any::type_name::<R>()
            ))
        }),
        None => bytes::read_zeros().unwrap_or_else(|| leave()),
    }
}

/// Does what has not been done under this label. Returns the result. `None` in a destructor of a
/// script that must do nothing.
fn once(
    cell: &ScriptCell,
    label: &str,
    caller: Call,
    act: &mut dyn FnMut() -> Bytes,
) -> Option<Bytes> {
    let done = || cell.chapter().once.get(label).cloned();
    let recorded = Bytes::of(label);
    let entry = cell.effect(caller, || {
        if done().is_none() {
            let result = cell.in_closure(&mut *act);
            cell.change().once.insert(label, result);
        }
        recorded.clone()
    });
    let is_it = entry.is_none_or(|entry| entry == recorded);
    let result = done().filter(|_| is_it);
    if result.is_none() {
        cell.leave_at_label(label);
    }
    result
}

/// Calls `f`, and records what it returns, like [`with()`] without lent state: for what belongs to
/// nobody's world, such as a line in a log. When the script is restored, `f` is not called again.
/// Outside of a durable script, it only calls `f`.
///
/// # Panics
///
/// If what `f` returns does not serialise.
///
/// # Examples
///
/// ```
/// # use framestep_durable::prelude::*;
/// # async fn script() {
/// effect(|| println!("the door opens")); // once, even if the script is restored
/// let seed = effect(|| 4_u32); // asked of the world outside
/// # }
/// ```
#[track_caller]
pub fn effect<R: Serialize + DeserializeOwned>(f: impl FnOnce() -> R + ChangesNoLocal) -> R {
    let within = type_name_of(&f);
    let mut f = Some(f);
    records("effect", within, &mut || match f.take() {
        Some(f) => Ok(f()),
        None => done_twice(),
    })
}

/// `f` is called at most once.
#[track_caller]
fn lends_mut<W: 'static, R: Serialize + DeserializeOwned>(
    name: &'static str,
    within: &'static str,
    f: &mut dyn FnMut(&mut W) -> R,
) -> R {
    records(name, within, &mut || framestep::lend::try_with(&mut *f))
}

/// `f` is called at most once.
#[track_caller]
fn lends_ref<W: 'static, R: Serialize + DeserializeOwned>(
    name: &'static str,
    within: &'static str,
    f: &mut dyn FnMut(&W) -> R,
) -> R {
    records(name, within, &mut || framestep::lend::try_with_ref(&mut *f))
}

/// Does an effect and records what it returns. `act` is called at most once.
#[track_caller]
pub(crate) fn records<R: Serialize + DeserializeOwned>(
    name: &'static str,
    within: &'static str,
    act: &mut dyn FnMut() -> Result<R, LendError>,
) -> R {
    let caller = Call {
        within,
        ..Call::new(name, "")
    };
    let mut act = || lent(name, caller.at, act());
    let Some(cell) = context::current() else {
        return act();
    };
    let mut given = None;
    let mut value = cell.shared().scratch.take();
    let done = cell.effect_in(&caller, &mut value, &mut |value| {
        let result = cell.in_closure(&mut act);
        bytes::write(&result, value);
        given = Some(result);
    });
    let result = match (given, done) {
        (Some(given), _) => given,
        (None, Done::Not) => bytes::read_zeros().unwrap_or_else(|| leave()),
        (None, _) => bytes::read(&value).unwrap_or_else(|| unreadable_result()),
    };
    cell.shared().scratch.put(value);
    result
}

/// The type of a closure, which names the function that it is written in.
pub(crate) fn type_name_of<F>(_: &F) -> &'static str {
    std::any::type_name::<F>()
}

/// What a closure has returned that was called with lent state, once.
fn lent<R>(call: &str, at: &Location<'_>, done: Result<R, LendError>) -> R {
    match done {
        Ok(done) => done,
        Err(error) => refuse(call, at, error),
    }
}

#[cold]
fn done_twice() -> ! {
    unreachable!("an effect is done once")
}

#[cold]
fn refuse(call: &str, at: &Location<'_>, error: LendError) -> ! {
    panic!("`{call}` at {at}: {error}")
}

pub(crate) fn expect_read<R: DeserializeOwned>(value: &Bytes) -> R {
    value.read().unwrap_or_else(|| unreadable_result())
}

fn unreadable_result<R: DeserializeOwned>() -> R {
    unreadable::<R>(format_args!(
        "what was recorded is no `{}`: the type does not read back what it writes",
        std::any::type_name::<R>()
    ))
}

/// The present time of the script's clock. Recorded, like all that a durable script reads. Outside
/// of one, it is [`framestep::time()`].
///
/// # Panics
///
/// Outside of an executor.
#[track_caller]
pub fn time() -> Time {
    let caller = Call::new("time()", "");
    let Some(cell) = context::current() else {
        return framestep::time();
    };
    let value = cell.effect(caller, time_now);
    time_of(value.as_ref())
}

/// The time of the executor, as it is recorded.
#[track_caller]
pub(crate) fn time_now() -> Bytes {
    let mut out = Writer::default();
    save_time(&framestep::time(), &mut out);
    Bytes::of(&out.into_numbers())
}

/// A recorded time.
pub(crate) fn time_of(value: Option<&Bytes>) -> Time {
    let numbers: Vec<u64> = value.map_or_else(|| vec![0; 9], expect_read);
    load_time(&mut Reader::new(&numbers)).expect("a time as it was recorded")
}

/// The seconds of the frame or the step, on the script's clock. Recorded, as a smaller entry than
/// [`time`]. Outside of a durable script, it is [`framestep::time::delta_seconds`].
///
/// # Panics
///
/// Outside of an executor.
#[track_caller]
pub fn delta_seconds() -> f32 {
    let caller = Call::new("delta_seconds()", "");
    let Some(cell) = context::current() else {
        return framestep::time::delta_seconds();
    };
    let value = cell.effect(caller, || Bytes::of(&framestep::time::delta_seconds()));
    value.map_or(0.0, |value| expect_read(&value))
}

/// The number of this script, for [`stop`](crate::stop()), [`pause`](crate::pause()) or the world:
/// the same after a restore.
///
/// # Panics
///
/// Outside of a durable script.
#[track_caller]
pub fn current() -> ScriptId {
    context::expect("current").id
}

/// The name of this script. Outside of a durable script, it is [`framestep::task::current_name`].
///
/// # Panics
///
/// Outside of an executor.
#[track_caller]
pub fn current_name() -> Cow<'static, str> {
    match context::current() {
        Some(cell) => Cow::Borrowed(cell.name()),
        None => framestep::task::current_name(),
    }
}

/// Starts another script: it runs up to its first wait before this returns. It inherits the
/// owner, the clock and the home phase of this one. See [`framestep::start`].
///
/// Outside of a durable script, it starts a plain coroutine, which cannot be saved.
///
/// # Panics
///
/// Outside of an executor; or if the script is not in the registry.
#[track_caller]
pub fn start<S: DurableScript>(script: S) -> Handle<S::Output> {
    make(
        "start",
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
/// As [`start`].
#[track_caller]
pub fn start_in<S: DurableScript>(phase: Phase, script: S) -> Handle<S::Output> {
    make(
        "start",
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
/// As [`start`].
#[track_caller]
pub fn start_on<S: DurableScript>(owner: OwnerId, script: S) -> Handle<S::Output> {
    make(
        "start",
        script,
        Making {
            starts: true,
            owner: Some(owner),
            ..Making::default()
        },
    )
}

/// Spawns a script: it runs later in this run. See [`framestep::spawn`].
///
/// # Panics
///
/// As [`start`].
#[track_caller]
pub fn spawn<S: DurableScript>(script: S) -> Handle<S::Output> {
    make("spawn", script, Making::default())
}

/// Spawns a script on an owner.
///
/// # Panics
///
/// As [`start_on`].
#[track_caller]
pub fn spawn_on<S: DurableScript>(owner: OwnerId, script: S) -> Handle<S::Output> {
    make(
        "spawn",
        script,
        Making {
            owner: Some(owner),
            ..Making::default()
        },
    )
}

/// Spawns a script with `phase` as home.
///
/// # Panics
///
/// As [`start`].
#[track_caller]
pub fn spawn_in<S: DurableScript>(phase: Phase, script: S) -> Handle<S::Output> {
    make(
        "spawn",
        script,
        Making {
            home: Some(phase),
            ..Making::default()
        },
    )
}

#[track_caller]
fn make<S: DurableScript>(function: &'static str, script: S, making: Making) -> Handle<S::Output> {
    let mut script = Some(script);
    let code = Code::of::<S>();
    Handle::of(make_any(function, making, code, &mut || {
        begin_once(&mut script)
    }))
}

/// The part of [`make()`] that is the same for all scripts. `chapter` is called at most once.
#[track_caller]
pub(crate) fn make_any(
    function: &'static str,
    making: Making,
    code: Code,
    chapter: &mut dyn FnMut() -> Begun,
) -> Joins {
    let caller = Call::new(function, code.name);
    let Some(cell) = context::current() else {
        return Joins::of_plain(make_outside(code, chapter(), making));
    };
    let shared = cell.shared();
    // Recorded before the script runs, so that it knows its number.
    let mut begun = None;
    let made = cell.effect(caller, || {
        begun = Some(shared.begin(code, chapter));
        Bytes::of(&shared.scripts.next.get())
    });
    let Some(made) = made else {
        return Joins::void();
    };
    let id: u64 = expect_read(&made);
    let id = ScriptId(id);
    let Some(begun) = begun else {
        return Joins::new(shared, id, None).replayed_by(&cell);
    };
    let birth = Birth::new();
    let joins = Joins::new(shared, id, Some(birth));
    let made = shared.make(code, begun, making, birth, Some(&cell));
    debug_assert_eq!(made, joins.id());
    joins
}

/// Starts or spawns a script that cannot be saved, in the executor of the coroutine being polled.
#[track_caller]
fn make_outside(code: Code, begun: Begun, making: Making) -> Coroutine<Bytes> {
    assert!(
        making.owner.is_none(),
        "`start_on` and `spawn_on` were called outside of a durable script: an `OwnerId` belongs to a \
         runtime"
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

impl OwnerId {
    /// Pauses all scripts of the owner, from a script. Returns `false` if it was paused.
    ///
    /// # Panics
    ///
    /// Outside of a durable script.
    #[track_caller]
    pub fn pause(self) -> bool {
        command("pause", |shared| shared.owners.pause(self, true))
    }

    /// Resumes the scripts of the owner, from a script. Returns `false` if it was not paused.
    ///
    /// # Panics
    ///
    /// Outside of a durable script.
    #[track_caller]
    pub fn resume(self) -> bool {
        command("resume", |shared| shared.owners.pause(self, false))
    }

    /// Stops all scripts of the owner, from a script.
    ///
    /// # Panics
    ///
    /// Outside of a durable script.
    #[track_caller]
    pub fn stop_all(self) {
        let place = Some(Location::caller());
        command("stop_all", |shared| shared.owners.stop_all(self, place));
    }
}
