//! The message and the place of a closure's panic.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

/// The text of a panic.
#[track_caller]
pub fn panic_text(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        return (*text).to_owned();
    }
    payload
        .downcast_ref::<String>()
        .expect("a panic with a text")
        .clone()
}

/// The text with which `f` panics.
#[track_caller]
pub fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
    panic_text(&*result.err().expect("a panic"))
}

/// Where `f` panics, as file and line.
pub fn place_of_panic<R>(f: impl FnOnce() -> R) -> String {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let alone = ONE_AT_A_TIME.lock();
    let _alone = alone.unwrap_or_else(PoisonError::into_inner);
    let place = Arc::new(Mutex::new(String::new()));
    let see = place.clone();
    // The tests beside this one panic on threads of their own.
    let this = std::thread::current().id();
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() != this {
            others(info);
        } else if let Some(location) = info.location() {
            *see.lock().unwrap() = format!("{}:{}", location.file(), location.line());
        }
    }));
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f));
    drop(std::panic::take_hook());
    // With the usual hook again, which prints the failure.
    assert!(result.is_err(), "it did not panic");
    let place = place.lock().unwrap();
    place.clone()
}
