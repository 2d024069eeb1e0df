//! How a signal, a watch or a semaphore finds its state: it has it, or it finds it by name in the
//! executor that runs the caller.

use std::any::{Any, TypeId};
use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::ptr;
use std::rc::{Rc, Weak};

use crate::core::Core;
use crate::core::base::call;
use crate::core::report;
use crate::core::scope::{self, recording};
use crate::core::sources::{Added, Declared, Entry};
use crate::durable::RuntimeHere;
use crate::inspect::events;
use crate::inspect::{Line, Source, SourceKind};

use super::key::{Key, full_name};
use super::source::{Refused, SourceName, expect_called};

/// A state that handles share, and that can have a name.
pub(crate) trait State: Sized {
    /// What a new one begins with.
    type Start: Clone;

    /// What a runtime of durable scripts has instead of it.
    type Runtime: ?Sized;

    /// What it is: a signal, a watch or a semaphore.
    const KIND: SourceKind;
    /// The same with its article, for messages.
    const A_KIND: &'static str;

    fn new(start: &Self::Start) -> Self;

    fn set_source(&self, source: Source);

    /// Whether it is as a new one would be, apart from what handles and waits do to it.
    fn is_new(&self) -> bool;

    /// Ends it with the executor in which it has its name. Calls user code.
    fn end(&self);

    /// The number of `start` in which all code must agree.
    fn number(start: &Self::Start) -> usize;

    /// What it is, for messages: its type, and its number.
    fn describe(number: usize) -> String;
}

/// Where the state of a handle is.
pub(crate) enum Place<S: State> {
    Own(Rc<S>),
    Named(Name<S>),
}

/// The name of a state.
pub(crate) struct Name<S: State> {
    base: &'static str,
    /// The text of the key and the full name with it.
    keyed: Option<Rc<str>>,
    start: S::Start,
    place: &'static Location<'static>,
    find: fn(&Name<S>) -> Result<At<S>, Missing>,
    /// The executor whose runtime is meant. `None`: that of the caller.
    executor: Option<Weak<Core>>,
}

/// Where the state of a name is.
pub(crate) enum At<S: State> {
    Executor(Rc<S>),
    /// The runtime of the executor has what stands for it.
    Runtime(Box<S::Runtime>),
}

/// Why a state is not found.
pub(crate) enum Missing {
    NoExecutor,
    /// The executor that is meant has been dropped.
    Gone,
    /// What the name is elsewhere, and here.
    Another(Box<[Declared; 2]>),
}

/// The state of a handle, for the length of a call.
pub(crate) enum Found<'a, S> {
    Own(&'a Rc<S>),
    Named(Rc<S>),
}

impl<S> Deref for Found<'_, S> {
    type Target = Rc<S>;

    #[inline]
    fn deref(&self) -> &Rc<S> {
        match self {
            Found::Own(state) => state,
            Found::Named(state) => state,
        }
    }
}

/// What stands for the state of a name in a runtime of durable scripts, for a call.
pub(crate) struct InRuntime<'a, S: State> {
    runtime: Box<S::Runtime>,
    name: &'a Name<S>,
}

impl<S: State> InRuntime<'_, S> {
    /// Makes the call.
    #[cold]
    #[track_caller]
    pub(crate) fn call<R>(
        &self,
        call: impl FnOnce(&S::Runtime, SourceName<'_>, &S::Start) -> Result<R, Refused>,
    ) -> R {
        let Name { start, .. } = self.name;
        let name = self.name.source_name();
        let called = self.name.inside(|| call(&self.runtime, name, start));
        expect_called(called)
    }
}

impl<S: State> Place<S> {
    #[inline]
    pub(crate) fn own(state: S) -> Self {
        Place::Own(Rc::new(state))
    }

    /// The state. `call` is what the user has called.
    ///
    /// # Errors
    ///
    /// What stands for it, if a runtime has that.
    #[inline]
    #[track_caller]
    pub(crate) fn find(&self, call: &'static str) -> Result<Found<'_, S>, InRuntime<'_, S>> {
        match self {
            Place::Own(state) => Ok(Found::Own(state)),
            Place::Named(name) => match name.find(call) {
                At::Executor(state) => Ok(Found::Named(state)),
                At::Runtime(runtime) => Err(InRuntime { runtime, name }),
            },
        }
    }

    /// The same for a call that does something at once, which a durable script must not do with a state of an executor.
    /// Waits say so when they are polled.
    #[inline]
    #[track_caller]
    pub(crate) fn find_now(&self, call: &'static str) -> Result<Found<'_, S>, InRuntime<'_, S>> {
        if let Place::Own(_) = self {
            recording::refuse_source(call);
        }
        self.find(call)
    }

    /// The same in the executor in which this is called, for the caller to keep. `of` makes a handle of a state.
    ///
    /// # Errors
    ///
    /// The message of a panic.
    pub(crate) fn found(&self, of: impl FnOnce(&Rc<S>) -> Self) -> Result<Self, String> {
        let name = match self {
            Place::Own(state) => return Ok(of(state)),
            Place::Named(name) => name,
        };
        match (name.find)(name).map_err(|missing| name.message("named", &missing))? {
            At::Executor(state) => Ok(of(&state)),
            At::Runtime(_) => {
                let core = scope::with(|scope| scope.map(|scope| scope.core().rc()));
                Ok(Place::Named(Name {
                    executor: core.as_ref().map(Rc::downgrade),
                    ..name.clone()
                }))
            }
        }
    }

    /// The name, if it has one by which it is found.
    pub(crate) fn source_name(&self) -> Option<SourceName<'_>> {
        match self {
            Place::Own(_) => None,
            Place::Named(name) => Some(name.source_name()),
        }
    }

    /// The state that is the handle's own, for a call on a handle that is being made.
    ///
    /// # Panics
    ///
    /// If the handle finds it by name.
    #[track_caller]
    pub(crate) fn expect_own(&self, call: &str) -> &Rc<S> {
        match self {
            Place::Own(state) => state,
            Place::Named(name) => panic!(
                "`{call}` was called on {} that is found by its name, `{}`: leave it out, or make one of \
                 its own with `new`",
                S::A_KIND,
                name.full()
            ),
        }
    }

    /// The same name with a key.
    ///
    /// # Panics
    ///
    /// If it has no name by which it is found.
    #[track_caller]
    pub(crate) fn keyed(&self, key: &impl Key) -> Self {
        match self {
            Place::Named(name) => {
                // A key of a key: `door[3][1]`.
                let full = full_name(name.full(), key);
                Place::Named(Name {
                    keyed: Some(full.into()),
                    ..name.clone()
                })
            }
            Place::Own(_) => panic!(
                "`keyed` was called on {} without a name by which it is found: declare it as a constant, with the \
                 function of `framestep::sync` that takes its name; what `named` returns is the one of an executor, so \
                 the constant has the key: `executor.named(&KNOCK.keyed(1))`",
                S::A_KIND
            ),
        }
    }
}

impl<S: State + 'static> Name<S> {
    #[track_caller]
    pub(crate) const fn new(base: &'static str, start: S::Start) -> Self {
        Name::found_by(base, start, find_in_executor)
    }

    /// One that a function finds.
    #[track_caller]
    pub(crate) const fn found_by(
        base: &'static str,
        start: S::Start,
        find: fn(&Name<S>) -> Result<At<S>, Missing>,
    ) -> Self {
        expect_without_key(base);
        Name {
            base,
            keyed: None,
            start,
            place: Location::caller(),
            find,
            executor: None,
        }
    }
}

/// Panics if a name has a bracket: with a key, another name would be the same.
#[track_caller]
const fn expect_without_key(base: &str) {
    let base = base.as_bytes();
    let mut at = 0;
    while at < base.len() {
        assert!(
            base[at] != b'[',
            "the name of a signal, a watch or a semaphore has a `[`, which begins a key: leave it out, and call `keyed`"
        );
        at += 1;
    }
}

impl<S: State> Name<S> {
    pub(crate) fn full(&self) -> &str {
        self.keyed.as_deref().unwrap_or(self.base)
    }

    pub(crate) fn start(&self) -> &S::Start {
        &self.start
    }

    fn source_name(&self) -> SourceName<'_> {
        SourceName {
            base: self.base,
            full: self.full(),
            keyed: self.keyed.as_ref(),
        }
    }

    /// The same name with a key that is known.
    pub(crate) fn with_full_name(self, full: &str) -> Self {
        let keyed = (full != self.base).then(|| full.into());
        Name { keyed, ..self }
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn find(&self, call: &'static str) -> At<S> {
        let is_gone = |executor: &Weak<Core>| executor.strong_count() == 0;
        if self.executor.is_some() {
            // Of a host, which it enters.
            recording::refuse_source(call);
        }
        let found = match &self.executor {
            Some(executor) if is_gone(executor) => Err(Missing::Gone),
            _ => self.inside(|| (self.find)(self)),
        };
        match found {
            Ok(At::Executor(state)) => {
                recording::refuse_source(call);
                At::Executor(state)
            }
            Ok(runtime) => runtime,
            Err(missing) => panic!("{}", self.message(call, &missing)),
        }
    }

    /// Calls `f` in the executor that is meant.
    fn inside<R>(&self, f: impl FnOnce() -> R) -> R {
        match self.executor.as_ref().and_then(Weak::upgrade) {
            Some(core) => scope::call_in(&core, f),
            None => f(),
        }
    }

    fn message(&self, call: &str, missing: &Missing) -> String {
        let (kind, name) = (S::A_KIND, self.full());
        match missing {
            Missing::NoExecutor => format!(
                "`{call}` was called outside of an executor on {kind} with a name, `{name}`: each \
                 executor has its own of that name. Call it in a script, inside of `Executor::enter`, or \
                 on what `Executor::named` returns"
            ),
            Missing::Gone => format!(
                "`{call}` was called on {kind} of a runtime that has been dropped, `{name}`: drop the handle \
                 with the runtime"
            ),
            Missing::Another(declared) => {
                let [there, here] = (**declared).map(
                    |Declared {
                         number,
                         what,
                         place,
                         ..
                     }| { format!("{} at {place}", what(number)) },
                );
                let base = self.base;
                format!(
                    "the name `{base}` stands for {there}, and for {here}, in one executor: declare one \
                     constant and use it in both places, or give one of them another name"
                )
            }
        }
    }
}

/// Where the state of a name is in the executor that runs the caller.
fn find_in_executor<S: State + 'static>(name: &Name<S>) -> Result<At<S>, Missing> {
    find_by_name(name).map(At::Executor)
}

/// Where it is in the runtime that has the caller, else in the executor. `runtime` has those of the runtime.
pub(crate) fn find_here<S: State + 'static, R: RuntimeHere>(
    name: &Name<S>,
    runtime: fn() -> Box<S::Runtime>,
) -> Result<At<S>, Missing> {
    if R::is_here() {
        let declared = declared(name);
        // A script that is replayed is in no executor: it makes the calls of one that was.
        let known = scope::with(|scope| match scope {
            Some(scope) => scope.core().sources.declare(&declared),
            None => Ok(declared.place),
        });
        let first = known.map_err(|other| Missing::Another(Box::new([other, declared])))?;
        expect_one_start(&declared, first);
        Ok(At::Runtime(runtime()))
    } else {
        find_in_executor(name)
    }
}

/// Reports a watch that two lines declare. Nothing compares their start values, which need not be comparable.
#[inline]
fn expect_one_start(declared: &Declared, first: Line) {
    if declared.kind == SourceKind::Watch && !ptr::eq(declared.place, first) {
        report_second_start(declared, first);
    }
}

#[cold]
#[inline(never)]
fn report_second_start(declared: &Declared, first: Line) {
    let Declared { name, place, .. } = *declared;
    let is_untold =
        || scope::with(|scope| scope.is_some_and(|it| it.core().sources.is_untold(place)));
    if place != first && is_untold() {
        let text = format!(
            "the watch `{name}` is declared at {first} and at {place}, each time with a start value: which one it has \
             depends on the line that asks first. Declare one constant and use it in both places"
        );
        report::suspicious(place, text);
    }
}

/// What the code says of a name.
#[inline]
fn declared<S: State + 'static>(name: &Name<S>) -> Declared {
    Declared {
        kind: S::KIND,
        name: name.base,
        state: TypeId::of::<S>(),
        number: S::number(&name.start),
        what: S::describe,
        place: name.place,
    }
}

/// The state of a name in the executor that runs the caller. Made if there is none.
fn find_by_name<S: State + 'static>(name: &Name<S>) -> Result<Rc<S>, Missing> {
    let core = scope::with(|scope| scope.map(|scope| scope.core().rc()));
    let core = core.ok_or(Missing::NoExecutor)?;
    let declared = declared(name);
    let another = |other| Missing::Another(Box::new([other, declared]));
    let of_type = |state: Rc<dyn Any>| {
        let state = state.downcast::<S>();
        state.unwrap_or_else(|_| unreachable!("their types are the same"))
    };
    let found = core.sources.get(&declared, name.keyed.as_deref());
    if let Some((state, first)) = found.map_err(another)? {
        expect_one_start(&declared, first);
        return Ok(of_type(state));
    }
    // The start value is made by user code, which may use the same name.
    let state = call::out(|| S::new(&name.start));
    let source = events::named_at(S::KIND, name.full().to_owned().into(), name.place);
    state.set_source(source);
    let entry = Entry {
        state: Rc::new(state),
        is_unused: |state| {
            let is_new = state.downcast_ref::<S>().is_some_and(S::is_new);
            is_new && Rc::strong_count(state) == 1
        },
        end: |state| {
            if let Some(state) = state.downcast_ref::<S>() {
                state.end();
            }
        },
    };
    let Added { state, unused } = core.sources.add(&declared, name.keyed.as_ref(), entry);
    call::out(|| drop(unused));
    state.map(of_type).map_err(another)
}

impl<S: State> Clone for Name<S> {
    fn clone(&self) -> Self {
        Name {
            keyed: self.keyed.clone(),
            start: self.start.clone(),
            executor: self.executor.clone(),
            ..*self
        }
    }
}

/// A [`Signal`](crate::sync::Signal), a [`Watch`](crate::sync::Watch) or a
/// [`Semaphore`](crate::sync::Semaphore), which may have a name. It cannot be implemented by other types.
pub trait Named: Sealed + Sized {}

pub trait Sealed {
    /// Its name, if it is found by one.
    fn source_name(&self) -> Option<SourceName<'_>>;

    /// A handle of what the name stands for in the executor that runs the caller.
    ///
    /// # Errors
    ///
    /// Why there is none: the message of a panic.
    fn found(&self) -> Result<Self, String>
    where
        Self: Sized;
}

/// A handle of what a name stands for in an executor.
#[track_caller]
pub(crate) fn named_in<N: Named>(core: &Core, source: &N) -> N {
    match scope::call_in(core, || source.found()) {
        Ok(found) => found,
        Err(message) => panic!("{message}"),
    }
}

/// Writes a handle that finds its state by name.
pub(super) fn write_name(handle: &str, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.debug_struct(handle)
        .field("name", &name)
        .finish_non_exhaustive()
}
