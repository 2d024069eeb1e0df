//! `JoinError`: cloned, and returned to several joiners.

use std::any::Any;

use framestep::prelude::*;

use framestep_testkit::forever;
use framestep_testkit::timeline::unclamped;

/// The error of a coroutine that panics with `payload`.
fn error_of(payload: impl Any + Send) -> JoinError {
    let executor = unclamped();
    let coroutine = executor.start(async { std::panic::panic_any(payload) });
    let result: Result<(), JoinError> = coroutine.take_output().unwrap();
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
    let error = stopped.take_output().unwrap().unwrap_err();
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

/// The error of a script after `act` has stopped it.
fn stopped_by<R>(act: impl FnOnce(&Executor, &Coroutine<()>) -> R) -> JoinError {
    let executor = unclamped();
    let script = executor.start(forever());
    drop(act(&executor, &script));
    script.take_output().unwrap().unwrap_err()
}

#[test]
#[rustfmt::skip]
fn an_error_says_which_line_has_stopped_the_script() {
    let errors = [
        (line!(), stopped_by(|_, script| script.stop())),
        (line!(), stopped_by(|executor, script| executor.stop(script.id()))),
        (line!(), stopped_by(|executor, script| executor.handle().stop(script.id()))),
        (line!(), stopped_by(|executor, script| executor.enter(|| stop(script.id())))),
    ];
    for (line, error) in errors {
        let place = error.stopped_at().unwrap();
        assert_eq!((place.file(), place.line()), (file!(), line));
        assert_eq!(error.stopped_by(), None);
        let end = format!("was stopped before it finished, at {place}");
        assert!(error.to_string().ends_with(&end), "{error}");
    }
}

#[test]
fn an_error_says_which_script_has_stopped_another_or_itself() {
    let mut executor = unclamped();
    let owner = executor.owner();
    let handle = owner.handle();
    let [first, second, dropped] = [(); 3].map(|()| owner.start(forever()));
    let line = line!() + 3;
    executor.script("cutscene").start(async move {
        next_frame().await;
        handle.stop_all();
        handle.stop_all(); // it is too late
    });
    drop(dropped);
    let itself = executor.script("hermit").start(async {
        stop(current());
        forever().await;
    });
    executor.run_frame(1);
    for script in [first, second] {
        let error = script.take_output().unwrap().unwrap_err();
        assert_eq!(error.stopped_by(), Some("cutscene"));
        assert_eq!(error.stopped_at().unwrap().line(), line);
        let text = format!("finished, by `cutscene`, at {}:{line}:16", file!());
        assert!(error.to_string().ends_with(&text), "{error}");
    }
    let error = itself.take_output().unwrap().unwrap_err();
    assert_eq!(error.stopped_by(), Some("hermit"));
}

#[test]
fn a_drop_has_no_line_and_the_host_no_name() {
    let executor = unclamped();
    let owner = executor.owner();
    let script = owner.start(forever());
    drop(owner);
    let error = script.take_output().unwrap().unwrap_err();
    assert_eq!((error.stopped_by(), error.stopped_at()), (None, None));
    assert!(
        error
            .to_string()
            .ends_with("was stopped before it finished")
    );
    // A script that drops an owner is known.
    let owner = executor.owner();
    let script = owner.start(forever());
    executor.script("boss").start(async move { drop(owner) });
    let error = script.take_output().unwrap().unwrap_err();
    assert_eq!(
        (error.stopped_by(), error.stopped_at()),
        (Some("boss"), None)
    );
    assert!(error.to_string().ends_with("finished, by `boss`"));
    let error = error_of("on purpose");
    assert_eq!((error.stopped_by(), error.stopped_at()), (None, None));
}
