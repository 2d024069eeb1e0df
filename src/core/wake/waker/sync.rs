//! Primitives for state that threads share: std's, or loom's when the models are tested.
//!
//! Loom sees all uses of what is imported from here.

#[cfg(not(all(test, framestep_loom)))]
mod primitives {
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    pub(crate) use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
    pub(crate) use std::thread_local;
}

#[cfg(all(test, framestep_loom))]
mod primitives {
    use std::cell::Cell;

    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    pub(crate) use loom::sync::{Arc, Mutex, MutexGuard};

    /// Loom has no `OnceLock`. This is std's type, behind a lock that loom sees.
    pub(crate) struct OnceLock<T> {
        lock: Mutex<()>,
        value: std::sync::OnceLock<T>,
    }

    impl<T> OnceLock<T> {
        pub(crate) fn new() -> Self {
            OnceLock {
                lock: Mutex::new(()),
                value: std::sync::OnceLock::new(),
            }
        }

        pub(crate) fn get_or_init(&self, init: impl FnOnce() -> T) -> &T {
            let _locked = self.lock.lock().unwrap();
            self.value.get_or_init(init)
        }
    }

    /// Loom's `thread_local!` does not know `const`.
    macro_rules! thread_cells {
        ($($(#[$attribute:meta])* static $name:ident: $type:ty = const $init:block;)*) => {
            $(loom::thread_local! { $(#[$attribute])* static $name: $type = $init; })*
        };
    }
    pub(crate) use thread_cells as thread_local;

    /// The methods of std's thread-local cells that loom's do not have.
    pub(crate) trait LocalCell<T> {
        fn get(&'static self) -> T;
        fn set(&'static self, value: T);
    }

    impl<T: Copy> LocalCell<T> for loom::thread::LocalKey<Cell<T>> {
        fn get(&'static self) -> T {
            self.with(Cell::get)
        }

        fn set(&'static self, value: T) {
            self.with(|cell| cell.set(value));
        }
    }
}

pub(crate) use primitives::*;
