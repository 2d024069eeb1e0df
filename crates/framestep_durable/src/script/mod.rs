//! Durable scripts and their chapters.

pub(crate) mod aligned;
pub(crate) mod caller;
pub(crate) mod cell;
pub(crate) mod clock;
pub(crate) mod context;
pub(crate) mod cursor;
pub(crate) mod defer;
pub(crate) mod driver;
pub(crate) mod dropping;
pub(crate) mod effect;
pub(crate) mod end;
pub(crate) mod guard;
pub(crate) mod hand_over;
pub(crate) mod image;
pub(crate) mod join_error;
pub(crate) mod labels;
pub(crate) mod locals;
pub(crate) mod make;
pub(crate) mod numbered;
pub(crate) mod recorded;
pub(crate) mod recorder;
pub(crate) mod recording;
pub(crate) mod registry;
pub(crate) mod replayed;
pub(crate) mod saved;
pub(crate) mod script_fn;
pub(crate) mod shared;
pub(crate) mod slot;
mod stop_wait;
pub(crate) mod waker_uses;

pub(crate) use self::caller::outside;
pub(crate) use self::cell::{ScriptCell, counts};
pub(crate) use self::driver::Driver;
pub(crate) use self::effect::{Given, command, command_of, discard, expect_read, type_name_of};
pub(crate) use self::image::{EndedImage, KeptImage, ScriptImage, SlotImage, WaitImage};
pub(crate) use self::join_error::{JoinError, line_of};
pub(crate) use self::locals::ChangesNoLocal;
pub(crate) use self::make::Making;
pub(crate) use self::numbered::Numbered;
pub(crate) use self::recorded::Recorded;
pub(crate) use self::registry::Registry;
pub(crate) use self::replayed::unreadable;
pub(crate) use self::script_fn::ScriptFn;
pub(crate) use self::shared::clocks::Clocks;
pub(crate) use self::shared::effects::Effects;
pub(crate) use self::shared::ends::EndedScript;
pub(crate) use self::shared::guards::{GuardImage, Guards};
pub(crate) use self::shared::owners::{OwnerEntry, Owners};
pub(crate) use self::shared::stops::StopRequest;
pub(crate) use self::shared::trail::Lent;
pub(crate) use self::shared::{Limits, Shared};
pub(crate) use self::slot::{Awaited, Join, NextWait, OwnerEnd, Pending, Slot, Waits};
pub(crate) use self::waker_uses::{Unrecorded, poll_again};

use std::future::Future;
use std::pin::Pin;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::{Bytes, Content, Mark, Marked};
use crate::events::Carried;
use crate::events::carried::{Taken, take};
use crate::places::table::Places;

/// A script that can be saved while it waits. [`durable`](macro@crate::durable) implements it for
/// an `async fn`.
///
/// The value itself is the state with which a *chapter* begins. It is serialised when the
/// chapter begins. A journal records what the script awaits and does after that. To restore
/// the script, the runtime calls [`run`](DurableScript::run) again with the state, and replays
/// the journal.
///
/// So a chapter must be a function of what is recorded: its state, and what its waits and
/// effects return. It must not read anything else: no static, no clock except
/// [`time`](crate::time), no random number unless a [`with`](crate::with()) returns it, no
/// order of a `HashMap`.
///
/// # Examples
///
/// ```
/// use framestep_durable::prelude::*;
///
/// #[derive(Serialize, Deserialize)]
/// struct Lamp {
///     blinks: u32,
/// }
///
/// impl DurableScript for Lamp {
///     const NAME: &'static str = "lamp";
///     type Output = ();
///
///     async fn run(self) -> Chapter<Self> {
///         wait_seconds(1).await;
///         with(|lit: &mut bool| *lit = !*lit);
///         match self.blinks {
///             0 => Chapter::Done(()),
///             blinks => Chapter::Next(Lamp { blinks: blinks - 1 }),
///         }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a durable script",
    note = "put `#[durable]` on the `async fn`, or implement `DurableScript` for a type of its own"
)]
pub trait DurableScript: Serialize + DeserializeOwned + 'static {
    /// The name of the script in files. No two scripts of a game may have the same name, and a
    /// name must not change as long as there are files with it.
    const NAME: &'static str;

    /// The version of the script. Raise it when a save of the earlier code must not continue in the
    /// new code, although nothing would be noticed; or when the state has other fields. A save
    /// of another version diverges at its beginning: [`Policy::Restart`](crate::Policy::Restart)
    /// restarts the chapter, with the state that [`migrate`](DurableScript::migrate) returns.
    const VERSION: u32 = 0;

    /// The statements of its chapters, which the attribute numbers.
    #[doc(hidden)]
    const PLACES: Places = Places::NONE;

    /// What the script returns to a join.
    type Output: Serialize + DeserializeOwned + 'static;

    /// The state of today for the state of a save with another [`VERSION`](DurableScript::VERSION),
    /// or `None` if there is none. Without this function, the state is read as one of today.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::OldState;
    /// use framestep_durable::prelude::*;
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Shop {
    ///     coins: u32,
    ///     guests: Vec<String>, // since version 1
    /// }
    ///
    /// impl DurableScript for Shop {
    ///     const NAME: &'static str = "shop";
    ///     const VERSION: u32 = 1;
    ///     type Output = ();
    ///
    ///     fn migrate(old: OldState<'_>) -> Option<Self> {
    ///         match old.version() {
    ///             0 => old.read().map(|(coins,)| Shop { coins, guests: Vec::new() }),
    ///             _ => None,
    ///         }
    ///     }
    ///
    ///     async fn run(self) -> Chapter<Self> {
    ///         wait_seconds(1).await;
    ///         Chapter::Next(self)
    ///     }
    /// }
    /// ```
    fn migrate(old: OldState<'_>) -> Option<Self> {
        old.read()
    }

    /// Runs one chapter.
    fn run(self) -> impl Future<Output = Chapter<Self>> + 'static;
}

/// How a chapter ends.
///
/// `T` is the output of the script. Only in a [`durable`](macro@crate::durable) function that returns
/// `Result<Chapter<T>, E>` it is another type: what is in the `Ok` of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chapter<S: DurableScript, T = <S as DurableScript>::Output> {
    /// The script has ended.
    Done(T),
    /// Another chapter begins at once, with this state and an empty journal. A
    /// [`Subscription`](crate::Subscription) or an [`Interval`](crate::Interval) in the state goes on
    /// in it; others are dropped, with the events that they have not read, which is
    /// [reported](crate::RuntimeHandle::on_loss).
    Next(S),
}

/// The future of a chapter.
pub(crate) type ChapterFuture = Pin<Box<dyn Future<Output = ChapterEnd>>>;

/// How a chapter ended.
pub(crate) enum ChapterEnd {
    Done(Marked),
    Next(Begun),
}

/// A chapter that is about to begin.
pub(crate) struct Begun {
    pub(crate) state: Bytes,
    pub(crate) future: ChapterFuture,
    /// The subscriptions in the state.
    pub(crate) carried: Vec<Carried>,
}

/// Begins a chapter with the state `script`.
pub(crate) fn begin<S: DurableScript>(script: S) -> Begun {
    let (state, taken) = take(&mut || Bytes::of(&script));
    let future = if taken.is_any {
        drop(script);
        None
    } else {
        Some(future_of(script))
    };
    begun(S::NAME, state, taken, future, continues::<S>)
}

/// What [`begin`] makes. A state that takes something along is read back: there is no future of it.
fn begun(
    name: &str,
    state: Bytes,
    taken: Taken,
    future: Option<ChapterFuture>,
    continues: Continues,
) -> Begun {
    let future = future.or_else(|| continues(&state));
    let Some(future) = future else {
        panic!("the state of the script `{name}` does not read back what it writes")
    };
    Begun {
        state,
        future,
        carried: taken.subscriptions,
    }
}

fn future_of<S: DurableScript>(script: S) -> ChapterFuture {
    Box::pin(async move {
        match script.run().await {
            Chapter::Done(output) => ChapterEnd::Done(Marked::of(&output)),
            Chapter::Next(script) => ChapterEnd::Next(begin(script)),
        }
    })
}

/// Runs a script as a plain coroutine, chapter after chapter. Returns its output.
pub(crate) async fn run_chapters(begun: Begun) -> Bytes {
    let mut future = begun.future;
    loop {
        match future.await {
            ChapterEnd::Done(output) => return output.into_value(),
            ChapterEnd::Next(next) => future = next.future,
        }
    }
}

/// The state of a script in a save of another version.
#[derive(Clone, Copy, Debug)]
pub struct OldState<'a> {
    version: u32,
    state: &'a Content,
}

impl<'a> OldState<'a> {
    pub(crate) fn new(version: u32, state: &'a Content) -> Self {
        OldState { version, state }
    }

    /// The version that the save has.
    pub fn version(self) -> u32 {
        self.version
    }

    /// Reads the state as a type with the fields of that version: a struct with their names, or a
    /// tuple with their types in the same order. `None` if it is no such state.
    ///
    /// Both read all saves. In a [described](crate::SaveState::described) one, a struct may leave
    /// fields out, and a tuple has them in the order in which the file has them.
    pub fn read<T: DeserializeOwned>(self) -> Option<T> {
        self.state.read().ok()
    }
}

/// Whose code runs a script.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code {
    pub(crate) name: &'static str,
    pub(crate) version: u32,
    pub(crate) places: Places,
    /// How its states describe themselves.
    pub(crate) mark: Option<Mark>,
}

impl Code {
    pub(crate) const fn of<S: DurableScript>() -> Self {
        Code {
            name: S::NAME,
            version: S::VERSION,
            places: S::PLACES,
            mark: Some(Mark::of::<S>()),
        }
    }
}

/// Begins a chapter with a state of this version. `None` if the bytes are not a state of this
/// script.
pub(crate) type Continues = fn(&Bytes) -> Option<ChapterFuture>;

pub(crate) fn continues<S: DurableScript>(state: &Bytes) -> Option<ChapterFuture> {
    state.read().map(future_of::<S>)
}

/// Begins a chapter with a state of this version as one that a script has made, which notes the
/// subscriptions in it. `None` if the bytes are not a state of this script.
pub(crate) type Begins = fn(&Bytes) -> Option<Begun>;

pub(crate) fn begins<S: DurableScript>(state: &Bytes) -> Option<Begun> {
    state.read().map(begin::<S>)
}

/// Begins a chapter with a state of another version. `None` if there is none for it today.
pub(crate) type Migrates = fn(OldState<'_>) -> Option<Begun>;

pub(crate) fn migrates<S: DurableScript>(old: OldState<'_>) -> Option<Begun> {
    S::migrate(old).map(begin)
}
