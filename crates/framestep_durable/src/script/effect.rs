//! Effects: what a script does besides waiting. Each effect is done once, and its result
//! recorded.

use std::mem;
use std::panic::Location;

use framestep::Time;
use framestep::durable::{Reader, Writer, borrow, borrow_mut, load_time, save_time};
use framestep::lend::LendError;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes;
use crate::bytes::Bytes;
use crate::ids::ScriptId;
use crate::journal::Call;
use crate::script::caller::{self, Caller, caller, outside_of_scripts};
use crate::script::recorder::Done;
use crate::script::replayed::leave;
use crate::script::{ChangesNoLocal, Recorded, ScriptCell, Shared, context, unreadable};

/// Calls `f` with the state that the host has lent, and records what it returns. When the
/// script is restored, `f` is not called again: `with` returns the recorded result. Outside of a
/// durable script, it is [`framestep::with`].
///
/// All that `f` does is a part of this effect: [`time`](crate::time()), [`start`](crate::start), an event that it emits, a `with`
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
pub fn with<W: 'static, R: Recorded>(f: impl FnOnce(&mut W) -> R + ChangesNoLocal) -> R {
    let within = type_name_of(&f);
    let mut f = Given::new(f);
    lends_mut("with", within, &mut |state| f.take()(state))
}

/// Calls `f` with a shared reference to the state that the host has lent, and records what it
/// returns. Otherwise it is like [`with()`]. Outside of a durable script, it is
/// [`framestep::lend::with_ref`].
///
/// # Panics
///
/// As [`with()`].
#[track_caller]
pub fn with_ref<W: 'static, R: Recorded>(f: impl FnOnce(&W) -> R + ChangesNoLocal) -> R {
    let within = type_name_of(&f);
    let mut f = Given::new(f);
    lends_ref("with_ref", within, &mut |state| f.take()(state))
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
/// let mut runtime = Runtime::new(Registry::new().script(quest));
/// runtime.spawn(quest(1));
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
    R: Recorded,
{
    let label = label.as_ref();
    let caller = Call {
        within: type_name_of(&f),
        ..Call::new("with_once", "")
    };
    let at = caller.at;
    let mut f = Given::new(f);
    let mut act = || lent("with_once", at, borrow_mut(f.take()));
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
            let result = act();
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
pub fn effect<R: Recorded>(f: impl FnOnce() -> R + ChangesNoLocal) -> R {
    let within = type_name_of(&f);
    let mut f = Given::new(f);
    records("effect", within, &mut || Ok(f.take()()))
}

/// `f` is called at most once.
#[track_caller]
fn lends_mut<W: 'static, R: Serialize + DeserializeOwned>(
    name: &'static str,
    within: &'static str,
    f: &mut dyn FnMut(&mut W) -> R,
) -> R {
    records(name, within, &mut || borrow_mut(&mut *f))
}

/// `f` is called at most once.
#[track_caller]
fn lends_ref<W: 'static, R: Serialize + DeserializeOwned>(
    name: &'static str,
    within: &'static str,
    f: &mut dyn FnMut(&W) -> R,
) -> R {
    records(name, within, &mut || borrow(&mut *f))
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
    records_in(caller, act)
}

/// The same in a known line.
pub(crate) fn records_in<R: Serialize + DeserializeOwned>(
    caller: Call,
    act: &mut dyn FnMut() -> Result<R, LendError>,
) -> R {
    let caller = caller.giving::<R>();
    let mut act = || lent(caller.function, caller.at, act());
    let Some(cell) = context::current() else {
        return act();
    };
    let mut given = None;
    let mut value = cell.shared().scratch.take();
    let done = cell.effect_in(&caller, &mut value, &mut |value| {
        let result = act();
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

/// What a script gives for an effect. What its destructor does is a part of that: also if a replay has the effect in its
/// journal and does not use it, and if it ends with a panic.
pub(crate) struct Given<T>(Option<T>);

impl<T> Given<T> {
    pub(crate) fn new(given: T) -> Self {
        Given(Some(given))
    }

    /// Takes it, for the effect.
    pub(crate) fn take(&mut self) -> T {
        match self.0.take() {
            Some(given) => given,
            None => unreachable!("an effect is done once"),
        }
    }
}

impl<T> Drop for Given<T> {
    #[inline]
    fn drop(&mut self) {
        if mem::needs_drop::<T>() && self.0.is_some() {
            drop_given(false, &mut || drop(self.0.take()));
        }
    }
}

#[cold]
fn drop_given(is_done: bool, drop: &mut dyn FnMut()) {
    match context::current() {
        // Such as that of an effect which has panicked before it came to it.
        Some(cell) if !is_done && cell.has_effects() => cell.in_closure(drop),
        Some(cell) => cell.discarding(drop),
        None => drop(),
    }
}

/// Drops what a script has given for an effect that was done before a load. What its destructor does was a part of that.
pub(crate) fn discard<T>(mut given: Option<T>) {
    if mem::needs_drop::<T>() && given.is_some() {
        drop_given(true, &mut || drop(given.take()));
    }
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

/// The time of the executor, as it is recorded.
#[track_caller]
pub(crate) fn time_now() -> Bytes {
    let mut out = Writer::default();
    save_time(&framestep::durable::time_now(), &mut out);
    Bytes::of(&out.into_numbers())
}

/// A recorded time.
pub(crate) fn time_of(value: Option<&Bytes>) -> Time {
    let numbers: Vec<u64> = value.map_or_else(|| vec![0; 9], expect_read);
    load_time(&mut Reader::new(&numbers)).expect("a time as it was recorded")
}

/// The number of this script, for [`stop`](crate::stop()), [`pause`](crate::pause()) or the world:
/// the same after a restore.
///
/// # Panics
///
/// Outside of a durable script.
#[track_caller]
pub fn current() -> ScriptId {
    match context::current() {
        Some(cell) => cell.id,
        None => caller::refuse(&outside_of_scripts("current"), Location::caller()),
    }
}

/// Does a command once, and records what it returns. The host does it in its runtime.
#[track_caller]
pub(crate) fn command<R: Serialize + DeserializeOwned + Default>(
    name: &'static str,
    f: impl FnOnce(&Shared) -> R,
) -> R {
    command_of(Call::new(name, ""), f)
}

/// The same of a command that a destructor does, which has no line of its own.
pub(crate) fn command_of<R: Serialize + DeserializeOwned + Default>(
    call: Call,
    f: impl FnOnce(&Shared) -> R,
) -> R {
    let call = call.giving::<R>();
    let cell = match caller() {
        Some(Caller::Script(cell)) => cell,
        Some(Caller::Host(shared)) => return f(&shared),
        None => caller::refuse(&outside_of_scripts(call.function), call.at),
    };
    let shared = cell.shared();
    let done = cell.effect(call, || Bytes::of(&f(shared)));
    done.map_or_else(R::default, |done| {
        done.read().expect("a result as it was recorded")
    })
}
