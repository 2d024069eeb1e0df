//! Panics of replays. An error says that a script has panicked in a replay, and why: on standard
//! error, it would look like a panic of the game.

use std::any::Any;
use std::cell::Cell;
use std::mem;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::thread;

thread_local! {
    /// Whether panics of this thread are not printed.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Calls `f`, and catches its panic without calling the panic hook.
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> thread::Result<R> {
    /// Sets the flag back.
    struct Was(bool);
    impl Drop for Was {
        fn drop(&mut self) {
            IS_QUIET.set(self.0);
        }
    }
    set_hook();
    let _was = Was(IS_QUIET.replace(true));
    panic::catch_unwind(AssertUnwindSafe(f))
}

/// Puts a hook before that of the process, once: there is no other way. Where a panic ends the
/// process, its text is all that is left, and is printed.
fn set_hook() {
    static HOOK: Once = Once::new();
    if cfg!(panic = "unwind") && !thread::panicking() {
        HOOK.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                if !IS_QUIET.try_with(Cell::get).unwrap_or(false) {
                    before(info);
                }
            }));
        });
    }
}

/// Drops the payload of a panic. If its destructor panics, too, the payload of that leaks.
pub(crate) fn dispose(payload: Box<dyn Any + Send>) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(payload);
    }
}

/// The text of a panic.
pub(crate) fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&'static str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("(no text)").to_owned()
}
