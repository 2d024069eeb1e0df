//! Reports without a hook: printed once for each script, up to a limit.
//!
//! Each test runs itself again in a separate process, and reads its output.

use std::process::Command;

use framestep::Executor;
use framestep::prelude::*;

/// Set in the process that prints.
const PRINTS: &str = "FRAMESTEP_TEST_PRINTS";

/// The reports that `act` prints in a separate process.
fn printed_by(name: &str, act: fn()) -> Option<Vec<String>> {
    if std::env::var_os(PRINTS).is_some() {
        std::panic::set_hook(Box::new(|_| ()));
        act();
        return None;
    }
    let test = format!("{}::{name}", module_path!().split_once("::").unwrap().1);
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command
        .args([&*test, "--exact", "--nocapture"])
        .env(PRINTS, "1")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    let reports = text.lines().filter(|line| line.starts_with("framestep: "));
    Some(reports.map(ToOwned::to_owned).collect())
}

fn panics(executor: &Executor, name: impl Into<String>) {
    let panics = async {
        next_frame().await;
        panic!("lost")
    };
    drop(executor.spawn(panics).named(name.into()));
}

#[test]
fn the_first_of_each_kind_for_each_script_is_printed() {
    let lines = printed_by("the_first_of_each_kind_for_each_script_is_printed", || {
        let mut executor = Executor::builder().slow_poll(0).build();
        for _ in 0..3 {
            panics(&executor, "door");
            panics(&executor, "guard");
            executor.run_frame(f32::NAN);
            executor.run_frame(0.25);
        }
    });
    let Some(lines) = lines else { return };
    let has = |parts: &[&str]| {
        let is_it = |line: &&String| parts.iter().all(|part| line.contains(part));
        lines.iter().filter(is_it).count()
    };
    assert_eq!(
        has(&[
            "(door) panicked: lost (after the .await at ",
            "(printed once; "
        ]),
        1,
        "{lines:#?}"
    );
    assert_eq!(
        has(&["(guard) panicked: lost (after", "(printed once; "]),
        1,
        "{lines:#?}"
    );
    assert_eq!(has(&["(door) took", "in one poll"]), 1, "{lines:#?}");
    assert_eq!(has(&["(guard) took", "in one poll"]), 1, "{lines:#?}");
    assert_eq!(has(&["the dt is not a length of time"]), 1, "{lines:#?}");
    assert_eq!(lines.len(), 5);
}

#[test]
fn the_last_line_says_that_it_is_the_last() {
    let lines = printed_by("the_last_line_says_that_it_is_the_last", || {
        let mut executor = Executor::new();
        for number in 1..=30 {
            panics(&executor, format!("script {number}"));
        }
        executor.run_frame(0.25);
        executor.run_frame(0.25);
        executor.run_frame(f32::NAN);
    });
    let Some(lines) = lines else { return };
    assert_eq!(lines.len(), 20, "{lines:#?}");
    for (line, number) in lines.iter().zip(1..) {
        assert!(
            line.contains(&format!("(script {number}) panicked")),
            "{line}"
        );
        assert_eq!(
            line.ends_with(
                "(the last of 20 that are printed; `Executor::on_report` receives all reports)"
            ),
            number == 20,
            "{line}"
        );
    }
}

#[test]
fn a_hook_receives_all_and_nothing_is_printed() {
    let lines = printed_by("a_hook_receives_all_and_nothing_is_printed", || {
        let mut executor = Executor::new();
        executor.on_report(|_| ());
        for _ in 0..30 {
            panics(&executor, "door");
        }
        executor.run_frame(0.25);
        executor.run_frame(0.25);
    });
    let Some(lines) = lines else { return };
    assert!(lines.is_empty(), "{lines:#?}");
}

/// A host whose executor ends before the handle of a script that has panicked.
struct Game {
    executor: Executor,
    story: Coroutine<()>,
}

#[test]
fn a_panic_whose_handle_outlives_the_executor_is_printed() {
    let name = "a_panic_whose_handle_outlives_the_executor_is_printed";
    let lines = printed_by(name, || {
        let executor = Executor::new();
        executor.on_report(|_| ());
        let story = executor.spawn(async { panic!("lost") }).named("story");
        let mut game = Game { executor, story };
        game.executor.run_frame(0.25);
        assert!(game.story.is_finished());
    });
    let Some(lines) = lines else { return };
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert!(lines[0].contains("(story) panicked: lost"), "{lines:#?}");
}

// docs/contract.md#decided-hooks-that-panic
#[test]
fn a_panic_of_the_hook_for_reports_is_printed() {
    let lines = printed_by("a_panic_of_the_hook_for_reports_is_printed", || {
        let mut executor = Executor::new();
        executor.on_report(|_| panic!("lost"));
        executor.run_frame(f32::NAN);
        executor.run_frame(f32::NAN);
    });
    let Some(lines) = lines else { return };
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert!(
        lines[0].contains("frame 1: the hook of the host set with `on_report` panicked: lost"),
        "{lines:#?}"
    );
}
