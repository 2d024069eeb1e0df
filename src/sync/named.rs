//! How a signal, a watch or a semaphore finds its state: it has it, or it finds it by name in the
//! executor that runs the caller.

use std::any::TypeId;
use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::rc::Rc;

use crate::core::Core;
use crate::core::base::call;
use crate::core::scope;
use crate::core::sources::{Declared, Entry};
use crate::inspect::events;
use crate::inspect::{Source, SourceKind};

use super::key::{Key, full_name};

/// A state that handles share, and that can have a name.
pub(crate) trait State: Sized {
    /// What a new one begins with.
    type Start: Clone;

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
    find: fn(&Name<S>) -> Result<Rc<S>, Missing>,
}

/// Why a state is not found.
pub(crate) enum Missing {
    NoExecutor,
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

impl<S: State> Place<S> {
    #[inline]
    pub(crate) fn own(state: S) -> Self {
        Place::Own(Rc::new(state))
    }

    /// The state. `call` is what the user has called.
    #[inline]
    #[track_caller]
    pub(crate) fn find(&self, call: &str) -> Found<'_, S> {
        match self {
            Place::Own(state) => Found::Own(state),
            Place::Named(name) => Found::Named(name.find(call)),
        }
    }

    /// The same for the caller to keep.
    ///
    /// # Errors
    ///
    /// The message of a panic.
    pub(crate) fn find_for_host(&self) -> Result<Rc<S>, String> {
        match self {
            Place::Own(state) => Ok(state.clone()),
            Place::Named(name) => {
                (name.find)(name).map_err(|missing| name.message("named", &missing))
            }
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
                "`keyed` was called on {} without a name by which it is found: declare it as a constant, \
                 with the function of `framestep::sync` that takes its name",
                S::A_KIND
            ),
        }
    }
}

impl<S: State + 'static> Name<S> {
    #[track_caller]
    pub(crate) const fn new(base: &'static str, start: S::Start) -> Self {
        Name {
            base,
            keyed: None,
            start,
            place: Location::caller(),
            find: find_by_name,
        }
    }
}

impl<S: State> Name<S> {
    pub(crate) fn full(&self) -> &str {
        self.keyed.as_deref().unwrap_or(self.base)
    }

    pub(crate) fn start(&self) -> &S::Start {
        &self.start
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn find(&self, call: &str) -> Rc<S> {
        match (self.find)(self) {
            Ok(state) => state,
            Err(missing) => panic!("{}", self.message(call, &missing)),
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

/// The state of a name in the executor that runs the caller. Made if there is none.
fn find_by_name<S: State + 'static>(name: &Name<S>) -> Result<Rc<S>, Missing> {
    let core = scope::with(|scope| scope.map(|scope| scope.core().rc()));
    let core = core.ok_or(Missing::NoExecutor)?;
    let declared = Declared {
        kind: S::KIND,
        name: name.base,
        state: TypeId::of::<S>(),
        number: S::number(&name.start),
        what: S::describe,
        place: name.place,
    };
    let get = || {
        let found = core.sources.get(&declared, name.keyed.as_deref());
        let found = found.map_err(|other| Missing::Another(Box::new([other, declared])))?;
        let state = found.map(Rc::downcast::<S>);
        Ok(state.map(|state| state.unwrap_or_else(|_| unreachable!("their types are the same"))))
    };
    if let Some(state) = get()? {
        return Ok(state);
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
    let unused = core.sources.add(&declared, name.keyed.as_ref(), entry);
    call::out(|| drop(unused));
    Ok(get()?.expect("it was added"))
}

impl<S: State> Clone for Name<S> {
    fn clone(&self) -> Self {
        Name {
            keyed: self.keyed.clone(),
            start: self.start.clone(),
            ..*self
        }
    }
}

/// A [`Signal`](crate::sync::Signal), a [`Watch`](crate::sync::Watch) or a
/// [`Semaphore`](crate::sync::Semaphore), which may have a name. It cannot be implemented by other types.
pub trait Named: Sealed + Sized {}

pub trait Sealed {
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
