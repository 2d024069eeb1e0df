//! The time outside of the game.

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use crate::core::call;

/// The source of time for budgets and slow polls: the host's stopwatch, or else
/// the computer's clock, if the target has one.
#[derive(Clone, Default)]
pub(crate) struct Timepiece(Option<Rc<dyn Fn() -> Duration>>);

impl Timepiece {
    pub(crate) fn new(stopwatch: impl Fn() -> Duration + 'static) -> Self {
        Timepiece(Some(Rc::new(stopwatch)))
    }

    /// The time since some fixed moment. `None` if it cannot be read: the target
    /// has no clock, or the host's stopwatch panics. Calls user code.
    pub(crate) fn read(&self) -> Option<Duration> {
        let Some(stopwatch) = &self.0 else {
            return computer::read();
        };
        match call::catch(|| stopwatch()) {
            Ok(reading) => Some(reading),
            Err(payload) => {
                call::dispose(payload);
                None
            }
        }
    }
}

impl fmt::Debug for Timepiece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = if self.0.is_some() { "host" } else { "computer" };
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
