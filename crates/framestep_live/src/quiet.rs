//! Panics in frames that are only looked at. They would be printed again in each frame.

use std::cell::Cell;
use std::panic;
use std::sync::Once;
use std::thread;

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Calls `f`. Panics meanwhile are not printed.
pub(crate) fn quietly<R>(f: impl FnOnce() -> R) -> R {
    struct Was(bool);
    impl Drop for Was {
        fn drop(&mut self) {
            IS_QUIET.set(self.0);
        }
    }
    static HOOK: Once = Once::new();
    if !thread::panicking() {
        HOOK.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                if !IS_QUIET.try_with(Cell::get).unwrap_or(false) {
                    before(info);
                }
            }));
        });
    }
    let _was = Was(IS_QUIET.replace(true));
    f()
}
