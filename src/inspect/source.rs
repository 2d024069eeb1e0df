//! The signals, watches and semaphores behind the names in snapshots and traces.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::task::coroutine::CoroutineId;

/// A [`Signal`](crate::sync::Signal), a [`Watch`](crate::sync::Watch) or [`Semaphore`](crate::sync::Semaphore) with a
/// name.
///
/// Several may have the same name: each has a number, and the line that has named it. Clones of
/// one signal are one source.
///
/// # Examples
///
/// ```
/// use framestep::inspect::Wait;
/// use framestep::prelude::*;
///
/// let supper = || Signal::<()>::new().named("supper");
/// let executor = Executor::new();
/// for signal in [supper(), supper()] {
///     executor.start(async move { signal.wait().await });
/// }
/// let snapshot = executor.snapshot();
/// let sources: Vec<_> = snapshot
///     .iter()
///     .flat_map(|script| script.waits())
///     .filter_map(Wait::source)
///     .collect();
/// assert_eq!(sources[0].name(), sources[1].name());
/// assert_ne!(sources[0], sources[1]);
/// assert!(sources[0].named_at().is_some());
/// ```
#[derive(Clone)]
pub struct Source(Arc<Parts>);

struct Parts {
    kind: SourceKind,
    name: Arc<str>,
    birth: Birth,
    /// The number of the executor that first met it, and its number there. 0: none yet.
    number: AtomicU64,
    /// The latest text of its value, if it shows it.
    value: Mutex<Option<Arc<str>>>,
}

/// What a [`Source`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SourceKind {
    /// A [`Signal`](crate::sync::Signal).
    Signal,
    /// A [`Watch`](crate::sync::Watch).
    Watch,
    /// [`Semaphore`](crate::sync::Semaphore).
    Semaphore,
    /// A question of a durable script.
    Question,
    /// A wait of another crate, by a [`WaitNote`](crate::inspect::WaitNote).
    Other,
    /// A [request to stop](crate::Owner::request_stop).
    StopRequest,
}

/// When and where a source got its name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Birth {
    /// `None` if its name is its identity, as in durable scripts.
    pub(crate) at: Option<&'static Location<'static>>,
    pub(crate) frame: Option<u64>,
    pub(crate) script: Option<CoroutineId>,
}

impl Source {
    pub(crate) fn new(kind: SourceKind, name: Arc<str>, birth: Birth) -> Self {
        Source(Arc::new(Parts {
            kind,
            name,
            birth,
            number: AtomicU64::new(0),
            value: Mutex::new(None),
        }))
    }

    /// What it is.
    pub fn kind(&self) -> SourceKind {
        self.0.kind
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    pub(crate) fn name_arc(&self) -> Arc<str> {
        self.0.name.clone()
    }

    /// Its number among the sources of the executor. They are numbered from 1, in the order in
    /// which snapshots and traces first show them. 0 for those of durable scripts: there, equal
    /// names stand for the same source.
    pub fn number(&self) -> u32 {
        let number = self.0.number.load(Ordering::Relaxed) & u64::from(u32::MAX);
        u32::try_from(number).expect("the rest is masked")
    }

    /// The line that has named it. `None` for those of durable scripts.
    pub fn named_at(&self) -> Option<&'static Location<'static>> {
        self.0.birth.at
    }

    /// The frame in which it was named. `None` unless an executor that
    /// [inspects](crate::Builder::inspect) or is traced ran code then.
    pub fn named_in(&self) -> Option<u64> {
        self.0.birth.frame
    }

    /// The coroutine that has named it. `None` if the host did, or if it is not known.
    pub fn named_by(&self) -> Option<CoroutineId> {
        self.0.birth.script
    }

    /// The latest value of a watch that [shows](crate::sync::Watch::shown) it, as far as an executor
    /// that inspects or is traced has seen it: at each change in a script, and when a wait for
    /// it begins.
    pub fn value(&self) -> Option<Arc<str>> {
        let value = self.0.value.lock();
        value.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_value(&self, text: Arc<str>) {
        let value = self.0.value.lock();
        *value.unwrap_or_else(PoisonError::into_inner) = Some(text);
    }

    /// Whether it has yet to get a number.
    pub(crate) fn is_unknown(&self) -> bool {
        self.0.birth.at.is_some() && self.0.number.load(Ordering::Relaxed) == 0
    }

    pub(crate) fn set_number(&self, executor: u32, number: u32) {
        let number = u64::from(executor) << 32 | u64::from(number);
        self.0.number.store(number, Ordering::Relaxed);
    }

    fn identity(&self) -> (SourceKind, &str, u64) {
        (
            self.0.kind,
            &self.0.name,
            self.0.number.load(Ordering::Relaxed),
        )
    }
}

/// Equal if they are one signal, one watch or one semaphore.
impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Source {}

impl Hash for Source {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("kind", &self.kind())
            .field("name", &self.name())
            .field("number", &self.number())
            .finish_non_exhaustive()
    }
}
