//! `JoinError`: cloned, and returned to several joiners.

use std::any::Any;

use framestep::JoinError;

use crate::support::forever;
use crate::support::timeline::unclamped;

/// The error of a coroutine that panics with `payload`.
fn error_of(payload: impl Any + Send) -> JoinError {
    let executor = unclamped();
    let coroutine = executor.start(async { std::panic::panic_any(payload) });
    let result: Result<(), JoinError> = coroutine.take().unwrap();
    result.unwrap_err()
}

#[test]
fn clones_tell_the_same() {
    let error = error_of("lost");
    let clone = error.clone();
    assert!(clone.is_panic() && !clone.is_stopped());
    assert_eq!(
        (clone.id(), clone.name(), clone.to_string()),
        (error.id(), error.name(), error.to_string())
    );

    let executor = unclamped();
    let stopped = executor.start(forever());
    stopped.stop();
    let error = stopped.take().unwrap().unwrap_err();
    drop(executor);
    assert!(error.clone().is_stopped());
    assert_eq!(error.clone().to_string(), error.to_string());
}

// docs/contract.md#decided-payloads
#[test]
fn the_first_into_panic_returns_the_payload_and_later_ones_the_message() {
    struct Cargo(u32);

    let (first, second) = {
        let error = error_of("lost");
        (error.clone(), error)
    };
    assert_eq!(first.into_panic().downcast_ref(), Some(&"lost"));
    assert_eq!(
        second.into_panic().downcast_ref(),
        Some(&String::from("lost"))
    );

    // For a panic without a message, the text that the error prints.
    let error = error_of(Cargo(7));
    let (text, clone) = (error.to_string(), error.clone());
    let cargo = error.into_panic().downcast::<Cargo>().ok().unwrap();
    assert_eq!(cargo.0, 7);
    assert_eq!(clone.into_panic().downcast_ref(), Some(&text));
}

#[test]
fn the_message_is_kept_after_the_payload_was_taken() {
    let error = error_of(String::from("lost at sea"));
    let clone = error.clone();
    drop(error.into_panic());
    assert!(clone.is_panic());
    assert!(clone.to_string().ends_with("panicked: lost at sea"));
}

#[test]
fn the_payload_goes_with_the_last_clone() {
    struct Tells(std::sync::mpsc::Sender<()>);

    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
        }
    }

    let (tell, told) = std::sync::mpsc::channel();
    let error = error_of(Tells(tell));
    let clone = error.clone();
    drop(error);
    assert!(told.try_recv().is_err());
    drop(clone);
    assert!(told.try_recv().is_ok());
}

#[test]
fn errors_go_to_other_threads() {
    fn sent<E: std::error::Error + Send + Sync + Clone + 'static>(error: &E) -> E {
        error.clone()
    }
    assert!(sent(&error_of("lost")).is_panic());
}
