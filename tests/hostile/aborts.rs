//! Inputs 17 and 19: panics that std turns into aborts. They end the process at
//! once, and leave no broken executor.
//!
//! Each test runs itself again in a separate process.

use std::process::Command;

use framestep::prelude::*;

use framestep_testkit::timeline::unclamped;
use framestep_testkit::{Bomb, forever};

/// Set in the process that is to end.
const VICTIM: &str = "FRAMESTEP_TEST_ABORTS";

/// The output of a process that runs the test `name` and does `act`; it must
/// abort.
#[track_caller]
fn last_words(name: &str, act: fn()) -> String {
    if std::env::var_os(VICTIM).is_some() {
        act();
        // This is not an abort, so the test will fail.
        std::process::exit(0);
    }
    let test = format!("{}::{name}", module_path!().split_once("::").unwrap().1);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([&*test, "--exact", "--nocapture"]);
    let output = command.env(VICTIM, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = output.status.code();
    assert!(code != Some(0), "it goes on: {text}");
    // 101 is the exit code of a failed test.
    assert_ne!(code, Some(101), "{text}");
    text
}

#[test]
fn a_destructor_that_panics_while_unwinding() {
    let text = last_words("a_destructor_that_panics_while_unwinding", || {
        let executor = unclamped();
        executor.start(async {
            let _bomb = Bomb;
            panic!("the first one");
        });
    });
    assert!(text.contains("the first one"), "{text}");
    assert!(text.contains("the destructor panics"), "{text}");
}

#[test]
fn a_panic_hook_that_panics() {
    let text = last_words("a_panic_hook_that_panics", || {
        std::panic::set_hook(Box::new(|_| panic!("the hook panics")));
        let mut executor = unclamped();
        executor.start(async {
            next_frame().await;
            panic!("the first one");
        });
        executor.start(forever());
        executor.run_frame(0.25);
    });
    assert!(text.contains("the hook panics"), "{text}");
}
