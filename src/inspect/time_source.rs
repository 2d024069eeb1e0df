//! The time outside the game.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use crate::core::base::call::{self, Foreign, Payload};

/// The source of time for budgets of time, slow polls and profiles: the host's
/// stopwatch, or else the computer's clock, if the target has one.
#[derive(Default)]
pub(crate) struct TimeSource {
    source: RefCell<Source>,
    /// The latest panic of the host's stopwatch.
    panic: RefCell<Option<Foreign<Payload>>>,
}

#[derive(Clone, Default)]
enum Source {
    #[default]
    Computer,
    Host(Rc<Stopwatch>),
    /// The host's stopwatch was dropped, because its executor has ended.
    Nothing,
}

/// The host's stopwatch. A call of it may end the executor, so that the call drops
/// it.
struct Stopwatch(Foreign<Box<dyn Fn() -> Duration>>);

impl TimeSource {
    pub(crate) fn new(stopwatch: impl Fn() -> Duration + 'static) -> Self {
        let stopwatch = Stopwatch(Foreign::new(Box::new(stopwatch)));
        TimeSource {
            source: RefCell::new(Source::Host(Rc::new(stopwatch))),
            panic: RefCell::default(),
        }
    }

    /// The time since some fixed moment. `None` if it cannot be read: the target
    /// has no clock, or the host's stopwatch panics, which is noted. Calls user code.
    pub(crate) fn read(&self) -> Option<Duration> {
        let source = self.source.borrow().clone();
        let stopwatch = match source {
            Source::Computer => return computer::read(),
            Source::Host(stopwatch) => stopwatch,
            Source::Nothing => return None,
        };
        match call::catch(|| stopwatch.0.get()()) {
            Ok(reading) => Some(reading),
            Err(payload) => {
                let earlier = self.panic.replace(Some(Foreign::new(payload)));
                drop(earlier);
                None
            }
        }
    }

    /// The panic of the host's stopwatch, if it has panicked since the last call.
    pub(crate) fn take_panic(&self) -> Option<Payload> {
        self.panic.take().map(Foreign::into_inner)
    }

    /// Drops the host's stopwatch, which may own handles of the executor that ends.
    pub(crate) fn close(&self) {
        let source = self.source.replace(Source::Nothing);
        drop(source);
    }
}

impl Clone for TimeSource {
    fn clone(&self) -> Self {
        TimeSource {
            source: self.source.clone(),
            panic: RefCell::default(),
        }
    }
}

impl fmt::Debug for TimeSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match *self.source.borrow() {
            Source::Computer => "computer",
            Source::Host(_) => "host",
            Source::Nothing => "nothing",
        };
        f.debug_tuple("TimeSource").field(&source).finish()
    }
}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod computer {
    use std::sync::OnceLock;
    use std::time::{Duration, Instant};

    static BEGAN: OnceLock<Instant> = OnceLock::new();

    #[expect(
        clippy::unnecessary_wraps,
        reason = "there are targets without a clock"
    )]
    pub(super) fn read() -> Option<Duration> {
        Some(BEGAN.get_or_init(Instant::now).elapsed())
    }
}

/// For targets where the standard library's clock panics.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod computer {
    use std::time::Duration;

    pub(super) fn read() -> Option<Duration> {
        None
    }
}
