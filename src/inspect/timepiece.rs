//! The time outside of the game.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use crate::core::call::{self, Foreign};

/// The source of time for budgets and slow polls: the host's stopwatch, or else
/// the computer's clock, if the target has one.
#[derive(Clone, Default)]
pub(crate) struct Timepiece(RefCell<Source>);

#[derive(Clone, Default)]
enum Source {
    #[default]
    Computer,
    Host(Rc<Stopwatch>),
    /// The host's stopwatch was dropped, since its executor has ended.
    Nothing,
}

/// The host's stopwatch. A call of it may end the executor, so that the call drops
/// it.
struct Stopwatch(Foreign<Box<dyn Fn() -> Duration>>);

impl Timepiece {
    pub(crate) fn new(stopwatch: impl Fn() -> Duration + 'static) -> Self {
        let stopwatch = Stopwatch(Foreign::new(Box::new(stopwatch)));
        Timepiece(RefCell::new(Source::Host(Rc::new(stopwatch))))
    }

    /// The time since some fixed moment. `None` if it cannot be read: the target
    /// has no clock, or the host's stopwatch panics. Calls user code.
    pub(crate) fn read(&self) -> Option<Duration> {
        let source = self.0.borrow().clone();
        let stopwatch = match source {
            Source::Computer => return computer::read(),
            Source::Host(stopwatch) => stopwatch,
            Source::Nothing => return None,
        };
        match call::catch(|| stopwatch.0.get()()) {
            Ok(reading) => Some(reading),
            Err(payload) => {
                call::dispose(payload);
                None
            }
        }
    }

    /// Drops the host's stopwatch, which may own handles of the executor that ends.
    pub(crate) fn close(&self) {
        let source = self.0.replace(Source::Nothing);
        drop(source);
    }
}

impl fmt::Debug for Timepiece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match *self.0.borrow() {
            Source::Computer => "computer",
            Source::Host(_) => "host",
            Source::Nothing => "nothing",
        };
        f.debug_tuple("Timepiece").field(&source).finish()
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

/// For targets on which the standard library's clock panics.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
mod computer {
    use std::time::Duration;

    pub(super) fn read() -> Option<Duration> {
        None
    }
}
